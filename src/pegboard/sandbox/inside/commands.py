"""Calls that are commands: programs that take the place of the confined process."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

from pegboard.sandbox.inside.call import Call
from pegboard.sandbox.inside.steps import StepFailed, step
from pegboard.sandbox.inside.work import CANNOT_START, COMMANDS_REPORTS, NO_SUCH_PROGRAM, REPORTS, tell


class Commands:
    """Runs what calls name."""

    def rehearse(self, is_called: Callable[[float], bool], *, is_ready: bool) -> None:
        """Nothing is to be made ready."""

    def run(self, call: Call, env: dict[str, str]) -> None:
        """Become the command."""
        if call.job.is_python:
            raise StepFailed("reading the job: it is for Python, which is not here")
        argv: list[str] = call.job.told["argv"]
        folder: str = call.job.told["cwd"]
        with step(f"going to '{folder}'"):
            os.chdir(folder)
        with step("opening the channel for reports"):
            # Where nobody listens, a command that reports must not wait, nor fail.
            reports = REPORTS if call.job.reports else os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
            os.dup2(reports, COMMANDS_REPORTS)
        # What Python ignores, the command would ignore too, and so with what the server was started to ignore.
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        try:
            os.execvpe(argv[0], argv, env)  # noqa: S606 -- running the tool's command is what this is for
        except FileNotFoundError as error:
            tell("exited", NO_SUCH_PROGRAM, f"cannot start '{argv[0]}': {error.strerror}")
        except (OSError, ValueError) as error:
            tell("exited", CANNOT_START, f"cannot start '{argv[0]}': {error}")
