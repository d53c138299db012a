"""The server's end of the socket of one call: sends the job, and reads its frames and result on the event loop."""

from __future__ import annotations

import asyncio
import os
import socket
from array import array
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import orjson

from pegboard.sandbox.child.pipes import MAX_REPORT_BYTES
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# How long the supervisor may take to exit after `terminate`.
CALL_EXIT_SECONDS = 5.0

_READ_BYTES = 2**16
_MAX_READS = 128
_FRAME_HEADER_BYTES = 5
_MAX_RESULT_HEADER_BYTES = 2**16
_FD_ARRAY = array("i", [0] * 4)
_FD_BUFFER_BYTES = socket.CMSG_SPACE(len(_FD_ARRAY) * _FD_ARRAY.itemsize)
_FRAME_STARTED, _FRAME_LISTENER, _FRAME_REPORTS, _FRAME_RESULT = b"SLPE"


class ConfinedResult(NamedTuple):
    """How a confined call ended, with its result and output."""

    fate: str
    code: int
    message: str
    result: bytes
    stdout: bytes
    stderr: bytes
    # Seconds between the arrival of the call and its start.
    waited: float = 0.0


class InvalidFrame(Exception):
    """The supervisor sent a frame that is invalid."""


class CallChannel:
    """The socket to the supervisor of one call.

    `most` limits the size of the result frame. `on_reports` receives the report lines of the running call and must not
    raise.
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
        self._sizes = {
            _FRAME_RESULT: most + _MAX_RESULT_HEADER_BYTES,
            _FRAME_REPORTS: MAX_REPORT_BYTES if on_reports is not None else 0,
        }
        self._network = network
        self._on_reports = on_reports
        self._close_callbacks: list[Callable[[], None]] = []
        self._input_buffer = bytearray()
        self._output_buffer = memoryview(b"")
        self._descriptors: list[int] = []
        self._listener: socket.socket | None = None
        # Done when the listener has arrived, and when the call has started; both are also done if the call ends first.
        self.listener_ready: asyncio.Future[None] = self._loop.create_future()
        self.begins: asyncio.Future[None] = self._loop.create_future()
        self._ended: asyncio.Future[ConfinedResult | InvalidFrame | None] = self._loop.create_future()
        self._over = False
        self._timer: asyncio.TimerHandle | None = None
        # Whether the call has started; final once the call has ended or `terminate` was called.
        self.started = False
        sock.setblocking(False)
        # By file descriptor: the loop formats the repr of an object that it does not know, which is slow for a socket.
        self._loop.add_reader(sock.fileno(), self._readable)

    def send(self, data: bytes) -> None:
        """Send the data as fast as the supervisor reads it; if it is gone already, `ended` reports that."""
        if self._sock is None or self._over:
            return
        if self._output_buffer:
            self._output_buffer = memoryview(bytes(self._output_buffer) + data)
            return
        self._output_buffer = memoryview(data)
        if self._flush(self._sock):
            self._loop.add_writer(self._sock.fileno(), self._on_writable)

    def listener(self) -> socket.socket | None:
        """Return the listening socket of the call's proxy, which the caller closes; None if it has not arrived."""
        listener, self._listener = self._listener, None
        return listener

    async def read_result(self) -> ConfinedResult | None:
        """The result, or None if the supervisor exited without one; raise InvalidFrame if its data is invalid."""
        answer = await self._ended
        if isinstance(answer, InvalidFrame):
            raise answer
        return answer

    def on_close(self, callback: Callable[[], None]) -> None:
        """Call this when the supervisor has exited, or has not exited within the time after `terminate`."""
        if self._sock is None:
            callback()
        else:
            self._close_callbacks.append(callback)

    def terminate(self) -> None:
        """Make the supervisor stop at once if it has not yet; data that it still sends is discarded."""
        self._prevent_start()
        self._stop_reading_frames()
        sock = self._sock
        if sock is None or self._timer is not None:
            return
        self._drop_output(sock)
        with suppress(OSError):
            # The supervisor reads EOF; our side stays open for reading, to detect its exit.
            sock.shutdown(socket.SHUT_WR)
        self._timer = self._loop.call_later(CALL_EXIT_SECONDS, self._give_up)

    def _prevent_start(self) -> None:
        """Prevent a call that has not started from ever starting."""
        if not (self._ended.done() or self.started):
            self._readable()
        if self._sock is None or self._ended.done() or self.started:
            return
        with suppress(OSError):
            # After this the supervisor cannot send the started frame, and it starts no call without it. A frame that it
            # sent just before can still be read. Its exit cannot be detected any more, but it has nothing left to do.
            self._sock.shutdown(socket.SHUT_RDWR)
        self._readable()

    def _give_up(self) -> None:
        log.error("sandbox_call_lingers", seconds=CALL_EXIT_SECONDS)
        self._close_socket()

    def _close_socket(self) -> None:
        sock, self._sock = self._sock, None
        if sock is None:
            return
        self._stop_reading_frames()
        self._drop_output(sock)
        self._loop.remove_reader(sock.fileno())
        sock.close()
        if self._timer is not None:
            self._timer.cancel()
        then, self._close_callbacks = self._close_callbacks, []
        for callback in then:
            callback()

    def _stop_reading_frames(self) -> None:
        self._over = True
        self._input_buffer = bytearray()
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors.clear()
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        self._settle(None)

    def _settle(self, answer: ConfinedResult | InvalidFrame | None) -> None:
        if not self._ended.done():
            self._ended.set_result(answer)
        for news in (self.listener_ready, self.begins):
            if not news.done():
                news.set_result(None)

    def _drop_output(self, sock: socket.socket) -> None:
        if self._output_buffer:
            self._output_buffer = memoryview(b"")
            self._loop.remove_writer(sock.fileno())

    def _on_writable(self) -> None:
        if self._sock is not None and not self._flush(self._sock):
            self._loop.remove_writer(self._sock.fileno())

    def _flush(self, sock: socket.socket) -> bool:
        """Send as much as possible now; return True if data is left."""
        try:
            sent = sock.send(self._output_buffer)
        except (BlockingIOError, InterruptedError):
            return True
        except OSError:
            # The supervisor has exited or is exiting: what it sent before must still be read.
            sent = len(self._output_buffer)
        self._output_buffer = self._output_buffer[sent:]
        return bool(self._output_buffer)

    def _readable(self) -> None:
        # Read until the socket is empty, up to the size of its buffer: if the peer closed with data unread, uvloop
        # reports the socket only once.
        for _ in range(_MAX_READS):
            if self._sock is None:
                return
            try:
                data = self._receive(self._sock)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                data = b""
            if not data:
                self._close_socket()
            elif not self._over:
                self._take(data)

    def _take(self, data: bytes) -> None:
        self._input_buffer += data
        try:
            self._read_frames()
        except InvalidFrame as error:
            self._settle(error)
            self.terminate()

    def _receive(self, sock: socket.socket) -> bytes:
        if not self._network or self._over:
            return sock.recv(_READ_BYTES)
        data, parts, _, _ = sock.recvmsg(_READ_BYTES, _FD_BUFFER_BYTES, socket.MSG_CMSG_CLOEXEC)
        for level, kind, content in parts:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                received = array("i")
                received.frombytes(content[: len(content) - len(content) % received.itemsize])
                self._descriptors += received
        return data

    def _read_frames(self) -> None:
        while not self._over and len(self._input_buffer) >= _FRAME_HEADER_BYTES:
            kind = self._input_buffer[0]
            size = int.from_bytes(self._input_buffer[1:_FRAME_HEADER_BYTES], "big")
            if size > self._sizes.get(kind, 0):
                raise InvalidFrame(f"a frame {chr(kind)!r} of {size} bytes")
            if len(self._input_buffer) < _FRAME_HEADER_BYTES + size:
                return
            if kind == _FRAME_RESULT:
                self._settle(
                    _read_result_frame(memoryview(self._input_buffer)[_FRAME_HEADER_BYTES : _FRAME_HEADER_BYTES + size])
                )
                self.terminate()
            elif kind == _FRAME_REPORTS and self._on_reports is not None and self.started:
                self._on_reports(bytes(self._input_buffer[_FRAME_HEADER_BYTES : _FRAME_HEADER_BYTES + size]))
            elif kind == _FRAME_STARTED and not self.started:
                self.started = True
                self.begins.set_result(None)
            elif kind == _FRAME_LISTENER and self._network and not (self.started or self.listener_ready.done()):
                self._listener = self._take_socket()
                self.listener_ready.set_result(None)
            else:
                raise InvalidFrame(f"a frame {chr(kind)!r} that is not expected now")
            del self._input_buffer[: _FRAME_HEADER_BYTES + size]

    def _take_socket(self) -> socket.socket:
        """Return the received socket; raise InvalidFrame if it is not exactly one listening socket."""
        if len(self._descriptors) != 1:
            raise InvalidFrame(f"{len(self._descriptors)} descriptors instead of one")
        try:
            listener = socket.socket(fileno=self._descriptors[0])
        except OSError:
            raise InvalidFrame("a descriptor that is no socket") from None
        self._descriptors.clear()
        if listener.family != socket.AF_INET or not listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            listener.close()
            raise InvalidFrame("a socket that does not listen")
        listener.setblocking(False)
        return listener


def _read_result_frame(payload: memoryview) -> ConfinedResult:
    at = 4 + int.from_bytes(payload[:4], "big")
    try:
        header = orjson.loads(payload[4:at])
    except ValueError:
        raise InvalidFrame("a result header that is not JSON") from None
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
            raise InvalidFrame("a result header with missing fields")
    if min(lengths) < 0 or at + sum(lengths) != len(payload):
        raise InvalidFrame("a result whose lengths do not match its size")
    first, second = at + result, at + result + stdout
    return ConfinedResult(
        fate, code, message, bytes(payload[at:first]), bytes(payload[first:second]), bytes(payload[second:])
    )
