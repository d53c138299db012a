"""The job of one call, as the server sends it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from pegboard.sandbox.inside.steps import StepFailed


class Bounds(NamedTuple):
    """What one call may take, in bytes but for the processes; `output` is for each of its two streams."""

    memory: int
    processes: int
    disk: int
    output: int
    result: int


class Job(NamedTuple):
    """What to run, within which bounds; `told` is all of it but the arguments, which stay text until they are read.

    `reports` is whether anybody wants to hear what the call says of itself while it runs.
    """

    is_python: bool
    seconds: float
    bounds: Bounds
    env: Mapping[str, str]
    folder: str | None
    network: bool
    reports: bool
    stdin: bytes
    told: dict[str, Any]
    text: bytes

    @classmethod
    def read(cls, text: bytes) -> Job:
        """The job that was told of, its arguments on a second line; raises StepFailed where it makes no sense."""
        try:
            told = json.loads(text.partition(b"\n")[0])
            return cls(
                is_python={"python": True, "exec": False}[told["kind"]],
                seconds=float(told["seconds"]),
                bounds=Bounds(**told["limits"]),
                env=dict(told["env"]),
                folder=told["folder"],
                network=bool(told["network"]),
                reports=bool(told.get("reports")),
                stdin=str(told.get("stdin", "")).encode("utf-8", "replace"),
                told=told,
                text=text,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise StepFailed(f"reading the job: {type(error).__name__}: {error}") from error

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of a python tool's function."""
        arguments: dict[str, Any] = json.loads(self.text.partition(b"\n")[2])
        return arguments

    @property
    def cpu_seconds(self) -> int:
        """What one process may use of the processors: a little more than the clock allows a single thread."""
        return math.ceil(self.seconds) + 1
