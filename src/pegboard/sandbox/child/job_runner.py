"""Runs a job in the confined process: the interface, and the runner of commands; `python_runner` runs functions."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Sequence
from typing import NamedTuple, NoReturn, Protocol

from pegboard.sandbox.child.job import Job
from pegboard.sandbox.child.setup_steps import StepFailed, step

# The pipes of a confined process besides stdin, stdout and stderr.
RESULT_FD, TROUBLE_FD, ORDERS_FD, REPORTS_FD = 3, 4, 5, 6
# The file descriptor on which a command writes its reports.
COMMAND_REPORTS_FD = 3
EXIT_CANNOT_START, EXIT_NO_SUCH_PROGRAM = 126, 127

_MAX_MESSAGE_CHARS = 500
# References from before a tool's code runs, which may replace these functions.
_exit, _getpid, _kill = os._exit, os.getpid, os.kill


class ConfinedInputs(NamedTuple):
    """What a confined process gets from its supervisor: folder and proxy port if known, and the pipes."""

    folder: str | None
    port: int | None
    ends: Sequence[int]


class JobRunner(Protocol):
    """Runs one kind of job (Python function or command) in the confined process."""

    def prepare(self) -> None:
        """Do what does not depend on the call, in the confined process, once before `run`."""

    def run(self, job: Job, env: dict[str, str]) -> None:
        """Run the job with this environment; raise StepFailed if it is of the other kind."""


def exit_process(code: int) -> NoReturn:
    """End this process even if a tool has changed Python.

    It must never return into the program that it was forked from.
    """
    try:
        _exit(code)
    finally:
        while True:
            _kill(_getpid(), signal.SIGKILL)


def report_failure(fate: str, code: int, message: str, trouble: int = TROUBLE_FD) -> None:
    """Report to the supervisor why this process could not run the job."""
    os.write(trouble, json.dumps({"fate": fate, "code": code, "message": message[:_MAX_MESSAGE_CHARS]}).encode())


class CommandRunner:
    """Runs the command of a call."""

    def prepare(self) -> None:
        """Do nothing: a command needs no preparation."""

    def run(self, job: Job, env: dict[str, str]) -> None:
        """Replace this process with the command; report a failure if it cannot be started."""
        if job.is_python:
            raise StepFailed("reading the job: it is a Python function, but this process runs commands")
        argv: list[str] = job.fields["argv"]
        folder: str = job.fields["cwd"]
        with step(f"changing to the folder '{folder}'"):
            os.chdir(folder)
        with step("opening the channel for reports"):
            # Without a listener, a command that reports must neither block nor fail.
            reports = REPORTS_FD if job.reports else os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
            os.dup2(reports, COMMAND_REPORTS_FD)
        # The command would inherit the signals that Python, or the parent of the server, ignores.
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        try:
            os.execvpe(argv[0], argv, env)  # noqa: S606 -- running the tool's command is what this is for
        except FileNotFoundError as error:
            report_failure("exited", EXIT_NO_SUCH_PROGRAM, f"cannot start '{argv[0]}': {error.strerror}")
        except (OSError, ValueError) as error:
            report_failure("exited", EXIT_CANNOT_START, f"cannot start '{argv[0]}': {error}")
