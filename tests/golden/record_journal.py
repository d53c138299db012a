"""Record a journal with the code of one schema revision: the database as SQL, and its export.

    PYTHONPATH=CHECKOUT/src python tests/golden/record_journal.py tests/golden/journals

CHECKOUT is the last commit whose newest migration is that revision; for the newest revision, this checkout. An
entry of `STEPS` has the first revision whose code can do it. Old code runs this file, so it uses public names only.

No commit had `0001_board` as its newest revision. `0002_executions` had no export yet: the current code made that file.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from pegboard import Pegboard, create_app
from pegboard.testing import calls_of

SECRET_KEY = "Z29sZGVuLWpvdXJuYWwta2V5LW9mLTMyLWJ5dGVzISE="
ADMIN_KEY = "the-admin-key-of-the-golden-journals"
_BOUND = 30.0
_PROPERTIES = {"text": {"type": "string"}, "number": {"type": "number"}}
_TEXT = {"type": "object", "properties": _PROPERTIES, "required": ["text"]}
_ODD = 'a ☃ and a \U0001f600, "quoted", \\ and a\nline'
_FIELDS = [{"name": "text", "dataType": "text"}]
_TOOLS: dict[str, dict[str, Any]] = {
    "kept": {"tool_type": "mock", "config": {"mock_response": {"sky": "clear"}}, "keep_arguments": True},
    "limited": {"tool_type": "mock", "config": {"mock_response": 1}, "rate_limit": {"max_calls": 1, "period": "hour"}},
    "note": {"tool_type": "table", "config": {"tableName": "notes", "fields": _FIELDS}},
    "print": {
        "tool_type": "python",
        "config": {"code": "def show(text: str) -> str:\n    print('printed', text)\n    return text\n"},
    },
}


async def add(board: Pegboard, name: str, **more: Any) -> None:
    """Register one of the tools above."""
    schema = {} if name == "note" else {"input_schema": _TEXT}
    await board.add({"name": name, "description": f"Golden {name}", **schema, **_TOOLS[name], **more})


async def prune_first_rows(board: Pegboard) -> None:
    """Prune the first rows of a chain."""
    for number in range(3):
        await board.call("echo", {"number": number})
    pruned = await board.audit.prune(datetime.now(UTC))
    assert pruned.removed == 3


async def succeed_and_fail(board: Pegboard) -> None:
    """Rows that succeeded, failed and were refused."""
    await add(board, "kept")
    await add(board, "limited")
    board.tool(name="fails")(_fail)
    assert (await board.call("echo", {"text": _ODD})).success
    assert (await board.call("kept", {"text": _ODD, "number": -1.5e300})).success
    assert not (await board.call("fails", {"text": _ODD})).success
    assert not (await board.call("math_eval", {"expression": "1/0"})).success
    assert not (await board.call("kept", {})).success
    assert not (await board.call("no_such_tool", {})).success
    assert (await board.call("limited", {"text": "1"})).success
    assert not (await board.call("limited", {"text": "2"})).success


async def call_over_rest(board: Pegboard) -> None:
    """Rows of a member's key, of an agent's key, and of a provider's format."""
    app = create_app(board)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://board") as client:
        admin = {"Authorization": f"Bearer {ADMIN_KEY}"}

        async def post(path: str, body: Any, headers: dict[str, str]) -> Any:
            return (await client.post(path, json=body, headers=headers)).raise_for_status().json()

        user = await post("/v1/users", {"name": "ada", "role": "member"}, admin)
        key = (await post(f"/v1/users/{user['id']}/keys", {"name": "laptop"}, admin))["key"]
        member = {"Authorization": f"Bearer {key}"}
        agent = await post("/v1/agents", {"name": "helper"}, member)
        made = await post(f"/v1/users/{user['id']}/keys", {"name": "robot", "agent_id": agent["id"]}, admin)
        robot = {"Authorization": f"Bearer {made['key']}"}
        await post("/v1/tools/echo/call", {"text": "member"}, {**member, "X-Request-ID": "request-1"})
        await post("/v1/tools/echo/call", {"text": "agent"}, robot)
        function = {"name": "echo", "arguments": '{"text": "openai"}'}
        asked = {"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function", "function": function}]}
        await post("/v1/calls", asked if _revision() > 3 else {"name": "echo", "arguments": {"text": "plain"}}, member)


