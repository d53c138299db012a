"""Code that breaks its Python interpreter: the call still ends, and none of our code continues in its process."""

from __future__ import annotations

import subprocess
import sys

from tests.unit.sandbox.confined import STAND_IN
from tests.unit.sandbox.supervisor_channel import Ended, Zygote, command

FORK = """
import os
def main():
    os._exit = lambda code: None
    child = os.fork()
    if child:
        os.waitpid(child, 0)
    return bool(child)
"""
NO_RESULT = """
import os
def main():
    os._exit = os.kill = lambda *_: None
    os.close(3)
"""
# The child that matters is the youngest of four that have ended.
REAPING = """
import os
from pegboard.sandbox.child import fork_source as reaping
reaping._MAX_REAPED = 2
children = [os.fork() or os._exit(7) for _ in range(4)]
for child in children:
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
ends = [reaping.reap_child(children[-1]) for _ in range(2)]
print([ended and os.waitstatus_to_exitcode(ended.status) for ended in ends])
"""


def run(calls: Zygote, code: str) -> Ended:
    """How a call of this code's function ended."""
    with calls.call(command() | {"kind": "python", "code": code, "entry": "main", "arguments": {}}) as call:
        return call.ended()


def test_a_fork_that_cannot_end_itself_does_not_answer_too(functions: Zygote) -> None:
    ended = run(functions, FORK)
    assert (ended.fate, ended.result) == ("exited", b'{"ok":true}')


def test_a_process_that_cannot_give_its_result_ends_without_a_word_of_ours(functions: Zygote) -> None:
    ended = run(functions, NO_RESULT)
    assert (ended.fate, ended.code, ended.result, ended.stderr) == ("exited", 126, b"", b"")


def test_the_dead_are_let_go_of_some_at_a_time() -> None:
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-B", "-c", STAND_IN + REAPING], capture_output=True, text=True, check=True
    )
    assert ended.stdout.strip() == "[None, 7]"
