"""Seed 001, the rules: names, JSON schemas and rate limits, through every surface."""

from __future__ import annotations

import keyword
from typing import Any

import pytest
from dirty_equals import IsInt, IsPartialDict
from hypothesis import given
from hypothesis import strategies as st

from pegboard import Pegboard, Refusal
from pegboard.model.tool import check_name, make_alias
from pegboard.testing import calls_of, member
from tests.board_surfaces import RequestRefused, Surface

LONGEST = "n" * 255
ANY_OBJECT: dict[str, Any] = {"type": "object"}


def mock(name: str = "quote", **more: Any) -> dict[str, Any]:
    base = {"name": name, "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": ANY_OBJECT}
    return {**base, **more}


def message(refused: pytest.ExceptionInfo[RequestRefused]) -> str:
    """Return the message of a refusal; a terminal may have wrapped it."""
    return " ".join(refused.value.message.split())


class TestNameValidation:
    """Validation Rules: Name Validation."""

    async def test_a_name_is_unique_without_regard_to_case(self, surface: Surface) -> None:
        made = await surface.create(mock("Get_Quote"))
        with pytest.raises(RequestRefused, match="A tool named 'get_quote' exists already"):
            await surface.create(mock("get_quote"))
        await surface.create(mock("other"))
        with pytest.raises(RequestRefused, match="A tool named 'GET_QUOTE' exists already"):
            await surface.change("other", {"name": "GET_QUOTE"})
        assert (await surface.change("get_quote", {"name": "GET_quote"}))["id"] == made["id"]
        answer = await surface.call("get_QUOTE")
        assert answer == IsPartialDict(success=True, tool_name="get_QUOTE")

    async def test_a_name_has_1_to_255_characters(self, surface: Surface) -> None:
        assert (await surface.create(mock(LONGEST)))["name"] == LONGEST
        for name in ("", LONGEST + "n"):
            with pytest.raises(RequestRefused) as refused:
                await surface.create(mock(name))
            assert f"name: a tool name has 1 to 255 characters, this one has {len(name)}" in message(refused)

    async def test_a_name_has_letters_digits_underscores_and_hyphens_only(self, surface: Surface) -> None:
        assert (await surface.create(mock("Aa-Zz_09")))["name"] == "Aa-Zz_09"
        for name in ("get quote", "get.quote", "café", "quote!", "a/b", "naïve", "a\nb", "quote\n", "ｆｕｌｌ"):
            with pytest.raises(RequestRefused) as refused:
                await surface.create(mock(name))
            assert "name: a tool name has ASCII letters, digits, underscores and hyphens only" in message(refused)

    async def test_a_name_cannot_start_with_a_number(self, surface: Surface) -> None:
        with pytest.raises(RequestRefused) as refused:
            await surface.create(mock("3d_print"))
        assert "name: a tool name cannot start with a number: '3d_print'" in message(refused)

    async def test_a_name_cannot_be_a_reserved_keyword(self, surface: Surface) -> None:
        for name in ("class", "None", "RETURN"):
            with pytest.raises(RequestRefused) as refused:
                await surface.create(mock(name))
            assert f"name: '{name}' is a reserved keyword" in message(refused)

    def test_every_keyword_of_python_is_reserved(self) -> None:
        for word in keyword.kwlist:
            with pytest.raises(ValueError, match="reserved keyword"):
                check_name(word)

    async def test_a_name_cannot_look_like_an_id(self, board: Pegboard) -> None:
        for name in ("abcdef12-0000-0000-0000-000000000000", "abcdef12000000000000000000000000"):
            with pytest.raises(Refusal, match="cannot look like an id"):
                await board.add(mock(name))

    @given(st.text(min_size=1, max_size=300))
    def test_an_accepted_name_keeps_every_rule(self, name: str) -> None:
        try:
            check_name(name)
        except ValueError as error:
            assert str(error)
            return
        assert 1 <= len(name) <= 255
        assert not name[0].isdigit()
        assert name.isascii()
        assert all(letter.isalnum() or letter in "_-" for letter in name)
        assert name.lower() not in {word.lower() for word in keyword.kwlist}

    async def test_a_long_name_has_an_alias_that_resolves_and_is_reserved(self, surface: Surface) -> None:
        made = await surface.create(mock(LONGEST))
        alias = make_alias(LONGEST)
        assert made["alias"] == alias
        assert alias is not None
        assert (await surface.call(alias))["success"]
        with pytest.raises(RequestRefused) as refused:
            await surface.create(mock(alias))
        assert f"A tool named '{alias}' exists already" in message(refused)
        await surface.remove(LONGEST)
        assert (await surface.create(mock(alias)))["name"] == alias
        with pytest.raises(RequestRefused) as refused:
            await surface.create(mock(LONGEST.upper()))
        assert "exists already" in message(refused)


