"""The detailed dialect: answers with data or a typed error."""

from __future__ import annotations

from datetime import UTC, datetime

import orjson
import pytest

from pegboard import Problem, Tool, ToolResult
from pegboard.dialects.catalog import load_dialects
from pegboard.dialects.detailed import Detailed
from pegboard.model.api_errors import Invalid
from pegboard.model.call_errors import ErrorType, FieldProblem
from pegboard.model.tool import Kind
from tests.unit.dialects.rendering import answer_of, rendered

NOW = datetime(2026, 1, 2, tzinfo=UTC)
FIRST = FieldProblem("missing", "Field 'a' is required", "a", "string")
SECOND = FieldProblem("too_big", "Field 'b' is too big", "b", "at most 3", "4")


def failed(*problems: FieldProblem, wait: int | None = None) -> ToolResult:
    code = problems[0].code if problems else "rate_limited"
    kind = ErrorType.VALIDATION if problems else ErrorType.UNKNOWN
    return ToolResult("quote", False, problem=Problem(kind, code, "All of it", retry_after_ms=wait, problems=problems))


def test_a_success_is_its_data() -> None:
    result = ToolResult("quote", True, b"[1]")
    assert rendered(Detailed(), result) == {"success": True, "data": [1]}
    assert Detailed().render_json(answer_of(result)) == b'{"success":true,"data":[1]}'


def test_one_problem_leads_and_more_are_listed() -> None:
    one = rendered(Detailed(), failed(FIRST))
    assert one["error"] == {
        "type": "VALIDATION_ERROR",
        "message": "Field 'a' is required",
        "details": {"code": "missing", "field": "a", "expected": "string"},
    }
    two = rendered(Detailed(), failed(FIRST, SECOND))
    assert [problem["field"] for problem in two["error"]["details"]["problems"]] == ["a", "b"]
    assert orjson.loads(Detailed().render_json(answer_of(failed(FIRST, SECOND)))) == two


def test_other_errors_have_their_message_and_when_to_return() -> None:
    assert rendered(Detailed(), failed(wait=20))["error"] == {
        "type": "UNKNOWN_ERROR",
        "message": "All of it",
        "details": {"code": "rate_limited", "retry_after_ms": 20},
    }


def test_it_has_no_calls_of_its_own() -> None:
    with pytest.raises(Invalid, match="format for answers only"):
        load_dialects().read({"name": "echo"}, "detailed")


def test_a_tool_is_declared_by_id() -> None:
    tool = Tool("id", "o", "quote", Kind.MOCK, {}, {"type": "object"}, NOW, NOW)
    assert Detailed().define(tool) == {"id": "quote", "description": "", "inputSchema": {"type": "object"}}


def test_the_catalog_knows_each_by_name_and_lists_them_for_an_unknown_one() -> None:
    known = load_dialects()
    assert known.named("detailed", "as").name == "detailed"
    with pytest.raises(Invalid, match=r"Unknown dialect 'x' in \?as=\. GET /v1/dialects lists all\."):
        known.named("x", "as")
