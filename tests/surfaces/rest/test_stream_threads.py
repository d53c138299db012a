"""Calls stored in a thread: `POST /v1/calls?thread=ID`, as a response and as events."""

from __future__ import annotations

from typing import Any

import anyio
import httpx
import pytest

from pegboard import Pegboard
from pegboard.model.ids import new_id
from pegboard.testing import calls_of
from tests.surfaces.rest.clients import client, good, new_user, problem
from tests.surfaces.rest.streams import EVENTS, parsed

CALLS = "/v1/calls"
OPENAI = {
    "role": "assistant",
    "content": "Let me look.",
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "echo", "arguments": '{"a": 1}'}}],
}
both = pytest.mark.parametrize("headers", [{}, EVENTS], ids=["answer", "events"])


async def a_thread(admin: httpx.AsyncClient) -> str:
    return str(good(await admin.post("/v1/threads", json={}), 201)["id"])


@both
async def test_calls_are_added_to_the_conversation(
    board: Pegboard, admin: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    thread = await a_thread(admin)
    answered = await admin.post(CALLS, json=OPENAI, params={"thread": thread}, headers=headers)
    assert answered.status_code == 200
    if headers:
        assert parsed(answered.text)[-1].data["thread_id"] == thread
    (message,) = good(await admin.get(f"/v1/threads/{thread}/messages"))["items"]
    assert (message["role"], message["content"]) == ("assistant", "Let me look.")
    (call,) = message["tool_calls"]
    assert (call["id"], call["name"], call["result"]) == ("c1", "echo", {"echo": {"a": 1}})
    (row,) = await calls_of(board, "echo")
    assert row.thread_id == thread
    assert call["run_id"] == row.id


@both
async def test_a_foreign_thread_is_refused_before_anything_runs(
    board: Pegboard, admin: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    _, key = await new_user(admin, "mia")
    thread = await a_thread(admin)
    async with client(board, key) as mia:
        for speaker, foreign in ((mia, thread), (admin, await a_thread(mia)), (admin, new_id()), (admin, "x")):
            refused = await speaker.post(CALLS, json={"name": "echo"}, params={"thread": foreign}, headers=headers)
            problem(refused, 404)
    assert not await calls_of(board, "echo")


@both
async def test_a_thread_deleted_during_the_call_does_not_lose_the_answer(
    board: Pegboard, admin: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    thread = await a_thread(admin)
    began, go_on = anyio.Event(), anyio.Event()

    @board.tool
    async def wait() -> int:
        began.set()
        await go_on.wait()
        return 7

    answers: list[httpx.Response] = []

    async def call() -> None:
        params: Any = {"thread": thread}
        answers.append(await admin.post(CALLS, json={"name": "wait"}, params=params, headers=headers))

    async with anyio.create_task_group() as group:
        group.start_soon(call)
        await began.wait()
        good(await admin.delete(f"/v1/threads/{thread}"), 204)
        go_on.set()
    (answered,) = answers
    if headers:
        *_, result, complete = parsed(answered.text)
        assert (result.data["result"], complete.name) == (7, "complete")
        assert thread in complete.data["thread_error"]
        assert "thread_id" not in complete.data
    else:
        assert good(answered)["result"] == 7
        assert thread in answered.headers["x-thread-error"]
