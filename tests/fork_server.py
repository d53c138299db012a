"""Fork server processes from a process that has all modules loaded, because imports are most of the start-up time.

Run as a program, this module is that process: it receives requests over a socket on its standard input.
"""

from __future__ import annotations

import gc
import importlib
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import orjson

# Allows one request to the source process at a time; the first request starts it.
_ASKING = threading.Lock()
_FOLDER = Path(__file__).parents[1]
_LOADED = (
    "alembic.command",
    "mcp.server.mcpserver",
    "pegboard.surfaces.cli.main",
    "pegboard.surfaces.cli.board_server",
    "pegboard.surfaces.cli.maintenance_commands",
    "pegboard.surfaces.rest.server",
    "tests.crash.server_program",
    "uvicorn.lifespan.on",
    "uvloop",
)


class Forked:
    """A forked process, with the part of the `Popen` interface that server tests need."""

    def __init__(self, pid: int, stdin: IO[bytes] | None, stdout: IO[bytes]) -> None:
        self.pid = pid
        self.stdin = stdin
        self.stdout = stdout
        self.returncode: int | None = None
        self._ends = os.pidfd_open(pid)

    def poll(self) -> int | None:
        """Return the exit code, or None while the process runs."""
        return self.returncode if self.returncode is not None else self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the exit code; raise TimeoutExpired after this many seconds."""
        code = self.returncode if self.returncode is not None else self._ended(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal, if the process is still running."""
        if self.poll() is None:
            signal.pidfd_send_signal(self._ends, number)

    def kill(self) -> None:
        """Kill the process with SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close the pipes and wait for the process to end."""
        for pipe in (self.stdin, self.stdout):
            if pipe is not None:
                pipe.close()
        self.wait()
        os.close(self._ends)

    def _ended(self, timeout: float | None) -> int | None:
        waiting = select.poll()
        waiting.register(self._ends, select.POLLIN)
        if waiting.poll(None if timeout is None else timeout * 1000):
            # The source can report the exit code only once (waitpid), so it is stored here.
            with _ASKING:
                if self.returncode is None:
                    self.returncode = _source().ask({"ended": self.pid})
        return self.returncode


def fork(
    module: str, *words: str, environment: Mapping[str, str], stdin: int, stderr: int, folder: Path = _FOLDER
) -> Forked:
    """Run a module like `python -m`, with stdout as a pipe, and stdin as a pipe if it is `subprocess.PIPE`."""
    stdout, writes = os.pipe()
    reads, ours = os.pipe() if stdin == subprocess.PIPE else (os.dup(stdin), None)
    values = {"module": module, "words": words, "environment": dict(environment), "folder": str(folder)}
    with _ASKING:
        pid = _source().ask(values, [reads, writes, stderr])
    os.close(reads)
    os.close(writes)
    return Forked(pid, os.fdopen(ours, "wb") if ours is not None else None, os.fdopen(stdout, "rb"))


class _Source:
    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            subprocess.run(
                [sys.executable, "-m", "tests.fork_server"],
                cwd=_FOLDER,
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                check=True,
            )

    def ask(self, received: dict[str, Any], descriptors: Sequence[int] = ()) -> int:
        socket.send_fds(self._socket, [orjson.dumps(received)], descriptors)
        return int(self._socket.recv(100))


@cache
def _source() -> _Source:
    return _Source()


def _serve() -> None:
    if os.fork():
        # Orphan the process, so that tests which count child processes do not count it.
        os._exit(0)
    os.setsid()
    asked = socket.socket(fileno=os.dup(0))
    for name in _LOADED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    while True:
        message, descriptors, _, _ = socket.recv_fds(asked, 2**20, 3)
        if not message:
            return
        received = orjson.loads(message)
        if "ended" in received:
            answer = os.waitstatus_to_exitcode(os.waitpid(received["ended"], 0)[1])
        else:
            answer = os.fork()
            if answer == 0:
                asked.close()
                os._exit(run(received, descriptors))
            for descriptor in descriptors:
                os.close(descriptor)
        asked.send(str(answer).encode())


def run(received: dict[str, Any], descriptors: Sequence[int]) -> int:
    """Run the requested module in this process and return its exit code."""
    code: Any = 1
    try:
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.chdir(received.get("folder", "."))
        os.environ.clear()
        os.environ.update(received["environment"])
        sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
        sys.argv[1:] = received["words"]
        encoding = os.environ.get("PYTHONIOENCODING") or "utf-8"
        # The process may replace itself with exec, and the discarded file objects must not close descriptors.
        sys.stdin = os.fdopen(0, encoding=encoding, closefd=False)
        sys.stdout = os.fdopen(1, "w", encoding=encoding, closefd=False)
        sys.stderr = os.fdopen(2, "w", buffering=1, encoding=encoding, errors="backslashreplace", closefd=False)
        runpy.run_module(received["module"], run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = 120  # like Python
    return code if isinstance(code, int) else 1


if __name__ == "__main__":
    _serve()
