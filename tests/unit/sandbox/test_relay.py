"""Copying bytes between sockets: complete, in order, framed, and a bounded number at once."""

from __future__ import annotations

import asyncio
import os
import resource
import socket
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.sandbox.proxy_http import MalformedHttp, create_client_parser, read_request
from pegboard.sandbox.proxy_relay import ConnectionBroken, LoopTurns, ProxyBody, ProxyStream, copy_stream, run_tasks
from tests.unit.http_client.upstreams import answer, chunked, serve_responses
from tests.unit.sandbox.proxies import Client, fetching, proxying
from tests.waiting import until

CHUNKED = "Transfer-Encoding: chunked"


async def read_body(sent: bytes, cuts: list[int], framing: str) -> tuple[bytes, bytes]:
    """Return the parsed body if its bytes arrive in these parts, and the rest after it."""

    async def send() -> None:
        for start, end in pairwise([0, *sorted(cut % (len(sent) + 1) for cut in cuts), len(sent)]):
            await asyncio.get_running_loop().sock_sendall(theirs, sent[start:end])
            await asyncio.sleep(0)
        theirs.shutdown(socket.SHUT_WR)

    ours, theirs = socket.socketpair()
    with ours, theirs:
        for sock in (ours, theirs):
            sock.setblocking(False)
        stream = ProxyStream(ours, LoopTurns())
        async with run_tasks(send()) as (sending,):
            parser = create_client_parser()
            read_request(f"POST http://a/ HTTP/1.1\r\n{framing}\r\n\r\n".encode(), parser)
            body = ProxyBody(stream, parser)
            pieces = []
            while piece := await body.piece():
                pieces.append(piece)
            assert await body.piece() == b""
            await sending
        rest = parser.trailing_data[0]
        while more := await stream.some():
            rest += more
        return b"".join(pieces), rest


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=5), st.lists(st.integers(0, 300), max_size=6))
def test_chunks_are_joined_however_they_arrive(pieces: list[bytes], cuts: list[int]) -> None:
    sent = chunked(*pieces) + b"rest"
    assert asyncio.run(read_body(sent, cuts, CHUNKED)) == (b"".join(pieces), b"rest")


@given(st.binary(max_size=50), st.binary(max_size=50), st.lists(st.integers(0, 100), max_size=4))
def test_a_length_is_kept_to(body: bytes, rest: bytes, cuts: list[int]) -> None:
    assert asyncio.run(read_body(body + rest, cuts, f"Content-Length: {len(body)}")) == (body, rest)


@pytest.mark.parametrize("sent", [b"", b"5", b"5\r\n", b"5\r\nab", b"5\r\nabcde", b"5\r\nabcde\r\n", b"0\r\nA: b\r\n"])
async def test_chunks_that_end_too_early_are_broken(sent: bytes) -> None:
    with pytest.raises(ConnectionBroken):
        await read_body(sent, [], CHUNKED)


async def test_a_length_that_is_not_reached_is_broken() -> None:
    with pytest.raises(ConnectionBroken):
        await read_body(b"abc", [], "Content-Length: 4")


async def test_a_chunk_that_is_longer_than_it_says_is_malformed() -> None:
    with pytest.raises(MalformedHttp, match="longer than its size"):
        await read_body(b"1\r\nab\r\n0\r\n\r\n", [], CHUNKED)


async def test_a_sink_that_takes_no_more_ends_its_own_way_only() -> None:
    ours, source = socket.socketpair()
    sink, gone = socket.socketpair()
    with ours, source, sink, gone:
        for sock in (source, sink):
            sock.setblocking(False)
        gone.close()
        ours.send(b"for no reader")
        turns = LoopTurns()
        await asyncio.wait_for(copy_stream(ProxyStream(source, turns), ProxyStream(sink, turns)), 30)


async def test_connections_of_a_call_take_turns_of_the_loop() -> None:
    rounds = 0

    async def guest() -> None:
        for _ in range(5):
            await turns.next()
            taken.append(rounds)

    def tick() -> None:
        nonlocal rounds
        rounds += 1
        ticking.append(loop.call_soon(tick))

    loop = asyncio.get_running_loop()
    ticking: list[asyncio.Handle] = []
    taken: list[int] = []
    tick()
    turns = LoopTurns()
    await asyncio.gather(*(guest() for _ in range(20)))
    ticking[-1].cancel()
    assert len(taken) == 100
    assert len(set(taken)) == 100, "in one round of the loop no two of them did anything"


async def test_chunks_of_one_byte_leave_the_loop_to_others() -> None:
    rounds = 0

    async def others() -> None:
        nonlocal rounds
        while True:
            await asyncio.sleep(0)
            rounds += 1

    counting = asyncio.create_task(others())
    body, _ = await read_body(chunked(*[b"x"] * 5000), [], CHUNKED)
    counting.cancel()
    assert len(body) == 5000
    assert rounds >= 5000


async def test_running_out_of_descriptors_holds_up_new_connections_only(caplog: pytest.LogCaptureFixture) -> None:
    async def warned() -> bool:
        return "proxy_cannot_accept" in caplog.text

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with serve_responses(answer(b"served")) as up, proxying() as proxy:
        early = await proxy.client()
        await early.say(b"GET ")
        late = socket.create_connection(("127.0.0.1", proxy.port))
        free = os.dup(0)
        os.close(free)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
            await until(warned)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for client in (early, Client(*await asyncio.open_connection(sock=late))):
            await client.say(fetching(up.port).removeprefix(b"GET " if client is early else b""))
            assert (await client.answer()).body == b"served"
            client.leave()
