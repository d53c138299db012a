"""How a value is written into a URL, a header, a cookie or a form: the styles of OpenAPI 3, and JSON text.

An array or object inside another one is written as JSON text; deepObject goes on with brackets. A null, also one
inside an array or object, is left out, and so is an empty array or object, as RFC 6570 has it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any, Literal

from pegboard.core.errors import Misconfigured
from pegboard.core.outbound import ParameterStyle
from pegboard.executors.http.texts import Unwritable, check_text, encoded, json_bytes, quoted, text_of

Place = Literal["path", "query", "header", "cookie", "form"]

# What is written for a value, or None where nothing is: no value, or nothing in it.
Write = Callable[[Any], str | None]
_Encode = Callable[[str], str]

# `#` would end the query, `&` and `+` would be read as something else, `[` and `]` may not stand there.
_RESERVED = ":/?@!$'()*,;="
# What RFC 6265 lets a cookie's value hold, without `%`, which begins what had to be encoded.
_COOKIE = "!#$&'()*+-./:<=>?@[]^_`{|}~"

_SINGLE = frozenset({str, int, float, bool})

_IN_QUERY = ("form", "spaceDelimited", "pipeDelimited", "deepObject", "json")
_ALLOWED: Mapping[Place, tuple[str, ...]] = {
    "path": ("simple", "label", "matrix", "json"),
    "query": _IN_QUERY,
    "header": ("simple", "json"),
    "cookie": ("form", "json"),
    "form": _IN_QUERY,
}


@dataclass(frozen=True, slots=True)
class _Shape:
    """What stands in front of, between and inside the parts of a value, and after the name of an empty one."""

    first: str
    between: str
    joint: str
    is_named: bool
    empty: str = "="


_SHAPES: Mapping[str, _Shape] = {
    "simple": _Shape("", ",", ",", is_named=False),
    "label": _Shape(".", ".", ",", is_named=False),
    "matrix": _Shape(";", ";", ",", is_named=True, empty=""),
    "form": _Shape("", "&", ",", is_named=True),
    "spaceDelimited": _Shape("", "&", "%20", is_named=True),
    "pipeDelimited": _Shape("", "&", "%7C", is_named=True),
}


def check_style(parameter: str, place: Place, style: ParameterStyle | None) -> None:
    """Raise Misconfigured where OpenAPI knows no such style in this place."""
    if style is not None and style.style not in _ALLOWED[place]:
        raise Misconfigured(
            f"config.styles.{parameter}: a {place} parameter cannot be written in the style '{style.style}'; "
            f"use one of: {', '.join(_ALLOWED[place])}"
        )


def query_writer(name: str, style: ParameterStyle | None = None, taken: Set[str] = frozenset()) -> Write:
    """Writes a parameter as `name=value` pairs of a query or a urlencoded form, never under a name that is taken."""
    encode = _encoder(style)
    if style is None:
        return _in_form(name, encode, taken)
    if style.style == "json":
        return _as_json(_in_form(name, encode, taken))
    if style.style == "deepObject":
        return _deep(name, encode, taken)
    return _expander(name, _SHAPES[style.style], _explodes(style), encode, taken)


def path_writer(name: str, style: ParameterStyle | None = None) -> Write:
    """Writes a parameter into the path, with `/` encoded too."""
    if style is None or style.style == "json":
        write = _expander(name, _SHAPES["simple"], False, quoted)
        return write if style is None else _as_json(write)
    return _expander(name, _SHAPES[style.style], _explodes(style), quoted)


def value_writer(name: str, style: ParameterStyle | None = None) -> Write:
    """Writes a value without its name, for a place that the URL's own query has for it."""
    shape = _SHAPES["simple"]
    if style is not None and style.style in _SHAPES:
        shape = replace(shape, joint=_SHAPES[style.style].joint)
    write = _expander(name, shape, False, _encoder(style))
    return _as_json(write) if style is not None and style.style == "json" else write


def header_writer(name: str, style: ParameterStyle | None = None) -> Write:
    """Writes a header's value: text as it is, but without control characters; JSON in ASCII."""
    if style is not None and style.style == "json":
        return lambda value: None if value is None else _ascii_json(value)
    write = _expander(name, _SHAPES["simple"], style is not None and _explodes(style), str, encode_name=str)

    def checked(value: Any) -> str | None:
        text = write(value)
        if text is not None:
            check_text(text, "header")
        return text

    return checked


