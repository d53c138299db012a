"""The memory that copies write to: learnt from one of them, and given to the others at once."""

from __future__ import annotations

import ctypes
import mmap
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from pegboard.sandbox.child import malloc_arenas, syscalls
from pegboard.sandbox.child.job_runner import RESULT_FD, ConfinedInputs
from pegboard.sandbox.child.memory_pages import Pages, pages_of
from pegboard.sandbox.child.page_learning import learn
from pegboard.sandbox.child.plain_isolation import PlainIsolation

PAGE = mmap.PAGESIZE
WRITTEN = (3, 4, 7)


def can_take() -> bool:
    """Whether the kernel gives many pages at once, as since Linux 6.13."""
    with mmap.mmap(-1, PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        return Pages(ranged((address_of(memory), PAGE))).take()


def ranged(*ranges: tuple[int, int]) -> bytes:
    """Places and sizes, as the kernel takes them."""
    return b"".join(number.to_bytes(8, sys.byteorder) for one in ranges for number in one)


def address_of(memory: mmap.mmap) -> int:
    """Where the memory begins."""
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


at_once = pytest.mark.skipif(not can_take(), reason="before Linux 6.13 the kernel gives pages one by one")


@contextmanager
def copy(work: Callable[[], None]) -> Iterator[int]:
    """A copy of this process that has done this and waits."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os.write(writing, b".")
            signal.pause()
        finally:
            os._exit(1)
    os.close(writing)
    try:
        assert os.read(reading, 1) == b"."
        yield pid
    finally:
        os.close(reading)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


@pytest.fixture
def memory() -> Iterator[mmap.mmap]:
    """Ten pages of this process's own, all written to."""
    with mmap.mmap(-1, 10 * PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as ten:
        for page in range(10):
            ten[page * PAGE] = 1
        yield ten


def faults(work: Callable[[], None]) -> int:
    """How often a copy of this process that does this has to be interrupted to be given a page."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            work()
            os.write(writing, str(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before).encode())
        finally:
            os._exit(1)
    os.waitpid(pid, 0)
    os.close(writing)
    with os.fdopen(reading, "rb") as opened:
        return int(opened.read())


def test_what_a_copy_has_written_to_is_learnt_from_it(memory: mmap.mmap) -> None:
    def write() -> None:
        for page in WRITTEN:
            memory[page * PAGE] = 2

    start = address_of(memory)
    with copy(write) as pid:
        found = pages_of(pid, [(start, start + 10 * PAGE)])._ranges
    assert found == ranged((start + 3 * PAGE, 2 * PAGE), (start + 7 * PAGE, PAGE))


@at_once
def test_pages_that_are_taken_keep_what_they_hold_and_are_the_copys_own(memory: mmap.mmap) -> None:
    start = address_of(memory)
    pages = Pages(ranged((start, 10 * PAGE)))

    def take() -> None:
        assert pages.take() and all(memory[page * PAGE] == 1 for page in range(10))
        memory[0] = 2

    with copy(take) as pid:
        assert pages_of(pid, [(start, start + 10 * PAGE)])._ranges == pages._ranges
    assert memory[0] == 1


@at_once
def test_many_ranges_are_taken() -> None:
    count = 3000
    with mmap.mmap(-1, 2 * count * PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        for page in range(2 * count):
            memory[page * PAGE] = 1
        start = address_of(memory)
        pages = Pages(ranged(*((start + 2 * page * PAGE, PAGE) for page in range(count))))

        def write() -> None:
            for page in range(0, 2 * count, 2):
                memory[page * PAGE] = 2

        def take_and_write() -> None:
            pages.take()
            write()

        assert faults(write) >= count
        # The kernel counts those that it gives as well; but nothing is given twice.
        assert faults(take_and_write) < count + 500


@pytest.mark.parametrize("ranges", [b"", ranged((0, PAGE))], ids=["unknown", "not there"])
def test_pages_that_are_not_to_be_had_are_done_without(ranges: bytes) -> None:
    assert not Pages(ranges).take()


def become_and(*steps: str) -> Callable[[ConfinedInputs], None]:
    """What a copy does with what it is given: it takes its pipe for results, writes there or ends."""

    def become(given: ConfinedInputs) -> None:
        os.dup2(given.ends[RESULT_FD], RESULT_FD)
        os.closerange(RESULT_FD + 1, 256)
        if "tells" in steps:
            os.write(RESULT_FD, b".")
            signal.pause()
        os._exit(1)

    return become


class Here(PlainIsolation):
    """A place that is no other than this process's own."""

    def __init__(self) -> None:
        pass

    def open(self, *, network: bool) -> None:
        pass

    def kill_all(self) -> None:
        pass


@pytest.mark.parametrize(("steps", "learns"), [(("tells",), True), ((), False)])
def test_a_copy_that_ends_before_it_has_rehearsed_teaches_nothing(steps: tuple[str, ...], learns: bool) -> None:
    assert bool(learn(syscalls.fork, become_and(*steps), Here())) is learns  # type: ignore[arg-type]


def test_what_is_allocated_together_lies_in_the_heap() -> None:
    pid = os.fork()
    if pid == 0:
        try:
            with malloc_arenas.together():
                inside = [bytearray(400) for _ in range(50_000)]
            os._exit(0 if _in_heap(inside[-1]) else 2)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def _in_heap(held: bytearray) -> bool:
    place = ctypes.addressof(ctypes.c_char.from_buffer(held))
    for line in syscalls.read_file("/proc/self/maps").splitlines():
        if line.endswith(b"[heap]"):
            start, end = (int(address, 16) for address in line.split()[0].split(b"-"))
            if start <= place < end:
                return True
    return False
