"""Encrypting every stored credential with a new key, while the board is in use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pegboard.core.errors import SecretUnreadable
from pegboard.registry.sealing import map_sealed
from pegboard.store import secrets
from pegboard.store.database import Database
from pegboard.store.keyring import Key, KeyringError
from pegboard.store.secrets import SealedRow
from pegboard.store.vault import Vault

# Passes over the rows before giving up; more than three mean that somebody still encrypts with an old key.
_PASSES = 20
# Rows that are read at once: kept answers may be large.
_BATCH = 50


@dataclass(frozen=True, slots=True)
class Skipped:
    """A row with a value that could not be opened, and therefore stays as it is."""

    table: str
    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class RotationReport:
    """What a rotation did: values encrypted anew, those that could not be, and how many there are in all."""

    key_id: str
    sealed: int
    skipped: tuple[Skipped, ...]
    total: int
    finished: bool
    """Whether the old keys are out of use; if not, `note` says why, and rotating again goes on from here."""
    note: str | None = None
    """What a person should know or do next."""


@dataclass(slots=True)
class _Pass:
    """One look at every row."""

    sealed: int = 0
    overtaken: int = 0
    total: int = 0
    skipped: list[Skipped] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """Whether nothing that can be opened was found under an old key."""
        return not self.sealed and not self.overtaken


async def rotate(
    database: Database,
    vault: Vault,
    *,
    on_progress: Callable[[int, int], None] | None = None,
    batch: int = _BATCH,
    grace: float = 1.0,
    force: bool = False,
) -> RotationReport:
    """Encrypt every credential with a new key and drop the old ones; killed anywhere, running it again goes on.

    Servers on the same database and key file may serve and write meanwhile. `grace` is the longest time in seconds that
    one of them takes from sealing a value to committing it, where it does not seal within the change itself.
    Values that cannot be opened stay as they are and keep the old keys in place, unless `force` gives them up.
    `on_progress` gets the values encrypted so far and the values looked at in the present pass.
    """
    key = await asyncio.to_thread(vault.keyring.begin_rotation)
    sealed = 0
    settled = False
    for _ in range(_PASSES):
        seen = await _one_pass(database, vault, batch, sealed, on_progress)
        sealed += seen.sealed
        if not seen.clean:
            settled = False
        elif settled:
            return await _finish(vault, key, sealed, seen, force=force)
        else:
            # Changes come one after another: behind this empty one, all that began before the new key have ended.
            async with database.change():
                pass
            await asyncio.sleep(grace)
            settled = True
    note = "The old keys are kept: another process still encrypts with one of them. Restart it, then rotate again"
    return RotationReport(key.id, sealed, tuple(seen.skipped), seen.total, finished=False, note=note)


async def _one_pass(
    database: Database, vault: Vault, batch: int, before: int, on_progress: Callable[[int, int], None] | None
) -> _Pass:
    seen = _Pass()
    last: SealedRow | None = None
    while True:
        async with database.read() as conn:
            rows = await secrets.sealed(conn, after=last, limit=batch)
        if not rows:
            return seen
        for row in rows:
            await _one_row(database, vault, row, seen)
            if on_progress is not None:
                on_progress(before + seen.sealed, seen.total)
        last = rows[-1]


async def _one_row(database: Database, vault: Vault, row: SealedRow, seen: _Pass) -> None:
    changed = 0

    def reseal(text: str) -> str:
        nonlocal changed
        seen.total += 1
        if not vault.needs_rotation(text):
            return text
        try:
            fresh = vault.reseal(text, row.subject)
        except SecretUnreadable as error:
            seen.skipped.append(Skipped(row.table, row.id, error.message))
            return text
        changed += 1
        return fresh

    value = _changed(row, reseal)
    if not changed:
        return
    if await _replaced(database, row, value):
        seen.sealed += changed
    else:
        seen.overtaken += 1


async def _replaced(database: Database, row: SealedRow, value: Any) -> bool:
    if row.table == "intents":  # a kept answer is nothing that other processes have to hear of
        async with database.write() as conn:
            return await secrets.replace(conn, row, value)
    async with database.change() as change:
        return await secrets.replace(change.conn, row, value, revision=change.revision)


def _changed(row: SealedRow, reseal: Callable[[str], str]) -> Any:
    if row.table in ("secrets", "intents"):
        return reseal(row.value)
    config, auth = map_sealed(row.value.get("config") or {}, row.value.get("sealed_auth"), reseal)
    return {**row.value, "config": config, "sealed_auth": auth}


async def _finish(vault: Vault, key: Key, sealed: int, seen: _Pass, *, force: bool) -> RotationReport:
    finished, note = False, None
    if seen.skipped and not force:
        note = (
            f"The old keys are kept: {len(seen.skipped)} stored values cannot be opened. "
            "Restore them, set them anew, or rotate with force to give them up"
        )
    else:
        try:
            note = await asyncio.to_thread(vault.keyring.finish_rotation, key)
            finished = True
        except KeyringError as error:
            note = f"The old keys are kept: {error}. Rotate again"
    return RotationReport(key.id, sealed, tuple(seen.skipped), seen.total, finished=finished, note=note)
