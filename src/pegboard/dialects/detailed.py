"""Answers as `{success, data | error {type, message, details}}`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pegboard.dialects.base import Answer, Answers, render_circumstances, render_ignored
from pegboard.model.call import ToolResult
from pegboard.model.call_errors import FieldProblem, Problem
from pegboard.model.tool import Tool


class Detailed(Answers):
    """A format for answers only; requests are in the plain dialect."""

    name = "detailed"
    abilities = ("render", "define")

    def answer(self, answer: Answer, output: Any) -> dict[str, Any]:
        return _render_result(answer.result, output)

    def define(self, tool: Tool) -> dict[str, Any]:
        """Return the id, the description and the unchanged schema."""
        return {"id": tool.name, "description": tool.description or "", "inputSchema": tool.input_schema}


def _render_result(result: ToolResult, output: Any) -> dict[str, Any]:
    more = {"ignored": render_ignored(result)} if result.ignored else {}
    if result.problem is None:
        return {"success": True, "data": output} | ({"fallback": True} if result.fallback else {}) | more
    first = result.problem.first
    message = first.message if first is not None else result.problem.message
    return {
        "success": False,
        "error": {"type": result.problem.type, "message": message, "details": _render_details(result.problem)},
    } | more


def _render_details(problem: Problem) -> dict[str, Any]:
    details: dict[str, Any] = {"code": problem.code}
    if problem.first is not None:
        details |= _to_dict_without_none(problem.first)
        details.pop("message")
    if len(problem.problems) > 1:
        details["problems"] = [_to_dict_without_none(item) for item in problem.problems]
    return details | render_circumstances(problem)


def _to_dict_without_none(problem: FieldProblem) -> dict[str, Any]:
    return {key: value for key, value in asdict(problem).items() if value is not None}
