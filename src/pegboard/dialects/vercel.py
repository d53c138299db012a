"""Vercel's AI SDK: what its models, messages, interfaces and streams say, in three versions."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pegboard.core.call import Malformed
from pegboard.core.errors import MalformedArguments
from pegboard.core.tool import Tool
from pegboard.dialects.asked import ABSENT, AskedCall, Unreadable
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.parts.content import blocks_of, described, text_of
from pegboard.dialects.parts.defining import PORTABLE, name_for, schema_for
from pegboard.dialects.parts.vercel_outputs import output_for
from pegboard.dialects.parts.vercel_parts import finish_parts, read_message, read_part
from pegboard.dialects.parts.vercel_shapes import is_4, is_since_5
from pegboard.dialects.reading import json_of
from pegboard.dialects.talk import Talk

_KEYS = frozenset({"type", "toolName", "content", "parts", "messages", "toolCalls"})
# A line of the data stream of version 4: what it carries by a digit or letter, then its JSON.
_LINE = re.compile(r'\s*([0-9a-k]):(?=[\[{"])')
_LINES = {"b": "tool-call-streaming-start", "c": "tool-call-delta", "9": "tool-call", "a": "tool-result"}


class _Vercel(Dialect):
    """What the versions have in common."""

    keys = _KEYS
    talk = Talk(system="apart", parts="content", part={"type": "text"}, objects=True)
    # What a call is given goes by this name, and so does the schema of it.
    given: ClassVar[str] = "input"
    schema: ClassVar[str] = "inputSchema"

    def read(self, item: Any, into: Assembly) -> None:
        """A part, a message of a model or an interface, messages, what a generation gave, or an event of a stream."""
        if not isinstance(item, dict):
            raise Unreadable(f"unrecognised_format: {self.name} has objects, messages and parts, and this is none")
        if not _read(item, into):
            raise Unreadable(
                f"unrecognised_format: {self.name} has parts with a 'type' and a 'toolCallId', messages with a 'role', "
                "and lists of them under 'messages', 'content' or 'toolCalls'"
            )

    def finish(self, into: Assembly) -> None:
        """Take in the calls of which only pieces came."""
        finish_parts(into)

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """An assistant message; what the provider itself ran is answered in it."""
        content: list[dict[str, Any]] = []
        for call in calls:
            given = call.arguments.text if isinstance(call.arguments, Malformed) else call.arguments or {}
            part = {"type": "tool-call", "toolCallId": call.id, "toolName": call.name, self.given: given}
            if call.provider_executed:
                part["providerExecuted"] = True
            if "provider_metadata" in call.extra:
                part["providerOptions"] = call.extra["provider_metadata"]
            content.append(part)
            if call.provider_executed and call.result is not ABSENT:
                content.append(self._part(call.id, call.name) | self.ended(call.result))
        return {"role": "assistant", "content": content}

    def render(self, answers: Sequence[Answer], *, many: bool) -> dict[str, Any]:
        """One tool message with every result."""
        content = [self._part(answer.id, answer.name) | self.answered(answer) for answer in answers]
        return {"role": "tool", "content": content}

    def own(self, raw: Any) -> list[Any]:
        """A message of a model as it came; one of an interface is not among the model's."""
        return super().own(raw) if isinstance(raw, dict) and "content" in raw and "parts" not in raw else []

    @abstractmethod
    def ended(self, result: Any) -> dict[str, Any]:
        """The fields of a part that hold this result."""

    @abstractmethod
    def answered(self, answer: Answer) -> dict[str, Any]:
        """The fields of a part that say how a call ended."""

    def define(self, tool: Tool) -> dict[str, Any]:
        """The tool under its name, the schema as `jsonSchema()` wraps it."""
        declared = {"description": tool.description or "", self.schema: {"jsonSchema": schema_for(tool)}}
        return {name_for(tool): declared}

    def define_all(self, tools: Sequence[Tool]) -> dict[str, Any]:
        """One object with every tool by name."""
        return {name: declared for tool in tools for name, declared in self.define(tool).items()}

    def _part(self, identity: str, name: str) -> dict[str, Any]:
        return {"type": "tool-result", "toolCallId": identity, "toolName": name}


