"""The job of one call, as the server sends it; the supervisor passes it on to the confined process."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from pegboard.sandbox.child.setup_steps import StepFailed

# The work folder of a call that has its own file system.
WORK_FOLDER = "/call"


class JobLimits(NamedTuple):
    """Limits of one call, in bytes except `processes`; `output` applies to stdout and stderr each."""

    memory: int
    processes: int
    disk: int
    output: int
    result: int


class Job(NamedTuple):
    """What to run, with its limits.

    `fields` is the decoded job without the arguments, which stay JSON text until needed.
    `reports` is True if the caller receives the reports of the running call.
    """

    is_python: bool
    seconds: float
    bounds: JobLimits
    env: Mapping[str, str]
    folder: str | None
    network: bool
    reports: bool
    stdin: bytes
    fields: dict[str, Any]
    text: bytes

    @classmethod
    def read(cls, text: bytes) -> Job:
        """Parse a job, with its arguments on the second line; raise StepFailed if it is invalid."""
        try:
            fields = json.loads(text.partition(b"\n")[0])
            return cls(
                is_python={"python": True, "exec": False}[fields["kind"]],
                seconds=float(fields["seconds"]),
                bounds=JobLimits(**fields["limits"]),
                env=dict(fields["env"]),
                folder=fields["folder"],
                network=bool(fields["network"]),
                reports=bool(fields.get("reports")),
                stdin=str(fields.get("stdin", "")).encode("utf-8", "replace"),
                fields=fields,
                text=text,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise StepFailed(f"reading the job: {type(error).__name__}: {error}") from error

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the function of a python tool."""
        arguments: dict[str, Any] = json.loads(self.text.partition(b"\n")[2])
        return arguments

    @property
    def work_folder(self) -> str:
        """The working folder of the call."""
        return self.folder or WORK_FOLDER

    @property
    def cpu_seconds(self) -> int:
        """The CPU time limit of one process: a little more than one thread can use within the timeout."""
        return math.ceil(self.seconds) + 1
