"""Calls of functions in Python, with the libraries that were imported for them."""

from __future__ import annotations

import os
from collections.abc import Callable

from pegboard.sandbox.inside import python_job
from pegboard.sandbox.inside.call import Call
from pegboard.sandbox.inside.rehearsal import Practised, rehearse
from pegboard.sandbox.inside.steps import StepFailed
from pegboard.sandbox.inside.work import REPORTS, RESULT, TROUBLE, end


class Functions:
    """Runs the code of calls in this process."""

    def __init__(self, practised: Practised) -> None:
        self._practised = practised
        self._is_tidy = False

    def rehearse(self, is_called: Callable[[float], bool]) -> None:
        """Do what calls are likely to do, so that the next one finds it done."""
        self._tidy()
        rehearse(self._practised, is_called)

    def run(self, call: Call, env: dict[str, str]) -> None:
        """Run the function; this process ends with it."""
        if not call.job.is_python:
            raise StepFailed("reading the job: it is a command, which is not for here")
        if not self._is_tidy:
            self._tidy()
        os.environ.update(env)
        os.chdir(call.folder)
        os.close(TROUBLE)
        if not call.job.reports:
            os.close(REPORTS)
        job = call.job.told | {"arguments": call.job.arguments}
        python_job.run(job, RESULT, REPORTS if call.job.reports else None)
        end(0)

    def _tidy(self) -> None:
        os.environ.clear()
        python_job.tidy()
        self._is_tidy = True
