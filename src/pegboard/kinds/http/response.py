"""Converts an upstream's response to a tool's output, or to an error."""

from __future__ import annotations

import base64
import codecs
import encodings.aliases
import functools
import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import orjson

from pegboard.kinds.exact_json import read_exact_json
from pegboard.kinds.secret_mask import SecretMask
from pegboard.kinds.status_error import build_status_error, extract_excerpt, join_line
from pegboard.model.call_errors import ToolError, UpstreamFailed

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
    form = read_content_type(headers.get("Content-Type", ""))
    excerpt = extract_excerpt(body, form.charset or "utf-8", form.media_type, mask)
    return build_status_error("Upstream", status, excerpt, headers.get("Retry-After"))
