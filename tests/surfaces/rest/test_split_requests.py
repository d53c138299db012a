"""The response to a call does not depend on the chunks in which the request arrives."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import pytest
from anyio.abc import SocketStream
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegboard import Pegboard
from pegboard.testing import calls_of
from tests.board_surfaces import KEY, served
from tests.surfaces.rest.raw_http import head, read_response, wire
from tests.waiting import until

ECHO = "/v1/tools/echo/call"
BODY = b'{"text": "hello"}'
_ID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}")


def posted(path: str = ECHO, body: bytes = BODY, *lines: str, key: str | None = KEY) -> bytes:
    """A whole call."""
    return head("POST", path, f"Content-Length: {len(body)}", *lines, key=key) + body


def chunked(*parts: bytes, trailer: bytes = b"") -> bytes:
    """A body in chunks."""
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n" + trailer + b"\r\n"


@pytest.fixture
async def url(board: Pegboard) -> AsyncIterator[str]:
    """The address of the board."""
    async with served(board) as address:
        yield address


async def send_parts(url: str, *raw: bytes) -> tuple[int, dict[str, str], Any]:
    """The answer to a request that is sent in these parts."""
    async with wire(url) as stream:
        for part in raw:
            await stream.send(part)
            await asyncio.sleep(0.01 if len(raw) > 1 else 0)  # so that they are read one by one
        return await read_response(stream)


CALLS = [
    ("a call", posted()),
    ("no body", head("POST", ECHO, "Content-Length: 0")),
    ("another dialect", posted(ECHO + "?as=openai")),
    ("no such dialect", posted(ECHO + "?as=klingon")),
    ("no key", posted(key=None)),
    ("a wrong key", posted(key="wrong")),
    ("two keys", posted(ECHO, BODY, f"Authorization: Bearer {KEY}")),
    ("no such tool", posted("/v1/tools/nothing/call")),
    ("a broken body", posted(body=b'{"text": ')),
    ("a body of another kind", posted(body=b"[1]")),
    ("its own request id", posted(ECHO, BODY, "X-Request-Id: mine-1")),
    ("a request id with a header in it", posted(ECHO, BODY, "X-Request-Id: a\tb")),
    ("an empty key of idempotency", posted(ECHO, BODY, "Idempotency-Key: ")),
    ("chunks", head("POST", ECHO, "Transfer-Encoding: chunked") + chunked(b'{"text":', b' "hello"}')),
    (
        "a key in a trailer",
        head("POST", ECHO, "Transfer-Encoding: chunked", key=None)
        + chunked(BODY, trailer=f"Authorization: Bearer {KEY}\r\n".encode()),
    ),
]
PAYLOADS = "/v1/calls"
_CALL = {"id": "call_1", "type": "function", "function": {"name": "echo", "arguments": '{"text": "hello"}'}}
OPENAI = json.dumps({"role": "assistant", "content": None, "tool_calls": [_CALL]}).encode()
CALLS += [
    ("a payload", posted(PAYLOADS, OPENAI)),
    ("a payload in another dialect", posted(PAYLOADS + "?from=openai&as=anthropic", OPENAI)),
    ("a payload in no dialect", posted(PAYLOADS, b'{"hello": "there"}')),
    ("a payload said to be another", posted(PAYLOADS + "?from=klingon", OPENAI)),
    ("a payload that is no JSON", posted(PAYLOADS, b"{")),
    ("a payload with a key twice", posted(PAYLOADS, b'{"name": "echo", "name": "other", "arguments": {}}')),
    ("a payload without a key", posted(PAYLOADS, OPENAI, key=None)),
    ("a payload of text", posted(PAYLOADS, b'<tool_call>{"name": "echo"}</tool_call>', "Content-Type: text/plain")),
    ("a payload of no text", posted(PAYLOADS, b"\xff", "Content-Type: text/plain")),
    ("a payload for no conversation", posted(PAYLOADS + "?thread=nobodys", OPENAI)),
    (
        "a payload that would rather have JSON",
        posted(PAYLOADS, OPENAI, "Accept: text/event-stream;q=0.1, */*", "Accept: application/json"),
    ),
]
CALLS += [
    ("a name in another spelling", posted("/v1/tools/%65cho/call")),
    ("a body that is asked for", posted(ECHO, BODY, "Expect: 100-continue")),
    ("a connection that closes", posted(ECHO, BODY, "Connection: close")),
    ("an older version", posted().replace(b"HTTP/1.1", b"HTTP/1.0", 1)),
    ("a change of protocol", posted(ECHO, BODY, "Connection: Upgrade", "Upgrade: websocket")),
]


def same(answer: tuple[int, dict[str, str], Any]) -> tuple[int, dict[str, str], Any]:
    """Return the response without the parts that differ: ids and times."""
    status, headers, body = answer
    if isinstance(body, dict):
        body.pop("execution_time_ms", None)
    kept = {name: value for name, value in headers.items() if name not in {"content-length", "date", "server"}}
    return status, json.loads(_ID.sub("ID", json.dumps(kept))), json.loads(_ID.sub("ID", json.dumps(body)))


async def test_a_caller_who_asks_for_events_gets_them(url: str) -> None:
    async with wire(url) as stream:
        await stream.send(posted(PAYLOADS, OPENAI, "Accept: text/event-stream"))
        raw = b""
        while b"event: complete" not in raw:
            raw += await stream.receive()
    assert b"content-type: text/event-stream" in raw


@pytest.mark.parametrize("raw", [raw for _, raw in CALLS], ids=[what for what, _ in CALLS])
async def test_parts_give_the_same_answer_as_the_whole(url: str, raw: bytes) -> None:
    top, end, rest = raw.partition(b"\r\n\r\n")
    ways = (raw,), (top + end, rest), (raw[:20], top[20:], end + rest[:3], rest[3:])
    answers = [same(await send_parts(url, *(part for part in way if part))) for way in ways]
    assert answers[0] == answers[1] == answers[2]


async def test_a_body_that_arrives_later_is_waited_for(url: str) -> None:
    whole = posted()
    status, _, body = await send_parts(url, whole[:-5], whole[-5:])
    assert (status, body["result"]) == (200, {"echo": {"text": "hello"}})


async def test_a_head_that_arrives_in_parts_is_assembled(url: str) -> None:
    whole = posted()
    status, _, body = await send_parts(url, whole[:20], whole[20:50], whole[50:])
    assert (status, body["result"]) == (200, {"echo": {"text": "hello"}})


async def test_calls_one_after_another_share_a_connection(url: str) -> None:
    async with wire(url) as stream:
        for number in range(5):
            raw = posted(body=b'{"text": "%d"}' % number)
            await stream.send(raw if number % 2 else raw[:-3])
            if not number % 2:
                await asyncio.sleep(0.01)
                await stream.send(raw[-3:])
            assert (await read_response(stream))[2]["result"] == {"echo": {"text": str(number)}}


async def test_calls_sent_at_once_are_answered_in_their_order(url: str) -> None:
    async with wire(url) as stream:
        await stream.send(b"".join(posted(body=b'{"text": "%d"}' % number) for number in range(20)))
        raw = b""
        while raw.count(b"HTTP/1.1 200") < 20 or not raw.endswith(b"}"):
            raw += await stream.receive()
    places = [raw.index(b'{"text":"%d"}' % number) for number in range(20)]
    assert places == sorted(places)


async def test_a_body_that_is_too_large_is_refused(board: Pegboard) -> None:
    limit = board.settings.max_body_bytes
    async with served(board) as url:
        status, _, body = await send_parts(url, head("POST", ECHO, f"Content-Length: {limit + 1}"))
    assert (status, body["title"]) == (413, "Body too large")


async def test_what_is_no_http_gets_400_and_runs_nothing(board: Pegboard, url: str) -> None:
    async with wire(url) as stream:
        await stream.send(head("POST", ECHO, "Transfer-Encoding: chunked") + b"zz\r\n")
        raw = await stream.receive()
    assert raw.startswith(b"HTTP/1.1 400 ")
    assert await calls_of(board) == []


class TestTheCallerLeaves:
    """A caller that disconnects before the response."""

    @pytest.fixture
    def begun(self, board: Pegboard) -> asyncio.Event:
        """Set while the tool runs, which does not end by itself; a call with a key is let go."""
        begun = asyncio.Event()

        @board.tool
        async def slow() -> str:
            begun.set()
            await asyncio.sleep(60)
            return "never"

        @board.tool
        async def short() -> str:
            begun.set()
            await asyncio.sleep(0.2)
            return "done"

        return begun

    async def test_their_call_is_cancelled(self, board: Pegboard, url: str, begun: asyncio.Event) -> None:
        async with wire(url) as stream:
            await stream.send(posted("/v1/tools/slow/call", b"{}"))
            await begun.wait()
        await until(lambda: _ended(board))
        (row,) = await calls_of(board)
        assert (row.status, row.code) == ("failed", "cancelled")

    async def test_their_call_continues_if_it_has_a_key(self, board: Pegboard, url: str, begun: asyncio.Event) -> None:
        async with wire(url) as stream:
            await stream.send(posted("/v1/tools/short/call", b"{}", "Idempotency-Key: k1"))
            await begun.wait()
        await until(lambda: _ended(board))
        (row,) = await calls_of(board)
        assert row.status == "succeeded"


async def _ended(board: Pegboard) -> bool:
    return bool(await calls_of(board))


_words = st.text(st.characters(codec="ascii", categories=["L", "N"]), max_size=8)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(1, 400), max_size=4), texts=st.lists(_words, min_size=1, max_size=3))
async def test_wherever_requests_are_cut_each_is_answered_once(url: str, cuts: list[int], texts: list[str]) -> None:
    raw = b"".join(posted(body=json.dumps({"text": text}).encode()) for text in texts)
    async with wire(url) as stream:
        for part in _parted(raw, cuts):
            await stream.send(part)
            await asyncio.sleep(0)
        rest = bytearray()
        seen = [await _next(stream, rest) for _ in texts]
    assert seen == texts


def _parted(raw: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(raw), *(cut % len(raw) for cut in cuts)})
    return [raw[start:end] for start, end in pairwise(places)]


async def _next(stream: SocketStream, rest: bytearray) -> str:
    """Return the text of the next response; `rest` is what was read after the one before."""
    while b"\r\n\r\n" not in rest:
        rest += await stream.receive()
    top, _, body = bytes(rest).partition(b"\r\n\r\n")
    length = next(int(line[15:]) for line in top.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    while len(body) < length:
        body += await stream.receive()
    rest[:] = body[length:]
    return str(json.loads(body[:length])["result"]["echo"]["text"])
