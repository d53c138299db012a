"""Amazon Bedrock's Converse API: content blocks named by their key, such as `toolUse` and `toolResult`.

The output is JSON, in which the bytes of an image are base64 text. Decode them before you pass them to boto3, which
encodes bytes itself.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import ABSENT, AskedCall
from pegboard.dialects.provider_rules import Limits, Talk
from pegboard.dialects.schema_adapters.root_object import REFUSED_ROOT_KEYWORDS
from pegboard.dialects.shared.content_blocks import (
    IMAGE_FORMATS,
    BlockKey,
    BlockStream,
    arguments_to_object,
    describe_block,
    get_content_blocks,
    object_to_arguments,
    parse_result_content,
    read_image,
    result_to_text,
    to_text,
    truncate_arguments,
)
from pegboard.dialects.shared.function_calls import (
    build_portable_schema,
    dict_or_empty,
    get_provider_name,
    is_model_role,
)
from pegboard.dialects.shared.turns import Speaker, Turn, get_text, split_answers
from pegboard.model.tool import Tool

_EVENT_KEYS = ("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop")
_TOOL_KEYS = frozenset({"toolUse", "toolResult", "toolUseId", *_EVENT_KEYS})
_SERVER_TOOL_USE = "server_tool_use"
# With these stop reasons, the last block of a message may be incomplete.
_TRUNCATED_STOP_REASONS = ("max_tokens", "model_context_window_exceeded", "malformed_tool_use")
# Keys of results in other dialects; the output of such a result is not searched for calls.
_WRAPPER_KEYS = frozenset({"output", "event", "message"})
_FOREIGN_RESULT_KEYS = frozenset(
    {"type", "role", "id", "name", "toolCallId", "tool_call_id", "call_id", "toolName", "tool_name"}
)
_TEXT_EVENT_KEYS = frozenset(
    {"contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStart", "messageStop"}
)
_ID_PATTERN = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")


class BedrockConverse(Dialect):
    """Messages of blocks; all answers of a turn go into one user message."""

    name = "bedrock_converse"
    expected = "messages of content blocks such as {toolUse: …}, or events of a stream"
    aliases = ("bedrock",)
    keys = frozenset(
        {"output", "message", "messages", "content", "toolUse", "toolResult", "toolUseId", "event", *_EVENT_KEYS}
    )
    # Most models on Bedrock that call tools are Anthropic's, so their limits apply.
    limits = Limits(name=re.compile(r"[a-zA-Z0-9_-]{1,64}"), root=REFUSED_ROOT_KEYWORDS, needs_items=True)
    talk = Talk(system="apart", parts="content", keys=frozenset({"role", "content"}), alternates=True, ids=_ID_PATTERN)

    def recognises(self, item: Any) -> bool:
        """Recognise a stream event, a block that is a call or its result, or a message with such a block."""
        if isinstance(item, list):
            return any(_is_tool_block(block) for block in item)
        if not isinstance(item, dict):
            return False
        inner = _unwrap_event(item)
        if inner is not item and "stopReason" in item:
            return True
        if isinstance(content := inner.get("content"), list):
            return any(map(_is_tool_block, content))
        if isinstance(messages := inner.get("messages"), list):
            return any(map(_has_tool_blocks, messages))
        return not _TOOL_KEYS.isdisjoint(inner) and (
            _is_tool_block(inner)
            or _is_tool_use(inner)
            or any(isinstance(inner.get(event), dict) for event in _EVENT_KEYS)
        )

    def read(self, item: Any, into: Assembly) -> None:
        """Read a response, a message, a block or an event, or a list of them."""
        for one in item if isinstance(item, list) else (item,):
            if not isinstance(one, dict):
                raise self.make_unreadable_error(one)
            inner = _unwrap_event(one)
            event = next((name for name in _EVENT_KEYS if isinstance(inner.get(name), dict)), None)
            if event is not None:
                _read_event(event, inner[event], into)
            elif _is_tool_block(inner):
                into.bare = one is item and "toolUse" in inner
                _read_block(inner, into)
            elif _is_tool_use(inner):
                into.bare = one is item
                _read_block({"toolUse": inner}, into)
            elif isinstance(inner.get("content"), list | str):
                _read_message(inner, one.get("stopReason"), into)
            elif isinstance(inner.get("messages"), list):
                for message in inner["messages"]:
                    _read_message(message, None, into)
            elif not ({"text", "metadata", "image", "document", "reasoningContent", "output"} & one.keys()):
                raise self.make_unreadable_error(one)

    def finish(self, into: Assembly) -> None:
        """Add the calls that waited for a stop reason, as complete: no truncation was reported."""
        if into.state is not None:
            into.state.settle(into)

    def unwrap(self, response: Mapping[str, Any]) -> Any:
        message = dict_or_empty(response.get("output")).get("message")
        is_result = "type" in response or "toolCallId" in response
        return message if isinstance(message, dict) and not is_result else None

    def turns(self, item: Mapping[str, Any], speaker: Speaker | None) -> Sequence[Turn] | None:
        """Return the results in a user's message apart."""
        return split_answers(item, speaker, lambda block: "toolResult" in block)

    def chunk_text(self, chunk: Any) -> str | None:
        if not isinstance(chunk, dict) or _TEXT_EVENT_KEYS.isdisjoint(chunk):
            return None
        return get_text(chunk, "contentBlockDelta", "delta", "text")

    def has_own_medium(self, part: Mapping[str, Any]) -> bool:
        """Recognise a block of another medium by the keys in it."""
        return any("format" in value or "bytes" in value for value in part.values() if isinstance(value, dict))

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """Return one assistant message; calls that the provider ran are followed by their results."""
        return {"role": "assistant", "content": [block for call in calls for block in _compose_call(call)]}

    def render(self, answers: Sequence[Answer], *, many: bool) -> dict[str, Any]:
        return {"role": "user", "content": [_render_answer(answer) for answer in answers]}

    def system(self, text: str) -> Any:
        """Return text blocks for the `system` field of a request."""
        return [{"text": text}]

    def define(self, tool: Tool) -> dict[str, Any]:
        """Return a `toolSpec` for `toolConfig.tools`."""
        described = {"description": tool.description} if tool.description else {}
        return {
            "toolSpec": {
                "name": get_provider_name(tool),
                **described,
                "inputSchema": {"json": build_portable_schema(tool)},
            }
        }


