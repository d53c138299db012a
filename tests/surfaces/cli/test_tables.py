"""`pegboard tables`: the active file, a check of a file against its databases, and a file made from a database."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest
import yaml
from sqlalchemy import make_url

from tests.surfaces.cli.run_program import Program
from tests.table_databases import log_mood, make_mood_entries, run_sql, write_tables


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of either kind with a table of moods."""
    found = f"sqlite:///{tmp_path}/mood.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    anyio.run(make_mood_entries, found)
    return str(found)


@pytest.fixture
def file(tmp_path: Path, url: str) -> Path:
    """A tables file that fits its database."""
    return write_tables(tmp_path / "tables.json", log_mood(), database=url)


@pytest.fixture
def program(tmp_path: Path, file: Path) -> Program:
    """The program on the machine of a board that has that file, without a server."""
    return Program(
        {
            "PEGBOARD_HOME": str(tmp_path / "home"),
            "PEGBOARD_URL": "http://127.0.0.1:1",
            "PEGBOARD_TABLES": str(file),
        }
    )


def levels(findings: list[dict[str, str]]) -> list[str]:
    """The status of the doctor's findings about tables."""
    return [finding["level"] for finding in findings if finding["check"] == "tables"]


# list and reload


def test_the_tables_in_force_are_listed_and_what_keeps_one_from_serving(program: Program, file: Path, url: str) -> None:
    write_tables(file, log_mood(), log_mood(toolId="log-other", tableName="other_entries"), database=url)
    listed = program.start("--local", "tables", "list").done().out
    header, first, second, failure = listed.splitlines()
    assert header.split() == ["TOOL", "TABLE", "DATABASE", "STATUS", "PUBLIC"]
    assert first.split()[:2] == ["log-mood", "mood_entries"]
    assert (first.split()[3], second.split()[3]) == ("ok", "disabled")
    assert failure == "✗ log-other: Table 'other_entries' does not exist in database schema"
    assert program.start("--local", "tables", "reload", "--json").done().json["items"][0]["status"] == "ok"


def test_a_reload_of_a_broken_file_prints_every_fault_and_exits_1(program: Program, file: Path) -> None:
    write_tables(file, log_mood(tableNam="x"), log_mood(description=1))
    ran = program.start("--local", "tables", "reload")
    assert ran.code == 1
    assert "tables.0.tableNam" in ran.err
    assert "tables.1.description" in ran.err
    listed = program.start("--local", "tables", "list").done()
    _, header, faults = listed.err.partition("The tables file is invalid and not in use:\n")
    assert header
    assert faults.count("tables.0.tableNam: ") == 1


def test_without_a_file_the_list_says_where_to_name_one(tmp_path: Path) -> None:
    bare = Program({"PEGBOARD_HOME": str(tmp_path / "home")})
    assert "PEGBOARD_TABLES" in bare.start("--local", "tables", "list").done().err
    refused = bare.start("--local", "tables", "reload")
    assert refused.code == 1
    assert "PEGBOARD_TABLES" in refused.err


def test_an_export_leaves_the_tools_of_the_file_out(program: Program) -> None:
    assert "log-mood" in program.start("--local", "tools", "list").done().out
    assert program.start("--local", "export", "--format", "json").done().json == {"tools": []}


# check


def test_a_file_that_fits_its_databases_passes(program: Program, file: Path) -> None:
    assert program.run("tables", "check", str(file)).done().out == f"{file}: 1 table, 1 tool; no problems\n"
    assert program.run("tables", "check", "-", "--json", stdin=file.read_bytes()).done().json == {
        "file": "standard input",
        "tables": 1,
        "tools": 1,
        "findings": [],
    }


def test_every_finding_is_reported_with_file_and_path_and_exits_1(program: Program, file: Path, url: str) -> None:
    fields = [{"name": "mood", "dataType": "integer"}, {"name": "moood", "dataType": "text"}]
    missing = log_mood(toolId="log-other", tableName="other_entries")
    write_tables(file, log_mood(fields=fields), missing, database=url)
    ran = program.run("tables", "check", str(file))
    assert ran.code == 1
    lines = ran.out.splitlines()
    assert all(line.startswith(f"{file}: tables.") for line in lines)
    assert any("tables.0.fields.0 (log-mood): " in line and "dataType integer" in line for line in lines)
    assert any("tables.0.fields.1 (log-mood): " in line and "'moood'" in line for line in lines)
    assert any("'user_id'" in line and "must be filled in" in line for line in lines)
    assert lines[-1] == f"{file}: tables.1 (log-other): Table 'other_entries' does not exist in database schema"
    found = program.run("tables", "check", str(file), "--json")
    assert found.code == 1
    assert {one["code"] for one in found.json["findings"]} == {
        "type_mismatch",
        "column_not_found",
        "column_required",
        "table_not_found",
    }


