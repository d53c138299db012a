"""Settings: from the code, then the environment, then the file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from pegboard import Settings
from pegboard.model.tool import RateLimit
from pegboard.settings import InvalidSettings
from pegboard.testing import NoSettings

KEY = "a-key-for-tests-0123456789"


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, and no settings in the environment."""
    for name in os.environ:
        if name.startswith("PEGBOARD_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PEGBOARD_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_anything_it_is_sqlite_in_home_on_loopback(nowhere: Path) -> None:
    settings = Settings()
    assert settings.home == nowhere / "home"
    assert settings.database == f"sqlite:///{nowhere}/home/pegboard.db"
    assert (settings.host, settings.port) == ("127.0.0.1", 8080)
    assert settings.credentials_file == nowhere / "home" / "credentials"
    assert settings.key_file == nowhere / "home" / "secret.key"
    assert (settings.max_arguments_bytes, settings.max_depth, settings.max_result_bytes) == (2**20, 64, 2**20)


def test_the_code_wins_over_the_environment_and_that_over_the_file(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (nowhere / "pegboard.toml").write_text('port = 1\nhost = "file"\nlog_level = "debug"\n')
    monkeypatch.setenv("PEGBOARD_HOST", "environment")
    monkeypatch.setenv("PEGBOARD_LOG_LEVEL", "warning")
    settings = Settings(log_level="error")
    assert (settings.port, settings.host, settings.log_level) == (1, "environment", "error")


def test_the_file_of_the_working_folder_wins_over_that_in_home(nowhere: Path) -> None:
    (nowhere / "home").mkdir()
    (nowhere / "home" / "pegboard.toml").write_text('port = 1\nhost = "home"\n')
    assert Settings().port == 1
    (nowhere / "pegboard.toml").write_text("port = 2\n")
    assert (Settings().port, Settings().host) == (2, "home")


def test_empty_variables_are_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATABASE_URL", "ADMIN_KEY", "SECRET_KEY", "PORT", "REDIS_URL"):
        monkeypatch.setenv(f"PEGBOARD_{name}", "")
    settings = Settings()
    assert (settings.database_url, settings.admin_key, settings.port) == (None, None, 8080)


def test_a_limit_is_written_as_json_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEGBOARD_KEY_RATE", '{"max_calls": 5, "period": "second"}')
    assert Settings().key_rate == RateLimit(max_calls=5, period="second")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("PORT", "70000", "must be at most 65535, but received '70000'"),
        ("PORT", "many", "must be an integer, but received 'many'"),
        ("LOG_LEVEL", "loud", "must be one of: 'debug', 'info', 'warning' or 'error', but received 'loud'"),
        ("MAX_DEPTH", "1000", "must be at most 200, but received '1000'"),
        ("MAX_BODY_BYTES", "1", "must be at least 1024, but received '1'"),
        ("ADMIN_KEY", "short", "must be at least 16 printable ASCII characters without spaces"),
        ("ADMIN_KEY", "a key with spaces in it", "must be at least 16 printable ASCII characters without spaces"),
        ("ADMIN_KEY", "clé-non-ascii-0123456789", "must be at least 16 printable ASCII characters without spaces"),
        ("DRAIN_SECONDS", "-1", "must be at least 0, but received '-1'"),
        ("SHELL_FOR_MEMBERS", "maybe", "must be true or false, but received 'maybe'"),
        ("KEY_RATE", "5/min", 'must be JSON such as {"max_calls": 5, "period": "minute"}, but received \'5/min\''),
        ("KEY_RATE", "[]", "must be an object, but received []"),
        ("KEY_RATE", '{"max_calls": "x", "period": "hour"}', "max_calls: must be an integer, but received 'x'"),
        ("KEY_RATE", '{"max_calls": 5}', "period: required"),
        (
            "KEY_RATE",
            '{"max_calls": 5, "period": "hour", "burts": 1}',
            "burts: unknown key; did you mean 'burst'?",
        ),
    ],
)
def test_a_wrong_variable_is_refused_with_its_name_what_was_expected_and_received(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str
) -> None:
    monkeypatch.setenv(f"PEGBOARD_{name}", value)
    with pytest.raises(InvalidSettings) as refused:
        Settings()
    assert refused.value.faults == [f"PEGBOARD_{name}: {message}"]
    assert str(refused.value) == f"The settings are not valid: PEGBOARD_{name}: {message}"


def test_every_wrong_value_of_a_file_is_named_with_the_file_and_no_secret_is_shown(nowhere: Path) -> None:
    lines = ['port = "hush"', "key_rate = 3", "log_level = 7"]
    secrets = ["database_url = [1234567]", "admin_key = 1234567", "secret_key = 1234567", "redis_url = ['hush']"]
    (nowhere / "pegboard.toml").write_text("\n".join(lines))
    with pytest.raises(InvalidSettings) as refused:
        Settings()
    assert refused.value.faults == [
        "port in pegboard.toml: must be an integer, but received 'hush'",
        "log_level in pegboard.toml: must be one of: 'debug', 'info', 'warning' or 'error', but received 7",
        "key_rate in pegboard.toml: must be an object, but received 3",
    ]
    (nowhere / "pegboard.toml").write_text("\n".join(secrets))
    with pytest.raises(InvalidSettings) as refused:
        Settings()
    assert refused.value.faults == [
        "database_url in pegboard.toml: must be a string, but received an array",
        "redis_url in pegboard.toml: must be a string, but received an array",
        "admin_key in pegboard.toml: must be a string, but received a number",
        "secret_key in pegboard.toml: must be a string, but received a number",
    ]


def test_a_wrong_argument_is_named_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEGBOARD_PORT", "1")
    with pytest.raises(InvalidSettings, match=r"not valid: port: must be at most 65535, but received 70000"):
        Settings(port=70_000)
    with pytest.raises(InvalidSettings, match=r"not valid: port: must be at least 0, but received -1"):
        NoSettings(port=-1)


def test_a_misspelt_setting_in_the_file_is_refused_with_the_nearest(nowhere: Path) -> None:
    (nowhere / "pegboard.toml").write_text("prot = 1\n")
    with pytest.raises(ValueError, match="unknown setting 'prot'; did you mean 'port'"):
        Settings()


def test_secrets_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEGBOARD_ADMIN_KEY", KEY)
    monkeypatch.setenv("PEGBOARD_SECRET_KEY", "hush-secret")
    monkeypatch.setenv("PEGBOARD_REDIS_URL", "redis://:hush@localhost")
    monkeypatch.setenv("PEGBOARD_DATABASE_URL", "postgresql://u:hush@localhost/db")
    settings = Settings()
    assert "hush" not in repr(settings)
    assert KEY not in repr(settings)


def test_settings_do_not_change_once_made() -> None:
    with pytest.raises(ValidationError):
        Settings().port = 1  # type: ignore[misc]


def test_every_setting_is_described() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_a_line_of_the_file_that_means_nothing_is_named_with_the_nearest_setting(nowhere: Path) -> None:
    (nowhere / "pegboard.toml").write_text("prot = 9000\n")
    with pytest.raises(ValueError, match=r"unknown setting 'prot'; did you mean 'port'\?"):
        Settings()
