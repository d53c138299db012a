"""Vercel's AI SDK: parts, messages and streams of versions 4 to 7, which differ in their fields."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import ABSENT, AskedCall
from pegboard.dialects.provider_rules import PORTABLE_LIMITS, Talk
from pegboard.dialects.shared.content_blocks import (
    arguments_to_object,
    describe_block,
    get_content_blocks,
    result_to_text,
)
from pegboard.dialects.shared.function_calls import (
    build_portable_schema,
    filter_dicts,
    get_provider_name,
)
from pegboard.dialects.shared.turns import Speaker, Turn, get_text, read_part_turn
from pegboard.dialects.shared.vercel_parts import finish_parts, read_message, read_part, render_output
from pegboard.json_schema.arguments_text import parse_json_text
from pegboard.model.call_errors import MalformedArguments
from pegboard.model.tool import Tool

# Stream events without calls: those of every version, and those of some versions.
_COMMON_EVENTS = frozenset({"finish", "text-delta", "response-metadata"})
_EVENTS_OF_4 = _COMMON_EVENTS | {"step-start", "step-finish", "reasoning", "reasoning-signature", "redacted-reasoning"}
# Events that later versions have too, distinguished by a field.
_FIELDS_OF_4 = {"text-delta": "textDelta", "reasoning": "textDelta", "step-start": "messageId"}
_EVENTS_SINCE_5 = _COMMON_EVENTS | {
    *("start", "start-step", "finish-step", "abort", "stream-start", "message-metadata"),
    *("text-start", "text-end", "reasoning-start", "reasoning-delta", "reasoning-end", "source-url", "source-document"),
}
_PART_TYPES_OF_4 = frozenset({"tool-call-streaming-start", "tool-invocation"})
_TYPES_WITH_OTHER_ID = frozenset({"tool-input-start", "tool-input-delta", "tool-input-end"})
_APPROVAL_TYPES = frozenset({"tool-approval-request", "tool-approval-response"})
# Events that have no text.
_EVENTS_WITHOUT_TEXT = frozenset(
    {
        *("start", "finish", "start-step", "finish-step", "step-start", "step-finish", "text-start", "text-end"),
        "reasoning-delta",
    }
)
_NUMBERED_LINE = re.compile(r"[0-9a-z]:[\"\[{]")
_SPEAKER_BY_PART_TYPE: Mapping[str, Speaker] = {
    "reasoning": "assistant",
    "tool-call": "assistant",
    "tool-result": "tool",
    "tool-error": "tool",
}

JsonObject = Mapping[str, Any]
PartPredicate = Callable[[JsonObject], bool]


def is_version_5_or_later(item: JsonObject) -> bool:
    """Return True for a part, message, result or event of version 5 or later."""
    if isinstance(item.get("type"), str) and "role" not in item:
        is_event = item["type"] in _EVENTS_SINCE_5 and "payload" not in item and "textDelta" not in item
        return is_event or _is_part_since_5(item)
    parts = item.get("parts")
    if isinstance(parts, list) and isinstance(item.get("role"), str):
        return _is_ui_message_since_5(parts)
    if isinstance(item.get("toolName"), str):
        return isinstance(item.get("toolCallId"), str) and "input" in item
    return _has_part(item, _is_part_since_5)


def is_version_4(item: JsonObject) -> bool:
    """Return True for a part, message, result or event of version 4 or earlier."""
    if isinstance(item.get("type"), str) and "role" not in item:
        kind = item["type"]
        is_event = kind in _EVENTS_OF_4 and "payload" not in item and _FIELDS_OF_4.get(kind, "type") in item
        return is_event or _is_part_of_4(item)
    if "toolCallType" in item:
        return "toolCallId" in item
    if _any_part(item.get("parts"), _is_part_of_4) or _any_part(item.get("toolInvocations"), _is_invocation):
        return True
    return _has_part(item, _is_part_of_4)


def _has_part(item: JsonObject, is_part: PartPredicate) -> bool:
    """Return True if such a part is in the message, in one of the messages or among the calls."""
    if _any_part(item.get("content"), is_part):
        return True
    messages = item.get("messages")
    if isinstance(messages, list):
        return any(
            isinstance(message, dict)
            and (_any_part(message.get("content"), is_part) or _any_part(message.get("parts"), is_part))
            for message in messages
        )
    return "role" not in item and _any_part(item.get("toolCalls"), is_part)


def _any_part(parts: Any, is_part: PartPredicate) -> bool:
    return isinstance(parts, list) and any(isinstance(part, dict) and is_part(part) for part in parts)


def _is_part_since_5(part: JsonObject) -> bool:
    kind = part.get("type")
    if not isinstance(kind, str) or not (kind.startswith("tool-") or kind == "dynamic-tool"):
        return False
    if "args" in part or "argsTextDelta" in part or "payload" in part or "toolInvocation" in part:
        return False
    if "toolCallId" in part:
        return kind != "tool-call-streaming-start"
    return ("id" in part and kind in _TYPES_WITH_OTHER_ID) or ("approvalId" in part and kind in _APPROVAL_TYPES)


def _is_part_of_4(part: JsonObject) -> bool:
    kind = part.get("type")
    if "payload" in part or not isinstance(kind, str):
        return "toolCallType" in part and "args" in part
    if kind in _PART_TYPES_OF_4:
        return "toolCallId" in part or isinstance(part.get("toolInvocation"), dict)
    if "toolCallId" not in part:
        return False
    if kind == "tool-call-delta":
        return "argsTextDelta" in part
    return (kind == "tool-call" and "args" in part) or (kind == "tool-result" and "result" in part)


def _is_invocation(part: JsonObject) -> bool:
    return "toolCallId" in part and "state" in part


def _is_ui_message_since_5(parts: list[Any]) -> bool:
    first = parts[0] if parts else None
    return isinstance(first, dict) and isinstance(first.get("type"), str) and not _any_part(parts, _is_part_of_4)


_PAYLOAD_KEYS = frozenset({"type", "toolName", "content", "parts", "messages", "toolCalls"})
# A line of the data stream of version 4: a digit or letter for the type, then JSON.
_DATA_STREAM_LINE = re.compile(r'\s*([0-9a-k]):(?=[\[{"])')
_PART_TYPE_BY_CODE = {"b": "tool-call-streaming-start", "c": "tool-call-delta", "9": "tool-call", "a": "tool-result"}


class _VercelBase(Dialect):
    """Base class of all versions."""

    expected = "a part with 'type' and 'toolCallId', a message with a 'role', or a list of them in an object"
    keys = _PAYLOAD_KEYS
    talk = Talk(system="apart", parts="content", part={"type": "text"}, objects=True)
    # The key of a call's arguments, and the key of their schema.
    input_key: ClassVar[str] = "input"
    schema: ClassVar[str] = "inputSchema"

    def read(self, item: Any, into: Assembly) -> None:
        """Read a part, a model or UI message, a list of messages, the result of a generation, or a stream event."""
        if not isinstance(item, dict) or not _read_item(item, into):
            raise self.make_unreadable_error(item)

    def finish(self, into: Assembly) -> None:
        """Add the calls that were only streamed in pieces."""
        finish_parts(into)

    def turns(self, item: Mapping[str, Any], speaker: Speaker | None) -> Sequence[Turn] | None:
        """Return a part as a part of a turn."""
        kind = item.get("type")
        part_speaker = _SPEAKER_BY_PART_TYPE.get(kind) if isinstance(kind, str) else None
        if part_speaker is None or speaker is not None or "function" in item or "source" in item:
            return None
        return [read_part_turn(item, part_speaker)]

    def chunk_text(self, chunk: Any) -> str | None:
        """Return the text of an event, or of a numbered line of version 4: `0:"…"`."""
        if isinstance(chunk, str):
            return _read_line_text(chunk) if _NUMBERED_LINE.match(chunk) else None
        kind = get_text(chunk, "type")
        if kind == "text-delta" and "payload" not in chunk:
            return get_text(chunk, "delta") or get_text(chunk, "textDelta") or get_text(chunk, "text")
        return "" if kind in _EVENTS_WITHOUT_TEXT or kind.startswith(("tool-input-", "tool-call-")) else None

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """Return an assistant message; calls that the provider ran include their results."""
        content: list[dict[str, Any]] = []
        for call in calls:
            part = {
                "type": "tool-call",
                "toolCallId": call.id,
                "toolName": call.name,
                self.input_key: call.arguments_or_text,
            }
            if call.provider_executed:
                part["providerExecuted"] = True
            if "provider_metadata" in call.extra:
                part["providerOptions"] = call.extra["provider_metadata"]
            content.append(part)
            if call.provider_executed and call.result is not ABSENT:
                content.append(self._part(call.id, call.name) | self.describe_result(call.result))
        return {"role": "assistant", "content": content}

    def render(self, answers: Sequence[Answer], *, many: bool) -> dict[str, Any]:
        content = [self._part(answer.id, answer.name) | self.describe_answer(answer) for answer in answers]
        return {"role": "tool", "content": content}

    def own(self, raw: Any) -> list[Any]:
        """Return a model message unchanged; a UI message cannot be part of a model's history."""
        return super().own(raw) if isinstance(raw, dict) and "content" in raw and "parts" not in raw else []

    @abstractmethod
    def describe_result(self, result: Any) -> dict[str, Any]:
        """Return the fields of a part for this result."""

    @abstractmethod
    def describe_answer(self, answer: Answer) -> dict[str, Any]:
        """Return the fields of a part for the result or error of a call."""

    def define(self, tool: Tool) -> dict[str, Any]:
        """Return the tool under its name, with the schema as `jsonSchema()` wraps it."""
        declared = {"description": tool.description or "", self.schema: {"jsonSchema": build_portable_schema(tool)}}
        return {get_provider_name(tool): declared}

    def define_all(self, tools: Sequence[Tool]) -> dict[str, Any]:
        return {name: declared for tool in tools for name, declared in self.define(tool).items()}

    def _part(self, identity: str, name: str) -> dict[str, Any]:
        return {"type": "tool-result", "toolCallId": identity, "toolName": name}


