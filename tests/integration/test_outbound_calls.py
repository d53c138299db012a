"""Calls of imported tools when their upstream fails, hangs or is asked twice: retries, fallbacks, keys, the journal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from sqlalchemy import text

from pegboard import Pegboard
from pegboard.model.call import ToolResult
from pegboard.testing import NoSettings, calls_of, member
from tests.api_documents import Case, document
from tests.board_surfaces import KEY, served
from tests.surfaces.rest.clients import bearer
from tests.unit.kinds.mcp.changeable_server import changeable_server, tool
from tests.upstreams import (
    Behaviour,
    Received,
    Upstream,
    Wire,
    answer,
    answer_json,
    early_close,
    hang,
    reset,
    upstream,
)
from tests.waiting import until

OPERATIONS = [Case("look", "get", "/look", {}, {}, ""), Case("buy", "post", "/buy", {}, {}, "")]


@pytest.fixture
async def board(database_url: str, tmp_path: Path) -> AsyncIterator[Pegboard]:
    """A fresh board on a real database of either kind."""
    settings = NoSettings(home=tmp_path / "home", admin_key=KEY, egress_allow="127.0.0.1", drain_seconds=2)
    async with Pegboard.open(database_url, settings=settings) as fresh:
        yield fresh


@pytest.fixture
async def shop(board: Pegboard) -> AsyncIterator[Upstream]:
    """An upstream whose operations are imported as `look` and `buy`."""
    async with upstream(answer_json("fine")) as running:
        await board.imports.openapi(board.admin, document=document(OPERATIONS), server_url=running.url)
        yield running


def behave_first(times: int, behaviour: Behaviour, then: Behaviour | None = None) -> Behaviour:
    """Behave in one way this many times, then in another."""
    left = [behaviour] * times
    after = then or answer_json("fine")

    async def behave(got: Received, wire: Wire) -> None:
        await (left.pop() if left else after)(got, wire)

    return behave


async def set_on(board: Pegboard, name: str, **fields: Any) -> None:
    await board.tools.update(name, fields, board.admin)


def received(result: ToolResult) -> tuple[str, int]:
    """Return the code that a call failed with and its number of attempts."""
    assert result.problem is not None, result
    return result.problem.code, result.attempts


@pytest.mark.parametrize("fault", [reset, early_close, answer(503, Retry_After="0"), answer(502), answer(504)])
async def test_faults_of_the_way_are_tried_again_only_if_the_tool_asks_for_it(
    board: Pegboard, shop: Upstream, fault: Behaviour
) -> None:
    for name in ("look", "buy"):
        shop.behaviour = behave_first(2, fault)
        assert received(await board.call(name)) == ("upstream_failed", 1)
        await set_on(board, name, retry={"max_attempts": 3, "on": ["timeout", "rate_limited", "contract_violation"]})
        assert received(await board.call(name)) == ("upstream_failed", 1)
        await set_on(board, name, retry={"max_attempts": 3, "on": ["transport"]})
        shop.behaviour = behave_first(2, fault)
        shop.received.clear()
        done = await board.call(name)
        assert (done.output, done.attempts, len(shop.received)) == ("fine", 3, 3)
        rows = await calls_of(board, name)
        assert [(row.status, row.attempts, row.kind) for row in rows] == [
            ("failed", 1, "http"),
            ("failed", 1, "http"),
            ("succeeded", 3, "http"),
        ]


@pytest.mark.parametrize("status", [400, 404, 409, 500])
async def test_an_answer_that_says_no_is_never_tried_again(board: Pegboard, shop: Upstream, status: int) -> None:
    await set_on(board, "buy", retry={"max_attempts": 4, "on": ["transport", "rate_limited", "timeout"]})
    shop.behaviour = answer(status, "not today")
    failed = await board.call("buy")
    assert received(failed) == ("upstream_failed", 1)
    assert failed.problem is not None
    assert f"{status}" in failed.problem.message
    assert "not today" in failed.problem.message
    assert len(shop.received) == 1


async def test_a_rate_limited_upstream_is_waited_for_if_the_tool_retries(board: Pegboard, shop: Upstream) -> None:
    shop.behaviour = behave_first(1, answer(429, Retry_After="7"))
    failed = await board.call("buy")
    assert received(failed) == ("rate_limited", 1)
    assert failed.problem is not None
    assert (failed.problem.retry_after_ms, failed.problem.retryable) == (7000, True)
    await set_on(board, "buy", retry={"max_attempts": 3, "on": ["transport"]})
    shop.behaviour = behave_first(1, answer(429, Retry_After="0"))
    assert received(await board.call("buy")) == ("rate_limited", 1)
    await set_on(board, "buy", retry={"max_attempts": 3, "on": ["rate_limited"]})
    shop.behaviour = behave_first(2, answer(429, Retry_After="0"))
    assert (await board.call("buy")).attempts == 3
    shop.behaviour = answer(429, Retry_After="3600")
    with anyio.fail_after(30):
        assert received(await board.call("buy")) == ("rate_limited", 1)


async def test_a_tool_that_takes_too_long_is_cut_off_at_the_upstream_too(board: Pegboard, shop: Upstream) -> None:
    shop.behaviour = behave_first(2, hang)
    await set_on(board, "look", timeout=0.2)
    assert received(await board.call("look")) == ("timeout", 1)
    await until(lambda: _closed(shop))
    await set_on(board, "look", timeout=2, retry={"max_attempts": 2, "on": ["timeout"]}, config=_config(shop, 0.2))
    assert (await board.call("look")).attempts == 2


def _config(shop: Upstream, timeout: float) -> dict[str, Any]:
    return {"url": f"{shop.url}/look", "method": "GET", "timeout": timeout}


async def _closed(shop: Upstream) -> bool:
    return not shop.open


async def test_a_fallback_answers_when_the_upstream_does_not(board: Pegboard, shop: Upstream) -> None:
    shop.behaviour = answer(500)
    await set_on(board, "look", fallback={"value": {"none": True}})
    answered = await board.call("look")
    assert (answered.output, answered.fallback) == ({"none": True}, True)
    await set_on(board, "look", fallback={"tool": "buy"})
    shop.behaviour = behave_first(1, answer(404))
    answered = await board.call("look")
    assert (answered.output, answered.fallback) == ("fine", True)
    assert [got.method for got in shop.received] == ["GET", "GET", "POST"]
    assert [(row.tool_name, row.status) for row in await calls_of(board)] == [
        ("look", "succeeded"),
        ("look", "succeeded"),
        ("buy", "succeeded"),
    ]


async def test_the_circuit_of_a_failing_upstream_opens_for_one_owner_only(board: Pegboard, shop: Upstream) -> None:
    other = await member(board)
    await board.imports.openapi(other, document=document(OPERATIONS), server_url=shop.url, prefix="own_")
    shop.behaviour = reset
    for _ in range(5):
        assert received(await board.call("look")) == ("upstream_failed", 1)
    shop.received.clear()
    open_ = await board.call("buy")
    assert received(open_) == ("circuit_open", 1)
    assert open_.problem is not None
    assert open_.problem.retry_after_ms is not None
    assert 0 < open_.problem.retry_after_ms <= 30_000
    assert f"127.0.0.1:{shop.port} failed 5 times in a row" in open_.problem.message
    assert shop.received == []
    shop.behaviour = answer_json("fine")
    assert (await board.call("own_look", caller=other)).output == "fine"


async def intents(board: Pegboard) -> list[Any]:
    async with board.database.read() as conn:
        return list((await conn.execute(text("SELECT state FROM intents"))).scalars())


async def test_what_changes_something_has_an_intent_while_it_runs(board: Pegboard, shop: Upstream) -> None:
    seen: dict[str, list[Any]] = {}

    async def look_inside(got: Received, wire: Wire) -> None:
        seen[got.method] = await intents(board)
        await answer_json("fine")(got, wire)

    shop.behaviour = look_inside
    for name in ("look", "buy"):
        assert (await board.call(name)).success
    assert {method: len(found) for method, found in seen.items()} == {"GET": 0, "POST": 1}
    assert await intents(board) == []


async def test_a_call_with_a_key_reaches_the_upstream_once(board: Pegboard, shop: Upstream) -> None:
    go_on = asyncio.Event()

    async def slowly(got: Received, wire: Wire) -> None:
        await go_on.wait()
        await answer_json(len(shop.received))(got, wire)

    shop.behaviour = slowly
    both = [asyncio.create_task(board.call("buy", key="k1")) for _ in range(2)]
    await until(lambda: _has_received(shop))
    go_on.set()
    answers = [await each for each in both]
    assert [each.output for each in answers] == [1, 1]
    assert (await board.call("buy", key="k1")).output == 1
    shop.behaviour = behave_first(1, answer(500, "broken"), answer_json("healed"))
    failed = await board.call("buy", key="k2")
    again = await board.call("buy", key="k2")
    assert again.problem == failed.problem
    assert len(shop.received) == 2
    rows = await calls_of(board, "buy")
    assert sum(1 for row in rows if row.repeat_of) == 3


async def _has_received(shop: Upstream) -> bool:
    return bool(shop.received)


async def test_what_is_over_the_limit_does_not_reach_the_upstream(board: Pegboard, shop: Upstream) -> None:
    await set_on(board, "buy", rate_limit={"max_calls": 2, "period": "hour"})
    codes = [(await board.call("buy")).problem for _ in range(3)]
    assert [problem and problem.code for problem in codes] == [None, None, "rate_limited"]
    assert len(shop.received) == 2


@pytest.mark.parametrize("kind", ["http", "mcp"])
async def test_a_caller_who_disconnects_ends_the_call_at_the_upstream(
    board: Pegboard, shop: Upstream, kind: str
) -> None:
    shop.behaviour = hang
    async with changeable_server(tool("say")) as server, served(board) as url:
        await board.imports.mcp(board.admin, server_url=server.url)
        server.instead["tools/call"] = hang
        name = "look" if kind == "http" else "say"
        running = asyncio.create_task(board.call(name))
        await until(lambda: _has_received(shop) if kind == "http" else _was_called(server.server))
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        if kind == "http":
            await until(lambda: _closed(shop))
        else:
            await until(lambda: _reported_off(server.server))
        async with httpx.AsyncClient(headers=bearer(KEY)) as speaker:
            with pytest.raises(httpx.ReadTimeout):
                await speaker.post(f"{url}/v1/tools/{name}/call", json={}, timeout=httpx.Timeout(30, read=2))
        if kind == "http":
            await until(lambda: _closed(shop))

        async def rows() -> Any:
            found = await calls_of(board, name)
            return len(found) == 2 and found

        assert [(row.status, row.code) for row in await until(rows)] == [("failed", "cancelled")] * 2


async def _was_called(server: Upstream) -> bool:
    return any(b'"tools/call"' in got.body for got in server.received)


async def _reported_off(server: Upstream) -> bool:
    return any(b'"notifications/cancelled"' in got.body for got in server.received)
