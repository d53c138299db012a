"""The tools and the prompt that ask the client for input, in the revision 2026-07-28."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp import MCPError

_PREFIX = "test_input_required_result_"


def _elicit(message: str, name: str, kind: str = "string") -> dict[str, Any]:
    schema = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}


def _sample(text: str, most: int) -> dict[str, Any]:
    messages = [{"role": "user", "content": {"type": "text", "text": text}}]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": most}}


_NAME = _elicit("What is your name?", "name")
_ROOTS: dict[str, Any] = {"method": "roots/list", "params": {}}
_CONFIRM = {"confirm": _elicit("Please confirm", "ok", "boolean")}
# What each tool asks for, in each round, and whether it has a state.
_ROUNDS: Mapping[str, list[dict[str, Any]]] = {
    "elicitation": [{"user_name": _NAME}],
    "sampling": [{"capital_question": _sample("What is the capital of France?", 100)}],
    "list_roots": [{"client_roots": _ROOTS}],
    "request_state": [_CONFIRM],
    "multiple_inputs": [{"user_name": _NAME, "greeting": _sample("Generate a greeting", 50), "client_roots": _ROOTS}],
    "multi_round": [
        {"step1": _elicit("Step 1: What is your name?", "name")},
        {"step2": _elicit("Step 2: What is your favorite color?", "color")},
    ],
    "tampered_state": [_CONFIRM],
    "capabilities": [{"user_name": _NAME, "greeting": _sample("Generate a greeting", 50)}],
    "prompt": [{"user_context": _elicit("What context should the prompt use?", "context")}],
}
_STATELESS = frozenset({"elicitation", "sampling", "list_roots", "capabilities", "prompt"})
_CAPABILITY = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
PROMPT = f"{_PREFIX}prompt"
TOOLS = (*(f"{_PREFIX}{name}" for name in _ROUNDS if name != "prompt"), "test_missing_capability")


def ask(params: Any) -> types.InputRequiredResult | str:
    """Return what is still missing, or a text with the input that was given."""
    declared = (params.meta or {}).get(types.CLIENT_CAPABILITIES_META_KEY) or {}
    if params.name == "test_missing_capability":
        if "sampling" not in declared:
            data: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
            raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "This tool needs sampling", data)
        return "The client can sample."
    name = params.name.removeprefix(_PREFIX)
    rounds = _ROUNDS[name]
    given = params.input_responses or {}
    done = _read_state(name, params.request_state)
    wanted = {key: each for key, each in rounds[done].items() if key not in given}
    if name == "capabilities":
        wanted = {key: each for key, each in wanted.items() if _CAPABILITY[each["method"]] in declared}
    if not wanted:
        done += 1
        if done == len(rounds):
            answers = {key: each if isinstance(each, dict) else each.model_dump() for key, each in given.items()}
            return f"state-ok: {json.dumps(answers, default=str)}"
        wanted = rounds[done]
    state = None if name in _STATELESS else f"{done}:{_sign(name, done)}"
    result = {"inputRequests": wanted, "requestState": state, "resultType": "input_required"}
    return types.InputRequiredResult.model_validate(result)


def _sign(name: str, done: int) -> str:
    return hashlib.sha256(f"{name} {done}".encode()).hexdigest()


def _read_state(name: str, state: str | None) -> int:
    if state is None:
        return 0
    number, _, sign = state.partition(":")
    if not number.isdigit() or sign != _sign(name, int(number)):
        raise MCPError(types.INVALID_PARAMS, "The state is not valid")
    return int(number)
