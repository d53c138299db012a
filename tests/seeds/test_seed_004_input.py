"""Seed 004, requests: the input schema, its fields and the rules of input validation."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.seeds.seed_004 import INPUT, UNKNOWN, Contract, ask, call_refused, call_valid, envelope, query

ID = "0190aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee"


class TestInputSchema:
    """Contract Schema, Input Schema and its field definitions."""

    async def test_a_request_in_the_seeds_format_is_answered(self, contract: Contract) -> None:
        request = query()
        assert tuple(request) == INPUT
        request["args"] |= {"additional_params": {}}
        assert (await ask(contract, request))["status"] == "new"

    @pytest.mark.parametrize("query_type", ["baseline_check", "first_seen", "frequency_count"])
    async def test_every_type_of_query_is_known(self, contract: Contract, query_type: str) -> None:
        request = query()
        assert await call_valid(contract, {**request, "args": {**request["args"], "query_type": query_type}})

    async def test_any_tool_on_the_board_can_be_called_through_the_envelope(self, contract: Contract) -> None:
        answer = await ask(contract, envelope("math_eval", {"expression": "6 * 7"}))
        assert (answer["status"], answer["payload"]["result"]) == ("new", 42)

    @pytest.mark.parametrize("missing", INPUT)
    async def test_a_missing_field_is_refused_by_name(self, contract: Contract, missing: str) -> None:
        request = query()
        del request[missing]
        assert f"{missing} is missing" in await call_refused(contract, request)

    async def test_a_field_that_the_schema_does_not_have_is_refused_by_name(self, contract: Contract) -> None:
        assert "'priority' is not a field" in await call_refused(contract, query(priority="high"))

    @pytest.mark.parametrize("field", INPUT)
    @pytest.mark.parametrize("value", [None, 5, True, []])
    async def test_a_field_of_the_wrong_type_is_refused_by_name(
        self, contract: Contract, field: str, value: Any
    ) -> None:
        assert f"{field} must be" in await call_refused(contract, query(**{field: value}))

    async def test_all_that_is_wrong_is_reported_at_once(self, contract: Contract) -> None:
        message = await call_refused(contract, {"tool_name": "query_baseline", "args": [], "version": "3.0", "more": 1})
        for words in ("request_id is missing", "timestamp is missing", "args must be", "'3.0' is not known", "'more'"):
            assert words in message

    async def test_several_requests_get_several_answers_in_their_order(self, contract: Contract) -> None:
        requests = [query(), query(request_id="none"), query()]
        text = await contract.board.run(requests)
        assert [answer["request_id"] for answer in text] == [request["request_id"] for request in requests]
        assert [answer["status"] for answer in text] == ["new", "error", "new"]


class TestInputValidation:
    """Validation Rules, Input Validation."""

    @pytest.mark.parametrize("name", ["", "x" * 101, "x" * 100_000])
    async def test_1_tool_name_must_be_a_non_empty_string_of_100_characters_at_most(
        self, contract: Contract, name: str
    ) -> None:
        assert "tool_name" in await call_refused(contract, query(tool_name=name))

    async def test_1_a_tool_with_a_longer_name_is_called_by_its_short_one(self, contract: Contract) -> None:
        name = "a_very_long_name_" * 10
        contract.board.tool(name=name)(lambda: 1)
        message = await call_refused(contract, envelope(name, {}))
        short = message.split("its alias '")[1].split("'")[0]
        assert await call_valid(contract, envelope(short, {})) == {"result": 1}

    @pytest.mark.parametrize(
        "request_id", ["", "1", "not-a-uuid", f"{ID}0", ID.replace("-", ""), f"{{{ID}}}", f"urn:uuid:{ID}"]
    )
    async def test_2_request_id_must_be_a_uuid(self, contract: Contract, request_id: str) -> None:
        assert "request_id must be a UUID" in await call_refused(contract, query(request_id=request_id))

    async def test_2_request_id_may_be_any_uuid_in_either_case(self, contract: Contract) -> None:
        for request_id in (ID.upper(), "00000000-0000-0000-0000-000000000000"):
            assert (await ask(contract, query(request_id=request_id)))["request_id"] == request_id

    @pytest.mark.parametrize(
        ("timestamp", "words"),
        [
            ("yesterday", "timestamp must be a time as ISO 8601"),
            ("2026-13-01T00:00:00Z", "there is no such date or time"),
            ("2026-01-01T00:00:00", "it has no zone"),
            ("1969-12-31T23:59:59Z", "timestamp must not be before 1970"),
            ("9999-12-31T23:59:59Z", "timestamp is in the future"),
            ("2026-01-01T00:00:00Z" * 1000, "it is not ISO 8601"),
        ],
    )
    async def test_3_timestamp_must_be_a_time_as_iso_8601(self, contract: Contract, timestamp: str, words: str) -> None:
        assert words in await call_refused(contract, query(timestamp=timestamp))

    async def test_3_timestamp_may_be_ahead_of_our_clock_by_five_minutes(self, contract: Contract) -> None:
        ahead = [(datetime.now(UTC) + timedelta(minutes=minutes)).isoformat() for minutes in (4, 6)]
        assert await call_valid(contract, query(timestamp=ahead[0]))
        assert "in the future" in await call_refused(contract, query(timestamp=ahead[1]))

    @pytest.mark.parametrize("missing", ["finding_id", "composite_hash", "query_type"])
    async def test_4_args_must_contain_the_fields_that_the_tool_requires(
        self, contract: Contract, missing: str
    ) -> None:
        request = query()
        del request["args"][missing]
        assert await call_refused(contract, request) == f"Invalid parameters: missing '{missing}'"

    @pytest.mark.parametrize("hashed", ["", "a" * 63, "a" * 65, "g" * 64])
    async def test_4_a_composite_hash_is_a_sha_256(self, contract: Contract, hashed: str) -> None:
        assert "composite_hash" in await call_refused(contract, query(hashed))

    async def test_4_args_of_another_tool_are_judged_by_that_tool(self, contract: Contract) -> None:
        message = await call_refused(contract, envelope("batch_baseline_query", query(UNKNOWN)["args"]))
        assert "missing 'finding_ids', 'composite_hashes'" in message

    @pytest.mark.parametrize("padding", ["x" * 1_100_000, [[0]] * 600_000])
    async def test_4_args_that_are_too_large_are_refused_in_an_envelope(self, contract: Contract, padding: Any) -> None:
        message = await call_refused(contract, envelope("echo", {"padding": padding}))
        assert "at most 1,048,576" in message or "more than 524,288 values" in message

    async def test_a_version_that_is_not_known_is_refused_by_name(self, contract: Contract) -> None:
        message = await call_refused(contract, query(version="2.0"))
        assert "version '2.0' is not known: 1.0 and 1.1 are supported" in message

    async def test_what_is_refused_is_recorded_without_its_arguments(self, contract: Contract) -> None:
        await call_refused(contract, query("5ecret" * 20, request_id="none"))
        [row] = await contract.journal("query_baseline")
        assert (row["status"], row["code"], row["dialect"]) == ("refused", "malformed_arguments", "envelope")
        assert "request_id must be a UUID" in row["error"] and "5ecret" not in str(row)
