"""Intents, keys and receipts that the board did not write are ignored and reported, and never become rows."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import orjson
import pytest

from pegboard.journal.audit import Audit
from pegboard.journal.open_journal import open_chain
from pegboard.journal.signed_intents import sign_stored_entries
from pegboard.model.call_errors import InDoubt
from pegboard.model.ids import new_id
from pegboard.storage.database import Database
from tests.unit.journal.chained_journals import read, run
from tests.unit.journal.standalone_journals import ACTIVE, VAULT, StandaloneJournal, a_call, opened, row_of, start

COLUMNS = "writer, state, execution, receipts, claim, digest, answer, expires_at, mac, claim_mac"
CHAIN = open_chain(VAULT)


async def findings(database: Database) -> list[tuple[str, str | None]]:
    report = await Audit(database, CHAIN).verify()
    return [(found.kind, found.execution_id) for found in report.findings]


async def statuses(database: Database) -> dict[str, str]:
    """The journal's rows by id, as ids are written."""
    rows = await read(database, "SELECT id, status FROM executions")
    return {_dashed(row[0]): row[1] for row in rows}


def _dashed(value: object) -> str:
    text = str(value).replace("-", "")
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def stored_id(database: Database, run_id: str) -> str:
    return run_id.replace("-", "") if database.kind == "sqlite" else run_id


async def recovered(database: Database, spools: Path, dead: StandaloneJournal) -> None:
    """Let a process die, and another one recover its calls."""
    await dead.die()
    with anyio.fail_after(30):
        async with opened(database, spools) as standalone:
            await standalone.tended()


async def forge(database: Database, genuine: str, **changes: Any) -> str:
    """Return the id of an intent that an attacker with database access made from a genuine one."""
    run_id = new_id()
    values = {**dict.fromkeys(COLUMNS.split(", ")), **changes}
    names = [name for name, value in values.items() if value is not None]
    columns = ", ".join(f":{name}" if name in names else name for name in values)
    statement = f"INSERT INTO intents (id, {COLUMNS}) SELECT :new, {columns} FROM intents WHERE id = :genuine"
    if database.kind == "postgresql":
        statement = statement.replace(":new", "CAST(CAST(:new AS TEXT) AS UUID)").replace(
            ":genuine", "CAST(CAST(:genuine AS TEXT) AS UUID)"
        )
        for name in names:
            statement = statement.replace(f":{name}", f"CAST(:{name} AS TEXT)")
    given = {name: values[name] for name in names}
    ids = {"new": stored_id(database, run_id), "genuine": stored_id(database, genuine)}
    await run(database, statement, **ids, **given)
    return run_id


