"""python tools on a board, in the real sandbox: their results and their rows in the journal."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from dirty_equals import IsPartialDict

from pegboard import Pegboard
from pegboard.model.call import Execution, ToolResult
from pegboard.testing import memory_board

RSI = """
import pandas as pd

def calculate_rsi(prices: list[float], period: int = 14):
    change = pd.Series(prices).diff()
    gain = change.clip(lower=0).rolling(period).mean()
    loss = -change.clip(upper=0).rolling(period).mean()
    return 100 - 100 / (1 + gain / loss)
"""


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    async with memory_board() as made:
        yield made


async def call(
    board: Pegboard, code: str, arguments: dict[str, Any] | None = None, **config: Any
) -> tuple[ToolResult, Execution]:
    await board.add({"name": "t", "tool_type": "python", "config": {"code": code, **config}})
    result = await board.call("t", arguments or {})
    return result, await board.execution(result.run_id)


async def problem(board: Pegboard, code: str, arguments: dict[str, Any] | None = None, **config: Any) -> dict[str, Any]:
    result, row = await call(board, code, arguments, **config)
    assert result.problem is not None, result.output
    return {"code": result.problem.code, "message": result.problem.message, "printed": row.printed}


async def test_a_series_is_returned_as_json_with_null_for_missing_values(board: Pegboard) -> None:
    result, _ = await call(board, RSI, {"prices": [1, 2, 3, 2, 1, 2, 3], "period": 3}, libraries=["pandas"])
    assert result.success, result.problem
    assert result.output[:3] == [None] * 3
    assert result.output[3] == pytest.approx(200 / 3)


async def test_prints_are_kept_with_the_execution_and_not_in_the_result(board: Pegboard) -> None:
    result, row = await call(board, "def f(a: int):\n    print('a is', a)\n    return a", {"a": 7})
    assert (result.output, row.printed) == (7, "a is 7\n")


async def test_an_exception_reaches_the_caller_with_the_line_of_the_code(board: Pegboard) -> None:
    found = await problem(board, "def f():\n    rows = []\n    print('so far')\n    return rows[3]")
    assert found == {
        "code": "execution_failed",
        "message": "IndexError: list index out of range (line 4: return rows[3])",
        "printed": "so far\n",
    }


async def test_a_loop_without_end_is_ended_and_what_it_printed_is_kept(board: Pegboard) -> None:
    # Another call starts the sandbox, so that this one has its whole timeout for the code.
    await board.add({"name": "first", "tool_type": "python", "config": {"code": "def f(): pass"}})
    assert (await board.call("first")).success
    found = await problem(board, "def f():\n    print('begun')\n    while True: pass", timeout=3)
    assert found == IsPartialDict(code="timeout", printed="begun\n")
    # On a busy machine the message also has the time that the call waited to begin.
    assert "did not finish within 3 s" in found["message"]
    assert "ask for less at once" in found["message"]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("def f(): return [bytearray(2**24) for _ in range(2**10)]", "of memory"),  # by the limit, or the supervisor
        ("import os\ndef f(): os._exit(4)", "exit code 4"),
        ("import sys\ndef f(): sys.exit()", "SystemExit"),
        ("import os\ndef f(): os.abort()", "SIGABRT"),
        ("import ctypes\ndef f(): ctypes.string_at(0)", "SIGSEGV"),
        ("def f(): print('x' * 2**21)", "print less"),
        ("import os\ndef f(): os.write(3, b'junk')", "file descriptor"),
        ("import os\ndef f(): os.closerange(3, 99)", "exit code"),
        ("def f(): return float('inf')", "$ is infinite"),
        ("import importlib\ndef f(): importlib.import_module('pegboard.settings')", "the board's own package"),
        ("import urllib.request\ndef f(): urllib.request.urlopen('http://127.0.0.1')", "urlopen error"),
        ("def f(): return open('/etc/shadow').read()", "Error"),
    ],
)
async def test_whatever_the_code_does_ends_in_words(board: Pegboard, code: str, words: str) -> None:
    found = await problem(board, code)
    assert found["code"] == "execution_failed"
    assert words in found["message"]


@pytest.mark.parametrize("code", ["socket.create_connection(('127.0.0.1', 9))", "socket.getaddrinfo('a.example', 80)"])
async def test_a_caller_who_needs_a_network_is_informed_how_to_get_one(board: Pegboard, code: str) -> None:
    found = await problem(board, f"import socket\ndef f(): {code}")
    assert found["message"].endswith("This tool has no network; its owner can give it one with config.network: true")


async def test_too_large_a_result_is_refused(board: Pegboard) -> None:
    assert (await problem(board, "def f(): return 'x' * 2**21"))["code"] == "result_too_large"


async def test_secrets_of_the_environment_stay_inside(board: Pegboard) -> None:
    await board.secrets.put("API_KEY", "hunter2hunter2", board.admin)
    code = "import os\ndef f():\n    print(os.environ['KEY'])\n    return [os.environ['KEY'], sorted(os.environ)]"
    result, row = await call(board, code, env={"KEY": "{{secret:API_KEY}}"})
    assert result.success, result.problem
    key, names = result.output
    assert (key, row.printed) == ("********", "********\n")
    assert "KEY" in names
    assert not [name for name in names if name.startswith("PEGBOARD")]


async def test_nothing_carries_over_to_the_next_call(board: Pegboard) -> None:
    code = """
import builtins, os, pathlib, random
def f():
    before = [hasattr(builtins, "left"), os.environ.get("LEFT"), os.listdir(".")]
    builtins.left = os.environ["LEFT"] = "x"
    pathlib.Path("left").write_text("x")
    return [before, random.random()]
"""
    first, _ = await call(board, code)
    again = await board.call("t")
    assert first.output[0] == again.output[0] == [False, None, []]
    assert first.output[1] != again.output[1]


async def test_a_library_that_is_not_installed_is_named_when_the_tool_is_called() -> None:
    async with memory_board(python_libraries="no-such-library") as bare:
        found = await problem(bare, "import no_such_library\ndef f(): pass", libraries=["no-such-library"])
    assert found["code"] == "misconfigured"
    assert "pip install no-such-library" in found["message"]