def _read_line_text(line: str) -> str:
    if not line.startswith("0:"):
        return ""
    try:
        text = parse_json_text(line[2:].strip())
    except MalformedArguments:
        return ""
    return text if isinstance(text, str) else ""


class VercelV7(_VercelBase):
    """The current version; it also reads versions 5 and 6, whose calls are the same."""

    name = "vercel_ai_v7"
    limits = PORTABLE_LIMITS
    aliases: ClassVar[tuple[str, ...]] = ("vercel",)
    error_prefix: ClassVar[str] = "Error: "

    def recognises(self, item: Any) -> bool:
        """Recognise hyphenated part types, and `input` as the key of arguments."""
        return isinstance(item, dict) and is_version_5_or_later(item)

    def describe_result(self, result: Any) -> dict[str, Any]:
        """Return a typed output."""
        return {"output": {"type": "text" if isinstance(result, str) else "json", "value": result}}

    def describe_answer(self, answer: Answer) -> dict[str, Any]:
        """Return a typed output."""
        return {"output": render_output(answer.result, self.file, self.error_prefix)}

    def file(self, block: Mapping[str, Any]) -> dict[str, Any]:
        """Return an image or audio part."""
        return {"type": "file", "mediaType": block["mimeType"], "data": {"type": "data", "data": block["data"]}}


