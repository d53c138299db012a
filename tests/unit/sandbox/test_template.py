"""The process with the imported libraries: calls when it dies, its state when others die, and its memory."""

from __future__ import annotations

import math
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.unit.sandbox.confined_tools import is_process
from tests.unit.sandbox.supervisor_channel import Call, Refused, Zygote, command, make_zygote_spec, zygote

# Descriptors of a template between calls: the standard ones, one for requests, and two for the waiting copy.
AT_REST = 6
# Waits until a mounted folder has a file of this name.
WAITS = "import os, time\ndef main():\n    while not os.path.exists({path!r}):\n        time.sleep(0.01)\n    {then}"


def function(code: str, **changes: Any) -> dict[str, Any]:
    """A job that calls the function `main` of this code."""
    return command(**changes) | {"kind": "python", "code": code, "entry": "main", "arguments": {}}


def children(pid: int) -> list[int]:
    """The child processes of this process."""
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def template_of(pid: int) -> int:
    """The template below this zygote."""
    (found,) = [child for child in children(pid) if is_template(child)]
    return found


def is_template(pid: int) -> bool:
    """Whether a process has this name."""
    return Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"pegboard-template")


def until_gone(*pids: int) -> None:
    """Wait until all have ended; the test's own time limit ends this."""
    while any(is_process(pid) for pid in pids):
        pass


def opened(pid: int) -> int:
    """How many descriptors a process has."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def library(folder: Path, code: str) -> dict[str, Any]:
    """Return the spec of a zygote with a library that has this code."""
    (folder / "shelved.py").write_text(code)
    return make_zygote_spec((folder, folder, False), prefixes=[str(folder)], modules=["shelved"], allowed=["shelved"])


@pytest.fixture
def waiting(folder: Path, user: str) -> Iterator[tuple[Zygote, Path]]:
    """A zygote whose calls see a folder, and the name of the file they wait for."""
    with zygote(make_zygote_spec((folder, folder, False), python=True), user) as calls:
        yield calls, folder / "go"


def start_call(calls: Zygote, path: Path, then: str, **changes: Any) -> Call:
    """Start a call that runs this code when the file exists."""
    call = calls.call(function(WAITS.format(path=str(path), then=then), **changes))
    assert call.frame() == ("S", b"")
    return call


def test_a_call_continues_when_the_template_is_killed(waiting: tuple[Zygote, Path]) -> None:
    calls, go = waiting
    with start_call(calls, go, "return 7") as call:
        template = template_of(calls.process.pid)
        os.kill(template, signal.SIGKILL)
        until_gone(template)
        go.touch()
        assert call.ended().result == b'{"ok":7}'


def test_how_a_call_without_a_result_ended_is_not_known_when_the_template_was_killed(
    waiting: tuple[Zygote, Path],
) -> None:
    calls, go = waiting
    with start_call(calls, go, "os._exit(3)") as call:
        template = template_of(calls.process.pid)
        os.kill(template, signal.SIGKILL)
        until_gone(template)
        go.touch()
        with pytest.raises(EOFError):
            call.ended()


def test_a_call_whose_time_is_up_is_ended_although_the_template_was_killed(waiting: tuple[Zygote, Path]) -> None:
    calls, go = waiting
    with start_call(calls, go, "pass", seconds=1.0) as call:
        os.kill(template_of(calls.process.pid), signal.SIGKILL)
        assert call.ended().fate == "time"


def test_the_one_that_waits_takes_a_call_although_the_template_was_killed(user: str) -> None:
    with zygote(make_zygote_spec(python=True), user) as calls:
        template = template_of(calls.process.pid)
        while len(first := children(template)) != 1:
            pass  # it is starting
        assert calls.function("def main(): return 1").result == b'{"ok":1}'
        while len(children(template)) != 1 or children(template) == first:
            pass  # so is the next one, and the first has not ended yet
        os.kill(template, signal.SIGKILL)
        until_gone(template)
        assert calls.function("def main(): return 2").result == b'{"ok":2}'
        assert calls.process.wait(30) == 0, "there can be no more calls"


def test_a_template_ends_when_its_zygote_is_killed_and_its_calls_are_over(waiting: tuple[Zygote, Path]) -> None:
    calls, go = waiting
    template = template_of(calls.process.pid)
    with start_call(calls, go, "os._exit(3)") as call:
        calls.process.kill()
        calls.process.wait(30)
        go.touch()
        ended = call.ended()
        assert (ended.fate, ended.code) == ("exited", 3)
    until_gone(template)


FAILURES = {"many": "'x' * 5000", "too many to send": "'x' * 500_000", "wide ones": "'\\U0001f98b' * 100_000"}


@pytest.mark.parametrize("words", FAILURES.values(), ids=FAILURES)
def test_a_library_that_fails_with_many_words_is_named_with_the_first_of_them(
    folder: Path, user: str, words: str
) -> None:
    with pytest.raises(Refused) as refused, zygote(library(folder, f"raise RuntimeError({words})"), user):
        pass
    received = refused.value.args[0]
    assert received["library"] == "shelved"
    assert received["failed"].startswith(
        "importing shelved: RuntimeError: " + words[1:2].replace("\\", "\U0001f98b") * 1000
    )
    assert len(received["failed"]) < 5000


def test_a_library_that_ignores_the_ends_of_children_keeps_no_caller_from_knowing_them(folder: Path, user: str) -> None:
    received = library(folder, "import signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)")
    with zygote(received, user) as calls:
        for code in (3, 4, 5):
            ended = calls.function(f"import os\ndef main(): os._exit({code})")
            assert (ended.fate, ended.code) == ("exited", code)


def test_calls_do_not_find_where_the_board_keeps_its_files(folder: Path, user: str) -> None:
    code = """
