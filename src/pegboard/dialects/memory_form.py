"""Calls as stored in a conversation, `{id, name, arguments, result | error}`, with fields about their execution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from pegboard.dialects.base import WITHOUT_STREAM, Answer, Answers
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import ABSENT, EMPTY_MAPPING, AskedCall
from pegboard.dialects.shared.function_calls import arguments_to_json, is_model_role
from pegboard.model.call import Malformed
from pegboard.model.ids import make_call_id, new_id
from pegboard.model.tool import Tool

# The name of a call without one.
UNKNOWN_TOOL_NAME = "unknown"
# The error of a call whose arguments could not be parsed, until an answer replaces it.
MALFORMED_ERROR = "malformed_arguments"
# Fields about the execution of a call, beside its result.
_OUTCOME_KEYS = ("code", "duration_ms", "attempts", "run_id", "result_valid")
_CALL_KEYS = frozenset({"id", "name", "arguments", "result", "error", "raw_arguments", "provider_executed"})
_DISPLAY_KEYS = frozenset({"display_name", "summary"})
# Keys of calls in other dialects, which do not include a result.
_FOREIGN_KEYS = frozenset(
    {"type", "function", "toolCallId", "toolName", "args", "input", "index", "call_id", "jsonrpc"}
)


def to_memory_form(call: AskedCall) -> dict[str, Any]:
    """Return a parsed call in memory form."""
    arguments = call.arguments
    form: dict[str, Any] = {
        "id": call.id or make_call_id(new_id()),
        "name": call.name or UNKNOWN_TOOL_NAME,
        "arguments": None if isinstance(arguments, Malformed) else arguments,
    }
    if call.result is not ABSENT:
        form["result"] = call.result
    if call.error is not None:
        form["error"] = call.error
    if isinstance(arguments, Malformed):
        form |= {"error": call.error or MALFORMED_ERROR, "raw_arguments": arguments.text}
    if call.provider_executed:
        form["provider_executed"] = True
    return form | {key: value for key, value in call.extra.items() if key not in form}


class Memory(Answers):
    """One object per call, including its result; or a message with several."""

    name = "memory"
    expected = "a call {id, name, arguments, result}, or a message with 'tool_calls' of that form"
    abilities = WITHOUT_STREAM
    keys = frozenset({"tool_calls", "result", "error"})

    def recognises(self, item: Any) -> bool:
        """Recognise a call with its result, or a message with calls in this form."""
        if not isinstance(item, dict):
            return False
        calls = item.get("tool_calls")
        if isinstance(calls, list) and "role" in item and "type" not in item:
            return bool(calls) and _is_call(calls[0])
        return _is_call(item) and ("result" in item or "error" in item)

    def read(self, item: Any, into: Assembly) -> None:
        """Read one call, or the calls of a message."""
        if not isinstance(item, dict):
            raise self.make_unreadable_error(item)
        calls = item.get("tool_calls")
        if isinstance(calls, list) or "role" in item:
            for call in calls if isinstance(calls, list) and is_model_role(item.get("role")) else ():
                if isinstance(call, dict):
                    _read_call(call, into)
        elif isinstance(item.get("name"), str):
            into.bare = True
            _read_call(item, into)
        else:
            raise self.make_unreadable_error(item)

    def compose(self, calls: Sequence[AskedCall]) -> list[dict[str, Any]]:
        """Return the calls, with their results if there are any."""
        return [_write_call(call, call.id, call.name) | _write_outcome(call) for call in calls]

    def answer(self, answer: Answer, output: Any) -> dict[str, Any]:
        problem = answer.result.problem
        outcome = {"result": output} if problem is None else {"error": problem.message}
        return _write_call(answer.call, answer.id, answer.name) | outcome

    def define(self, tool: Tool) -> dict[str, Any]:
        """Return the name, description and argument schema."""
        return {"name": tool.name, "description": tool.description or "", "arguments": tool.input_schema}


def _is_call(item: Any) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("name"), str) or "arguments" not in item:
        return False
    # Provider fields are stored beside ours, so any key is allowed except those that identify calls of other
    # dialects.
    return _FOREIGN_KEYS.isdisjoint(item)


def _read_call(call: dict[str, Any], into: Assembly) -> None:
    arguments, error = call.get("arguments"), call.get("error")
    raw = call.get("raw_arguments")
    into.call(
        call.get("name", ""),
        raw if arguments is None and isinstance(raw, str) else arguments,
        call.get("id"),
        result=call.get("result", ABSENT),
        error=error if isinstance(error, str) or error is None else _error_to_text(error),
        provider_executed=call.get("provider_executed") is True,
        extra={key: value for key, value in call.items() if key not in _CALL_KEYS and key not in _DISPLAY_KEYS}
        or EMPTY_MAPPING,
    )


def _write_call(call: AskedCall, identity: str, name: str) -> dict[str, Any]:
    kept = {"id": identity, "name": name, "arguments": call.arguments}
    try:
        if not call.is_malformed:
            orjson.dumps(call.arguments)
            return kept
    except TypeError:  # numbers or a depth that orjson cannot write: store the text instead
        pass
    return kept | {"arguments": None, "raw_arguments": arguments_to_json(call)}


def _write_outcome(call: AskedCall) -> dict[str, Any]:
    outcome: dict[str, Any] = {} if call.result is ABSENT else {"result": call.result}
    if call.error is not None:
        outcome["error"] = call.error
    if call.provider_executed:
        outcome["provider_executed"] = True
    return outcome | {key: call.extra[key] for key in _OUTCOME_KEYS if key in call.extra}


def _error_to_text(error: Any) -> str:
    try:
        return orjson.dumps(error).decode()
    except TypeError:
        return "failed"
