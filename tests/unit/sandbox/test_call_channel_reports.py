"""Progress reports of a call, as the server receives them."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator

import anyio
import pytest

from pegboard.sandbox.call_channel import CallChannel, ConfinedResult, InvalidFrame
from pegboard.sandbox.child.pipes import MAX_REPORT_BYTES

HEADER = b'{"fate":"exited","code":0,"message":"","result":0,"stdout":0,"stderr":0}'
END = len(HEADER).to_bytes(4, "big") + HEADER

Ends = tuple[socket.socket, socket.socket]


def frame(kind: bytes, payload: bytes = b"") -> bytes:
    return kind + len(payload).to_bytes(4, "big") + payload


@pytest.fixture
def peer() -> Iterator[Ends]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


async def test_reports_arrive_in_order_between_start_and_end(peer: Ends) -> None:
    ours, theirs = peer
    received: list[bytes] = []
    line = CallChannel(ours, most=100, on_reports=received.append)
    reports = frame(b"P", b"one\ntwo") + frame(b"P", b"x" * MAX_REPORT_BYTES) + frame(b"P")
    sent = frame(b"S") + reports + frame(b"E", END)
    for start in range(0, len(sent), 7):
        theirs.sendall(sent[start : start + 7])
        await asyncio.sleep(0)
    theirs.close()
    with anyio.fail_after(30):
        assert await line.read_result() == ConfinedResult("exited", 0, "", b"", b"", b"")
    assert received == [b"one\ntwo", b"x" * MAX_REPORT_BYTES, b""]


async def test_no_report_arrives_after_the_end_or_after_a_hangup(peer: Ends) -> None:
    ours, theirs = peer
    received: list[bytes] = []
    line = CallChannel(ours, most=100, on_reports=received.append)
    theirs.sendall(frame(b"S") + frame(b"E", END) + frame(b"P", b"late"))
    with anyio.fail_after(30):
        assert await line.read_result() is not None
    theirs.sendall(frame(b"P", b"later"))
    gone = asyncio.Event()
    line.on_close(gone.set)
    theirs.close()
    with anyio.fail_after(30):
        await gone.wait()
    assert received == []


@pytest.mark.parametrize(
    ("sent", "listens"),
    [
        pytest.param(frame(b"S") + frame(b"P", b"x"), False, id="without a listener"),
        pytest.param(frame(b"S") + frame(b"P"), False, id="an empty one without a listener"),
        pytest.param(frame(b"P", b"x"), True, id="before the start"),
        pytest.param(frame(b"S") + b"P" + (MAX_REPORT_BYTES + 1).to_bytes(4, "big"), True, id="one that is too long"),
        pytest.param(frame(b"S") + b"P\xff\xff\xff\xff", True, id="one without end"),
    ],
)
async def test_reports_that_are_out_of_place_cut_the_line(peer: Ends, sent: bytes, listens: bool) -> None:
    ours, theirs = peer
    received: list[bytes] = []
    line = CallChannel(ours, most=2**20, on_reports=received.append if listens else None)
    theirs.sendall(sent)
    with anyio.fail_after(30), pytest.raises(InvalidFrame):
        await line.read_result()
    assert received == []
    assert theirs.recv(1) == b"", "it is told to leave"
