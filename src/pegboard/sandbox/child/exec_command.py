"""Runs a command in the confined process with exec."""

from __future__ import annotations

import os
import signal

from pegboard.sandbox.child.call_request import ConfinedCall
from pegboard.sandbox.child.job_runner import (
    COMMAND_REPORTS_FD,
    EXIT_CANNOT_START,
    EXIT_NO_SUCH_PROGRAM,
    REPORTS_FD,
    report_failure,
)
from pegboard.sandbox.child.setup_steps import StepFailed, step


class CommandRunner:
    """Runs the command of a call."""

    def prepare(self) -> None:
        """Do nothing: a command needs no preparation."""

    def run(self, call: ConfinedCall, env: dict[str, str]) -> None:
        """Replace this process with the command; report a failure if it cannot be started."""
        if call.job.is_python:
            raise StepFailed("reading the job: it is for Python, which is not here")
        argv: list[str] = call.job.told["argv"]
        folder: str = call.job.told["cwd"]
        with step(f"going to '{folder}'"):
            os.chdir(folder)
        with step("opening the channel for reports"):
            # Without a listener, a command that reports must neither block nor fail.
            reports = REPORTS_FD if call.job.reports else os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
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
