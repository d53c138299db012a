"""The journal as a whole from the command line: verified, exported, pruned."""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
from pathlib import Path

import pytest

from tests.surfaces.cli.run_program import Program


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a board without a server, on which three calls were made."""
    home = tmp_path_factory.mktemp("recorded") / "home"
    for place in range(3):
        Program({"PEGBOARD_HOME": str(home)}).run("call", "echo", f"n={place}", "--local").done()
    return home


@pytest.fixture
def local(recorded: Path, tmp_path: Path) -> Program:
    """The program on a copy of that board."""
    shutil.copytree(recorded, tmp_path / "home")
    return Program({"PEGBOARD_HOME": str(tmp_path / "home")})


def tamper(program: Program, statement: str) -> None:
    with sqlite3.connect(Path(program.environment["PEGBOARD_HOME"]) / "pegboard.db") as connection:
        connection.execute(statement)
    connection.close()


class TestVerify:
    def test_a_sound_journal_ends_with_0(self, admin: Program) -> None:
        admin.run("call", "echo").done()
        ran = admin.start("audit", "verify").done()
        assert ran.out.startswith("checked ")
        assert ran.out.endswith(": nothing is wrong\n")
        assert admin.run("audit", "verify", "--json").done().json["findings"] == []

    def test_findings_are_named_and_end_with_1(self, local: Program) -> None:
        assert local.run("audit", "verify", "--local").done().out == "checked 3 rows: nothing is wrong\n"
        [first] = [item["id"] for item in local.run("audit", "list", "--local", "--json").done().json["items"]][-1:]
        tamper(local, "UPDATE executions SET caller = 'eve' WHERE writer = 1")
        tamper(local, "DELETE FROM executions WHERE writer = 3")
        ran = local.run("audit", "verify", "--local")
        assert (ran.code, ran.err) == (1, "")
        assert ran.out.splitlines() == [
            f"✗ Row 1 of writer 1, execution {first}, is not as the board wrote it",
            "✗ Row 1 of writer 3 is missing at the end: its signed head is row 1, its chain ends with row 0",
            "checked 2 rows: 2 findings",
        ]
        ran = local.run("audit", "verify", "--local", "--json")
        assert ran.code == 1
        assert [finding["kind"] for finding in ran.json["findings"]] == ["changed", "cut"]
        assert local.run("audit", "verify", "--local", "--writer", "2").code == 0
        assert local.run("audit", "verify", "--local", "--writer", "3", "--first", "1", "--last", "5").code == 1
        assert local.run("audit", "verify", "--local", "--writer", "1", "--since", "1h").code == 1

    def test_a_terminal_shows_how_far_it_is_and_a_pipe_does_not(self, admin: Program) -> None:
        assert "Verifying" in admin.on_terminal("audit", "verify")[1]
        assert admin.start("audit", "verify").done().err == ""

    def test_members_are_refused(self, member: Program) -> None:
        for words in (["verify"], ["export"], ["prune", "--before", "1d", "--yes"]):
            ran = member.run("audit", *words)
            assert ran.code == 1
            assert "Only admins may" in ran.err

    @pytest.mark.parametrize(
        "words",
        [
            ["--first", "1"],
            ["--last", "1"],
            ["--writer", "0"],
            ["--since", "yesterday"],
            ["--compare"],
            ["--file", "x", "--writer", "1"],
            ["--file", "there/is/no/such/file"],
        ],
        ids=" ".join,
    )
    def test_what_makes_no_sense_is_refused(self, admin: Program, words: list[str]) -> None:
        assert admin.run("audit", "verify", *words).code == 2


class TestExport:
    def test_an_export_verifies_by_itself_and_shows_that_it_was_changed(self, local: Program, tmp_path: Path) -> None:
        file = tmp_path / "journal.jsonl"
        ran = local.run("audit", "export", "--local", "--output", str(file)).done()
        assert (ran.out, ran.err) == ("", f"Wrote 3 rows to {file}\n")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert not file.with_name("journal.jsonl.partial").exists()
        checked = local.run("audit", "verify", "--local", "--file", str(file), "--compare").done()
        assert checked.out == "checked 3 rows: nothing is wrong\n"
        lines = file.read_text().splitlines()
        piped = local.run("audit", "verify", "--local", "--file", "-", stdin="\n".join([*lines[:2], *lines[3:]]) + "\n")
        assert piped.code == 1
        assert piped.out.splitlines() == [
            "✗ Row 1 of writer 1 is missing at the end: its signed head is row 1, its chain ends with row 0",
            "checked 2 rows: 1 finding",
        ]

    def test_standard_output_gets_json_lines_alone(self, admin: Program) -> None:
        admin.run("call", "echo", "sky=☂").done()
        ran = admin.start("audit", "export", PYTHONIOENCODING="ascii").done()
        lines = [json.loads(line) for line in ran.out.splitlines()]
        assert "pegboard_export" in lines[0]
        assert "pegboard_end" in lines[-1]
        assert ran.err == ""

    def test_many_pieces_are_assembled(self, admin: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for _ in range(3):
            admin.run("call", "echo").done()
        file = tmp_path / "journal.jsonl"
        admin.run("audit", "export", "-o", str(file)).done()
        monkeypatch.setattr("pegboard.surfaces.cli.audit_chain_commands.CHUNK_BYTES", 1)
        assert admin.run("audit", "verify", "--file", str(file)).done().out.endswith("nothing is wrong\n")

    def test_a_part_says_what_could_not_be_judged(self, local: Program, tmp_path: Path) -> None:
        file = tmp_path / "part.jsonl"
        local.run("audit", "export", "--local", "--until", "1h", "--output", str(file)).done()
        ran = local.run("audit", "verify", "--local", "--file", str(file)).done()
        assert ran.out == "checked 0 rows: nothing is wrong\n"
        assert ran.err.startswith("Note: The export holds a part of the journal")

    def test_a_file_that_cannot_be_written_is_named(self, admin: Program, tmp_path: Path) -> None:
        ran = admin.run("audit", "export", "--output", str(tmp_path / "no" / "such" / "folder"))
        assert ran.code == 2
        assert "No such file" in ran.err

    def test_what_is_no_export_is_refused(self, admin: Program, tmp_path: Path) -> None:
        file = tmp_path / "x"
        file.write_bytes(b"\xff\n")
        assert admin.run("audit", "verify", "--file", str(file)).code == 2
        for text in ("", "nonsense\n", "{}\n"):
            file.write_text(text)
            ran = admin.run("audit", "verify", "--file", str(file))
            assert ran.code == 1
            assert "no export of a journal" in ran.err


class TestPrune:
    def test_old_rows_go_and_the_rest_verifies(self, local: Program) -> None:
        assert local.run("audit", "prune", "--local", "--before", "1h", "--dry-run").done().out.startswith("0 rows ")
        planned = local.run("audit", "prune", "--local", "--before", "0s", "--dry-run", "--json").done().json
        assert planned == {"removed": 3}
        ran = local.run("audit", "prune", "--local", "--before", "0s", "--yes").done()
        assert ran.out.startswith("removed 3 rows that finished before ")
        checked = local.run("audit", "verify", "--local").done()
        assert (checked.out, checked.err) == ("checked 0 rows: nothing is wrong\n", "Note: 3 rows pruned\n")

    def test_a_user_is_asked_before_anything_goes(self, admin: Program) -> None:
        admin.run("call", "echo").done()
        ran = admin.start("audit", "prune", "--before", "0s")
        assert ran.code == 2
        assert "--yes" in ran.err
        assert admin.run("audit", "list", "--json").done().json["items"]

    def test_a_tampered_journal_is_pruned_only_by_force(self, local: Program) -> None:
        tamper(local, "UPDATE executions SET caller = 'eve' WHERE writer = 2")
        ran = local.run("audit", "prune", "--local", "--before", "0s", "--yes")
        assert ran.code == 1
        assert "Row 1 of writer 2" in ran.err
        assert "--force" in ran.err
        local.run("audit", "prune", "--local", "--before", "0s", "--yes", "--force").done()
        assert local.run("audit", "verify", "--local").code == 0

    def test_a_moment_must_be_one_and_in_the_past(self, admin: Program) -> None:
        assert admin.run("audit", "prune", "--before", "soon", "--yes").code == 2
        assert admin.run("audit", "prune", "--yes").code == 2
        ran = admin.run("audit", "prune", "--before", "2999-01-01", "--yes")
        assert ran.code == 1
        assert "future" in ran.err
