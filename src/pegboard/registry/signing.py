"""MACs of users and API keys: a row that this board did not write gives no rights."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar

import orjson

from pegboard.core.people import ApiKey, User
from pegboard.store import keys, users
from pegboard.store.database import Change
from pegboard.store.keyring import KeyringError
from pegboard.store.types import storable
from pegboard.store.vault import Vault
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# The name of a key that comes from the settings. Its owner chose it, so nothing of it is stored readable.
SET_KEY = "PEGBOARD_ADMIN_KEY"
_SHOWN_IDS = 10

Signed = TypeVar("Signed", User, ApiKey)


def hash_key(key: str) -> str:
    """The name of a key in memory; what is stored is `PeopleSigner.hash_of` this."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


class PeopleSigner:
    """Signs rows of users and API keys, and tells those that this board signed from others."""

    def __init__(self, vault: Vault) -> None:
        self._is_rooted = vault.is_rooted
        self._keyed = hmac.new(vault.derive("users and keys"), digestmod="sha256")
        self._hash_key = vault.derive("api key hashes")

    def hash_of(self, hashed: str) -> str:
        """The keyed hash that is stored of a key, made from `hash_key` of it."""
        return hashlib.blake2b(hashed.encode(), key=self._hash_key, digest_size=32).hexdigest()

    def sign(self, row: Signed, revision: int) -> Signed:
        """The row with its revision and MAC; KeyringError where the board does not have its encryption key."""
        self.check_root()
        row = replace(row, revision=revision)
        return replace(row, mac=self._mac(row))

    def check_root(self) -> None:
        """Raise KeyringError where the board does not have its encryption key, and so trusts no stored user."""
        if not self._is_rooted:
            raise KeyringError(
                "Users and keys cannot be used or changed: this board does not have the encryption key it was set up "
                "with; its operator sees why with: pegboard doctor"
            )

    def is_genuine(self, row: User | ApiKey) -> bool:
        """Whether this board wrote the row."""
        try:
            return hmac.compare_digest(self._mac(row).encode(), row.mac.encode())
        except (TypeError, ValueError, AttributeError):  # SQLite may hold values of any type
            return False

    def genuine(self, rows: Iterable[Signed]) -> tuple[list[Signed], list[Signed]]:
        """The rows that this board wrote, and the others, which are reported in the log."""
        good: list[Signed] = []
        bad: list[Signed] = []
        for row in rows:
            (good if self.is_genuine(row) else bad).append(row)
        if bad:
            ids = [str(row.id) for row in bad[:_SHOWN_IDS]]
            log.error("rows_not_genuine", table=_TABLES[type(bad[0])], count=len(bad), ids=ids)
        return good, bad

    def _mac(self, row: User | ApiKey) -> str:
        content: tuple[object, ...]
        if isinstance(row, User):
            content = ("user", row.id, storable(row.name), row.role, row.is_deleted, row.revision)
        else:
            moments = (_text(row.expires_at), _text(row.revoked_at))
            name = storable(row.name)
            content = ("key", row.id, row.user_id, name, row.key_hash, row.agent_id, *moments, row.revision)
            if row.created_by is not None:  # a key from before it was recorded keeps its MAC
                content = (*content, row.created_by)
        mac = self._keyed.copy()
        mac.update(orjson.dumps(content))
        return mac.hexdigest()


_TABLES = {User: "users", ApiKey: "api_keys"}


async def sign_all(change: Change, signer: PeopleSigner) -> None:
    """Sign every user and key of a database from before there were MACs, and replace plain hashes by keyed ones."""
    some_users = [signer.sign(user, change.revision) for user in await users.changed(change.conn, -1)]
    some_keys = [
        signer.sign(
            replace(key, key_hash=signer.hash_of(key.key_hash), prefix="" if key.name == SET_KEY else key.prefix),
            change.revision,
        )
        for key in await keys.changed(change.conn, -1)
    ]
    await users.save_all(change.conn, some_users)
    await keys.save_all(change.conn, some_keys)
    log.info("people_signed", users=len(some_users), keys=len(some_keys))


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat(" ", "microseconds")
