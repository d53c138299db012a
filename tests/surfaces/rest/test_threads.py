"""Threads over HTTP."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from pegboard import Pegboard
from tests.surfaces.rest.clients import client, good, mock, new_user, problem, walked

HI = {"role": "user", "content": "hi"}
NOBODYS = "01a1e2b8-bf6f-7e18-b857-ca6fd79fbe32"


async def begun(speaker: httpx.AsyncClient, *bodies: Any, **more: Any) -> str:
    """Create a thread with these messages and return its path."""
    path = f"/v1/threads/{good(await speaker.post('/v1/threads', json=more), 201)['id']}"
    for body in bodies:
        good(await speaker.post(f"{path}/messages", json=body), 201)
    return path


async def test_a_thread_is_begun_read_renamed_and_deleted(stored_admin: httpx.AsyncClient) -> None:
    made = good(await stored_admin.post("/v1/threads", json={"title": "Plans"}), 201)
    assert set(made) == {"id", "title", "agent_id", "messages", "created_at", "updated_at"}
    assert (made["title"], made["messages"]) == ("Plans", 0)
    path = f"/v1/threads/{made['id']}"
    assert good(await stored_admin.get(path)) == made
    renamed = good(await stored_admin.patch(path, json={"title": "Other plans"}))
    assert renamed["title"] == "Other plans" and renamed["created_at"] == made["created_at"]
    assert good(await stored_admin.delete(path), 204) is None
    for gone in (stored_admin.get(path), stored_admin.delete(path), stored_admin.get(f"{path}/messages")):
        assert problem(await gone, 404)["detail"] == f"Thread '{made['id']}' not found"


async def test_a_thread_needs_no_body(admin: httpx.AsyncClient) -> None:
    assert good(await admin.post("/v1/threads"), 201)["title"] is None


async def test_threads_are_listed_latest_first(admin: httpx.AsyncClient) -> None:
    paths = [await begun(admin) for _ in range(3)]
    good(await admin.post(f"{paths[0]}/messages", json=HI), 201)
    listed = [f"/v1/threads/{thread['id']}" for thread in await walked(admin, "/v1/threads", limit=2)]
    assert listed == [paths[0], paths[2], paths[1]]
    problem(await admin.get("/v1/threads", params={"cursor": "nonsense"}), 422)


async def test_a_thread_belongs_to_no_other_user(board: Pegboard, admin: httpx.AsyncClient) -> None:
    _, ada_key = await new_user(admin, "ada")
    _, bob_key = await new_user(admin, "bob")
    async with client(board, ada_key) as ada, client(board, bob_key) as bob:
        path = await begun(ada, HI)
        for stranger in (bob, admin):
            answers = [
                await stranger.get(path),
                await stranger.patch(path, json={"title": "mine"}),
                await stranger.delete(path),
                await stranger.get(f"{path}/messages"),
                await stranger.get(f"{path}/messages", params={"as": "openai"}),
                await stranger.post(f"{path}/messages", json=HI),
            ]
            received = {problem(answer, 404)["detail"] for answer in answers}
            unknown = problem(await stranger.get(f"/v1/threads/{NOBODYS}"), 404)["detail"]
            assert received == {unknown.replace(NOBODYS, path.rpartition("/")[2])}
            assert good(await stranger.get("/v1/threads"))["items"] == []
        assert good(await ada.get(path))["messages"] == 1


async def test_without_a_key_there_are_no_threads(board: Pegboard) -> None:
    async with client(board, None) as no_one:
        problem(await no_one.get("/v1/threads"), 401)
        problem(await no_one.post(f"/v1/threads/{NOBODYS}/messages", json=HI), 401)


@pytest.mark.parametrize("body", [{"title": ""}, {"title": " "}, {"title": "x" * 201}, {"title": 1}, {"name": "x"}, []])
async def test_a_title_that_is_none_is_refused(admin: httpx.AsyncClient, body: Any) -> None:
    problem(await admin.post("/v1/threads", json=body), 422)
    problem(await admin.patch(await begun(admin), json=body), 422)


async def test_a_call_s_thread_is_in_the_journal(board: Pegboard, admin: httpx.AsyncClient) -> None:
    good(await admin.post("/v1/tools", json=mock("one")), 201)
    path = await begun(admin)
    thread_id = path.rpartition("/")[2]
    await board.run({"name": "one", "arguments": {}}, thread=thread_id)
    (message,) = good(await admin.get(f"{path}/messages"))["items"]
    (call,) = message["tool_calls"]
    assert (call["name"], call["result"], call["attempts"]) == ("one", 1, 1)
    assert good(await admin.get(f"/v1/executions/{call['run_id']}"))["thread_id"] == thread_id
