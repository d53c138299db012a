"""Lists that are read a page at a time."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from uuid import UUID

import orjson

from pegboard.core.refusals import Fault, Invalid

T = TypeVar("T")
MAX_PAGE = 200


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items, and where the next ones begin."""

    items: Sequence[T]
    next_cursor: str | None = None


def cut(items: list[T], limit: int, key: list[str] | None) -> Page[T]:
    """The page out of `limit + 1` fetched items; `key` is the last shown item's place in the order."""
    return Page(items[:limit], write_cursor(key) if len(items) > limit and key else None)


def write_cursor(place: Sequence[str]) -> str:
    """A place in an ordered list as an opaque text."""
    return base64.urlsafe_b64encode(orjson.dumps(list(place))).decode().rstrip("=")


def read_cursor(cursor: str | None, *parts: Callable[[str], T]) -> list[T] | None:
    """The place that a cursor stands for, each part read by its reader, which raises ValueError for what it is not."""
    if cursor is None:
        return None
    try:
        place = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        return [read(part) for read, part in zip(parts, _texts(place), strict=True)]
    except ValueError:
        raise Invalid(
            "Invalid cursor. Pass next_cursor from the previous page unchanged.",
            [Fault("cursor", "not a cursor of this list")],
        ) from None


def _texts(place: object) -> list[str]:
    if not isinstance(place, list) or not all(isinstance(part, str) for part in place):
        raise ValueError("not a list of texts")
    return place


def an_id(text: str) -> str:
    """A reader of cursors: the text, if it is an id."""
    return str(UUID(text))


def a_name(text: str) -> str:
    """A reader of cursors: the text, if it has the letters of a tool's name."""
    if not (text.isascii() and text.isprintable()):
        raise ValueError(text)
    return text


def a_version(text: str) -> int:
    """A reader of cursors: the number of a version."""
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise ValueError(text)
    return int(text)
