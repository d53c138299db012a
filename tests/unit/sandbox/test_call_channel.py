"""The server's end of a call, with a peer that behaves correctly or not."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.sandbox.call_channel import CallChannel, ConfinedResult, InvalidFrame
from tests.event_loops import USE_UVLOOP
from tests.unit.sandbox.confined_tools import is_closed
from tests.waiting import until

MOST = 10_000

Ends = tuple[socket.socket, socket.socket]


@pytest.fixture(params=USE_UVLOOP)
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """The event loop of tests, and that of the server."""
    return "asyncio", {"use_uvloop": request.param}


@pytest.fixture
def peer() -> Iterator[Ends]:
    """The server's end, and the other; the call channel closes the first itself."""
    ours, theirs = socket.socketpair()
    theirs.settimeout(60)
    yield ours, theirs
    ours.close()
    theirs.close()


def frame(kind: bytes, payload: bytes = b"") -> bytes:
    return kind + len(payload).to_bytes(4, "big") + payload


def end(result: bytes = b"", stdout: bytes = b"", stderr: bytes = b"", **header: Any) -> bytes:
    """Return an end message; its header matches the content unless another one is given."""
    lengths = {"result": len(result), "stdout": len(stdout), "stderr": len(stderr)}
    received = {"fate": "exited", "code": 0, "message": ""} | lengths | header.pop("says", {}) | header
    head = json.dumps(received).encode()
    return frame(b"E", len(head).to_bytes(4, "big") + head + result + stdout + stderr)


async def listener_of(line: CallChannel) -> socket.socket | None:
    """Return the listener that arrives, or None."""
    await line.listener_ready
    return line.listener()


def descriptors() -> set[str]:
    return {entry.name for entry in Path("/proc/self/fd").iterdir()}


async def test_a_job_goes_out_and_how_it_ended_returns(peer: Ends) -> None:
    ours, theirs = peer
    gone = asyncio.Event()
    line = CallChannel(ours, most=MOST)
    line.on_close(gone.set)
    line.send(b"the job")
    assert theirs.recv(100) == b"the job"
    theirs.sendall(frame(b"S") + end(b'{"ok":1}', b"out", b"err", code=3))
    with anyio.fail_after(30):
        assert await line.read_result() == ConfinedResult("exited", 3, "", b'{"ok":1}', b"out", b"err")
        assert line.started
        assert not gone.is_set(), "it said how it ended, and has not left"
        theirs.close()
        await gone.wait()
    assert is_closed(line)
    assert ours.fileno() == -1


async def test_a_job_larger_than_the_sockets_buffers_does_not_block_the_loop(
    peer: Ends,
) -> None:
    ours, theirs = peer
    line = CallChannel(ours, most=MOST)
    job = os.urandom(1024) * 5000
    line.send(job)
    line.send(b"and more")  # while the first is still going out
    got = b""
    theirs.setblocking(False)
    loop = asyncio.get_running_loop()
    with anyio.fail_after(30):
        while len(got) < len(job) + 8:
            got += await loop.sock_recv(theirs, 2**20)
    assert got == job + b"and more"
    theirs.close()
    assert await line.read_result() is None


async def test_an_end_that_comes_in_many_pieces_is_one_end(peer: Ends) -> None:
    ours, theirs = peer
    line = CallChannel(ours, most=MOST)
    for byte in frame(b"S") + end(b"result", b"out"):
        theirs.send(bytes([byte]))
        await asyncio.sleep(0)
    theirs.close()
    with anyio.fail_after(30):
        assert await line.read_result() == ConfinedResult("exited", 0, "", b"result", b"out", b"")


@pytest.mark.parametrize("size", [0, 150_000])
async def test_an_end_is_read_although_the_peer_left_without_reading_its_job(peer: Ends, size: int) -> None:
    ours, theirs = peer
    line = CallChannel(ours, most=2**20)
    line.send(b"x" * 2**21)
    theirs.sendall(end(b"x" * size, fate="setup", message="mount: not permitted"))
    theirs.close()
    with anyio.fail_after(30):
        ended = await line.read_result()
        assert ended is not None
        assert (ended.message, len(ended.result)) == ("mount: not permitted", size)
        assert not line.started
        await until(lambda: _seen(is_closed(line)))


async def test_what_is_sent_to_a_peer_that_has_left_is_lost_and_its_end_is_not(peer: Ends) -> None:
    ours, theirs = peer
    line = CallChannel(ours, most=MOST)
    theirs.sendall(end(code=1))
    theirs.close()
    line.send(b"too late")
    with anyio.fail_after(30):
        assert await line.read_result() == ConfinedResult("exited", 1, "", b"", b"", b"")


