"""The items of OpenAI's Responses, which are calls, answers to calls, and what the provider ran itself."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from typing import Any

from pegboard.dialects.asked import ABSENT, AskedCall
from pegboard.dialects.assembly import Assembly, id_of, name_of
from pegboard.dialects.base import Answer
from pegboard.dialects.parts.content import blocks_of, described
from pegboard.dialects.parts.function_calls import text_of_arguments
from pegboard.dialects.parts.openai_calls import given_arguments, given_input, input_of
from pegboard.dialects.parts.outputs import output_of, output_text
from pegboard.dialects.parts.picking import dicts_of

# Calls that the client answers, and their answers.
CALLS = frozenset({"function_call", "custom_tool_call"})
OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})
# What the provider runs itself: the name it goes by, what its arguments stand under, and its result.
_RUN: Mapping[str, tuple[str, tuple[str, ...], str]] = {
    "web_search_call": ("web_search", ("action",), ""),
    "file_search_call": ("file_search", ("queries",), "results"),
    "code_interpreter_call": ("code_interpreter", ("code", "container_id"), "outputs"),
    "image_generation_call": ("image_generation", ("revised_prompt",), "result"),
    "program": ("program", ("code",), ""),
}
# What the provider runs in some cases, and else the client with means of its own, which the board does not have.
_RUN_AT_TIMES: Mapping[str, tuple[str, tuple[str, ...], str]] = {
    "shell_call": ("shell", ("action",), ""),
    "tool_search_call": ("tool_search", ("arguments",), ""),
}
_RUN_OUTPUTS: Mapping[str, str] = {
    "shell_call_output": "output",
    "tool_search_output": "tools",
    "program_output": "result",
}
_CLIENT = frozenset(
    {"computer_call", "computer_call_output", "local_shell_call", "local_shell_call_output"}
    | {"apply_patch_call", "apply_patch_call_output"}
)
_MCP = frozenset({"mcp_call", "mcp_approval_request", "mcp_approval_response", "mcp_list_tools"})
_KINDS = OUTPUTS | CALLS | _RUN.keys() | _RUN_AT_TIMES.keys() | _RUN_OUTPUTS.keys() | _CLIENT | _MCP
_PARTS = ("output_text", "input_text", "refusal")
# What has to go back beside the call: what it is under in a call, and in an item.
_EXTRA = (("item_id", "id"), ("namespace", "namespace"), ("caller", "caller"), ("async", "async"))


class Running:
    """What has to be known from item to item, and from event to event."""

    __slots__ = ("customs", "done", "keys", "raw", "run")

    def __init__(self) -> None:
        # Ids of what the provider runs, and of calls that came as events.
        self.run: set[str] = set()
        self.raw: set[str] = set()
        # Of the response that is coming in: the keys of its items by their ids, the ids of those that are done by
        # their keys, and the keys of the texts that are being written.
        self.keys: dict[str, Hashable] = {}
        self.done: dict[Hashable, str] = {}
        self.customs: set[Hashable] = set()


def running_of(into: Assembly) -> Running:
    """What is known so far."""
    if into.state is None:
        into.state = Running()
    running: Running = into.state
    return running


def is_item(item: Mapping[str, Any]) -> bool:
    """Whether this is one item, in or out."""
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
        return isinstance(part, dict) and part.get("type") in _PARTS
    return kind in _KINDS


def read_items(items: list[Any], into: Assembly, *, cut: bool = False) -> None:
    """Take in whole items; where the response was cut off, the last one may not be complete."""
    last = len(items) - 1 if cut else -1
    for place, item in enumerate(items):
        if isinstance(item, dict):
            read_item(item, into, cut=place == last)


def read_item(item: dict[str, Any], into: Assembly, *, cut: bool = False) -> None:
    """Take in one whole item; what is neither a call nor an answer is passed over."""
    kind = item.get("type")
    if not isinstance(kind, str):
        return
    if kind in CALLS:
        arguments = arguments_of_item(item, cut=cut)
        into.call(name_of(item.get("name")), arguments, item.get("call_id"), extra=extra_of(item))
    elif kind in OUTPUTS:
        result, error = output_of(item.get("output"))
        into.answer(item.get("call_id"), result, error=error, name=item.get("name"))
    elif kind in ("mcp_call", "mcp_approval_request"):
        _read_mcp(item, into)
    else:
        _read_run(kind, item, into)


def id_of_item(item: Mapping[str, Any]) -> str:
    """What its answer goes by: the call's id, or the item's own where it has no other."""
    return id_of(item.get("call_id") or item.get("id"))


def arguments_of_item(item: Mapping[str, Any], *, cut: bool = False) -> Any:
    """The arguments of a call; Malformed where they may be only the beginning of what was meant."""
    status = item.get("status")
    cut = status in ("incomplete", "in_progress") or (cut and status != "completed")
    if item.get("type") == "custom_tool_call":
        return given_input(item.get("input", ""), cut=cut)
    return given_arguments(item.get("arguments"), cut=cut)


def extra_of(item: Mapping[str, Any]) -> dict[str, Any]:
    """What of a call or an mcp_call has to go back."""
    extra = {name: item[key] for name, key in _EXTRA if item.get(key) is not None}
    if item.get("type") == "custom_tool_call":
        extra["custom"] = True
    return extra


def extra_of_mcp(item: Mapping[str, Any]) -> dict[str, Any]:
    """What of a call to an MCP server has to go back."""
    keys = (("server", "server_label"), ("approval_request_id", "approval_request_id"))
    return {name: item[key] for name, key in keys if item.get(key) is not None}


def composed_item(call: AskedCall) -> dict[str, Any] | None:
    """The item that makes this call, or None where it is one that only the provider can write."""
    extra = call.extra
    if call.provider_executed:
        return _composed_mcp(call) if "server" in extra and "approval" not in extra else None
    item: dict[str, Any] = {"call_id": call.id, "name": call.name}
    if extra.get("custom"):
        item |= {"type": "custom_tool_call", "input": input_of(call)}
    else:
        item |= {"type": "function_call", "arguments": text_of_arguments(call)}
    return item | {key: extra[name] for name, key in _EXTRA if name in extra}


def rendered_item(answer: Answer) -> dict[str, Any]:
    """The item that answers this call; of one that asks for leave to run, whether it has it."""
    extra, result = answer.call.extra, answer.result
    if extra.get("approval"):
        approved = result.problem is None
        item = {"type": "mcp_approval_response", "approval_request_id": answer.id, "approve": approved}
        return item if approved else item | {"reason": output_text(result)}
    kind = "custom_tool_call_output" if extra.get("custom") else "function_call_output"
    item = {"type": kind, "call_id": answer.id, "output": _output(answer)}
    return item | {"caller": extra["caller"]} if isinstance(extra.get("caller"), dict) else item


def said_item(role: str, text: str) -> dict[str, Any]:
    """The item that says something."""
    return {"type": "message", "role": role, "content": text}


def own_items(raw: Any) -> list[Any]:
    """The items of a response, or those given alone, as the input of the next request takes them."""
    if isinstance(raw, dict):
        output = raw.get("output")
        raw = output if isinstance(output, list) else [raw]
    items = dicts_of(raw)
    if not all(is_item(item) or isinstance(item.get("role"), str) for item in items):
        return []
    return [{key: value for key, value in item.items() if value is not None} for item in items]


def _read_mcp(item: dict[str, Any], into: Assembly) -> None:
    result, error, extra = ABSENT, _error_of(item), extra_of_mcp(item)
    if item["type"] == "mcp_approval_request":
        extra["approval"] = True
    elif error is None and item.get("output") is not None:
        result, error = output_of(item["output"])
    name, arguments = name_of(item.get("name")), item.get("arguments")
    into.call(name, arguments, item.get("id"), result=result, error=error, provider_executed=True, extra=extra)


def _read_run(kind: str, item: dict[str, Any], into: Assembly) -> None:
    run = _RUN.get(kind)
    if run is None and kind in _RUN_AT_TIMES and _is_run_by_provider(item):
        run = _RUN_AT_TIMES[kind]
    identity = id_of_item(item)
    if run is not None:
        name, keys, outcome = run
        first, error, result = item.get(keys[0]), _error_of(item), item.get(outcome)
        arguments = first if isinstance(first, dict) else {key: item[key] for key in keys if item.get(key) is not None}
        result = ABSENT if result is None or error is not None else result
        into.call(name, arguments, identity, result=result, error=error, provider_executed=True)
        running_of(into).run.add(identity)
    elif kind in _RUN_OUTPUTS and identity in running_of(into).run:
        into.answer(identity, item.get(_RUN_OUTPUTS[kind]))


def _is_run_by_provider(item: Mapping[str, Any]) -> bool:
    environment = item.get("environment")
    if isinstance(environment, dict):
        return environment.get("type") == "container_reference"
    return item.get("execution") == "server"


def _error_of(item: Mapping[str, Any]) -> str | None:
    """What went wrong, in words."""
    error = item.get("error")
    if isinstance(error, dict):
        if isinstance(error.get("message"), str):
            return str(error["message"])
        told = output_of(error.get("content"))[0]
        return told if isinstance(told, str) else "failed"
    if isinstance(error, str) and error:
        return error
    return "failed" if error or item.get("status") == "failed" else None


def _composed_mcp(call: AskedCall) -> dict[str, Any]:
    item: dict[str, Any] = {
        "type": "mcp_call",
        "id": call.id,
        "name": call.name,
        "arguments": text_of_arguments(call),
        "server_label": call.extra["server"],
        "approval_request_id": call.extra.get("approval_request_id"),
    }
    if call.error is not None:
        return item | {"error": {"type": "mcp_tool_execution_error", "content": [{"type": "text", "text": call.error}]}}
    if call.result is ABSENT:
        return item
    told = call.result
    return item | {"output": told if isinstance(told, str) else json.dumps(told, ensure_ascii=False, default=str)}


def _output(answer: Answer) -> Any:
    """The output as text, or as a list of parts where there is an image among them."""
    blocks = blocks_of(answer.result)
    if blocks is None or not any(_is_image(block) for block in blocks):
        return output_text(answer.result)
    return [
        {"type": "input_image", "image_url": f"data:{block.get('mimeType')};base64,{block['data']}"}
        if _is_image(block)
        else {"type": "input_text", "text": described(block)}
        for block in blocks
    ]


def _is_image(block: Mapping[str, Any]) -> bool:
    return block.get("type") == "image" and isinstance(block.get("data"), str)
