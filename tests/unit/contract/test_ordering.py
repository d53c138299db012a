"""Detection of tools that accept many inputs at once, and the tests for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pegboard.contract.compliance_check import run_ordering_test
from pegboard.contract.compliance_report import Test
from pegboard.contract.send_envelope import EnvelopeSender


async def outcome(arguments: Mapping[str, Any], tool: Any, schema: Mapping[str, Any] | None = None) -> Test:
    """Return the report on a tool with this function of its arguments."""

    async def send(envelope: dict[str, Any]) -> Any:
        return {"payload": tool(**envelope["args"])}

    asker = EnvelopeSender(send, "it", 5)
    return await run_ordering_test(asker, await asker.send_valid(arguments), schema)


def doubled(items: list[int], **_more: Any) -> dict[str, Any]:
    """Each number twice as large."""
    return {"results": [2 * item for item in items]}


@pytest.mark.parametrize(
    ("arguments", "tool", "why"),
    [
        ({"city": "Oslo"}, lambda city: {"sky": city}, "not a batch tool"),
        ({"items": [1, 2, 3]}, lambda items: {"sum": sum(items)}, "not a batch tool"),
        ({"items": [1, 2]}, doubled, "2 inputs show little"),
        ({"items": [5, 5, 5]}, doubled, "all results are the same"),
    ],
)
async def test_what_says_nothing_about_order_is_skipped(arguments: dict[str, Any], tool: Any, why: str) -> None:
    test = await outcome(arguments, tool)
    assert test.outcome == "skipped"
    assert why in test.detail


async def test_lists_that_belong_together_are_moved_together() -> None:
    def paired(ids: list[str], hashes: list[int]) -> dict[str, Any]:
        return {"results": [f"{each}:{hash_}" for each, hash_ in zip(ids, hashes, strict=True)]}

    assert (await outcome({"ids": ["a", "b", "c"], "hashes": [1, 2, 3]}, paired)).outcome == "passed"


async def test_a_tool_whose_order_depends_on_the_batch_size_is_found() -> None:
    def batched(items: list[int], batch_size: int = 100) -> dict[str, Any]:
        parts = [items[place : place + batch_size] for place in range(0, len(items), batch_size)]
        return {"results": [item for part in reversed(parts) for item in part]}

    schema = {"type": "object", "properties": {"batch_size": {"type": "integer", "minimum": 1}}}
    assert (await outcome({"items": [1, 2, 3, 4]}, batched)).outcome == "passed"
    test = await outcome({"items": [1, 2, 3, 4]}, batched, schema)
    assert test.outcome == "failed"
    assert "a batch_size of 1" in test.failures[0].expected


async def test_sizes_that_the_schema_does_not_allow_are_not_tried() -> None:
    def at_least_three(items: list[int]) -> dict[str, Any]:
        assert len(items) >= 3
        return doubled(items)

    schema = {"type": "object", "properties": {"items": {"type": "array", "minItems": 3}}}
    assert (await outcome({"items": [1, 2, 3, 4]}, at_least_three, schema)).outcome == "passed"
    assert (await outcome({"items": [1, 2, 3, 4]}, at_least_three)).outcome == "failed"
