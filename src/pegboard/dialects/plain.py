"""The board's own dialect: `{name, arguments, id?}` in, `{success, result | error, …}` out."""

from __future__ import annotations

from typing import Any

from pegboard.core.call import ToolResult
from pegboard.core.errors import FieldProblem, Problem
from pegboard.core.refusals import Fault, Invalid
from pegboard.core.tool import Tool
from pegboard.dialects.base import Answers, Asked, AskedCall

_KEYS = {"name", "arguments", "id"}


class Plain(Answers):
    """One object a call, one object an answer."""

    name = "plain"
    abilities: tuple[str, ...] = ("parse", "render", "define")

    def parse(self, payload: Any) -> Asked:
        """One call for an object, several for a list."""
        if isinstance(payload, list):
            return Asked(tuple(_call(item, f"{place}.") for place, item in enumerate(payload)), many=True)
        return Asked((_call(payload, ""),), many=False)

    def answer(self, result: ToolResult, output: Any) -> dict[str, Any]:
        """The object for one result."""
        return _rendered(result, output)

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


def _call(payload: Any, at: str) -> AskedCall:
    faults = []
    if not isinstance(payload, dict):
        raise Invalid.of(
            "This is not a call", [Fault(at.rstrip("."), 'a call is an object {"name": …, "arguments": {…}, "id"?: …}')]
        )
    name, identity = payload.get("name"), payload.get("id")
    if not isinstance(name, str) or not name:
        faults.append(Fault(f"{at}name", "required: the name of a tool, a string"))
    if identity is not None and not isinstance(identity, str):
        faults.append(Fault(f"{at}id", "a string, if given"))
    faults += [
        Fault(f"{at}{key}", f"unknown key; a call has {', '.join(sorted(_KEYS))}") for key in payload.keys() - _KEYS
    ]
    if faults:
        raise Invalid.of("This is not a call", faults)
    arguments = payload.get("arguments")
    return AskedCall(str(name), {} if arguments is None else arguments, identity)


def _rendered(result: ToolResult, output: Any) -> dict[str, Any]:
    answer: dict[str, Any] = {"success": result.success}
    if result.problem is None:
        answer["result"] = output
        if result.fallback:
            answer["fallback"] = True
    else:
        answer["error"] = result.problem.message
        answer["error_details"] = _details(result.problem)
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
