"""Runs one command and kills all its descendants when it ends.

Started as `python -I -S child_process.py BOARD MEMORY -- COMMAND…` with the process id of the board and the memory
limit of the command in bytes. The command gets this process's standard streams and environment. When the command
exits, when this process gets SIGTERM, SIGINT or SIGHUP, or when the board dies, every descendant is killed, including
those with a session of their own, which the MCP SDK would leave; the exit status is that of the command. It uses only
the standard library, to start fast.
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

# How long the command may take to exit after SIGTERM.
CHILD_GRACE_SECONDS = 1.0
EXIT_CANNOT_START = 127

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_IS_LINUX = sys.platform == "linux"


def main(board: int, memory: int, command: list[str]) -> int:
    """Return the command's exit status, or 128 plus the number of the signal that killed it."""
    if _IS_LINUX:
        # As a subreaper this process adopts orphaned descendants, so that none can escape.
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != board:
        return EXIT_CANNOT_START
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    received: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: received.append(number))
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    child = os.fork()
    if child == 0:
        _exec_command(command, memory)
    _release_streams()
    status = _wait_for_command(child, board, received, woken)
    _kill_descendants()
    return status


def _exec_command(command: list[str], memory: int) -> NoReturn:
    try:
        if _IS_LINUX:
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.set_wakeup_fd(-1)
        # An exec'd program inherits ignored signals, and Python ignores these.
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(ValueError, OSError):  # a lower limit is already set
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        os.execvp(command[0], command)  # noqa: S606 -- running the admin's command is what this is for
    except OSError as error:
        os.write(2, f"cannot start '{command[0]}': {error.strerror}\n".encode("utf-8", "replace"))
    finally:
        os._exit(EXIT_CANNOT_START)


def _release_streams() -> None:
    """Replace stdin and stdout, so that this process holds no end of the command's pipes."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)


def _wait_for_command(child: int, board: int, received: list[int], woken: int) -> int:
    """Return how the command ended; give up if it ignores SIGTERM."""
    give_up: float | None = None
    while True:
        ended = _reap_children(child)
        if ended is not None:
            return ended
        if give_up is None and (received or os.getppid() != board):
            give_up = time.monotonic() + CHILD_GRACE_SECONDS
            os.kill(child, signal.SIGTERM)
        left = 1.0 if give_up is None else give_up - time.monotonic()
        if left <= 0:
            return 128 + signal.SIGKILL
        # If the kernel does not signal the death of the board, this polls once a second.
        if select.select([woken], [], [], left)[0]:
            os.read(woken, 4096)


def _reap_children(child: int) -> int | None:
    """Reap all exited children, including adopted ones; return the command's status if it has exited."""
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


def _kill_descendants() -> None:
    if not _IS_LINUX:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(0, signal.SIGTERM)
        return
    # Stop them first, so that none can fork while they are killed.
    stopped: set[int] = set()
    while new := _find_descendants() - stopped:
        _signal_all(new, signal.SIGSTOP)
        stopped |= new
    give_up = time.monotonic() + CHILD_GRACE_SECONDS
    while (left := _find_descendants()) and time.monotonic() < give_up:
        _signal_all(left, signal.SIGKILL)
        _reap_children(0)
        time.sleep(0.005)


def _find_descendants() -> set[int]:
    """Return the pids of all living descendants."""
    children: dict[int, list[int]] = {}
    dead: set[int] = set()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            # The process name, in parentheses, may contain any characters.
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
