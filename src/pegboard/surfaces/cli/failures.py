"""What the program ends with when it cannot do what was asked.

Failure
├── Usage          exit 2   the command line, or a file it names, says something that makes no sense
├── Refused        exit 1   the board understood and will not
└── Unreachable    exit 3   no board answers, or the store cannot be opened
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar


class Failure(Exception):
    """The program cannot go on; `message` and `lines` are for the person who started it."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, lines: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.lines = tuple(lines)

    @property
    def data(self) -> dict[str, Any]:
        """The failure for programs, in the form of the API's own problems."""
        return {"detail": self.message, "errors": [{"field": "", "message": line} for line in self.lines]}


class Usage(Failure):
    """What was typed, or a file that was named, cannot be used."""

    exit_code = 2


class Refused(Failure):
    """The board refused; `faults` are its `errors`, each with `field` and `message`, `problem` is its whole answer."""

    exit_code = 1

    def __init__(
        self,
        message: str,
        lines: Sequence[str] = (),
        *,
        status: int = 400,
        faults: Sequence[dict[str, Any]] = (),
        problem: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, lines)
        self.problem = problem
        self.status = status
        self.faults = tuple(faults)

    @property
    def data(self) -> dict[str, Any]:
        """The problem as the board sent it."""
        return dict(self.problem) if self.problem is not None else super().data


class Unreachable(Failure):
    """There is no board to ask."""

    exit_code = 3
