"""Settings: from the code, then the environment, then the file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from pegboard import Settings
from pegboard.core.tool import RateLimit

KEY = "a-key-for-tests-0123456789"


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, and nothing of the board in the environment."""
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
    ("name", "value"),
    [
        ("PORT", "70000"),
        ("PORT", "many"),
        ("LOG_LEVEL", "loud"),
        ("MAX_DEPTH", "1000"),
        ("MAX_BODY_BYTES", "1"),
        ("ADMIN_KEY", "short"),
        ("ADMIN_KEY", "a key with spaces in it"),
        ("ADMIN_KEY", "clé-non-ascii-0123456789"),
        ("DRAIN_SECONDS", "-1"),
    ],
)
def test_a_wrong_value_is_refused_by_name_and_not_shown(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"PEGBOARD_{name}", value)
    with pytest.raises(ValidationError) as refused:
        Settings()
    assert name.lower() in str(refused.value)
    if name == "ADMIN_KEY":
        assert value not in str(refused.value)


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
