"""The error for an HTTP response with an error status: the readable part of its body, and when to retry."""

from __future__ import annotations

import contextlib
import email.utils
import html
import re
import time
from collections.abc import Iterator
from datetime import UTC
from http import HTTPStatus
from typing import Any

import orjson

from pegboard.kinds.secret_mask import SecretMask
from pegboard.model.call_errors import RateLimited, ToolError, UpstreamFailed, UpstreamUnreachable

EXCERPT_CHARS = 300
# Limits the work: the explanation on an error page never starts later than this.
_MAX_READ_BYTES = 64 * 1024
_BLANK_RUN = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b\ufeff]+")
_MESSAGE_KEYS = ("message", "detail", "error_description", "error", "title", "reason", "msg", "errors", "description")
_INVISIBLE_TAG = re.compile(r"<(script|style|template|noscript)\b", re.IGNORECASE)
CLOSING_TAGS = {name: re.compile(rf"</{name}\b", re.IGNORECASE) for name in ("script", "style", "template", "noscript")}
# No character reference is longer; Python refuses to parse numbers of thousands of digits.
_LONG_REFERENCE = re.compile(r"&#(?:[0-9]{8,}|[xX][0-9a-fA-F]{8,});?")


def join_line(text: str, length: int) -> str:
    """Collapse runs of blanks and control characters to one space, and truncate the text to the length."""
    flat = _BLANK_RUN.sub(" ", text[: length * 20]).strip()
    return flat if len(flat) <= length else flat[: length - 1].rstrip() + "…"


def extract_excerpt(body: bytes, charset: str, media_type: str, mask: SecretMask) -> str:
    """Return the readable part of an error's body without credentials, at most 300 characters."""
    start = body[:_MAX_READ_BYTES]
    if b"\0" in start and not charset.startswith(("utf-16", "utf-32")):
        return f"{len(body):,} bytes of {join_line(media_type, 60)}"
    text = start.decode(charset, "replace").lstrip("\ufeff \t\r\n")
    if text.startswith(("{", "[", '"')):
        with contextlib.suppress(orjson.JSONDecodeError):
            text = _find_message(orjson.loads(text)) or text
    elif text.startswith("<"):
        text = html.unescape(_LONG_REFERENCE.sub("\ufffd", " ".join(iterate_visible_texts(text))))
    return join_line(mask.text(text), EXCERPT_CHARS)


def _find_message(value: Any, depth: int = 4) -> str:
    """Return the message in an error object: the keys that most APIs use, up to four levels deep."""
    if isinstance(value, str):
        return value.strip()
    if depth and isinstance(value, list):
        return "; ".join(filter(None, (_find_message(item, depth - 1) for item in value[:3])))
    if depth and isinstance(value, dict):
        where = value.get("loc") or value.get("field") or value.get("path")
        for key in _MESSAGE_KEYS:
            if words := _find_message(value.get(key), depth - 1):
                return f"{_format_location(where)}{words}"
    return ""


def _format_location(where: Any) -> str:
    parts = where if isinstance(where, list) else [where]
    named = [str(part) for part in parts if isinstance(part, str | int)]
    return f"{'.'.join(named)}: " if named else ""


def iterate_visible_texts(page: str) -> Iterator[str]:
    """Yield the visible texts of an HTML page in one linear pass."""
    at = 0
    while (opens := page.find("<", at)) >= 0:
        yield page[at:opens]
        at = _find_tag_end(page, opens)
        if at < 0:
            return
    yield page[at:]


def _find_tag_end(page: str, opens: int) -> int:
    """Return the index after the tag or hidden element that opens there, or -1 if it is not closed; linear time."""
    if page.startswith("<!--", opens):
        closes = page.find("-->", opens + 1)
        return closes + 3 if closes >= 0 else -1
    if unseen := _INVISIBLE_TAG.match(page, opens):
        found = CLOSING_TAGS[unseen[1].lower()].search(page, opens + 1)
        if found is None:
            return -1
        opens = found.start()
    return page.find(">", opens + 1) + 1 or -1


_RETRY_SECONDS = re.compile(r"\d{1,9}", re.ASCII)
_UNAVAILABLE_STATUSES = frozenset({502, 503, 504})


def build_status_error(subject: str, status: int, excerpt: str, retry_after: str | None) -> ToolError:
    """Return the error for a status of 400 or more, with the excerpt of the body and the Retry-After header."""
    try:
        text = f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        text = str(status)
    kind: type[ToolError] = UpstreamFailed
    if status == 429:
        kind = RateLimited
    elif status in _UNAVAILABLE_STATUSES:
        kind = UpstreamUnreachable
    after = None if kind is UpstreamFailed else read_retry_after(retry_after)
    return kind(f"{subject} answered {text}{': ' if excerpt else ''}{excerpt}", retry_after_ms=after)


def read_retry_after(header: str | None) -> int | None:
    """Return the milliseconds of a Retry-After header, in seconds or as a date; None if it cannot be parsed."""
    if header is None:
        return None
    text = header.strip()
    if _RETRY_SECONDS.fullmatch(text):
        return int(text) * 1000
    try:
        moment = email.utils.parsedate_to_datetime(text[:64])
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0, round((moment.timestamp() - time.time()) * 1000))
