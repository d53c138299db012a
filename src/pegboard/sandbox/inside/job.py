"""The job of one call, as the server sends it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pegboard.sandbox.inside.steps import StepFailed


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one call may take, in bytes but for the processes; `output` is for each of its two streams."""

    memory: int
    processes: int
    disk: int
    output: int
    result: int


@dataclass(frozen=True, slots=True)
class Job:
    """What to run, within which bounds; `told` is all of it as it came."""

    is_python: bool
    seconds: float
    bounds: Bounds
    env: Mapping[str, str]
    folder: str | None
    network: bool
    stdin: bytes
    told: dict[str, Any]

    @classmethod
    def read(cls, told: dict[str, Any]) -> Job:
        """The job that was told of; raises StepFailed where it makes no sense."""
        try:
            return cls(
                is_python={"python": True, "exec": False}[told["kind"]],
                seconds=float(told["seconds"]),
                bounds=Bounds(**told["limits"]),
                env=dict(told["env"]),
                folder=told["folder"],
                network=bool(told["network"]),
                stdin=str(told.get("stdin", "")).encode("utf-8", "replace"),
                told=told,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise StepFailed(f"reading the job: {type(error).__name__}: {error}") from error

    @property
    def cpu_seconds(self) -> int:
        """What one process may use of the processors: a little more than the clock allows a single thread."""
        return math.ceil(self.seconds) + 1
