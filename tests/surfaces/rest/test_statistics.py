"""Statistics and the journal by caller, over REST."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from pegboard import Pegboard
from pegboard.model.ids import new_id
from tests.surfaces.rest.clients import bearer, client, good, mock, new_user, problem

PATH = "/v1/executions/statistics"


@pytest.fixture
async def member(admin: httpx.AsyncClient, board: Pegboard) -> AsyncIterator[tuple[str, httpx.AsyncClient]]:
    """The id of a user who is not an admin, and their client."""
    user_id, key = await new_user(admin, "ada")
    async with client(board, key) as speaker:
        yield user_id, speaker


async def received(speaker: httpx.AsyncClient, **params: Any) -> dict[str | None, dict[str, Any]]:
    """Return the statistics by tool."""
    return {tool["tool_name"]: tool for tool in good(await speaker.get(PATH, params=params))["tools"]}


async def test_calls_are_reported_by_tool_at_once(admin: httpx.AsyncClient) -> None:
    for expression in ("1 + 1", "2 + 2", "1 / 0"):
        good(await admin.post("/v1/tools/math_eval/call", json={"expression": expression}))
    good(await admin.post("/v1/tools/math_eval/call", json={}))
    good(await admin.post("/v1/tools/echo/call", json={}))
    for name in ("made_up", "made_up_too"):
        good(await admin.post(f"/v1/tools/{name}/call", json={}))
    body = good(await admin.get(PATH))
    assert [tool["tool_name"] for tool in body["tools"]] == ["math_eval", None, "echo"]
    evaluated, missing, _ = body["tools"]
    counts = {name: evaluated[name] for name in ("calls", "succeeded", "failed", "refused", "in_doubt")}
    assert counts == {"calls": 4, "succeeded": 2, "failed": 1, "refused": 1, "in_doubt": 0}
    assert evaluated["errors"] == {"execution_failed": 1, "missing": 1}
    assert 0 < evaluated["p50_ms"] <= evaluated["p95_ms"] <= evaluated["p99_ms"] <= evaluated["max_ms"]
    assert (missing["errors"], missing["p50_ms"], missing["max_ms"]) == ({"tool_not_found": 2}, None, None)


async def test_the_durations_of_calls_are_counted_on_request(admin: httpx.AsyncClient) -> None:
    for expression in ("1 + 1", "2 + 2", "1 / 0"):
        good(await admin.post("/v1/tools/math_eval/call", json={"expression": expression}))
    good(await admin.post("/v1/tools/math_eval/call", json={}))
    good(await admin.post("/v1/tools/echo/call", json={}))
    body = good(await admin.get(PATH, params={"tool": "math_eval", "latencies": True}))
    (evaluated,), latencies = body["tools"], body["latencies"]
    # Not the refused call, which did not run.
    assert sum(each["calls"] for each in latencies) == 3
    assert [each["from_ms"] for each in latencies] == sorted(each["from_ms"] for each in latencies)
    assert all(each["from_ms"] < each["below_ms"] < each["from_ms"] * 1.07 for each in latencies)
    assert latencies[-1]["from_ms"] * 0.99 <= evaluated["max_ms"] <= latencies[-1]["below_ms"] * 1.01
    everything = good(await admin.get(PATH, params={"latencies": True}))["latencies"]
    assert sum(each["calls"] for each in everything) == 4
    assert "latencies" not in good(await admin.get(PATH))


@pytest.mark.parametrize("other", [{"by": "hour"}, {"compact": True, "tool": "echo"}])
async def test_durations_are_not_counted_by_period(admin: httpx.AsyncClient, other: dict[str, Any]) -> None:
    refused = problem(await admin.get(PATH, params={"latencies": True, **other}), 422)
    assert [each["field"] for each in refused["errors"]] == ["latencies"]


async def test_the_answer_names_the_whole_hours_that_it_covers(admin: httpx.AsyncClient) -> None:
    asked = {"since": "2026-03-01T12:30:00Z", "until": "2026-03-01T14:30:00+01:00"}
    body = good(await admin.get(PATH, params=asked))
    assert body == {"since": "2026-03-01T12:00:00Z", "until": "2026-03-01T14:00:00Z", "tools": []}
    day = good(await admin.get(PATH))
    since, until = datetime.fromisoformat(day["since"]), datetime.fromisoformat(day["until"])
    assert until - since == timedelta(days=1)
    assert since < datetime.now(UTC) <= until


async def test_members_are_notified_of_their_own_calls_and_admins_of_all(
    admin: httpx.AsyncClient, member: tuple[str, httpx.AsyncClient]
) -> None:
    user_id, ada = member
    good(await admin.post("/v1/tools/echo/call", json={}))
    good(await ada.post("/v1/tools/echo/call", json={}))
    assert (await received(admin))["echo"]["calls"] == 2
    assert (await received(ada))["echo"]["calls"] == 1
    assert (await received(ada, caller=user_id))["echo"]["calls"] == 1
    assert (await received(admin, caller=user_id.upper()))["echo"]["calls"] == 1
    assert await received(admin, caller=new_id()) == {}
    assert await received(admin, caller="nobody") == {}


async def test_the_journal_is_read_by_caller(admin: httpx.AsyncClient, member: tuple[str, httpx.AsyncClient]) -> None:
    user_id, ada = member
    good(await admin.post("/v1/tools/echo/call", json={}))
    good(await ada.post("/v1/tools/echo/call", json={}))

    async def callers(speaker: httpx.AsyncClient, **params: str) -> list[str]:
        return [row["caller"] for row in good(await speaker.get("/v1/executions", params=params))["items"]]

    assert await callers(admin) == ["ada", "admin"]
    assert await callers(admin, caller=user_id) == ["ada"]
    assert await callers(admin, caller=user_id.upper(), tool="echo") == ["ada"]
    assert await callers(admin, caller=new_id()) == []
    assert await callers(ada) == await callers(ada, caller=user_id) == ["ada"]


@pytest.mark.parametrize("path", [PATH, "/v1/executions"])
async def test_members_may_not_ask_for_the_calls_of_others_whether_they_exist_or_not(
    admin: httpx.AsyncClient, member: tuple[str, httpx.AsyncClient], path: str
) -> None:
    other, _ = await new_user(admin, "ben")
    refusals = [problem(await member[1].get(path, params={"caller": whose}), 403) for whose in (other, new_id(), "ben")]
    assert {refusal["detail"] for refusal in refusals} == {"Only admins can read the calls of others"}


async def test_keys_of_agents_are_refused(admin: httpx.AsyncClient, member: tuple[str, httpx.AsyncClient]) -> None:
    user_id, ada = member
    agent = good(await ada.post("/v1/agents", json={"name": "helper"}), 201)
    made = good(await ada.post(f"/v1/users/{user_id}/keys", json={"agent_id": agent["id"]}), 201)
    problem(await ada.get(PATH, headers=bearer(made["key"])), 403)
    problem(await ada.get(PATH, headers=bearer("nonsense")), 401)


async def test_one_tool_is_asked_for_by_name_in_any_case_or_by_id(admin: httpx.AsyncClient) -> None:
    tool = good(await admin.post("/v1/tools", json=mock("quote")), 201)
    good(await admin.post("/v1/tools/quote/call", json={}))
    good(await admin.post("/v1/tools/echo/call", json={}))
    for asked in ("quote", "QUOTE", tool["id"], tool["id"].upper()):
        assert set(await received(admin, tool=asked)) == {"quote"}
    good(await admin.post("/v1/tools/nonesuch/call", json={}))
    for asked in ("nonesuch", new_id(), "\0"):
        assert await received(admin, tool=asked) == {}
    assert set(await received(admin, tool="")) == {None}


@pytest.mark.parametrize("moment", ["yesterday", "2026-01-01", "2026-01-01T00:00:00", "1700000000"])
async def test_what_is_no_moment_is_refused(admin: httpx.AsyncClient, moment: str) -> None:
    for name in ("since", "until"):
        problem(await admin.get(PATH, params={name: moment}), 422)


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"])
async def test_the_ends_of_time_can_be_asked_for(admin: httpx.AsyncClient, moment: str) -> None:
    good(await admin.post("/v1/tools/echo/call", json={}))
    assert set(await received(admin, since=moment)) == ({"echo"} if moment < "2" else set())
    assert set(await received(admin, since="2000-01-01T00:00Z", until=moment)) == (set() if moment < "2" else {"echo"})


async def test_statistics_are_the_same_on_both_databases(stored_admin: httpx.AsyncClient) -> None:
    good(await stored_admin.post("/v1/tools/echo/call", json={}))
    good(await stored_admin.post("/v1/tools/echo/call", json={}))
    assert (await received(stored_admin))["echo"]["succeeded"] == 2
