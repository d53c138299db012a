"""The board's own dialect: requests `{name, arguments, id?}`, answers `{success, result | error, …}`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pegboard.dialects.base import WITHOUT_STREAM_AND_HISTORY, Answer, Answers, render_circumstances, render_ignored
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import AskedCall, Unreadable
from pegboard.model.api_errors import MAX_FAULTS, Fault
from pegboard.model.call import ToolResult
from pegboard.model.call_errors import FieldProblem, Problem
from pegboard.model.tool import Tool

_CALL_KEYS = {"name", "arguments", "id"}


class Plain(Answers):
    """One object per call, and one per answer."""

    name = "plain"
    abilities = WITHOUT_STREAM_AND_HISTORY
    keys = frozenset({"name"})

    def recognises(self, item: Any) -> bool:
        """Recognise an object with a name and no keys other than those of a plain call."""
        return isinstance(item, dict) and isinstance(item.get("name"), str) and item.keys() <= _CALL_KEYS

    def read(self, item: Any, into: Assembly) -> None:
        """Read one call; raise Unreadable if it is not one."""
        faults = _check_call(item)
        if faults:
            raise Unreadable.of("This is not a call", faults)
        into.bare = True
        into.call(item["name"], item.get("arguments"), item.get("id"))

    def compose(self, calls: Sequence[AskedCall]) -> list[dict[str, Any]]:
        return [
            {"name": call.name, "arguments": call.arguments} | ({"id": call.id} if call.id else {}) for call in calls
        ]

    def answer(self, answer: Answer, output: Any) -> dict[str, Any]:
        return _render_result(answer.result, output)

    def define(self, tool: Tool) -> dict[str, Any]:
        definition: dict[str, Any] = {
            "name": tool.name,
            "description": tool.description or "",
            "input_schema": tool.input_schema,
        }
        if tool.output_schema is not None:
            definition["output_schema"] = tool.output_schema
        return definition


def _check_call(payload: Any) -> list[Fault]:
    faults = []
    if not isinstance(payload, dict):
        return [Fault("", 'a call is an object {"name": …, "arguments": {…}, "id"?: …}')]
    name, identity = payload.get("name"), payload.get("id")
    if not isinstance(name, str) or not name:
        faults.append(Fault("name", "required: the name of a tool, a string"))
    if identity is not None and not isinstance(identity, str):
        faults.append(Fault("id", "a string, if given"))
    unknown = sorted(map(str, payload.keys() - _CALL_KEYS))[:MAX_FAULTS]
    return faults + [Fault(key[:100], f"unknown key; a call has {', '.join(sorted(_CALL_KEYS))}") for key in unknown]


def _render_result(result: ToolResult, output: Any) -> dict[str, Any]:
    answer: dict[str, Any] = {"success": result.success}
    if result.problem is None:
        answer["result"] = output
        if result.fallback:
            answer["fallback"] = True
    else:
        answer["error"] = result.problem.message
        answer["error_details"] = render_details(result.problem)
    if result.ignored:
        answer["ignored"] = render_ignored(result)
    answer["tool_name"] = result.tool_name
    answer["execution_time_ms"] = result.elapsed_ms
    if result.call_id is not None:
        answer["id"] = result.call_id
    return answer


def render_details(problem: Problem) -> dict[str, Any]:
    """Return the type and code of a problem, the fields of the arguments that it is about, and its circumstances."""
    details: dict[str, Any] = {"type": problem.type, "code": problem.code}
    if problem.first is not None:
        details |= _render_field_problem(problem.first)
        details["problems"] = [{"message": item.message, **_render_field_problem(item)} for item in problem.problems]
    return details | render_circumstances(problem)


def _render_field_problem(problem: FieldProblem) -> dict[str, Any]:
    given = {
        "code": problem.code,
        "field": problem.field,
        "expected": problem.expected,
        "received": problem.received,
    }
    return {key: value for key, value in given.items() if value is not None}
