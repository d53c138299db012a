"""Statistics of each hour or day, over REST."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import httpx

from pegboard import Pegboard
from tests.surfaces.rest.clients import client, good, mock, new_user, problem

PATH = "/v1/executions/statistics"


async def test_the_series_is_beside_the_totals(stored_admin: httpx.AsyncClient) -> None:
    for expression in ("1 + 1", "1 / 0"):
        good(await stored_admin.post("/v1/tools/math_eval/call", json={"expression": expression}))
    good(await stored_admin.post("/v1/tools/echo/call", json={}))
    body = good(await stored_admin.get(PATH, params={"by": "hour"}))
    assert body["by"] == "hour"
    assert [tool["tool_name"] for tool in body["tools"]] == ["math_eval", "echo"]
    assert len(body["series"]) == 24
    starts = [datetime.fromisoformat(each["start"]) for each in body["series"]]
    assert starts == [datetime.fromisoformat(body["since"]) + number * timedelta(hours=1) for number in range(24)]
    assert [sum(each[name] for each in body["series"]) for name in ("calls", "succeeded", "failed")] == [3, 2, 1]
    days = good(await stored_admin.get(PATH, params={"by": "day", "tool": "echo"}))
    assert sum(each["calls"] for each in days["series"]) == 1
    assert all(each["start"].endswith("T00:00:00Z") for each in days["series"])


async def test_compact_has_arrays_of_several_tools_in_one_answer(stored_admin: httpx.AsyncClient) -> None:
    tool = good(await stored_admin.post("/v1/tools", json=mock("quote")), 201)
    for name in ("quote", "quote", "echo"):
        good(await stored_admin.post(f"/v1/tools/{name}/call", json={}))
    wanted = ["ECHO", tool["id"], "echo", "nonesuch"]
    body = good(await stored_admin.get(PATH, params={"compact": True, "tool": wanted}))
    assert (body["by"], len(body["starts"])) == ("hour", 24)
    assert [(each["tool_name"], sum(each["calls"])) for each in body["tools"]] == [
        ("echo", 1),
        ("quote", 2),
        ("nonesuch", 0),
    ]
    for each in body["tools"]:
        assert set(each) == {"tool_name", "calls", "succeeded", "p95_ms"}
        assert {len(each[name]) for name in ("calls", "succeeded", "p95_ms")} == {24}
        assert [ms is None for ms in each["p95_ms"]] == [not calls for calls in each["calls"]]


async def test_a_member_gets_the_series_of_their_own_calls(board: Pegboard, admin: httpx.AsyncClient) -> None:
    user_id, key = await new_user(admin, "ada")
    good(await admin.post("/v1/tools/echo/call", json={}))
    async with client(board, key) as ada:
        for who, calls in ((admin, 1), (ada, 0)):
            series = good(await who.get(PATH, params={"by": "hour"}))["series"]
            assert sum(each["calls"] for each in series) == calls
            (tool,) = good(await who.get(PATH, params={"compact": True, "tool": "echo"}))["tools"]
            assert sum(tool["calls"]) == calls
        problem(await ada.get(PATH, params={"by": "hour", "caller": board.admin.user_id}), 403)
    assert good(await admin.get(PATH, params={"compact": True, "tool": "echo", "caller": user_id}))["tools"]


async def test_what_cannot_be_combined_is_refused(admin: httpx.AsyncClient) -> None:
    wrong: tuple[dict[str, Any], ...] = (
        {"compact": True},
        {"tool": ["echo", "math_eval"]},
        {"by": "week"},
        {"compact": True, "tool": [f"t{number}" for number in range(201)]},
        {"by": "hour", "since": "2020-01-01T00:00:00Z"},
    )
    for params in wrong:
        problem(await admin.get(PATH, params=params), 422)
