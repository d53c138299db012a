"""Key rotation: encrypt every stored credential with a new key while the board is in use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pegboard.model.call_errors import SecretUnreadable
from pegboard.registry.secret_fields import map_sealed
from pegboard.storage import sealed_rows
from pegboard.storage.database import Database
from pegboard.storage.keyring import Key, KeyringError
from pegboard.storage.sealed_rows import SealedRow
from pegboard.storage.vault import Vault

# More than three passes mean that another process still encrypts with an old key.
_MAX_PASSES = 20
# Rows per read; recorded results can be large.
_BATCH_ROWS = 50


@dataclass(frozen=True, slots=True)
class UnreadableRow:
    """A row with a value that could not be decrypted and is left unchanged."""

    table: str
    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class RotationReport:
    """The result of a rotation: the number of re-encrypted values, the unreadable values, and the total."""

    key_id: str
    sealed: int
    skipped: tuple[UnreadableRow, ...]
    total: int
    finished: bool
    """True if the old keys are out of use; if not, `note` has the reason, and another rotation continues."""
    note: str | None = None
    """A message for the operator."""


@dataclass(slots=True)
class _RotationPass:
    """The counts of one pass over all rows."""

    sealed: int = 0
    overtaken: int = 0
    total: int = 0
    skipped: list[UnreadableRow] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """True if the pass found no decryptable value under an old key."""
        return not self.sealed and not self.overtaken


async def rotate_keys(
    database: Database,
    vault: Vault,
    *,
    on_progress: Callable[[int, int], None] | None = None,
    batch: int = _BATCH_ROWS,
    grace: float = 1.0,
    force: bool = False,
) -> RotationReport:
    """Encrypt every credential with a new key and drop the old keys; if it is interrupted, another run continues it.

    Servers on the same database and key file may serve and write during the rotation. `grace` is the longest time in
    seconds between sealing a value and committing it in a server that does not seal within the transaction. Values that
    cannot be decrypted stay unchanged and keep the old keys in place, unless `force` gives them up. `on_progress` is
    called with the number of values encrypted so far and of values read in the current pass.
    """
    key = await asyncio.to_thread(vault.keyring.begin_rotation)
    sealed = 0
    settled = False
    for _ in range(_MAX_PASSES):
        seen = await _run_pass(database, vault, batch, sealed, on_progress)
        sealed += seen.sealed
        if not seen.is_clean:
            settled = False
        elif settled:
            return await _finish_rotation(vault, key, sealed, seen, force=force)
        else:
            # Changes are serialised: when this empty one commits, all changes that began before the new key have ended.
            async with database.change():
                pass
            await asyncio.sleep(grace)
            settled = True
    note = "The old keys are kept: another process still encrypts with one of them. Restart it, then rotate again"
    return RotationReport(key.id, sealed, tuple(seen.skipped), seen.total, finished=False, note=note)


async def _run_pass(
    database: Database, vault: Vault, batch: int, before: int, on_progress: Callable[[int, int], None] | None
) -> _RotationPass:
    seen = _RotationPass()
    last: SealedRow | None = None
    while True:
        async with database.read() as conn:
            rows = await sealed_rows.list_sealed_rows(conn, after=last, limit=batch)
        if not rows:
            return seen
        for row in rows:
            await _reseal_row(database, vault, row, seen)
            if on_progress is not None:
                on_progress(before + seen.sealed, seen.total)
        last = rows[-1]


async def _reseal_row(database: Database, vault: Vault, row: SealedRow, seen: _RotationPass) -> None:
    changed = 0

    def reseal(text: str) -> str:
        nonlocal changed
        seen.total += 1
        if not vault.needs_rotation(text):
            return text
        try:
            fresh = vault.reseal(text, row.subject)
        except SecretUnreadable as error:
            seen.skipped.append(UnreadableRow(row.table, row.id, error.message))
            return text
        changed += 1
        return fresh

    value = map_sealed_texts(row, reseal)
    if not changed:
        return
    if await _replace_value(database, row, value):
        seen.sealed += changed
    else:
        seen.overtaken += 1


async def _replace_value(database: Database, row: SealedRow, value: Any) -> bool:
    if row.table == "intents":  # no new revision: other processes do not cache recorded results
        async with database.write() as conn:
            return await sealed_rows.replace_sealed_value(conn, row, value)
    async with database.change() as change:
        return await sealed_rows.replace_sealed_value(change.conn, row, value, revision=change.revision)


def map_sealed_texts(row: SealedRow, reseal: Callable[[str], str]) -> Any:
    """Return the value of a row with `reseal` applied to every sealed text in it."""
    if row.table in ("secrets", "intents"):
        return reseal(row.value)
    config, auth = map_sealed(row.value.get("config") or {}, row.value.get("sealed_auth"), reseal)
    return {**row.value, "config": config, "sealed_auth": auth}


async def _finish_rotation(vault: Vault, key: Key, sealed: int, seen: _RotationPass, *, force: bool) -> RotationReport:
    finished, note = False, None
    if seen.skipped and not force:
        note = (
            f"The old keys are kept: {len(seen.skipped)} stored values cannot be opened. "
            "Restore them, set them again, or rotate with force to give them up"
        )
    else:
        try:
            note = await asyncio.to_thread(vault.keyring.finish_rotation, key)
            finished = True
        except KeyringError as error:
            note = f"The old keys are kept: {error}. Rotate again"
    return RotationReport(key.id, sealed, tuple(seen.skipped), seen.total, finished=finished, note=note)
