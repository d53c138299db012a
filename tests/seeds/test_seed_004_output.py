"""Seed 004, responses: the output schema, the rules of output validation, and idempotent request ids."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.seeds.seed_004 import (
    KNOWN,
    OUTPUT,
    UNKNOWN,
    Contract,
    ask,
    batch,
    envelope,
    query,
    record,
    remove_variable_fields,
)

PAYLOAD = ("finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score")
# One request for each way in which a call can end.
ENDS: dict[str, dict[str, Any]] = {
    "good": query(),
    "batch": batch(UNKNOWN, KNOWN),
    "any tool": envelope("echo", {"a": 1}),
    "bad envelope": query(request_id="none"),
    "bad arguments": envelope("query_baseline", {}),
    "no such tool": envelope("nothing", {}),
    "a tool that fails": envelope("math_eval", {"expression": "1 / 0"}),
}


@pytest.fixture(params=ENDS)
async def exchange(request: pytest.FixtureRequest, contract: Contract) -> tuple[dict[str, Any], dict[str, Any]]:
    """Send a request and return the response."""
    asked = {**ENDS[request.param], "timestamp": datetime.now(UTC).isoformat()}
    return asked, await ask(contract, asked)


Exchange = tuple[dict[str, Any], dict[str, Any]]


class TestOutputSchema:
    """Contract Schema, Output Schema and its field definitions."""

    async def test_an_answer_has_the_fields_of_the_schema_and_no_others(self, exchange: Exchange) -> None:
        assert tuple(exchange[1]) == OUTPUT

    async def test_tool_name_and_request_id_echo_the_request(self, exchange: Exchange) -> None:
        asked, answer = exchange
        assert (answer["tool_name"], answer["request_id"]) == (asked["tool_name"], asked["request_id"])

    async def test_version_is_that_of_the_request(self, exchange: Exchange) -> None:
        assert exchange[1]["version"] == "1.0"

    async def test_the_payload_of_a_finding_that_is_new(self, contract: Contract) -> None:
        answer = await ask(contract, query(UNKNOWN))
        assert answer["status"] == "new"
        assert answer["payload"] == dict(zip(PAYLOAD, ("finding-1", UNKNOWN, None, 0, "new", 1.0), strict=True))

    async def test_the_payload_of_a_finding_that_exists(self, contract: Contract) -> None:
        await record(contract, KNOWN, KNOWN)
        answer = await ask(contract, query(KNOWN))
        payload = answer["payload"]
        assert answer["status"] == "existing"
        assert tuple(payload) == PAYLOAD
        assert datetime.fromisoformat(payload["first_seen_ts"]).tzinfo is not None
        assert (payload["seen_count"], payload["baseline_status"]) == (2, "recurring")
        assert 0.0 <= payload["confidence_score"] <= 1.0


class TestOutputValidation:
    """Validation Rules, Output Validation."""

    async def test_1_status_is_new_existing_or_error(self, exchange: Exchange) -> None:
        assert exchange[1]["status"] in ("new", "existing", "error")

    async def test_2_payload_is_present_unless_status_is_error(self, exchange: Exchange) -> None:
        _, answer = exchange
        assert isinstance(answer["payload"], dict) == (answer["status"] != "error")
        assert (answer["payload"] is None) == (answer["status"] == "error")

    async def test_3_error_msg_is_present_if_status_is_error_and_null_otherwise(self, exchange: Exchange) -> None:
        _, answer = exchange
        assert bool(answer["error_msg"]) == (answer["status"] == "error")
        assert (answer["error_msg"] is None) == (answer["status"] != "error")

    async def test_4_processing_time_ms_is_a_positive_integer(self, exchange: Exchange) -> None:
        took = exchange[1]["processing_time_ms"]
        assert type(took) is int and took >= 1

    async def test_5_timestamp_is_iso_8601_and_after_that_of_the_request(self, exchange: Exchange) -> None:
        asked, answer = exchange
        assert datetime.fromisoformat(answer["timestamp"]) > datetime.fromisoformat(asked["timestamp"])

    async def test_5_also_where_the_clock_of_a_caller_who_asks_is_ahead(self, contract: Contract) -> None:
        ahead = datetime.now(UTC) + timedelta(minutes=4)
        answer = await ask(contract, query(timestamp=ahead.isoformat()))
        assert answer["status"] == "new" and datetime.fromisoformat(answer["timestamp"]) > ahead


class TestRepeats:
    """A request_id makes a call idempotent, and the same input has the same output."""

    async def test_a_repeat_gets_the_first_answer_byte_for_byte(self, contract: Contract) -> None:
        request = envelope("record_findings", {"findings": [{"finding_id": "f", "composite_hash": KNOWN}]})
        first = await contract.text(request)
        assert [await contract.text(request) for _ in range(3)] == [first] * 3
        assert (await ask(contract, query(KNOWN)))["payload"]["seen_count"] == 1

    async def test_repeats_at_the_same_time_run_once_and_get_one_answer(self, contract: Contract) -> None:
        runs: list[int] = []
        contract.board.tool(name="once")(lambda: runs.append(1))
        request = envelope("once", {})
        texts = await asyncio.gather(*[contract.text(request) for _ in range(5)])
        assert (len(set(texts)), runs) == (1, [1])

    async def test_other_arguments_under_the_same_id_are_refused(self, contract: Contract) -> None:
        request = query(UNKNOWN)
        await ask(contract, request)
        answer = await ask(contract, {**request, "args": {**request["args"], "finding_id": "other"}})
        assert answer["status"] == "error" and "idempotency key was used" in answer["error_msg"]

    @pytest.mark.parametrize("name", ["good", "batch", "any tool", "bad arguments", "a tool that fails"])
    async def test_the_same_input_twice_differs_in_ids_and_times_alone(self, contract: Contract, name: str) -> None:
        await record(contract, KNOWN)
        asked = [envelope(ENDS[name]["tool_name"], ENDS[name]["args"]) for _ in range(2)]
        one, other = [await contract.text(request) for request in asked]
        assert one != other
        assert remove_variable_fields(one) == remove_variable_fields(other)
