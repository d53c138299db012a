"""A tables file that is polled often."""

from __future__ import annotations

import pytest

from pegboard.kinds.table import file_watcher


@pytest.fixture(autouse=True)
def changes_are_seen_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a board check for changes of the file and of its tools often instead of every few seconds."""
    monkeypatch.setattr(file_watcher, "FILE_POLL_SECONDS", 0.05)
    monkeypatch.setattr(file_watcher, "TABLE_POLL_SECONDS", 0.1)
