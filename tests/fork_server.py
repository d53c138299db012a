"""Fork programs from a process that has all modules loaded, because imports are most of the start-up time.

Run as a program, this module is that process. It receives requests of `fork` over a socket on its standard input, and
those of `forked_command.py` over a socket with a name. A fork serves each of the latter from its first byte on, so that
a command that is killed at any moment cannot end the process.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import runpy
import secrets
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NoReturn, Self

import orjson

# Allows one request to the source process at a time; the first request starts it.
_ASKING = threading.Lock()
_FOLDER = Path(__file__).parents[1]
_LOADED = (
    "alembic.command",
    "mcp.server.mcpserver",
    "mcp.server.stdio",
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


def build_command(name: str, module: str, *words: str) -> tuple[str, ...]:
    """Return the command that runs a module in a fork of the process whose `Commands` have this name."""
    return (sys.executable, "-IS", str(_FOLDER / "tests" / "forked_command.py"), name, module, *words)


def forked_command(module: str, *words: str) -> tuple[str, ...]:
    """Return a command that does what `python -m module` does, without the time for its imports.

    Its program is no descendant of the command, and is killed when the command ends.
    """
    with _ASKING:
        return build_command(_source().name, module, *words)


class Commands:
    """Runs the modules that `forked_command.py` asks for."""

    def __init__(self, name: str) -> None:
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(f"\0{name}")
        self.listener.listen(100)
        self._running: set[int] = set()

    def start_next(self, *inherited: socket.socket) -> None:
        """Run the module of a waiting command in a child process, which closes the inherited sockets."""
        self._running = {child for child in self._running if os.waitpid(child, os.WNOHANG)[0] == 0}
        # The command has gone, or no process can be started: the command finds the connection closed.
        with suppress(OSError):
            connection, _ = self.listener.accept()
            with connection:
                child = os.fork()
                if child == 0:
                    _run_command(connection, self.listener, *inherited)
                self._running.add(child)


def _run_command(connection: socket.socket, *inherited: socket.socket) -> NoReturn:
    code = 1
    try:
        for other in inherited:
            other.close()
        message, descriptors, _, _ = socket.recv_fds(connection, 2**20, 3)
        connection.send(str(os.getpid()).encode())
        threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
        code = run(orjson.loads(message), descriptors)
        connection.send(str(code).encode())
    except OSError:
        pass  # the command was killed
    finally:
        os._exit(code)


def _end_with(connection: socket.socket) -> None:
    """Kill this process when the command at the other end has ended."""
    with suppress(OSError):
        connection.recv(1)
    os.kill(os.getpid(), signal.SIGKILL)


class _Source:
    def __init__(self) -> None:
        self.name = f"pegboard-tests-{secrets.token_hex(8)}"
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        atexit.register(self._socket.close)
        with theirs:
            subprocess.run(
                [sys.executable, "-m", "tests.fork_server", self.name],
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


def _serve(name: str) -> None:
    commands = Commands(name)  # before the process is reported to have started
    if os.fork():
        # Orphan the process, so that tests which count child processes do not count it.
        os._exit(0)
    os.setsid()
    asked = socket.socket(fileno=os.dup(0))
    for module in _LOADED:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    while True:
        ready, _, _ = select.select([asked, commands.listener], [], [])
        if commands.listener in ready:
            commands.start_next(asked)
        if asked not in ready:
            continue
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
                commands.listener.close()
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
        # As in a new process, where `sys.__stdin__` keeps a replaced `sys.stdin` open.
        originals = sys.stdin, sys.stdout, sys.stderr
        runpy.run_module(received["module"], run_name="__main__", alter_sys=True)
        del originals
        code = 0
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    try:
        for stream in (sys.stdout, sys.stderr):
            if not stream.closed:
                stream.flush()
    except BrokenPipeError:
        code = 120  # like Python
    return code if isinstance(code, int) else 1


if __name__ == "__main__":
    _serve(*sys.argv[1:])
