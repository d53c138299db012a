"""Receipts of an older version: they record whether a call's effect in the board's own database was committed."""

from __future__ import annotations

from pathlib import Path

import anyio
import orjson
import pytest
from sqlalchemy import text

from pegboard.journal.entries import EntryBatch, OpeningEntry
from pegboard.journal.open_journal import open_chain
from pegboard.model.call import ReadyCall
from pegboard.model.journal_row import serialize_execution
from pegboard.storage.database import Database
from tests.unit.journal.chained_journals import read
from tests.unit.journal.standalone_journals import ACTIVE, VAULT, StandaloneJournal, a_call, opened, row_of, start
from tests.unit.journal.two_boards import intents

OUTPUT = {"id": 7, "ü": [None, 1.5]}
KEYS = pytest.mark.parametrize("key", [None, "k"])


async def begin(standalone: StandaloneJournal, call: ReadyCall) -> None:
    """Begin a call as versions did that wrote receipts."""
    if call.key is not None:
        await standalone.begin(call._replace(is_transactional=True))
        return
    row = serialize_execution(row_of(call, status="in_doubt", code="in_doubt"))
    await standalone.writer.commit(EntryBatch([OpeningEntry(row, receipts=True)], []))


async def leave_receipt(database: Database, call: ReadyCall) -> None:
    """Write the receipt of the call's effect."""
    output = orjson.dumps(OUTPUT).decode()
    mac = open_chain(VAULT).sign(("receipt", call.run_id, "row-7", output))
    id_, false = (":id", "0") if database.kind == "sqlite" else ("CAST(CAST(:id AS text) AS uuid)", "false")
    run_id = call.run_id.replace("-", "") if database.kind == "sqlite" else call.run_id
    async with database.write() as conn:
        await conn.execute(
            text(f"INSERT INTO receipts (id, row_id, output, mac, is_void) VALUES ({id_}, 'row-7', :o, :m, {false})"),
            {"id": run_id, "o": output, "m": mac},
        )


async def take_over(
    database: Database, spools: Path, dead: StandaloneJournal
) -> list[tuple[str, str | None, str | None]]:
    """Let a process die and another one recover its calls; return status, code and row id of every row."""
    await dead.die()
    with anyio.fail_after(30):
        async with opened(database, spools) as standalone:
            await standalone.tended()
    return [tuple(row) for row in await read(database, "SELECT status, code, row_id FROM executions")]


@KEYS
async def test_a_call_with_a_receipt_has_succeeded_and_its_key_has_the_answer(
    database: Database, tmp_path: Path, key: str | None
) -> None:
    dead = start(database, tmp_path / "spools")
    call = a_call(ACTIVE, key=key)
    await begin(dead, call)
    await leave_receipt(database, call)
    assert await take_over(database, tmp_path / "spools", dead) == [("succeeded", None, "row-7")]
    assert await read(database, "SELECT 1 FROM receipts") == []
    assert await intents(database) == ([("done", True)] if key else [])
    if key is not None:
        async with opened(database, tmp_path / "spools") as standalone:
            earlier = await standalone.begin(a_call(ACTIVE, key=key))
            assert earlier is not None
            assert orjson.loads(earlier.answer.output_json) == OUTPUT


@KEYS
async def test_a_call_without_a_receipt_has_failed_and_its_key_is_free(
    database: Database, tmp_path: Path, key: str | None
) -> None:
    dead = start(database, tmp_path / "spools")
    await begin(dead, a_call(ACTIVE, key=key))
    assert await take_over(database, tmp_path / "spools", dead) == [("failed", "interrupted", None)]
    assert await intents(database) == []
    async with opened(database, tmp_path / "spools") as standalone:
        assert await standalone.begin(a_call(ACTIVE, key=key)) is None
