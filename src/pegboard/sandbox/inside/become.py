"""The confined process: what it gives up, in which order, before it becomes what the job names."""

from __future__ import annotations

import fcntl
import os
import select
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from pegboard.sandbox.inside import landlock, rlimits, seccomp, syscalls
from pegboard.sandbox.inside.call import Call, Terms
from pegboard.sandbox.inside.place import Place
from pegboard.sandbox.inside.steps import StepFailed, step
from pegboard.sandbox.inside.streams import ANNOUNCED
from pegboard.sandbox.inside.work import CANNOT_START, COMMANDS_REPORTS, ORDERS, TROUBLE, Given, Work, end, tell

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Beyond the zygote's.
_NICE = 5
_PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
# Where descriptors are out of the way of the few that stay.
_ASIDE = 64
_CHUNK = 2**16


def become(work: Work, terms: Terms, place: Place, given: Given) -> NoReturn:
    """Wait for orders and do as ordered, confined; that it cannot is told through one of the streams.

    Where the folder of the call is known before the call is, this process is confined before that.
    """
    folder, port, ends, is_ready = given
    try:
        try:
            _take_descriptors(ends)
        except StepFailed as error:
            # What has failed is that the place where trouble is told would be the usual one.
            tell("setup", 0, str(error), ends[TROUBLE])
            end(CANNOT_START)
        _step_back()
        if os.read(ORDERS, len(ANNOUNCED)) != ANNOUNCED:
            end(0)  # there will be no call
        if folder is not None:
            _confine(terms, place, folder, port)
            work.rehearse(_is_called, is_ready=is_ready)
        call = _hear()
        rlimits.apply(call.job, place.most_processes(call.job), terms.baseline if call.job.is_python else 0)
        if folder is None:
            _confine(terms, place, call.folder, port)
        work.run(call, environment(call, port))
    except StepFailed as error:
        tell("setup", 0, str(error))
    except Exception as error:
        tell("setup", 0, f"{type(error).__name__}: {error}")
    finally:
        end(CANNOT_START)


def environment(call: Call, port: int | None) -> dict[str, str]:
    """All the environment that the confined process has."""
    env = {**usual_environment(call.folder), **call.job.env}
    if not call.job.is_python:
        env.setdefault("PEGBOARD_PROGRESS_FD", str(COMMANDS_REPORTS))
    if port is not None:
        for name in _PROXY_VARIABLES:
            env[name] = env[name.lower()] = f"http://127.0.0.1:{port}"
        env["NO_PROXY"] = env["no_proxy"] = ""
    return env


def usual_environment(folder: str) -> dict[str, str]:
    """What of the environment depends on nothing but where the call works."""
    return {
        "HOME": folder,
        "TMPDIR": folder,
        "PATH": _PATH,
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _take_descriptors(ends: Sequence[int]) -> None:
    """Keep the ends of the pipes, as the first descriptors, and close all others."""
    with step("leaving inherited descriptors"):
        aside = [fd if fd >= len(ends) else fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _ASIDE) for fd in ends]
        for number, fd in enumerate(aside):
            os.dup2(fd, number, inheritable=number <= 2)
        syscalls.close_from(len(aside))


def _step_back() -> None:
    with step("leaving the supervisor's process group"):
        # Not its session: in one of its own, the kernel might weigh this process as much as the whole server.
        os.setpgid(0, 0)
    with step("lowering the priority"):
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
        syscalls.lower_priority(_NICE)
    with step("being counted by the supervisor"):
        syscalls.set_dumpable(True)
    # Some memory no process can be blamed for: should the machine run out of it, this process is to go first.
    # Where there is no /proc, what the zygote has set for itself still holds.
    with suppress(OSError):
        syscalls.write("/proc/self/oom_score_adj", "1000")
    os.umask(0o022)


def _confine(terms: Terms, place: Place, folder: str, port: int | None) -> None:
    place.settle()
    with step("forbidding new privileges"):
        syscalls.forbid_new_privileges()
    if "landlock" not in terms.without:
        with step("confining files with Landlock"):
            ports = [] if port is None else [port]
            landlock.confine(terms.readable, (folder, *terms.writable), tcp_connect=ports)
    if "seccomp" not in terms.without:
        with step("confining system calls with seccomp"):
            seccomp.confine(network=port is not None)


def _is_called(within: float) -> bool:
    return bool(select.select([ORDERS], [], [], within)[0])


def _hear() -> Call:
    pieces = []
    while piece := os.read(ORDERS, _CHUNK):
        pieces.append(piece)
    os.close(ORDERS)
    if not pieces:
        end(0)  # there never was a call
    return Call.read(b"".join(pieces))
