"""API documents as texts, JSON or YAML, that somebody else has written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pegboard.core.refusals import Invalid
from pegboard.registry.documents import MAX_DEPTH, Misread, read_json, read_text, read_yaml
from pegboard.registry.openapi.pace import SECONDS, Pace

MAX_VALUES = 5_000_000
MAX_CHARACTERS = 128_000_000

_AT_ONCE = 10_000


def read_document(
    text: str | bytes, *, seconds: float = SECONDS, on_progress: Callable[[int, int], None] | None = None
) -> dict[str, Any]:
    """The document that the text is, JSON or YAML, of bounded depth and size; raises Invalid with the line."""
    try:
        whole = text.removeprefix("\ufeff") if isinstance(text, str) else read_text(text)
        return _read(whole, Pace(seconds, on_progress))
    except Misread as error:
        where = f" in line {error.line}" if error.line else ""
        raise Invalid(f"The document cannot be read{where}: {error.message}") from None


def _read(text: str, pace: Pace) -> dict[str, Any]:
    start = text.lstrip()[:1]
    if not start:
        raise Misread("it is empty")
    if start == "<":
        raise Misread("it is HTML or XML; give the API document itself, which is JSON or YAML")
    document = _json_or_yaml(text, pace) if start in ("{", "[") else _one(text, pace)
    if not isinstance(document, dict):
        raise Misread("an API document is an object with `openapi` or `swagger` in it")
    check_extent(document, pace)
    return document


def _json_or_yaml(text: str, pace: Pace) -> Any:
    try:
        return read_json(text)
    except Misread as error:
        try:
            return _one(text, pace)  # YAML may begin with a brace too
        except Misread:
            raise error from None


def _one(text: str, pace: Pace) -> Any:
    found = [value for value in read_yaml(text, pace.beat).values if value is not None]
    if len(found) != 1:
        raise Misread(f"it holds {len(found)} YAML documents; an API document is one")
    return found[0]


def check_extent(document: Any, pace: Pace) -> None:
    """Raise Misread where the document, with all that it shares counted in full, is too deep or too large."""
    level: list[Any] = [document]
    values = characters = 0
    for _ in range(MAX_DEPTH + 1):
        values += len(level)
        below: list[Any] = []
        for start in range(0, len(level), _AT_ONCE):
            pace.beat()
            for value in level[start : start + _AT_ONCE]:
                if isinstance(value, str):
                    characters += len(value)
                elif isinstance(value, dict):
                    below += value.values()
                    characters += sum(len(key) for key in value if isinstance(key, str))
                elif isinstance(value, list):
                    below += value
                # Not once a level: what a level of shared lists holds may be more than there is memory for.
                if values + len(below) > MAX_VALUES:
                    raise Misread(f"more than {MAX_VALUES:,} values")
            if characters > MAX_CHARACTERS:
                raise Misread(f"more than {MAX_CHARACTERS:,} characters")
        if not below:
            return
        level = below
    raise Misread(f"nested more than {MAX_DEPTH} levels deep")
