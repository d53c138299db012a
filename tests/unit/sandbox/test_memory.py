"""Counting the memory of processes, in bounded time."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import pytest

from pegboard.sandbox.child import memory_meter
from pegboard.sandbox.child.memory_meter import MemoryMeter

MIB = 2**20
# 256 MiB by the status of the process, of which it really has 4.
MAPS = """
import mmap, sys
size = 4 * 2**20
with open(sys.argv[1], "w+b") as file:
    file.write(b"x" * size)
    file.flush()
    kept = [mmap.mmap(file.fileno(), size, flags=mmap.MAP_SHARED | mmap.MAP_POPULATE) for number in range(64)]
print("mapped", flush=True)
sys.stdin.read()
"""


def never() -> bool:
    """Return whether a reader is left."""
    return False


def running(*argv: str) -> Iterator[int]:
    """A program that prints when it is ready, and ends with its input."""
    command = [sys.executable, "-I", "-S", "-c", *argv]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        yield process.pid
        process.kill()


@pytest.fixture
def mapping() -> Iterator[int]:
    """A process that has the same pages in many places."""
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        yield from running(MAPS, file.name)


@pytest.fixture
def large_process() -> Iterator[int]:
    """A process with 64 MiB of private memory."""
    yield from running("import sys\ntaken = bytearray(64 * 2**20)\nprint('taken', flush=True)\nsys.stdin.read()")


def test_what_a_process_has_is_counted(large_process: int) -> None:
    assert MemoryMeter(60 * MIB).is_over([large_process], never)
    assert not MemoryMeter(90 * MIB).is_over([large_process], never)


def test_a_page_in_many_places_counts_once(mapping: int) -> None:
    assert not MemoryMeter(64 * MIB).is_over([mapping], never)


@pytest.mark.parametrize(("bound", "value"), [("LARGE_TABLE_BYTES", 0), ("MAX_PSS_SECONDS", 0.0)])
def test_processes_that_take_long_to_measure_are_counted_as_unshared(
    mapping: int, monkeypatch: pytest.MonkeyPatch, bound: str, value: float
) -> None:
    monkeypatch.setattr(memory_meter, bound, value)
    assert MemoryMeter(64 * MIB).is_over([mapping], never)


def test_no_process_is_examined_once_no_reader_wants_to_know(large_process: int) -> None:
    asked = []

    def is_done() -> bool:
        asked.append(True)
        return len(asked) > 1

    assert not MemoryMeter(60 * MIB).is_over([large_process, os.getpid(), os.getppid()], is_done)
    assert len(asked) == 2


def test_a_close_look_is_followed_by_a_rest(large_process: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_meter, "REST_FACTOR", 1e9)
    monkeypatch.setattr(memory_meter, "MAX_REST_SECONDS", 1e9)
    meter = MemoryMeter(60 * MIB)
    assert [meter.is_over([large_process], never) for _ in range(2)] == [True, False]


def test_a_process_that_is_no_more_takes_nothing() -> None:
    with subprocess.Popen(["true"]) as ended:
        pass
    assert not MemoryMeter(1).is_over([ended.pid], never)
