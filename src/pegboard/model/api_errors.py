"""The refusals of requests to the API; errors of calls are in call_errors.py.

Refusal
├── Invalid         the request cannot be parsed or violates a rule; lists each fault
├── Unauthorised    the key is missing, unknown, expired or revoked
├── Forbidden       the key is valid, but the caller is not allowed to do this
├── NotFound        there is no such object, or the caller may not see it
├── Conflict        the request conflicts with the current state
└── TooManyRequests the caller's limit is used up; retry later
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# The most faults that one refusal lists: a response must not be many times larger than its request.
UNEXPECTED_ERROR_MESSAGE = "An unexpected error occurred on the board; see its log"
MAX_FAULTS = 100


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a request: the field and the message."""

    field: str
    message: str


class Refusal(Exception):
    """The request was not carried out."""

    def __init__(self, message: str, faults: Sequence[Fault] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.faults = tuple(faults[:MAX_FAULTS])


class Invalid(Refusal):
    """The request cannot be parsed or violates a rule."""

    @classmethod
    def of(cls, what: str, faults: Sequence[Fault]) -> Invalid:
        """Return one refusal with all faults, and the first five in its message."""
        shown = "; ".join(f"{fault.field}: {fault.message}" if fault.field else fault.message for fault in faults[:5])
        least = "at least " if len(faults) > MAX_FAULTS else ""
        more = f" (and {least}{len(faults) - 5} more)" if len(faults) > 5 else ""
        return cls(f"{what}: {shown}{more}", faults)


class Unauthorised(Refusal):
    """The key is missing, wrong, expired or revoked."""


class Forbidden(Refusal):
    """The caller is not allowed to do this."""


class NotFound(Refusal):
    """There is no such object, or this caller may not see it."""


class Conflict(Refusal):
    """The request conflicts with the current state."""


class TooManyRequests(Refusal):
    """The caller's limit is used up; the same request may succeed later."""
