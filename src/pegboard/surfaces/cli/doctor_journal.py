"""Checks of what the journal keeps outside of the database."""

from __future__ import annotations

import os
from pathlib import Path

from pegboard.journal.spool import Spool, found
from pegboard.surfaces.cli.findings import Finding

_WHAT = "journal spool"


def examine_spools(folder: Path | None) -> list[Finding]:
    """Whether calls could be kept while the database is away, and whether any are still waiting."""
    if folder is None:
        return []
    place = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(place, os.W_OK | os.X_OK):
        advice = f"Let the server write there: chown it to the server's user, or chmod u+rwx {place}"
        return [Finding.bad(_WHAT, f"{place} cannot be written", advice)]
    damaged = sorted(folder.glob("*.damaged"))
    waiting = sum(_entries(path) for _, path in found(folder))
    if damaged:
        names = ", ".join(path.name for path in damaged)
        advice = "Every whole entry in it was recorded. Keep it if you must know what else was there, else remove it"
        return [Finding.warning(_WHAT, f"{folder} holds what was damaged: {names}", advice)]
    if waiting:
        advice = "The next start of a server records them: pegboard serve"
        return [Finding.warning(_WHAT, f"{waiting} calls wait in {folder} to be recorded", advice)]
    return [Finding.ok(_WHAT, f"{folder}, nothing waiting")]


def _entries(path: Path) -> int:
    """How many entries a dead writer left; a living one looks after its own."""
    spool = Spool.adopt(path)
    if spool is None:
        return 0
    try:
        return len(spool.read().entries)
    finally:
        spool.close(remove=False)
