"""One zygote: a process with the libraries of an environment imported, which starts a process for each call."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

from pegboard.model.call_errors import Misconfigured
from pegboard.sandbox.environment_spec import build_child_command, inherit_environment
from pegboard.sandbox.limits import make_unavailable
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# How long a zygote that is not needed any more may take to exit after its calls are over.
ZYGOTE_EXIT_SECONDS = 3.0

# The zygote expects its socket as file descriptor 3.
_ZYGOTE_CODE = """\
given = int(sys.argv[3])
if given != 3:
    os.dup2(given, 3)
    os.close(given)
os.set_inheritable(3, False)
sys.argv[1:] = [sys.argv[2]]
from pegboard.sandbox.child.zygote_main import main
main()
"""
_ENVIRONMENT = {"LANG": "C.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin"}
_PIPE_BYTES = 2**16
_MAX_KEPT_OUTPUT_BYTES = 4096
_MAX_SHOWN_OUTPUT_CHARS = 600
_MAX_OUTPUT_WARNINGS = 20
_MAX_MESSAGE_BYTES = 2**16
_SOCKET_FULL_SECONDS = 0.002


class ZygoteGone(Exception):
    """The zygote accepts no more calls."""


class Zygote:
    """A running zygote; `on_exit` is called once, after the process has exited and its resources are released."""

    def __init__(self, plan: str, *, start_seconds: float, on_exit: Callable[[Zygote], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._on_exit = on_exit
        self._start_seconds = start_seconds
        # The end of what it has written to stdout and stderr.
        self.output = bytearray()
        self._warnings_left = _MAX_OUTPUT_WARNINGS
        self._why: str | None = None
        self._leaving: asyncio.TimerHandle | None = None
        self._is_ending = False
        # Done when it is ready or has failed.
        self.settled: asyncio.Future[None] = self._loop.create_future()
        self.exited = asyncio.Event()
        self.calls = 0
        # The user who needed it last.
        self.user_id: str | None = None
        # Since when calls are requested and none has started; only meaningful while a request is pending.
        self.used_at = self.silent_since = time.monotonic()
        self._has_answered = True
        self._start(plan)
        self._start_timer = self._loop.call_later(start_seconds, self._fail_slow_start)

    def _start(self, plan: str) -> None:
        with ExitStack() as undo:
            try:
                self._sock, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                undo.callback(self._sock.close)
                undo.enter_context(theirs)
                # Not through the event loop, which would watch the process from a thread; this takes a millisecond.
                self._process = subprocess.Popen(  # noqa: S603 -- the interpreter that runs this
                    build_child_command(_ZYGOTE_CODE, plan, str(theirs.fileno())),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    bufsize=0,
                    env=_ENVIRONMENT | inherit_environment(["TZ"]),
                    cwd="/",
                    pass_fds=(theirs.fileno(),),
                    # No session of its own: some kernels (autogroup scheduling) would give it the same CPU share as the
                    # server.
                    process_group=0,
                )
                self._pidfd = _open_pidfd(self._process)
            except OSError as error:
                raise make_unavailable(f"No process for confined calls can be started: {error.strerror}") from None
            undo.pop_all()
        theirs.close()
        assert self._process.stdout is not None
        self._output_pipe = self._process.stdout.fileno()
        self._sock.setblocking(False)
        os.set_blocking(self._output_pipe, False)
        self._loop.add_reader(self._sock, self._read_first_message)
        self._loop.add_reader(self._output_pipe, self._read_output)
        self._loop.add_reader(self._pidfd, self._on_process_exit)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_ready(self) -> bool:
        """True if it accepts calls now."""
        return self.settled.done() and self._why is None and not self._is_ending and not self.exited.is_set()

    @property
    def is_starting(self) -> bool:
        """True if it has neither become ready nor failed yet."""
        return not self.settled.done()

    async def wait_until_ready(self) -> None:
        """Wait until it accepts calls; raise Misconfigured if it never will, ZygoteGone if it was ended."""
        if not self.settled.done():
            await asyncio.shield(self.settled)
        if self._why is not None:
            raise Misconfigured(self._why)
        if not self.is_ready:
            raise ZygoteGone

    async def begin(self, theirs: socket.socket, *, network: bool) -> None:
        """Request a process for the call with this socket; raise ZygoteGone if the zygote accepts no calls."""
        kind = b"N" if network else b"n"
        while self.is_ready:
            try:
                socket.send_fds(self._sock, [kind], [theirs.fileno()])
            except BlockingIOError:
                # Hundreds of requests are queued before this one; the zygote takes each within milliseconds.
                await asyncio.sleep(_SOCKET_FULL_SECONDS)
            except OSError:
                raise ZygoteGone from None
            else:
                self.calls += 1
                self.used_at = time.monotonic()
                if self._has_answered:
                    self._has_answered = False
                    self.silent_since = self.used_at
                return
        raise ZygoteGone

    def note_call_started(self) -> None:
        """Record that a requested call has started or has failed to start."""
        self._has_answered = True
        self.silent_since = time.monotonic()

    def note_call_ended(self) -> None:
        """Record that a call of this zygote is over."""
        self.calls -= 1
        self.used_at = time.monotonic()
        if self._is_ending:
            self._schedule_kill()

    def end(self) -> None:
        """Accept no more calls; the process exits by itself when its calls are over."""
        if self._is_ending or self.exited.is_set():
            return
        self._is_ending = True
        if not self.settled.done():
            self.kill()
            return
        self._loop.remove_reader(self._sock)
        self._sock.close()
        self._schedule_kill()

    def kill(self) -> None:
        """Kill the process and its calls."""
        self._is_ending = True
        with suppress(ProcessLookupError, PermissionError):
            # Stopped first: a stopped process reaps no children, so that their pids are not reused.
            self._process.send_signal(signal.SIGSTOP)
            for child in _find_descendants(self.pid) if self._process.returncode is None else ():
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(child, signal.SIGKILL)
            self._process.kill()

    def _schedule_kill(self) -> None:
        if self.calls == 0 and self._leaving is None and not self.exited.is_set():
            self._leaving = self._loop.call_later(ZYGOTE_EXIT_SECONDS, self._kill_lingering)

    def _kill_lingering(self) -> None:
        log.warning("zygote_lingers", pid=self.pid, seconds=ZYGOTE_EXIT_SECONDS)
        self.kill()

    def _fail_slow_start(self) -> None:
        self._fail(f"was not ready within {self._start_seconds:g} seconds")
        self.kill()

    def _read_first_message(self) -> None:
        """Handle the only message of the zygote: ready or failed."""
        try:
            message = self._sock.recv(_MAX_MESSAGE_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            message = b""
        self._loop.remove_reader(self._sock)
        if not message:
            # The zygote is about to exit, or it is unusable.
            self._schedule_kill()
            return
        try:
            answer = json.loads(message)
        except (ValueError, RecursionError):
            answer = None
        match answer:
            case {"ready": True}:
                self._read_output()  # the output of imports is not logged as a warning
                self._settle()
            case {"failed": str(why), "library": str()}:
                self._why = f"A library of the tool cannot be used on this board: {why}"
                self._settle()
            case {"failed": str(why)}:
                self._why = f"This board cannot confine the tool, so it does not run it: {why}"
                self._settle()
            case _:
                self._fail("sent an invalid message")
                self.kill()

    def _read_output(self) -> None:
        with suppress(OSError):
            data = os.read(self._output_pipe, _PIPE_BYTES)
            if not data:
                self._loop.remove_reader(self._output_pipe)
            self.output += data
            del self.output[:-_MAX_KEPT_OUTPUT_BYTES]
            if data and self._warnings_left and self.settled.done() and self._why is None:
                self._warnings_left -= 1
                log.warning("zygote_said", pid=self.pid, said=_shorten_output(data))

    def _on_process_exit(self) -> None:
        code = self._process.wait()
        for watched in (self._sock, self._output_pipe, self._pidfd):
            # A closed socket is not watched any more.
            if not isinstance(watched, socket.socket) or watched.fileno() >= 0:
                self._loop.remove_reader(watched)
        self._read_output()
        self._sock.close()
        os.close(self._pidfd)
        if self._process.stdout is not None:
            self._process.stdout.close()
        if self._leaving is not None:
            self._leaving.cancel()
        if not self.settled.done():
            # A zygote that was killed from outside does not make its environment unusable.
            if code not in (-signal.SIGKILL, -signal.SIGTERM):
                self._fail(f"exited with status {code}")
        elif self._why is None and not self._is_ending:
            log.warning("zygote_exited", pid=self.pid, status=code, said=_shorten_output(self.output))
        self.exited.set()
        self._settle()
        self._on_exit(self)

    def _fail(self, how: str) -> None:
        text = _shorten_output(self.output)
        suffix = f"; the end of its output: {text}" if text else ""
        self._why = f"The process that starts confined calls {how}{suffix}"
        self._settle()

    def _settle(self) -> None:
        self._start_timer.cancel()
        if self.settled.done():
            return
        if self._why is not None:
            log.warning("zygote_failed", pid=self.pid, why=self._why)
        self.settled.set_result(None)


def _shorten_output(output: bytes | bytearray) -> str:
    text = " ".join(output.decode("utf-8", "replace").split())
    return text if len(text) <= _MAX_SHOWN_OUTPUT_CHARS else "…" + text[-_MAX_SHOWN_OUTPUT_CHARS:]


def _open_pidfd(process: subprocess.Popen[bytes]) -> int:
    try:
        return os.pidfd_open(process.pid)
    except OSError:
        with process:
            process.kill()
        raise


def _find_descendants(pid: int) -> list[int]:
    found = waiting = _list_children(pid)
    while waiting:
        waiting = [below for child in waiting for below in _list_children(child)]
        found = found + waiting
    return found


def _list_children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (OSError, ValueError):
        return []
