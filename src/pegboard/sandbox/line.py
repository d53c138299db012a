"""The server's end of one call: the job goes out, and how it ended comes back, on the event loop and within bounds."""

from __future__ import annotations

import asyncio
import os
import socket
from array import array
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import orjson

from pegboard.sandbox.inside.reports import MOST_BYTES
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# What the other end gets to leave once it was told to.
LEAVING_SECONDS = 5.0

_CHUNK = 2**16
_AT_ONCE = 128
_HEAD = 5
_MOST_HEADER = 2**16
_DESCRIPTORS = array("i", [0] * 4)
_ROOM_FOR_DESCRIPTORS = socket.CMSG_SPACE(len(_DESCRIPTORS) * _DESCRIPTORS.itemsize)
_STARTED, _LISTENS, _REPORTS, _ENDED = b"SLPE"


class Ended(NamedTuple):
    """How a confined call ended, and what it left."""

    fate: str
    code: int
    message: str
    result: bytes
    stdout: bytes
    stderr: bytes
    # Seconds between its coming and its being begun.
    waited: float = 0.0


class Garbled(Exception):
    """What the other end sent is not what it should be."""


class Line:
    """A conversation with the process that looks after one call.

    `most` bounds what it may send at its end; `on_reports` gets the lines in which the call tells of itself meanwhile,
    and must not raise.
    """

    def __init__(
        self,
        sock: socket.socket,
        *,
        most: int,
        network: bool = False,
        on_reports: Callable[[bytes], None] | None = None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._sock: socket.socket | None = sock
        self._sizes = {_ENDED: most + _MOST_HEADER, _REPORTS: MOST_BYTES if on_reports is not None else 0}
        self._network = network
        self._on_reports = on_reports
        self._then: list[Callable[[], None]] = []
        self._got = bytearray()
        self._out = memoryview(b"")
        self._descriptors: list[int] = []
        self._listener: socket.socket | None = None
        # Done when there is a listener to take, and when the call has begun; both also where neither will be.
        self.listens: asyncio.Future[None] = self._loop.create_future()
        self.begins: asyncio.Future[None] = self._loop.create_future()
        self._ended: asyncio.Future[Ended | Garbled | None] = self._loop.create_future()
        self._over = False
        self._timer: asyncio.TimerHandle | None = None
        # Whether what the call is for has begun; after the end, or hanging up, this is for good.
        self.started = False
        sock.setblocking(False)
        # The loop is told of descriptors, not of sockets: it writes down the name of one that it does not know.
        self._loop.add_reader(sock.fileno(), self._readable)

    def send(self, data: bytes) -> None:
        """Send this, as fast as it is taken; where the other end is gone already, how it ended says so."""
        if self._sock is None or self._over:
            return
        if self._out:
            self._out = memoryview(bytes(self._out) + data)
            return
        self._out = memoryview(data)
        if self._flush(self._sock):
            self._loop.add_writer(self._sock.fileno(), self._writable)

    def listener(self) -> socket.socket | None:
        """The socket on which the call's requests will come, to be closed by the caller; None where none has come."""
        listener, self._listener = self._listener, None
        return listener

    async def ended(self) -> Ended | None:
        """How the call ended, or None if the other end went without saying; raises Garbled where it sent nonsense."""
        answer = await self._ended
        if isinstance(answer, Garbled):
            raise answer
        return answer

    def when_gone(self, callback: Callable[[], None]) -> None:
        """Call this once the other end is really gone, or was given up on after it was told to leave."""
        if self._sock is None:
            callback()
        else:
            self._then.append(callback)

    def hang_up(self) -> None:
        """Have the other end stop at once, if it has not; what it still sends is thrown away."""
        self._take_back()
        self._stop_reading_frames()
        sock = self._sock
        if sock is None or self._timer is not None:
            return
        self._drop_output(sock)
        with suppress(OSError):
            # Its side sees the end of the line; ours stays open, to see that it is gone.
            sock.shutdown(socket.SHUT_WR)
        self._timer = self._loop.call_later(LEAVING_SECONDS, self._give_up)

    def _take_back(self) -> None:
        """Keep a call that has not begun from beginning, for good."""
        if not (self._ended.done() or self.started):
            self._readable()
        if self._sock is None or self._ended.done() or self.started:
            return
        with suppress(OSError):
            # The other end cannot say any more that the call begins, and begins none without. What it said just before
            # is still to be read; that it is gone would not be seen, but it has nothing to do either.
            self._sock.shutdown(socket.SHUT_RDWR)
        self._readable()

    def _give_up(self) -> None:
        log.error("sandbox_call_lingers", seconds=LEAVING_SECONDS)
        self._gone()

    def _gone(self) -> None:
        sock, self._sock = self._sock, None
        if sock is None:
            return
        self._stop_reading_frames()
        self._drop_output(sock)
        self._loop.remove_reader(sock.fileno())
        sock.close()
        if self._timer is not None:
            self._timer.cancel()
        then, self._then = self._then, []
        for callback in then:
            callback()

    def _stop_reading_frames(self) -> None:
        self._over = True
        self._got = bytearray()
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors.clear()
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        self._settle(None)

    def _settle(self, answer: Ended | Garbled | None) -> None:
        if not self._ended.done():
            self._ended.set_result(answer)
        for news in (self.listens, self.begins):
            if not news.done():
                news.set_result(None)

    def _drop_output(self, sock: socket.socket) -> None:
        if self._out:
            self._out = memoryview(b"")
            self._loop.remove_writer(sock.fileno())

    def _writable(self) -> None:
        if self._sock is not None and not self._flush(self._sock):
            self._loop.remove_writer(self._sock.fileno())

    def _flush(self, sock: socket.socket) -> bool:
        """Whether something is left to send after what can be sent now was."""
        try:
            sent = sock.send(self._out)
        except (BlockingIOError, InterruptedError):
            return True
        except OSError:
            # It is gone, or going: what it has said before still is to be read.
            sent = len(self._out)
        self._out = self._out[sent:]
        return bool(self._out)

    def _readable(self) -> None:
        # All there is, up to what a socket can hold: of one that the other end has left with something unread, uvloop
        # tells but once.
        for _ in range(_AT_ONCE):
            if self._sock is None:
                return
            try:
                data = self._received(self._sock)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                data = b""
            if not data:
                self._gone()
            elif not self._over:
                self._take(data)

    def _take(self, data: bytes) -> None:
        self._got += data
        try:
            self._read_frames()
        except Garbled as error:
            self._settle(error)
            self.hang_up()

    def _received(self, sock: socket.socket) -> bytes:
        if not self._network or self._over:
            return sock.recv(_CHUNK)
        data, parts, _, _ = sock.recvmsg(_CHUNK, _ROOM_FOR_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC)
        for level, kind, content in parts:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                came = array("i")
                came.frombytes(content[: len(content) - len(content) % came.itemsize])
                self._descriptors += came
        return data

    def _read_frames(self) -> None:
        while not self._over and len(self._got) >= _HEAD:
            kind = self._got[0]
            size = int.from_bytes(self._got[1:_HEAD], "big")
            if size > self._sizes.get(kind, 0):
                raise Garbled(f"a frame {chr(kind)!r} of {size} bytes")
            if len(self._got) < _HEAD + size:
                return
            if kind == _ENDED:
                self._settle(_read_end(memoryview(self._got)[_HEAD : _HEAD + size]))
                self.hang_up()
            elif kind == _REPORTS and self._on_reports is not None and self.started:
                self._on_reports(bytes(self._got[_HEAD : _HEAD + size]))
            elif kind == _STARTED and not self.started:
                self.started = True
                self.begins.set_result(None)
            elif kind == _LISTENS and self._network and not (self.started or self.listens.done()):
                self._listener = self._taken()
                self.listens.set_result(None)
            else:
                raise Garbled(f"a frame {chr(kind)!r} that is out of place")
            del self._got[: _HEAD + size]

    def _taken(self) -> socket.socket:
        """The socket that came, if it is one that listens."""
        if len(self._descriptors) != 1:
            raise Garbled(f"{len(self._descriptors)} descriptors instead of one")
        try:
            listener = socket.socket(fileno=self._descriptors[0])
        except OSError:
            raise Garbled("a descriptor that is no socket") from None
        self._descriptors.clear()
        if listener.family != socket.AF_INET or not listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            listener.close()
            raise Garbled("a socket that does not listen")
        listener.setblocking(False)
        return listener


def _read_end(payload: memoryview) -> Ended:
    at = 4 + int.from_bytes(payload[:4], "big")
    try:
        header = orjson.loads(payload[4:at])
    except ValueError:
        raise Garbled("an end that cannot be read") from None
    match header:
        case {
            "fate": str(fate),
            "code": int(code),
            "message": str(message),
            "result": int(result),
            "stdout": int(stdout),
            "stderr": int(stderr),
        }:
            lengths = (result, stdout, stderr)
        case _:
            raise Garbled("an end that lacks something")
    if min(lengths) < 0 or at + sum(lengths) != len(payload):
        raise Garbled("an end whose parts do not add up")
    first, second = at + result, at + result + stdout
    return Ended(fate, code, message, bytes(payload[at:first]), bytes(payload[first:second]), bytes(payload[second:]))
