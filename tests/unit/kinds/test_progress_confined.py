"""Progress of python and shell tools on a board, in the real sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from pegboard import Pegboard
from pegboard.model.call import Progress, ToolResult
from pegboard.testing import memory_board

SECRET = "correct horse battery"
NOTHING = {"type": "object", "properties": {}}


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    async with memory_board() as made:
        yield made


async def python(board: Pegboard, code: str, **config: Any) -> tuple[ToolResult, list[Progress]]:
    """Return the output of a call of this code, and its reports."""
    await board.add({"name": "t", "tool_type": "python", "config": {"code": code, **config}})
    return await read_reports(board)


async def shell(board: Pegboard, command: str, **config: Any) -> tuple[ToolResult, list[Progress]]:
    """Return the output of a call of this command, and its reports."""
    settings = {"command": command, "shell": True, **config}
    await board.add({"name": "t", "tool_type": "shell", "config": settings, "input_schema": NOTHING})
    return await read_reports(board)


async def read_reports(board: Pegboard) -> tuple[ToolResult, list[Progress]]:
    received: list[Progress] = []
    return await board.call("t", {}, on_progress=received.append), received


async def test_python_code_reports_progress(board: Pegboard) -> None:
    code = """
def f():
    for step in (1, 2):
        report_progress(step, 2, f"step {step}")
    report_partial("half ")
    report_partial("a result")
    return "all of it"
"""
    result, received = await python(board, code)
    assert result.output == "all of it"
    assert received[:2] == [Progress(1, 2, "step 1"), Progress(2, 2, "step 2")]
    assert "".join(progress.partial or "" for progress in received) == "half a result"


async def test_the_codes_own_names_come_first(board: Pegboard) -> None:
    result, received = await python(board, "def report_progress(n): return n\ndef main(): return report_progress(7)")
    assert (result.output, received) == (7, [])


async def test_code_that_reports_nonsense_fails_with_the_reason(board: Pegboard) -> None:
    result, received = await python(board, "def f():\n    report_progress('3/10')")
    assert result.problem is not None
    assert result.problem.message == (
        "TypeError: report_progress() takes progress as a number, not as str (line 2: report_progress('3/10'))"
    )
    assert received == []


async def test_a_script_reports_progress_in_any_of_the_forms(board: Pegboard) -> None:
    script = """
echo '1/4 copying' >&3
echo '50%' >&3
echo 'nearly there' >&3
echo '{"progress": 4, "total": 4, "message": "done", "partial": "bytes"}' >&3
echo out
"""
    result, received = await shell(board, script)
    assert result.output == {"stdout": "out\n", "stderr": "", "exit_code": 0}
    assert received == [
        Progress(1, 4, "copying"),
        Progress(50, 100),
        Progress(message="nearly there"),
        Progress(4, 4, "done", "bytes"),
    ]


async def test_a_command_finds_the_channel_by_its_variable(board: Pegboard) -> None:
    code = 'import os; os.write(int(os.environ["PEGBOARD_PROGRESS_FD"]), b"1/1 here")'
    result, received = await shell(board, f"python3 -I -S -c '{code}'", shell=False)
    assert (result.success, received) == (True, [Progress(1, 1, "here")])


async def test_reports_without_a_subscriber_do_not_affect_the_tool(board: Pegboard) -> None:
    code = "def f():\n    for n in range(5000): report_partial('x' * 100)\n    return n"
    await board.add({"name": "p", "tool_type": "python", "config": {"code": code}})
    config = {"command": "seq 1 100000 >&3 && echo fine", "shell": True}
    await board.add({"name": "s", "tool_type": "shell", "config": config, "input_schema": NOTHING})
    assert (await board.call("p", {})).output == 4999
    assert (await board.call("s", {})).output["stdout"] == "fine\n"


@pytest.mark.parametrize(
    ("code", "seconds", "ends"),
    [
        ("import os\ndef f():\n    report_progress(1, 2)\n    os.abort()", 30, "SIGABRT"),
        ("def f():\n    report_progress(1, 2)\n    raise ValueError('no')", 30, "ValueError: no"),
        ("def f():\n    report_progress(1, 2)\n    import time\n    time.sleep(600)", 5, "did not finish within 5 s"),
    ],
)
async def test_reports_before_a_failure_reach_the_caller(board: Pegboard, code: str, seconds: int, ends: str) -> None:
    await board.add({"name": "u", "tool_type": "python", "config": {"code": "def f(): return 1"}})
    assert (await board.call("u", {})).output == 1, "what calls are started by is there"
    result, received = await python(board, code, timeout=seconds)
    assert result.problem is not None
    assert ends in result.problem.message
    assert received == [Progress(1, 2)]


@pytest.mark.parametrize("flood", ["report_progress(n, message='again')", "report_partial('x' * 1000)"])
async def test_a_cancelled_call_reports_nothing(board: Pegboard, flood: str) -> None:
    code = f"def f():\n    n = 0\n    while True:\n        n += 1\n        {flood}"
    await board.add({"name": "t", "tool_type": "python", "config": {"code": code}})
    received: list[Progress] = []
    begun = asyncio.Event()

    def listen(progress: Progress) -> None:
        received.append(progress)
        begun.set()

    calling = asyncio.create_task(board.call("t", {}, on_progress=listen))
    with anyio.fail_after(30):
        await begun.wait()
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    count = len(received)
    # Another call of the same kind has begun and ended: the first one's process ended long before.
    await board.add({"name": "u", "tool_type": "python", "config": {"code": "def f(): return 1"}})
    assert (await board.call("u", {})).output == 1
    assert len(received) == count


async def test_a_listener_that_raises_does_not_hurt_the_call(board: Pegboard) -> None:
    code = "def f():\n    for n in range(3): report_progress(n); report_partial('x')\n    return 'fine'"
    await board.add({"name": "t", "tool_type": "python", "config": {"code": code}})

    def listen(progress: Progress) -> None:
        raise ValueError("not today")

    assert (await board.call("t", {}, on_progress=listen)).output == "fine"


async def test_values_of_env_are_masked_in_progress_of_python_code(board: Pegboard) -> None:
    code = """
import os
def f():
    key = os.environ["KEY"]
    report_progress(1, 2, "with " + key)
    for letter in "<" + key + ">":
        report_partial(letter)
    report_progress(2, 2)
"""
    _, received = await python(board, code, env={"KEY": SECRET})
    assert received[0] == Progress(1, 2, "with ********")
    assert "".join(progress.partial or "" for progress in received) == "<********>"


async def test_values_of_env_are_masked_in_progress_of_a_script(board: Pegboard) -> None:
    script = 'echo "1/2 $KEY" >&3; echo "$LINES" >&3; printf %s "$KEY" >&3'
    lines = "-----BEGIN-----\nMIIEvQIBADANBg"
    _, received = await shell(board, script, env={"KEY": SECRET, "LINES": lines})
    assert [progress.message for progress in received] == ["********"] * 4
