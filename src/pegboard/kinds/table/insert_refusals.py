"""Values that a column cannot store, reported like validation errors: field, expected value, received value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from pegboard.model.call_errors import FieldProblem, InvalidArguments
from pegboard.model.secrets import HIDDEN, is_secret_name
from pegboard.telemetry.logs import redact_secrets

MAX_PROBLEMS = 100
_MAX_LISTED_PROBLEMS = 10
_MAX_VALUE_CHARS = 100


class ColumnValueRefused(Exception):
    """A value that does not fit its column; for an array, `place` and `element` identify the element."""

    place = ""
    element: Any = None

    def __init__(self, code: str, reason: str, expected: str, *, shows: bool = True) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.expected = expected
        self.shows = shows

    def problem(self, path: str, field: str, value: Any) -> FieldProblem:
        """Return the error as a problem of the field at `path`; the value is hidden if the field's name is secret."""
        value = self.element if self.place else value
        received = HIDDEN if is_secret_name(field) else shorten_value(value)
        at = path + self.place
        message = f"Field '{at}' {self.reason}"
        if self.shows:
            quoted = f"'{received}'" if isinstance(value, str) and received is not HIDDEN else received
            message += f", but received {quoted}"
        return FieldProblem(self.code, message, at, self.expected, received)


def shorten_value(value: Any) -> str:
    """Return the value as text of at most 100 characters."""
    if type(value) is int:
        return str(value)
    text = value if isinstance(value, str) else encode_compact_json(redact_secrets(value))
    return text if len(text) <= _MAX_VALUE_CHARS else text[: _MAX_VALUE_CHARS - 1] + "…"


def encode_compact_json(value: Any) -> str:
    """Return the value as compact JSON; numbers keep all digits."""
    return orjson.dumps(value, default=_encode_decimal).decode()


def make_invalid_arguments_error(problems: Sequence[FieldProblem]) -> InvalidArguments:
    """Return the error for these problems; the call did not run."""
    parts = "; ".join(problem.message for problem in problems[:_MAX_LISTED_PROBLEMS])
    left = len(problems) - _MAX_LISTED_PROBLEMS
    more = f" (and {left} more)" if left > 0 else ""
    error = InvalidArguments(f"Invalid parameters: {parts}{more}", problems=problems[:MAX_PROBLEMS])
    error.did_run = False
    return error


def _encode_decimal(value: Any) -> orjson.Fragment:
    return orjson.Fragment(str(value))
