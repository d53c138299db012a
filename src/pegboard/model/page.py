"""Pages of lists, and the cursors between them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar
from uuid import UUID

import orjson

from pegboard.model.api_errors import Fault, Invalid

T = TypeVar("T")
MAX_PAGE_SIZE = 200


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items, and the cursor of the next page."""

    items: Sequence[T]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class SearchedPage(Page[T]):
    """A page of a search that reads a bounded number of rows: all that match up to `searched_to`, or None if full."""

    searched_to: datetime | None = None


def cut_page(items: list[T], limit: int, get_key: Callable[[T], Sequence[str]]) -> Page[T]:
    """Return the page of `limit + 1` fetched items; `get_key` returns the sort key of an item."""
    return Page(items[:limit], write_cursor(get_key(items[limit - 1])) if len(items) > limit else None)


def write_cursor(place: Sequence[str]) -> str:
    """Return a sort key as an opaque cursor."""
    return base64.urlsafe_b64encode(orjson.dumps(list(place))).decode().rstrip("=")


def read_cursor(cursor: str | None, *parts: Callable[[str], T]) -> list[T] | None:
    """Return the sort key of a cursor, or None without a cursor; raise Invalid if the cursor is not valid.

    Each part of the key is parsed by the function in `parts` at the same index, which raises ValueError.
    """
    if cursor is None:
        return None
    try:
        place = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        return [read(part) for read, part in zip(parts, _check_texts(place), strict=True)]
    except ValueError:
        raise Invalid(
            "Invalid cursor. Pass next_cursor from the previous page unchanged.",
            [Fault("cursor", "not a cursor of this list")],
        ) from None


def read_id_cursor(cursor: str | None) -> str | None:
    """Return the id in the cursor of a list that is sorted by id; raise Invalid if the cursor is not valid."""
    place = read_cursor(cursor, read_id)
    return None if place is None else place[0]


def _check_texts(place: object) -> list[str]:
    if not isinstance(place, list) or not all(isinstance(part, str) for part in place):
        raise ValueError("not a list of texts")
    return place


def read_id(text: str) -> str:
    """Return the text if it is an id; raise ValueError otherwise."""
    return str(UUID(text))


def read_name(text: str) -> str:
    """Return the text if it has only characters of a tool name; raise ValueError otherwise."""
    if not (text.isascii() and text.isprintable()):
        raise ValueError(text)
    return text


def read_moment(text: str) -> datetime:
    """Return the time; raise ValueError if it is not one with a zone."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(text)
    return moment


def read_version(text: str) -> int:
    """Return the version number; raise ValueError if it is not one."""
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise ValueError(text)
    return int(text)
