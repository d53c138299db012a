"""The supervisor's end of the socket of a call, and functions that pass file descriptors between processes."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Sequence
from typing import NamedTuple

_FD_STRUCT = struct.Struct("=i")
_MAX_FDS = 16
_FD_BUFFER_BYTES = socket.CMSG_SPACE(_MAX_FDS * _FD_STRUCT.size)


class ReceivedFds(NamedTuple):
    """The payload (empty at EOF) and the file descriptors (truncated if `is_cut`)."""

    words: bytes
    descriptors: list[int]
    is_cut: bool


def send_fds(sock: socket.socket, words: bytes, descriptors: Sequence[int]) -> None:
    """Send the payload, at least one byte, with the file descriptors; raise OSError if the peer is gone."""
    numbers = b"".join(map(_FD_STRUCT.pack, descriptors))
    sock.sendmsg([words], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])


def receive_fds(sock: socket.socket, most: int) -> ReceivedFds:
    """Wait for the next message, with at most `most` bytes of payload."""
    words, control, flags, _address = sock.recvmsg(most, _FD_BUFFER_BYTES)
    numbers = [number for _level, _kind, sent in control for (number,) in _FD_STRUCT.iter_unpack(sent)]
    return ReceivedFds(words, numbers, bool(flags & socket.MSG_CTRUNC))


# The server sends no larger job.
_MAX_JOB_BYTES = 64 * 2**20


class CallAbandoned(Exception):
    """The server has abandoned the call, or has exited."""


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
            send_fds(self._sock, struct.pack(">cI", b"L", 0), [listener.fileno()])
        except OSError as error:
            raise CallAbandoned from error
        if self._read(1) != b"l":
            raise CallAbandoned

    def send_reports(self, lines: bytes) -> None:
        """Send the reports as far as the server reads them now; the rest is sent before the next frame."""
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

    def send_result(self, fate: tuple[str, int, str], result: bytes, stdout: bytes, stderr: bytes) -> None:
        """Send how the call ended (word, code and message), with its result and output."""
        word, code, message = fate
        lengths = {"result": len(result), "stdout": len(stdout), "stderr": len(stderr)}
        header = json.dumps({"fate": word, "code": code, "message": message} | lengths).encode()
        self._send(b"E", b"".join((struct.pack(">I", len(header)), header, result, stdout, stderr)))

    def send_failure(self, message: str) -> None:
        """Report that the call never ran, with the reason."""
        self.send_result(("setup", 0, message), b"", b"", b"")

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
