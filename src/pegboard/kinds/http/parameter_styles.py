"""Serialises values for URLs, headers, cookies and forms: the styles of OpenAPI 3, and JSON text.

A nested array or object is written as JSON text; deepObject uses brackets. A null, also inside an array or object, is
left out, and so is an empty array or object, as in RFC 6570.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import quote

import orjson

from pegboard.kinds.http.config import ParameterStyle
from pegboard.model.call_errors import Misconfigured
from pegboard.model.json_text import is_unicode

_CONTROL_CHARS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")
_is_plain = re.compile(r"[A-Za-z0-9_.~-]*", re.ASCII).fullmatch


class UnsendableValue(ValueError):
    """A value that cannot be sent in its place; the message continues after the field's name."""

    def __init__(self, reason: str, *, expected: str, field: str | None = None, code: str = "invalid_string") -> None:
        super().__init__(reason)
        self.reason = reason
        self.expected = expected
        self.field = field
        self.code = code


def percent_encode(text: str) -> str:
    """Percent-encode the text, except letters, digits and `-._~`."""
    return text if _is_plain(text) else percent_encode_except(text)


def percent_encode_except(text: str, safe: str = "") -> str:
    """Percent-encode the text, except letters, digits, `-._~` and `safe`; raise UnsendableValue."""
    try:
        return quote(text, safe=safe)
    except UnicodeEncodeError:
        raise make_surrogate_error() from None


def format_scalar(value: Any) -> str:
    """Return a string unchanged and any other value as JSON; raise UnsendableValue."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        raise UnsendableValue("must be a finite number", expected="finite number", code="invalid_type")
    return encode_json(value).decode()


def encode_json(value: Any) -> bytes:
    """Return the value as JSON, with integers of any length; raise UnsendableValue."""
    try:
        return orjson.dumps(value)
    except TypeError:  # an integer beyond 64 bits, a lone surrogate, or a value that is not JSON
        pass
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise make_surrogate_error() from None
    except (TypeError, ValueError, RecursionError):
        raise UnsendableValue("cannot be written as JSON", expected="a JSON value", code="custom") from None


def make_surrogate_error(field: str | None = None) -> UnsendableValue:
    """Return the error for text that cannot be encoded as UTF-8."""
    return UnsendableValue("holds half of a surrogate pair, which cannot be sent", expected="Unicode text", field=field)


def check_sendable_text(text: str, place: str, *, field: str | None = None) -> None:
    """Raise UnsendableValue if the text contains control characters or cannot be encoded."""
    if _CONTROL_CHARS.search(text):
        raise UnsendableValue(
            f"must not hold a line break or another control character, as it is sent in a {place}",
            expected="text without control characters",
            field=field,
        )
    if not is_unicode(text):
        raise make_surrogate_error(field)


ParameterPlace = Literal["path", "query", "header", "cookie", "form"]

# Returns the serialised value, or None if the value is null or empty.
WriteParameter = Callable[[Any], str | None]
_EncodeText = Callable[[str], str]

# `#` would end the query, `&` and `+` have another meaning, `[` and `]` are not allowed.
_RESERVED_CHARS = ":/?@!$'()*,;="
# The characters of a cookie value in RFC 6265, except `%`, which begins an escape.
_COOKIE_CHARS = "!#$&'()*+-./:<=>?@[]^_`{|}~"

_SCALAR_TYPES = frozenset({str, int, float, bool})

_QUERY_STYLES = ("form", "spaceDelimited", "pipeDelimited", "deepObject", "json")
_ALLOWED_STYLES: Mapping[ParameterPlace, tuple[str, ...]] = {
    "path": ("simple", "label", "matrix", "json"),
    "query": _QUERY_STYLES,
    "header": ("simple", "json"),
    "cookie": ("form", "json"),
    "form": _QUERY_STYLES,
}


@dataclass(frozen=True, slots=True)
class _StyleShape:
    """The prefix, the separator and the joint of a style, and the text after the name of an empty value."""

    first: str
    between: str
    joint: str
    is_named: bool
    empty: str = "="


_STYLE_SHAPES: Mapping[str, _StyleShape] = {
    "simple": _StyleShape("", ",", ",", is_named=False),
    "label": _StyleShape(".", ".", ",", is_named=False),
    "matrix": _StyleShape(";", ";", ",", is_named=True, empty=""),
    "form": _StyleShape("", "&", ",", is_named=True),
    "spaceDelimited": _StyleShape("", "&", "%20", is_named=True),
    "pipeDelimited": _StyleShape("", "&", "%7C", is_named=True),
}


def check_style(parameter: str, place: ParameterPlace, style: ParameterStyle | None) -> None:
    """Raise Misconfigured if OpenAPI does not allow the style in this place."""
    if style is not None and style.style not in _ALLOWED_STYLES[place]:
        raise Misconfigured(
            f"config.styles.{parameter}: a {place} parameter cannot be written in the style '{style.style}'; "
            f"use one of: {', '.join(_ALLOWED_STYLES[place])}"
        )


def make_query_writer(name: str, style: ParameterStyle | None = None, taken: Set[str] = frozenset()) -> WriteParameter:
    """Return a writer of `name=value` pairs for a query or a urlencoded form; it rejects names in `taken`."""
    encode = _choose_encoder(style)
    if style is None:
        return _make_form_writer(name, encode, taken)
    if style.style == "json":
        return _wrap_json(_make_form_writer(name, encode, taken))
    if style.style == "deepObject":
        return _make_deep_writer(name, encode, taken)
    return _make_expander(name, _STYLE_SHAPES[style.style], _is_exploded(style), encode, taken)


def make_path_writer(name: str, style: ParameterStyle | None = None) -> WriteParameter:
    """Return a writer for the path; it also encodes `/`."""
    if style is None or style.style == "json":
        write = _make_expander(name, _STYLE_SHAPES["simple"], False, percent_encode)
        return write if style is None else _wrap_json(write)
    return _make_expander(name, _STYLE_SHAPES[style.style], _is_exploded(style), percent_encode)


def make_value_writer(name: str, style: ParameterStyle | None = None) -> WriteParameter:
    """Return a writer of values without names, for placeholders in the URL's own query."""
    shape = _STYLE_SHAPES["simple"]
    if style is not None and style.style in _STYLE_SHAPES:
        shape = replace(shape, joint=_STYLE_SHAPES[style.style].joint)
    write = _make_expander(name, shape, False, _choose_encoder(style))
    return _wrap_json(write) if style is not None and style.style == "json" else write


