"""The types of calls that were parsed from a payload, and the description of a payload that cannot be parsed."""

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
_MAX_LISTED_KEYS = 8
_MAX_ECHOED_CHARS = 60


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
    def arguments_or_text(self) -> Any:
        """The arguments, {} without any; the text of arguments that cannot be parsed."""
        return self.arguments.text if isinstance(self.arguments, Malformed) else self.arguments or {}

    @property
    def is_malformed(self) -> bool:
        """True if the arguments cannot be parsed."""
        return type(self.arguments) is Malformed


class ParsedCalls(NamedTuple):
    """The calls of one payload, in order; `many` is False if it was one bare call."""

    dialect: str
    calls: tuple[AskedCall, ...]
    many: bool


def describe_payload(payload: Any) -> str:
    """Return a short description of the payload: its type, and its keys or its beginning."""
    if isinstance(payload, dict):
        names = [f"'{str(key)[:_MAX_ECHOED_CHARS]}'" for key in list(payload)[:_MAX_LISTED_KEYS]]
        more = f" and {len(payload) - _MAX_LISTED_KEYS} more" if len(payload) > _MAX_LISTED_KEYS else ""
        return f"an object with the keys {', '.join(names)}{more}" if names else "an empty object"
    if isinstance(payload, list):
        if not payload:
            return "an empty list"
        # Not recursive for lists: they may be nested hundreds of levels deep.
        first = "another list" if isinstance(payload[0], list) else describe_payload(payload[0])
        return f"a list of {len(payload):,}, the first of them {first}"
    if isinstance(payload, str):
        begin = payload[:_MAX_ECHOED_CHARS].encode("utf-8", "replace").decode()
        return f"a text of {len(payload):,} characters that begins {begin!r}" if payload else "an empty text"
    if payload is None:
        return "null"
    return "true or false" if isinstance(payload, bool) else "a number"