class TestInputSchema:
    """JSON Schema Fields: Input Schema; Validation Rules: Schema Validation."""

    async def test_the_example_of_the_seed_decides_about_calls(self, surface: Surface) -> None:
        schema = {
            "type": "object",
            "properties": {
                "symbol": {"type": "string", "description": "Stock symbol"},
                "period": {"type": "string", "enum": ["1d", "1w", "1m", "3m"], "description": "Time period"},
            },
            "required": ["symbol"],
        }
        await surface.create(mock(input_schema=schema))
        assert (await surface.call("quote", {"symbol": "ACME", "period": "1w"}))["success"]
        assert (await surface.call("quote", {"period": "1w"}))["error"] == "Invalid parameters: missing 'symbol'"
        answer = await surface.call("quote", {"symbol": "ACME", "period": "2w"})
        assert answer["error_details"] == IsPartialDict(code="invalid_enum_value", field="period")
        assert "1d, 1w, 1m, 3m" in answer["error"]

    async def test_a_schema_that_is_not_draft_7_is_refused_where_it_is_wrong(self, surface: Surface) -> None:
        wrong: list[tuple[Any, str]] = [
            ({"type": "objekt"}, "$.type"),
            ({"type": "object", "properties": {"a": {"type": "int"}}}, "$.properties.a.type"),
            ({"type": "object", "required": "a"}, "$.required"),
            ({"type": "object", "properties": []}, "$.properties"),
            ({"type": "object", "properties": {"a": {"pattern": "("}}}, "$.properties.a.pattern"),
            ({"type": "string"}, "arguments are always an object"),
            ({"$schema": "http://json-schema.org/draft-04/schema#"}, "is not supported"),
        ]
        for schema, named in wrong:
            with pytest.raises(RequestRefused) as refused:
                await surface.create(mock(input_schema=schema))
            assert "input_schema:" in message(refused)
            assert named in message(refused)

    async def test_a_schema_is_an_object(self, surface: Surface) -> None:
        wrong: list[Any] = [True, [], "object", 3]
        for schema in wrong:
            with pytest.raises(RequestRefused, match="input_schema:"):
                await surface.create(mock(input_schema=schema))

    async def test_a_remote_reference_is_refused_always(self, surface: Surface) -> None:
        for address in ("https://example.com/s.json", "file:///etc/passwd", "other.json#/a", "//example.com/s"):
            for field in ("input_schema", "output_schema"):
                schema = {"type": "object", "properties": {"a": {"$ref": address}}}
                with pytest.raises(RequestRefused) as refused:
                    await surface.create({**mock(), field: schema})
                assert f"{field}: at $.properties.a.$ref" in message(refused)
                assert "is not local" in message(refused)

    async def test_a_catastrophic_pattern_ends_soon(self, surface: Surface) -> None:
        await surface.create(mock(input_schema={"type": "object", "properties": {"a": {"pattern": "^(a+)+$"}}}))
        answer = await surface.call("quote", {"a": "a" * 5000 + "!"})
        assert answer["success"] is False
        assert answer["execution_time_ms"] < 1000


