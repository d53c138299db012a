"""A board whose encryption key is rotated: what is derived from its root key is unchanged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import SecretStr

from pegboard import Pegboard
from pegboard.testing import NoSettings


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'board.db'}"


async def calls_once(url: str, settings: NoSettings) -> tuple[bool, int]:
    """Return whether the call with the key was a repeat, and how many findings the journal has after it."""
    async with Pegboard.open(url, settings=settings) as board:
        again = await board.call("echo", {"a": 1}, key="k")
        assert again.success
        return again.repeat_of is not None, len((await board.audit.verify()).findings)


async def test_the_chain_and_idempotency_keys_hold_on(url: str, tmp_path: Path) -> None:
    with_file = NoSettings(home=tmp_path / "home")
    assert await calls_once(url, with_file) == (False, 0)
    first_key = json.loads((tmp_path / "home" / "secret.key").read_text())["keys"][0]
    key = first_key if isinstance(first_key, str) else first_key["key"]
    with_environment = NoSettings(home=tmp_path / "elsewhere", secret_key=SecretStr(key))
    assert await calls_once(url, with_environment) == (True, 0)
    assert await calls_once(url, with_file) == (True, 0)


async def test_another_key_is_reported_and_verifies_nothing(
    url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert await calls_once(url, NoSettings(home=tmp_path / "home")) == (False, 0)
    other = NoSettings(home=tmp_path / "home", secret_key=SecretStr("A" * 43 + "="))
    repeated, findings = await calls_once(url, other)
    assert not repeated
    assert findings > 0
    assert "root_unreadable" in caplog.text