def make_header_writer(name: str, style: ParameterStyle | None = None) -> WriteParameter:
    """Return a writer of header values: text without control characters, or JSON in ASCII."""
    if style is not None and style.style == "json":
        return lambda value: None if value is None else _encode_ascii_json(value)
    write = _make_expander(
        name, _STYLE_SHAPES["simple"], style is not None and _is_exploded(style), str, encode_name=str
    )

    def write_checked(value: Any) -> str | None:
        text = write(value)
        if text is not None:
            check_sendable_text(text, "header")
        return text

    return write_checked


def make_cookie_writer(name: str, style: ParameterStyle | None = None, taken: Set[str] = frozenset()) -> WriteParameter:
    """Return a writer of cookies as `name=value`; characters that a cookie cannot contain are percent-encoded."""
    shape = replace(_STYLE_SHAPES["form"], between="; ")
    explode = style is None or _is_exploded(style)
    write = _make_expander(
        name, shape, explode, _encode_cookie, taken, encode_name=lambda text: percent_encode(_check_cookie_text(text))
    )
    return _wrap_json(write) if style is not None and style.style == "json" else write


def _is_exploded(style: ParameterStyle) -> bool:
    return style.style == "form" if style.explode is None else style.explode


def _choose_encoder(style: ParameterStyle | None) -> _EncodeText:
    if style is not None and style.allow_reserved:
        return lambda text: percent_encode_except(text, _RESERVED_CHARS)
    return percent_encode


def _encode_cookie(text: str) -> str:
    return percent_encode_except(_check_cookie_text(text), _COOKIE_CHARS)


def _check_cookie_text(text: str) -> str:
    check_sendable_text(text.replace("\t", "\n"), "cookie")  # a header may contain a tab, a cookie may not
    return text


def _encode_ascii_json(value: Any) -> str:
    text = encode_json(value).decode()
    text = text if text.isascii() else json.dumps(value, separators=(",", ":"))
    return text.replace("\x7f", "\\u007f")  # JSON does not escape it, but a header cannot contain it


def _wrap_json(write: WriteParameter) -> WriteParameter:
    return lambda value: None if value is None else write(encode_json(value).decode())


def _make_form_writer(name: str, encode: _EncodeText, taken: Set[str]) -> WriteParameter:
    # A fast path for strings, because nearly every query parameter uses this.
    start = f"{percent_encode(name)}="
    expand = _make_expander(name, _STYLE_SHAPES["form"], True, encode, taken)
    return lambda value: start + encode(value) if type(value) is str else expand(value)


def _make_expander(
    name: str,
    shape: _StyleShape,
    explode: bool,
    encode: _EncodeText,
    taken: Set[str] = frozenset(),
    *,
    encode_name: _EncodeText = percent_encode,
) -> WriteParameter:
    label = percent_encode(name)

    def single(text: str) -> str:
        return _format_pair(label, text, shape) if shape.is_named else text

    def entries(value: Mapping[str, Any]) -> str | None:
        kept = {key: encode(format_scalar(item)) for key, item in value.items() if item is not None}
        if not kept:
            return None
        if not explode:
            return single(shape.joint.join(f"{encode(key)}{shape.joint}{text}" for key, text in kept.items()))
        for key in kept:
            _check_name_free(key, taken)
        return shape.between.join(_format_pair(encode_name(key), text, shape) for key, text in kept.items())

    def write(value: Any) -> str | None:
        text: str | None
        if type(value) in _SCALAR_TYPES:
            text = single(encode(format_scalar(value)))
        elif isinstance(value, Mapping):
            text = entries(value)
        elif isinstance(value, list | tuple):
            items = [encode(format_scalar(item)) for item in value if item is not None]
            text = shape.between.join(map(single, items)) if explode else single(shape.joint.join(items))
            text = text if items else None
        else:
            text = None if value is None else single(encode(format_scalar(value)))
        return None if text is None else shape.first + text

    return write


def _format_pair(label: str, text: str, shape: _StyleShape) -> str:
    return f"{label}={text}" if text else label + shape.empty


def _make_deep_writer(name: str, encode: _EncodeText, taken: Set[str]) -> WriteParameter:
    expand = _make_expander(name, _STYLE_SHAPES["form"], True, encode, taken)

    def pairs(path: str, value: Any) -> Iterator[str]:
        if isinstance(value, Mapping):
            for key, item in value.items():
                yield from pairs(f"{path}[{key}]", item)
            return
        _check_name_free(path, taken)
        for item in value if isinstance(value, list | tuple) else (value,):
            if item is not None:
                yield f"{percent_encode(path)}={encode(format_scalar(item))}"

    def write(value: Any) -> str | None:
        return "&".join(pairs(name, value)) or None if isinstance(value, Mapping) else expand(value)

    return write


def _check_name_free(name: str, taken: Set[str]) -> None:
    if name in taken:
        raise UnsendableValue(
            f"must not hold '{name}', which this tool sends by itself",
            expected=f"object without '{name}'",
            code="unrecognized_keys",
        )
