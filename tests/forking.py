"""Fork server processes from a process that has all modules loaded, because imports are most of the start-up time.

Run as a program, this module is that process: it receives requests over a socket on its standard input.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import runpy
import secrets
import select
import selectors
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
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
    "tests.crash.program",
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


def build_command(name: str, module: str, *words: str) -> list[str]:
    """Return the command that runs a module in a fork of the process whose `Commands` have this name."""
    return [sys.executable, "-IS", str(_FOLDER / "tests" / "forked_command.py"), name, module, *words]


def forked_command(module: str, *words: str) -> list[str]:
    """Return a command that does what `python -m module` does, without the time for its imports."""
    with _ASKING:
        return build_command(_source().name, module, *words)


class Commands:
    """Runs the modules that `forked_command.py` asks for; a program is killed when its command ends."""

    def __init__(self, name: str) -> None:
        self._selector = selectors.DefaultSelector()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.bind(f"\0{name}")
        self._listener.listen(100)
        self.on_input(self._listener, self._start)

    def on_input(self, source: socket.socket | int, action: Callable[[], object]) -> None:
        """Run the action whenever this can be read."""
        self._selector.register(source, selectors.EVENT_READ, action)

    def run_actions(self) -> None:
        """Wait until something can be read, and run its action."""
        for key, _ in self._selector.select():
            # An earlier action may have closed it.
            if self._selector.get_map().get(key.fileobj) is key:
                key.data()

    def fork(self, received: dict[str, Any], descriptors: Sequence[int]) -> int:
        """Run the requested module in a child process and return its id."""
        child = os.fork()
        if child == 0:
            code = 1
            try:
                for key in list(self._selector.get_map().values()):
                    _close(key.fileobj)
                self._selector.close()
                code = run(received, descriptors)
            finally:
                os._exit(code)
        for descriptor in descriptors:
            os.close(descriptor)
        return child

    def _start(self) -> None:
        connection, _ = self._listener.accept()
        message, descriptors, _, _ = socket.recv_fds(connection, 2**20, 3)
        if not message:
            connection.close()
            return
        # The child closes what is registered.
        self.on_input(connection, lambda: signal.pidfd_send_signal(end, signal.SIGKILL))
        child = self.fork(orjson.loads(message), descriptors)
        end = os.pidfd_open(child)

        def finish() -> None:
            for source in (end, connection):
                self._selector.unregister(source)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            with suppress(BrokenPipeError):  # the command was killed
                connection.send(str(code).encode())
            for source in (end, connection):
                _close(source)

        self.on_input(end, finish)
        with suppress(BrokenPipeError):
            connection.send(str(child).encode())


def _close(source: Any) -> None:
    if isinstance(source, int):
        os.close(source)
    else:
        source.close()


class _Source:
    def __init__(self) -> None:
        self.name = f"pegboard-tests-{secrets.token_hex(8)}"
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        atexit.register(self._socket.close)
        with theirs:
            subprocess.run(
                [sys.executable, "-m", "tests.forking", self.name],
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

    def answer_request() -> None:
        message, descriptors, _, _ = socket.recv_fds(asked, 2**20, 3)
        if not message:
            sys.exit()
        received = orjson.loads(message)
        if "ended" in received:
            answer = os.waitstatus_to_exitcode(os.waitpid(received["ended"], 0)[1])
        else:
            answer = commands.fork(received, descriptors)
        asked.send(str(answer).encode())

    commands.on_input(asked, answer_request)
    while True:
        commands.run_actions()


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
    _serve(*sys.argv[1:])
