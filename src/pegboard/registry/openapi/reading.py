"""API documents as texts, JSON or YAML, that somebody else has written."""

from __future__ import annotations

from typing import Any

from pegboard.core.refusals import Invalid
from pegboard.registry.documents import MAX_DEPTH, Misread, read_json, read_text, read_yaml

MAX_VALUES = 5_000_000


def read_document(text: str | bytes) -> dict[str, Any]:
    """The document that the text is, JSON or YAML, of bounded depth and size; raises Invalid with the line."""
    try:
        return _read(text.removeprefix("\ufeff") if isinstance(text, str) else read_text(text))
    except Misread as error:
        where = f" in line {error.line}" if error.line else ""
        raise Invalid(f"The document cannot be read{where}: {error.message}") from None


def _read(text: str) -> dict[str, Any]:
    start = text.lstrip()[:1]
    if not start:
        raise Misread("it is empty")
    if start == "<":
        raise Misread("it is HTML or XML; give the API document itself, which is JSON or YAML")
    document = _json_or_yaml(text) if start in ("{", "[") else _one(text)
    if not isinstance(document, dict):
        raise Misread("an API document is an object with `openapi` or `swagger` in it")
    check_extent(document)
    return document


def _json_or_yaml(text: str) -> Any:
    try:
        return read_json(text)
    except Misread as error:
        try:
            return _one(text)  # YAML may begin with a brace too
        except Misread:
            raise error from None


def _one(text: str) -> Any:
    found = [value for value in read_yaml(text).values if value is not None]
    if len(found) != 1:
        raise Misread(f"it holds {len(found)} YAML documents; an API document is one")
    return found[0]


def check_extent(document: Any) -> None:
    """Raise Misread where the document is deeper or larger than a hand or a generator would write it."""
    level: list[Any] = [document]
    count = 0
    for _ in range(MAX_DEPTH + 1):
        count += len(level)
        if count > MAX_VALUES:
            raise Misread(f"more than {MAX_VALUES:,} values")
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                below += value.values()
            elif isinstance(value, list):
                below += value
        if not below:
            return
        level = below
    raise Misread(f"nested more than {MAX_DEPTH} levels deep")
