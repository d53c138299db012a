"""From an upstream's answer to a tool's result, or to the error that says what it answered."""

from __future__ import annotations

import base64
import codecs
import email.utils
import encodings.aliases
import functools
import re
import time
from collections.abc import Mapping
from datetime import UTC
from http import HTTPStatus
from typing import Any, Literal, NamedTuple

import orjson

from pegboard.core.errors import RateLimited, ToolError, UpstreamFailed, UpstreamUnreachable
from pegboard.executors.exact_json import read_json
from pegboard.executors.http.excerpts import excerpt_of, one_line
from pegboard.executors.masking import Mask

_BINARY = "application/octet-stream"
_TEXTS = frozenset(
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
# Python's own inventions among its codecs: no web server means them, and some take forever over a long text.
_NO_CHARSETS = frozenset({"idna", "punycode", "raw_unicode_escape", "undefined", "unicode_escape"})
# Python would look on disk for a codec of any other name, and keep in mind for good that there is none.
_CODECS = (
    encodings.aliases.aliases
    | {name: name for name in encodings.aliases.aliases.values()}
    | {name: name for name in ("cp720", "cp737", "cp856", "cp874", "cp1006", "koi8_t", "koi8_u", "utf_8_sig")}
    | {"windows_874": "cp874", "x_sjis": "shift_jis", "x_gbk": "gbk"}
)
_LONGEST_NAME = 40
_PUNCTUATION = re.compile(r"[^a-z0-9.]+")
_SECONDS = re.compile(r"\d{1,9}", re.ASCII)
_AWAY = frozenset({502, 503, 504})


class Form(NamedTuple):
    """How a body of some Content-Type is read; `charset` is None where it is one that nobody knows."""

    kind: Literal["json", "text", "binary", "unnamed"]
    media_type: str
    charset: str | None
    named_charset: str = "utf-8"


@functools.lru_cache(maxsize=512)
def form_of(content_type: str) -> Form:
    """How a body with this Content-Type header is read."""
    media_type = content_type.partition(";")[0].strip().lower()
    named = _CHARSET.search(content_type)
    name = (named and named[1]) or "utf-8"
    charset = _codec(name)
    if not media_type:
        return Form("unnamed", _BINARY, charset, name)
    if media_type in {"application/json", "text/json"} or media_type.endswith("+json"):
        return Form("json", media_type, charset, name)
    if media_type.startswith("text/") or media_type in _TEXTS or media_type.endswith(("+xml", "+yaml")):
        return Form("text", media_type, charset, name)
    return Form("binary", media_type, charset, name)


def _codec(name: str) -> str | None:
    codec = _CODECS.get(_PUNCTUATION.sub("_", name.lower())) if len(name) <= _LONGEST_NAME else None
    if codec is None:
        return None
    try:
        found = codecs.lookup(codec)
    except LookupError:
        return None  # one of another system, as mbcs is
    # Private, and the only word there is for it: hex, zip and the like make bytes of bytes.
    return found.name if found._is_text_encoding and found.name.replace("-", "_") not in _NO_CHARSETS else None


def result_of(status: int, headers: Mapping[str, str], body: bytes, mask: Mask, *, full: bool = False) -> Any:
    """What the tool returns for this answer; raises UpstreamFailed where it cannot be read."""
    value = _value_of(headers.get("Content-Type", ""), body, mask) if body else None
    if not full:
        return value
    shown: dict[str, str] = {}
    for name, text in headers.items():
        key = name.lower()
        if key != "set-cookie":
            clean = mask.text(_sound(text))
            shown[key] = f"{shown[key]}, {clean}" if key in shown else clean
    return {"status": status, "headers": shown, "body": value}


def _value_of(content_type: str, body: bytes, mask: Mask) -> Any:
    form = form_of(content_type)
    if form.kind == "json":
        return _json(_as_utf8(body, form), form, mask)
    if form.kind == "text":
        return mask.text(body.removeprefix(codecs.BOM_UTF8).decode(_known(form), "replace"))
    if form.kind == "unnamed" and b"\0" not in body:
        try:
            return mask.text(body.decode())
        except UnicodeDecodeError:
            pass  # so it is no text
    clean = mask.data(body)
    return {"media_type": form.media_type, "base64": base64.b64encode(clean).decode("ascii"), "bytes": len(clean)}


def _known(form: Form) -> str:
    if form.charset is None:
        raise UpstreamFailed(
            f"Upstream answered with text in the charset '{one_line(form.named_charset, 60)}', which is not known here"
        )
    return form.charset


def _as_utf8(body: bytes, form: Form) -> bytes:
    if form.charset in {"utf-8", "ascii"}:
        return body.removeprefix(codecs.BOM_UTF8)
    charset = _known(form)
    try:
        return body.decode(charset).removeprefix("\ufeff").encode()
    except UnicodeError as error:
        raise UpstreamFailed(f"Upstream answered with JSON that is not the {charset} it says it is: {error}") from None


def _json(body: bytes, form: Form, mask: Mask) -> Any:
    try:
        return mask.parsed(read_json(body), body)
    except orjson.JSONDecodeError as error:
        raise UpstreamFailed(_why_broken(body, form, mask, error)) from None
    except (RecursionError, orjson.JSONEncodeError):
        raise UpstreamFailed("Upstream answered with JSON that is nested too deep to be passed on") from None


def _why_broken(body: bytes, form: Form, mask: Mask, error: orjson.JSONDecodeError) -> str:
    text = body.decode("utf-8", "replace")
    try:
        body.decode()
    except UnicodeDecodeError as invalid:
        at, why = invalid.start, f"byte {invalid.start} is not valid UTF-8"
    else:
        at, why = error.pos, f"{error.msg} at line {error.lineno} column {error.colno}"
    clean = mask.text(text)
    # Where something is masked places have moved; what it is all about then shows at the start.
    near = text[max(0, at - 100) : at + 100] if clean == text else clean[:200]
    return f"Upstream answered with broken JSON ({form.media_type}): {why}, near: {one_line(near, 200)}"


def _sound(text: str) -> str:
    """A header's value as text that can be sent, whatever bytes it was."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def failure_of(status: int, headers: Mapping[str, str], body: bytes, mask: Mask) -> ToolError:
    """The error for an answer with a status of 400 or more."""
    try:
        said = f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        said = str(status)
    form = form_of(headers.get("Content-Type", ""))
    excerpt = excerpt_of(body, form.charset or "utf-8", form.media_type, mask)
    message = f"Upstream answered {said}{': ' if excerpt else ''}{excerpt}"
    if status == 429:
        return RateLimited(message, retry_after_ms=retry_after(headers.get("Retry-After")))
    if status in _AWAY:
        return UpstreamUnreachable(message, retry_after_ms=retry_after(headers.get("Retry-After")))
    return UpstreamFailed(message)


def retry_after(header: str | None) -> int | None:
    """The milliseconds that a Retry-After header asks to wait, given as seconds or as a date; None for nonsense."""
    if header is None:
        return None
    text = header.strip()
    if _SECONDS.fullmatch(text):
        return int(text) * 1000
    try:
        moment = email.utils.parsedate_to_datetime(text[:64])
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0, round((moment.timestamp() - time.time()) * 1000))
