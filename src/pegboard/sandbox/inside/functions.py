"""Calls of functions in Python, with the libraries that were imported for them."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping

from pegboard.sandbox.inside import python_job
from pegboard.sandbox.inside.call import Call
from pegboard.sandbox.inside.rehearsal import Practised, rehearse
from pegboard.sandbox.inside.steps import StepFailed
from pegboard.sandbox.inside.work import REPORTS, RESULT, TROUBLE, end


class Functions:
    """Runs the code of calls in this process."""

    def __init__(self, practised: Practised, env: Mapping[str, str]) -> None:
        """Calls will find this environment, and what else they are to have of one."""
        os.environ.update(env)
        self._practised = practised
        self._has_output = self._is_different = False

    def open_output(self) -> None:
        """Have ready what calls print to, where nothing else in this process could print until it is copied."""
        # Those of a call are pipes, and what a descriptor is stays known of it.
        if all(map(_is_pipe, (1, 2))):
            python_job.open_output()
            self._has_output = True

    def rehearse(self, is_called: Callable[[float], bool], *, is_ready: bool) -> None:
        """Do what calls are likely to do, so that the next one finds it done."""
        self._differ()
        rehearse(self._practised, is_called, is_ready=is_ready)

    def run(self, call: Call, env: dict[str, str]) -> None:
        """Run the function; this process ends with it."""
        if not call.job.is_python:
            raise StepFailed("reading the job: it is a command, which is not for here")
        if not self._is_different:
            self._differ()
        # A library may have gone on in what this is a copy of, in threads or when it was told of a fork.
        if dict(os.environ) != env:
            os.environ.clear()
            os.environ.update(env)
        os.chdir(call.folder)
        os.close(TROUBLE)
        if not call.job.reports:
            os.close(REPORTS)
        job = call.job.told | {"arguments": call.job.arguments}
        python_job.run(job, RESULT, REPORTS if call.job.reports else None)
        end(0)

    def _differ(self) -> None:
        if not self._has_output:
            python_job.open_output()
        python_job.differ()
        self._is_different = True


def _is_pipe(descriptor: int) -> bool:
    try:
        return stat.S_ISFIFO(os.fstat(descriptor).st_mode)
    except OSError:
        return False  # a library has closed it
