"""Runs one command and leaves nothing of it behind, whoever ends first.

Started as `python -I -S child.py BOARD MEMORY -- COMMAND…` with the process id of the board and the bytes of memory
that the command may take. The command gets this process's standard streams and environment. When the command exits,
when this process is told to stop, or when the board dies in whatever way, every descendant is killed, those that moved
to a session of their own too; the status is that of the command. To start fast it uses the standard library alone.
"""

from __future__ import annotations

import ctypes
import os
import resource
import select
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

# What the command gets to end by itself when it is told to.
GRACE_SECONDS = 1.0
CANNOT_START = 127

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_ON_LINUX = sys.platform == "linux"


def main(board: int, memory: int, command: list[str]) -> int:
    """The command's exit status, 128 and the signal's number where one killed it."""
    if _ON_LINUX:
        # The children of a descendant that dies become children of this process, so none can get away.
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != board:
        return CANNOT_START
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    told: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: told.append(number))
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    child = os.fork()
    if child == 0:
        _become(command, memory)
    _let_go_of_streams()
    status = _wait(child, board, told, woken)
    _end_descendants()
    return status


def _become(command: list[str], memory: int) -> NoReturn:
    try:
        if _ON_LINUX:
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.set_wakeup_fd(-1)
        # What Python ignores, the command would ignore too.
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(ValueError, OSError):  # a lower limit is in force already
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        os.execvp(command[0], command)  # noqa: S606 -- running the admin's command is what this is for
    except OSError as error:
        os.write(2, f"cannot start '{command[0]}': {error.strerror}\n".encode("utf-8", "replace"))
    finally:
        os._exit(CANNOT_START)


def _let_go_of_streams() -> None:
    """Keep no end of the pipes open that the command and the board talk through."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)


def _wait(child: int, board: int, told: list[int], woken: int) -> int:
    """How the command ended; one that does not heed the request to end is given up on."""
    give_up: float | None = None
    while True:
        ended = _reap(child)
        if ended is not None:
            return ended
        if give_up is None and (told or os.getppid() != board):
            give_up = time.monotonic() + GRACE_SECONDS
            os.kill(child, signal.SIGTERM)
        left = 1.0 if give_up is None else give_up - time.monotonic()
        if left <= 0:
            return 128 + signal.SIGKILL
        # Where the kernel does not tell that the board died, this looks once a second.
        if select.select([woken], [], [], left)[0]:
            os.read(woken, 4096)


def _reap(child: int) -> int | None:
    """The command's status if it has ended; descendants that came to be ours and have ended are let go of."""
    status = None
    while True:
        try:
            pid, ended = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if pid == 0:
            return status
        if pid == child:
            code = os.waitstatus_to_exitcode(ended)
            status = 128 - code if code < 0 else code


def _end_descendants() -> None:
    if not _ON_LINUX:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(0, signal.SIGTERM)
        return
    # Stopped first, so that none can start another while they are killed.
    stopped: set[int] = set()
    while new := _descendants() - stopped:
        _signal_all(new, signal.SIGSTOP)
        stopped |= new
    give_up = time.monotonic() + GRACE_SECONDS
    while (left := _descendants()) and time.monotonic() < give_up:
        _signal_all(left, signal.SIGKILL)
        _reap(0)
        time.sleep(0.005)


def _descendants() -> set[int]:
    """Every process whose ancestors lead here, but for those that are dead already."""
    children: dict[int, list[int]] = {}
    dead: set[int] = set()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            # The name, in brackets, may hold anything.
            state, parent = (entry / "stat").read_bytes().rpartition(b")")[2].split()[:2]
        except (OSError, ValueError):
            continue
        children.setdefault(int(parent), []).append(int(entry.name))
        if state in (b"Z", b"X"):
            dead.add(int(entry.name))
    found: set[int] = set()
    waiting = [os.getpid()]
    while waiting:
        for pid in children.get(waiting.pop(), ()):
            found.add(pid)
            waiting.append(pid)
    return found - dead


def _signal_all(pids: set[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[4:]))
