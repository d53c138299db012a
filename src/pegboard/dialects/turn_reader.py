"""Split a payload of any dialect (messages, responses, items or histories) into turns of one speaker each.

Every dialect reads what only its own messages have; messages in the common form need no dialect.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from pegboard.dialects.base import Dialect
from pegboard.dialects.shared.function_calls import dict_or_empty, filter_dicts
from pegboard.dialects.shared.turns import (
    Speaker,
    Turn,
    get_speaker,
    read_message_turn,
    read_typed_turn,
    unwrap_message,
)
from pegboard.dialects.sse_lines import parse_chunks
from pegboard.dialects.text.base_text import THOUGHT_PATTERN, TextDialect
from pegboard.model.api_errors import Invalid

MAX_TURNS = 10_000
_MAX_DEPTH = 4
# A message with a text and no other keys has the common form; no dialect is asked.
_COMMON_KEYS = frozenset({"role", "content", "tool_calls", "tool_call_id", "name"})
_TEMPLATE_MARK = r"<\|\w+\|>(?:assistant\b)?"


_TurnsMethod = Callable[[dict[str, Any], Speaker | None], Sequence[Turn] | None]


class _Item(NamedTuple):
    """A message or an item, and whether it may be part of a longer one."""

    value: Any
    is_piece: bool


class TurnReader:
    """Reads turns with the dialects that have messages, streams or texts of their own."""

    def __init__(self, dialects: Sequence[Dialect]) -> None:
        own_medium = Dialect.has_own_medium
        self._with_media = [one for one in dialects if one.media or type(one).has_own_medium is not own_medium]
        self._unwrappers = _select_overriding(dialects, "unwrap")
        self._turns: list[_TurnsMethod] = [one.turns for one in _select_overriding(dialects, "turns")]
        self._chunk_texts = [one.chunk_text for one in _select_overriding(dialects, "chunk_text")]
        self._speakers = {role: speaker for dialect in dialects for role, speaker in dialect.speakers.items()}
        marks = [dialect.text_marks for dialect in dialects]
        calls = dict.fromkeys(pattern for pattern in map(_get_calls_pattern, dialects) if pattern)
        self._call_opener = re.compile("|".join(calls)) if calls else None
        tokens = dict.fromkeys([_TEMPLATE_MARK, *(mark.tokens for mark in marks if mark.tokens)])
        self._template_token = re.compile("|".join(tokens), re.DOTALL)
        self._answers = [re.compile(mark.answer, re.DOTALL) for mark in marks if mark.answer]

    def read(self, raw: Any) -> list[Turn]:
        """Return the turns of a payload; raise Invalid if there are more than 10,000."""
        found: list[list[Turn]] = []
        for item in self._unwrap(parse_chunks(raw), _MAX_DEPTH, is_piece=False):
            for turn in self._read_item(item):
                before = found[-1][-1] if found else None
                if before is not None and turn.is_part and before.is_part and turn.role == before.role:
                    found[-1].append(turn)
                else:
                    found.append([turn])
            if len(found) > MAX_TURNS:
                raise Invalid(f"More than {MAX_TURNS:,} messages at once; send fewer at a time")
        return [parts[0] if len(parts) == 1 else _join_turns(parts) for parts in found]

    def read_assistant_text(self, raw: Any) -> str | None:
        """Return the assistant's text at the end of a payload, or None."""
        raw = parse_chunks(raw)
        if isinstance(raw, str):
            return self.remove_thoughts_and_calls(raw)
        if isinstance(raw, list):
            streamed = self._join_streamed_text(raw)
            if streamed is not None:
                return self.remove_thoughts_and_calls(streamed)
        texts: list[str] = []
        for turn in reversed(self.read(raw)):
            if turn.role != "assistant":
                break
            texts.append(turn.text or "")
        return "\n".join(text for text in reversed(texts) if text) or None

    def remove_thoughts_and_calls(self, text: str) -> str | None:
        """Return a text without the model's reasoning and the calls written into it; None if nothing is left."""
        for pattern in self._answers:
            if (answer := pattern.search(text)) is not None:
                return answer[1].strip() or None
        text = THOUGHT_PATTERN.sub("", text).rpartition("</think>")[2]
        opener = self._call_opener.search(text) if self._call_opener is not None else None
        return self._template_token.sub("", text[: opener.start()] if opener else text).strip() or None

    def find_media_dialect(self, raw: Any) -> str | None:
        """Return the dialect of a message by its parts that are not text, or None if they do not identify it."""
        item = dict_or_empty(raw)
        for part in (*filter_dicts(item.get("content")), *filter_dicts(item.get("parts"))):
            for dialect in self._with_media:
                if dialect.has_own_medium(part):
                    return dialect.name
        return None

    def _join_streamed_text(self, chunks: list[Any]) -> str | None:
        """Return the joined text of the chunks of a stream, or None if this is not a stream."""
        if all(map(_is_whole_message, chunks)):
            return None
        pieces = [self._read_chunk_text(chunk) for chunk in chunks]
        return "".join(piece or "" for piece in pieces) if any(piece is not None for piece in pieces) else None

    def _read_chunk_text(self, chunk: Any) -> str | None:
        """Return the text in a chunk, "" if it has other content, or None if it is not a chunk."""
        if isinstance(chunk, str | dict):
            for chunk_text in self._chunk_texts:
                if (text := chunk_text(chunk)) is not None:
                    return text
        return chunk if isinstance(chunk, str) else None

    def _unwrap(self, payload: Any, depth: int, *, is_piece: bool) -> Iterator[_Item]:
        """Yield the messages and items of a payload."""
        if isinstance(payload, list) and depth:
            for item in payload:
                yield from self._unwrap(item, depth - 1, is_piece=False)
            return
        if isinstance(payload, dict) and depth and "role" not in payload:
            if isinstance(payload.get("messages"), list):
                yield from self._unwrap(payload["messages"], depth - 1, is_piece=False)
                return
            for dialect in self._unwrappers:
                if (inner := dialect.unwrap(payload)) is not None:
                    yield from self._unwrap(inner, depth - 1, is_piece=dialect.streams_messages)
                    return
            if (message := unwrap_message(payload)) is not None:
                yield from self._unwrap(message, depth - 1, is_piece=False)
                return
        yield _Item(payload, is_piece)

    def _read_item(self, item: _Item) -> Sequence[Turn]:
        value = item.value
        if not isinstance(value, dict):
            return [Turn(None, None, value)]
        role = value.get("role")
        speaker = get_speaker(role) or (self._speakers.get(role.lower()) if isinstance(role, str) else None)
        if speaker is not None and value.keys() <= _COMMON_KEYS and isinstance(value.get("content"), str):
            return [read_message_turn(value, speaker, is_part=item.is_piece)]
        for turns in self._turns:
            if (found := turns(value, speaker)) is not None:
                return found
        if speaker is not None:
            return [read_message_turn(value, speaker, is_part=item.is_piece)]
        return [read_typed_turn(value, value.get("type")) or Turn(None, None, value)]


def _select_overriding(dialects: Sequence[Dialect], method: str) -> list[Dialect]:
    """Return the dialects with a method of their own, the first of those that inherit it from each other."""
    found: dict[Any, Dialect] = {}
    for dialect in dialects:
        found.setdefault(getattr(type(dialect), method), dialect)
    found.pop(getattr(Dialect, method), None)
    return list(found.values())


def _get_calls_pattern(dialect: Dialect) -> str:
    """Return the pattern for the beginning of calls in a text of this dialect, or ""."""
    if dialect.text_marks.calls or not isinstance(dialect, TextDialect):
        return dialect.text_marks.calls
    return "|".join(map(re.escape, dialect.openers))


def _is_whole_message(chunk: Any) -> bool:
    return isinstance(chunk, dict) and isinstance(chunk.get("role"), str)


def _join_turns(parts: list[Turn]) -> Turn:
    text = "".join(part.text or "" for part in parts)
    return parts[0]._replace(text=text or None, raw=[part.raw for part in parts])