async def repeat_keys(board: Pegboard) -> None:
    """Rows with an idempotency key: the first, a repeat, and a conflict."""
    board.tool(name="once", keep_result=True)(_answer)
    first = await board.call("once", {"text": "a"}, key="key-1")
    again = await board.call("once", {"text": "a"}, key="key-1")
    assert again.output == first.output
    assert again.repeat_of == first.run_id
    assert not (await board.call("once", {"text": "b"}, key="key-1")).success


async def leave_in_doubt(board: Pegboard) -> None:
    """Write the row of a call whose process was killed."""
    killed = await asyncio.to_thread(subprocess.run, [sys.executable, __file__, "die"], check=False)
    assert killed.returncode == -signal.SIGKILL
    async with asyncio.timeout(_BOUND), Pegboard.open():
        while not any(row.status == "in_doubt" for row in await calls_of(board)):  # noqa: ASYNC110 -- of another process
            await asyncio.sleep(0.1)


async def fall_back(board: Pegboard) -> None:
    """Write a row with several attempts, and one whose output is the fallback."""
    rules = {"output_schema": {"type": "integer"}, "retry": {"max_attempts": 2, "on": ["contract_violation"]}}
    board.tool(name="tried", **rules)(_answer)
    board.tool(name="replaced", **rules, fallback={"value": 7})(_answer)
    assert not (await board.call("tried", {"text": "x"})).success
    replaced = await board.call("replaced", {"text": "x"})
    assert (replaced.output, replaced.fallback) == (7, True)


async def print_and_insert(board: Pegboard) -> None:
    """Write a row with printed output, and one with the id of an inserted row."""
    connection = sqlite3.connect(_database())
    with connection:
        connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)")
    connection.close()
    await add(board, "note")
    await add(board, "print")
    assert (await board.call("note", {"text": "inserted"})).success
    assert (await board.call("print", {"text": "text"})).success


async def run_chain(board: Pegboard) -> None:
    """Rows of the steps of a chain, and of a conversation."""
    steps = [
        {"id": "sum", "tool": "math_eval", "arguments": {"expression": "1 + 1"}},
        {"id": "said", "tool": "echo", "arguments": {"text": "{{steps.sum.output.result}}"}},
    ]
    assert (await board.chain({"steps": steps, "output": "{{steps.said.output}}"})).success
    thread = await board.threads.create(board.admin, "golden")
    await board.run({"name": "echo", "arguments": {"text": "thread"}}, thread=thread.id)


# The first revision whose code can do all of a step.
STEPS: list[tuple[int, Callable[[Pegboard], Awaitable[None]]]] = [
    (3, prune_first_rows),
    (2, succeed_and_fail),
    (2, call_over_rest),
    (3, repeat_keys),
    (3, fall_back),
    (4, print_and_insert),
    (6, run_chain),
    (3, leave_in_doubt),
]


def _answer(text: str) -> str:
    return text.upper()


def _fail(text: str) -> str:
    raise ValueError(f"cannot do {text}")


def _die(text: str) -> str:
    os.kill(os.getpid(), signal.SIGKILL)
    return text


def _database() -> Path:
    return Path(os.environ["PEGBOARD_HOME"]) / "pegboard.db"


def _read_revision() -> str:
    connection = sqlite3.connect(_database())
    (name,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    connection.close()
    return str(name)


def _revision() -> int:
    return int(_read_revision()[:4])


async def die() -> None:
    """Be killed in the middle of a call."""
    async with Pegboard.open() as board:
        board.tool(name="dies")(_die)
        await board.call("dies", {"text": "x"})


async def record() -> None:
    """Make every call that is possible."""
    async with Pegboard.open() as board:
        revision = _revision()
        for since, step in STEPS:
            if revision >= since:
                await step(board)
    _run("call", "echo", "text=cli")


def _run(*words: str) -> None:
    command = [sys.executable, "-m", "pegboard", "--local", *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    """Record in a new home and write the files into the folder that is given."""
    if sys.argv[1] == "die":
        asyncio.run(die())
        return
    folder = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(PEGBOARD_HOME=home, PEGBOARD_SECRET_KEY=SECRET_KEY, PEGBOARD_ADMIN_KEY=ADMIN_KEY)
        os.chdir(home)
        asyncio.run(record())
        target = folder / _read_revision()
        connection = sqlite3.connect(_database())
        dump = "".join(f"{statement}\n" for statement in connection.iterdump())
        connection.close()
        target.with_suffix(".sql").write_text(dump, encoding="utf-8")
        if _revision() > 2:
            _run("audit", "export", "--output", str(target.with_suffix(".jsonl")))


if __name__ == "__main__":
    main()