def test_a_fault_of_the_file_names_the_tool_beside_the_path(program: Program, file: Path) -> None:
    write_tables(file, log_mood(), {"toolId": "log-other", "displayName": "x", "description": "x", "tableName": "x"})
    found = program.run("tables", "check", str(file))
    assert (found.code, found.out) == (1, f"{file}: tables.1.fields (log-other): required\n")
    (finding,) = program.run("tables", "check", str(file), "--json").json["findings"]
    assert (finding["path"], finding["tool_id"]) == ("tables.1.fields", "log-other")


def test_a_field_that_allows_more_than_its_column_is_a_finding(program: Program, file: Path, url: str) -> None:
    entry = log_mood()
    (notes,) = [field for field in entry["fields"] if field["name"] == "notes"]
    notes["maxLength"] = 501
    write_tables(file, entry, database=url)
    ran = program.run("tables", "check", str(file))
    assert ran.code == 1
    assert "Field 'notes' has maxLength 501, but its column takes 500" in ran.out


def test_an_empty_object_is_no_tables_file(program: Program) -> None:
    ran = program.run("tables", "check", "-", stdin=b"{}")
    assert (ran.code, ran.out) == (1, "standard input: tables: is required: the list of tables that become tools\n")


def test_faults_of_the_file_itself_are_findings(program: Program, file: Path) -> None:
    write_tables(file, log_mood(tableNam="x"), database={"env": "NO_SUCH_VARIABLE"})
    ran = program.run("tables", "check", str(file))
    assert (ran.code, "tables.0.tableNam" in ran.out) == (1, True)
    write_tables(file, log_mood(), database={"env": "NO_SUCH_VARIABLE"})
    assert "NO_SUCH_VARIABLE" in program.run("tables", "check", str(file)).out


@pytest.mark.parametrize("address", ["nonsense", "postgresql://nobody:not-a-secret@127.0.0.1:1/nowhere"])
def test_a_database_that_cannot_be_used_is_one_finding_however_many_tables_it_has(
    program: Program, file: Path, address: str
) -> None:
    write_tables(file, log_mood(), log_mood(toolId="log-two"), database=address)
    ran = program.run("tables", "check", str(file))
    assert ran.code == 1
    (line,) = ran.out.splitlines()
    assert line.startswith(f"{file}: database: ")
    assert "not-a-secret" not in ran.out + ran.err


def test_the_boards_own_tables_take_no_rows_and_a_board_in_memory_has_none_to_look_at(tmp_path: Path) -> None:
    fields = [{"name": "name", "dataType": "text"}]
    file = write_tables(tmp_path / "tables.json", log_mood(tableName="users", fields=fields))
    home = {"PEGBOARD_HOME": str(tmp_path / "home")}
    Program(home).start("--local", "tools", "list").done()
    own = Program(home).run("tables", "check", str(file))
    assert own.code == 1
    assert own.out == f"{file}: tables.0 (log-mood): Table 'users' takes no rows: it is the board's own\n"
    memory = Program({**home, "PEGBOARD_DATABASE_URL": "memory"}).run("tables", "check", str(file))
    assert memory.code == 1
    assert memory.out.startswith(f"{file}: database: not a database URL")


def test_a_file_that_is_not_there_is_a_usage_error(program: Program) -> None:
    assert program.run("tables", "check", "/no/such/file").code == 2


# init


def test_what_init_writes_is_passed_by_check(program: Program, url: str, tmp_path: Path) -> None:
    made = tmp_path / "made.yaml"
    ran = program.run("tables", "init", "--database", url, "-o", str(made)).done()
    assert f"Wrote 1 table to {made}" in ran.err
    document = yaml.safe_load(made.read_text(encoding="utf-8"))
    (table,) = document["tables"]
    assert table["toolId"] == "add-mood-entries"
    assert [field["name"] for field in table["fields"]] == ["user_id", "mood", "energy_level", "notes", "recorded_at"]
    program.run("tables", "check", str(made), PEGBOARD_TABLES_DATABASE=url).done()
    again = program.run("tables", "init", "--database", url, "-o", str(made))
    assert (again.code, "exists already" in again.err) == (2, True)


