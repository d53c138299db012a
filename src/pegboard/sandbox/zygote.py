"""One zygote: a process with the libraries of a house imported, which starts a confined process for each call."""

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

from pegboard.core.errors import Misconfigured
from pegboard.sandbox import booting
from pegboard.sandbox.refusals import unavailable
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# What a zygote that is not needed any more gets to leave, once its calls are over.
LEAVING_SECONDS = 3.0

# The socket is descriptor 3 in there.
_LINES = """\
given = int(sys.argv[3])
if given != 3:
    os.dup2(given, 3)
    os.close(given)
os.set_inheritable(3, False)
sys.argv[1:] = [sys.argv[2]]
from pegboard.sandbox.inside.zygote import main
main()
"""
# One thread each: a process with more cannot be forked safely, and calls run side by side anyway.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "BLIS_NUM_THREADS")
_ENVIRONMENT = {"LANG": "C.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin"} | dict.fromkeys(_THREADS, "1")
_PIPE = 2**16
_KEPT_SAID = 4096
_SHOWN_SAID = 600
_MOST_REMARKS = 20
_MOST_WORDS = 2**16
_FULL_SECONDS = 0.002


class Gone(Exception):
    """The zygote does not take calls any more."""


class Zygote:
    """A running zygote; `on_exit` is called once, when the process is gone and nothing of it is left here."""

    def __init__(self, plan: str, *, start_seconds: float, on_exit: Callable[[Zygote], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._on_exit = on_exit
        self._start_seconds = start_seconds
        self._said = bytearray()
        self._remarks = _MOST_REMARKS
        self._why: str | None = None
        self._leaving: asyncio.TimerHandle | None = None
        self._is_ending = False
        self._settled: asyncio.Future[None] = self._loop.create_future()
        self.exited = asyncio.Event()
        self.calls = 0
        # Who needed it last.
        self.user_id: str | None = None
        # Since when it was asked to begin calls and has begun none; what it was before it is asked says nothing.
        self.used_at = self.silent_since = time.monotonic()
        self._has_answered = True
        self._start(plan)
        self._too_slow = self._loop.call_later(start_seconds, self._give_up_waiting)

    def _start(self, plan: str) -> None:
        with ExitStack() as ours, ExitStack() as handed:
            try:
                self._sock, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                ours.callback(self._sock.close)
                handed.callback(theirs.close)
                self._heard, says = os.pipe()
                ours.callback(os.close, self._heard)
                handed.callback(os.close, says)
                # Not through the loop: that would watch it from a thread of its own, and this takes a millisecond.
                self._process = subprocess.Popen(  # noqa: S603 -- the interpreter that runs this
                    booting.program(_LINES, plan, str(theirs.fileno())),
                    stdin=subprocess.DEVNULL,
                    stdout=says,
                    stderr=says,
                    env=_ENVIRONMENT | booting.inherited(["TZ"]),
                    cwd="/",
                    pass_fds=(theirs.fileno(),),
                    # No session of its own: some kernels would give that as much of the processors as the server.
                    process_group=0,
                )
                self._pidfd = _watch(self._process)
            except OSError as error:
                raise unavailable(f"No process for confined calls can be started: {error.strerror}") from None
            ours.pop_all()
        self._sock.setblocking(False)
        os.set_blocking(self._heard, False)
        self._loop.add_reader(self._sock, self._answered)
        self._loop.add_reader(self._heard, self._hear)
        self._loop.add_reader(self._pidfd, self._has_exited)

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    @property
    def is_ready(self) -> bool:
        """Whether it takes calls now."""
        return self._settled.done() and self._why is None and not self._is_ending and not self.exited.is_set()

    @property
    def is_starting(self) -> bool:
        """Whether it is not known yet if it will take calls."""
        return not self._settled.done()

    async def ready(self) -> None:
        """Wait until it takes calls; raises Misconfigured where it never will, Gone where it was ended."""
        if not self._settled.done():
            await asyncio.shield(self._settled)
        if self._why is not None:
            raise Misconfigured(self._why)
        if not self.is_ready:
            raise Gone

    async def settled(self) -> None:
        """Wait until it is known whether it takes calls."""
        await asyncio.shield(self._settled)

    async def begin(self, theirs: socket.socket, *, network: bool, crowded: bool = False) -> None:
        """Have it start a process for the call whose other end this is; raises Gone where it does not take calls.

        Where it is `crowded`, many calls being under way, those that come after leave a processor to the server.
        """
        kind = (b"N" if network else b"n") + (b"c" if crowded else b"")
        while self.is_ready:
            try:
                socket.send_fds(self._sock, [kind], [theirs.fileno()])
            except BlockingIOError:
                # It has hundreds of calls before this one, and takes each within milliseconds.
                await asyncio.sleep(_FULL_SECONDS)
            except OSError:
                raise Gone from None
            else:
                self.calls += 1
                self.used_at = time.monotonic()
                if self._has_answered:
                    self._has_answered = False
                    self.silent_since = self.used_at
                return
        raise Gone

    def call_begun(self) -> None:
        """Take note that a call it was to begin has begun, or could not."""
        self._has_answered = True
        self.silent_since = time.monotonic()

    def call_over(self) -> None:
        """Take note that a call it began is over."""
        self.calls -= 1
        self.used_at = time.monotonic()
        if self._is_ending:
            self._leave_soon()

    def end(self) -> None:
        """Take no more calls; it leaves by itself when those that it has begun are over."""
        if self._is_ending or self.exited.is_set():
            return
        self._is_ending = True
        if not self._settled.done():
            self.kill()
            return
        self._loop.remove_reader(self._sock)
        self._sock.close()
        self._leave_soon()

    def kill(self) -> None:
        """End it by force, with the calls it has begun."""
        self._is_ending = True
        with suppress(ProcessLookupError, PermissionError):
            # Stopped first: until it is killed it reaps none of its children, so that their numbers stay theirs.
            self._process.send_signal(signal.SIGSTOP)
            for child in _descendants(self.pid) if self._process.returncode is None else ():
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(child, signal.SIGKILL)
            self._process.kill()

    def _leave_soon(self) -> None:
        if self.calls == 0 and self._leaving is None and not self.exited.is_set():
            self._leaving = self._loop.call_later(LEAVING_SECONDS, self._lingers)

    def _lingers(self) -> None:
        log.warning("zygote_lingers", pid=self.pid, seconds=LEAVING_SECONDS)
        self.kill()

    def _give_up_waiting(self) -> None:
        self._fail(f"was not ready within {self._start_seconds:g} seconds")
        self.kill()

    def _answered(self) -> None:
        """The zygote said whether it is ready; it says nothing else, ever."""
        try:
            words = self._sock.recv(_MOST_WORDS)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            words = b""
        self._loop.remove_reader(self._sock)
        if not words:
            # It is about to exit, or is of no use.
            self._leave_soon()
            return
        try:
            answer = json.loads(words)
        except (ValueError, RecursionError):
            answer = None
        match answer:
            case {"ready": True}:
                self._hear()  # what libraries said when they were imported is nothing new
                self._settle()
            case {"failed": str(why), "library": str()}:
                self._why = f"A library of the tool cannot be used on this board: {why}"
                self._settle()
            case {"failed": str(why)}:
                self._why = f"This board cannot confine the tool, so it does not run it: {why}"
                self._settle()
            case _:
                self._fail("said something that cannot be read")
                self.kill()

    def _hear(self) -> None:
        with suppress(OSError):
            heard = os.read(self._heard, _PIPE)
            if not heard:
                self._loop.remove_reader(self._heard)
            self._said += heard
            del self._said[:-_KEPT_SAID]
            if heard and self._remarks and self._settled.done() and self._why is None:
                self._remarks -= 1
                log.warning("zygote_said", pid=self.pid, said=_end_of(heard))

    def _has_exited(self) -> None:
        code = self._process.wait()
        for watched in (self._sock, self._heard, self._pidfd):
            # One that was closed is not watched any more.
            if not isinstance(watched, socket.socket) or watched.fileno() >= 0:
                self._loop.remove_reader(watched)
        self._hear()
        self._sock.close()
        os.close(self._heard)
        os.close(self._pidfd)
        if self._leaving is not None:
            self._leaving.cancel()
        if not self._settled.done():
            # Whoever ended it from outside did not mean the house.
            if code not in (-signal.SIGKILL, -signal.SIGTERM):
                self._fail(f"exited with status {code}")
        elif self._why is None and not self._is_ending:
            log.warning("zygote_exited", pid=self.pid, status=code, said=_end_of(self._said))
        self.exited.set()
        self._settle()
        self._on_exit(self)

    def _fail(self, how: str) -> None:
        text = _end_of(self._said)
        said = f"; it said: {text}" if text else ""
        self._why = f"The process that starts confined calls {how}{said}"
        self._settle()

    def _settle(self) -> None:
        self._too_slow.cancel()
        if self._settled.done():
            return
        if self._why is not None:
            log.warning("zygote_failed", pid=self.pid, why=self._why)
        self._settled.set_result(None)


def _end_of(said: bytes | bytearray) -> str:
    text = " ".join(said.decode("utf-8", "replace").split())
    return text if len(text) <= _SHOWN_SAID else "…" + text[-_SHOWN_SAID:]


def _watch(process: subprocess.Popen[bytes]) -> int:
    try:
        return os.pidfd_open(process.pid)
    except OSError:
        process.kill()
        process.wait()
        raise


def _descendants(pid: int) -> list[int]:
    found = waiting = _children(pid)
    while waiting:
        waiting = [below for child in waiting for below in _children(child)]
        found = found + waiting
    return found


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (OSError, ValueError):
        return []
