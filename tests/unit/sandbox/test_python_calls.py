"""Python code in a call: what it shares with its zygote, and what it cannot do to other calls."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.sandbox.supervisor_channel import Ended, Zygote, command, make_zygote_spec, zygote

LIBRARY = """
import os
opened = os.open("/etc/passwd", os.O_RDONLY)
ballast = bytearray(100 * 2**20)
kept = []
"""


@pytest.fixture(scope="module")
def warm(user: str) -> Iterator[Zygote]:
    """A zygote that has imported a library, which uses memory and has a file open."""
    with tempfile.TemporaryDirectory(prefix="pegboard-library-") as name:
        folder = Path(name).resolve()
        folder.chmod(0o755)
        (folder / "ballast.py").write_text(LIBRARY)
        received = make_zygote_spec(
            (folder, folder, False), prefixes=[str(folder)], modules=["ballast"], allowed=["ballast"]
        )
        with zygote(received, user) as started:
            yield started


def run(calls: Zygote, code: str, arguments: dict[str, Any] | None = None, **changes: Any) -> Ended:
    """How a call of the function `main` ended."""
    values = {"kind": "python", "code": code, "entry": "main", "arguments": arguments or {}}
    with calls.call(command(**changes) | values) as call:
        return call.ended()


def value(calls: Zygote, code: str, **changes: Any) -> Any:
    """Return the function's result."""
    ended = run(calls, code, **changes)
    answer = json.loads(ended.result)
    assert (ended.fate, list(answer)) == ("exited", ["ok"])
    return answer["ok"]


def test_a_function_gets_its_arguments_and_what_it_prints_is_kept_apart(warm: Zygote) -> None:
    ended = run(warm, "def main(a, b):\n    print('adding')\n    return a + b", {"a": 1, "b": 2})
    assert ended == ("exited", 0, "", b'{"ok":3}', b"adding\n", b"")


def test_only_standard_streams_and_the_result_are_open(warm: Zygote) -> None:
    code = "import os\ndef main():\n    return sorted(int(name) for name in os.listdir('/proc/self/fd'))"
    # The fifth is the folder itself, being read.
    assert value(warm, code) == [0, 1, 2, 3, 4]


def test_standard_input_is_empty(warm: Zygote) -> None:
    assert value(warm, "import sys\ndef main():\n    return sys.stdin.read()") == ""


def test_it_works_in_its_own_empty_folder_with_its_own_environment(warm: Zygote) -> None:
    code = "import os\ndef main():\n    return [os.getcwd(), os.listdir(), dict(os.environ)]"
    folder, files, environ = value(warm, code, env={"KEY": "value"})
    assert (folder, files, environ["KEY"], environ["HOME"]) == ("/call", [], "value", "/call")
    assert {"PATH", "LANG", "TMPDIR"} <= set(environ)
    assert "OMP_NUM_THREADS" not in environ


def test_what_the_library_takes_is_not_counted_against_the_call(warm: Zygote) -> None:
    limits = {"memory": 64 * 2**20}
    assert value(warm, "def main():\n    return len(bytearray(40 * 2**20))", limits=limits) == 40 * 2**20
    # Long enough to be looked at.
    code = "import time\ndef main():\n    kept = bytearray(40 * 2**20)\n    time.sleep(0.4)\n    return len(kept)"
    assert value(warm, code, limits=limits) == 40 * 2**20
    ended = run(warm, "def main():\n    return len(bytearray(80 * 2**20))", limits=limits)
    assert json.loads(ended.result)["error"]["type"] == "MemoryError"


def test_what_is_changed_in_a_library_is_as_it_was_for_the_next_call(warm: Zygote) -> None:
    code = """
import ballast, builtins
def main():
    ballast.kept.append(sum([1]))
    builtins.sum = None
    return ballast.kept
"""
    assert value(warm, code) == value(warm, code) == [1]


def test_randomness_differs_from_call_to_call(warm: Zygote) -> None:
    code = "import random\ndef main():\n    return random.random()"
    assert value(warm, code) != value(warm, code)


def test_nothing_of_the_boards_folders_is_in_its_memory_for_it_to_find(warm: Zygote) -> None:
    code = (
        "import sys\ndef main():\n    return [sys.argv, sys.orig_argv, open('/proc/self/cmdline').read().strip(chr(0))]"
    )
    assert value(warm, code) == [["<tool>"], ["<tool>"], "pegboard-template"]


@pytest.mark.parametrize(
    ("code", "fate", "number"),
    [
        ("import os\ndef main():\n    os._exit(9)", "exited", 9),
        ("import os, signal\ndef main():\n    os.kill(os.getpid(), signal.SIGKILL)", "signalled", 9),
        ("import ctypes\ndef main():\n    ctypes.string_at(0)", "signalled", 11),
        ("def main():\n    while True:\n        pass", "time", 0),
        ("import os\ndef main():\n    os.close(1); os.close(2); os.close(3)\n    while True:\n        pass", "time", 0),
        ("import os\ndef main():\n    while True:\n        os.write(3, b'x' * 4096)", "output", 0),
    ],
)
def test_code_that_never_returns_has_a_clear_fate(warm: Zygote, code: str, fate: str, number: int) -> None:
    ended = run(warm, code, seconds=1.0 if fate == "time" else 60.0)
    assert (ended.fate, ended.code) == (fate, number)


def test_threads_and_processes_that_it_leaves_end_with_it(warm: Zygote) -> None:
    code = """
import os, threading, time
def main():
    threading.Thread(target=time.sleep, args=(60,)).start()
    if os.fork() == 0:
        time.sleep(60)
    return "done"
"""
    assert value(warm, code) == "done"


def test_no_caller_waits_for_what_a_process_does_after_its_result(warm: Zygote) -> None:
    code = "import os, time\ndef main():\n    os.write(3, b'{\"ok\":1}\\n')\n    time.sleep(3600)"
    ended = run(warm, code, seconds=60.0)
    assert (ended.fate, ended.result) == ("exited", b'{"ok":1}')


def test_a_call_that_comes_while_the_next_process_is_prepared_is_answered(warm: Zygote) -> None:
    for _ in range(10):
        assert value(warm, "def main():\n    return 1") == 1
