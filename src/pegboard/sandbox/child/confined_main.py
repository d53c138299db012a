"""The confined process: gives up its privileges in a fixed order, applies resource limits, and then runs the job."""

from __future__ import annotations

import fcntl
import os
import resource
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple, NoReturn

from pegboard.sandbox.child import landlock, rootfs, seccomp_filter, syscalls
from pegboard.sandbox.child.isolation import Isolation
from pegboard.sandbox.child.job import Job
from pegboard.sandbox.child.job_runner import (
    COMMAND_REPORTS_FD,
    EXIT_CANNOT_START,
    ORDERS_FD,
    TROUBLE_FD,
    ConfinedInputs,
    JobRunner,
    exit_process,
    report_failure,
)
from pegboard.sandbox.child.pipes import CALL_FOLLOWS
from pegboard.sandbox.child.rootfs import ZygoteSpec
from pegboard.sandbox.child.setup_steps import StepFailed, step

# Limit of open file descriptors of one process.
MAX_OPEN_FILES = 256


def apply_base_rlimits() -> None:
    """Limit resources that neither calls nor their supervisors need, for this process and all of its children."""
    with step("setting resource limits"):
        # Not 0: if the host pipes core dumps to a program, a limit of 1 prevents the start of that program.
        _lower_rlimit(resource.RLIMIT_CORE, 1)
        for limit in (resource.RLIMIT_MEMLOCK, resource.RLIMIT_MSGQUEUE, resource.RLIMIT_NICE, resource.RLIMIT_RTPRIO):
            _lower_rlimit(limit, 0)


def apply_call_rlimits(job: Job, processes: int, baseline: int) -> None:
    """Limit the resources of this process and each of its children; `baseline` is the memory that it already has."""
    with step("setting resource limits"):
        _lower_rlimit(resource.RLIMIT_DATA, baseline + job.bounds.memory)
        # A little more than the size of the work folder, so that a full one fails with ENOSPC.
        _lower_rlimit(resource.RLIMIT_FSIZE, job.bounds.disk + resource.getpagesize())
        _lower_rlimit(resource.RLIMIT_NOFILE, MAX_OPEN_FILES)
        _lower_rlimit(resource.RLIMIT_NPROC, processes)
        # The signal at the soft limit can be ignored, the one at the hard limit cannot.
        _lower_rlimit(resource.RLIMIT_CPU, job.cpu_seconds, grace=1)


def _lower_rlimit(limit: int, most: int, grace: int = 0) -> None:
    """Set a soft and a hard limit, unless the hard limit is already lower."""
    ceiling = resource.getrlimit(limit)[1]
    hard = most + grace if ceiling == resource.RLIM_INFINITY else min(most + grace, ceiling)
    resource.setrlimit(limit, (min(most, hard), hard))


_SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Added to the niceness of the zygote.
_EXTRA_NICENESS = 5
_PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
# The lowest number for copies of file descriptors, above those that are kept.
_HIGH_FD = 64
_READ_BYTES = 2**16


class ConfinementRules(NamedTuple):
    """The rules for all calls of a zygote.

    The files that they may access, the kernel features that are disabled, and the memory of the process that they are
    forked from.
    """

    readable: tuple[str, ...]
    writable: tuple[str, ...]
    without: Sequence[str]
    baseline: int

    @classmethod
    def of(cls, spec: ZygoteSpec) -> ConfinementRules:
        """Return the rules for processes that are forked from this one in its current state."""
        return cls(
            readable=rootfs.list_readable(spec),
            writable=rootfs.list_writable(spec),
            without=spec.without,
            baseline=int(syscalls.read_file("/proc/self/statm").split()[5]) * resource.getpagesize(),
        )


def run_confined(work: JobRunner, rules: ConfinementRules, place: Isolation, given: ConfinedInputs) -> NoReturn:
    """Wait for a call and run it, confined; report a failure through the trouble pipe.

    If the folder is known before the call, the process is confined before it reads the call.
    """
    folder, port, ends = given
    try:
        try:
            _install_pipes(ends)
        except StepFailed as error:
            # The trouble pipe is not at its usual file descriptor yet.
            report_failure("setup", 0, str(error), ends[TROUBLE_FD])
            exit_process(EXIT_CANNOT_START)
        _deprioritize()
        if os.read(ORDERS_FD, len(CALL_FOLLOWS)) != CALL_FOLLOWS:
            exit_process(0)  # there will be no call
        if folder is not None:
            _apply_confinement(rules, place, folder, port)
            work.prepare()
        job = _read_job()
        apply_call_rlimits(job, place.max_processes(job), rules.baseline if job.is_python else 0)
        if folder is None:
            _apply_confinement(rules, place, job.work_folder, port)
            work.prepare()
        work.run(job, build_environment(job, port))
    except StepFailed as error:
        report_failure("setup", 0, str(error))
    except Exception as error:
        report_failure("setup", 0, f"{type(error).__name__}: {error}")
    finally:
        exit_process(EXIT_CANNOT_START)


def build_environment(job: Job, port: int | None) -> dict[str, str]:
    """Return the complete environment of the confined process."""
    env = {**build_base_environment(job.work_folder), **job.env}
    if not job.is_python:
        env.setdefault("PEGBOARD_PROGRESS_FD", str(COMMAND_REPORTS_FD))
    if port is not None:
        for name in _PROXY_VARIABLES:
            env[name] = env[name.lower()] = f"http://127.0.0.1:{port}"
        env["NO_PROXY"] = env["no_proxy"] = ""
    return env


def build_base_environment(folder: str) -> dict[str, str]:
    """Return the variables that depend only on the work folder."""
    return {
        "HOME": folder,
        "TMPDIR": folder,
        "PATH": _SEARCH_PATH,
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _install_pipes(ends: Sequence[int]) -> None:
    """Move the ends of the pipes to the first file descriptors, and close all others."""
    with step("closing inherited file descriptors"):
        aside = [fd if fd >= len(ends) else fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _HIGH_FD) for fd in ends]
        for number, fd in enumerate(aside):
            os.dup2(fd, number, inheritable=number <= 2)
        syscalls.close_fds_from(len(aside))


def _deprioritize() -> None:
    with step("leaving the supervisor's process group"):
        # Not a new session: with autogroup scheduling, it could get the same CPU share as the whole server.
        os.setpgid(0, 0)
    with step("lowering the priority"):
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
        os.nice(_EXTRA_NICENESS)
    with step("becoming readable for the supervisor"):
        syscalls.set_dumpable(True)
    # Some memory is not charged to any process: if the machine runs out of it, this process is to be killed first.
    # Without /proc, the value that the zygote set for itself still applies.
    with suppress(OSError):
        syscalls.write_file("/proc/self/oom_score_adj", "1000")
    os.umask(0o022)


def _apply_confinement(rules: ConfinementRules, place: Isolation, folder: str, port: int | None) -> None:
    place.settle()
    with step("setting no_new_privs"):
        syscalls.forbid_new_privileges()
    if "landlock" not in rules.without:
        with step("confining files with Landlock"):
            ports = [] if port is None else [port]
            landlock.apply_landlock(rules.readable, (folder, *rules.writable), tcp_connect=ports)
    if "seccomp" not in rules.without:
        with step("confining system calls with seccomp"):
            seccomp_filter.apply_seccomp(network=port is not None)


def _read_job() -> Job:
    pieces = []
    while piece := os.read(ORDERS_FD, _READ_BYTES):
        pieces.append(piece)
    os.close(ORDERS_FD)
    if not pieces:
        exit_process(0)  # the supervisor closed the pipe without a call
    return Job.read(b"".join(pieces))
