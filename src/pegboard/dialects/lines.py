"""Streams as they come over the wire: server-sent events and lines of JSON, as lists of chunks."""

from __future__ import annotations

import re
from typing import Any

import orjson

from pegboard.core.errors import MalformedArguments
from pegboard.dialects.asked import Unreadable
from pegboard.dialects.reading import json_of

# What a stream of events begins with; a list of pieces of text may begin with anything that is less of a sign.
_EVENTS = re.compile(r"(?:data|event|id|retry|):")
_LINES = re.compile(r"(?:data|event):")
_DATA = "data:"


def chunks_of(payload: Any) -> Any:
    """The payload, with the events of a stream as a list of what they carry; anything else as it is."""
    if isinstance(payload, str):
        return _of_text(payload)
    if isinstance(payload, list) and payload and isinstance(payload[0], str) and _LINES.match(payload[0]):
        lines = [line for item in payload if isinstance(item, str) for line in item.splitlines() or [""]]
        chunks = _data_of(lines)
        return payload if not chunks and any(map(_says_more, lines)) else chunks
    if isinstance(payload, list) and payload and isinstance(payload[0], str):
        return _objects_of(payload) or payload
    return payload


def _objects_of(items: list[Any]) -> list[Any] | None:
    """The objects of a list of JSON texts, or None where one of them is something else."""
    objects: list[Any] = []
    for item in items:
        if not isinstance(item, str) or item.lstrip()[:1] != "{":
            return None
        try:
            objects.append(json_of(item))
        except MalformedArguments:
            return None
    return objects


def _of_text(text: str) -> Any:
    start = text.lstrip("\ufeff \r\n\t")
    if start[:1] in ("{", "["):
        return _of_json(start, text)
    if _EVENTS.match(start):
        return _data_of(start.splitlines()) or text
    return text


def _of_json(start: str, text: str) -> Any:
    """A JSON text as its value, lines of JSON as a list; else the text is one with calls in it."""
    try:
        return json_of(start)
    except MalformedArguments:
        pass
    lines = [line for line in start.splitlines() if line and not line.isspace()]
    values = []
    for line in lines:
        value = _read([line])
        if not isinstance(value, dict):
            return text
        values.append(value)
    return values


def _data_of(lines: list[str]) -> Any:
    """What the events carry: each blank line ends one, whose data may stand on several lines."""
    chunks: list[Any] = []
    data: list[str] = []
    for line in [*lines, ""]:
        if line.startswith(_DATA):
            piece = line[len(_DATA) :].removeprefix(" ")
            if len(data) == 1 and (read := _read(data)) is not None:
                # Lists of lines leave the blank ones out: what is whole is an event by itself.
                chunks.append(read)
                data = []
            data.append(piece)
        elif not line and data:
            read = _read(data)
            if read is not None:
                chunks.append(read)
            data = []
    return chunks


def _says_more(line: str) -> bool:
    """Whether a line has data other than the mark that a stream is over."""
    return line.startswith(_DATA) and line[len(_DATA) :].strip() != "[DONE]"


def _read(data: list[str]) -> Any:
    text = "\n".join(data)
    try:
        return json_of(text)
    except MalformedArguments as error:
        if _is_whole(text):
            raise Unreadable(f"unrecognised_format: an event of the stream cannot be read: {error.message}") from None
        return None  # [DONE], or an event that was cut off


def _is_whole(text: str) -> bool:
    """Whether this is JSON after all, which is refused for what is in it: a key that is there twice."""
    try:
        orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return False
    return True
