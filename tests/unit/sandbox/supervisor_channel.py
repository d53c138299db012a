"""The server's side of the sockets to zygotes and supervisors."""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = Path(__file__).parents[3] / "src" / "pegboard"
ORDINARY = Path(__file__).with_name("ordinary_user.py")
# The tools of root run as another user; both kinds of confinement are tested where possible.
USERS = ("root", "ordinary") if os.geteuid() == 0 else ("ordinary",)
PYTHON = os.path.realpath(sys.executable)
LIMITS = {"memory": 512 * 2**20, "processes": 64, "disk": 64 * 2**20, "output": 2**20, "result": 2**20}
BOOT = """
import os, sys, types
package = types.ModuleType("pegboard")
package.__path__ = [sys.argv.pop()]
os.dup2(int(sys.argv.pop()), 3, inheritable=False)
sys.modules["pegboard"] = package
from pegboard.sandbox.child.zygote_main import main
main()
"""


class Refused(Exception):
    """The error of a zygote that cannot serve."""


class Ended(NamedTuple):
    """How a call ended."""

    fate: str
    code: int
    message: str
    result: bytes
    stdout: bytes
    stderr: bytes


class Call:
    """A call under way."""

    def __init__(self, line: socket.socket, job: dict[str, Any]) -> None:
        self.line = line
        # Its reports so far, a frame each.
        self.reports: list[bytes] = []
        arguments = job.get("arguments", {})
        received = json.dumps(job).encode() + b"\n" + json.dumps(arguments).encode()
        line.sendall(struct.pack(">I", len(received)) + received)

    def __enter__(self) -> Call:
        return self

    def __exit__(self, *_: object) -> None:
        self.line.close()

    def frame(self) -> tuple[str, bytes]:
        """The next frame."""
        kind, length = struct.unpack(">cI", self.read(5))
        payload = self.read(length)
        if kind == b"P":
            self.reports.append(payload)
        return kind.decode(), payload

    def ended(self) -> Ended:
        """Return how the call ended, which is the last message."""
        kind, payload = self.frame()
        while kind != "E":
            kind, payload = self.frame()
        (length,) = struct.unpack(">I", payload[:4])
        header = json.loads(payload[4 : 4 + length])
        rest, parts = payload[4 + length :], []
        for name in ("result", "stdout", "stderr"):
            parts.append(rest[: header[name]])
            rest = rest[header[name] :]
        assert rest == b""
        assert self.line.recv(1) == b"", "something is said after the end"
        return Ended(header["fate"], header["code"], header["message"], *parts)

    def read(self, count: int) -> bytes:
        """Return this many bytes; raise EOFError if the peer has closed the connection."""
        read = b""
        while len(read) < count:
            try:
                piece = self.line.recv(count - len(read))
            except ConnectionResetError:
                piece = b""  # it exited before it had read everything
            if not piece:
                raise EOFError
            read += piece
        return read


class Zygote:
    """A running zygote."""

    def __init__(self, process: subprocess.Popen[bytes], line: socket.socket) -> None:
        self.process = process
        self.line = line

    def call(self, job: dict[str, Any]) -> Call:
        """Start a call."""
        ours, theirs = socket.socketpair()
        ours.settimeout(60)
        with theirs:
            kind = b"N" if job["network"] else b"n"
            socket.send_fds(self.line, [kind], [theirs.fileno()])
        try:
            return Call(ours, job)
        except OSError:
            ours.close()
            raise

    def run(self, *argv: str, **changes: Any) -> Ended:
        """How a command ended."""
        with self.call(command(*argv, **changes)) as call:
            return call.ended()

    def shell(self, script: str, **changes: Any) -> Ended:
        """How a script for the shell ended."""
        return self.run("sh", "-c", script, **changes)

    def function(self, code: str, **changes: Any) -> Ended:
        """How a call of the function `main` of this code ended."""
        values = {"kind": "python", "code": code, "entry": "main", "arguments": {}}
        with self.call(command(**changes) | values) as call:
            return call.ended()

    def python(self, script: str, **changes: Any) -> Ended:
        """The exit status of a Python script in a separate process."""
        return self.run(PYTHON, "-I", "-S", "-c", script, **changes)


def make_zygote_spec(*binds: tuple[Path, Path, bool], **changes: Any) -> dict[str, Any]:
    """The spec of a zygote that mounts the interpreter and these folders."""
    prefixes = {sys.base_prefix, sys.prefix}
    shown = [(path, path, False) for path in prefixes if not path.startswith("/usr")]
    shown += [(str(source), str(target), writable) for source, target, writable in binds]
    site = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    plain = {
        "masked": [],
        "python": "modules" in changes,
        "modules": [],
        "allowed": [],
        "without": [],
        "prefixes": site,
    }
    return {"binds": sorted(shown, key=lambda bind: bind[1])} | plain | changes


def command(*argv: str, limits: dict[str, int] | None = None, **changes: Any) -> dict[str, Any]:
    """A job that runs a command."""
    plain = {"kind": "exec", "seconds": 30.0, "limits": LIMITS | (limits or {}), "env": {}, "folder": None}
    return plain | {"network": False, "argv": argv, "cwd": "/call", "stdin": ""} | changes


@contextmanager
def zygote(received: dict[str, Any], user: str = USERS[-1]) -> Iterator[Zygote]:
    """Start a zygote with this spec and wait until it is ready; raise Refused with its failure."""
    # A pipe, as in the server; its content is shown if a test fails.
    messages, says = os.pipe()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.settimeout(60)
    as_user = (
        [sys.executable, "-I", "-S", str(ORDINARY), str(PACKAGE)] if (os.geteuid(), user) == (0, "ordinary") else []
    )
    with ours, os.fdopen(messages, "rb") as remarks:
        with theirs:
            boot = [
                sys.executable,
                "-I",
                "-S",
                "-B",
                "-c",
                BOOT,
                json.dumps(received),
                str(theirs.fileno()),
                str(PACKAGE),
            ]
            process = subprocess.Popen(
                [*as_user, *boot],
                pass_fds=[theirs.fileno()],
                env={},
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=says,
                stderr=says,
            )
            os.close(says)
        with process:
            message = json.loads(ours.recv(65536) or b"null")
            if message != {"ready": True}:
                assert process.wait(30) == 1
                raise Refused(message)
            try:
                yield Zygote(process, ours)
            finally:
                ours.close()
                process.wait(30)
                os.set_blocking(messages, False)
                sys.stderr.write((remarks.read() or b"").decode("utf-8", "replace"))


def living(marker: str) -> list[int]:
    """The machine's processes that have this among their arguments."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            try:
                arguments = (process / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue  # it has ended
            if marker.encode() in arguments:
                found.append(int(process.name))
    return found