def cookie_writer(name: str, style: ParameterStyle | None = None, taken: Set[str] = frozenset()) -> Write:
    """Writes cookies as `name=value`, with what a cookie's value may not hold percent-encoded."""
    shape = replace(_SHAPES["form"], between="; ")
    explode = style is None or _explodes(style)
    write = _expander(name, shape, explode, _cookie_text, taken, encode_name=lambda text: quoted(_checked(text)))
    return _as_json(write) if style is not None and style.style == "json" else write


def _explodes(style: ParameterStyle) -> bool:
    return style.style == "form" if style.explode is None else style.explode


def _encoder(style: ParameterStyle | None) -> _Encode:
    if style is not None and style.allow_reserved:
        return lambda text: encoded(text, _RESERVED)
    return quoted


def _cookie_text(text: str) -> str:
    return encoded(_checked(text), _COOKIE)


def _checked(text: str) -> str:
    check_text(text.replace("\t", "\n"), "cookie")  # a header may hold a tab, a cookie may not
    return text


def _ascii_json(value: Any) -> str:
    text = json_bytes(value).decode()
    text = text if text.isascii() else json.dumps(value, separators=(",", ":"))
    return text.replace("\x7f", "\\u007f")  # JSON lets it stand, a header does not


def _as_json(write: Write) -> Write:
    return lambda value: None if value is None else write(json_bytes(value).decode())


def _in_form(name: str, encode: _Encode, taken: Set[str]) -> Write:
    # Nearly every query parameter comes here, so the way of a string is short.
    start = f"{quoted(name)}="
    expand = _expander(name, _SHAPES["form"], True, encode, taken)
    return lambda value: start + encode(value) if type(value) is str else expand(value)


def _expander(
    name: str,
    shape: _Shape,
    explode: bool,
    encode: _Encode,
    taken: Set[str] = frozenset(),
    *,
    encode_name: _Encode = quoted,
) -> Write:
    label = quoted(name)

    def single(text: str) -> str:
        return _pair(label, text, shape) if shape.is_named else text

    def entries(value: Mapping[str, Any]) -> str | None:
        kept = {key: encode(text_of(item)) for key, item in value.items() if item is not None}
        if not kept:
            return None
        if not explode:
            return single(shape.joint.join(f"{encode(key)}{shape.joint}{text}" for key, text in kept.items()))
        for key in kept:
            _check_free(key, taken)
        return shape.between.join(_pair(encode_name(key), text, shape) for key, text in kept.items())

    def write(value: Any) -> str | None:
        text: str | None
        if type(value) in _SINGLE:
            text = single(encode(text_of(value)))
        elif isinstance(value, Mapping):
            text = entries(value)
        elif isinstance(value, list | tuple):
            items = [encode(text_of(item)) for item in value if item is not None]
            text = shape.between.join(map(single, items)) if explode else single(shape.joint.join(items))
            text = text if items else None
        else:
            text = None if value is None else single(encode(text_of(value)))
        return None if text is None else shape.first + text

    return write


def _pair(label: str, text: str, shape: _Shape) -> str:
    return f"{label}={text}" if text else label + shape.empty


def _deep(name: str, encode: _Encode, taken: Set[str]) -> Write:
    expand = _expander(name, _SHAPES["form"], True, encode, taken)

    def pairs(path: str, value: Any) -> Iterator[str]:
        if isinstance(value, Mapping):
            for key, item in value.items():
                yield from pairs(f"{path}[{key}]", item)
            return
        _check_free(path, taken)
        for item in value if isinstance(value, list | tuple) else (value,):
            if item is not None:
                yield f"{quoted(path)}={encode(text_of(item))}"

    def write(value: Any) -> str | None:
        return "&".join(pairs(name, value)) or None if isinstance(value, Mapping) else expand(value)

    return write


def _check_free(name: str, taken: Set[str]) -> None:
    if name in taken:
        raise Unwritable(
            f"must not hold '{name}', which this tool sends by itself",
            expected=f"object without '{name}'",
            code="unrecognized_keys",
        )
