"""Progress that upstreams report, in valid and invalid forms."""

from __future__ import annotations

import asyncio
import math
import sys
from typing import Any

import anyio
import pytest

from pegboard.kinds.mcp.call_progress import MAX_MESSAGE_CHARS, McpProgress
from pegboard.kinds.mcp.session_pool import McpSessionPool
from pegboard.kinds.mcp.upstream import Upstream
from pegboard.model.call import Progress
from pegboard.testing import memory_board

# Reports the given progress a given number of times with the call's token, answers, and reports it once more.
SERVER = """
import json, sys
def write(text):
    sys.stdout.write(text + "\\n")
    sys.stdout.flush()
def answer(message, result):
    write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}))
for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params", {})
    if method == "initialize":
        capabilities = {"capabilities": {"tools": {}}, "serverInfo": {"name": "it", "version": "1"}}
        answer(message, {"protocolVersion": params["protocolVersion"], **capabilities})
    elif method == "tools/list":
        answer(message, {"tools": [{"name": "work", "inputSchema": {"type": "object"}}]})
    elif method == "tools/call":
        arguments = params["arguments"]
        token = json.dumps(params.get("_meta", {}).get("progressToken", "none"))
        head = '{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": ' + token + ", "
        said = [head + text + "}}" for text in arguments["says"]]
        for _ in range(arguments.get("times", 1)):
            sys.stdout.write("".join(text + "\\n" for text in said))
        sys.stdout.flush()
        answer(message, {"content": [{"type": "text", "text": "done"}]})
        write(said[-1])
    elif "id" in message:
        write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}))
"""
COMMAND = (sys.executable, "-I", "-S", "-c", SERVER)
WORDS = '"progress": 1, "total": 2, "message": "half"'


async def message(upstreams: McpSessionPool, *says: str, times: int = 1) -> list[Progress]:
    """Return the progress that a caller receives from an upstream that reports this before it responds."""
    received: list[Progress] = []
    arguments: dict[str, Any] = {"says": [*says, '"progress": 9'], "times": times}
    upstream = Upstream(None, COMMAND)
    with anyio.fail_after(60):
        answer = await upstreams.call(upstream, "work", arguments, on_progress=received.append)
        assert answer["content"][0]["text"] == "done"
        reports = len(received)
        assert (await upstreams.call(upstream, "work", {"says": ['"progress": 1']}))["content"], "it still serves"
    assert len(received) == reports, "something came after the answer"
    return received


async def test_progress_is_reported_before_the_result_and_not_after(upstreams: McpSessionPool) -> None:
    assert (await message(upstreams, WORDS))[0] == Progress(1, 2, "half")


async def test_what_makes_no_sense_is_left_out(upstreams: McpSessionPool) -> None:
    says = ('"progress": "1"', '"progress": true', '"total": 3', '"progress": null, "message": "m"', WORDS)
    assert (await message(upstreams, *says))[0] == Progress(1, 2, "half")


async def test_a_message_of_half_a_megabyte_is_cut(upstreams: McpSessionPool) -> None:
    (first, *_) = await message(upstreams, f'"progress": 1, "message": "{"m" * 500_000}"')
    assert first == Progress(1, None, "m" * MAX_MESSAGE_CHARS)


async def test_thousands_of_notifications_do_not_keep_the_answer_away(upstreams: McpSessionPool) -> None:
    assert len(await message(upstreams, WORDS, times=2000)) <= 4000


async def test_progress_never_decreases_and_has_only_valid_numbers() -> None:
    received: list[Progress] = []
    progress = McpProgress(received.append)
    await progress(math.nan, None, None)
    await progress(math.nan, 5, "begun")
    await progress(3, 10, None)
    await progress(1, -1, "back")
    await progress(math.inf, math.nan, None)
    await progress(4, 0, None)
    assert received == [
        Progress(None, None, "begun"),
        Progress(3, 10),
        Progress(3, None, "back"),
        Progress(3, None, None),
        Progress(4),
    ]


async def test_a_subscriber_that_raises_receives_no_more() -> None:
    received: list[Progress] = []

    def listen(progress: Progress) -> None:
        received.append(progress)
        raise ValueError("not today")

    progress = McpProgress(listen)
    await progress(1, None, None)
    await progress(2, None, None)
    assert received == [Progress(1)]


@pytest.mark.parametrize("listens", [True, False])
async def test_a_board_passes_an_upstreams_progress_on(listens: bool) -> None:
    received: list[Progress] = []
    config = {"command": list(COMMAND), "tool": "work"}
    async with memory_board() as board:
        await board.add({"name": "t", "tool_type": "mcp", "config": config, "input_schema": {"type": "object"}})
        result = await board.call("t", {"says": [WORDS, WORDS]}, on_progress=received.append if listens else None)
        await asyncio.sleep(0)
    assert result.output == "done"
    assert received[:1] == ([Progress(1, 2, "half")] if listens else [])


async def test_a_number_that_no_float_can_hold_is_left_out_and_the_session_continues(upstreams: McpSessionPool) -> None:
    huge = "9" * 400
    says = (f'"progress": {huge}', f'"progress": 1, "total": {huge}', WORDS)
    assert (await message(upstreams, *says))[0] == Progress(1, 2, "half")


async def test_progress_of_an_upstream_has_no_credentials_of_the_tool() -> None:
    received: list[Progress] = []
    config = {"command": list(COMMAND), "tool": "work", "env": {"TOKEN": "hunter2-hunter2"}}
    async with memory_board() as board:
        await board.add({"name": "t", "tool_type": "mcp", "config": config, "input_schema": {"type": "object"}})
        await board.call(
            "t", {"says": ['"progress": 1, "message": "with hunter2-hunter2"']}, on_progress=received.append
        )
    assert [one.message for one in received[:1]] == ["with ********"]
