"""Entries on their way to the disk."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from pegboard.core.call import Execution
from pegboard.core.errors import Unavailable
from pegboard.journal.entries import Closing, Held, Opening
from pegboard.store.executions import FIELDS

RETRY_AFTER_MS = 1000
# What an entry weighs besides what may be large in it.
_BASE_BYTES = 1000
_LARGE = ("arguments", "result", "printed")
_ARGUMENTS, _RESULT, _PRINTED = map(FIELDS.index, _LARGE)


@dataclass(eq=False, slots=True)
class Waiting:
    """An entry on its way to the disk."""

    entry: Opening | Closing
    done: asyncio.Future[dict[str, Held]]
    bytes: int
    is_spooled: bool = False
    is_retried: bool = False
    is_told: bool = False


def unavailable(why: str) -> Unavailable:
    """What a caller is told whose call could not be recorded."""
    return Unavailable(f"The call could not be recorded: {why}", retry_after_ms=RETRY_AFTER_MS)


def weight_of(entry: Opening | Closing) -> int:
    """About how many bytes an entry takes in memory."""
    row, answer = entry.row, entry.answer if isinstance(entry, Closing) else None
    return _BASE_BYTES + sum(len(text or "") for text in (row[_ARGUMENTS], row[_RESULT], row[_PRINTED], answer))


def shown(execution: Execution) -> dict[str, object]:
    """A row as a log may have it."""
    return {name: value for name, value in execution._asdict().items() if name not in _LARGE}