def test_init_writes_private_tools_whose_description_states_that_they_insert(postgres_url: str) -> None:
    statements = ("CREATE TABLE customers (name TEXT)", "COMMENT ON TABLE customers IS 'People who buy from us.'")
    anyio.run(run_sql, postgres_url, *statements)
    ran = Program().run("tables", "init", "--database", postgres_url).done()
    assert "  public: false  # true lets every user of the board call this tool\n" in ran.out
    (table,) = yaml.safe_load(ran.out)["tables"]
    assert (table["public"], table["description"]) == (
        False,
        "Insert a row into customers. People who buy from us.",
    )


def test_init_writes_json_of_the_tables_that_are_named(program: Program, url: str) -> None:
    anyio.run(run_sql, url, "CREATE TABLE notes (content VARCHAR(1000) NOT NULL, photo BYTEA)")
    ran = program.run("tables", "init", "--database", url, "notes", "--format", "json").done()
    assert [table["tableName"] for table in ran.json["tables"]] == ["notes"]


def test_the_tables_of_a_schema_are_written_with_it(postgres_url: str, tmp_path: Path) -> None:
    anyio.run(run_sql, postgres_url, "CREATE SCHEMA diary", 'CREATE TABLE diary."Day Notes" ("What?" text NOT NULL)')
    made = tmp_path / "made.json"
    Program().run("tables", "init", "--database", postgres_url, "--schema", "diary", "-o", str(made)).done()
    (table,) = json.loads(made.read_text(encoding="utf-8"))["tables"]
    assert (table["schema"], table["tableName"], table["toolId"]) == ("diary", "Day Notes", "add-day-notes")
    Program().run("tables", "check", str(made), PEGBOARD_TABLES_DATABASE=postgres_url).done()


def test_a_column_that_is_left_out_is_noted_in_the_file_and_on_standard_error(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/photos.db"
    anyio.run(run_sql, url, "CREATE TABLE photos (title TEXT NOT NULL, photo BLOB)")
    ran = Program().run("tables", "init", "--database", url).done()
    note = "photos: column photo is left out: no field fits its type BLOB"
    assert ran.out.splitlines()[0] == f"# {note}"
    assert note in ran.err
    assert yaml.safe_load(ran.out)["database"] == url


@pytest.mark.parametrize("is_option", [False, True])
def test_a_password_is_not_written(postgres_url: str, is_option: bool) -> None:
    anyio.run(make_mood_entries, postgres_url)
    url = make_url(postgres_url)
    password = str(url.password)
    if is_option:
        url = url._replace(password=None).update_query_dict({"password": password})
    ran = Program().run("tables", "init", "--database", url.render_as_string(hide_password=False)).done()
    assert yaml.safe_load(ran.out)["database"] == {"env": "PEGBOARD_TABLES_DATABASE"}
    assert "PEGBOARD_TABLES_DATABASE" in ran.err
    assert password not in ran.out + ran.err


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--database", "nonsense"], 2, "not a database URL"),
        (["--database", "postgresql://nobody@127.0.0.1:1/nowhere"], 3, "127.0.0.1"),
        ([], 2, "--database"),
    ],
)
def test_a_database_that_init_cannot_use_is_reported(words: list[str], code: int, says: str) -> None:
    ran = Program().run("tables", "init", *words)
    assert (ran.code, says in ran.err) == (code, True), ran.err


def test_a_table_that_is_not_there_is_reported_with_those_that_are(program: Program, url: str) -> None:
    ran = program.run("tables", "init", "--database", url, "moods")
    assert ran.code == 2
    assert "There is no table 'moods'; there are: mood_entries" in ran.err


def test_the_boards_own_tables_are_left_out_of_a_file_of_all(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/home/pegboard.db"
    program = Program({"PEGBOARD_HOME": str(tmp_path / "home")})
    program.run("migrate").done()
    refused = program.run("tables", "init", "--database", url)
    assert (refused.code, "no table that can become a tool" in refused.err) == (1, True)


# doctor


def test_the_doctor_looks_at_the_file_and_at_each_table(program: Program, file: Path, url: str) -> None:
    assert levels(program.run("doctor", "--json", "--local").json["findings"]) == ["ok"]
    write_tables(file, log_mood(), log_mood(toolId="log-other", tableName="other_entries"), database=url)
    ran = program.run("doctor", "--local")
    assert ran.code == 1
    assert f"✗ tables: {file}: tables.1 (log-other): Table 'other_entries' does not exist in database schema" in ran.out
    file.unlink()
    assert levels(program.run("doctor", "--json", "--local").json["findings"]) == ["bad"]