class VercelV7(_Vercel):
    """The current version; it reads those since 5, which write calls alike."""

    name = "vercel_ai_v7"
    limits = PORTABLE
    aliases: ClassVar[tuple[str, ...]] = ("vercel",)
    error_prefix: ClassVar[str] = "Error: "

    def recognises(self, item: Any) -> bool:
        """By the hyphened types of its parts, and `input` for what a call is given."""
        return isinstance(item, dict) and is_since_5(item)

    def ended(self, result: Any) -> dict[str, Any]:
        """An output of its type."""
        return {"output": {"type": "text" if isinstance(result, str) else "json", "value": result}}

    def answered(self, answer: Answer) -> dict[str, Any]:
        """An output of its type."""
        return {"output": output_for(answer.result, self.file, self.error_prefix)}

    def file(self, block: Mapping[str, Any]) -> dict[str, Any]:
        """An image or a sound."""
        return {"type": "file", "mediaType": block["mimeType"], "data": {"type": "data", "data": block["data"]}}


class VercelV5(VercelV7):
    """Versions 5 and 6: what differs is how errors and files are told."""

    name = "vercel_ai_v5"
    limits = PORTABLE
    aliases = ()
    # Nothing tells its calls from the current version's, which therefore gets them unless this one is named.
    keys = frozenset()
    error_prefix = ""

    def file(self, block: Mapping[str, Any]) -> dict[str, Any]:
        """An image or a sound."""
        return {"type": "media", "mediaType": block["mimeType"], "data": block["data"]}


class VercelV4(_Vercel):
    """Version 4 and before, its data stream of coded lines included."""

    name = "vercel_ai_v4"
    limits = PORTABLE
    keys = _KEYS | {"toolInvocations"}
    marks = ('"toolCallId"', 'f:{"messageId"')
    given = "args"
    schema = "parameters"

    def recognises(self, item: Any) -> bool:
        """By `args` for what a call is given, or by the code at the start of a line."""
        if isinstance(item, str):
            return _LINE.match(item) is not None
        return isinstance(item, dict) and is_4(item)

    def read(self, item: Any, into: Assembly) -> None:
        """As every version, or lines of the data stream."""
        if not isinstance(item, str):
            super().read(item, into)
            return
        for line in item.splitlines():
            kind = _LINES.get(code[1]) if (code := _LINE.match(line)) else None
            if code and kind:
                part = _body(line[code.end() :])
                if isinstance(part, dict):
                    read_part({**part, "type": kind}, into)

    def ended(self, result: Any) -> dict[str, Any]:
        """The result as it is."""
        return {"result": result}

    def answered(self, answer: Answer) -> dict[str, Any]:
        """The result as it is, or what an error says; images beside it."""
        result = answer.result
        if result.problem is not None:
            return {"result": text_of(result), "isError": True}
        blocks = blocks_of(result)
        if blocks is None:
            return {"result": result.output}
        return {"result": result.output, "experimental_content": [_block_of_4(block) for block in blocks]}


def _block_of_4(block: Mapping[str, Any]) -> dict[str, Any]:
    if block.get("type") == "image" and isinstance(block.get("data"), str):
        return {"type": "image", "data": block["data"], "mimeType": str(block.get("mimeType", ""))}
    return {"type": "text", "text": described(block)}


def _body(text: str) -> Any:
    try:
        return json_of(text)
    except MalformedArguments:
        return None  # a line that was cut off


def _read(item: dict[str, Any], into: Assembly) -> bool:
    """Take in what is there; False where it is nothing of this SDK."""
    if read_part(item, into):
        into.bare = item["type"] == "tool-call"
        return True
    if _read_message(item, into):
        return True
    if isinstance(item.get("messages"), list):
        for message in item["messages"]:
            if isinstance(message, dict):
                _read_message(message, into)
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


def _read_message(item: dict[str, Any], into: Assembly) -> bool:
    parts = item.get("parts")
    if not isinstance(parts, list):
        parts = item.get("content")
    if not isinstance(parts, list) and not isinstance(item.get("toolInvocations"), list):
        return False
    read_message(item, parts, into)
    return True
