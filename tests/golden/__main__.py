"""`python -m tests.golden` writes the snapshots again; review what changed before you commit it."""

from __future__ import annotations

from tests.golden.snapshots import FOLDER, SNAPSHOTS

for name, describe in SNAPSHOTS.items():
    (FOLDER / name).write_text(describe(), encoding="utf-8")
