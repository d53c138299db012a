"""Pid 1 of a call's namespaces: it runs until its socket is closed in all other processes, and no longer."""

from __future__ import annotations

import os
import select
import time
from pathlib import Path

import pytest

from pegboard.sandbox.child import syscalls
from pegboard.sandbox.child.pid1 import Pid1
from tests.unit.sandbox.confined_tools import is_pid1, is_process
from tests.unit.sandbox.supervisor_channel import Zygote

NAMESPACES = syscalls.NEWUSER | syscalls.NEWPID


def has_ended(pid: int) -> bool:
    """Whether a child ends within a few seconds."""
    descriptor = os.pidfd_open(pid)
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    try:
        return bool(poller.poll(60_000)) and os.waitpid(pid, 0) == (pid, 0)
    finally:
        os.close(descriptor)


def test_it_runs_as_long_as_its_socket_is_open() -> None:
    for _ in range(20):
        pid1 = Pid1(NAMESPACES)
        pid1.hide()  # returns after a response, so it runs
        assert is_pid1(pid1.pid) and is_process(pid1.pid)
        pid1.close()
        assert has_ended(pid1.pid)


def test_it_is_unreadable_as_soon_as_it_is_hidden() -> None:
    pid1 = Pid1(NAMESPACES)
    place = Path(f"/proc/{pid1.pid}/environ")
    try:
        assert place.stat().st_uid == os.geteuid()
        pid1.hide()
        # The kernel gives the files of a process that is not dumpable to root.
        assert place.stat().st_uid == 0
        if os.geteuid() != 0:
            with pytest.raises(PermissionError):
                place.read_bytes()
    finally:
        pid1.close()
        assert has_ended(pid1.pid)


def test_one_that_has_ended_cannot_be_hidden() -> None:
    pid1 = Pid1(NAMESPACES)
    os.kill(pid1.pid, 9)
    os.waitpid(pid1.pid, 0)
    with pytest.raises(OSError):
        pid1.hide()
    pid1.close()


def test_it_ends_with_the_process_that_started_it_however_soon_that_is() -> None:
    received, sent = os.pipe()
    for _ in range(30):
        pid = os.fork()
        if pid == 0:
            try:
                os.write(sent, Pid1(NAMESPACES).pid.to_bytes(8, "little"))
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
    os.close(sent)
    with os.fdopen(received, "rb") as numbers:
        begun = [int.from_bytes(numbers.read(8), "little") for _ in range(30)]
    while any(is_process(one) for one in begun):
        time.sleep(0.01)  # the test's own time limit ends this


ORPHANS = """
import os, time
def main():
    reading, writing = os.pipe()
    if not os.fork():
        if not os.fork():
            os.write(writing, str(os.getpid()).encode())
        os._exit(0)
    os.wait()
    orphan = int(os.read(reading, 16))
    until = time.monotonic() + 10
    while os.path.exists(f"/proc/{orphan}") and time.monotonic() < until:
        time.sleep(0.001)
    return os.path.exists(f"/proc/{orphan}")
"""


def test_orphans_of_functions_are_let_go_of(functions: Zygote) -> None:
    assert functions.function(ORPHANS).result == b'{"ok":false}'


def test_orphans_of_commands_are_let_go_of(calls: Zygote) -> None:
    ended = calls.python(f"{ORPHANS}\nprint(main())")
    assert (ended.stdout, ended.stderr) == (b"False\n", b"")


def test_it_has_no_memory_that_a_call_could_look_into(functions: Zygote) -> None:
    code = """
import os
def main():
    found = {}
    for name in ("mem", "maps", "environ", "fd", "root", "cwd", "exe"):
        try:
            path = f"/proc/1/{name}"
            found[name] = repr(os.listdir(path) if name == "fd" else open(path, "rb").read(1))
        except OSError as error:
            found[name] = error.strerror
    return sorted(set(found.values()))
"""
    assert functions.function(code).result == b'{"ok":["Permission denied"]}'


def test_signals_from_within_do_not_reach_it(functions: Zygote) -> None:
    code = """
import os, signal
def main():
    for number in signal.valid_signals():
        try:
            os.kill(1, number)
        except OSError:
            pass
    return os.path.exists("/proc/1")
"""
    assert functions.function(code).result == b'{"ok":true}'
