"""A journal that the code of an earlier schema revision wrote still verifies after `pegboard migrate`, byte by byte."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.journal.tamper_report import TamperFinding
from pegboard.testing import NoSettings
from tests.golden.program import run_program
from tests.golden.record_journal import ADMIN_KEY, SECRET_KEY

FOLDER = Path(__file__).parent / "journals"
REVISIONS = [path.stem for path in sorted(FOLDER.glob("*.sql"))]
# The first and the last line of an export describe the export: its time and its writers.
_ABOUT_ROWS = ('{"id":', '{"pegboard_writer":', '{"pegboard_head":')

Program = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def all_revisions(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Every revision that this code knows, the oldest first."""
    home = tmp_path_factory.mktemp("empty")
    (home / "pegboard.db").touch()
    code, out, _ = run_program("--json", "migrate", "--check", PEGBOARD_HOME=str(home))
    assert code == 1
    return list(json.loads(out)["pending"])


@pytest.fixture
def home(tmp_path: Path, revision: str) -> Path:
    """A home with the stored database of a revision."""
    connection = sqlite3.connect(tmp_path / "pegboard.db")
    # Nothing here has to survive a power failure.
    connection.execute("PRAGMA synchronous = OFF")
    connection.executescript((FOLDER / f"{revision}.sql").read_text(encoding="utf-8"))
    connection.close()
    return tmp_path


@pytest.fixture
def program(home: Path) -> Program:
    """The program on that home."""

    def run(*words: str) -> tuple[int, str, str]:
        keys = {"PEGBOARD_SECRET_KEY": SECRET_KEY, "PEGBOARD_ADMIN_KEY": ADMIN_KEY}
        return run_program(*words, PEGBOARD_HOME=str(home), **keys)

    return run


def lines_of(export: str) -> list[str]:
    """The lines of an export that are about rows."""
    return [line for line in export.splitlines() if line.startswith(_ABOUT_ROWS)]


def rows_of(lines: list[str]) -> list[dict[str, Any]]:
    """The rows of an export."""
    return [json.loads(line) for line in lines if line.startswith('{"id":')]


def without_columns(line: str, names: list[str]) -> str:
    """Return the line without these columns; unchanged if one of them has a value."""
    for name in names:
        line = line.replace(f',"{name}":null', "", 1)
    return line


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_stored_journal_verifies_after_the_migrations(
    program: Program, home: Path, revision: str, all_revisions: list[str]
) -> None:
    stored = FOLDER / f"{revision}.jsonl"
    expected = lines_of(stored.read_text(encoding="utf-8"))
    rows = rows_of(expected)
    chained = sum(row["mac"] is not None for row in rows)
    assert rows

    code, out, _ = program("--json", "migrate")
    assert (code, json.loads(out)["applied"]) == (0, [name for name in all_revisions if name > revision])
    code, out, _ = program("--local", "--json", "audit", "verify")
    assert (code, json.loads(out)["checked"], json.loads(out)["findings"]) == (0, chained, [])
    code, out, _ = program("--local", "audit", "export")
    assert code == 0
    found = lines_of(out)
    later = [name for name in rows_of(found)[0] if name not in rows[0]]
    assert [without_columns(line, later) for line in found] == expected
    code, out, _ = program("--local", "--json", "audit", "verify", "--file", str(stored), "--compare")
    assert (code, json.loads(out)["findings"]) == (0, [])

    if chained:
        with sqlite3.connect(home / "pegboard.db") as connection:
            connection.execute("UPDATE executions SET caller = 'eve' WHERE seq = 5")
        connection.close()
        code, out, _ = program("--local", "audit", "verify")
        assert code == 1
        assert "1 finding" in out


async def find_changes(board: Pegboard) -> list[TamperFinding]:
    """Verify the whole journal; one request may end before its end on a busy machine."""
    report = await board.audit.verify()
    findings = [*report.findings]
    while report.next is not None:
        report = await board.audit.verify(next=report.next)
        findings += report.findings
    return findings


@pytest.mark.parametrize("revision", [REVISIONS[-1]])
async def test_a_change_of_any_column_of_a_row_is_found(home: Path) -> None:
    connection = sqlite3.connect(home / "pegboard.db")
    columns = [str(name) for _, name, *_ in connection.execute("PRAGMA table_info(executions)")]
    settings = NoSettings(home=home, secret_key=SECRET_KEY, admin_key=ADMIN_KEY)
    unnoticed = []
    async with Pegboard.open(settings=settings) as board:
        assert not await find_changes(board)
        for column in columns:
            where = f"rowid = (SELECT min(rowid) FROM executions WHERE {column} IS NOT NULL)"
            ((row, value),) = connection.execute(f"SELECT rowid, {column} FROM executions WHERE {where}").fetchall()
            changed = value + 1000 if isinstance(value, int | float) else _changed(str(value))
            assert changed != value
            _set(connection, column, changed, row)
            if not await find_changes(board):
                unnoticed.append(column)
            _set(connection, column, value, row)
        assert not await find_changes(board)
    connection.close()
    assert unnoticed == []


def test_every_revision_has_a_stored_journal(all_revisions: list[str]) -> None:
    # The first one was not the newest revision of any commit.
    missing = set(all_revisions) - {"0001_board"} - set(REVISIONS)
    how = "PYTHONPATH=src python tests/golden/record_journal.py tests/golden/journals"
    assert not missing, f"record a journal of the newest revision with `{how}`, and commit it"


def test_the_stored_journals_have_rows_of_every_kind() -> None:
    lines = lines_of((FOLDER / f"{REVISIONS[-1]}.jsonl").read_text(encoding="utf-8"))
    rows = rows_of(lines)
    assert {row["status"] for row in rows} == {"succeeded", "failed", "refused", "in_doubt"}
    assert {row["surface"] for row in rows} == {"library", "rest", "cli"}
    assert [name for name in rows[0] if not any(row[name] is not None for row in rows)] == []
    assert any(line.startswith('{"pegboard_writer":') for line in lines), "no chain with removed rows"


def _set(connection: sqlite3.Connection, column: str, value: object, row: int) -> None:
    with connection:
        connection.execute(f"UPDATE executions SET {column} = ? WHERE rowid = ?", (value, row))


def _changed(text: str) -> str:
    """Return another text of the same form, so that the column can still be read."""
    return re.sub(r"[0-9A-Za-z]", lambda match: "7" if match[0] != "7" else "3", text, count=1)
