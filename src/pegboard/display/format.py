"""Format arguments and results as short text, by the display format of their tool or, without one, generically."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from itertools import islice
from typing import Any

import orjson

from pegboard.display import units
from pegboard.display.readable import (
    FormattedNumber,
    FormattedText,
    escape_invisible,
    has_secret_value,
    is_secret_field,
    iter_named_items,
    mask_credentials,
    to_display_text,
    to_one_line,
    to_readable,
)
from pegboard.display.sql_text import format_sql_indented, format_sql_line
from pegboard.display.table_text import build_text_table
from pegboard.model.call import ToolResult
from pegboard.model.display_format import EACH_ITEM, Display, Format, FormatTree, split_path
from pegboard.model.secrets import MASK

MAX_LINE_CHARS = 200
MAX_TEXT_CHARS = 4000
_MAX_ITEMS = 20
_MAX_SHORT_CHARS = 60
_MAX_STRING_CHARS = 400
# How much of a text is scanned to build one line.
_MAX_SCANNED_CHARS = 10_000
_NUMBER_STYLES = frozenset({"money", "duration", "bytes", "percent"})
# Results up to these sizes are parsed for display, with and without a format; of larger ones only the size is shown.
_MAX_FORMATTED_BYTES = 1024 * 1024
_MAX_UNFORMATTED_BYTES = 64 * 1024
_BYTES_FORMAT = Format(style="bytes")
_UNIT_FORMATTERS: Mapping[str, Callable[[Any, Format], str | None]] = {
    "money": units.format_money,
    "duration": units.format_duration,
    "bytes": units.format_size,
    "percent": units.format_percent,
    "datetime": units.format_datetime,
}


def format_line(value: Any, format: Format) -> str:
    """Return the value on one line of at most 200 characters; as plain text if it does not fit the style."""
    return _truncate(to_one_line(_format_value(value, format, on_one_line=True)), MAX_LINE_CHARS)


def format_text(value: Any, format: Format) -> str:
    """Return the value on as many lines as needed, with at most 4,000 characters."""
    return _truncate(escape_invisible(_format_value(value, format, on_one_line=False)), MAX_TEXT_CHARS)


def format_arguments(arguments: Mapping[str, Any], display: Display) -> Any:
    """Return the arguments with text in place of each value that has a format."""
    return _replace_formatted(arguments, display.argument_formats)


def format_result_line(output: Any, display: Display) -> str | None:
    """Return the result on one line, in the tool's format; None if the tool has no format for it."""
    if display.result is not None:
        return format_line(_replace_formatted(output, display.result_formats), display.result)
    parts = [f"{path}: {', '.join(values)}" for path, values in _format_fields(output, display, format_line)]
    return _truncate(", ".join(parts), MAX_LINE_CHARS) if parts else None


def format_result_text(output: Any, display: Display) -> str | None:
    """Return the result on as many lines as needed, in the tool's format; None if the tool has no format for it."""
    if display.result is not None:
        return format_text(_replace_formatted(output, display.result_formats), display.result)
    parts = []
    for path, values in _format_fields(output, display, format_text):
        if any("\n" in value for value in values):
            parts.append(f"{path}:\n" + "\n".join(f"  {line}" for value in values for line in value.splitlines()))
        else:
            parts.append(f"{path}: {', '.join(values)}")
    return _truncate("\n".join(parts), MAX_TEXT_CHARS) if parts else None


def format_outcome_line(result: ToolResult, display: Display | None) -> str:
    """Return the result of a call on one line: its output, or its error."""
    if result.problem is not None:
        return _truncate(to_one_line(mask_credentials(result.problem.message)), MAX_LINE_CHARS)
    if display is not None and len(result.output_json) <= _MAX_FORMATTED_BYTES:
        text = format_result_line(result.output, display)
        if text is not None:
            return text
    if len(result.output_json) > _MAX_UNFORMATTED_BYTES:
        return _describe_size(result.output_json)
    return summarize_output(result.output)


def format_outcome_text(result: ToolResult, display: Display | None) -> str | None:
    """Return the output of a call on as many lines as needed; None if it failed or its tool has no format for it."""
    if result.problem is not None or display is None or len(result.output_json) > _MAX_FORMATTED_BYTES:
        return None
    return format_result_text(result.output, display)


def summarize_output(output: Any) -> str:
    """Return the result on one line, for a tool without a display format."""
    if isinstance(output, list):
        return f"{len(output):,} item{'' if len(output) == 1 else 's'}" if output else "no items"
    if not isinstance(output, dict):
        return "no result" if output is None else _truncate(to_one_line(_to_plain_line(output)), MAX_LINE_CHARS)
    parts = [
        f"{to_one_line(_truncate(key, _MAX_SHORT_CHARS))}: {_format_member(output, key)}" for key in islice(output, 4)
    ]
    more = f", … {len(output) - 4} more" if len(output) > 4 else ""
    return _truncate(", ".join(parts), MAX_LINE_CHARS - len(more)) + more if parts else "an empty object"


def _describe_size(output: bytes) -> str:
    what = {b"[": "a list", b"{": "an object", b'"': "a text"}.get(output[:1], "a value")
    return f"{what}, {units.format_size(len(output), _BYTES_FORMAT)} of JSON"


