"""Seed 004, error handling: violations are logged, retried, reported and replaced by fallbacks; tools that fail."""

from __future__ import annotations

from typing import Any

import pytest

from tests.seeds.seed_004 import PROMISE, Contract, answering, ask, call_valid, envelope
from tests.unit.dialects.rendering import answer_of

BROKEN, KEPT = {"n": "s3cret"}, {"n": 1}
RETRY = {"max_attempts": 4, "on": ["contract_violation"]}


def hang(contract: Contract, *outputs: Any, **fields: Any) -> None:
    """Register a tool that returns these outputs in turn and declares an integer."""
    contract.board.tool(name="counter", output_schema=PROMISE, **fields)(answering(*outputs))


async def row(contract: Contract, tool: str = "counter") -> dict[str, Any]:
    """Return the journal row of the only call of a tool."""
    [found] = await contract.journal(tool)
    return found


class TestContractViolations:
    """Error Handling, Contract Violations."""

    async def test_1_a_violation_is_logged_with_what_broke_and_without_values(
        self, contract: Contract, caplog: pytest.LogCaptureFixture
    ) -> None:
        hang(contract, BROKEN, KEPT, retry=RETRY)
        await call_valid(contract, envelope("counter", {}))
        [received] = [record.getMessage() for record in caplog.records if "contract_violation " in record.getMessage()]
        assert "tool=counter" in received and "attempt=1" in received and "'n' must be an integer" in received
        assert "s3cret" not in caplog.text

    async def test_1_violations_are_counted(self, contract: Contract) -> None:
        hang(contract, BROKEN, BROKEN, KEPT, retry=RETRY)
        await call_valid(contract, envelope("counter", {}))
        assert b'pegboard_contract_violations_total{kind="internal"} 2.0' in contract.board.metrics.text()

    async def test_2_the_request_is_retried_up_to_3_times_and_succeeds_on_the_fourth_attempt(
        self, contract: Contract
    ) -> None:
        hang(contract, BROKEN, BROKEN, BROKEN, KEPT, read_only=True)
        answer = await ask(contract, envelope("counter", {}, version="1.1"))
        assert (answer["status"], answer["payload"], answer["attempts"]) == ("new", KEPT, 4)
        found = await row(contract)
        assert (found["status"], found["attempts"]) == ("succeeded", 4)
        assert [(each["attempt"], each["code"]) for each in found["tries"]] == [
            (attempt, "contract_violation") for attempt in (1, 2, 3)
        ]
        assert all("'n' must be an integer" in each["error"] for each in found["tries"])
        assert all(each["elapsed_ms"] >= 0 for each in found["tries"]) and "s3cret" not in str(found)

    @pytest.mark.parametrize("fields", [{"read_only": True}, {"idempotent": True}, {"retry": RETRY}])
    async def test_3_if_all_retries_fail_the_call_is_marked_as_failed_after_exactly_four(
        self, contract: Contract, fields: dict[str, Any]
    ) -> None:
        hang(contract, *[BROKEN] * 4, KEPT, **fields)
        answer = await ask(contract, envelope("counter", {}, version="1.1"))
        assert (answer["status"], answer["attempts"]) == ("error", 4)
        assert "breaks its output schema" in answer["error_msg"]
        found = await row(contract)
        assert (found["status"], found["code"], found["attempts"]) == ("failed", "contract_violation", 4)
        assert [each["attempt"] for each in found["tries"]] == [1, 2, 3, 4]

    async def test_3_a_tool_with_effects_is_not_retried_unless_it_says_so(self, contract: Contract) -> None:
        hang(contract, BROKEN, KEPT)
        assert (await ask(contract, envelope("counter", {})))["status"] == "error"
        found = await row(contract)
        assert (found["attempts"], found["tries"]) == (1, None)

    @pytest.mark.parametrize("fallback", [{"value": {"n": 0}}, {"tool": "instead"}])
    async def test_4_the_workflow_continues_with_the_fallback_and_the_answer_says_so(
        self, contract: Contract, fallback: dict[str, Any]
    ) -> None:
        contract.board.tool(name="instead")(answering({"n": 0}))
        hang(contract, *[BROKEN] * 4, KEPT, read_only=True, fallback=fallback)
        answer = await ask(contract, envelope("counter", {}, version="1.1"))
        assert (answer["status"], answer["payload"]) == ("new", {"n": 0})
        assert (answer["attempts"], answer["fallback"]) == (4, True)
        found = await row(contract)
        assert (found["status"], found["attempts"], len(found["tries"])) == ("succeeded", 4, 4)
        assert len(await contract.journal("instead")) == ("tool" in fallback)

    async def test_4_after_one_attempt_too_the_journal_shows_what_was_fallen_back_from(
        self, contract: Contract
    ) -> None:
        hang(contract, BROKEN, fallback={"value": None})
        assert await call_valid(contract, envelope("counter", {})) == {"result": None}
        [tried] = (await row(contract))["tries"]
        assert (tried["attempt"], tried["code"]) == (1, "contract_violation")

    async def test_4_plain_and_detailed_answers_say_so_too(self, contract: Contract) -> None:
        hang(contract, BROKEN, fallback={"value": 7})
        for shape, expected in (("plain", "result"), ("detailed", "data")):
            answer = await contract.board.call("counter")
            received = contract.board.dialects[shape].render_json(answer_of(answer))
            assert b'"fallback":true' in received and f'"{expected}":7'.encode() in received

    @pytest.mark.parametrize(
        "definition",
        [
            {"tool_type": "mock", "config": {"mock_response": {"n": "one"}}},
            {"tool_type": "builtin", "config": {"operation": "echo"}},
        ],
    )
    async def test_the_contract_holds_for_every_kind(self, contract: Contract, definition: dict[str, Any]) -> None:
        await contract.board.add({"name": "kind", "input_schema": {}, "output_schema": PROMISE, **definition})
        answer = await ask(contract, envelope("kind", {}))
        assert answer["status"] == "error" and "output schema" in answer["error_msg"]


class TestToolFailures:
    """Error Handling, Tool Failures."""

    async def test_1_a_tool_that_fails_returns_status_error(self, contract: Contract) -> None:
        contract.board.tool(name="fails")(_fail)
        answer = await ask(contract, envelope("fails", {}))
        assert (answer["status"], answer["payload"]) == ("error", None)

    async def test_2_error_msg_is_descriptive(self, contract: Contract) -> None:
        contract.board.tool(name="fails")(_fail)
        assert (await ask(contract, envelope("fails", {})))["error_msg"] == "the disk is full"

    async def test_3_the_workflow_sees_the_error_as_data_and_continues(self, contract: Contract) -> None:
        contract.board.tool(name="fails")(_fail)
        requests = [envelope("fails", {}), envelope("nothing", {}), envelope("echo", {})]
        answers = [await ask(contract, request) for request in requests]
        assert [answer["status"] for answer in answers] == ["error", "error", "new"]


def _fail() -> None:
    raise OSError("the disk is full")
