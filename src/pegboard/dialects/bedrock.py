"""Amazon Bedrock's Converse API: blocks of content named by their key, `toolUse` in and `toolResult` out.

What is written is JSON: a picture's bytes stand in it as base64 text, which has to be decoded for boto3, as boto3
encodes bytes itself.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any

from pegboard.core.tool import Tool
from pegboard.dialects.adapting.root import REFUSED
from pegboard.dialects.asked import ABSENT, AskedCall
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.limits import Limits
from pegboard.dialects.parts.block_stream import BlockStream, Key, stream_in
from pegboard.dialects.parts.blocks import IMAGES, cut_off, given_input, image_of, input_of, shown, told_in
from pegboard.dialects.parts.content import blocks_of, described, text_of
from pegboard.dialects.parts.defining import name_for, schema_for
from pegboard.dialects.parts.picking import dict_of, is_models, unreadable
from pegboard.dialects.talk import Talk

_EVENTS = ("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop")
_OWN = frozenset({"toolUse", "toolResult", "toolUseId", *_EVENTS})
_SERVER = "server_tool_use"
# With these the last block of a message may lack its end.
_CUT = ("max_tokens", "model_context_window_exceeded", "malformed_tool_use")
# What others tell a result from a response by: its output is not to be looked into.
_WRAPPERS = frozenset({"output", "event", "message"})
_OF_RESULTS = frozenset(
    {"type", "role", "id", "name", "toolCallId", "tool_call_id", "call_id", "toolName", "tool_name"}
)
_EXPECTED = "messages of content blocks such as {toolUse: …}, or events of a stream"
_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")


class BedrockConverse(Dialect):
    """Messages of blocks; every answer of a turn goes into one user message."""

    name = "bedrock_converse"
    aliases = ("bedrock",)
    keys = frozenset(
        {"output", "message", "messages", "content", "toolUse", "toolResult", "toolUseId", "event", *_EVENTS}
    )
    # Its models are mostly Anthropic's.
    limits = Limits(name=re.compile(r"[a-zA-Z0-9_-]{1,64}"), root=REFUSED, needs_items=True)
    talk = Talk(system="apart", parts="content", keys=frozenset({"role", "content"}), alternates=True, ids=_ID)

    def recognises(self, item: Any) -> bool:
        """An event of a stream, a block that is a call or its result, or a message with such a block."""
        if isinstance(item, list):
            return any(_is_block(block) for block in item)
        if not isinstance(item, dict):
            return False
        inner = _unwrapped(item)
        if inner is not item and "stopReason" in item:
            return True
        if isinstance(content := inner.get("content"), list):
            return any(map(_is_block, content))
        if isinstance(messages := inner.get("messages"), list):
            return any(map(_has_blocks, messages))
        return not _OWN.isdisjoint(inner) and (
            _is_block(inner) or _is_use(inner) or any(isinstance(inner.get(event), dict) for event in _EVENTS)
        )

    def read(self, item: Any, into: Assembly) -> None:
        """A response, a message, a block or an event, or a list of them."""
        for one in item if isinstance(item, list) else (item,):
            if not isinstance(one, dict):
                raise unreadable(one, self.name, _EXPECTED)
            inner = _unwrapped(one)
            event = next((name for name in _EVENTS if isinstance(inner.get(name), dict)), None)
            if event is not None:
                _read_event(event, inner[event], into)
            elif _is_block(inner):
                into.bare = one is item and "toolUse" in inner
                _read_block(inner, into)
            elif _is_use(inner):
                into.bare = one is item
                _read_block({"toolUse": inner}, into)
            elif isinstance(inner.get("content"), list | str):
                _read_message(inner, one.get("stopReason"), into)
            elif isinstance(inner.get("messages"), list):
                for message in inner["messages"]:
                    _read_message(message, None, into)
            elif not ({"text", "metadata", "image", "document", "reasoningContent", "output"} & one.keys()):
                raise unreadable(one, self.name, _EXPECTED)

    def finish(self, into: Assembly) -> None:
        """What waits to be known as complete is, as nothing says otherwise."""
        if into.state is not None:
            stream_in(into).settle(into)

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """One assistant message; what the provider ran itself is followed by its result."""
        return {"role": "assistant", "content": [block for call in calls for block in _composed(call)]}

    def render(self, answers: Sequence[Answer], *, many: bool) -> dict[str, Any]:
        """One user message with every result."""
        return {"role": "user", "content": [_rendered(answer) for answer in answers]}

    def system(self, text: str) -> Any:
        """Blocks of text, as a request's `system` has them."""
        return [{"text": text}]

    def define(self, tool: Tool) -> dict[str, Any]:
        """A `toolSpec`, as it stands in `toolConfig.tools`."""
        described = {"description": tool.description} if tool.description else {}
        return {"toolSpec": {"name": name_for(tool), **described, "inputSchema": {"json": schema_for(tool)}}}


def _unwrapped(item: dict[str, Any]) -> dict[str, Any]:
    """What is in a response, or in an event that an agent framework passes on; never what a tool gave."""
    if _WRAPPERS.isdisjoint(item) or not _OF_RESULTS.isdisjoint(item):
        return item
    for key in ("output", "event", "message"):
        inner = item.get(key)
        if isinstance(inner, dict):
            item = inner
    return item


def _is_use(item: dict[str, Any]) -> bool:
    return isinstance(item.get("toolUseId"), str) and isinstance(item.get("name"), str) and "input" in item


def _is_block(item: Any) -> bool:
    """Whether this is a call, or the result of one."""
    return isinstance(item, dict) and (
        isinstance(item.get("toolUse"), dict)
        or (isinstance(item.get("toolResult"), dict) and "toolUseId" in item["toolResult"])
    )


