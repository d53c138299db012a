"""The public interface is as stored beside this file: the API, the command line, the settings, the log events."""

from __future__ import annotations

import difflib

import pytest

from tests.golden.snapshots import FOLDER, SNAPSHOTS


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_a_public_description_is_as_it_is_stored(name: str) -> None:
    stored = (FOLDER / name).read_text(encoding="utf-8")
    found = SNAPSHOTS[name]()
    if found != stored:
        lines = difflib.unified_diff(stored.splitlines(), found.splitlines(), f"stored {name}", "now", lineterm="", n=2)
        shown = "\n".join(list(lines)[:60])
        pytest.fail(
            f"{shown}\n\nIf the change is intended, write it with `python -m tests.golden` and review the diff."
        )


def test_the_snapshots_hold_what_is_public() -> None:
    api, commands, names = ((FOLDER / name).read_text(encoding="utf-8") for name in SNAPSHOTS)
    assert '"operationId"' in api
    assert "$ pegboard audit verify --help" in commands
    assert "PEGBOARD_PORT = 8080" in names
    assert "\ninfo journal_up\n" in names
    assert "\nwarning spooled\n" in names
