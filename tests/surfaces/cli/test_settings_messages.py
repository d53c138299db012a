"""Settings that cannot be read are named by their variable, with what to write."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegboard.surfaces.cli.client import read_settings
from pegboard.surfaces.cli.failures import Usage


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("5/min", 'PEGBOARD_KEY_RATE is not JSON. Write {"max_calls": 5, "period": "minute"}'),
        ('{"max_calls": 5}', "PEGBOARD_KEY_RATE: 'period' is missing"),
        ('{"max_calls": "x", "period": "minute"}', "PEGBOARD_KEY_RATE: max_calls: must be an integer, but received"),
    ],
)
def test_a_setting_that_is_wrong_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str, words: str
) -> None:
    monkeypatch.setenv("PEGBOARD_HOME", str(tmp_path))
    monkeypatch.setenv("PEGBOARD_KEY_RATE", value)
    with pytest.raises(Usage) as caught:
        read_settings()
    assert words in "\n".join([str(caught.value), *getattr(caught.value, "lines", ())])


def test_a_file_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PEGBOARD_HOME", str(tmp_path))
    (tmp_path / "pegboard.toml").write_text("port == 3")
    with pytest.raises(Usage, match=f"{tmp_path}/pegboard.toml: Invalid value"):
        read_settings()