class VercelV5(VercelV7):
    """Versions 5 and 6, which differ in the format of errors and files."""

    name = "vercel_ai_v5"
    limits = PORTABLE_LIMITS
    aliases = ()
    # Its calls look like those of the current version, so it is used only if it is named.
    keys = frozenset()
    error_prefix = ""

    def file(self, block: Mapping[str, Any]) -> dict[str, Any]:
        """Return an image or audio part."""
        return {"type": "media", "mediaType": block["mimeType"], "data": block["data"]}


class VercelV4(_VercelBase):
    """Version 4 and earlier, including its data stream of coded lines."""

    name = "vercel_ai_v4"
    limits = PORTABLE_LIMITS
    keys = _PAYLOAD_KEYS | {"toolInvocations"}
    marks = ('"toolCallId"', 'f:{"messageId"')
    input_key = "args"
    schema = "parameters"

    def recognises(self, item: Any) -> bool:
        """Recognise `args` as the key of arguments, or the code at the start of a line."""
        if isinstance(item, str):
            return _DATA_STREAM_LINE.match(item) is not None
        return isinstance(item, dict) and is_version_4(item)

    def read(self, item: Any, into: Assembly) -> None:
        """Read an object as in every version, or lines of the data stream."""
        if not isinstance(item, str):
            super().read(item, into)
            return
        for line in item.splitlines():
            kind = _PART_TYPE_BY_CODE.get(code[1]) if (code := _DATA_STREAM_LINE.match(line)) else None
            if code and kind:
                part = _parse_line_body(line[code.end() :])
                if isinstance(part, dict):
                    read_part({**part, "type": kind}, into)

    def describe_result(self, result: Any) -> dict[str, Any]:
        """Return the result unchanged."""
        return {"result": result}

    def describe_answer(self, answer: Answer) -> dict[str, Any]:
        """Return the result unchanged, or the error message; images are added beside it."""
        result = answer.result
        if result.problem is not None:
            return {"result": result_to_text(result), "isError": True}
        blocks = get_content_blocks(result)
        if blocks is None:
            return {"result": result.output}
        return {"result": result.output, "experimental_content": [_write_v4_block(block) for block in blocks]}


