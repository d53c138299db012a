"""Large payloads are read in a thread, in turns between users, and count in the rate of their key."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from pegboard import Pegboard
from pegboard.kinds.chain import run_chain
from pegboard.kinds.chain.plan import read_chain_input
from pegboard.model.tool import RateLimit
from pegboard.stages.large_reads import LARGE_BYTES, MAX_WAITING
from pegboard.testing import memory_board
from tests.board_surfaces import KEY
from tests.surfaces.rest.clients import client, good, new_user, problem
from tests.waiting import until

CALL = '<tool_call>{"name": "echo", "arguments": {}}</tool_call>'
SMALL, BIG = CALL, CALL + "." * LARGE_BYTES
TEXT = {"Content-Type": "text/plain"}
EVENTS = {**TEXT, "Accept": "text/event-stream"}
SECONDS = 20


class Reads:
    """Records which thread reads payloads, and delays reading while `gate` is closed."""

    def __init__(self, board: Pegboard, monkeypatch: pytest.MonkeyPatch) -> None:
        self.threads: list[int] = []
        self.users: list[str] = []
        self.began = asyncio.Event()
        self.gate = threading.Event()
        self.gate.set()
        self._loop = asyncio.get_running_loop()
        self._read: Callable[..., Any] = board.payloads.read
        monkeypatch.setattr(board.payloads, "read", self.read)

    def read(self, raw: Any, dialect: str | None, caller: Any, **more: Any) -> Any:
        self.threads.append(threading.get_ident())
        self.users.append(caller.user_id)
        self._loop.call_soon_threadsafe(self.began.set)
        if threading.get_ident() != threading.main_thread().ident:
            assert self.gate.wait(SECONDS)
        return self._read(raw, dialect, caller, **more)


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    async with memory_board(admin_key=KEY) as opened:
        yield opened


@pytest.fixture
async def admin(board: Pegboard) -> AsyncIterator[httpx.AsyncClient]:
    async with client(board) as opened:
        yield opened


@pytest.fixture
async def reads(board: Pegboard, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Reads]:
    watching = Reads(board, monkeypatch)
    yield watching
    watching.gate.set()


@pytest.mark.parametrize("route", ["/v1/calls", "/v1/calls/normalize", "messages", "events", "library"])
async def test_the_board_answers_others_while_a_large_payload_is_read(
    route: str, board: Pegboard, admin: httpx.AsyncClient, reads: Reads
) -> None:
    thread = good(await admin.post("/v1/threads", json={}), 201)["id"]
    path = {"messages": f"/v1/threads/{thread}/messages", "events": "/v1/calls"}.get(route, route)
    headers = EVENTS if route == "events" else TEXT

    async def send(text: str) -> None:
        if route == "library":
            await board.run(text)
        else:
            answer = await admin.post(path, content=text, headers=headers)
            assert answer.status_code in (200, 201), answer.text

    reads.gate.clear()
    sending = asyncio.create_task(send(BIG))
    async with asyncio.timeout(SECONDS):
        await reads.began.wait()
        good(await admin.post("/v1/tools/echo/call", json={}))
        assert not sending.done()
        reads.gate.set()
        await sending
    assert threading.get_ident() not in reads.threads
    reads.threads.clear()
    await send(SMALL)
    assert set(reads.threads) == {threading.get_ident()}


async def test_large_payloads_of_one_user_do_not_hold_up_those_of_others(
    board: Pegboard, admin: httpx.AsyncClient, reads: Reads
) -> None:
    users = [await new_user(admin, name) for name in ("ann", "bob")]
    async with client(board, users[0][1]) as ann, client(board, users[1][1]) as bob:

        def send(speaker: httpx.AsyncClient) -> asyncio.Task[httpx.Response]:
            return asyncio.create_task(speaker.post("/v1/calls/normalize", content=BIG, headers=TEXT))

        reads.gate.clear()
        async with asyncio.timeout(SECONDS):
            sent = [send(ann)]
            await reads.began.wait()
            sent += [send(ann) for _ in range(MAX_WAITING)]
            await until(lambda: has_waiting(board, MAX_WAITING))
            refused = await send(ann)
            assert "4 payloads of this user that are larger than 64 KiB wait" in problem(refused, 429)["detail"]
            assert refused.headers["retry-after"] == "1"
            other = send(bob)
            good(await bob.post("/v1/calls/normalize", content=SMALL, headers=TEXT))
            await until(lambda: has_waiting(board, MAX_WAITING + 1))
            reads.users.clear()
            reads.gate.set()
            for task in (*sent, other):
                good(await task)
    assert reads.users.index(users[1][0]) <= 1


async def has_waiting(board: Pegboard, count: int) -> bool:
    return board.payloads.large_reads.waiting == count


async def test_a_large_payload_counts_as_a_call_in_the_rate_of_its_key() -> None:
    rate = RateLimit(max_calls=1, period="hour")
    async with memory_board(admin_key=KEY, key_rate=rate) as board, client(board) as speaker:
        for text in (SMALL, SMALL, BIG):
            good(await speaker.post("/v1/calls/normalize", content=text, headers=TEXT))
        for path in ("/v1/calls/normalize", "/v1/calls"):
            refused = problem(await speaker.post(path, content=BIG, headers=TEXT), 429)
            assert "Rate limit of this key reached: 1 call per hour" in refused["detail"]
        good(await speaker.post("/v1/calls/normalize", content=SMALL, headers=TEXT))


async def test_the_large_input_schema_of_a_chain_is_checked_in_the_thread(
    admin: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []

    def check(*given: Any, **bounds: Any) -> Any:
        threads.append(threading.get_ident())
        return read_chain_input(*given, **bounds)

    monkeypatch.setattr(run_chain, "read_chain_input", check)
    body = {"steps": [{"id": "a", "tool": "math_eval", "arguments": {"expression": "1"}}], "input_schema": {}}
    good(await admin.post("/v1/chains", json=body))
    good(await admin.post("/v1/chains", json={**body, "input_schema": {"description": "." * LARGE_BYTES}}))
    here = threading.get_ident()
    assert [thread == here for thread in threads] == [True, False]
