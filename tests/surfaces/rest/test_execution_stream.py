"""`GET /v1/executions/stream`: the calls of the whole board, as they happen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import httpx
import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard import Pegboard
from pegboard.model.call import CallContext
from pegboard.runs.other_processes import OtherProcessWatcher
from pegboard.storage.database import Database
from pegboard.surfaces.rest.event_stream import EventFrames
from pegboard.surfaces.rest.watch_routes import WatchFilter, WatchViews
from pegboard.testing import NoSettings
from tests.board_surfaces import KEY, served
from tests.surfaces.rest.clients import client, good, mock, new_user, problem
from tests.surfaces.rest.streams import Reader, reading
from tests.waiting import until

STREAM = "/v1/executions/stream"


@asynccontextmanager
async def watching(board: Pegboard, url: str, **more: Any) -> AsyncIterator[Reader]:
    """Subscribe a user from now on."""
    async with reading(url, STREAM, **more) as reader:
        assert board.watchers.is_watched
        yield reader


async def test_an_admin_sees_everybodys_calls_and_a_member_their_own(board: Pegboard, admin: httpx.AsyncClient) -> None:
    mia_id, key = await new_user(admin, "mia")
    async with (
        served(board) as url,
        watching(board, url) as everything,
        watching(board, url, key=key) as own,
        watching(board, url, params={"caller": mia_id}) as hers,
        client(board, key) as mia,
    ):
        await admin.post("/v1/tools/echo/call", json={})
        called = good(await mia.post("/v1/tools/echo/call", json={"secret": "x"}))
        assert called["success"]
        seen = [await everything.next() for _ in range(4)]
        assert [item.name for item in seen if item] == ["started", "finished"] * 2
        for reader in (own, hers):
            started, finished = await reader.until("started"), await reader.until("finished")
            assert started.data["caller_id"] == finished.data["caller_id"] == mia_id
            assert started.data["run_id"] == finished.data["id"]
            assert "arguments" not in finished.data
    problem(await admin.get(STREAM, headers={"Last-Event-ID": "x"}), 422)
    async with client(board, key) as mia:
        problem(await mia.get(STREAM, params={"caller": board.admin.user_id}), 403)


@pytest.mark.parametrize("gone", ["/v1/users/{user}/keys/{key}", "/v1/users/{user}"])
async def test_a_caller_who_may_watch_no_longer_receives_nothing_more(
    board: Pegboard, admin: httpx.AsyncClient, gone: str
) -> None:
    boss = good(await admin.post("/v1/users", json={"name": "boss", "role": "admin"}), 201)
    key = good(await admin.post(f"/v1/users/{boss['id']}/keys", json={"name": "k"}), 201)
    async with served(board) as url, watching(board, url, key=key["key"]) as reader:
        assert (await admin.delete(gone.format(user=boss["id"], key=key["id"]))).status_code == 204
        await admin.post("/v1/tools/echo/call", json={})
        result = await reader.next()
        assert result is not None
        assert (result.name, result.data["code"]) == ("error", "unauthorised")
        assert await reader.next() is None


async def test_one_tool_is_watched_by_its_name_or_id_however_it_is_called(
    board: Pegboard, admin: httpx.AsyncClient
) -> None:
    made = good(await admin.post("/v1/tools", json=mock("Quote")), 201)
    async with served(board) as url:
        for wanted in ("quote", made["id"]):
            async with watching(board, url, params={"tool": wanted}) as reader:
                await admin.post("/v1/tools/echo/call", json={})
                await admin.post("/v1/tools/qUOTE/call", json={})
                found = [await reader.next(), await reader.next()]
                assert [one.data["tool_name"].lower() for one in found if one] == ["quote", "quote"]


async def test_progress_is_seen_and_a_broken_watch_continues_where_it_was(board: Pegboard) -> None:
    go_on = anyio.Event()

    @board.tool
    async def walk(context: CallContext) -> None:
        context.progress(1, 2)
        await go_on.wait()

    async with served(board) as url, watching(board, url) as keeps, anyio.create_task_group() as group:
        async with watching(board, url) as first:
            group.start_soon(board.call, "walk")
            started, progress = await first.until("started"), await first.until("progress")
            assert progress.data["total"] == 2
        go_on.set()
        await keeps.until("finished")
        async with watching(board, url, headers={"Last-Event-ID": str(started.id)}) as again:
            assert await again.next() == progress
            assert (await again.until("finished")).data["status"] == "succeeded"
        # For an event id of an ended process, the stream starts now and says so.
        async with watching(board, url, params={"last_event_id": 10**6}) as lost:
            gap = await lost.until("gap")
            assert gap.data == {"missed": None}
            await board.call("echo")
            await lost.until("finished")


async def test_with_too_many_events_the_latest_are_sent_and_the_others_counted(board: Pegboard) -> None:
    views = WatchViews(board.watchers, board.snapshot)
    everything = WatchFilter(None, None)
    with board.watchers.watch() as events:
        for _ in range(100):
            await board.call("echo")
        await events.wait_for_more(199)
        board.watchers.count = 500
        taken = views.take(events, 0, everything)
        assert len(taken.frames) < 10_000
        assert taken.number == 200
        first, *_ = taken.frames.split(b"\n\n")
        shown = taken.frames.count(b"event: started") + taken.frames.count(b"event: finished")
        assert first == b'id: %d\nevent: gap\ndata: {"missed":%d}' % (200 - shown, 200 - shown)
        # The same event is encoded once for all readers.
        assert views.take(events, 0, everything) is taken
        board.watchers.count = 1
        for _ in range(2600):
            await board.call("echo")
        await events.wait_for_more(5399)
        late = views.take(events, 0, everything)
        assert b'event: gap\ndata: {"missed":' in late.frames[:100]
        assert views.take(events, 5400, everything) == EventFrames(b"", 5400)


@asynccontextmanager
async def boards(url: str, home: Path) -> AsyncIterator[tuple[Pegboard, Pegboard]]:
    """Two boards on one database, like two processes."""
    settings = NoSettings(home=home, admin_key=KEY, drain_seconds=2)
    async with Pegboard.open(url, settings=settings) as one, Pegboard.open(url, settings=settings) as other:
        yield one, other


class WatchedReads:
    """A database that counts finished reads and delays new ones while `may_read` is clear."""

    def __init__(self, database: Database) -> None:
        self.is_memory = database.is_memory
        self.over = 0
        self.is_delayed = False
        self.may_read = asyncio.Event()
        self.may_read.set()
        self._database = database

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """Read as the database does."""
        self.is_delayed = not self.may_read.is_set()
        await self.may_read.wait()
        async with self._database.read() as conn:
            yield conn
        self.over += 1

    async def have_begun(self) -> bool:
        return self.over > 0

    async def are_delayed(self) -> bool:
        return self.is_delayed


def elsewhere(board: Pegboard) -> tuple[OtherProcessWatcher, WatchedReads]:
    reads = WatchedReads(board.database)
    return OtherProcessWatcher(
        cast("Database", reads), board.watchers, lambda: {getattr(board.journal, "number", None)}, pause=0.05
    ), reads


def polls() -> list[asyncio.Task[Any]]:
    """Return the tasks that read the rows of other processes."""
    return [task for task in asyncio.all_tasks() if task.get_name() == "pegboard-elsewhere"]


async def test_calls_of_other_processes_are_seen_once_they_have_ended(database_url: str, tmp_path: Path) -> None:
    async with boards(database_url, tmp_path / "home") as (one, other):
        reader, reads = elsewhere(one)
        await other.call("echo", {"before": 1})
        async with served(one) as url, watching(one, url) as seen:
            await until(reads.have_begun)
            for _ in range(2):  # one that has written before, then one that has not
                theirs = await other.call("echo", {"a": 1})
                assert (await seen.until("finished")).data["id"] == theirs.run_id
            ours = await one.call("echo")
            assert (await seen.until("finished")).data["id"] == ours.run_id
            third = await other.call("nowhere")
            # None of our events is reported twice.
            result = await seen.until("finished")
            assert (result.data["id"], result.data["code"]) == (third.run_id, "tool_not_found")

            assert len(polls()) == 1

        async def at_rest() -> bool:
            return not polls()

        await until(at_rest)
        await reader.close()


async def test_of_too_many_calls_elsewhere_the_latest_are_reported(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pegboard.runs.other_processes.MAX_ROWS", 3)
    async with boards(database_url, tmp_path / "home") as (one, other):
        reader, reads = elsewhere(one)
        await other.call("echo")
        async with served(one) as url, watching(one, url) as seen:
            await until(reads.have_begun)
            reads.may_read.clear()
            await until(reads.are_delayed)
            runs = [(await other.call("echo")).run_id for _ in range(10)]
            reads.may_read.set()
            assert (await seen.until("gap")).data == {"missed": 7}
            assert [(await seen.until("finished")).data["id"] for _ in range(3)] == runs[-3:]
        await reader.close()


async def test_no_reader_reads_a_journal_in_memory_or_while_no_reader_watches(board: Pegboard) -> None:
    reader = OtherProcessWatcher(board.database, board.watchers, set)
    with board.watchers.watch():
        assert not polls()
    await reader.close()
