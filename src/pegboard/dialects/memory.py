"""Calls as a conversation's memory keeps them: `{id, name, arguments, result | error}`, and how they went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from pegboard.core.tool import Tool
from pegboard.dialects.asked import ABSENT, NOTHING, AskedCall, Unreadable
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import WHOLE, Answer, Answers
from pegboard.dialects.parts.function_calls import text_of_arguments
from pegboard.dialects.parts.picking import is_models
from pegboard.dialects.seen import seen

# What is known of how a call went, beside what came of it.
_WENT = ("code", "duration_ms", "attempts", "run_id", "result_valid")
_OWN = frozenset({"id", "name", "arguments", "result", "error", "raw_arguments", "provider_executed"})
_SHOWN = frozenset({"display_name", "summary"})
# Of the calls of other dialects, which have no outcome in them.
_OTHERS = frozenset({"type", "function", "toolCallId", "toolName", "args", "input", "index", "call_id", "jsonrpc"})


class Memory(Answers):
    """One object a call, its outcome in it; or a message that holds several."""

    name = "memory"
    abilities = WHOLE
    keys = frozenset({"tool_calls", "result", "error"})

    def recognises(self, item: Any) -> bool:
        """A call with its outcome, or a message with calls in this form."""
        if not isinstance(item, dict):
            return False
        calls = item.get("tool_calls")
        if isinstance(calls, list) and "role" in item and "type" not in item:
            return bool(calls) and _is_call(calls[0])
        return _is_call(item) and ("result" in item or "error" in item)

    def read(self, item: Any, into: Assembly) -> None:
        """One call, or those of a message."""
        if not isinstance(item, dict):
            raise _unreadable(item)
        calls = item.get("tool_calls")
        if isinstance(calls, list) or "role" in item:
            for call in calls if isinstance(calls, list) and is_models(item.get("role")) else ():
                if isinstance(call, dict):
                    _read_call(call, into)
        elif isinstance(item.get("name"), str):
            into.bare = True
            _read_call(item, into)
        else:
            raise _unreadable(item)

    def compose(self, calls: Sequence[AskedCall]) -> list[dict[str, Any]]:
        """The calls, with the outcomes there are."""
        return [_kept(call, call.id, call.name) | _outcome(call) for call in calls]

    def answer(self, answer: Answer, output: Any) -> dict[str, Any]:
        """The call with its outcome."""
        problem = answer.result.problem
        outcome = {"result": output} if problem is None else {"error": problem.message}
        return _kept(answer.call, answer.id, answer.name) | outcome

    def define(self, tool: Tool) -> dict[str, Any]:
        """Name, description and the schema of its arguments."""
        return {"name": tool.name, "description": tool.description or "", "arguments": tool.input_schema}


def _is_call(item: Any) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("name"), str) or "arguments" not in item:
        return False
    # Providers' own fields are kept beside ours, so that any may be there but those that calls of others are told by.
    return _OTHERS.isdisjoint(item)


def _read_call(call: dict[str, Any], into: Assembly) -> None:
    arguments, error = call.get("arguments"), call.get("error")
    raw = call.get("raw_arguments")
    into.call(
        call.get("name", ""),
        raw if arguments is None and isinstance(raw, str) else arguments,
        call.get("id"),
        result=call.get("result", ABSENT),
        error=error if isinstance(error, str) or error is None else _text(error),
        provider_executed=call.get("provider_executed") is True,
        extra={key: value for key, value in call.items() if key not in _OWN and key not in _SHOWN} or NOTHING,
    )


def _kept(call: AskedCall, identity: str, name: str) -> dict[str, Any]:
    kept = {"id": identity, "name": name, "arguments": call.arguments}
    try:
        if not call.is_malformed:
            orjson.dumps(call.arguments)
            return kept
    except TypeError:  # numbers or a depth that not everybody can write: the text says it all
        pass
    return kept | {"arguments": None, "raw_arguments": text_of_arguments(call)}


def _outcome(call: AskedCall) -> dict[str, Any]:
    outcome: dict[str, Any] = {} if call.result is ABSENT else {"result": call.result}
    if call.error is not None:
        outcome["error"] = call.error
    if call.provider_executed:
        outcome["provider_executed"] = True
    return outcome | {key: call.extra[key] for key in _WENT if key in call.extra}


def _text(error: Any) -> str:
    try:
        return orjson.dumps(error).decode()
    except TypeError:
        return "failed"


def _unreadable(item: Any) -> Unreadable:
    return Unreadable(
        f"unrecognised_format: this is {seen(item)}; memory is "
        '{"id": …, "name": …, "arguments": {…}, "result": …} or a message with \'tool_calls\' of that form'
    )