class TestOutputSchema:
    """JSON Schema Fields: Output Schema."""

    async def test_the_example_of_the_seed_decides_about_results(self, surface: Surface) -> None:
        schema = {
            "type": "object",
            "properties": {"price": {"type": "number"}, "timestamp": {"type": "string", "format": "date-time"}},
            "required": ["price", "timestamp"],
        }
        good, bad = {"price": 1.5, "timestamp": "2026-01-02T03:04:05Z"}, {"price": "1.5", "timestamp": "yesterday"}
        await surface.create(mock(output_schema=schema, config={"mock_response": good}))
        assert (await surface.call("quote"))["result"] == good
        await surface.change("quote", {"config": {"mock_response": bad}})
        answer = await surface.call("quote")
        assert answer["error_details"]["code"] == "contract_violation"
        assert answer["error"].startswith("The tool's output breaks its output schema: ")
        assert all(field in answer["error"] for field in ("'price'", "'timestamp'"))

    async def test_it_is_optional_and_checked_like_the_other(self, surface: Surface) -> None:
        assert (await surface.create(mock()))["output_schema"] is None
        with pytest.raises(RequestRefused) as refused:
            await surface.change("quote", {"output_schema": {"type": "nothing"}})
        assert "output_schema: at $.type: must be one of: array, boolean" in message(refused)
        assert "but received 'nothing'" in message(refused)


class TestRateLimitStructure:
    """Rate Limiting Configuration."""

    async def test_max_calls_period_and_burst(self, surface: Surface) -> None:
        for period in ("hour", "minute", "second"):
            limit = {"max_calls": 100, "period": period, "burst": 10}
            made = await surface.create(mock(f"per_{period}", rate_limit=limit))
            assert made["rate_limit"] == {**limit, "scope": "caller"}

    async def test_wrong_limits_are_refused_by_their_path(self, board: Pegboard) -> None:
        good = {"max_calls": 100, "period": "hour"}
        wrong: list[tuple[dict[str, Any], str]] = [
            ({"period": "day"}, "rate_limit.period"),
            ({"max_calls": 0}, "rate_limit.max_calls"),
            ({"max_calls": 1.5}, "rate_limit.max_calls"),
            ({"burst": 0}, "rate_limit.burst"),
            ({"brust": 5}, "rate_limit.brust"),
            ({"scope": "board"}, "rate_limit.scope"),
        ]
        for change, named in wrong:
            with pytest.raises(Refusal, match=named):
                await board.add(mock(rate_limit={**good, **change}))
        for missing in good:
            with pytest.raises(Refusal, match=f"rate_limit.{missing}: required"):
                await board.add(mock(rate_limit={key: value for key, value in good.items() if key != missing}))

    async def test_the_burst_may_come_at_once_and_then_it_says_when_to_return(
        self, board: Pegboard, surface: Surface
    ) -> None:
        await surface.create(mock(rate_limit={"max_calls": 2, "period": "hour", "burst": 3}))
        assert all([(await surface.call("quote"))["success"] for _ in range(3)])
        answer = await surface.call("quote")
        assert answer["error"].startswith("Rate limit of 'quote' reached: 2 calls per hour; try again in 1800 s")
        wait = answer["error_details"]["retry_after_ms"]
        assert answer["error_details"] == IsPartialDict(type="UNKNOWN_ERROR", code="rate_limited")
        assert wait == IsInt(gt=1_700_000, le=1_800_000)
        assert [call.status for call in await calls_of(board, "quote")] == [*["succeeded"] * 3, "refused"]

    async def test_a_call_that_could_never_run_costs_nothing(self, surface: Surface) -> None:
        schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
        await surface.create(mock(input_schema=schema, rate_limit={"max_calls": 1, "period": "hour"}))
        for _ in range(5):
            assert (await surface.call("quote"))["error_details"]["code"] == "missing"
        assert (await surface.call("quote", {"a": 1}))["success"]
        assert (await surface.call("quote", {"a": 1}))["error_details"]["code"] == "rate_limited"

    async def test_a_limit_counts_each_caller_or_all_of_them(self, board: Pegboard) -> None:
        limit = {"max_calls": 1, "period": "hour"}
        await board.add(mock("each", is_public=True, rate_limit=limit))
        await board.add(mock("all", is_public=True, rate_limit={**limit, "scope": "tool"}))
        other_user = await member(board)
        for caller in (board.admin, other_user):
            assert (await board.call("each", caller=caller)).success
        assert (await board.call("all", caller=other_user)).success
        refused = await board.call("all")
        assert refused.problem is not None
        assert refused.problem.code == "rate_limited"
