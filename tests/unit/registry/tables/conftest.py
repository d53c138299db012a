"""The file of tables, looked at often."""

from __future__ import annotations

import pytest

from pegboard.registry.tables import live


@pytest.fixture(autouse=True)
def changes_are_seen_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A board sees changes of the file and of its tables at once, which else is every few seconds."""
    monkeypatch.setattr(live, "POLL", 0.05)
    monkeypatch.setattr(live, "POLL_TABLES", 0.1)
