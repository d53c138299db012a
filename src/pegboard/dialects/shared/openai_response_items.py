"""Items of OpenAI's Responses API: calls, answers to calls, and calls that the provider ran itself."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from typing import Any

from pegboard.dialects.base import Answer
from pegboard.dialects.call_assembler import Assembly, read_id, read_name
from pegboard.dialects.parsed_calls import ABSENT, AskedCall
from pegboard.dialects.shared.content_blocks import describe_block, get_content_blocks
from pegboard.dialects.shared.function_calls import arguments_to_json, filter_dicts, parse_output, result_to_output_text
from pegboard.dialects.shared.openai_calls import get_custom_input, read_custom_input, read_function_arguments

# Calls that the client answers, and their answers.
CALL_ITEM_TYPES = frozenset({"function_call", "custom_tool_call"})
OUTPUT_ITEM_TYPES = frozenset({"function_call_output", "custom_tool_call_output"})
# Calls that the provider runs: the tool name, the keys of the arguments, and the key of the result.
_PROVIDER_RUN_ITEMS: Mapping[str, tuple[str, tuple[str, ...], str]] = {
    "web_search_call": ("web_search", ("action",), ""),
    "file_search_call": ("file_search", ("queries",), "results"),
    "code_interpreter_call": ("code_interpreter", ("code", "container_id"), "outputs"),
    "image_generation_call": ("image_generation", ("revised_prompt",), "result"),
    "program": ("program", ("code",), ""),
}
# Calls that either the provider runs, or the client with facilities that the board does not have.
_SOMETIMES_PROVIDER_RUN_ITEMS: Mapping[str, tuple[str, tuple[str, ...], str]] = {
    "shell_call": ("shell", ("action",), ""),
    "tool_search_call": ("tool_search", ("arguments",), ""),
}
_PROVIDER_RUN_OUTPUTS: Mapping[str, str] = {
    "shell_call_output": "output",
    "tool_search_output": "tools",
    "program_output": "result",
}
_CLIENT_ITEM_TYPES = frozenset(
    {"computer_call", "computer_call_output", "local_shell_call", "local_shell_call_output"}
    | {"apply_patch_call", "apply_patch_call_output"}
)
_MCP_ITEM_TYPES = frozenset({"mcp_call", "mcp_approval_request", "mcp_approval_response", "mcp_list_tools"})
_ITEM_TYPES = (
    OUTPUT_ITEM_TYPES
    | CALL_ITEM_TYPES
    | _PROVIDER_RUN_ITEMS.keys()
    | _SOMETIMES_PROVIDER_RUN_ITEMS.keys()
    | _PROVIDER_RUN_OUTPUTS.keys()
    | _CLIENT_ITEM_TYPES
    | _MCP_ITEM_TYPES
)
_MESSAGE_PART_TYPES = ("output_text", "input_text", "refusal")
# Fields to send back with a call: the name in `extra`, and the key in the item.
_EXTRA_KEYS = (("item_id", "id"), ("namespace", "namespace"), ("caller", "caller"), ("async", "async"))


class ResponseState:
    """The state that is kept between items and events."""

    __slots__ = ("customs", "done", "keys", "raw", "run")

    def __init__(self) -> None:
        # Ids of calls that the provider runs, and of calls that arrived as events.
        self.run: set[str] = set()
        self.raw: set[str] = set()
        # For the current response: item keys by id, ids of completed items by key, and keys of open custom inputs.
        self.keys: dict[str, Hashable] = {}
        self.done: dict[Hashable, str] = {}
        self.customs: set[Hashable] = set()


def is_item(item: Mapping[str, Any]) -> bool:
    """Return True for an item of an input or an output."""
    kind = item.get("type")
    if not isinstance(kind, str):
        return False
    if kind == "function_call":
        return "call_id" in item or isinstance(item.get("arguments"), str)
    if kind == "program":
        return "call_id" in item
    if kind == "reasoning":
        return "summary" in item
    if kind == "message":
        parts = item.get("content")
        part = parts[0] if isinstance(parts, list) and parts else None
        return isinstance(part, dict) and part.get("type") in _MESSAGE_PART_TYPES
    return kind in _ITEM_TYPES


def read_items(items: list[Any], into: Assembly, *, cut: bool = False) -> None:
    """Read complete items; if the response was cut off, the last one may be incomplete."""
    last = len(items) - 1 if cut else -1
    for place, item in enumerate(items):
        if isinstance(item, dict):
            read_item(item, into, cut=place == last)


def read_item(item: dict[str, Any], into: Assembly, *, cut: bool = False) -> None:
    """Read one complete item; skip it if it is neither a call nor an answer."""
    kind = item.get("type")
    if not isinstance(kind, str):
        return
    if kind in CALL_ITEM_TYPES:
        arguments = read_item_arguments(item, cut=cut)
        into.call(read_name(item.get("name")), arguments, item.get("call_id"), extra=read_item_extra(item))
    elif kind in OUTPUT_ITEM_TYPES:
        result, error = parse_output(item.get("output"))
        into.answer(item.get("call_id"), result, error=error, name=item.get("name"))
    elif kind in ("mcp_call", "mcp_approval_request"):
        _read_mcp_item(item, into)
    else:
        _read_provider_run_item(kind, item, into)


def read_item_id(item: Mapping[str, Any]) -> str:
    """Return the id that the answer refers to: the call's id, or else the item's own."""
    return read_id(item.get("call_id") or item.get("id"))


def read_item_arguments(item: Mapping[str, Any], *, cut: bool = False) -> Any:
    """Return the arguments of a call; Malformed if they may be incomplete."""
    status = item.get("status")
    cut = status in ("incomplete", "in_progress") or (cut and status != "completed")
    if item.get("type") == "custom_tool_call":
        return read_custom_input(item.get("input", ""), cut=cut)
    return read_function_arguments(item.get("arguments"), cut=cut)


def read_item_extra(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a call or an mcp_call that have to be sent back."""
    extra = {name: item[key] for name, key in _EXTRA_KEYS if item.get(key) is not None}
    if item.get("type") == "custom_tool_call":
        extra["custom"] = True
    return extra


