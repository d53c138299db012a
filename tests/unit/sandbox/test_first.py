"""The first process of namespaces: it lives as long as the process that began it holds the pipe, and no longer."""

from __future__ import annotations

import os
import select
from collections.abc import Callable

import pytest

from pegboard.sandbox.child import syscalls
from pegboard.sandbox.child.pid1 import ForkedInit, SharedMemoryInit
from tests.unit.sandbox.living import is_first, is_there
from tests.unit.sandbox.wire import Zygote

NAMESPACES = syscalls.NEWUSER | syscalls.NEWPID
Begin = Callable[[int, int, int], int]


@pytest.fixture(params=[SharedMemoryInit, ForkedInit])
def begin(request: pytest.FixtureRequest) -> Begin:
    """How to begin one: where the C library can do it, and where it cannot."""
    kind: type[SharedMemoryInit] = request.param
    return kind().begin


def has_ended(pid: int) -> bool:
    """Whether a child ends within a few seconds."""
    descriptor = os.pidfd_open(pid)
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    try:
        return bool(poller.poll(10_000)) and os.waitpid(pid, 0) == (pid, 0)
    finally:
        os.close(descriptor)


def test_it_is_there_as_long_as_the_pipe_is_held(begin: Begin) -> None:
    # One after the other: what it finds in memory to live by is used up.
    for _ in range(20):
        reading, writing = os.pipe()
        pid = begin(NAMESPACES, reading, writing)
        os.close(reading)
        while not select.select([], [writing], [], 0)[1]:
            pass
        assert is_first(pid) and is_there(pid)
        os.close(writing)
        assert has_ended(pid)


def test_it_ends_with_the_process_that_began_it_however_soon_that_was(begin: Begin) -> None:
    received, telling = os.pipe()
    for _ in range(30):
        pid = os.fork()
        if pid == 0:
            try:
                os.write(telling, begin(NAMESPACES, *os.pipe()).to_bytes(8, "little"))
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
    os.close(telling)
    with os.fdopen(received, "rb") as numbers:
        begun = [int.from_bytes(numbers.read(8), "little") for _ in range(30)]
    while any(is_there(one) for one in begun):
        pass  # the test's own time limit ends this


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
