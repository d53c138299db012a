"""Cancelled calls: they end, and it is known whether they ran."""

from __future__ import annotations

import asyncio
import gc
import socket
import tracemalloc
import weakref
from collections.abc import Iterator
from typing import Any

import anyio
import pytest

from pegboard.sandbox import call_channel as module
from pegboard.sandbox.call_channel import CallChannel
from tests.event_loops import USE_UVLOOP
from tests.unit.sandbox.confined_tools import is_closed
from tests.unit.sandbox.test_call_channel import MOST, Ends, end, frame
from tests.waiting import until


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


async def _seen(value: bool) -> bool:
    return value


async def test_a_call_that_had_begun_unnoticed_is_known_to_have_begun(peer: Ends) -> None:
    ours, theirs = peer
    line = CallChannel(ours, most=MOST)
    theirs.sendall(frame(b"S"))  # the loop has no turn to read it
    line.terminate()
    assert line.started
    assert await line.read_result() is None
    assert not is_closed(line), "it has begun, so its end is waited for"


async def test_a_call_that_has_not_begun_never_will(peer: Ends) -> None:
    ours, theirs = peer
    gone: list[bool] = []
    line = CallChannel(ours, most=MOST)
    line.on_close(lambda: gone.append(True))
    line.send(b"the job")
    line.terminate()
    assert (line.started, gone) == (False, [True])
    assert theirs.recv(100) == b"the job"
    with pytest.raises(BrokenPipeError):
        theirs.sendall(frame(b"S"))
    assert await line.read_result() is None
    assert line.begins.done()


async def test_an_end_that_arrived_unnoticed_is_read(peer: Ends) -> None:
    ours, theirs = peer
    line = CallChannel(ours, most=MOST)
    theirs.sendall(end(fate="setup", message="mount: not permitted"))
    line.terminate()
    ended = await line.read_result()
    assert ended is not None
    assert ended.message == "mount: not permitted"
    assert not line.started


async def test_hanging_up_ends_the_peers_reading_and_waits_for_it_to_leave(peer: Ends) -> None:
    line = await closed_peer(peer)
    gc.collect()
    assert line() is None, "no timer is left that would report it as lingering"


async def closed_peer(peer: Ends) -> weakref.ref[CallChannel]:
    """A channel whose peer has closed after a cancellation."""
    ours, theirs = peer
    gone: list[bool] = []
    line = CallChannel(ours, most=MOST)
    line.on_close(lambda: gone.append(True))
    line.send(b"x" * 2**22)
    theirs.sendall(frame(b"S"))
    await line.begins
    line.terminate()
    line.terminate()
    with anyio.fail_after(30):
        assert await line.read_result() is None
        while theirs.recv(2**20):
            pass
        assert not is_closed(line)
        tracemalloc.start()
        theirs.setblocking(False)
        # Its remaining output is read and discarded, or it could never finish writing it.
        await asyncio.get_running_loop().sock_sendall(theirs, end(b"x" * 2**20))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 2**19
    theirs.close()
    await until(lambda: _seen(is_closed(line)))
    line.on_close(lambda: gone.append(False))
    assert gone == [True, False]
    return weakref.ref(line)


async def test_a_peer_that_does_not_leave_is_given_up_on(peer: Ends, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CALL_EXIT_SECONDS", 0.02)
    ours, theirs = peer
    gone = asyncio.Event()
    line = CallChannel(ours, most=MOST)
    line.on_close(gone.set)
    theirs.sendall(frame(b"S"))
    line.terminate()
    with anyio.fail_after(30):
        await gone.wait()
    assert is_closed(line)
