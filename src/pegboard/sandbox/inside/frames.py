"""The supervisor's end of a call's socket: the job comes in, frames go out."""

from __future__ import annotations

import socket
import struct
from json.encoder import encode_basestring_ascii

from pegboard.sandbox.inside.handing import hand

# Nothing that a server sends is larger than this.
_MOST_BYTES = 64 * 2**20


class Gone(Exception):
    """The server has given up the call, or is no more."""


class Line:
    """One call's connection to the server."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._unsent = b""

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        self._sock.close()

    def fileno(self) -> int:
        """The descriptor to wait on: that it has something to say means that the server has gone."""
        return self._sock.fileno()

    def read_job(self) -> bytes:
        """The text of this call's job."""
        (length,) = struct.unpack(">I", self._read(4))
        if length > _MOST_BYTES:
            raise Gone
        return self._read(length)

    def say_started(self) -> None:
        """Tell that what the job names is about to run."""
        self._send(b"S", b"")

    def hand_over(self, listener: socket.socket) -> None:
        """Give the listening socket to the server, and wait until it serves it."""
        try:
            hand(self._sock, struct.pack(">cI", b"L", 0), [listener.fileno()])
        except OSError as error:
            raise Gone from error
        if self._read(1) != b"l":
            raise Gone

    def say_reports(self, lines: bytes) -> None:
        """Pass on what the call reports, as far as the server takes it now; the rest goes before whatever follows."""
        self._unsent += struct.pack(">cI", b"P", len(lines)) + lines
        self.catch_up()

    def catch_up(self) -> bool:
        """Send what the server has not taken yet, without waiting for it; whether it has taken all."""
        if self._unsent:
            try:
                sent = self._sock.send(self._unsent, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return False
            except OSError as error:
                raise Gone from error
            self._unsent = self._unsent[sent:]
        return not self._unsent

    def say_ended(self, fate: tuple[str, int, str], result: bytes, stdout: bytes, stderr: bytes) -> None:
        """Tell how the call ended, in a word, a code and a message, with all that it left."""
        word, code, message = fate
        # As json.dumps() would have it, but much less of memory is written to.
        told = (
            f'{{"fate": "{word}", "code": {code}, "message": {encode_basestring_ascii(message)}, '
            f'"result": {len(result)}, "stdout": {len(stdout)}, "stderr": {len(stderr)}}}'
        ).encode()
        self._send(b"E", b"".join((struct.pack(">I", len(told)), told, result, stdout, stderr)))

    def say_failed(self, message: str) -> None:
        """Tell that the call never ran, because of this."""
        self.say_ended(("setup", 0, message), b"", b"", b"")

    def _send(self, kind: bytes, payload: bytes) -> None:
        try:
            self._sock.sendall(self._unsent + struct.pack(">cI", kind, len(payload)) + payload)
        except OSError as error:
            raise Gone from error

    def _read(self, count: int) -> bytes:
        read = bytearray()
        while len(read) < count:
            try:
                piece = self._sock.recv(count - len(read))
            except OSError as error:
                raise Gone from error
            if not piece:
                raise Gone
            read += piece
        return bytes(read)
