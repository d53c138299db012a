"""Supervisors that have one call after another: nothing of one is left for the next, and few of them are."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, cast

import pytest

from pegboard.sandbox.child.isolation import kill_and_reap
from tests.unit.sandbox.living import is_first, is_there
from tests.unit.sandbox.test_supervise import children, marked
from tests.unit.sandbox.test_template import MOST_AT_REST, function, is_template
from tests.unit.sandbox.wire import Zygote, house, living, zygote

# Looks through all of its memory for what follows these letters, which are not together in here.
SEARCHES = """
import re
def main(left, right):
    found = set()
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            where, rights, *_ = line.split()
            if rights[0] == "r" and "[v" not in line:
                start, end = (int(word, 16) for word in where.split("-"))
                memory.seek(start)
                found |= set(re.findall((left + right).encode() + rb"[0-9a-f]{32}", memory.read(end - start)))
    return sorted(one.decode() for one in found)
"""


def supervisors(calls: Zygote) -> set[int]:
    """Those that are there now."""
    found = set()
    for pid in children(calls.process.pid):
        with suppress(FileNotFoundError, ProcessLookupError):
            if not is_template(pid):
                found.add(pid)
    return found


def waiting(calls: Zygote) -> int:
    """The one that waits for the next call: it has made namespaces already, and no other has."""
    found: list[int] = []
    looks = 0
    # More than once: one whose call is just over has its own until they have ended.
    while looks < 20:
        before, crew = found, supervisors(calls)
        found = [pid for pid in crew if any(is_first(child) for child in children(pid))]
        is_at_rest = len(found) == 1 and len(children(template(calls))) == 1 and len(crew) <= MOST_AT_REST
        looks = looks + 1 if is_at_rest and found == before else 0
        time.sleep(0.005)
    return found[0]


def template(calls: Zygote) -> int:
    """The one process with the libraries, which was the first to be started."""
    return min(children(calls.process.pid))


def test_many_calls_need_few_of_them(user: str) -> None:
    with zygote(house(python=True), user) as calls:
        seen: set[int] = set()
        for number in range(40):
            assert calls.function(f"def main(): return {number}").result == b'{"ok":%d}' % number
            seen |= supervisors(calls)
        # One runs, one waits, two rest; and another where a call came before one of them was done.
        assert len(seen) <= 8


def test_each_call_has_its_own_files_and_processes(functions: Zygote) -> None:
    code = """
import os, signal
def main():
    left = [place for place in ("/call", "/tmp", "/dev/shm") if "left" in os.listdir(place)]
    for place in ("/call", "/tmp", "/dev/shm"):
        open(f"{place}/left", "w").close()
    if not os.fork():
        signal.pause()
    return [left, sorted(int(name) for name in os.listdir("/proc") if name.isdecimal())]
