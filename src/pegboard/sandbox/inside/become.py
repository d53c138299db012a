"""The confined process: what it gives up, in which order, before it becomes what the job names."""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
from contextlib import suppress
from typing import NoReturn

from pegboard.sandbox.inside import landlock, python_job, rlimits, seccomp, syscalls
from pegboard.sandbox.inside.call import Call, Terms
from pegboard.sandbox.inside.place import Place
from pegboard.sandbox.inside.rehearsal import rehearse
from pegboard.sandbox.inside.steps import StepFailed, step
from pegboard.sandbox.inside.streams import ANNOUNCED, Streams

CANNOT_START, NO_SUCH_PROGRAM = 126, 127

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Beyond the zygote's.
_NICE = 5
_PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
# Where descriptors are out of the way of the few that stay.
_ASIDE = 64
_RESULT, _TROUBLE, _ORDERS, _REPORTS = 3, 4, 5, 6
# Where a command finds the channel for what it reports of itself.
_COMMANDS_REPORTS = 3
_MOST_WORDS = 500
# As they are now: a tool's code may put something else in their places.
_exit, _getpid, _kill = os._exit, os.getpid, os.kill


def become(terms: Terms, place: Place, folder: str | None, port: int | None, streams: Streams) -> NoReturn:
    """Wait for orders and do as ordered, confined; that it cannot is told through one of the streams.

    Where the folder of the call is known before the call is, this process is confined before that.
    """
    try:
        try:
            _take_descriptors(streams)
        except StepFailed as error:
            # What has failed is that the place where trouble is told would be the usual one.
            _tell("setup", 0, str(error), streams.trouble.other_end)
            _end(CANNOT_START)
        _step_back()
        if os.read(_ORDERS, len(ANNOUNCED)) != ANNOUNCED:
            _end(0)  # there will be no call
        practised = None
        if folder is not None:
            _confine(terms, place, folder, port)
            practised = terms.practised
        if practised is not None:
            _tidy()
            rehearse(practised, _is_called)
        call = _hear()
        rlimits.apply(call.job, place.most_processes(call.job), terms.baseline if call.job.is_python else 0)
        if folder is None:
            _confine(terms, place, call.folder, port)
        env = environment(call, port)
        if call.job.is_python:
            if practised is None:
                _tidy()
            _run_python(call, env)
        else:
            _execute(call, env)
    except StepFailed as error:
        _tell("setup", 0, str(error))
    except Exception as error:
        _tell("setup", 0, f"{type(error).__name__}: {error}")
    finally:
        _end(CANNOT_START)


def environment(call: Call, port: int | None) -> dict[str, str]:
    """All the environment that the confined process has."""
    env = {
        "HOME": call.folder,
        "TMPDIR": call.folder,
        "PATH": _PATH,
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        **call.job.env,
    }
    if not call.job.is_python:
        env.setdefault("PEGBOARD_PROGRESS_FD", str(_COMMANDS_REPORTS))
    if port is not None:
        for name in _PROXY_VARIABLES:
            env[name] = env[name.lower()] = f"http://127.0.0.1:{port}"
        env["NO_PROXY"] = env["no_proxy"] = ""
    return env


def _take_descriptors(streams: Streams) -> None:
    """Keep the ends of the pipes, as the first descriptors, and close all others."""
    with step("leaving inherited descriptors"):
        aside = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _ASIDE) for fd in streams.other_ends]
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


def _tidy() -> None:
    os.environ.clear()
    python_job.tidy()


def _is_called(within: float) -> bool:
    return bool(select.select([_ORDERS], [], [], within)[0])


def _hear() -> Call:
    with open(_ORDERS, "rb", buffering=0) as orders:
        told = orders.read()
    if not told:
        _end(0)  # there never was a call
    return Call.read(told)


def _run_python(call: Call, env: dict[str, str]) -> NoReturn:
    os.environ.update(env)
    os.chdir(call.folder)
    os.close(_TROUBLE)
    if not call.job.reports:
        os.close(_REPORTS)
    python_job.run(call.job.told | {"arguments": call.job.arguments}, _RESULT, _REPORTS if call.job.reports else None)
    _end(0)


def _end(code: int) -> NoReturn:
    """End this process, whatever was done to Python in it: it must not come upon the supervisor's own program."""
    try:
        _exit(code)
    finally:
        while True:
            _kill(_getpid(), signal.SIGKILL)


def _execute(call: Call, env: dict[str, str]) -> None:
    argv: list[str] = call.job.told["argv"]
    folder: str = call.job.told["cwd"]
    with step(f"going to '{folder}'"):
        os.chdir(folder)
    with step("opening the channel for reports"):
        # Where nobody listens, a command that reports must not wait, nor fail.
        reports = _REPORTS if call.job.reports else os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        os.dup2(reports, _COMMANDS_REPORTS)
    # What Python ignores, the command would ignore too, and so with what the server was started to ignore.
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(argv[0], argv, env)  # noqa: S606 -- running the tool's command is what this is for
    except FileNotFoundError as error:
        _tell("exited", NO_SUCH_PROGRAM, f"cannot start '{argv[0]}': {error.strerror}")
    except (OSError, ValueError) as error:
        _tell("exited", CANNOT_START, f"cannot start '{argv[0]}': {error}")


def _tell(fate: str, code: int, message: str, trouble: int = _TROUBLE) -> None:
    os.write(trouble, json.dumps({"fate": fate, "code": code, "message": message[:_MOST_WORDS]}).encode())
