"""The types of calls that were parsed from a payload."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from pegboard.model.api_errors import Invalid
from pegboard.model.call import Malformed


class _Absent(Enum):
    ABSENT = "absent"

    def __bool__(self) -> bool:
        return False


ABSENT: Final = _Absent.ABSENT
EMPTY_MAPPING: Mapping[str, Any] = MappingProxyType({})


class Unreadable(Invalid):
    """A payload that no dialect recognises, or that is not in the named dialect: `unrecognised_format`."""


class AskedCall(NamedTuple):
    """One call parsed from a payload.

    `arguments` are an object, or Malformed, or None if the payload has only the answer to the call. `extra` has the
    fields that have to be sent back to the provider, under their names in a normalised call. A call with a `key` (the
    idempotency key) runs only once. `chain_id` is shared by the calls of one chain.
    """

    name: str
    arguments: Any
    id: str = ""
    result: Any = ABSENT
    error: str | None = None
    provider_executed: bool = False
    extra: Mapping[str, Any] = EMPTY_MAPPING
    key: str | None = None
    chain_id: str | None = None

    @property
    def is_open(self) -> bool:
        """True if the call has no answer yet, so that the board has to run or refuse it."""
        return not self.provider_executed and self.result is ABSENT and self.error is None

    @property
    def is_malformed(self) -> bool:
        """True if the arguments cannot be parsed."""
        return type(self.arguments) is Malformed


class ParsedCalls(NamedTuple):
    """The calls of one payload, in order; `many` is False if it was one bare call."""

    dialect: str
    calls: tuple[AskedCall, ...]
    many: bool
