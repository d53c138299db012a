"""Notifications, cancellation and disconnects: each stream of a client, and what is left of it afterwards."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import httpx
import pytest

from pegboard import CallContext, Pegboard
from pegboard.model.filters import ExecutionFilter
from pegboard.surfaces.mcp import list_changes, response_stream, stream_clock
from pegboard.testing import memory_board
from tests.board_surfaces import KEY, served
from tests.surfaces.mcp.rpc import SESSION, STATELESS, RpcClient, client_of, error
from tests.surfaces.rest.clients import good, mock, new_user
from tests.waiting import until

pytestmark = pytest.mark.anyio
EVENTS = {"Accept": "text/event-stream"}


class Gate:
    """A tool that waits until the test releases it."""

    def __init__(self, board: Pegboard) -> None:
        self.opened = asyncio.Event()
        self.began = asyncio.Event()
        self.cancelled = 0

        @board.tool(name="gate")
        async def gate(call: CallContext, steps: int = 0) -> str:
            """Report steps, then wait."""
            for step in range(steps):
                call.progress(step + 1, steps, f"step {step + 1}")
                await asyncio.sleep(0.15)
            self.began.set()
            try:
                await self.opened.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
            return "opened"


@pytest.fixture
def gate(board: Pegboard) -> Gate:
    """The tool of this board that waits."""
    return Gate(board)


class EventReader:
    """The messages of an open event stream."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.aiter_lines()

    async def line(self) -> str:
        """The next line that is not empty."""
        with anyio.fail_after(15):
            async for line in self._lines:
                if line:
                    return line
        raise AssertionError("the stream has ended")

    async def message(self) -> dict[str, Any]:
        """The next message."""
        while not (line := await self.line()).startswith("data: "):
            assert line.startswith(("event: message", ":"))
        found: dict[str, Any] = json.loads(line[6:])
        return found

    async def rest(self) -> AsyncIterator[dict[str, Any]]:
        """All further messages, also of a response that is JSON."""
        async for line in self._lines:
            if line.startswith(("data: ", "{")):
                yield json.loads(line.removeprefix("data: "))

    async def ended(self) -> bool:
        """Wait for the end of the stream."""
        with anyio.fail_after(15):
            return not [line async for line in self._lines if line]


@asynccontextmanager
async def opened(rpc: RpcClient, message: dict[str, Any]) -> AsyncIterator[EventReader]:
    """The stream that answers a message."""
    async with rpc.http.stream("POST", rpc.path, json=message, headers=rpc.headers(message)) as response:
        yield EventReader(response)


@asynccontextmanager
async def session_stream(rpc: RpcClient, **headers: str) -> AsyncIterator[EventReader]:
    """The event stream of a session."""
    async with rpc.http.stream("GET", rpc.path, headers={**rpc.headers(), **EVENTS, **headers}) as response:
        yield EventReader(response)


async def until_true(look: Callable[[], bool]) -> None:
    """Wait until `look` returns True."""

    async def looked() -> bool:
        return look()

    await until(looked)


async def last_row(board: Pegboard) -> Any:
    """The newest row of the journal."""
    return (await board.executions(ExecutionFilter())).items[0]


def call(rpc: RpcClient, id: Any = 5, **params: Any) -> dict[str, Any]:
    """A call of the tool that waits."""
    return rpc.message("tools/call", {"name": "gate", **params}, id)


async def test_progress_goes_to_the_client_that_sent_a_token(rpc: RpcClient, gate: Gate) -> None:
    gate.opened.set()
    with_token = call(rpc, arguments={"steps": 3}, _meta={"progressToken": "p"})
    async with opened(rpc, with_token) as events:
        assert events.response.headers["content-type"] == "text/event-stream"
        assert events.response.headers["x-accel-buffering"] == "no"
        found = [await events.message()]
        while "id" not in found[-1]:
            found.append(await events.message())
        assert await events.ended()
    *progress, result = found
    assert [each["method"] for each in progress] == ["notifications/progress"] * 3
    assert progress[0]["params"] == {"progressToken": "p", "progress": 1, "total": 3, "message": "step 1"}
    assert result["id"] == 5
    assert result["result"]["content"][0]["text"] == "opened"
    # Without a token, or for a client that accepts JSON only, the response is JSON.
    for message, accept in ((call(rpc, arguments={"steps": 1}), None), (with_token, "application/json")):
        reply = await rpc.post(message, **({"Accept": accept} if accept else {}))
        assert reply.headers["content-type"] == "application/json"
        assert reply.json()["result"]["isError"] is False


