"""MACs of users and API keys. A row whose MAC does not verify gives no rights."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar

import orjson

from pegboard.model.accounts import ApiKey, User
from pegboard.model.json_text import replace_unstorable
from pegboard.storage import account_rows
from pegboard.storage.database import Change
from pegboard.storage.keyring import KeyringError
from pegboard.storage.vault import Vault
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# Name of the API key row whose key comes from the settings. The operator chose that key, so no prefix of it is stored.
ADMIN_KEY_VARIABLE = "PEGBOARD_ADMIN_KEY"
_MAX_LOGGED_IDS = 10

Signed = TypeVar("Signed", User, ApiKey)


def hash_key(key: str) -> str:
    """Return the SHA-256 of a key, used in memory; the database has `AccountSigner.compute_stored_hash` of it."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


class AccountSigner:
    """Signs rows of users and API keys, and verifies the MACs of stored rows."""

    def __init__(self, vault: Vault) -> None:
        self._is_rooted = vault.is_rooted
        self._keyed = hmac.new(vault.derive("users and keys"), digestmod="sha256")
        self._hash_key = vault.derive("api key hashes")

    def compute_stored_hash(self, hashed: str) -> str:
        """Return the keyed hash that is stored for a key, computed from its `hash_key`."""
        return hashlib.blake2b(hashed.encode(), key=self._hash_key, digest_size=32).hexdigest()

    def sign(self, row: Signed, revision: int) -> Signed:
        """Return the row with its revision and MAC; raise KeyringError if the encryption key is missing."""
        self.check_root()
        row = replace(row, revision=revision)
        return replace(row, mac=self._mac(row))

    def check_root(self) -> None:
        """Raise KeyringError if the encryption key is missing, so that stored users and keys cannot be verified."""
        if not self._is_rooted:
            raise KeyringError(
                "Users and keys cannot be used or changed: this board does not have the encryption key it was set up "
                "with; its operator sees why with: pegboard doctor"
            )

    def is_genuine(self, row: User | ApiKey) -> bool:
        """Return True if the row's MAC is valid, so that this board wrote the row."""
        try:
            return hmac.compare_digest(self._mac(row).encode(), row.mac.encode())
        except (TypeError, ValueError, AttributeError):  # SQLite may store values of any type
            return False

    def split_genuine(self, rows: Iterable[Signed]) -> tuple[list[Signed], list[Signed]]:
        """Return the rows with a valid MAC and the other rows; the latter are logged as an error."""
        good: list[Signed] = []
        bad: list[Signed] = []
        for row in rows:
            (good if self.is_genuine(row) else bad).append(row)
        if bad:
            ids = [str(row.id) for row in bad[:_MAX_LOGGED_IDS]]
            log.error("rows_not_genuine", table=_TABLES[type(bad[0])], count=len(bad), ids=ids)
        return good, bad

    def _mac(self, row: User | ApiKey) -> str:
        content: tuple[object, ...]
        if isinstance(row, User):
            content = ("user", row.id, replace_unstorable(row.name), row.role, row.is_deleted, row.revision)
        else:
            moments = (_format_moment(row.expires_at), _format_moment(row.revoked_at))
            name = replace_unstorable(row.name)
            content = ("key", row.id, row.user_id, name, row.key_hash, row.agent_id, *moments, row.revision)
            if row.kind != "key":
                content = (row.kind, *content[1:], row.created_by, row.parent_id)
            elif row.created_by is not None:  # keys from before this column was added keep their MAC
                content = (*content, row.created_by)
        mac = self._keyed.copy()
        mac.update(orjson.dumps(content))
        return mac.hexdigest()


_TABLES = {User: "users", ApiKey: "api_keys"}


async def sign_all_accounts(change: Change, signer: AccountSigner) -> None:
    """Sign every user and key of a database that has no MACs yet, and replace plain key hashes by keyed hashes."""
    some_users = [signer.sign(user, change.revision) for user in await account_rows.users.list_changed(change.conn, -1)]
    some_keys = [
        signer.sign(
            replace(
                key,
                key_hash=signer.compute_stored_hash(key.key_hash),
                prefix="" if key.name == ADMIN_KEY_VARIABLE else key.prefix,
            ),
            change.revision,
        )
        for key in await account_rows.keys.list_changed(change.conn, -1)
    ]
    await account_rows.users.save_all(change.conn, some_users)
    await account_rows.keys.save_all(change.conn, some_keys)
    log.info("people_signed", users=len(some_users), keys=len(some_keys))


def _format_moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat(" ", "microseconds")
