"""The board's own dialect: `{name, arguments, id?}` in, `{success, result | error, …}` out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from pegboard.core.call import ToolResult
from pegboard.core.errors import FieldProblem, Problem
from pegboard.core.refusals import MAX_FAULTS, Fault
from pegboard.core.tool import Tool
from pegboard.dialects.asked import AskedCall, Unreadable
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import WHOLE_CALLS, Answer, Answers, ignored_of

_KEYS = {"name", "arguments", "id"}


class Plain(Answers):
    """One object a call, one object an answer."""

    name = "plain"
    abilities = WHOLE_CALLS
    keys = frozenset({"name"})

    def recognises(self, item: Any) -> bool:
        """An object with a name, and nothing that a call of this board does not have."""
        return isinstance(item, dict) and isinstance(item.get("name"), str) and item.keys() <= _KEYS

    def read(self, item: Any, into: Assembly) -> None:
        """One call."""
        faults = _faults(item)
        if faults:
            raise Unreadable.of("This is not a call", faults)
        into.bare = True
        into.call(item["name"], item.get("arguments"), item.get("id"))

    def compose(self, calls: Sequence[AskedCall]) -> list[dict[str, Any]]:
        """The calls as objects."""
        return [
            {"name": call.name, "arguments": call.arguments} | ({"id": call.id} if call.id else {}) for call in calls
        ]

    def answer(self, answer: Answer, output: Any) -> dict[str, Any]:
        """The object for one result."""
        return _rendered(answer.result, output)

    def define(self, tool: Tool) -> dict[str, Any]:
        """Name, description and schemas."""
        definition: dict[str, Any] = {
            "name": tool.name,
            "description": tool.description or "",
            "input_schema": tool.input_schema,
        }
        if tool.output_schema is not None:
            definition["output_schema"] = tool.output_schema
        return definition


def _faults(payload: Any) -> list[Fault]:
    faults = []
    if not isinstance(payload, dict):
        return [Fault("", 'a call is an object {"name": …, "arguments": {…}, "id"?: …}')]
    name, identity = payload.get("name"), payload.get("id")
    if not isinstance(name, str) or not name:
        faults.append(Fault("name", "required: the name of a tool, a string"))
    if identity is not None and not isinstance(identity, str):
        faults.append(Fault("id", "a string, if given"))
    unknown = sorted(map(str, payload.keys() - _KEYS))[:MAX_FAULTS]
    return faults + [Fault(key[:100], f"unknown key; a call has {', '.join(sorted(_KEYS))}") for key in unknown]


def _rendered(result: ToolResult, output: Any) -> dict[str, Any]:
    answer: dict[str, Any] = {"success": result.success}
    if result.problem is None:
        answer["result"] = output
        if result.fallback:
            answer["fallback"] = True
    else:
        answer["error"] = result.problem.message
        answer["error_details"] = _details(result.problem)
    if result.ignored:
        answer["ignored"] = ignored_of(result)
    answer["tool_name"] = result.tool_name
    answer["execution_time_ms"] = result.elapsed_ms
    if result.call_id is not None:
        answer["id"] = result.call_id
    return answer


def _details(problem: Problem) -> dict[str, Any]:
    details: dict[str, Any] = {"type": problem.type, "code": problem.code}
    if problem.first is not None:
        details |= _field(problem.first)
        details["problems"] = [{"message": item.message, **_field(item)} for item in problem.problems]
    if problem.command is not None:
        details |= asdict(problem.command)
    if problem.sqlstate is not None:
        details["sqlstate"] = problem.sqlstate
    if problem.retry_after_ms is not None:
        details["retry_after_ms"] = problem.retry_after_ms
    return details


def _field(problem: FieldProblem) -> dict[str, Any]:
    given = {
        "code": problem.code,
        "field": problem.field,
        "expected": problem.expected,
        "received": problem.received,
    }
    return {key: value for key, value in given.items() if value is not None}