async def test_a_long_call_becomes_a_stream_with_comments(
    rpc: RpcClient, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(response_stream, "HEARTBEAT_SECONDS", 0.1)
    monkeypatch.setattr(stream_clock, "OPEN_AFTER_SECONDS", 0.1)
    async with opened(rpc, call(rpc)) as events:
        assert (await events.line()).startswith(":")
        assert (await events.line()).startswith(":")
        gate.opened.set()
        assert (await events.message())["result"]["isError"] is False


async def test_a_closed_connection_cancels_only_in_the_newer_revision(
    board: Pegboard, rpc: RpcClient, gate: Gate
) -> None:
    async with opened(rpc, call(rpc, arguments={"steps": 1}, _meta={"progressToken": 1})) as events:
        assert (await events.message())["method"] == "notifications/progress"
        await gate.began.wait()
    if rpc.is_stateless:
        await until_true(lambda: gate.cancelled == 1)
        await until_true(lambda: board.pipeline.running_count == 0)
        assert (await last_row(board)).code == "cancelled"
    else:
        await asyncio.sleep(0.3)
        assert board.pipeline.running_count == 1
        gate.opened.set()
        await until_true(lambda: board.pipeline.running_count == 0)
        assert (await last_row(board)).status == "succeeded"
    await rpc.check_alive()


async def test_a_detached_tool_continues_without_its_client(board: Pegboard, admin: httpx.AsyncClient) -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    @board.tool(on_disconnect="detach")
    async def detached(call: CallContext) -> int:
        """Continue."""
        call.progress(1)
        began.set()
        await asyncio.sleep(0.3)
        ended.set()
        return 1

    rpc = RpcClient(admin, STATELESS)
    message = rpc.message("tools/call", {"name": "detached", "_meta": {"progressToken": 1}})
    async with opened(rpc, message) as events:
        await events.message()
    with anyio.fail_after(5):
        await ended.wait()
    await until_true(lambda: board.pipeline.running_count == 0)
    assert (await last_row(board)).status == "succeeded"


async def test_a_notification_cancels_a_call_of_its_session(
    board: Pegboard, admin: httpx.AsyncClient, gate: Gate
) -> None:
    rpc, other = RpcClient(admin, SESSION), RpcClient(admin, SESSION)
    await rpc.start()
    await other.start()
    for id in (7, "7"):
        gate.began.clear()
        before = gate.cancelled
        async with asyncio.TaskGroup() as group:
            running = group.create_task(rpc.post(call(rpc, id)))
            await gate.began.wait()
            # Neither another session nor another id of the same session.
            await other.notify("notifications/cancelled", {"requestId": id})
            await rpc.notify("notifications/cancelled", {"requestId": 8})
            await asyncio.sleep(0.1)
            assert gate.cancelled == before
            await rpc.notify("notifications/cancelled", {"requestId": id, "reason": "no longer needed"})
        reply = running.result()
        assert reply.headers["content-type"] == "text/event-stream"
        assert reply.content == b""
        row = await last_row(board)
        assert (row.code, row.error) == ("cancelled", "Cancelled by the client")


async def test_changes_of_the_list_reach_only_callers_whose_list_changed(
    board: Pegboard, admin: httpx.AsyncClient, url: str
) -> None:
    _, key = await new_user(admin, "ann")
    async with client_of(url, key) as member:
        theirs, session = RpcClient(member, SESSION), RpcClient(admin, SESSION)
        await theirs.start()
        await session.start()
        stateless = RpcClient(admin, STATELESS)
        wanted = {"notifications": {"toolsListChanged": True, "promptsListChanged": False, "other": True}}
        listen = stateless.message("subscriptions/listen", wanted, "sub")
        meta = {"io.modelcontextprotocol/subscriptionId": "sub"}
        async with (
            session_stream(session) as first,
            session_stream(theirs) as second,
            opened(stateless, listen) as third,
        ):
            assert await third.message() == {
                "jsonrpc": "2.0",
                "method": "notifications/subscriptions/acknowledged",
                "params": {"notifications": {"toolsListChanged": True}, "_meta": meta},
            }
            good(await admin.post("/v1/tools", json=mock("private_one")), 201)
            with anyio.fail_after(1):
                assert (await first.message()) == {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
                assert (await third.message())["params"] == {"_meta": meta}
            good(await admin.post("/v1/tools", json=mock("public_one", is_public=True)), 201)
            with anyio.fail_after(1):
                assert (await second.message())["method"] == "notifications/tools/list_changed"
                await first.message()
                await third.message()
            # The member got one notification, for the second change.
            good(await admin.post("/v1/users", json={"name": "bob", "role": "member"}), 201)
            with pytest.raises(TimeoutError):
                with anyio.fail_after(0.5):
                    await second.message()
            assert "public_one" in [tool["name"] for tool in (await theirs.result("tools/list"))["tools"]]


async def test_streams_end_with_their_session_their_key_and_the_next_stream(admin: httpx.AsyncClient, url: str) -> None:
    user, key = await new_user(admin, "ann")
    rpc = RpcClient(admin, SESSION)
    await rpc.start()
    async with session_stream(rpc) as first, session_stream(rpc) as second:
        assert await first.ended()
        await admin.delete("/mcp", headers=rpc.headers())
        assert await second.ended()
    async with client_of(url, key) as member:
        stateless = RpcClient(member, STATELESS)
        listen = stateless.message("subscriptions/listen", {"notifications": {}})
        async with opened(stateless, listen) as events:
            await events.message()
            good(await admin.delete(f"/v1/users/{user}"), 204)
            last = await events.message()
            assert last["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == 1
            assert await events.ended()


async def test_streams_end_when_their_key_expires(
    board: Pegboard, admin: httpx.AsyncClient, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(list_changes, "ACCESS_CHECK_SECONDS", 0.1)
    soon = datetime.now(UTC) + timedelta(seconds=1.5)
    _, key = await new_user(admin, "ann", expires_at=soon.isoformat())
    async with client_of(url, key) as member:
        rpc = RpcClient(member, STATELESS)
        async with opened(rpc, rpc.message("subscriptions/listen", {"notifications": {}})) as events:
            await events.message()
            assert (await events.message())["result"]["resultType"] == "complete"
            assert await events.ended()


async def test_a_client_that_stops_reading_takes_a_bounded_amount_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_stream, "SEND_TIMEOUT_SECONDS", 0.2)
    sent: list[Any] = []
    before = asyncio.all_tasks()

    async def blocked(message: Any) -> None:
        sent.append(message)
        if len(sent) > 1:
            await asyncio.Event().wait()

    stream = response_stream.ResponseStream(blocked, [], stream_clock.StreamClock(), may_stream=True)
    for number in range(10_000):
        stream.notify(b"x" * 100)
        if number % 100 == 0:
            await asyncio.sleep(0)
    assert not stream.is_given_up
    await stream.finish(200, b"{}")
    assert stream.is_given_up
    assert sent[0]["type"] == "http.response.start"
    # At most the waiting notifications were passed on, and then the client was given up.
    assert len(sent) == 2
    assert len(sent[1]["body"]) < 64 * 200
    assert asyncio.all_tasks() == before


async def test_streams_end_when_the_server_stops() -> None:
    async with memory_board(admin_key=KEY, drain_seconds=1) as board, served(board) as url, client_of(url) as http:
        session, stateless = RpcClient(http, SESSION), RpcClient(http, STATELESS)
        await session.start()
        listen = stateless.message("subscriptions/listen", {"notifications": {}})
        async with session_stream(session) as first, opened(stateless, listen) as second:
            await second.message()
            board.watchers.close()
            assert await first.ended()
            assert (await second.message())["result"]["resultType"] == "complete"


async def test_sessions_and_streams_are_limited(admin: httpx.AsyncClient) -> None:
    async with memory_board(admin_key=KEY, mcp_sessions=2) as board, served(board) as url, client_of(url) as http:
        sessions = [RpcClient(http, SESSION) for _ in range(3)]
        await sessions[0].start()
        await sessions[1].start()
        params = {"protocolVersion": SESSION, "capabilities": {}}
        reply = await sessions[2].send("initialize", params)
        error(reply, 503, -32603)
        assert reply.headers["retry-after"] == "1"
        async with session_stream(sessions[0]), session_stream(sessions[1]):
            stateless = RpcClient(http, STATELESS)
            message = stateless.message("subscriptions/listen", {"notifications": {}})
            error(await stateless.post(message), 503, -32603)
        await http.delete("/mcp", headers=sessions[0].headers())
        await sessions[2].start()
        await sessions[2].check_alive()


async def test_an_idempotency_key_works_as_in_rest(board: Pegboard, rpc: RpcClient) -> None:
    count = 0

    @board.tool
    def counted() -> int:
        """Count."""
        nonlocal count
        count += 1
        return count

    message = rpc.message("tools/call", {"name": "counted"})
    replies = [await rpc.post(message, Idempotency_Key="k") for _ in range(2)]
    assert [reply.json()["result"]["content"][0]["text"] for reply in replies] == ["1", "1"]
    error(await rpc.post(message, Idempotency_Key="x" * 300), 400 if rpc.is_stateless else 200, -32602)


async def test_many_calls_of_one_client_run_side_by_side(board: Pegboard, rpc: RpcClient) -> None:
    @board.tool
    def square(n: int) -> int:
        """Square."""
        return n * n

    messages = [rpc.message("tools/call", {"name": "square", "arguments": {"n": n}}, n) for n in range(50)]
    replies = await asyncio.gather(*(rpc.post(message) for message in messages))
    assert [reply.json()["result"]["content"][0]["text"] for reply in replies] == [str(n * n) for n in range(50)]
    assert [reply.json()["id"] for reply in replies] == list(range(50))
    rows = (await board.executions(ExecutionFilter(), limit=100)).items
    assert len([row for row in rows if row.tool_name == "square"]) == 50


async def test_no_task_is_left_after_streams_and_calls(board: Pegboard, rpc: RpcClient, gate: Gate) -> None:
    await rpc.check_alive()
    before = len(asyncio.all_tasks())
    for _ in range(3):
        async with opened(rpc, call(rpc, arguments={"steps": 1}, _meta={"progressToken": 1})) as events:
            await events.message()
        if not rpc.is_stateless:
            async with session_stream(rpc):
                pass
    gate.opened.set()
    await until_true(lambda: board.pipeline.running_count == 0)
    await until_true(lambda: len(asyncio.all_tasks()) <= before)
