"""Calls as a payload asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from pegboard.core.call import Malformed
from pegboard.core.refusals import Invalid


class _Absent(Enum):
    ABSENT = "absent"

    def __bool__(self) -> bool:
        return False


ABSENT: Final = _Absent.ABSENT
NOTHING: Mapping[str, Any] = MappingProxyType({})


class Unreadable(Invalid):
    """A payload that no dialect knows, or not the one it is said to be: `unrecognised_format`."""


class AskedCall(NamedTuple):
    """One call as a payload asks for it.

    `arguments` are an object, or Malformed; None where only the answer to a call was seen. `extra` is what the provider
    needs back, under the names a normalised call shows it by. With a `key` it runs once, however often it is asked for.
    `chain_id` is what the calls that it is one of have in common.
    """

    name: str
    arguments: Any
    id: str = ""
    result: Any = ABSENT
    error: str | None = None
    provider_executed: bool = False
    extra: Mapping[str, Any] = NOTHING
    key: str | None = None
    chain_id: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether the board is to run or refuse it: nobody has answered it yet."""
        return not self.provider_executed and self.result is ABSENT and self.error is None

    @property
    def is_malformed(self) -> bool:
        """Whether its arguments cannot be read."""
        return type(self.arguments) is Malformed


class Asked(NamedTuple):
    """The calls of one payload, in order; `many` unless it was one bare call."""

    dialect: str
    calls: tuple[AskedCall, ...]
    many: bool