def _has_blocks(message: Any) -> bool:
    content = message.get("content") if isinstance(message, dict) else None
    return isinstance(content, list) and any(map(_is_block, content))


def _read_message(message: Any, reason: Any, into: Assembly) -> None:
    whole = dict_of(message)
    content = whole.get("content")
    blocks = content if isinstance(content, list) else []
    last = blocks[-1] if reason in _CUT and blocks else None
    may_call = is_models(whole.get("role"))
    for block in blocks:
        if _is_block(block) and (may_call or not isinstance(block.get("toolUse"), dict)):
            _read_block(block, into, is_cut=block is last)


def _read_block(block: dict[str, Any], into: Assembly, *, is_cut: bool = False) -> None:
    use = block.get("toolUse")
    if not isinstance(use, dict):
        _read_result(block["toolResult"], into)
        return
    is_server = use.get("type") == _SERVER
    given = use.get("input")
    arguments = cut_off(given) if is_cut and not is_server else given_input(given)
    into.call(use.get("name", ""), arguments, use.get("toolUseId"), provider_executed=is_server)


def _read_result(result: dict[str, Any], into: Assembly) -> None:
    told = _told(result.get("content"))
    is_error = result.get("status") == "error"
    into.answer(
        result.get("toolUseId"),
        ABSENT if is_error else told,
        error=shown(told) if is_error else None,
        # Only what the provider ran has a type of its own.
        provider_executed=isinstance(result.get("type"), str),
    )


def _told(content: Any) -> Any:
    blocks = content if isinstance(content, list) else [content]
    if len(blocks) == 1 and isinstance(blocks[0], dict) and "json" in blocks[0]:
        return blocks[0]["json"]
    return told_in(content)


def _read_event(name: str, event: dict[str, Any], into: Assembly) -> None:
    stream = stream_in(into)
    key = stream.key(event.get("contentBlockIndex"))
    if name == "contentBlockDelta":
        _read_delta(dict_of(event.get("delta")), key, stream, into)
    elif name == "contentBlockStart":
        stream.settle(into)
        _begin_block(dict_of(event.get("start")), key, stream, into)
    elif name == "contentBlockStop":
        if key in stream.results:
            result = stream.results.pop(key)
            _read_result({**result, "content": _joined(result["content"])}, into)
        else:
            stream.stop(key, into)
    elif name == "messageStart":
        stream.message_begins(into)
    else:
        stream.is_cut = event.get("stopReason") in _CUT
        stream.message_ends(into)


def _joined(pieces: list[Any]) -> list[Any]:
    """The pieces of a result, those of a text put together."""
    texts = [dict_of(piece).get("text") for piece in pieces]
    return [{"text": "".join(map(str, texts))}] if all(isinstance(text, str) for text in texts) else pieces


def _begin_block(start: dict[str, Any], key: Key, stream: BlockStream, into: Assembly) -> None:
    use, result = start.get("toolUse"), start.get("toolResult")
    if isinstance(use, dict):
        is_server = use.get("type") == _SERVER
        stream.begin(key, into, name=use.get("name"), id=use.get("toolUseId"), is_server=is_server)
    elif isinstance(result, dict):
        stream.results[key] = {**result, "content": []}


def _read_delta(delta: dict[str, Any], key: Key, stream: BlockStream, into: Assembly) -> None:
    use, result = delta.get("toolUse"), delta.get("toolResult")
    if isinstance(use, dict):
        stream.fill(key, use.get("input"), into)
    elif isinstance(result, list) and key in stream.results:
        stream.results[key]["content"] += result


def _composed(call: AskedCall) -> list[dict[str, Any]]:
    use: dict[str, Any] = {"toolUseId": _fitting(call.id), "name": call.name, "input": input_of(call)}
    if not call.provider_executed:
        return [{"toolUse": use}]
    use["type"] = _SERVER
    if call.result is ABSENT and call.error is None:
        return [{"toolUse": use}]
    failed = call.error is not None
    content = [{"text": call.error}] if failed else [_data(call.result)]
    status = "error" if failed else "success"
    result = {"toolUseId": use["toolUseId"], "content": content, "status": status, "type": f"{call.name}_result"}
    return [{"toolUse": use}, {"toolResult": result}]


def _rendered(answer: Answer) -> dict[str, Any]:
    failed = answer.result.problem is not None
    blocks = blocks_of(answer.result)
    if failed:
        content = [{"text": text_of(answer.result)}]
    elif blocks is None:
        content = [_data(answer.result.output)]
    else:
        content = [_shown_block(block) for block in blocks]
    status = "error" if failed else "success"
    return {"toolResult": {"toolUseId": _fitting(answer.id), "content": content, "status": status}}


def _data(value: Any) -> dict[str, Any]:
    """Text as text, an object as JSON, and anything else within an object: there is no JSON but objects here."""
    if isinstance(value, str) and value.strip():
        return {"text": value}
    return {"json": value if isinstance(value, dict) else {"result": value}}


def _shown_block(block: Any) -> dict[str, Any]:
    image = image_of(block)
    if image is None:
        return _data(described(block))
    return {"image": {"format": IMAGES[image[0]], "source": {"bytes": image[1]}}}


def _fitting(identity: str) -> str:
    """The id, or one made from it where Bedrock would refuse it: the same for a call and for its answer."""
    if not identity or _ID.fullmatch(identity):
        return identity
    digest = hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()[:16]
    return f"{re.sub(r'[^a-zA-Z0-9_.:-]', '_', identity)[:47]}_{digest}"
