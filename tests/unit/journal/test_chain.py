"""The hash chain, and that each change of a journal is detected."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from pegboard.journal.hash_chain import FIRST_MAC, ChainPosition, HashChain
from pegboard.model.ids import new_id
from pegboard.model.journal_row import FIELDS, serialize_execution
from pegboard.storage.database import Database
from tests.unit.journal.audit_pages import exported, lines_verified, verified
from tests.unit.journal.chained_journals import CHAIN, add_writer, append, call, empty, memory_database, read, run

KEEP_FIXTURES = [HealthCheck.function_scoped_fixture]


@pytest.fixture
async def quick_database() -> AsyncIterator[Database]:
    """A database for many examples."""
    async with memory_database() as made:
        yield made


def test_a_link_depends_on_everything_it_is_made_of() -> None:
    row = serialize_execution(call())
    link = CHAIN.link("before", 1, 2, row)
    assert link == CHAIN.link("before", 1, 2, row)
    others = {
        HashChain(b"another key").link("before", 1, 2, row),
        CHAIN.link("other", 1, 2, row),
        CHAIN.link("before", 2, 2, row),
        CHAIN.link("before", 1, 3, row),
        *(CHAIN.link("before", 1, 2, (*row[:n], "other", *row[n + 1 :])) for n in range(len(FIELDS))),
    }
    assert len(others | {link}) == 5 + len(FIELDS)
    assert len(link) == 32


def test_links_follow_one_another() -> None:
    rows = [serialize_execution(call(minutes)) for minutes in range(3)]
    first, second, third = CHAIN.links(7, ChainPosition(), rows)
    assert first == (1, CHAIN.link(FIRST_MAC, 7, 1, rows[0]))
    assert second == (2, CHAIN.link(first.mac, 7, 2, rows[1]))
    assert CHAIN.links(7, second, rows[2:]) == [third]
    assert CHAIN.links(7, third, []) == []


def test_what_is_signed_for_one_purpose_is_good_for_no_other() -> None:
    place = ChainPosition(3, "mac")
    signatures = {
        CHAIN.sign_head(1, place),
        CHAIN.sign_head(2, place),
        CHAIN.sign_head(1, ChainPosition(4, "mac")),
        CHAIN.sign_head(1, ChainPosition(3, "other")),
        CHAIN.sign_pruned(1, place),
        CHAIN.sign_writers(1),
        CHAIN.sign_writers(2),
        CHAIN.link("mac", 1, 3, ()),
    }
    assert len(signatures) == 8


def test_macs_are_compared_whole() -> None:
    assert CHAIN.is_same_mac("ab", "ab")
    assert not CHAIN.is_same_mac("ab", "abc")
    assert not CHAIN.is_same_mac("ab", "")


TEXTS = st.none() | st.text(max_size=5)
SCALARS = st.none() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
VALUES = st.recursive(SCALARS, st.lists, max_leaves=4)
CALLS = st.fixed_dictionaries(
    {
        "tool_name": st.text(max_size=5),
        "error": TEXTS,
        "code": TEXTS,
        "arguments": st.none() | st.dictionaries(st.text(max_size=3), VALUES, max_size=3),
        "result": VALUES,
        "printed": TEXTS,
        "tries": VALUES,
        "elapsed_ms": st.floats(0, 1e9),
        "tool_version": st.none() | st.integers(0, 2**31 - 2),
    }
)
JOURNALS = st.lists(st.lists(CALLS, max_size=4), min_size=1, max_size=3)

# The changed value of a field, for its value; each is different.
_NOT_NULL = ("tool_name", "status", "caller_id", "caller", "surface", "dialect")
_NULLABLE = (
    *("tool_id", "kind", "key_id", "agent_id", "request_id", "code", "error"),
    *("arguments_digest", "row_id", "chain_id", "thread_id", "repeat_of", "result", "printed", "tries"),
)
CHANGES = {
    **{name: f"{name} || 'x'" for name in _NOT_NULL},
    **{name: f"COALESCE({name}, '') || 'x'" for name in _NULLABLE},
    "elapsed_ms": "elapsed_ms * 2 + 1",
    "attempts": "attempts + 1",
    "tool_version": "COALESCE(tool_version, 0) + 1",
    "mac": "'00000000000000000000000000000000'",
    "seq": "seq + 1000",
    "writer": "writer + 1000",
}
SQLITE = {
    "id": f"'{new_id().replace('-', '')}'",
    "started_at": "started_at || '1'",
    "finished_at": "'2026-03-01 12:30:15'",
    "arguments": "COALESCE(arguments, '') || ' '",
}
POSTGRESQL = {
    "id": f"CAST('{new_id()}' AS UUID)",
    "started_at": "started_at + INTERVAL '1 microsecond'",
    "finished_at": "finished_at - INTERVAL '1 microsecond'",
    "arguments": "CAST(COALESCE(CAST(arguments AS TEXT), '1') || ' ' AS JSON)",
}
# Only SQLite lets a column hold anything.
NONSENSE = ["'nonsense'", "X'00FF'", "CAST(X'FF' AS TEXT)", "1e999", "-1.5", "''"]
SIGNED = [
    *(("writers", name) for name in ("seq", "mac", "signature", "pruned_seq", "pruned_mac", "pruned_signature")),
    *(("board_state", name) for name in ("writers", "writers_signature")),
]


async def write_journal(database: Database, journal: list[list[dict[str, Any]]]) -> list[tuple[int, int]]:
    """Write the journal to the database; return the positions of its rows."""
    await empty(database)
    for number, calls in enumerate(journal, start=1):
        await add_writer(database, number)
        await append(database, number, [call(minutes, **fields) for minutes, fields in enumerate(calls)])
    return [(writer + 1, seq + 1) for writer, calls in enumerate(journal) for seq in range(len(calls))]


async def damage(database: Database, where: tuple[int, int], column: str, change: str) -> None:
    statement = f"UPDATE executions SET {column} = {change} WHERE writer = :w AND seq = :s"
    await run(database, statement, w=where[0], s=where[1])


async def is_found(database: Database, size: int = 20_000) -> bool:
    return bool((await verified(database, size)).findings)


@settings(deadline=None, suppress_health_check=KEEP_FIXTURES)
@given(journal=JOURNALS, size=st.integers(1, 10))
async def test_an_untouched_journal_is_never_suspected(
    quick_database: Database, journal: list[list[dict[str, Any]]], size: int
) -> None:
    places = await write_journal(quick_database, journal)
    report = await verified(quick_database, size)
    assert (report.findings, report.checked) == ((), len(places))
    lines = await exported(quick_database, size)
    assert (await lines_verified(quick_database, lines, size)).findings == ()


@settings(deadline=None, suppress_health_check=KEEP_FIXTURES)
@given(journal=JOURNALS)
async def test_an_untouched_journal_is_never_suspected_on_either_database(
    database: Database, journal: list[list[dict[str, Any]]]
) -> None:
    await write_journal(database, journal)
    assert not await is_found(database)
    assert (await lines_verified(database, await exported(database))).findings == ()


@settings(deadline=None, suppress_health_check=KEEP_FIXTURES)
@given(journal=JOURNALS, pick=st.integers(0, 1000), column=st.sampled_from([*FIELDS, "mac", "seq", "writer"]))
async def test_any_changed_field_is_found_and_its_row_named_first(
    quick_database: Database, journal: list[list[dict[str, Any]]], pick: int, column: str
) -> None:
    places = await write_journal(quick_database, journal)
    assume(places)
    where = places[pick % len(places)]
    await damage(quick_database, where, column, {**CHANGES, **SQLITE}[column])
    first = (await verified(quick_database)).findings[0]
    if column in FIELDS or column == "mac":
        assert (first.kind, first.writer, first.first) == ("changed", *where)


async def test_any_changed_field_is_found_on_either_database(database: Database) -> None:
    changes = {**CHANGES, **(SQLITE if database.kind == "sqlite" else POSTGRESQL)}
    assert set(changes) == {*FIELDS, "mac", "seq", "writer"}
    for column, change in changes.items():
        await write_journal(database, [[{}, {}, {}], [{}]])
        await damage(database, (1, 2), column, change)
        assert await is_found(database), column
        assert (await lines_verified(database, await exported(database))).findings, column


@pytest.mark.parametrize("nonsense", NONSENSE)
async def test_a_field_that_holds_what_it_cannot_is_found(quick_database: Database, nonsense: str) -> None:
    for column in (*FIELDS, "mac", "seq", "writer"):
        await write_journal(quick_database, [[{}, {}, {}], [{}]])
        await damage(quick_database, (1, 2), column, nonsense)
        assert await is_found(quick_database), column
        assert await is_found(quick_database, 1), column
        assert (await lines_verified(quick_database, await exported(quick_database))).findings, column


async def test_any_change_to_what_is_signed_is_found(database: Database) -> None:
    for table, column in SIGNED:
        await write_journal(database, [[{}, {}], [{}]])
        number = column in ("seq", "pruned_seq", "writers")
        await run(database, f"UPDATE {table} SET {column} = {f'{column} + 1' if number else ':new'}", new="0" * 32)
        assert await is_found(database), column
        assert (await lines_verified(database, await exported(database))).findings, column


@settings(deadline=None, suppress_health_check=KEEP_FIXTURES)
@given(journal=JOURNALS, pick=st.integers(0, 1000), many=st.integers(1, 3))
async def test_any_removed_row_is_found(
    quick_database: Database, journal: list[list[dict[str, Any]]], pick: int, many: int
) -> None:
    places = await write_journal(quick_database, journal)
    assume(places)
    writer, seq = places[pick % len(places)]
    statement = "DELETE FROM executions WHERE writer = :w AND seq >= :s AND seq < :e"
    await run(quick_database, statement, w=writer, s=seq, e=seq + many)
    found = (await verified(quick_database)).findings[0]
    assert (found.kind, found.writer, found.first) in (("removed", writer, seq), ("cut", writer, seq))


@settings(deadline=None, suppress_health_check=KEEP_FIXTURES)
@given(journal=JOURNALS, one=st.integers(0, 1000), other=st.integers(0, 1000), with_mac=st.booleans())
async def test_any_swapped_pair_is_found(
    quick_database: Database, journal: list[list[dict[str, Any]]], one: int, other: int, with_mac: bool
) -> None:
    places = await write_journal(quick_database, journal)
    assume(len(places) > 1)
    first, second = places[one % len(places)], places[other % len(places)]
    assume(first != second)
    macs = {(row[0], row[1]): row[2] for row in await read(quick_database, "SELECT writer, seq, mac FROM executions")}
    aside = (0, 0)
    for (writer, seq), target in ((first, aside), (second, first), (aside, second)):
        statement = "UPDATE executions SET writer = :tw, seq = :ts WHERE writer = :w AND seq = :s"
        await run(quick_database, statement, w=writer, s=seq, tw=target[0], ts=target[1])
    if not with_mac:  # the rows are swapped, and the MACs stay at their positions
        for writer, seq in (first, second):
            statement = "UPDATE executions SET mac = :mac WHERE writer = :w AND seq = :s"
            await run(quick_database, statement, w=writer, s=seq, mac=macs[writer, seq])
    assert await is_found(quick_database)