import sys
def main():
    found, frame = [], sys._getframe().f_back
    while frame is not None:
        found += [str(value) for value in frame.f_locals.values()]
        frame = frame.f_back
    return [text for text in found if "own-" + "place" in text]
"""
    (folder / "own-place").mkdir()
    with zygote(make_zygote_spec(masked=[str(folder / "own-place")], python=True), user) as calls:
        assert calls.function(code).result == b'{"ok":[]}'


def test_a_call_that_has_left_holds_no_memory_any_more(user: str) -> None:
    # So much that the kernel needs a while to free it.
    code = "def main():\n    global held\n    held = bytearray(b'x') * 400_000_000\n    return 1"
    with zygote(make_zygote_spec(python=True), user) as calls:
        template = template_of(calls.process.pid)
        while len(children(template)) != 1:
            pass  # the process for the call is starting
        (taker,) = children(template)
        assert calls.function(code).result == b'{"ok":1}'
        if is_process(taker):
            assert Path(f"/proc/{taker}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"


def test_as_many_calls_run_at_once_as_the_hard_limit_of_descriptors_allows(user: str) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as stack:
        resource.setrlimit(resource.RLIMIT_NOFILE, (48, hard))
        try:
            calls = stack.enter_context(zygote(make_zygote_spec(python=True), user))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        job = function("import time\ndef main(): time.sleep(600)")
        running = [stack.enter_context(calls.call(job)) for _ in range(30)]
        assert [call.frame() for call in running] == [("S", b"")] * 30


def test_a_call_for_which_there_is_no_descriptor_left_costs_no_other(folder: Path, user: str) -> None:
    # Enough for two calls, and not for a third; running ones have more.
    code = """
import os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (16, 256))
os.register_at_fork(after_in_child=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256)))
"""
    received = library(folder, code)
    job = function("import time\ndef main(): time.sleep(600)")
    with zygote(received, user) as calls:
        template = template_of(calls.process.pid)
        with calls.call(job) as first:
            assert first.frame() == ("S", b"")
            while len(children(template)) != 2:
                pass  # the next one is starting
            with calls.call(job) as second:
                assert second.frame() == ("S", b"")
                with pytest.raises(EOFError):
                    calls.function("def main(): return 1")
        while opened(template) > AT_REST:
            pass  # the last of them is about to end
        ended = None
        while ended is None:
            # One that was requested while there was no slot may still be about to exit.
            with suppress(EOFError):
                ended = calls.function("def main(): return 2")
        assert ended.result == b'{"ok":2}'
        assert template_of(calls.process.pid) == template


ENDS = (
    "return 1",
    "raise ValueError",
    "os._exit(3)",
    "os.abort()",
    "os.fork() or os._exit(1)",
    "bytearray(2**40)",
    "print('x' * 2**21)",
    "time.sleep(600)",
)


@pytest.mark.parametrize("count", [3 * len(ENDS), pytest.param(200, marks=pytest.mark.soak)])
def test_many_calls_however_they_end_leave_nothing_in_template_and_zygote(user: str, count: int) -> None:
    with zygote(make_zygote_spec(python=True), user) as calls:
        template = template_of(calls.process.pid)

        def until_at_rest(most: float) -> int:
            """Wait until only a waiting copy and a supervisor are left; the test's own timeout limits this.

            Return the zygote's open files, without those for these processes.
            """
            while True:
                supervisors = len(children(calls.process.pid)) - 1
                # Only then: without a waiting process the zygote has fewer open files.
                if supervisors == 1 and (len(children(template)), opened(template)) == (1, AT_REST):
                    zygotes = opened(calls.process.pid) - supervisors
                    if zygotes <= most:
                        return zygotes

        before = until_at_rest(math.inf)
        for number in range(count):
            then = ENDS[number % len(ENDS)]
            job = function(f"import os, time\ndef main():\n    {then}", seconds=0.1 if "sleep" in then else 30.0)
            with calls.call(job) as call:
                if number % 3:
                    call.ended()
                elif number % 2:
                    call.frame()  # and the server hangs up
        until_at_rest(before)
