"""Seed 004, its two tools, the compliance tests that all tools must pass, and what version 1.1 adds."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import CallContext, Pegboard
from pegboard.contract import check
from tests.seeds.seed_004 import KNOWN, UNKNOWN, Contract, ask, batch, call_valid, envelope, query, record
from tests.surfaces.rest.clients import client
from tests.surfaces.rest.streams import EVENTS, parsed

SEVERAL = tuple(f"{number:064x}" for number in range(7))


class TestQueryBaseline:
    """Tool Implementations, query_baseline."""

    async def test_1_the_baseline_is_queried_for_the_composite_hash(self, contract: Contract) -> None:
        await record(contract, KNOWN)
        assert (await call_valid(contract, query(KNOWN)))["composite_hash"] == KNOWN

    async def test_2_status_is_existing_if_found_and_new_if_not(self, contract: Contract) -> None:
        await record(contract, KNOWN)
        found = [(await ask(contract, query(each)))["status"] for each in (KNOWN, UNKNOWN)]
        assert found == ["existing", "new"]

    async def test_3_first_seen_ts_and_seen_count_are_included_if_existing(self, contract: Contract) -> None:
        for _ in range(3):
            await record(contract, KNOWN)
        payload = await call_valid(contract, query(KNOWN))
        assert payload["first_seen_ts"] is not None and payload["seen_count"] == 3

    async def test_queries_change_nothing(self, contract: Contract) -> None:
        assert [(await ask(contract, query(UNKNOWN)))["status"] for _ in range(3)] == ["new"] * 3


class TestBatchBaselineQuery:
    """Tool Implementations, batch_baseline_query."""

    @pytest.mark.parametrize("batch_size", [1, 2, 3, 100])
    async def test_1_findings_are_processed_in_batches_of_any_size(self, contract: Contract, batch_size: int) -> None:
        await record(contract, SEVERAL[3])
        results = (await call_valid(contract, batch(*SEVERAL, batch_size=batch_size)))["results"]
        assert [each["seen_count"] for each in results] == [0, 0, 0, 1, 0, 0, 0]

    async def test_2_results_for_all_findings_are_returned(self, contract: Contract) -> None:
        results = (await call_valid(contract, batch(*SEVERAL)))["results"]
        assert len(results) == len(SEVERAL)

    async def test_3_results_keep_the_order_of_the_input(self, contract: Contract) -> None:
        await record(contract, *SEVERAL[::2])
        for asked in (SEVERAL, SEVERAL[::-1], (KNOWN, *SEVERAL, KNOWN)):
            results = (await call_valid(contract, batch(*asked)))["results"]
            assert [each["composite_hash"] for each in results] == [*asked]
            assert [each["finding_id"] for each in results] == [f"finding-{place}" for place in range(len(asked))]

    async def test_status_is_existing_if_any_exists(self, contract: Contract) -> None:
        assert (await ask(contract, batch(*SEVERAL)))["status"] == "new"
        await record(contract, SEVERAL[-1])
        assert (await ask(contract, batch(*SEVERAL)))["status"] == "existing"

    async def test_a_batch_of_zero_is_refused(self, contract: Contract) -> None:
        answer = await ask(contract, batch(*SEVERAL, batch_size=0))
        assert answer["status"] == "error" and "batch_size" in answer["error_msg"]


class TestCompliance:
    """Testing, Contract Compliance Tests: schema, determinism, error handling, performance, ordering."""

    @pytest.mark.parametrize("request_of", [query, batch])
    async def test_the_tools_of_the_contract_pass_all_five(self, contract: Contract, request_of: Any) -> None:
        await record(contract, KNOWN)
        request = request_of(KNOWN)

        async def send(each: dict[str, Any]) -> Any:
            return await ask(contract, each)

        # Benchmarks check the speed; this test checks only that the times are reported.
        report = await check(send, request["tool_name"], request["args"], calls=3, p95_ms=60_000)
        assert [(test.name, test.outcome, test.failures) for test in report.tests if test.outcome != "skipped"] == [
            (test.name, "passed", ()) for test in report.tests if test.outcome != "skipped"
        ]
        assert {"schema", "determinism", "errors", "performance"} <= {
            test.name for test in report.tests if test.outcome == "passed"
        }

    async def test_the_ordering_of_batches_is_among_them(self, contract: Contract) -> None:
        async def send(each: dict[str, Any]) -> Any:
            return await ask(contract, each)

        report = await check(send, "batch_baseline_query", batch(*SEVERAL)["args"], calls=3, p95_ms=60_000)
        assert [test.outcome for test in report.tests if test.name == "ordering"] == ["passed"]


class TestVersions:
    """Version History, and the Future Extensions of version 1.1."""

    async def test_1_0_is_recognised(self, contract: Contract) -> None:
        assert (await ask(contract, query()))["version"] == "1.0"

    async def test_1_1_has_the_attempts_and_the_fallback(self, contract: Contract) -> None:
        answer = await ask(contract, query(version="1.1"))
        assert (answer["version"], answer["attempts"], answer["fallback"]) == ("1.1", 1, False)

    async def test_1_1_chains_calls_in_answer_and_journal(self, contract: Contract) -> None:
        chain = {"id": "nightly-scan", "step": "2"}
        assert (await ask(contract, query(version="1.1", chain=chain)))["chain"] == chain
        [row] = await contract.journal("query_baseline")
        assert row["chain_id"] == "nightly-scan"

    @pytest.mark.parametrize("fields", [{"chain": {"id": "c"}}, {"progress": True}])
    async def test_what_1_1_adds_is_an_extra_field_in_1_0(self, contract: Contract, fields: dict[str, Any]) -> None:
        answer = await ask(contract, query(**fields))
        assert answer["status"] == "error"
        assert (
            f"'{next(iter(fields))}' is not a field of this version of the envelope, version 1.1 has it"
            in answer["error_msg"]
        )

    async def test_1_1_streams_progress_of_a_long_running_tool(self, board: Pegboard) -> None:
        @board.tool
        async def scan(context: CallContext) -> dict[str, int]:
            """Report progress."""
            context.progress(1, 2, "half way")
            return {"found": 3}

        request = envelope("scan", {}, version="1.1", progress=True)
        async with client(board) as opened:
            response = parsed((await opened.post("/v1/calls?as=envelope", json=request, headers=EVENTS)).text)
            assert (await opened.post("/v1/calls", json=request)).json()["payload"] == {"found": 3}
        progress = [event.data for event in response if event.name == "tool_progress"]
        assert (progress[0]["progress"], progress[0]["total"], progress[0]["message"]) == (1, 2, "half way")
        assert response[-1].name == "complete" and response[-1].data["answer"]["payload"] == {"found": 3}

    async def test_tools_of_the_contract_answer_with_an_envelope_wherever_they_are_called(
        self, board: Pegboard
    ) -> None:
        async with client(board) as opened:
            route = "/v1/tools/query_baseline/call"
            answers = [await opened.post(route, json=query()["args"], headers={"Idempotency-Key": "k"}) for _ in "ab"]
        assert answers[0].content == answers[1].content
        answer = answers[0].json()
        assert (answer["status"], answer["tool_name"], answer["version"]) == ("new", "query_baseline", "1.0")
        assert answer["request_id"] == answers[0].headers["x-execution-id"]