def read_mcp_extra(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a call to an MCP server that have to be sent back."""
    keys = (("server", "server_label"), ("approval_request_id", "approval_request_id"))
    return {name: item[key] for name, key in keys if item.get(key) is not None}


def compose_item(call: AskedCall) -> dict[str, Any] | None:
    """Return the item for this call, or None if only the provider can write it."""
    extra = call.extra
    if call.provider_executed:
        return _compose_mcp_call(call) if "server" in extra and "approval" not in extra else None
    item: dict[str, Any] = {"call_id": call.id, "name": call.name}
    if extra.get("custom"):
        item |= {"type": "custom_tool_call", "input": get_custom_input(call)}
    else:
        item |= {"type": "function_call", "arguments": arguments_to_json(call)}
    return item | {key: extra[name] for name, key in _EXTRA_KEYS if name in extra}


def render_item(answer: Answer) -> dict[str, Any]:
    """Return the item that answers this call; for an approval request, whether it is approved."""
    extra, result = answer.call.extra, answer.result
    if extra.get("approval"):
        approved = result.problem is None
        item = {"type": "mcp_approval_response", "approval_request_id": answer.id, "approve": approved}
        return item if approved else item | {"reason": result_to_output_text(result)}
    kind = "custom_tool_call_output" if extra.get("custom") else "function_call_output"
    item = {"type": kind, "call_id": answer.id, "output": _render_output(answer)}
    return item | {"caller": extra["caller"]} if isinstance(extra.get("caller"), dict) else item


def write_message_item(role: str, text: str) -> dict[str, Any]:
    """Return a message item."""
    return {"type": "message", "role": role, "content": text}


def restore_items(raw: Any) -> list[Any]:
    """Return the items of a response, or bare items, as the input of the next request accepts them."""
    if isinstance(raw, dict):
        output = raw.get("output")
        raw = output if isinstance(output, list) else [raw]
    items = filter_dicts(raw)
    if not all(is_item(item) or isinstance(item.get("role"), str) for item in items):
        return []
    return [{key: value for key, value in item.items() if value is not None} for item in items]


def _read_mcp_item(item: dict[str, Any], into: Assembly) -> None:
    result, error, extra = ABSENT, _get_error(item), read_mcp_extra(item)
    if item["type"] == "mcp_approval_request":
        extra["approval"] = True
    elif error is None and item.get("output") is not None:
        result, error = parse_output(item["output"])
    name, arguments = read_name(item.get("name")), item.get("arguments")
    into.call(name, arguments, item.get("id"), result=result, error=error, provider_executed=True, extra=extra)


def _read_provider_run_item(kind: str, item: dict[str, Any], into: Assembly) -> None:
    run = _PROVIDER_RUN_ITEMS.get(kind)
    if run is None and kind in _SOMETIMES_PROVIDER_RUN_ITEMS and _is_run_by_provider(item):
        run = _SOMETIMES_PROVIDER_RUN_ITEMS[kind]
    identity = read_item_id(item)
    if run is not None:
        name, keys, outcome = run
        first, error, result = item.get(keys[0]), _get_error(item), item.get(outcome)
        arguments = first if isinstance(first, dict) else {key: item[key] for key in keys if item.get(key) is not None}
        result = ABSENT if result is None or error is not None else result
        into.call(name, arguments, identity, result=result, error=error, provider_executed=True)
        into.get_state(ResponseState).run.add(identity)
    elif kind in _PROVIDER_RUN_OUTPUTS and identity in into.get_state(ResponseState).run:
        into.answer(identity, item.get(_PROVIDER_RUN_OUTPUTS[kind]))


def _is_run_by_provider(item: Mapping[str, Any]) -> bool:
    environment = item.get("environment")
    if isinstance(environment, dict):
        return environment.get("type") == "container_reference"
    return item.get("execution") == "server"


def _get_error(item: Mapping[str, Any]) -> str | None:
    """Return the error message of an item, or None."""
    error = item.get("error")
    if isinstance(error, dict):
        if isinstance(error.get("message"), str):
            return str(error["message"])
        content = parse_output(error.get("content"))[0]
        return content if isinstance(content, str) else "failed"
    if isinstance(error, str) and error:
        return error
    return "failed" if error or item.get("status") == "failed" else None


def _compose_mcp_call(call: AskedCall) -> dict[str, Any]:
    item: dict[str, Any] = {
        "type": "mcp_call",
        "id": call.id,
        "name": call.name,
        "arguments": arguments_to_json(call),
        "server_label": call.extra["server"],
        "approval_request_id": call.extra.get("approval_request_id"),
    }
    if call.error is not None:
        return item | {"error": {"type": "mcp_tool_execution_error", "content": [{"type": "text", "text": call.error}]}}
    if call.result is ABSENT:
        return item
    content = call.result
    return item | {
        "output": content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, default=str)
    }


def _render_output(answer: Answer) -> Any:
    """Return the output as text, or as a list of parts if it contains an image."""
    blocks = get_content_blocks(answer.result)
    if blocks is None or not any(_is_image(block) for block in blocks):
        return result_to_output_text(answer.result)
    return [
        {"type": "input_image", "image_url": f"data:{block.get('mimeType')};base64,{block['data']}"}
        if _is_image(block)
        else {"type": "input_text", "text": describe_block(block)}
        for block in blocks
    ]


def _is_image(block: Mapping[str, Any]) -> bool:
    return block.get("type") == "image" and isinstance(block.get("data"), str)
