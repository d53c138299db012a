"""The supervisor's end of the socket of a call."""

from __future__ import annotations

import json
import socket
import struct
from typing import NamedTuple

# The most file descriptors of one message.
MAX_FDS = 16
# The server sends no larger job.
_MAX_JOB_BYTES = 64 * 2**20


class CallAbandoned(Exception):
    """The server has abandoned the call, or has exited."""


class CallEnd(NamedTuple):
    """How a call ended: a word, the exit code or signal number, and an optional message."""

    fate: str
    code: int = 0
    message: str = ""


class ServerChannel:
    """The connection of one call to the server."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._unsent = b""

    def __enter__(self) -> ServerChannel:
        return self

    def __exit__(self, *_: object) -> None:
        self._sock.close()

    def fileno(self) -> int:
        """The file descriptor to poll: it becomes readable when the server has closed the connection."""
        return self._sock.fileno()

    def read_job(self) -> bytes:
        """Read the text of the job; raise CallAbandoned if the server is gone."""
        (length,) = struct.unpack(">I", self._read(4))
        if length > _MAX_JOB_BYTES:
            raise CallAbandoned
        return self._read(length)

    def send_started(self) -> None:
        """Report that the job is about to run."""
        self._send(b"S", b"")

    def send_listener(self, listener: socket.socket) -> None:
        """Pass the listening socket to the server, and wait until the server accepts connections on it."""
        try:
            socket.send_fds(self._sock, [struct.pack(">cI", b"L", 0)], [listener.fileno()])
        except OSError as error:
            raise CallAbandoned from error
        if self._read(1) != b"l":
            raise CallAbandoned

    def send_reports(self, lines: bytes) -> None:
        """Send as much of the reports as the server reads now; the rest is sent before the next frame."""
        self._unsent += struct.pack(">cI", b"P", len(lines)) + lines
        self.flush_unsent()

    def flush_unsent(self) -> bool:
        """Send pending data without blocking; return True if none is left."""
        if self._unsent:
            try:
                sent = self._sock.send(self._unsent, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return False
            except OSError as error:
                raise CallAbandoned from error
            self._unsent = self._unsent[sent:]
        return not self._unsent

    def send_result(self, end: CallEnd, result: bytes, stdout: bytes, stderr: bytes) -> None:
        """Send how the call ended, with its result and output."""
        lengths = {"result": len(result), "stdout": len(stdout), "stderr": len(stderr)}
        header = json.dumps(end._asdict() | lengths).encode()
        self._send(b"E", b"".join((struct.pack(">I", len(header)), header, result, stdout, stderr)))

    def send_failure(self, message: str) -> None:
        """Report that the call never ran, with the reason."""
        self.send_result(CallEnd("setup", 0, message), b"", b"", b"")

    def _send(self, kind: bytes, payload: bytes) -> None:
        try:
            self._sock.sendall(self._unsent + struct.pack(">cI", kind, len(payload)) + payload)
        except OSError as error:
            raise CallAbandoned from error

    def _read(self, count: int) -> bytes:
        read = bytearray()
        while len(read) < count:
            try:
                piece = self._sock.recv(count - len(read))
            except OSError as error:
                raise CallAbandoned from error
            if not piece:
                raise CallAbandoned
            read += piece
        return bytes(read)
