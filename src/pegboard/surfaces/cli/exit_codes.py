"""Exceptions that end the program with an exit code.

CommandFailure
├── UsageError          exit 2   the command line, or a file that it names, is invalid
├── RequestRefused      exit 1   the board refused the request
└── BoardUnreachable    exit 3   no board responds, or its database cannot be opened
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar


class CommandFailure(Exception):
    """Ends the program; `message` and `lines` are printed to the user."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, lines: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.lines = tuple(lines)

    @property
    def data(self) -> dict[str, Any]:
        """The failure in the format of the API's problem+json, for --json."""
        return {"detail": self.message, "errors": [{"field": "", "message": line} for line in self.lines]}


class UsageError(CommandFailure):
    """The command line, or a file that it names, is invalid."""

    exit_code = 2


class RequestRefused(CommandFailure):
    """The board refused; `faults` are the `errors` of its response, `problem` is the whole response."""

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


class BoardUnreachable(CommandFailure):
    """No board can be reached."""

    exit_code = 3
