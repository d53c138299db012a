"""Calling tools over HTTP: invalid arguments, batches, forms of responses, and their rows."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from dirty_equals import IsFloat, IsPartialDict, IsUUID

from pegboard import Pegboard
from pegboard.testing import calls_of
from tests.surfaces.rest.clients import client, good, mock, new_user, problem, walked

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 2},
        "days": {"type": "integer", "minimum": 1, "maximum": 7},
        "unit": {"enum": ["celsius", "kelvin"]},
        "place": {"type": "object", "properties": {"lat": {"type": "number"}}, "required": ["lat"]},
    },
    "required": ["city"],
}


async def call_tool(speaker: httpx.AsyncClient, tool: str, body: Any = None, **params: str) -> dict[str, Any]:
    answer: dict[str, Any] = good(await speaker.post(f"/v1/tools/{tool}/call", json=body, params=params))
    return answer


class TestBadArguments:
    async def test_arguments_that_are_no_object(self, admin: httpx.AsyncClient) -> None:
        for content, kind in ((b"[]", "an array"), (b'"x"', "a string"), (b"3", "a number"), (b"null", "null")):
            answer = good(await admin.post("/v1/tools/echo/call", content=content))
            assert answer["error"] == f"Arguments must be a JSON object, but received {kind}"
            assert answer["error_details"] == {"type": "VALIDATION_ERROR", "code": "malformed_arguments"}

    async def test_arguments_that_are_too_deep(self, admin: httpx.AsyncClient) -> None:
        def nested(levels: int) -> bytes:
            return b'{"a": ' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"

        assert good(await admin.post("/v1/tools/echo/call", content=nested(64)))["success"]
        answer = good(await admin.post("/v1/tools/echo/call", content=nested(65)))
        assert answer["error_details"]["code"] == "malformed_arguments"
        assert "at most 64 levels" in answer["error"]

    async def test_an_integer_beyond_64_bits_is_never_silently_a_float(self, admin: httpx.AsyncClient) -> None:
        for digits in ("18446744073709551615", "-9223372036854775808"):
            content = b'{"n": %s}' % digits.encode()
            answer = await admin.post("/v1/tools/echo/call", content=content)
            assert f'"n":{digits}' in answer.text
        for digits in ("18446744073709551616", "-9223372036854775809", "1" + "0" * 400):
            answer = good(await admin.post("/v1/tools/echo/call", content=b'{"n": %s}' % digits.encode()))
            assert answer["error_details"]["field"] == "n"
            assert answer["error_details"]["code"] in ("too_big", "too_small")

    async def test_several_faults_at_once_are_all_listed(self, admin: httpx.AsyncClient, board: Pegboard) -> None:
        await board.add(mock("weather", input_schema=SCHEMA))
        answer = await call_tool(admin, "weather", {"days": 9, "unit": "rankine", "place": {"lat": "north"}})
        assert answer == IsPartialDict(success=False, tool_name="weather", execution_time_ms=IsFloat)
        assert answer["error"].startswith("Invalid parameters: missing 'city'; ")
        details = answer["error_details"]
        assert (details["type"], details["code"], details["field"]) == ("VALIDATION_ERROR", "missing", "city")
        found = {problem["field"]: problem["code"] for problem in details["problems"]}
        assert found == {
            "city": "missing",
            "days": "too_big",
            "place.lat": "invalid_type",
            "unit": "invalid_enum_value",
        }
        assert all(
            problem["message"] in answer["error"] for problem in details["problems"] if problem["code"] != "missing"
        )

    async def test_nested_and_several_missing_are_named_by_path(
        self, admin: httpx.AsyncClient, board: Pegboard
    ) -> None:
        await board.add(mock("weather", input_schema=SCHEMA))
        assert (await call_tool(admin, "weather", {"place": {}}))[
            "error"
        ] == "Invalid parameters: missing 'city', 'place.lat'"

    async def test_unknown_parameters_are_dropped_or_refused_as_the_tool_says(
        self, admin: httpx.AsyncClient, board: Pegboard
    ) -> None:
        operation = {"tool_type": "builtin", "config": {"operation": "echo"}}
        await board.add(mock("lenient", input_schema=SCHEMA, **operation))
        await board.add(mock("strict", input_schema=SCHEMA, unknown_parameters="reject", **operation))
        await board.add(mock("closed", input_schema={**SCHEMA, "additionalProperties": False}, **operation))
        await board.add(mock("open", input_schema={**SCHEMA, "additionalProperties": True}, **operation))
        given = {"city": "Oslo", "citty": "Oslo"}
        assert (await call_tool(admin, "lenient", given))["result"] == {"echo": {"city": "Oslo"}}
        for tool in ("strict", "closed"):
            details = (await call_tool(admin, tool, given))["error_details"]
            assert (details["code"], details["field"]) == ("unrecognized_keys", "citty")
        assert (await call_tool(admin, "open", given))["result"] == {"echo": given}

    async def test_a_default_is_filled_in_for_an_absent_parameter(
        self, admin: httpx.AsyncClient, board: Pegboard
    ) -> None:
        schema = {"type": "object", "properties": {"unit": {"type": "string", "default": "kelvin"}}}
        await board.add(mock("unit", input_schema=schema, tool_type="builtin", config={"operation": "echo"}))
        assert (await call_tool(admin, "unit", {}))["result"] == {"echo": {"unit": "kelvin"}}
        assert (await call_tool(admin, "unit", {"unit": "celsius"}))["result"] == {"echo": {"unit": "celsius"}}


class TestAnswers:
    async def test_names_resolve_in_any_case_by_id_and_are_answered_as_called(
        self, admin: httpx.AsyncClient, board: Pegboard
    ) -> None:
        tool = await board.add(mock("Quote"))
        for ref in ("quote", "QUOTE", tool.id):
            assert await call_tool(admin, ref) == IsPartialDict(success=True, tool_name=ref)
        assert {call.tool_name for call in await calls_of(board)} == {"Quote"}
        for odd in ("a%20b", "%00", "é", "x" * 3000):
            assert good(await admin.post(f"/v1/tools/{odd}/call"))["error_details"]["code"] == "tool_not_found"
        assert len(await calls_of(board)) == 7

    async def test_the_answers_shape_is_the_tools_own_or_the_one_asked_for(
        self, admin: httpx.AsyncClient, board: Pegboard
    ) -> None:
        await board.add(
            mock("detailed_tool", result_style="detailed", input_schema={"type": "object", "required": ["a"]})
        )
        assert await call_tool(admin, "detailed_tool", {"a": 1}) == {"success": True, "data": 1}
        refused = await call_tool(admin, "detailed_tool", {})
        assert (refused["success"], refused["error"]["type"]) == (False, "VALIDATION_ERROR")
        assert refused["error"]["details"] == IsPartialDict(code="missing", field="a")
        assert (await call_tool(admin, "detailed_tool", {"a": 1}, **{"as": "plain"}))["result"] == 1
        assert await call_tool(admin, "echo", {"b": 2}, **{"as": "detailed"}) == {
            "success": True,
            "data": {"echo": {"b": 2}},
        }

    async def test_a_failed_call_is_no_http_error(self, admin: httpx.AsyncClient, board: Pegboard) -> None:
        await board.add(mock("slow", rate_limit={"max_calls": 1, "period": "hour"}))
        await call_tool(admin, "slow")
        for tool, body, code in (
            ("nonesuch", {}, "tool_not_found"),
            ("slow", {}, "rate_limited"),
            ("math_eval", {}, "missing"),
            ("math_eval", {"expression": "1/0"}, "execution_failed"),
        ):
            assert (await call_tool(admin, tool, body))["error_details"]["code"] == code


class TestBatches:
    async def test_an_object_for_an_object_and_a_list_for_a_list_in_order(self, admin: httpx.AsyncClient) -> None:
        one = good(await admin.post("/v1/calls", json={"name": "echo", "arguments": {"n": 1}, "id": "c1"}))
        assert one == IsPartialDict(success=True, result={"echo": {"n": 1}}, tool_name="echo", id="c1")
        calls = [{"name": "echo", "arguments": {"n": n}, "id": str(n)} for n in range(20)] + [{"name": "nonesuch"}]
        many = good(await admin.post("/v1/calls", json=calls))
        assert [answer.get("id") for answer in many] == [*map(str, range(20)), None]
        assert [answer["success"] for answer in many] == [True] * 20 + [False]
        assert good(await admin.post("/v1/calls", json=[])) == []
        assert good(await admin.post("/v1/calls?as=detailed", json=[calls[0]])) == [
            {"success": True, "data": {"echo": {"n": 0}}}
        ]

    @pytest.mark.parametrize(
        ("body", "field"),
        [
            ({"arguments": {}}, "name"),
            ({"name": ""}, "name"),
            ({"name": 3}, "name"),
            ({"name": "echo", "id": 3}, "id"),
            ({"name": "echo", "parameter": {}}, "parameter"),
            ([{"name": "echo"}, {"nam": "echo"}], "1.name"),
            ([3], "0"),
            ("echo", ""),
        ],
    )
    async def test_what_is_not_a_call_is_refused_and_nothing_runs(
        self, admin: httpx.AsyncClient, board: Pegboard, body: Any, field: str
    ) -> None:
        found = problem(await admin.post("/v1/calls", json=body), 422)
        assert field in [fault["field"] for fault in found["errors"]]
        assert await calls_of(board) == []

    async def test_too_many_calls_at_once_are_refused(self, admin: httpx.AsyncClient, board: Pegboard) -> None:
        answer = await admin.post("/v1/calls", json=[{"name": "echo"}] * 101)
        assert "101 calls in one payload, at most 100" in problem(answer, 422)["detail"]
        assert await calls_of(board) == []

    async def test_answers_cannot_be_sent_as_calls(self, admin: httpx.AsyncClient) -> None:
        assert "format for answers only" in problem(await admin.post("/v1/calls?from=detailed", json={}), 422)["detail"]


class TestDefinitions:
    async def test_a_tool_is_declared_in_each_dialect(self, admin: httpx.AsyncClient, board: Pegboard) -> None:
        await board.add(mock("weather", description="Rain?", input_schema=SCHEMA, output_schema={"type": "integer"}))
        assert good(await admin.get("/v1/tools/weather/definition")) == {
            "name": "weather",
            "description": "Rain?",
            "input_schema": SCHEMA,
            "output_schema": {"type": "integer"},
        }
        assert good(await admin.get("/v1/tools/weather/definition?as=detailed")) == {
            "id": "weather",
            "description": "Rain?",
            "inputSchema": SCHEMA,
        }
        names = [tool["name"] for tool in good(await admin.get("/v1/definitions"))]
        assert names == sorted(names)
        assert "weather" in names
        recognised = [each["name"] for each in good(await admin.get("/v1/dialects"))]
        assert {"plain", "detailed", "openai_chat", "anthropic_messages", "mcp"} <= set(recognised)


class TestExecutions:
    async def test_a_row_has_the_caller_the_tool_and_the_status(
        self, admin: httpx.AsyncClient, board: Pegboard
    ) -> None:
        user_id, key = await new_user(admin, "ada")
        tool = await board.add(mock(is_public=True, keep_arguments=True))
        async with client(board, key) as ada:
            await call_tool(ada, "quote", {"n": 1})
            (row,) = await walked(ada, "/v1/executions")
        assert row == {
            "id": IsUUID,
            "tool_name": "quote",
            "tool_id": tool.id,
            "tool_version": 1,
            "kind": "mock",
            "caller": "ada",
            "caller_id": user_id,
            "key_id": IsUUID,
            "agent_id": None,
            "surface": "rest",
            "dialect": "plain",
            "request_id": IsUUID,
            "status": "succeeded",
            "code": None,
            "error": None,
            "arguments_digest": row["arguments_digest"],
            "arguments": {"n": 1},
            "row_id": None,
            "attempts": 1,
            "elapsed_ms": IsFloat(ge=0),
            "started_at": row["started_at"],
            "finished_at": row["finished_at"],
            "chain_id": None,
            "thread_id": None,
            "repeat_of": None,
            "result": None,
            "printed": None,
            "tries": None,
        }
        assert len(row["arguments_digest"]) == 32
        assert row["started_at"] <= row["finished_at"]

    async def test_arguments_are_kept_only_if_the_tool_asks_for_it(
        self, admin: httpx.AsyncClient, board: Pegboard
    ) -> None:
        await board.add(mock())
        for body in ({"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1, "b": 3}):
            await call_tool(admin, "quote", body)
        rows = await calls_of(board)
        assert [row.arguments for row in rows] == [None, None, None]
        first, second, third = [row.arguments_digest for row in rows]
        assert first == second != third

    async def test_results_are_kept_only_if_the_tool_asks_for_it_and_not_large_ones(
        self, admin: httpx.AsyncClient, board: Pegboard
    ) -> None:
        await board.add(mock("keeps", keep_result=True, config={"mock_response": {"ü": [None, 1.5]}}))
        await board.add(mock("null", keep_result=True, config={"mock_response": None}))
        await board.add(mock("fails", keep_result=True, output_schema={"type": "string"}))
        await board.add(mock("large", keep_result=True, config={"mock_response": "x" * 65 * 1024}))
        await board.add(mock())
        for tool in ("keeps", "null", "fails", "large", "quote"):
            await call_tool(admin, tool, {})
        rows = {row["tool_name"]: row["result"] for row in await walked(admin, "/v1/executions")}
        assert rows == {"keeps": {"ü": [None, 1.5]}, "null": None, "fails": None, "large": None, "quote": None}
