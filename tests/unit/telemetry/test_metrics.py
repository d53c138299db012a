"""The Prometheus metrics of contract violations."""

from __future__ import annotations

import pytest

from pegboard.telemetry.metrics import Metrics
from pegboard.testing import memory_board
from tests.board_surfaces import KEY
from tests.surfaces.rest.clients import bearer, client


def test_violations_are_counted_by_kind() -> None:
    metrics = Metrics()
    metrics.count_violations("http", 3)
    metrics.count_violations("mock", 1)
    metrics.count_violations("http", 1)
    text = metrics.text().decode()
    assert 'pegboard_contract_violations_total{kind="http"} 4.0' in text
    assert 'pegboard_contract_violations_total{kind="mock"} 1.0' in text


@pytest.mark.parametrize("answer", [{"n": 1}, {"n": "no number"}], ids=["a good answer", "a broken contract"])
async def test_metrics_name_no_tool(answer: object) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    async with memory_board(admin_key=KEY) as board, client(board, None) as stranger:
        definition = {"name": "merger_with_acme", "tool_type": "mock", "config": {"mock_response": answer}}
        await board.add({**definition, "input_schema": {"type": "object"}, "output_schema": schema})
        for name in ("merger_with_acme", "merger_with_nobody"):
            called = await stranger.post(f"/v1/tools/{name}/call", json={}, headers=bearer(KEY))
            assert called.status_code == 200
        message = (await stranger.get("/metrics")).text
    assert "pegboard_calls_total" in message
    assert "merger" not in message
