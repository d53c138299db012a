"""Answers as `{success, data | error {type, message, details}}`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pegboard.core.call import ToolResult
from pegboard.core.errors import FieldProblem, Problem
from pegboard.core.tool import Tool
from pegboard.dialects.base import Answer, Answers, ignored_of


class Detailed(Answers):
    """An answer shape only: what comes in is plain."""

    name = "detailed"
    abilities = ("render", "define")

    def answer(self, answer: Answer, output: Any) -> dict[str, Any]:
        """The object for one result."""
        return _rendered(answer.result, output)

    def define(self, tool: Tool) -> dict[str, Any]:
        """As it stands: id, description and the schema under the names of its contract."""
        return {"id": tool.name, "description": tool.description or "", "inputSchema": tool.input_schema}


def _rendered(result: ToolResult, output: Any) -> dict[str, Any]:
    more = {"ignored": ignored_of(result)} if result.ignored else {}
    if result.problem is None:
        return {"success": True, "data": output} | ({"fallback": True} if result.fallback else {}) | more
    first = result.problem.first
    message = first.message if first is not None else result.problem.message
    return {
        "success": False,
        "error": {"type": result.problem.type, "message": message, "details": _details(result.problem)},
    } | more


def _details(problem: Problem) -> dict[str, Any]:
    details: dict[str, Any] = {"code": problem.code}
    if problem.first is not None:
        details |= _known(problem.first)
        details.pop("message")
    if len(problem.problems) > 1:
        details["problems"] = [_known(item) for item in problem.problems]
    if problem.command is not None:
        details |= asdict(problem.command)
    if problem.sqlstate is not None:
        details["sqlstate"] = problem.sqlstate
    if problem.retry_after_ms is not None:
        details["retry_after_ms"] = problem.retry_after_ms
    return details


def _known(problem: FieldProblem) -> dict[str, Any]:
    return {key: value for key, value in asdict(problem).items() if value is not None}