async def test_a_peer_that_goes_without_a_word_is_distinguished_from_one_that_had_begun(
    peer: Ends,
) -> None:
    ours, theirs = peer
    line = CallChannel(ours, most=MOST)
    theirs.sendall(frame(b"S"))
    theirs.close()
    with anyio.fail_after(30):
        assert await line.read_result() is None
    assert line.started


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"GET / HTTP/1.1\r\n", id="another protocol"),
        pytest.param(frame(b"S", b"x"), id="a start that says something"),
        pytest.param(frame(b"S") + frame(b"S"), id="two starts"),
        pytest.param(frame(b"L"), id="a listener where none is wanted"),
        pytest.param(b"E" + (2**31).to_bytes(4, "big"), id="an end of two gigabytes"),
        pytest.param(b"E" + (MOST + 2**16 + 1).to_bytes(4, "big"), id="an end a byte too long"),
        pytest.param(frame(b"E"), id="an empty end"),
        pytest.param(frame(b"E", b"\xff\xff\xff\xff{}"), id="a header longer than the frame"),
        pytest.param(frame(b"E", b"\x00\x00\x00\x02[]"), id="a header that is a list"),
        pytest.param(frame(b"E", b"\x00\x00\x27\x10" + b"[" * 10_000), id="a header nested without end"),
        pytest.param(end(says={"result": 2**20}), id="less than it says"),
        pytest.param(end(b"ab", says={"result": -1, "stdout": 3}), id="a negative length"),
        pytest.param(end(b"abc", says={"result": 1}), id="more than it says"),
        pytest.param(end(code="0"), id="a status in words"),
        pytest.param(end(b"a", says={"result": 1.0}), id="half a byte"),
    ],
)
async def test_a_peer_that_sends_nonsense_is_cut_off(peer: Ends, sent: bytes) -> None:
    ours, theirs = peer
    line = CallChannel(ours, most=MOST)
    theirs.sendall(sent)
    with anyio.fail_after(30):
        with pytest.raises(InvalidFrame):
            await line.read_result()
        assert theirs.recv(1) == b"", "it is told to leave"
    theirs.close()
    await until(lambda: _seen(is_closed(line)))


async def _seen(value: bool) -> bool:
    return value


async def test_the_listening_socket_comes_before_the_start(peer: Ends) -> None:
    ours, theirs = peer
    line = CallChannel(ours, most=MOST, network=True)
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.send_fds(theirs, [frame(b"L")], [server.fileno()])
        with anyio.fail_after(30):
            listener = await listener_of(line)
        assert listener is not None
        with listener:
            assert listener.getsockname() == server.getsockname()
            assert not os.get_inheritable(listener.fileno())
    line.send(b"l")
    assert theirs.recv(1) == b"l"
    theirs.sendall(frame(b"S") + end())
    theirs.close()
    with anyio.fail_after(30):
        assert await line.read_result() is not None


async def test_waiting_for_a_listener_ends_if_the_call_ends(
    peer: Ends,
) -> None:
    ours, theirs = peer
    line = CallChannel(ours, most=MOST, network=True)
    theirs.sendall(end(fate="setup", message="no lo"))
    theirs.close()
    with anyio.fail_after(30):
        assert await listener_of(line) is None
        assert await line.read_result() is not None


@pytest.mark.parametrize("sent", ["a file", "two", "a socket that is connected", "nothing"])
async def test_other_descriptors_are_refused_and_closed(peer: Ends, sent: str) -> None:
    ours, theirs = peer
    with tempfile.TemporaryFile() as file, socket.create_server(("127.0.0.1", 0)) as server:
        before = descriptors()
        line = CallChannel(ours, most=MOST, network=True)
        passed = {
            "a file": [file.fileno()],
            "two": [server.fileno(), server.fileno()],
            "a socket that is connected": [theirs.fileno()],
            "nothing": [],
        }[sent]
        socket.send_fds(theirs, [frame(b"L")], passed)
        with anyio.fail_after(30), pytest.raises(InvalidFrame):
            await line.read_result()
        assert descriptors() <= before


async def test_a_listener_that_no_process_takes_is_closed(peer: Ends) -> None:
    ours, theirs = peer
    with socket.create_server(("127.0.0.1", 0)) as server:
        before = descriptors()
        line = CallChannel(ours, most=MOST, network=True)
        socket.send_fds(theirs, [frame(b"L")], [server.fileno()])
        await until(lambda: _seen(line.listener_ready.done()))
        assert len(descriptors()) == len(before) + 1
        line.terminate()
        assert len(descriptors()) == len(before) - 1, "the line's own is closed as well"
    assert await listener_of(line) is None


@given(data=st.binary(max_size=60), cut=st.integers(0, 60))
@settings(deadline=None, database=None)
def test_whatever_bytes_come_the_line_settles(data: bytes, cut: int) -> None:
    async def converse() -> None:
        ours, theirs = socket.socketpair()
        line = CallChannel(ours, most=MOST)
        with theirs:
            for part in (data[:cut], data[cut:]):
                theirs.sendall(part)
                await asyncio.sleep(0)
        with anyio.fail_after(30):
            try:
                ended = await line.read_result()
            except InvalidFrame:
                return
        assert ended is None, "no random bytes make an end"

    asyncio.run(converse())
