"""Errors of invalid settings name the variable and its allowed values."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from pegboard.settings import describe_unknown_variables
from pegboard.surfaces.cli.exit_codes import UsageError
from pegboard.surfaces.cli.session import read_settings
from tests.fork_server import forked_command
from tests.surfaces.cli.run_program import Program


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("5/min", 'PEGBOARD_KEY_RATE: must be JSON such as {"max_calls": 5, "period": "minute"}, but received'),
        ('{"max_calls": 5}', "PEGBOARD_KEY_RATE: period: required"),
        ('{"max_calls": "x", "period": "minute"}', "PEGBOARD_KEY_RATE: max_calls: must be an integer, but received"),
    ],
)
def test_a_setting_that_is_wrong_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str, words: str
) -> None:
    monkeypatch.setenv("PEGBOARD_HOME", str(tmp_path))
    monkeypatch.setenv("PEGBOARD_KEY_RATE", value)
    with pytest.raises(UsageError) as caught:
        read_settings()
    assert words in "\n".join([str(caught.value), *getattr(caught.value, "lines", ())])


def test_a_file_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PEGBOARD_HOME", str(tmp_path))
    (tmp_path / "pegboard.toml").write_text("port == 3")
    with pytest.raises(UsageError, match=f"{tmp_path}/pegboard.toml: Invalid value"):
        read_settings()


def test_an_unknown_variable_is_named_with_the_nearest_setting() -> None:
    found = describe_unknown_variables({"PEGBOARD_PORTT": "1", "PEGBOARD_PORT": "1", "PEGBOARD_URL": "x", "PATH": "x"})
    assert found == ["PEGBOARD_PORTT is not a setting and is ignored; did you mean PEGBOARD_PORT?"]


def test_a_server_warns_of_an_unknown_variable(tmp_path: Path) -> None:
    environment = {"PEGBOARD_HOME": str(tmp_path), "PEGBOARD_PORTT": "1"}
    process = subprocess.Popen(
        forked_command("pegboard", "serve", "--port", "0"),
        env=Program(environment).full_environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            assert any("Warning: PEGBOARD_PORTT is not a setting" in line for line in process.stdout)
        finally:
            process.kill()


def test_a_database_that_does_not_exist_is_named_without_words_of_sqlalchemy(postgres_url: str) -> None:
    url = re.sub(r"/[^/?]+(?=\?|$)", "/no_such_database", postgres_url)
    ran = Program({"PEGBOARD_DATABASE_URL": url}).start("serve", "--port", "0")
    assert ran.code == 2
    assert 'database "no_such_database" does not exist' in ran.err
    assert "sqlalche" not in ran.err