async def test_a_forged_intent_becomes_no_row(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    dead = start(database, tmp_path / "spools")
    call = a_call(ACTIVE)
    await dead.begin(call)
    forged = await forge(database, call.run_id)
    await recovered(database, tmp_path / "spools", dead)
    assert await statuses(database) == {call.run_id: "in_doubt"}
    assert [_dashed(row[0]) for row in await read(database, "SELECT id FROM intents")] == [forged]
    assert await findings(database) == [("set_aside", forged)]
    assert "entries_set_aside" in caplog.text
    async with opened(database, tmp_path / "spools") as standalone:  # and not read again
        caplog.clear()
        await standalone.tended()
    assert "entries_set_aside" not in caplog.text


async def test_an_intent_whose_content_was_changed_becomes_no_row(database: Database, tmp_path: Path) -> None:
    dead = start(database, tmp_path / "spools")
    call = a_call(ACTIVE)
    await dead.begin(call)
    [(execution,)] = await read(database, "SELECT execution FROM intents")
    row = orjson.loads(execution)
    row[1] = "another_tool"
    await run(database, "UPDATE intents SET execution = :e", e=orjson.dumps(row).decode())
    await recovered(database, tmp_path / "spools", dead)
    assert await statuses(database) == {}
    assert await findings(database) == [("set_aside", call.run_id)]


async def test_an_intent_of_a_recorded_call_that_is_put_back_is_set_aside(database: Database, tmp_path: Path) -> None:
    dead = start(database, tmp_path / "spools")
    call = a_call(ACTIVE)
    await dead.begin(call)
    await run(database, "CREATE TABLE copied AS SELECT * FROM intents")
    await dead.record(row_of(call))
    await run(database, "INSERT INTO intents SELECT * FROM copied")
    await recovered(database, tmp_path / "spools", dead)
    await run(database, "DROP TABLE copied")
    assert await statuses(database) == {call.run_id: "succeeded"}
    assert await findings(database) == [("set_aside", call.run_id)]


async def test_a_key_whose_holder_was_forged_is_refused_and_its_call_not_run(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(database, tmp_path / "spools") as standalone:
        with anyio.fail_after(30):
            first = a_call(ACTIVE, key="k")
            await standalone.begin(first)
            await standalone.record(row_of(first))
            assert await standalone.begin(a_call(ACTIVE, key="k")) is not None
            [(name,)] = await read(database, "SELECT claim FROM intents")
            await run(database, "UPDATE intents SET claim = 'elsewhere'")
            forged = await forge(database, first.run_id, claim=name)
            for _ in range(2):
                with pytest.raises(InDoubt, match="was changed in the database"):
                    await standalone.begin(a_call(ACTIVE, key="k"))
    assert await findings(database) == [("set_aside", forged)]
    assert "entries_set_aside" in caplog.text
    await Audit(database, CHAIN).prune(datetime.now(UTC), limit=100)
    assert await findings(database) == [("set_aside", forged)], "only by force"


async def test_pruning_by_force_removes_what_was_set_aside(database: Database, tmp_path: Path) -> None:
    dead = start(database, tmp_path / "spools")
    call = a_call(ACTIVE)
    await dead.begin(call)
    await run(database, "UPDATE intents SET mac = ''")
    await recovered(database, tmp_path / "spools", dead)
    assert await findings(database) == [("set_aside", call.run_id)]
    await Audit(database, CHAIN).prune(datetime.now(UTC), limit=100, force=True)
    assert await findings(database) == []


@pytest.mark.parametrize("column", ["row_id", "output", "mac"])
async def test_a_receipt_that_was_changed_proves_nothing(
    database: Database, tmp_path: Path, column: str, caplog: pytest.LogCaptureFixture
) -> None:
    dead = start(database, tmp_path / "spools")
    call = a_call(ACTIVE, key="k")._replace(is_transactional=True)
    await dead.begin(call)
    mac = CHAIN.sign(("receipt", call.run_id, "7", "{}"))
    statement = "INSERT INTO receipts (id, row_id, output, mac, is_void) VALUES (:id, '7', '{}', :mac, false)"
    if database.kind == "postgresql":
        statement = statement.replace(":id", "CAST(CAST(:id AS TEXT) AS UUID)")
    await run(database, statement, id=stored_id(database, call.run_id), mac=mac)
    await run(database, f"UPDATE receipts SET {column} = 'x'")
    await recovered(database, tmp_path / "spools", dead)
    assert await statuses(database) == {call.run_id: "in_doubt"}
    [(error,)] = await read(database, "SELECT error FROM executions")
    assert "receipt in the database is not the board's own" in error
    assert await findings(database) == [("set_aside", call.run_id)]
    assert "entries_set_aside" in caplog.text


@pytest.mark.parametrize("key", [None, "k"])
async def test_what_a_version_without_macs_left_behind_is_signed_once(
    database: Database, tmp_path: Path, key: str | None
) -> None:
    dead = start(database, tmp_path / "spools")
    call = a_call(ACTIVE, key=key)
    await dead.begin(call)
    await run(database, "UPDATE intents SET mac = '', claim_mac = ''")
    async with database.change() as change:
        await sign_stored_entries(change.conn, CHAIN)
    await recovered(database, tmp_path / "spools", dead)
    assert await statuses(database) == {call.run_id: "in_doubt"}
    assert await findings(database) == []
    if key is not None:
        async with opened(database, tmp_path / "spools") as standalone:
            with pytest.raises(InDoubt, match="was interrupted"):
                await standalone.begin(a_call(ACTIVE, key=key))
