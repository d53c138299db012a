"""`pegboard migrate` and `pegboard doctor`."""

from __future__ import annotations

import base64
import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.surfaces.cli.run_program import Outcome, Program


@pytest.fixture
def fresh(tmp_path: Path) -> Program:
    """The program on a machine that has no board yet and knows of no server."""
    return Program({"PEGBOARD_HOME": str(tmp_path / "home"), "PEGBOARD_URL": "http://127.0.0.1:1"})


@pytest.fixture(scope="module")
def set_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a board that was set up, to be copied."""
    folder = tmp_path_factory.mktemp("set_up") / "home"
    Program({"PEGBOARD_HOME": str(folder)}).start("--local", "secrets", "set", "TOKEN", "--stdin", stdin="x").done()
    return folder


@pytest.fixture
def home(fresh: Program, set_up: Path) -> Path:
    """The folder of a board with one secret."""
    folder = Path(fresh.environment["PEGBOARD_HOME"])
    shutil.copytree(set_up, folder)
    return folder


def levels(ran: Outcome) -> dict[str, str]:
    return {finding["check"]: finding["level"] for finding in ran.json["findings"]}


def test_migrate_makes_the_tables_and_then_has_nothing_to_do(fresh: Program) -> None:
    missing = fresh.run("migrate", "--check")
    assert missing.code == 1
    assert "There is no database yet" in missing.err
    assert not Path(fresh.environment["PEGBOARD_HOME"]).exists()
    first = fresh.start("migrate").done().out.splitlines()
    assert first[0] == "applied 0001_board"
    assert fresh.run("migrate").done().out == "up to date\n"
    assert fresh.run("migrate", "--check", "--json").done().json == {"pending": []}


def test_what_is_missing_is_named_and_exits_1(fresh: Program) -> None:
    folder = Path(fresh.environment["PEGBOARD_HOME"])
    folder.mkdir(mode=0o700)
    (folder / "pegboard.db").touch(0o600)
    ran = fresh.run("migrate", "--check")
    assert ran.code == 1
    assert "missing 0001_board" in ran.out
    assert levels(fresh.run("doctor", "--json"))["migrations"] == "bad"
    assert fresh.run("migrate", "--json").done().json["applied"][0] == "0001_board"


def test_a_database_of_a_later_version_is_left_alone(home: Path, fresh: Program) -> None:
    with sqlite3.connect(home / "pegboard.db") as database:
        database.execute("UPDATE alembic_version SET version_num = '9999_later'")
    database.close()
    ran = fresh.run("migrate")
    assert ran.code == 1
    assert "9999_later" in ran.err
    assert levels(fresh.run("doctor", "--json"))["migrations"] == "bad"


def test_a_database_that_is_none_or_not_there_is_distinguished(fresh: Program) -> None:
    assert fresh.run("migrate", PEGBOARD_DATABASE_URL="nonsense").code == 2
    ran = fresh.run("migrate", PEGBOARD_DATABASE_URL="postgresql://me:s3cr3t@127.0.0.1:1/board")
    assert ran.code == 3
    assert "s3cr3t" not in ran.err


def test_a_healthy_set_up_has_nothing_to_complain_about(admin: Program) -> None:
    ran = admin.start("doctor")
    assert ran.code == 0, ran.out
    assert all(line.startswith("✓ ") for line in ran.out.splitlines())
    found = levels(admin.run("doctor", "--json").done())
    assert set(found.values()) == {"ok"}
    assert found.keys() == {
        "python",
        "uvloop",
        "settings",
        "home",
        "credentials",
        "encryption key",
        "database",
        "migrations",
        "stored credentials",
        "journal spool",
        "sandbox landlock",
        "sandbox namespaces",
        "sandbox seccomp",
        "python libraries",
        "server",
        "key",
    }


def test_a_machine_without_a_board_is_informed_how_to_start_one(fresh: Program) -> None:
    ran = fresh.run("doctor")
    assert ran.code == 1
    assert "✗ server: " in ran.out
    assert "pegboard serve" in ran.out
    assert "! home: " in ran.out
    assert "! credentials: " in ran.out
    assert "! database: " in ran.out
    assert not Path(fresh.environment["PEGBOARD_HOME"]).exists()


def test_without_a_server_local_is_enough(home: Path, fresh: Program) -> None:
    found = levels(fresh.run("doctor", "--local", "--json").done())
    assert "server" not in found
    assert found["stored credentials"] == "ok"


def test_what_others_may_read_is_reported(home: Path, fresh: Program) -> None:
    home.chmod(0o755)
    (home / "credentials").chmod(0o644)
    (home / "secret.key").chmod(0o640)
    ran = fresh.run("doctor", "--local", "--json")
    found = levels(ran)
    assert ran.code == 1
    assert (found["home"], found["credentials"], found["encryption key"]) == ("warning", "bad", "bad")
    assert f"chmod 600 {home}/secret.key" in ran.out


@pytest.mark.parametrize("content", [None, "nonsense", "{}"])
def test_a_key_file_that_is_gone_or_damaged_is_reported(home: Path, fresh: Program, content: str | None) -> None:
    (home / "secret.key").unlink()
    if content is not None:
        (home / "secret.key").touch(0o600)
        (home / "secret.key").write_text(content)
    ran = fresh.run("doctor", "--local", "--json")
    assert ran.code == 1
    assert levels(ran)["encryption key"] == "bad"


def test_credentials_that_do_not_open_are_reported(home: Path, fresh: Program) -> None:
    assert "all 2 can be decrypted" in fresh.run("doctor", "--local").done().out
    with sqlite3.connect(home / "pegboard.db") as database:
        database.execute("UPDATE secrets SET sealed = replace(sealed, ':', ':0') WHERE sealed IS NOT NULL")
    database.close()
    ran = fresh.run("doctor", "--local", "--json")
    assert ran.code == 1
    assert levels(ran)["stored credentials"] == "bad"


def test_a_wrong_encryption_key_in_the_environment_is_reported(home: Path, fresh: Program) -> None:
    assert levels(fresh.run("doctor", "--local", "--json", PEGBOARD_SECRET_KEY="short"))["encryption key"] == "bad"
    other = base64.b64encode(b"k" * 32).decode()
    found = levels(fresh.run("doctor", "--local", "--json", PEGBOARD_SECRET_KEY=other))
    assert (found["encryption key"], found["stored credentials"]) == ("ok", "bad")


def test_a_key_that_the_server_does_not_know_is_reported(admin: Program) -> None:
    ran = admin.run("doctor", "--json", PEGBOARD_KEY="pb_unknown_0123456789")
    assert ran.code == 1
    assert levels(ran)["key"] == "bad"


@pytest.mark.parametrize(("key", "level"), [("k" * 31, "warning"), ("k" * 32, None)])
def test_a_short_admin_key_gets_a_warning(fresh: Program, key: str, level: str | None) -> None:
    ran = fresh.run("doctor", "--local", "--json", PEGBOARD_ADMIN_KEY=key)
    assert levels(ran).get("admin key") == level
    assert key not in ran.out


def test_settings_that_are_wrong_are_reported(fresh: Program) -> None:
    ran = fresh.run("doctor", PEGBOARD_PORT="many")
    assert ran.code == 1
    assert "PEGBOARD_PORT" in ran.out


def test_a_database_that_cannot_be_reached_is_reported(fresh: Program) -> None:
    url = "postgresql://me:s3cr3t@127.0.0.1:1/board"
    ran = fresh.run("doctor", "--local", "--json", PEGBOARD_DATABASE_URL=url)
    assert levels(ran)["database"] == "bad"
    assert "s3cr3t" not in ran.out


def test_valkey_is_checked_if_it_is_set(fresh: Program, valkey_url: str) -> None:
    assert levels(fresh.run("doctor", "--json", PEGBOARD_REDIS_URL=valkey_url))["redis"] == "ok"
    assert levels(fresh.run("doctor", "--json", PEGBOARD_REDIS_URL="redis://127.0.0.1:1"))["redis"] == "bad"
    assert levels(fresh.run("doctor", "--json", PEGBOARD_REDIS_URL="nonsense"))["redis"] == "bad"
    assert "redis" not in levels(fresh.run("doctor", "--json"))
