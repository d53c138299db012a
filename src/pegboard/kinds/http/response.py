"""Converts an upstream's response to a tool's output, or to an error with an excerpt of its body."""

from __future__ import annotations

import base64
import codecs
import contextlib
import email.utils
import encodings.aliases
import functools
import html
import re
import time
from collections.abc import Iterator, Mapping
from datetime import UTC
from http import HTTPStatus
from typing import Any, Literal, NamedTuple

import orjson

from pegboard.kinds.exact_json import read_exact_json
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


_BINARY_TYPE = "application/octet-stream"
_TEXT_TYPES = frozenset(
    f"application/{name}"
    for name in (
        "ecmascript",
        "graphql",
        "javascript",
        "json-seq",
        "jsonl",
        "jsonlines",
        "ndjson",
        "rtf",
        "sql",
        "toml",
        "x-javascript",
        "x-ndjson",
        "x-sh",
        "x-www-form-urlencoded",
        "x-yaml",
        "xml",
        "xml-dtd",
        "yaml",
    )
)
_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([^\s;\",]*)", re.IGNORECASE)
# Codecs specific to Python: no web server means them, and some are very slow on long texts.
_PYTHON_ONLY_CODECS = frozenset({"idna", "punycode", "raw_unicode_escape", "undefined", "unicode_escape"})
# For any other name Python would search the disk for a codec, and cache the failure forever.
_CODECS = (
    encodings.aliases.aliases
    | {name: name for name in encodings.aliases.aliases.values()}
    | {name: name for name in ("cp720", "cp737", "cp856", "cp874", "cp1006", "koi8_t", "koi8_u", "utf_8_sig")}
    | {"windows_874": "cp874", "x_sjis": "shift_jis", "x_gbk": "gbk"}
)
_MAX_CHARSET_CHARS = 40
_CHARSET_PUNCTUATION = re.compile(r"[^a-z0-9.]+")
_RETRY_SECONDS = re.compile(r"\d{1,9}", re.ASCII)
_UNAVAILABLE_STATUSES = frozenset({502, 503, 504})


class BodyForm(NamedTuple):
    """How to read a body of a Content-Type; `charset` is None if it is unknown."""

    kind: Literal["json", "text", "binary", "unnamed"]
    media_type: str
    charset: str | None
    named_charset: str = "utf-8"


@functools.lru_cache(maxsize=512)
def read_content_type(content_type: str) -> BodyForm:
    """Return how to read a body with this Content-Type header."""
    media_type = content_type.partition(";")[0].strip().lower()
    named = _CHARSET.search(content_type)
    name = (named and named[1]) or "utf-8"
    charset = _find_codec(name)
    if not media_type:
        return BodyForm("unnamed", _BINARY_TYPE, charset, name)
    if media_type in {"application/json", "text/json"} or media_type.endswith("+json"):
        return BodyForm("json", media_type, charset, name)
    if media_type.startswith("text/") or media_type in _TEXT_TYPES or media_type.endswith(("+xml", "+yaml")):
        return BodyForm("text", media_type, charset, name)
    return BodyForm("binary", media_type, charset, name)


def _find_codec(name: str) -> str | None:
    codec = _CODECS.get(_CHARSET_PUNCTUATION.sub("_", name.lower())) if len(name) <= _MAX_CHARSET_CHARS else None
    if codec is None:
        return None
    try:
        found = codecs.lookup(codec).name
        b"a".decode(found, "replace")
    except LookupError:
        return None  # a codec of another operating system, such as mbcs, or one of bytes to bytes, such as hex
    return found if found.replace("-", "_") not in _PYTHON_ONLY_CODECS else None


def read_result(status: int, headers: Mapping[str, str], body: bytes, mask: SecretMask, *, full: bool = False) -> Any:
    """Return the tool's output for this response; raise UpstreamFailed if it cannot be read."""
    value = _read_body_value(headers.get("Content-Type", ""), body, mask) if body else None
    if not full:
        return value
    shown: dict[str, str] = {}
    for name, text in headers.items():
        key = name.lower()
        if key != "set-cookie":
            clean = mask.text(_clean_header(text))
            shown[key] = f"{shown[key]}, {clean}" if key in shown else clean
    return {"status": status, "headers": shown, "body": value}


def _read_body_value(content_type: str, body: bytes, mask: SecretMask) -> Any:
    form = read_content_type(content_type)
    if form.kind == "json":
        return _parse_json(_to_utf8(body, form), form, mask)
    if form.kind == "text":
        return mask.text(body.removeprefix(codecs.BOM_UTF8).decode(_require_charset(form), "replace"))
    if form.kind == "unnamed" and b"\0" not in body:
        try:
            return mask.text(body.decode())
        except UnicodeDecodeError:
            pass  # not text
    clean = mask.data(body)
    return {"media_type": form.media_type, "base64": base64.b64encode(clean).decode("ascii"), "bytes": len(clean)}


def _require_charset(form: BodyForm) -> str:
    if form.charset is None:
        raise UpstreamFailed(
            f"Upstream answered with text in the charset '{join_line(form.named_charset, 60)}', which is not supported"
        )
    return form.charset


def _to_utf8(body: bytes, form: BodyForm) -> bytes:
    if form.charset in {"utf-8", "ascii"}:
        return body.removeprefix(codecs.BOM_UTF8)
    charset = _require_charset(form)
    try:
        return body.decode(charset).removeprefix("\ufeff").encode()
    except UnicodeError as error:
        raise UpstreamFailed(
            f"Upstream answered with JSON that is not valid {charset}, its declared charset: {error}"
        ) from None


def _parse_json(body: bytes, form: BodyForm, mask: SecretMask) -> Any:
    try:
        return mask.parse_json(read_exact_json(body), body)
    except orjson.JSONDecodeError as error:
        raise UpstreamFailed(_explain_broken_json(body, form, mask, error)) from None
    except (RecursionError, orjson.JSONEncodeError):
        raise UpstreamFailed("Upstream answered with JSON that is nested too deeply to be returned") from None


def _explain_broken_json(body: bytes, form: BodyForm, mask: SecretMask, error: orjson.JSONDecodeError) -> str:
    text = body.decode("utf-8", "replace")
    try:
        body.decode()
    except UnicodeDecodeError as invalid:
        at, why = invalid.start, f"byte {invalid.start} is not valid UTF-8"
    else:
        at, why = error.pos, f"{error.msg} at line {error.lineno} column {error.colno}"
    clean = mask.text(text)
    # If something is masked, positions have moved; then show the start of the text.
    near = text[max(0, at - 100) : at + 100] if clean == text else clean[:200]
    return f"Upstream answered with broken JSON ({form.media_type}): {why}, near: {join_line(near, 200)}"


def _clean_header(text: str) -> str:
    """Return a header's value as valid Unicode text, whatever its bytes."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def make_status_error(status: int, headers: Mapping[str, str], body: bytes, mask: SecretMask) -> ToolError:
    """Return the error for a response with a status of 400 or more."""
    try:
        text = f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        text = str(status)
    form = read_content_type(headers.get("Content-Type", ""))
    excerpt = extract_excerpt(body, form.charset or "utf-8", form.media_type, mask)
    message = f"Upstream answered {text}{': ' if excerpt else ''}{excerpt}"
    if status == 429:
        return RateLimited(message, retry_after_ms=read_retry_after(headers.get("Retry-After")))
    if status in _UNAVAILABLE_STATUSES:
        return UpstreamUnreachable(message, retry_after_ms=read_retry_after(headers.get("Retry-After")))
    return UpstreamFailed(message)


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
