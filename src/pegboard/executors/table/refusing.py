"""Values that a column cannot take, told as the validation tells them: field, what was expected, what was received."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from pegboard.core.errors import FieldProblem, InvalidArguments
from pegboard.telemetry.logs import redacted

MOST_PROBLEMS = 100
HIDDEN = "(hidden)"
_LISTED = 10
_SHOWN = 100


class Refused(Exception):
    """A value that does not fit its column; of an array, `place` says which `element` does not."""

    place = ""
    element: Any = None

    def __init__(self, code: str, says: str, expected: str, *, shows: bool = True) -> None:
        super().__init__(says)
        self.code = code
        self.says = says
        self.expected = expected
        self.shows = shows

    def problem(self, path: str, field: str, value: Any) -> FieldProblem:
        """The refusal as a problem of the field at `path`, the value shown unless the field's name looks secret."""
        value = self.element if self.place else value
        received = HIDDEN if is_secret(field) else shown(value)
        at = path + self.place
        message = f"Field '{at}' {self.says}"
        if self.shows:
            quoted = f"'{received}'" if isinstance(value, str) and received is not HIDDEN else received
            message += f", but received {quoted}"
        return FieldProblem(self.code, message, at, self.expected, received)


def is_secret(field: str) -> bool:
    """Whether a field looks as if its value should not be repeated."""
    return bool(redacted({field: ""})[field])


def shown(value: Any) -> str:
    """The value as text, cut short."""
    if type(value) is int:
        return str(value)
    text = value if isinstance(value, str) else written(redacted(value))
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def written(value: Any) -> str:
    """The value as compact JSON text, its numbers with every digit."""
    return orjson.dumps(value, default=_digits).decode()


def invalid(problems: Sequence[FieldProblem]) -> InvalidArguments:
    """The error for these problems; nothing has run."""
    parts = "; ".join(problem.message for problem in problems[:_LISTED])
    left = len(problems) - _LISTED
    more = f" (and {left} more)" if left > 0 else ""
    error = InvalidArguments(f"Invalid parameters: {parts}{more}", problems=problems[:MOST_PROBLEMS])
    error.did_run = False
    return error


def _digits(value: Any) -> orjson.Fragment:
    return orjson.Fragment(str(value))
