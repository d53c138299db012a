"""Convert streams as received (server-sent events and JSON Lines) to lists of chunks.

Not httpx-sse: it reads responses of httpx, not recorded texts and lists of lines.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from pegboard.dialects.parsed_calls import Unreadable
from pegboard.json_schema.arguments_text import parse_json_text
from pegboard.model.call_errors import MalformedArguments

# The start of an event stream; for a list of strings, which may be pieces of any text, the stricter pattern is used.
_SSE_START = re.compile(r"(?:data|event|id|retry|):")
_SSE_LINE_START = re.compile(r"(?:data|event):")
_DATA_PREFIX = "data:"


def parse_chunks(payload: Any) -> Any:
    """Return the chunks of an event stream or of JSON Lines as a list; any other payload unchanged."""
    if isinstance(payload, str):
        return _parse_text(payload)
    if isinstance(payload, list) and payload and isinstance(payload[0], str) and _SSE_LINE_START.match(payload[0]):
        lines = [line for item in payload if isinstance(item, str) for line in item.splitlines() or [""]]
        chunks = _parse_sse_lines(lines)
        return payload if not chunks and any(map(_has_data, lines)) else chunks
    if isinstance(payload, list) and payload and isinstance(payload[0], str):
        return _parse_json_objects(payload) or payload
    return payload


def _parse_json_objects(items: list[Any]) -> list[Any] | None:
    """Return the objects of a list of JSON texts, or None if an item is anything else."""
    objects: list[Any] = []
    for item in items:
        if not isinstance(item, str) or item.lstrip()[:1] != "{":
            return None
        try:
            objects.append(parse_json_text(item))
        except MalformedArguments:
            return None
    return objects


def _parse_text(text: str) -> Any:
    start = text.lstrip("\ufeff \r\n\t")
    if start[:1] in ("{", "["):
        return _parse_json_or_lines(start, text)
    if _SSE_START.match(start):
        return _parse_sse_lines(start.splitlines()) or text
    return text


def _parse_json_or_lines(start: str, text: str) -> Any:
    """Return the value of a JSON text, a list for JSON Lines, or else the text itself."""
    try:
        return parse_json_text(start)
    except MalformedArguments:
        pass
    lines = [line for line in start.splitlines() if line and not line.isspace()]
    values = []
    for line in lines:
        value = _parse_event_data([line])
        if not isinstance(value, dict):
            return text
        values.append(value)
    return values


def _parse_sse_lines(lines: list[str]) -> Any:
    """Return the data of the events: a blank line ends an event, whose data may span several lines."""
    chunks: list[Any] = []
    data: list[str] = []
    for line in [*lines, ""]:
        if line.startswith(_DATA_PREFIX):
            piece = line[len(_DATA_PREFIX) :].removeprefix(" ")
            if len(data) == 1 and (read := _parse_event_data(data)) is not None:
                # Lists of lines omit blank lines: complete JSON is an event by itself.
                chunks.append(read)
                data = []
            data.append(piece)
        elif not line and data:
            read = _parse_event_data(data)
            if read is not None:
                chunks.append(read)
            data = []
    return chunks


def _has_data(line: str) -> bool:
    """Return True if a line has data other than the end mark [DONE]."""
    return line.startswith(_DATA_PREFIX) and line[len(_DATA_PREFIX) :].strip() != "[DONE]"


def _parse_event_data(data: list[str]) -> Any:
    text = "\n".join(data)
    try:
        return parse_json_text(text)
    except MalformedArguments as error:
        if _is_valid_json(text):
            raise Unreadable(f"unrecognised_format: an event of the stream cannot be read: {error.message}") from None
        return None  # [DONE], or an event that was cut off


def _is_valid_json(text: str) -> bool:
    """Return True for valid JSON that the strict parser rejects for its content, such as a duplicate key."""
    try:
        orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return False
    return True
