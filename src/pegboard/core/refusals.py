"""What the board refuses apart from calls.

Refusal
├── Invalid         the request does not say something the board can do; names each fault
├── Unauthorised    no key, or not one that is good now
├── Forbidden       a good key, and not allowed
├── NotFound        nothing of that name or id for this caller
├── Conflict        true when asked for, no longer or not yet possible
└── TooManyRequests the share of this caller is used up for now
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# The most faults that one refusal lists: an answer must not be many times larger than its request.
MAX_FAULTS = 100


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a request: where, and what."""

    field: str
    message: str


class Refusal(Exception):
    """The board will not do what was asked."""

    def __init__(self, message: str, faults: Sequence[Fault] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.faults = tuple(faults[:MAX_FAULTS])


class Invalid(Refusal):
    """The request cannot be understood or breaks a rule."""

    @classmethod
    def of(cls, what: str, faults: Sequence[Fault]) -> Invalid:
        """All faults in one refusal, the first ones in its message."""
        shown = "; ".join(f"{fault.field}: {fault.message}" if fault.field else fault.message for fault in faults[:5])
        least = "at least " if len(faults) > MAX_FAULTS else ""
        more = f" (and {least}{len(faults) - 5} more)" if len(faults) > 5 else ""
        return cls(f"{what}: {shown}{more}", faults)


class Unauthorised(Refusal):
    """The key is missing, wrong, expired or revoked."""


class Forbidden(Refusal):
    """This caller may not do that."""


class NotFound(Refusal):
    """There is no such thing for this caller."""


class Conflict(Refusal):
    """Something else stands in the way."""


class TooManyRequests(Refusal):
    """The share of this caller is used up; the same request may succeed later."""