def _format_member(output: Mapping[str, Any], name: str) -> str:
    value = output[name]
    if _is_hidden(output, name):
        return MASK
    if isinstance(value, dict):
        return "{…}" if value else "{}"
    if isinstance(value, list):
        return summarize_output(value)
    return _truncate(to_one_line(_to_plain_line(value)), _MAX_SHORT_CHARS)


def _format_value(value: Any, format: Format, *, on_one_line: bool) -> str:
    style = format.style
    write = _to_plain_line if on_one_line else _to_indented_text
    text: str | None = None
    if style in _UNIT_FORMATTERS:
        text = _UNIT_FORMATTERS[style](value, format)
    elif style == "sql" and isinstance(value, str):
        text = format_sql_line(value) if on_one_line else format_sql_indented(value)
    elif style == "table" and (grid := build_text_table(value, format.columns)) is not None:
        text = grid.shape() if on_one_line else grid.format_rows()
    elif style == "http":
        text = _format_http(value, write, on_one_line=on_one_line)
    elif style == "code" and isinstance(value, str) and on_one_line:
        text = " ⏎ ".join(filter(None, (line.strip() for line in mask_credentials(value).splitlines())))
    elif style == "json":
        text = write(_parse_embedded_json(value))
    return write(value) if text is None else text


def _format_http(value: Any, write: Callable[[Any], str], *, on_one_line: bool) -> str:
    """Return the status line, the content type and the content of an HTTP result, as far as it has them."""
    if isinstance(value, Mapping) and "body" in value and type(value.get("status")) is int:
        headers = value.get("headers")
        named_so = headers.items() if isinstance(headers, Mapping) else ()
        kind = next((str(text) for name, text in named_so if str(name).lower() == "content-type"), "")
        status, body = _format_http_status(value["status"]), value["body"]
    else:
        status, kind, body = "", "", value
    if isinstance(body, Mapping) and body.keys() == {"media_type", "base64", "bytes"}:
        kind = kind or str(body["media_type"])
        content = units.format_size(body["bytes"], _BYTES_FORMAT) or "binary"
    else:
        content = "" if body is None and status else write(body)
    kind = to_one_line(_truncate(kind, _MAX_SHORT_CHARS))
    if on_one_line:
        return " · ".join(filter(None, (status, kind, content)))
    return "\n".join(filter(None, (status, kind and f"content-type: {kind}", "\n" + content if status else content)))


def _format_http_status(code: int) -> str:
    try:
        return f"HTTP {code} {HTTPStatus(code).phrase}"
    except ValueError:
        return f"HTTP {code}" if 0 <= code < 1000 else "HTTP"


def _to_plain_line(value: Any) -> str:
    """Return any value as text for one line: the beginning of a text, other values as JSON."""
    if isinstance(value, str):
        return mask_credentials(" ".join(value[:_MAX_SCANNED_CHARS].split()), 10 * MAX_LINE_CHARS)
    shown = to_readable(value)
    return shown if isinstance(shown, str) else orjson.dumps(shown, default=to_display_text).decode()


def _to_indented_text(value: Any) -> str:
    shown = mask_credentials(value) if isinstance(value, str) else to_readable(value, longest=_MAX_STRING_CHARS)
    if isinstance(shown, str):
        return shown
    return orjson.dumps(shown, default=to_display_text, option=orjson.OPT_INDENT_2).decode()


def _parse_embedded_json(value: Any) -> Any:
    """Return the JSON value in a text, or the value itself if it is not JSON text."""
    shown = to_readable(value, longest=_MAX_STRING_CHARS) if isinstance(value, str) else value
    return value if isinstance(shown, str) else shown


def _is_hidden(value: Mapping[str, Any], name: str) -> bool:
    return is_secret_field(name, value[name]) or (name == "value" and has_secret_value(value))


def _replace_formatted(value: Any, place: FormatTree) -> Any:
    """Replace each value that has a format by its text; list items after the first 20 are not formatted."""
    if place.inside and isinstance(value, Mapping):
        known = {name: _replace_formatted(value[name], at) for name, at in place.inside.items() if name in value}
        value = {**value, **known}
    elif isinstance(value, list) and (at := place.inside.get(EACH_ITEM)) is not None:
        value = [_replace_formatted(item, at) for item in value[:_MAX_ITEMS]] + value[_MAX_ITEMS:]
    if place.format is None:
        return value
    return (FormattedNumber if place.format.style in _NUMBER_STYLES else FormattedText)(
        format_line(value, place.format)
    )


def _format_fields(
    output: Any, display: Display, write: Callable[[Any, Format], str]
) -> Iterator[tuple[str, list[str]]]:
    for path, format in display.fields.items():
        found = list(islice(_iter_values_at(output, split_path(path)), _MAX_ITEMS + 1))
        values = [MASK if value is MASK else write(value, format) for value in found[:_MAX_ITEMS]]
        if values:
            yield to_one_line(path), values + ["…"] * (len(found) > _MAX_ITEMS)


def _iter_values_at(value: Any, steps: list[str]) -> Iterator[Any]:
    if not steps:
        yield value
    elif steps[0] == EACH_ITEM:
        for name, item in iter_named_items(value[: _MAX_ITEMS + 1] if isinstance(value, list) else ()):
            yield from (MASK,) if is_secret_field(name, item) else _iter_values_at(item, steps[1:])
    elif isinstance(value, Mapping) and steps[0] in value:
        yield from (MASK,) if _is_hidden(value, steps[0]) else _iter_values_at(value[steps[0]], steps[1:])


def _truncate(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
