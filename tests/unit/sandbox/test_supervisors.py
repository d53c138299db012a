"""Supervisors: one per call, and nothing of a call is left for the next."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from typing import Any, cast

import pytest

from pegboard.sandbox.child.isolation import kill_and_reap
from tests.unit.sandbox.confined_tools import is_pid1, is_process
from tests.unit.sandbox.supervisor_channel import Zygote, command, living, make_zygote_spec, zygote
from tests.unit.sandbox.test_supervise import children, marked
from tests.unit.sandbox.test_template import function, is_template

# Searches all of its memory for the text after these letters, which are not adjacent in this code.
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
    """Return the existing supervisors."""
    found = set()
    for pid in children(calls.process.pid):
        with suppress(FileNotFoundError, ProcessLookupError):
            if not is_template(pid):
                found.add(pid)
    return found


def waiting(calls: Zygote) -> int:
    """Return the supervisor that waits for the next call: only this one has already made namespaces."""
    found: list[int] = []
    looks = 0
    # More than once: a call that has just ended keeps its supervisor until its processes have ended.
    while looks < 20:
        before, supervisor_pids = found, supervisors(calls)
        found = [pid for pid in supervisor_pids if any(is_pid1(child) for child in children(pid))]
        is_at_rest = len(found) == 1 and len(children(template(calls))) == 1 and len(supervisor_pids) == 1
        looks = looks + 1 if is_at_rest and found == before else 0
        time.sleep(0.005)
    return found[0]


def template(calls: Zygote) -> int:
    """Return the one process with the libraries, which was started first."""
    return min(children(calls.process.pid))


@pytest.mark.parametrize("python", [False, True], ids=["commands", "functions"])
def test_each_call_has_a_supervisor_of_its_own(user: str, python: bool) -> None:
    job = function("import time\ndef main(): time.sleep(600)") if python else command("sleep", "600")
    with zygote(make_zygote_spec(python=python), user) as calls, ExitStack() as under_way:
        running = [under_way.enter_context(calls.call(job)) for _ in range(3)]
        assert [call.frame() for call in running] == [("S", b"")] * 3
        while len(supervisor_pids := supervisors(calls)) != 4:
            pass  # the fourth waits for the next call; the test's own time limit ends this
        firsts = [[pid for pid in children(one) if is_pid1(pid)] for one in supervisor_pids]
        assert len({pid for below in firsts for pid in below}) == 4
        for call in running:
            call.line.close()
        while len(supervisors(calls)) != 1:
            pass  # those whose calls ended have exited
        assert supervisors(calls) < supervisor_pids


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


@pytest.mark.parametrize("target", ["supervisor", "first"])
def test_a_call_ends_with_those_it_depends_on(functions: Zygote, target: str) -> None:
    marker = marked()
    one = waiting(functions)
    code = f"import subprocess\ndef main():\n    subprocess.run(['sleep', '{marker}'])"
    with functions.call(function(code)) as under_way:
        assert under_way.frame() == ("S", b"")
        while not living(marker):
            pass
        killed = one if target == "supervisor" else next(pid for pid in children(one) if is_pid1(pid))
        os.kill(killed, signal.SIGKILL)
        while living(marker):
            pass  # the test's own time limit ends this
        if target == "supervisor":
            with pytest.raises(EOFError):
                under_way.ended()
        else:
            assert under_way.ended().fate == "signalled"
    assert functions.function("def main(): return 1").result == b'{"ok":1}'


def test_a_call_for_which_all_was_ready_and_is_killed_is_the_servers_to_begin_again(functions: Zygote) -> None:
    one = waiting(functions)
    first = next(pid for pid in children(one) if is_pid1(pid))
    (copy,) = children(template(functions))
    os.kill(first, signal.SIGKILL)
    while is_process(copy):
        pass  # the test's own time limit ends this
    with suppress(EOFError):
        # None of it has run, unless the supervisor had ended before it arrived and another one took it.
        assert functions.function("def main(): return 1").result == b'{"ok":1}'
    assert functions.function("def main(): return 2").result == b'{"ok":2}'


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may be in a namespace of processes by itself")
def test_the_machines_proc_may_number_processes_otherwise(user: str) -> None:
    script = f"""
import os, sys
sys.path[:0] = {sys.path!r}
from pegboard.sandbox.child import syscalls
from tests.unit.sandbox.supervisor_channel import make_zygote_spec, zygote
syscalls.unshare(syscalls.NEWPID)
if (pid := os.fork()) == 0:
    with zygote(make_zygote_spec(python=True), {user!r}) as calls:
        for _ in range(3):
            print(calls.function("def main(): return 1").result.decode()[len('{{"ok":'):-1])
    with zygote(make_zygote_spec(), {user!r}) as calls:
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
