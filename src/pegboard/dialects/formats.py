"""Arguments and results as their tool says that people read them; whatever a value is, something short is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from itertools import islice
from typing import Any

import orjson

from pegboard.core.call import ToolResult
from pegboard.core.display import ITEMS, Display, Format, Place, steps_of
from pegboard.core.tool import MASK
from pegboard.dialects import quantities
from pegboard.dialects.grids import grid_of
from pegboard.dialects.readable import (
    Figure,
    Written,
    has_secret_value,
    hides,
    in_one_line,
    masked,
    named,
    named_items,
    readable,
    visible,
)
from pegboard.dialects.sql import sql_in_one_line, sql_indented

LINE = 200
LONG = 4000
_MOST_ITEMS = 20
_SHORT = 60
_LONGEST_TEXT = 400
# How much of a text is looked at for one line.
_GLANCE = 10_000
_FIGURES = frozenset({"money", "duration", "bytes", "percent"})
# Results are read to be shown up to these sizes, by what their tool says and without; of larger ones the size is told.
_LARGEST = 1024 * 1024
_LARGEST_UNSAID = 64 * 1024
_BYTES = Format(style="bytes")
_QUANTITIES: Mapping[str, Callable[[Any, Format], str | None]] = {
    "money": quantities.money,
    "duration": quantities.duration,
    "bytes": quantities.size,
    "percent": quantities.percent,
    "datetime": quantities.moment,
}


def written(value: Any, format: Format) -> str:
    """The value in one line of at most 200 characters; one that is not what the style expects, as plain text."""
    return _cut(in_one_line(_line(value, format)), LINE)


def written_out(value: Any, format: Format) -> str:
    """The value in as many lines as it needs, at most 4,000 characters."""
    return _cut(visible(_lines(value, format)), LONG)


def arguments_written(arguments: Mapping[str, Any], display: Display) -> Any:
    """The arguments with a text in place of each value that has a format."""
    return _replaced(arguments, display.argument_places)


def result_written(output: Any, display: Display) -> str | None:
    """The result in one line, as its tool says; None where that says nothing of it."""
    if display.result is not None:
        return written(_replaced(output, display.result_places), display.result)
    parts = [f"{path}: {', '.join(values)}" for path, values in _fields(output, display, written)]
    return _cut(", ".join(parts), LINE) if parts else None


def result_written_out(output: Any, display: Display) -> str | None:
    """The result in as many lines as it needs, as its tool says; None where that says nothing of it."""
    if display.result is not None:
        return written_out(_replaced(output, display.result_places), display.result)
    parts = []
    for path, values in _fields(output, display, written_out):
        if any("\n" in value for value in values):
            parts.append(f"{path}:\n" + "\n".join(f"  {line}" for value in values for line in value.splitlines()))
        else:
            parts.append(f"{path}: {', '.join(values)}")
    return _cut("\n".join(parts), LONG) if parts else None


def outcome_of(result: ToolResult, display: Display | None) -> str:
    """How a call ended in one line: what it gave, or what went wrong."""
    if result.problem is not None:
        return _cut(in_one_line(masked(result.problem.message)), LINE)
    if display is not None and len(result.output_json) <= _LARGEST:
        text = result_written(result.output, display)
        if text is not None:
            return text
    if len(result.output_json) > _LARGEST_UNSAID:
        return _size_of(result.output_json)
    return said_of(result.output)


def outcome_written_out(result: ToolResult, display: Display | None) -> str | None:
    """What a call gave in as many lines as it needs, where its tool says how that reads; else None."""
    if result.problem is not None or display is None or len(result.output_json) > _LARGEST:
        return None
    return result_written_out(result.output, display)


def said_of(output: Any) -> str:
    """The result in one line, where nobody has said how it reads."""
    if isinstance(output, list):
        return f"{len(output):,} item{'' if len(output) == 1 else 's'}" if output else "no items"
    if not isinstance(output, dict):
        return "no result" if output is None else _cut(in_one_line(_plain(output)), LINE)
    parts = [f"{in_one_line(_cut(key, _SHORT))}: {_part(output, key)}" for key in islice(output, 4)]
    more = f", … {len(output) - 4} more" if len(output) > 4 else ""
    return _cut(", ".join(parts), LINE - len(more)) + more if parts else "an empty object"


def _size_of(output: bytes) -> str:
    what = {b"[": "a list", b"{": "an object", b'"': "a text"}.get(output[:1], "a value")
    return f"{what}, {quantities.size(len(output), _BYTES)} of JSON"


def _part(output: Mapping[str, Any], name: str) -> str:
    value = output[name]
    if _is_hidden(output, name):
        return MASK
    if isinstance(value, dict):
        return "{…}" if value else "{}"
    if isinstance(value, list):
        return said_of(value)
    return _cut(in_one_line(_plain(value)), _SHORT)


def _line(value: Any, format: Format) -> str:
    style = format.style
    text: str | None = None
    if style in _QUANTITIES:
        text = _QUANTITIES[style](value, format)
    elif style == "sql" and isinstance(value, str):
        text = sql_in_one_line(value)
    elif style == "table" and (grid := grid_of(value, format.columns)) is not None:
        text = grid.shape()
    elif style == "http":
        text = " · ".join(filter(None, _http(value, _plain)))
    elif style == "code" and isinstance(value, str):
        text = " ⏎ ".join(filter(None, (line.strip() for line in masked(value).splitlines())))
    elif style == "json":
        text = _plain(_held(value))
    return _plain(value) if text is None else text


def _lines(value: Any, format: Format) -> str:
    style = format.style
    text: str | None = None
    if style in _QUANTITIES:
        text = _QUANTITIES[style](value, format)
    elif style == "sql" and isinstance(value, str):
        text = sql_indented(value)
    elif style == "table" and (grid := grid_of(value, format.columns)) is not None:
        text = grid.drawn()
    elif style == "http":
        status, kind, body = _http(value, _indented)
        text = "\n".join(filter(None, (status, kind and f"content-type: {kind}", "\n" + body if status else body)))
    elif style == "json":
        text = _indented(_held(value))
    return _indented(value) if text is None else text


def _http(value: Any, write: Callable[[Any], str]) -> tuple[str, str, str]:
    """The status line, the type of the content, and the content, where the value has them."""
    if isinstance(value, Mapping) and "body" in value and type(value.get("status")) is int:
        headers = value.get("headers")
        named_so = headers.items() if isinstance(headers, Mapping) else ()
        kind = next((str(text) for name, text in named_so if str(name).lower() == "content-type"), "")
        status, body = _status(value["status"]), value["body"]
    else:
        status, kind, body = "", "", value
    if isinstance(body, Mapping) and body.keys() == {"media_type", "base64", "bytes"}:
        kind = kind or str(body["media_type"])
        content = quantities.size(body["bytes"], _BYTES) or "binary"
    else:
        content = "" if body is None and status else write(body)
    return status, in_one_line(_cut(kind, _SHORT)), content


def _status(code: int) -> str:
    try:
        return f"HTTP {code} {HTTPStatus(code).phrase}"
    except ValueError:
        return f"HTTP {code}" if 0 <= code < 1000 else "HTTP"


def _plain(value: Any) -> str:
    """Any value as text for one line: of texts the beginning, the rest as JSON."""
    shown = masked(" ".join(value[:_GLANCE].split()), 10 * LINE) if isinstance(value, str) else readable(value)
    return shown if isinstance(shown, str) else orjson.dumps(shown, default=named).decode()


def _indented(value: Any) -> str:
    shown = masked(value) if isinstance(value, str) else readable(value, longest=_LONGEST_TEXT)
    return shown if isinstance(shown, str) else orjson.dumps(shown, default=named, option=orjson.OPT_INDENT_2).decode()


def _held(value: Any) -> Any:
    """The value that a text holds as JSON, where it holds any."""
    shown = readable(value, longest=_LONGEST_TEXT) if isinstance(value, str) else value
    return value if isinstance(shown, str) else shown


def _is_hidden(value: Mapping[str, Any], name: str) -> bool:
    return hides(name, value[name]) or (name == "value" and has_secret_value(value))


def _replaced(value: Any, place: Place) -> Any:
    """The value with texts at the places that have a format; what is too long to be shown is left as it is."""
    if place.inside and isinstance(value, Mapping):
        known = {name: _replaced(value[name], at) for name, at in place.inside.items() if name in value}
        value = {**value, **known}
    elif isinstance(value, list) and (at := place.inside.get(ITEMS)) is not None:
        value = [_replaced(item, at) for item in value[:_MOST_ITEMS]] + value[_MOST_ITEMS:]
    if place.format is None:
        return value
    return (Figure if place.format.style in _FIGURES else Written)(written(value, place.format))


def _fields(output: Any, display: Display, write: Callable[[Any, Format], str]) -> Iterator[tuple[str, list[str]]]:
    for path, format in display.fields.items():
        found = list(islice(_at(output, steps_of(path)), _MOST_ITEMS + 1))
        values = [MASK if value is MASK else write(value, format) for value in found[:_MOST_ITEMS]]
        if values:
            yield in_one_line(path), values + ["…"] * (len(found) > _MOST_ITEMS)


def _at(value: Any, steps: list[str]) -> Iterator[Any]:
    if not steps:
        yield value
    elif steps[0] == ITEMS:
        for name, item in named_items(value[: _MOST_ITEMS + 1] if isinstance(value, list) else ()):
            yield from (MASK,) if hides(name, item) else _at(item, steps[1:])
    elif isinstance(value, Mapping) and steps[0] in value:
        yield from (MASK,) if _is_hidden(value, steps[0]) else _at(value[steps[0]], steps[1:])


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