def _unwrap_event(item: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a response, or of an event that an agent framework forwards; never the output of a tool."""
    if _WRAPPER_KEYS.isdisjoint(item) or not _FOREIGN_RESULT_KEYS.isdisjoint(item):
        return item
    for key in ("output", "event", "message"):
        inner = item.get(key)
        if isinstance(inner, dict):
            item = inner
    return item


def _is_tool_use(item: dict[str, Any]) -> bool:
    return isinstance(item.get("toolUseId"), str) and isinstance(item.get("name"), str) and "input" in item


def _is_tool_block(item: Any) -> bool:
    """Return True for a call block or a result block."""
    return isinstance(item, dict) and (
        isinstance(item.get("toolUse"), dict)
        or (isinstance(item.get("toolResult"), dict) and "toolUseId" in item["toolResult"])
    )


def _has_tool_blocks(message: Any) -> bool:
    content = message.get("content") if isinstance(message, dict) else None
    return isinstance(content, list) and any(map(_is_tool_block, content))


def _read_message(message: Any, reason: Any, into: Assembly) -> None:
    whole = dict_or_empty(message)
    content = whole.get("content")
    blocks = content if isinstance(content, list) else []
    last = blocks[-1] if reason in _TRUNCATED_STOP_REASONS and blocks else None
    may_call = is_model_role(whole.get("role"))
    for block in blocks:
        if _is_tool_block(block) and (may_call or not isinstance(block.get("toolUse"), dict)):
            _read_block(block, into, is_cut=block is last)


def _read_block(block: dict[str, Any], into: Assembly, *, is_cut: bool = False) -> None:
    use = block.get("toolUse")
    if not isinstance(use, dict):
        _read_result(block["toolResult"], into)
        return
    is_server = use.get("type") == _SERVER_TOOL_USE
    given = use.get("input")
    arguments = truncate_arguments(given) if is_cut and not is_server else object_to_arguments(given)
    into.call(use.get("name", ""), arguments, use.get("toolUseId"), provider_executed=is_server)


def _read_result(result: dict[str, Any], into: Assembly) -> None:
    content = _read_result_content(result.get("content"))
    is_error = result.get("status") == "error"
    into.answer(
        result.get("toolUseId"),
        ABSENT if is_error else content,
        error=to_text(content) if is_error else None,
        # Only results of calls that the provider ran have a `type`.
        provider_executed=isinstance(result.get("type"), str),
    )


def _read_result_content(content: Any) -> Any:
    blocks = content if isinstance(content, list) else [content]
    if len(blocks) == 1 and isinstance(blocks[0], dict) and "json" in blocks[0]:
        return blocks[0]["json"]
    return parse_result_content(content)


def _read_event(name: str, event: dict[str, Any], into: Assembly) -> None:
    stream = into.get_state(BlockStream)
    key = stream.key(event.get("contentBlockIndex"))
    if name == "contentBlockDelta":
        _read_delta(dict_or_empty(event.get("delta")), key, stream, into)
    elif name == "contentBlockStart":
        stream.settle(into)
        _begin_block(dict_or_empty(event.get("start")), key, stream, into)
    elif name == "contentBlockStop":
        if key in stream.results:
            result = stream.results.pop(key)
            _read_result({**result, "content": _join_text_pieces(result["content"])}, into)
        else:
            stream.stop(key, into)
    elif name == "messageStart":
        stream.begin_message(into)
    else:
        stream.is_cut = event.get("stopReason") in _TRUNCATED_STOP_REASONS
        stream.end_message(into)


def _join_text_pieces(pieces: list[Any]) -> list[Any]:
    """Return the pieces of a result; if all are text, joined to one."""
    texts = [dict_or_empty(piece).get("text") for piece in pieces]
    return [{"text": "".join(map(str, texts))}] if all(isinstance(text, str) for text in texts) else pieces


def _begin_block(start: dict[str, Any], key: BlockKey, stream: BlockStream, into: Assembly) -> None:
    use, result = start.get("toolUse"), start.get("toolResult")
    if isinstance(use, dict):
        is_server = use.get("type") == _SERVER_TOOL_USE
        stream.begin(key, into, name=use.get("name"), id=use.get("toolUseId"), is_server=is_server)
    elif isinstance(result, dict):
        stream.results[key] = {**result, "content": []}


def _read_delta(delta: dict[str, Any], key: BlockKey, stream: BlockStream, into: Assembly) -> None:
    use, result = delta.get("toolUse"), delta.get("toolResult")
    if isinstance(use, dict):
        stream.fill(key, use.get("input"), into)
    elif isinstance(result, list) and key in stream.results:
        stream.results[key]["content"] += result


def _compose_call(call: AskedCall) -> list[dict[str, Any]]:
    use: dict[str, Any] = {"toolUseId": _fit_id(call.id), "name": call.name, "input": arguments_to_object(call)}
    if not call.provider_executed:
        return [{"toolUse": use}]
    use["type"] = _SERVER_TOOL_USE
    if call.result is ABSENT and call.error is None:
        return [{"toolUse": use}]
    failed = call.error is not None
    content = [{"text": call.error}] if failed else [_write_data_block(call.result)]
    status = "error" if failed else "success"
    result = {"toolUseId": use["toolUseId"], "content": content, "status": status, "type": f"{call.name}_result"}
    return [{"toolUse": use}, {"toolResult": result}]


def _render_answer(answer: Answer) -> dict[str, Any]:
    failed = answer.result.problem is not None
    blocks = get_content_blocks(answer.result)
    if failed:
        content = [{"text": result_to_text(answer.result)}]
    elif blocks is None:
        content = [_write_data_block(answer.result.output)]
    else:
        content = [_write_content_block(block) for block in blocks]
    status = "error" if failed else "success"
    return {"toolResult": {"toolUseId": _fit_id(answer.id), "content": content, "status": status}}


def _write_data_block(value: Any) -> dict[str, Any]:
    """Return a text block or a JSON block; Bedrock accepts only objects as JSON, so other values are wrapped."""
    if isinstance(value, str) and value.strip():
        return {"text": value}
    return {"json": value if isinstance(value, dict) else {"result": value}}


def _write_content_block(block: Any) -> dict[str, Any]:
    image = read_image(block)
    if image is None:
        return _write_data_block(describe_block(block))
    return {"image": {"format": IMAGE_FORMATS[image[0]], "source": {"bytes": image[1]}}}


def _fit_id(identity: str) -> str:
    """Return the id, or one derived from it if Bedrock would reject it: the same for a call and its answer."""
    if not identity or _ID_PATTERN.fullmatch(identity):
        return identity
    digest = hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()[:16]
    return f"{re.sub(r'[^a-zA-Z0-9_.:-]', '_', identity)[:47]}_{digest}"
