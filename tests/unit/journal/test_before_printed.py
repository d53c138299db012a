"""Rows from before the column `printed` can still be read and verified."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from sqlalchemy import text

from pegboard.journal.entries import ClosingEntry
from pegboard.journal.open_journal import open_chain
from pegboard.journal.signed_intents import sign_stored_entries
from pegboard.journal.verify import VerificationReport
from pegboard.model.journal_row import FIELDS
from pegboard.storage import execution_rows
from pegboard.storage.database import Database
from pegboard.storage.migrate import build_alembic_config, migrate
from tests.unit.journal import before_printed as before
from tests.unit.journal.audit_pages import exported, lines_verified, pruned, verified
from tests.unit.journal.chained_journals import CASTS, CHAIN, append, call
from tests.unit.journal.standalone_journals import VAULT, a_call, lie_in, opened, start
from tests.unit.journal.two_boards import intents, rows
from tests.unit.storage.sample_rows import NOW


@pytest.fixture
async def migrated(empty_database_url: str) -> Any:
    """A database with rows of revision 0003, migrated to a revision with `printed`."""
    database = Database.create(empty_database_url)
    columns = (*before.COLUMNS, "writer", "seq", "mac")
    casts = CASTS if database.kind == "postgresql" else {}
    values = ", ".join(casts.get(name, ":{}").format(name) for name in columns)
    async with database.write() as conn:
        await conn.run_sync(lambda connection: command.upgrade(build_alembic_config(connection), "0003_journal"))
        for seq, (row, mac) in enumerate(before.ROWS, start=1):
            kept = dict(zip(columns, (*row, 1, seq, mac), strict=True))
            kept["id"] = kept["id"] if database.kind == "postgresql" else kept["id"].replace("-", "")
            await conn.execute(text(f"INSERT INTO executions ({', '.join(columns)}) VALUES ({values})"), kept)
        board = "UPDATE board_state SET writers = 1, writers_signature = :signature"
        await conn.execute(text(board), {"signature": before.WRITERS_SIGNATURE})
        head = "INSERT INTO writers VALUES (1, :id, 'here', 1, :at, NULL, 0, 2, :mac, :signature, 0, '', '', 0)"
        at = NOW if database.kind == "postgresql" else "2026-03-01 12:30:15.123456"
        known = {"mac": before.ROWS[-1][1], "signature": before.HEAD_SIGNATURE}
        await conn.execute(text(head), {"id": before.SPOOL_WRITER, "at": at, **known})
    assert (await migrate(database))[0] == "0004_printed"
    yield database
    await database.close()


async def test_rows_verify_as_they_were_signed(migrated: Database) -> None:
    assert await verified(migrated) == VerificationReport(2, total=2)
    async with migrated.read() as conn:
        found = [await execution_rows.get_execution(conn, row[0]) for row, _ in before.ROWS]
    assert [(row.error, row.result, row.printed) for row in found if row] == [
        (None, {"ü": [1.5, None]}, None),
        ("stuck ☂", None, None),
    ]


async def test_rows_that_printed_follow_them_in_the_same_chain(migrated: Database) -> None:
    await append(migrated, 1, [call(10, printed="more\n"), call(11)])
    assert await verified(migrated) == VerificationReport(4, total=4)
    lines = await exported(migrated)
    assert await lines_verified(migrated, lines) == VerificationReport(4)
    assert await pruned(migrated, call(5).finished_at) == 2
    assert (await verified(migrated)).findings == ()


async def test_what_is_put_into_an_old_row_is_found(migrated: Database) -> None:
    for printed in ("x", ""):
        async with migrated.write() as conn:
            await conn.execute(text("UPDATE executions SET printed = :p WHERE seq = 1"), {"p": printed})
        [finding] = (await verified(migrated)).findings
        assert (finding.kind, finding.first, finding.last) == ("changed", 1, 1)


async def test_an_export_verifies(database: Database) -> None:
    assert await lines_verified(database, before.LINES) == VerificationReport(2)


async def test_an_old_export_is_compared_with_what_became_of_its_journal(migrated: Database) -> None:
    await append(migrated, 1, [call(10, printed="more\n")])
    assert (await lines_verified(migrated, before.LINES, compare=True)).findings == ()


@pytest.mark.parametrize("printed", ["x", "", 0, [], {}])
async def test_what_is_put_into_an_old_line_is_found(database: Database, printed: Any) -> None:
    lines = list(before.LINES)
    lines[2] = json.dumps({**json.loads(lines[2]), "printed": printed})
    assert (await lines_verified(database, lines)).findings


async def test_a_spool_is_committed(database: Database, tmp_path: Path) -> None:
    spools = tmp_path / "spools"
    spools.mkdir(mode=0o700)
    spool = spools / f"{before.SPOOL_WRITER}.spool"
    spool.write_bytes(before.SPOOL + bytes(2**20 - len(before.SPOOL)))
    async with opened(database, spools) as standalone:
        await standalone.tended()
        assert await rows(database) == [(before.SPOOLED_ID, "succeeded")]
    assert lie_in(spools) == []
    assert await verified(database, chain=open_chain(VAULT)) == VerificationReport(1, total=1)


def test_an_entry_with_fewer_fields_than_ever_or_more_is_none() -> None:
    for fields in (len(FIELDS) - 3, len(FIELDS) + 1):
        with pytest.raises(ValueError, match="another version"):
            ClosingEntry.from_spool_bytes(json.dumps([[None] * fields, "none", "done", None, False, False]).encode())
    for missing in (2, 1, 0):
        given = ["x"] * (len(FIELDS) - missing)
        made = ClosingEntry.from_spool_bytes(json.dumps([given, "none", "done", None, False, False]).encode())
        assert made.row == (*given, *[None] * missing)


async def test_an_intent_becomes_a_row_in_doubt(database: Database, tmp_path: Path) -> None:
    spools = tmp_path / "spools"
    dead = start(database, spools)
    await dead.begin(a_call())
    await dead.die()
    run_id = before.INTENT_ID if database.kind == "postgresql" else before.INTENT_ID.replace("-", "")
    as_id = "CAST(CAST(:id AS TEXT) AS UUID)" if database.kind == "postgresql" else ":id"
    async with database.write() as conn:
        await conn.execute(
            text(f"UPDATE intents SET id = {as_id}, execution = :row"), {"id": run_id, "row": before.INTENT}
        )
        await sign_stored_entries(conn, open_chain(VAULT))
    async with opened(database, spools) as standalone:
        await standalone.tended()
    assert await intents(database) == []
    assert await rows(database) == [(before.INTENT_ID, "in_doubt")]
    assert (await verified(database, chain=open_chain(VAULT))).findings == ()


def test_the_chain_signs_an_old_row_and_the_same_one_with_nothing_printed_alike() -> None:
    before_it = ""
    for seq, (row, mac) in enumerate(before.ROWS, start=1):
        assert len(row) == len(FIELDS) - 2
        for empty in ((), (None,), (None, None)):
            assert CHAIN.link(before_it, 1, seq, (*row, *empty)) == mac
        for added in (("",), ("", None), (None, ""), (None, "null")):
            assert CHAIN.link(before_it, 1, seq, (*row, *added)) != mac
        before_it = mac
