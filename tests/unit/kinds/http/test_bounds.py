"""Limits that protect other users from one user's http tools and from their upstreams."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from pegboard.model.call_errors import ResultTooLarge, Unavailable, UpstreamUnreachable
from pegboard.model.tool import Retry
from tests.unit.http_client.upstreams import once_a_connection
from tests.unit.kinds.http.call_http_tools import http_calls
from tests.upstreams import answer, by_path, echo, hang, redirect, upstream
from tests.waiting import until

JSON = "application/json"
# An attempt ends long before the call does, so that the reason is the attempt's.
SHORT_ATTEMPT: dict[str, Any] = {"timeout": 3.0, "retry": Retry(max_attempts=10, on=frozenset({"timeout"}))}


async def test_one_users_calls_leave_room_for_others() -> None:
    async with upstream(by_path(hangs=hang, other=echo)) as served, http_calls(most_at_once=2) as caller:
        waiting = [asyncio.create_task(caller.get(f"{served.url}/hangs")) for _ in range(2)]

        async def arrived() -> bool:
            return len(served.received) == 2

        await until(arrived)
        with pytest.raises(Unavailable, match="You have 2 calls") as refused:
            await caller.get(served.url)
        assert (refused.value.did_run, refused.value.retry_after_ms) == (False, 1000)
        await caller.get(served.url, user="piet")
        for call in waiting:
            call.cancel()
        await asyncio.wait(waiting)
        await caller.get(served.url)


async def test_connections_to_a_host_are_shared() -> None:
    async with upstream(by_path(hangs=hang, other=echo)) as served, http_calls(most_a_host=4) as caller:
        hanging = [asyncio.create_task(caller.get(f"{served.url}/hangs")) for _ in range(4)]

        async def arrived() -> bool:
            return len(served.received) == 3 and caller.hosts.waiting == 1

        await until(arrived)
        with pytest.raises(Unavailable, match=r"did not get a connection to http://127\.0\.0\.1:") as refused:
            await caller.get(served.url, **SHORT_ATTEMPT)
        assert "all 4 connections but 1, kept for users who have no call running" in refused.value.message
        assert "(PEGBOARD_MAX_HOST_CONNECTIONS)" in refused.value.message
        assert not refused.value.did_run and refused.value.retry_after_ms is not None
        await caller.get(served.url, user="piet")
        hanging[0].cancel()

        async def is_next() -> bool:
            return len(served.received) == 5

        await until(is_next)
        for call in hanging:
            call.cancel()
        await asyncio.wait(hanging)
        assert len(caller.hosts) == 0


@pytest.mark.parametrize("spelling", ["LocalHost:{}", "localhost.:{}"])
async def test_a_host_is_counted_once_however_it_is_written(spelling: str) -> None:
    async with upstream(by_path(hangs=hang, other=echo)) as served, http_calls("localhost", most_a_host=2) as caller:
        port = served.url.rpartition(":")[2]
        waiting = asyncio.create_task(caller.get(f"http://localhost:{port}/hangs"))

        async def arrived() -> bool:
            return len(served.received) == 1

        await until(arrived)
        with pytest.raises(Unavailable, match="all 2 connections"):
            await caller.get(f"http://{spelling.format(port)}/other", **SHORT_ATTEMPT)
        waiting.cancel()
        await asyncio.wait({waiting})


@pytest.mark.parametrize(("size", "is_aside"), [(1000, False), (300_000, True)])
async def test_a_large_answer_is_read_aside(size: int, is_aside: bool) -> None:
    body = b'["%s"]' % (b"x" * size)
    before = set(threading.enumerate())
    async with upstream(answer(200, body, Content_Type=JSON)) as served, http_calls() as caller:
        assert await caller.get(served.url) == ["x" * size]
        new = set(threading.enumerate()) - before
        assert any(thread.name.startswith("pegboard-http") for thread in new) == is_aside


async def test_an_answer_that_cannot_be_a_result_is_not_even_read() -> None:
    broken = b"[" * 401
    async with upstream(answer(200, broken, Content_Type=JSON)) as served, http_calls() as caller:
        with pytest.raises(ResultTooLarge, match="answered with 401 bytes, of the tool's result at most 100"):
            await caller.get(served.url, max_result_bytes=100)


@pytest.mark.parametrize(
    ("fields", "connections"), [({"read_only": True}, 2), ({"idempotent": True}, 2), ({}, 1)], ids=str
)
async def test_a_request_is_sent_again_only_if_the_tool_says_that_it_may_be(
    fields: dict[str, Any], connections: int
) -> None:
    async with once_a_connection() as served, http_calls() as caller:
        await caller.get(str(served.url()), **fields)
        try:
            await caller.get(str(served.url()), **fields)
        except UpstreamUnreachable:
            assert not fields
        assert served.connections == connections


async def test_a_call_that_was_never_sent_says_that_it_did_not_run() -> None:
    async with upstream() as gone:
        pass
    async with upstream(redirect(gone.url)) as served, http_calls() as caller:
        with pytest.raises(UpstreamUnreachable) as failed:
            await caller.get(gone.url)
        assert not failed.value.did_run
        with pytest.raises(UpstreamUnreachable) as failed:
            await caller.get(served.url)
        assert failed.value.did_run, "what sent us on was called"
