"""Calls whose process was started in advance: they see nothing of earlier calls."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.unit.sandbox.confined_tools import is_pid1
from tests.unit.sandbox.supervisor_channel import Zygote, make_zygote_spec, zygote
from tests.unit.sandbox.test_python_calls import run, value
from tests.unit.sandbox.test_supervise import children


@pytest.fixture(scope="module")
def prepared(user: str) -> Iterator[Zygote]:
    """A zygote with a library."""
    with zygote(make_zygote_spec(modules=["numpy"], allowed=["numpy"]), user) as started:
        yield started


def waiting(calls: Zygote) -> list[int]:
    """Return the confined processes that wait for a call."""
    found: list[int] = []
    while not found:
        below = [pid for one in children(calls.process.pid) for pid in children(one)]
        found = [pid for pid in below if not is_pid1(pid)]
    return found


def has_ended(pid: int) -> bool:
    """Return True if the process has ended, whether or not its exit status was read."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


@pytest.mark.parametrize("module", ["random", "numpy.random"])
def test_random_numbers_differ_although_they_are_seeded_before_there_is_a_call(prepared: Zygote, module: str) -> None:
    code = f"import numpy, random\ndef main():\n    return {module}.random()"
    assert len({value(prepared, code) for _ in range(5)}) == 5


def test_a_call_finds_only_its_own_code_and_variables(prepared: Zygote) -> None:
    code = """
import linecache, os, sys
kept = sorted(name for name in globals() if not name.startswith("__"))
def main():
    return [kept, linecache.getline("<tool>", 3), sys.modules["tool"] is sys.modules["__main__"], sorted(os.environ)]
"""
    names, line, is_one, environ = value(prepared, code)
    assert names == ["linecache", "os", "report_partial", "report_progress", "sys"]
    assert line.startswith("kept = ")
    assert is_one
    assert "OMP_NUM_THREADS" not in environ
    ended = run(prepared, code)
    assert (ended.stdout, ended.stderr) == (b"", b"")


def test_the_boards_own_modules_are_neither_found_nor_imported(prepared: Zygote) -> None:
    code = """
import sys
def main():
    try:
        import pegboard.sandbox.child.supervisor_main
    except ModuleNotFoundError as error:
        return [name for name in sys.modules if name.startswith("pegboard")] + [error.name]
"""
    assert value(prepared, code) == ["pegboard"]


def test_a_call_is_answered_after_the_one_that_waited_for_it_was_killed(user: str) -> None:
    with zygote(make_zygote_spec(modules=["numpy"], allowed=["numpy"]), user) as started:
        for spare in waiting(started):
            os.kill(spare, signal.SIGKILL)
            while not has_ended(spare):
                pass
        with suppress(EOFError, BrokenPipeError):
            # None of it has run, and the server starts it again, unless the supervisor had ended before it arrived.
            assert value(started, "def main():\n    return 1") == 1
        assert value(started, "def main():\n    return 2") == 2


def test_all_that_wait_end_with_their_zygote(user: str) -> None:
    with zygote(make_zygote_spec(modules=["numpy"], allowed=["numpy"]), user) as started:
        spares = waiting(started)
    assert all(has_ended(spare) for spare in spares)
