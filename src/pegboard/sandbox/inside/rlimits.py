"""Limits that the kernel keeps for each process."""

from __future__ import annotations

import resource

from pegboard.sandbox.inside.job import Job
from pegboard.sandbox.inside.steps import step

# Descriptors that one process may have open.
OPEN_FILES = 256


def apply_usual() -> None:
    """Bound what no call needs, and nobody who starts them: this process and all of its children are without it."""
    with step("limiting what a process may take"):
        # Not 0: where the machine pipes them into a program, only this keeps that program from being started.
        _lower(resource.RLIMIT_CORE, 1)
        for limit in (resource.RLIMIT_MEMLOCK, resource.RLIMIT_MSGQUEUE, resource.RLIMIT_NICE, resource.RLIMIT_RTPRIO):
            _lower(limit, 0)


def apply(job: Job, processes: int, baseline: int) -> None:
    """Bound what this process and each of its children may take; `baseline` is what it has of memory already."""
    with step("limiting what a process may take"):
        _lower(resource.RLIMIT_DATA, baseline + job.bounds.memory)
        # A little more than the work folder holds, so that a full one is said to be full.
        _lower(resource.RLIMIT_FSIZE, job.bounds.disk + resource.getpagesize())
        _lower(resource.RLIMIT_NOFILE, OPEN_FILES)
        _lower(resource.RLIMIT_NPROC, processes)
        # The first signal for too much processor time can be ignored, the second one cannot.
        _lower(resource.RLIMIT_CPU, job.cpu_seconds, grace=1)


def _lower(limit: int, most: int, grace: int = 0) -> None:
    """Set a limit for good, unless a lower one is in force already."""
    ceiling = resource.getrlimit(limit)[1]
    hard = most + grace if ceiling == resource.RLIM_INFINITY else min(most + grace, ceiling)
    resource.setrlimit(limit, (min(most, hard), hard))