"""
    assert {functions.function(code).result for _ in range(10)} == {b'{"ok":[[],[1,2,3]]}'}


def test_nothing_of_a_call_is_in_the_memory_of_the_next(functions: Zygote) -> None:
    left, right = "carried", "-over-"
    for _ in range(5):
        secret = left + right + secrets.token_hex(16)
        call = function("def main(told):\n    print(told)\n    return told")
        with functions.call(call | {"arguments": {"told": secret}}) as under_way:
            assert under_way.ended().result == b'{"ok":"%s"}' % secret.encode()
        with functions.call(function(SEARCHES) | {"arguments": {"left": left, "right": right}}) as under_way:
            assert under_way.ended().result == b'{"ok":[]}'


def test_between_calls_they_are_in_no_call_s_files(functions: Zygote) -> None:
    for _ in range(5):
        assert functions.function("def main(): return 1").result == b'{"ok":1}'
    waiting(functions)
    house_s = Path(f"/proc/{functions.process.pid}/ns/mnt").readlink()
    assert {Path(f"/proc/{pid}/ns/mnt").readlink() for pid in supervisors(functions)} == {house_s}


@pytest.mark.parametrize("then", ["return 'x' * 2**17", "print('x' * 2**17)"])
def test_one_that_a_call_has_made_large_ends_with_it(functions: Zygote, then: str) -> None:
    one = waiting(functions)
    ended = functions.function(f"def main():\n    {then}", limits={"output": 2**23, "result": 2**23})
    assert len(ended.result) + len(ended.stdout) > 2**17
    while one in supervisors(functions):
        pass  # the test's own time limit ends this


@pytest.mark.parametrize("then", ["return 1", "raise ValueError", "os._exit(3)", "os.abort()"])
def test_one_goes_on_however_its_call_ended(functions: Zygote, then: str) -> None:
    one = waiting(functions)
    functions.function(f"import os\ndef main():\n    {then}")
    waiting(functions)
    assert one in supervisors(functions)


@pytest.mark.parametrize("whom", ["supervisor", "first"])
def test_a_call_ends_with_those_it_depends_on(functions: Zygote, whom: str) -> None:
    marker = marked()
    one = waiting(functions)
    code = f"import subprocess\ndef main():\n    subprocess.run(['sleep', '{marker}'])"
    with functions.call(function(code)) as under_way:
        assert under_way.frame() == ("S", b"")
        while not living(marker):
            pass
        killed = one if whom == "supervisor" else next(pid for pid in children(one) if is_first(pid))
        os.kill(killed, signal.SIGKILL)
        while living(marker):
            pass  # the test's own time limit ends this
        if whom == "supervisor":
            with pytest.raises(EOFError):
                under_way.ended()
        else:
            assert under_way.ended().fate == "signalled"
    assert functions.function("def main(): return 1").result == b'{"ok":1}'


def test_a_call_for_which_all_was_ready_and_is_killed_is_the_servers_to_begin_again(functions: Zygote) -> None:
    one = waiting(functions)
    first = next(pid for pid in children(one) if is_first(pid))
    (copy,) = children(template(functions))
    os.kill(first, signal.SIGKILL)
    while is_there(copy):
        pass  # the test's own time limit ends this
    with suppress(EOFError):
        # Nothing of it has run; unless the supervisor had gone before it came, and another one took it.
        assert functions.function("def main(): return 1").result == b'{"ok":1}'
    assert functions.function("def main(): return 2").result == b'{"ok":2}'


def test_on_one_processor_they_last_too_when_many_calls_run(user: str) -> None:
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(every)})
    try:
        with zygote(house(python=True), user) as calls:
            seen: set[int] = set()
            for _ in range(10):
                with ExitStack() as under_way:
                    jobs = [function(f"def main(): return {number}") for number in range(3)]
                    running = [under_way.enter_context(calls.call(job, crowded=True)) for job in jobs]
                    assert [call.ended().result for call in running] == [b'{"ok":%d}' % number for number in range(3)]
                seen |= supervisors(calls)
            assert len(seen) <= 15
    finally:
        os.sched_setaffinity(0, every)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may be in a namespace of processes by itself")
def test_the_machines_proc_may_number_processes_otherwise(user: str) -> None:
    script = f"""
import os, sys
sys.path[:0] = {sys.path!r}
from pegboard.sandbox.child import syscalls
from tests.unit.sandbox.wire import house, zygote
syscalls.unshare(syscalls.NEWPID)
if (pid := os.fork()) == 0:
    with zygote(house(python=True), {user!r}) as calls:
        for _ in range(3):
            print(calls.function("def main(): return 1").result.decode()[len('{{"ok":'):-1])
    with zygote(house(), {user!r}) as calls:
        print(calls.run("echo", "one").stdout.decode(), flush=True)
    os._exit(0)
os.waitpid(pid, 0)
"""
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert output.split() == ["1", "1", "1", "one"]


def test_a_process_that_is_reaped_by_this_process_is_reaped_while_it_waits_for_the_others() -> None:
    asked: list[float] = []

    class Place:
        def kill_all(self) -> None:
            pass

        def is_empty(self, within: float) -> bool:
            asked.append(within)
            return len(asked) == 3

    assert kill_and_reap(cast(Any, Place()))
    assert len(asked) == 3 and max(asked) < 0.1