def _write_v4_block(block: Mapping[str, Any]) -> dict[str, Any]:
    if block.get("type") == "image" and isinstance(block.get("data"), str):
        return {"type": "image", "data": block["data"], "mimeType": str(block.get("mimeType", ""))}
    return {"type": "text", "text": describe_block(block)}


def _parse_line_body(text: str) -> Any:
    try:
        return parse_json_text(text)
    except MalformedArguments:
        return None  # the line was cut off


def _read_item(item: dict[str, Any], into: Assembly) -> bool:
    """Read the object; return False if it does not belong to this SDK."""
    if read_part(item, into):
        into.bare = item["type"] == "tool-call"
        return True
    if _read_message_parts(item, into):
        return True
    if isinstance(item.get("messages"), list):
        for message in item["messages"]:
            if isinstance(message, dict):
                _read_message_parts(message, into)
    elif isinstance(item.get("toolCalls"), list):
        for key in ("toolCalls", "toolResults"):
            for part in item[key] if isinstance(item.get(key), list) else ():
                if isinstance(part, dict):
                    read_part({"type": "tool-call", **part}, into)
    elif "toolName" in item and ("input" in item or "args" in item):
        into.bare = True
        read_part({**item, "type": "tool-call"}, into)
    else:
        return isinstance(item.get("type"), str) or isinstance(item.get("role"), str)
    return True


def _read_message_parts(item: dict[str, Any], into: Assembly) -> bool:
    parts = item.get("parts")
    if not isinstance(parts, list):
        parts = item.get("content")
    if not isinstance(parts, list) and not isinstance(item.get("toolInvocations"), list):
        return False
    read_message(item, parts, into)
    return True


_OPEN_STATES = ("input-streaming", "input-available", "approval-requested", "approval-responded")


class VercelUi(VercelV7):
    """UI messages, in which the part of a call also has its result."""

    name = "vercel_ui"
    aliases = ()
    # They look like what version 7 reads, so this dialect is used only if it is named.
    keys = frozenset()
    talk = Talk(parts="parts", part={"type": "text"})

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """Return an assistant message whose id is derived from the first call's id."""
        parts = [_compose_part(call, call.id, call.name) | {"state": "input-available"} for call in calls]
        return _compose_message(calls[0].id if calls else "", parts)

    def render(self, answers: Sequence[Answer], *, many: bool) -> dict[str, Any]:
        """Return the same message with the result of each call."""
        return _compose_message(answers[0].id if answers else "", [_render_answer(answer) for answer in answers])

    def say(self, role: str, text: str, id: str) -> list[Any]:
        return [{"id": id, **self.talk.build_message(role, text)}]

    def compose_exchange(self, text: str | None, answers: Sequence[Answer], id: str) -> list[Any]:
        """Return one message with the text, the calls and their results."""
        parts = self.talk.content(text) if text else []
        return [{"id": id, "role": "assistant", "parts": [*parts, *map(_render_answer, answers)]}]

    def own(self, raw: Any) -> list[Any]:
        """Return the original message if all its calls have results; otherwise an empty list."""
        if not isinstance(raw, dict) or not isinstance(raw.get("role"), str) or not isinstance(raw.get("parts"), list):
            return []
        return [] if any(part.get("state") in _OPEN_STATES for part in filter_dicts(raw["parts"])) else [raw]


def _compose_message(identity: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": f"message_{identity}", "role": "assistant", "parts": parts}


def _compose_part(call: AskedCall, identity: str, name: str) -> dict[str, Any]:
    return {"type": "dynamic-tool", "toolName": name, "toolCallId": identity, "input": arguments_to_object(call)}


def _render_answer(answer: Answer) -> dict[str, Any]:
    part, result = _compose_part(answer.call, answer.id, answer.name), answer.result
    if result.problem is not None:
        return part | {"state": "output-error", "errorText": result_to_text(result)}
    return part | {"state": "output-available", "output": result.output}
