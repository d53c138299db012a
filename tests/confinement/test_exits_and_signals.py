"""Exits that code and commands cause themselves, and signals to any process they can reach: only the call ends."""

from __future__ import annotations

import asyncio
import os

import pytest

from tests.confinement.targets import Target, list_sleepers, table
from tests.waiting import until

ENDED_ITSELF = "the code ended its process instead of returning a result"
GONE = "ended its process, with exit code {}, before its function returned"

ENDS: dict[str, tuple[str, str]] = {
    "os._exit": ("import os\ndef f(): os._exit(0)", GONE.format(0)),
    "os._exit with a code": ("import os\ndef f(): os._exit(4)", GONE.format(4)),
    "os._exit while it is loaded": ("import os\nos._exit(5)\ndef f(): pass", GONE.format(5)),
    "os._exit of a thread": (
        (
            "import os, threading, time\ndef f():\n"
            "    threading.Thread(target=os._exit, args=(6,)).start()\n    time.sleep(60)"
        ),
        GONE.format(6),
    ),
    "sys.exit": ("import sys\ndef f(): sys.exit()", f"SystemExit: {ENDED_ITSELF}"),
    "sys.exit with words": ("import sys\ndef f(): sys.exit('bye')", f"SystemExit: {ENDED_ITSELF}"),
    "SystemExit while it is loaded": ("raise SystemExit(0)\ndef f(): pass", f"SystemExit: {ENDED_ITSELF}"),
    "another program": ("import os\ndef f(): os.execv('/bin/true', ['true'])", GONE.format(0)),
    "an interruption": ("def f(): raise KeyboardInterrupt", "KeyboardInterrupt: the code was interrupted by a signal"),
    "BaseException": ("def f(): raise BaseException('odd')", "BaseException: odd"),
    "os.abort": ("import os\ndef f(): os.abort()", "was ended by SIGABRT"),
    "a fault": ("import ctypes\ndef f(): ctypes.string_at(0)", "was ended by SIGSEGV"),
    "a fault of its stack": ("import ctypes\ndef f(): ctypes.memset(id(f), 0, 10**9)", "was ended by SIG(SEGV|BUS)"),
    "killing itself": ("import os\ndef f(): os.kill(os.getpid(), 9)", "was ended by SIGKILL"),
    "killing its group": ("import os\ndef f(): os.killpg(0, 9)", "was ended by SIGKILL"),
    "terminating itself": ("import os\ndef f(): os.kill(os.getpid(), 15)", "was ended by SIGTERM"),
    "an unknown signal": ("import os\ndef f(): os.kill(os.getpid(), 40)", "was ended by signal 40"),
    "pretending to be out of time": ("import os\ndef f(): os.kill(os.getpid(), 24)", "was ended"),
}
SCRIPTS: dict[str, tuple[str, str]] = {
    "killing itself": ("kill -9 $$", "was ended by SIGKILL"),
    "killing its group": ("sleep 60 & kill -9 0", "was ended by SIGKILL"),
    "a fault": ("kill -SEGV $$", "was ended by SIGSEGV"),
}
# Pid 1 and the parent supervise the call; the pids that are reported by name are those of this machine.
SIGNALS = """
import errno, os, signal
def f(pids: list[int]):
    seen = {}
    assert os.getppid() == 0, 'who made this process is out of reach, and 0 would be its own group'
    for pid in [1, *pids, *(-pid for pid in pids)]:
        for number in range(1, 65):
            if number in (32, 33):
                continue
            try:
                os.kill(pid, number)
                seen.setdefault(pid, []).append(number)
            except OSError as error:
                assert error.errno in (errno.ESRCH, errno.EPERM), error
    for pid in pids:
        try:
            signal.pidfd_send_signal(os.pidfd_open(pid), signal.SIGKILL)
            seen.setdefault(pid, []).append("pidfd")
        except OSError:
            pass
    return {pid: sent for pid, sent in seen.items() if pid in pids or -pid in pids}
"""
SIGNAL_ALL = """
import os, signal
def f():
    os.fork() or signal.pause()
    for name in ("SIGHUP", "SIGTERM", "SIGINT", "SIGUSR1", "SIGKILL", "SIGSTOP", "SIGCONT"):
        try:
            os.kill(-1, getattr(signal, name))
        except ProcessLookupError:
            pass  # the first who could be killed were
    return "still here"
"""
FAST_STOPS = """
import os, signal
def f():
    # A child that stops whoever can be stopped, again and again.
    if os.fork() == 0:
        while True:
            os.kill(-1, signal.SIGSTOP)
            os.kill(-1, signal.SIGCONT)
    return sum(range(10**6))
"""


@pytest.mark.parametrize(("code", "words"), table(ENDS))
async def test_code_that_ends_itself_says_how(board: Target, code: str, words: str) -> None:
    (await board.python(code)).ended("execution_failed", words)


@pytest.mark.parametrize(("script", "words"), table(SCRIPTS))
async def test_a_script_that_ends_itself_says_how(board: Target, script: str, words: str) -> None:
    (await board.shell(script)).ended("execution_failed", words)


async def test_signals_reach_neither_the_supervisor_nor_the_server(board: Target) -> None:
    outside = [os.getpid(), os.getppid(), *board.zygotes()]
    assert (await board.python(SIGNALS, {"pids": outside})).output == {}
    assert len(board.zygotes()) == len(outside) - 2


async def test_signals_to_all_processes_reach_no_other_user(board: Target, mark: str) -> None:
    other = asyncio.create_task(board.shell(f"sleep {mark} & wait; echo woken", timeout=60.0))

    await until(lambda: sleeping(mark))
    assert (await board.python(SIGNAL_ALL)).output == "still here"
    (await board.shell("kill -KILL -1; echo still here")).ended("succeeded", "still here")
    (sleeper,) = list_sleepers(mark)
    os.kill(sleeper, 15)
    assert (await other).output["stdout"] == "woken\n"


async def sleeping(mark: str) -> list[int]:
    """Return the sleeping processes, to wait for them."""
    return list_sleepers(mark)


async def test_a_process_that_stops_and_resumes_all_processes_is_ended_too(board: Target) -> None:
    tried = await board.python(FAST_STOPS, timeout=2.0)
    assert tried.code in ("succeeded", "timeout")
