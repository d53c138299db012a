"""The stream of changes of the registry."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from pegboard import Pegboard
from pegboard.registry.change_log import ChangedThing, ChangeLog
from pegboard.testing import NoSettings, memory_board
from tests.board_surfaces import KEY, served
from tests.surfaces.rest.clients import bearer, client, good, mock, new_user, problem
from tests.surfaces.rest.streams import Reader, Received


@asynccontextmanager
async def changes(url: str, key: str = KEY, after: int | None = None) -> AsyncIterator[Reader]:
    """A reader of the changes that this key may see."""
    headers = bearer(key) | ({} if after is None else {"Last-Event-ID": str(after)})
    async with (
        httpx.AsyncClient(base_url=url, headers=headers, timeout=30) as http,
        http.stream("GET", "/v1/changes/stream") as answered,
    ):
        assert answered.status_code == 200
        yield Reader(answered)


async def received(reader: Reader) -> Received:
    """The next event."""
    event = await reader.next()
    assert event is not None
    return event


def short(event: Received) -> tuple[str, str, bool]:
    """Return what changed."""
    assert event.name == "change"
    assert set(event.data) == {"kind", "id", "revision", "removed"}
    return event.data["kind"], event.data["id"], event.data["removed"]


async def test_each_user_sees_the_changes_of_what_they_may_see(board: Pegboard) -> None:
    async with served(board) as url, client(board) as admin:
        ada, ada_key = await new_user(admin, "ada")
        _, bob_key = await new_user(admin, "bob")
        async with changes(url) as all_changes, changes(url, bob_key) as of_bob, client(board, ada_key) as as_ada:
            async with changes(url, ada_key) as own:
                secret = good(await as_ada.put("/v1/secrets/token", json={"value": "a-secret-value"}))["name"]
                assert short(await received(own)) == ("secret", secret, False)
            hidden = good(await as_ada.post("/v1/tools", json=mock("hidden")), 201)["id"]
            agent = good(await as_ada.post("/v1/agents", json={"name": "robot", "tools": []}), 201)["id"]
            key = good(await as_ada.post(f"/v1/users/{ada}/keys", json={}), 201)["id"]
            good(await as_ada.delete(f"/v1/users/{ada}/keys/{key}"), 204)
            good(await as_ada.delete("/v1/tools/hidden"), 204)
            good(await admin.patch("/v1/tools/echo", json={"tags": ["first"]}))
            seen = [short(await received(all_changes)) for _ in range(6)]
            assert seen[:-1] == [
                ("tool", hidden, False),
                ("agent", agent, False),
                ("key", key, False),
                ("key", key, True),
                ("tool", hidden, True),
            ]
            assert short(await received(of_bob)) == seen[-1]
            shown = good(await as_ada.post("/v1/tools", json=mock("shown", is_public=True)), 201)["id"]
            good(await as_ada.patch("/v1/tools/shown", json={"is_public": False}))
            good(await as_ada.patch("/v1/tools/shown", json={"description": "unseen"}))
            good(await as_ada.patch("/v1/tools/shown", json={"is_public": True}))
            assert [short(await received(of_bob)) for _ in range(3)] == [("tool", shown, False)] * 3


async def test_an_agents_key_gets_no_changes(board: Pegboard) -> None:
    async with client(board) as admin:
        agent = good(await admin.post("/v1/agents", json={"name": "robot", "tools": []}), 201)["id"]
        made = good(await admin.post(f"/v1/users/{board.admin.user_id}/keys", json={"agent_id": agent}), 201)
        problem(await admin.get("/v1/changes/stream", headers=bearer(made["key"])), 403)
        problem(await admin.get("/v1/changes/stream", headers={"Last-Event-ID": "x"}), 422)


async def test_a_stream_continues_at_another_process_of_the_board(database_url: str, tmp_path: Path) -> None:
    settings = NoSettings(home=tmp_path / "home", admin_key=KEY)
    async with (
        Pegboard.open(database_url, settings=settings) as one,
        Pegboard.open(database_url, settings=settings) as two,
        served(one) as first,
        served(two) as second,
        client(two) as admin,
    ):
        async with changes(first) as reader:
            made = good(await admin.post("/v1/tools", json=mock("made")), 201)["id"]
            event = await received(reader)
            while event.data["id"] != made:  # changes by the start of the second process may arrive first
                event = await received(reader)
            assert short(event) == ("tool", made, False)
            assert event.id == event.data["revision"]
        later = good(await admin.post("/v1/tools", json=mock("later")), 201)["id"]
        async with changes(second, after=event.id) as reader:
            assert short(await received(reader)) == ("tool", later, False)
        async with changes(second, after=event.id - 1) as reader:
            assert [short(await received(reader))[1] for _ in range(2)] == [made, later]
        # A revision that this process does not have, or has no longer.
        for unknown in (0, 10**9):
            async with changes(second, after=unknown) as reader:
                gap = await received(reader)
                assert (gap.name, gap.id) == ("gap", two.snapshot.revision)


async def test_the_tools_of_one_change_have_its_id_only_when_all_were_sent(board: Pegboard) -> None:
    async with served(board) as url, client(board) as admin, changes(url) as reader:
        before = board.snapshot.revision
        good(await admin.post("/v1/apply", json={"tools": [mock(f"tool-{number}") for number in range(3)]}))
        events = [await received(reader) for _ in range(3)]
        assert [event.id for event in events] == [before, before, board.snapshot.revision]
        assert {event.data["revision"] for event in events} == {board.snapshot.revision}


async def test_a_tool_of_this_process_is_a_change_too(board: Pegboard) -> None:
    async with served(board) as url, changes(url) as reader:

        @board.tool
        def greet(name: str) -> str:
            """Greet."""
            return f"Hello {name}"

        assert short(await received(reader))[0] == "tool"


async def test_a_stream_ends_when_its_key_is_revoked_and_when_the_board_stops() -> None:
    async with memory_board(admin_key=KEY) as board, served(board) as url, client(board) as admin:
        user_id, key = await new_user(admin, "ada")
        [row] = good(await admin.get(f"/v1/users/{user_id}/keys"))["items"]
        async with changes(url, key) as of_ada, changes(url) as other:
            good(await admin.delete(f"/v1/users/{user_id}/keys/{row['id']}"), 204)
            last = await received(of_ada)
            assert (last.name, last.data["message"]) == ("error", "This key was revoked")
            assert await of_ada.next() is None
            assert short(await received(other)) == ("key", row["id"], True)
            board.watchers.close()
            assert await other.next() is None


def things(*names: str) -> list[ChangedThing]:
    """Tools of a user."""
    return [ChangedThing("tool", name, "ada") for name in names]


async def test_a_log_forgets_the_oldest_changes_and_says_so() -> None:
    log = ChangeLog()
    log.start(7)
    assert (log.find_position(6), log.find_position(7), log.find_position(8)) == (None, 0, None)
    for revision in range(8, 6008):
        log.add(revision, things(f"tool-{revision}"))
    assert log.find_position(7) is None
    assert log.after(0, 10) is None
    oldest = log.find_position(1007)
    assert oldest is not None
    kept: Any = log.after(oldest, 10_000)
    assert [kept[0].revision, kept[-1].revision, len(kept)] == [1008, 6007, 5000]
    assert log.find_position(1006) is None
    assert log.after(log.last, 1) == []
    waiting = asyncio.create_task(log.wait_for_more(log.last))
    await asyncio.sleep(0)
    log.close()
    await asyncio.wait_for(waiting, 5)


async def test_streams_of_an_admin_end_when_the_user_becomes_a_member() -> None:
    async with memory_board(admin_key=KEY) as board, served(board) as url, client(board) as admin:
        user_id, key = await new_user(admin, "ada", "admin")
        async with (
            changes(url, key) as of_ada,
            httpx.AsyncClient(base_url=url, headers=bearer(key), timeout=30) as http,
            http.stream("GET", "/v1/executions/stream") as answered,
        ):
            calls = Reader(answered)
            good(await admin.patch(f"/v1/users/{user_id}", json={"role": "member"}))
            # A waiting stream checks the user again when the next event arrives.
            good(await admin.post("/v1/tools", json=mock()), 201)
            good(await admin.post("/v1/tools/quote/call", json={}))
            for reader in (of_ada, calls):
                last = await received(reader)
                assert last.name == "error"
                assert "role of this user has changed" in last.data["message"]
                assert await reader.next() is None
