"""What an upstream's error page says, in one line."""

from __future__ import annotations

import contextlib
import html
import re
from collections.abc import Iterator
from typing import Any

import orjson

from pegboard.executors.masking import Mask

LENGTH = 300
# No explanation starts later than this in a page, and the work stays small whatever is sent.
_LOOKED_AT = 64 * 1024
_BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b\ufeff]+")
_SPOKEN = ("message", "detail", "error_description", "error", "title", "reason", "msg", "errors", "description")
_UNSEEN = re.compile(r"<(script|style|template|noscript)\b", re.IGNORECASE)
_SEEN_AGAIN = {name: re.compile(rf"</{name}\b", re.IGNORECASE) for name in ("script", "style", "template", "noscript")}
# No character has a longer number, and one of thousands of digits is not even read.
_LONG_REFERENCE = re.compile(r"&#(?:[0-9]{8,}|[xX][0-9a-fA-F]{8,});?")


def one_line(text: str, length: int) -> str:
    """The text with every run of blanks and control characters as one space, cut to the length."""
    flat = _BLANK.sub(" ", text[: length * 20]).strip()
    return flat if len(flat) <= length else flat[: length - 1].rstrip() + "…"


def excerpt_of(body: bytes, charset: str, media_type: str, mask: Mask) -> str:
    """The part of an error's body that a person would read, without credentials, at most 300 characters."""
    start = body[:_LOOKED_AT]
    if b"\0" in start and not charset.startswith(("utf-16", "utf-32")):
        return f"{len(body):,} bytes of {one_line(media_type, 60)}"
    text = start.decode(charset, "replace").lstrip("\ufeff \t\r\n")
    if text.startswith(("{", "[", '"')):
        with contextlib.suppress(orjson.JSONDecodeError):
            text = _spoken(orjson.loads(text)) or text
    elif text.startswith("<"):
        text = html.unescape(_LONG_REFERENCE.sub("\ufffd", " ".join(_seen(text))))
    return one_line(mask.text(text), LENGTH)


def _spoken(value: Any, depth: int = 4) -> str:
    """What an error object says in words: the way most APIs put it, however deep they wrap it."""
    if isinstance(value, str):
        return value.strip()
    if depth and isinstance(value, list):
        return "; ".join(filter(None, (_spoken(item, depth - 1) for item in value[:3])))
    if depth and isinstance(value, dict):
        where = value.get("loc") or value.get("field") or value.get("path")
        for key in _SPOKEN:
            if words := _spoken(value.get(key), depth - 1):
                return f"{_place(where)}{words}"
    return ""


def _place(where: Any) -> str:
    parts = where if isinstance(where, list) else [where]
    named = [str(part) for part in parts if isinstance(part, str | int)]
    return f"{'.'.join(named)}: " if named else ""


def _seen(page: str) -> Iterator[str]:
    """The texts of an HTML page that a browser would show, in one pass."""
    at = 0
    while (opens := page.find("<", at)) >= 0:
        yield page[at:opens]
        at = _end(page, opens)
        if at < 0:
            return
    yield page[at:]


def _end(page: str, opens: int) -> int:
    """Where what opens there has been closed, -1 if it never is; no step of it looks twice at any part of the page."""
    if page.startswith("<!--", opens):
        closes = page.find("-->", opens + 1)
        return closes + 3 if closes >= 0 else -1
    if unseen := _UNSEEN.match(page, opens):
        found = _SEEN_AGAIN[unseen[1].lower()].search(page, opens + 1)
        if found is None:
            return -1
        opens = found.start()
    return page.find(">", opens + 1) + 1 or -1
