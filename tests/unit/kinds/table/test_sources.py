"""The databases of tables: opened once, kept while their URL is the same, closed when no tool uses them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pegboard.kinds.table import sources as sources_module
from pegboard.kinds.table.config import TableUnusable
from pegboard.kinds.table.source import InsertFault, TableSource
from pegboard.kinds.table.sources import TableSources, open_source
from pegboard.storage.database import Database
from tests.unit.kinds.table.fakes import MOODS, FakeSource


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> dict[str, FakeSource]:
    """Every source that was opened, by its URL."""
    found: dict[str, FakeSource] = {}

    def open_one(url: str) -> TableSource:
        assert url not in found
        return found.setdefault(url, FakeSource())

    monkeypatch.setattr(sources_module, "open_source", open_one)
    return found


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database.create(f"sqlite:///{tmp_path}/board.db")


@pytest.fixture
def sources(database: Database) -> TableSources:
    return TableSources(database)


async def test_until_instructed_otherwise_tables_are_in_the_boards_own_database(sources: TableSources) -> None:
    own = sources.get_source(None)
    assert own.is_own
    assert own is sources.get_source(None)
    with pytest.raises(TableUnusable) as refused:
        sources.get_source("crm")
    assert refused.value.problem.code == "source_not_found"
    await sources.close()


async def test_a_board_in_memory_has_tables_too() -> None:
    database = Database.create("memory")
    sources = TableSources(database)
    assert await sources.facts(sources.get_source(None), None, "nope") is None
    await sources.close()
    await database.close()


async def test_the_boards_own_url_is_the_boards_own_database(sources: TableSources, tmp_path: Path) -> None:
    await sources.set_sources(
        {None: f"sqlite:///{tmp_path}/board.db", "other": f"sqlite+aiosqlite:///{tmp_path}/board.db"}
    )
    assert sources.get_source(None).is_own
    assert sources.get_source("other") is sources.get_source(None)
    await sources.close()


async def test_what_keeps_its_url_stays_open_and_what_is_gone_is_closed(
    sources: TableSources, opened: dict[str, FakeSource]
) -> None:
    await sources.set_sources({None: "postgresql://h/one", "b": "postgresql://h/two", "c": "postgres://h/two"})
    one, two = opened["postgresql://h/one"], opened["postgresql://h/two"]
    assert sources.get_source("b") is sources.get_source("c") is two
    await sources.set_sources({"a": "postgresql+asyncpg://h/one", "d": "postgresql://h/three"})
    assert sources.get_source("a") is one
    assert sources.get_source(None).is_own
    async with asyncio.timeout(30):
        await two.closed.wait()
    assert not one.closed.is_set()
    with pytest.raises(TableUnusable, match="'a', 'd'"):
        sources.get_source("b")
    await sources.close()
    assert one.closed.is_set()
    assert opened["postgresql://h/three"].closed.is_set()


@pytest.mark.parametrize("url", ["nonsense", "mysql://h/db", "sqlite://", "sqlite:///:memory:", ""])
async def test_a_url_that_is_none_changes_nothing(
    sources: TableSources, opened: dict[str, FakeSource], url: str
) -> None:
    await sources.set_sources({"a": "postgresql://h/one"})
    with pytest.raises(ValueError, match="postgresql://"):
        await sources.set_sources({"b": "postgresql://h/two", "c": url})
    assert sources.get_source("a") is opened["postgresql://h/one"]
    assert len(opened) == 1
    await sources.close()


async def test_a_url_that_is_none_is_refused_without_its_password() -> None:
    with pytest.raises(ValueError, match="mysql") as refused:
        open_source("mysql://me:hush@h/db")
    assert "hush" not in str(refused.value)


async def test_facts_are_kept_until_they_are_forgotten(sources: TableSources, opened: dict[str, FakeSource]) -> None:
    await sources.set_sources({None: "postgresql://h/one"})
    (source,) = opened.values()
    asked = (sources.facts(source, None, "mood_entries") for _ in range(5))
    assert await asyncio.gather(*asked) == [MOODS] * 5
    assert source.asked == 1
    sources.forget(source, None, "mood_entries")
    source.now = None
    assert await sources.facts(source, None, "mood_entries") is None
    assert source.asked == 2
    await sources.close()


async def test_a_caller_that_disconnects_does_not_take_the_answer_of_others_along(
    sources: TableSources, opened: dict[str, FakeSource]
) -> None:
    await sources.set_sources({None: "postgresql://h/one"})
    (source,) = opened.values()
    first, second = (asyncio.create_task(sources.facts(source, None, "mood_entries")) for _ in range(2))
    async with asyncio.timeout(30):
        await source.was_asked.wait()
    first.cancel()
    assert await second == MOODS
    await sources.close()


async def test_what_a_source_cannot_answer_is_not_kept(sources: TableSources, opened: dict[str, FakeSource]) -> None:
    await sources.set_sources({None: "postgresql://h/one"})
    (source,) = opened.values()
    source.unreachable = InsertFault("P1001", "refused")
    with pytest.raises(InsertFault):
        await sources.facts(source, None, "mood_entries")
    source.unreachable = None
    assert await sources.facts(source, None, "mood_entries") == MOODS
    await sources.close()
