"""Readers that disconnect, that stop reading, or that are many and slow."""

from __future__ import annotations

import json
import socket
from urllib.parse import urlsplit

import anyio
import httpx
import pytest

from pegboard import Pegboard
from pegboard.model.call import CallContext
from pegboard.surfaces.rest import asgi_request, event_stream
from pegboard.testing import calls_of
from tests.board_surfaces import served
from tests.surfaces.rest.raw_http import head, wire
from tests.surfaces.rest.streams import reading, replace_following
from tests.waiting import until

CALLS = "/v1/calls"
ACCEPT = "Accept: text/event-stream"


class Waiting:
    """A tool that waits until instructed otherwise."""

    def __init__(self, board: Pegboard, **fields: str) -> None:
        self.began = anyio.Event()
        self.go_on = anyio.Event()

        async def wait() -> int:
            self.began.set()
            await self.go_on.wait()
            return 7

        board.tool(name="wait", **fields)(wait)


async def test_calls_of_a_reader_who_disconnects_end_after_a_moment(board: Pegboard) -> None:
    replace_following(board, grace=0.05)
    tool = Waiting(board)
    async with served(board) as url:
        async with reading(url, CALLS, method="POST", json={"name": "wait"}):
            await tool.began.wait()
        (row,) = await until(lambda: calls_of(board, "wait"))
        assert (row.code, row.error) == ("cancelled", "The caller disconnected")
    await board.following.close()


@pytest.mark.parametrize("how", ["detach", "key"])
async def test_a_call_that_continues_is_there_for_the_reader_who_returns(board: Pegboard, how: str) -> None:
    replace_following(board, grace=0.01)
    tool = Waiting(board, **({"on_disconnect": "detach"} if how == "detach" else {}))
    headers = {"Idempotency-Key": "k"} if how == "key" else {}
    async with served(board) as url:
        async with reading(url, CALLS, method="POST", json={"name": "wait"}, headers=headers) as first:
            use = await first.until("tool_use")
            await tool.began.wait()

        async def left() -> bool:
            feed = board.following.find(first.run_id)
            return feed is not None and feed.grace_timer is None and not feed.readers

        await until(left)
        tool.go_on.set()
        (row,) = await until(lambda: calls_of(board, "wait"))
        assert row.status == "succeeded"
        # The last reader connects after the end.
        async with reading(url, f"{CALLS}/{first.run_id}/events", headers={"Last-Event-ID": str(use.id)}) as again:
            assert [item.name for item in await again.rest()] == ["tool_result", "complete"]
    await board.following.close()


@pytest.mark.parametrize("path", ["/v1/tools/wait/call", CALLS])
async def test_a_plain_call_continues_without_its_caller_if_its_tool_says_so(
    board: Pegboard, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asgi_request, "DISCONNECT_CHECK_SECONDS", 0)
    tool = Waiting(board, on_disconnect="detach")
    body = b'{"name": "wait"}' if path == CALLS else b"{}"
    async with served(board) as url:
        async with wire(url) as line:
            await line.send(head("POST", path, f"Content-Length: {len(body)}") + body)
            await tool.began.wait()
        async with httpx.AsyncClient(base_url=url) as later:  # by then the board has noticed the disconnect
            for _ in range(3):
                await later.get("/healthz")
        tool.go_on.set()
        (row,) = await until(lambda: calls_of(board, "wait"))
        assert row.status == "succeeded"


def stalled_reader(url: str, request: bytes) -> socket.socket:
    """A reader that sends a request and then reads almost nothing of the response."""
    place = urlsplit(url)
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.connect((place.hostname, place.port))
    line.sendall(request)
    line.setblocking(False)
    return line


async def test_a_thousand_readers_who_do_not_read_cost_no_more_than_one_log(board: Pegboard) -> None:
    tool = Waiting(board)

    @board.tool
    async def large(context: CallContext) -> str:
        for _ in range(1000):
            context.partial("x" * 16_000)
        return "x" * 10_000

    body = [{"name": "wait"}, *({"name": "large"} for _ in range(10))]
    async with served(board) as url:
        async with reading(url, CALLS, method="POST", json=body) as first:
            request = head("GET", f"{CALLS}/{first.run_id}/events", ACCEPT)
            lines = [await anyio.to_thread.run_sync(stalled_reader, url, request) for _ in range(1000)]
            feed = board.following.find(first.run_id)
            assert feed is not None

            async def all_there() -> bool:
                return feed.readers == 1001

            await until(all_there)
            tool.go_on.set()
            assert (await first.rest())[-1].name == "complete"
            # The results stay, and as many reports as fit; nothing for any reader.
            assert 100_000 < feed.events.size < 700_000
            for line in lines:
                line.close()

        async def all_gone() -> bool:
            return not feed.readers

        await until(all_gone)


async def test_a_reader_who_stops_reading_is_given_up_and_can_return(
    board: Pegboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = event_stream.SEND_TIMEOUT_SECONDS
    monkeypatch.setattr(event_stream, "SEND_TIMEOUT_SECONDS", 0.1)

    @board.tool
    async def large(n: int) -> str:
        return "x" * 900_000

    async with served(board) as url:
        body = json.dumps([{"name": "large", "arguments": {"n": n}} for n in range(10)]).encode()
        request = head("POST", CALLS, ACCEPT, f"Content-Length: {len(body)}") + body
        line = await anyio.to_thread.run_sync(stalled_reader, url, request)

        rows = await until(lambda: calls_of(board, "large"))
        feed = board.following.find(rows[0].id)
        assert feed is not None

        async def given_up() -> bool:
            return feed.events.is_over and not feed.readers

        await until(given_up)
        monkeypatch.setattr(event_stream, "SEND_TIMEOUT_SECONDS", patient)
        async with reading(url, f"{CALLS}/{feed.id}/events") as again:
            result = await again.rest()
        assert [one.name for one in result if one.name != "tool_progress"] == ["tool_use"] * 10 + [
            "tool_result"
        ] * 10 + ["complete"]
        line.close()


async def test_a_connection_serves_the_next_request_after_a_stream(board: Pegboard) -> None:
    async with served(board) as url, httpx.AsyncClient(base_url=url) as speaker:
        speaker.headers["Authorization"] = "Bearer a-key-for-tests-0123456789"
        for _ in range(3):
            response = await speaker.post(CALLS, json={"name": "echo"}, headers={"Accept": "text/event-stream"})
            assert "event: complete" in response.text
        assert (await speaker.get("/healthz")).status_code == 200
