"""Journal searches without an index: each request reads a limited number of rows, on both databases."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import httpx
import pytest

from pegboard import Pegboard
from pegboard.registry import execution_reader
from tests.surfaces.rest.clients import client, good, mock, new_user, problem

PATH = "/v1/executions"


async def search_ids(speaker: httpx.AsyncClient, **params: Any) -> list[str]:
    """Return the ids of the rows that match, over all pages."""
    ids: list[str] = []
    cursor: str | None = None
    while True:
        page = good(await speaker.get(PATH, params={**params, **({"cursor": cursor} if cursor else {})}))
        assert set(page) == {"items", "next_cursor", "searched_to"}
        ids += [row["id"] for row in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            assert page["searched_to"] is None
            return ids


async def make_call(speaker: httpx.AsyncClient, tool: str = "echo", **more: Any) -> str:
    answer = await speaker.post(f"/v1/tools/{tool}/call", json={}, **more)
    return answer.headers["x-execution-id"]


async def test_each_filter_leaves_only_what_it_names(stored_admin: httpx.AsyncClient, stored_board: Pegboard) -> None:
    user_id = stored_board.admin.user_id
    agent = good(await stored_admin.post("/v1/agents", json={"name": "robot", "tools": ["echo"]}), 201)
    made = good(await stored_admin.post(f"/v1/users/{user_id}/keys", json={"agent_id": agent["id"]}), 201)
    good(await stored_admin.post("/v1/tools", json=mock("quote")), 201)
    plain = await make_call(stored_admin, headers={"X-Request-Id": "here"})
    quoted = await make_call(stored_admin, "quote")
    async with client(stored_board, made["key"]) as robot:
        by_agent = await make_call(robot)
    by_library = (await stored_board.call("echo")).run_id
    thread = good(await stored_admin.post("/v1/threads", json={}), 201)["id"]
    call = {"type": "function", "id": "c1", "function": {"name": "echo", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    good(await stored_admin.post("/v1/calls", params={"thread": thread}, json=message))
    (threaded,) = await search_ids(stored_admin, thread=thread)
    chained = good(await stored_admin.post("/v1/chains", json={"steps": [{"id": "a", "tool": "echo"}]}))
    (step,) = await search_ids(stored_admin, chain=chained["chain_id"].upper(), tool="echo")
    assert await search_ids(stored_admin, agent=agent["id"].upper()) == [by_agent]
    assert await search_ids(stored_admin, kind="mock", tool="quote") == [quoted]
    assert await search_ids(stored_admin, surface="library") == [by_library]
    assert (
        await search_ids(stored_admin, dialect="openai")
        == await search_ids(stored_admin, dialect="openai_chat")
        == [threaded]
    )
    assert await search_ids(stored_admin, request_id="here") == [plain]
    assert await search_ids(stored_admin, min_ms=0) == [step, threaded, by_library, by_agent, quoted, plain]
    assert await search_ids(stored_admin, min_ms=3_600_000) == []
    assert await search_ids(
        stored_admin, surface="rest", kind="builtin", status="succeeded", caller=user_id, tool="echo"
    ) == [
        step,
        threaded,
        by_agent,
        plain,
    ]


async def test_a_search_continues_where_the_request_before_has_ended(
    stored_admin: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution_reader, "MAX_SEARCHED_ROWS", 3)
    quote = good(await stored_admin.post("/v1/tools", json=mock("quote")), 201)
    wanted = [await make_call(stored_admin, headers={"X-Request-Id": "mine"}) for _ in range(2)]
    rest = [await make_call(stored_admin, "quote") for _ in range(5)]
    page = good(await stored_admin.get(PATH, params={"request_id": "mine"}))
    assert page["items"] == []
    row = good(await stored_admin.get(f"{PATH}/{rest[-3]}"))
    assert datetime.fromisoformat(page["searched_to"]) == datetime.fromisoformat(row["started_at"])
    assert await search_ids(stored_admin, request_id="mine") == wanted[::-1]
    assert await search_ids(stored_admin, request_id="mine", tool="echo", limit=1) == wanted[::-1]
    assert await search_ids(stored_admin, surface="rest") == [*wanted, *rest][::-1]
    # The rows of a tool under each of its names are searched down to the same row.
    good(await stored_admin.patch("/v1/tools/quote", json={"name": "renamed"}))
    rest += [await make_call(stored_admin, "renamed") for _ in range(4)]
    assert await search_ids(stored_admin, surface="rest", tool=quote["id"]) == rest[::-1]
    full = good(await stored_admin.get(PATH, params={"surface": "rest", "limit": 2}))
    assert ([item["id"] for item in full["items"]], full["searched_to"]) == (rest[:-3:-1], None)


async def test_a_member_finds_only_their_own_calls(board: Pegboard, admin: httpx.AsyncClient) -> None:
    _, key = await new_user(admin, "ada")
    await make_call(admin)
    async with client(board, key) as ada:
        own = await make_call(ada)
        assert await search_ids(ada, surface="rest") == [own]
        problem(await ada.get(PATH, params={"surface": "rest", "caller": board.admin.user_id}), 403)


@pytest.mark.parametrize("params", [{"min_ms": -1}, {"min_ms": "nan"}, {"surface": "fax"}, {"dialect": "nonesuch"}])
async def test_what_cannot_be_searched_for_is_refused(admin: httpx.AsyncClient, params: dict[str, Any]) -> None:
    problem(await admin.get(PATH, params=params), 422)


@pytest.mark.parametrize("strange", ["\0", "", "☂" * 300])
async def test_strange_texts_find_nothing(stored_admin: httpx.AsyncClient, strange: str) -> None:
    await make_call(stored_admin)
    for name in ("agent", "kind", "thread", "chain", "request_id"):
        assert await search_ids(stored_admin, **{name: strange}) == []
