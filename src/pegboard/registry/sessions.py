"""Sessions of the web console: log in with a key or a one-time code, list and end sessions."""

from __future__ import annotations

import secrets as random
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from pegboard.model.accounts import ApiKey, KeyKind, refuse_agents
from pegboard.model.api_errors import Forbidden, NotFound, Unauthorised
from pegboard.model.call import Caller
from pegboard.model.ids import new_id
from pegboard.registry.account_macs import AccountSigner, hash_key
from pegboard.registry.snapshot import Snapshot
from pegboard.storage import account_rows
from pegboard.storage.database import Change, Database
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

CODE_SECONDS = 60
# A user who logs in once more loses the oldest session.
MAX_SESSIONS_PER_USER = 50
_PREFIXES: dict[KeyKind, str] = {"session": "pbs_", "code": "pbc_"}
_MAX_CLIENT_LENGTH = 255


@dataclass(frozen=True, slots=True)
class NewSession:
    """A new session or code: its row and the token itself, which is not stored."""

    row: ApiKey
    token: str = field(repr=False)


class Sessions:
    """Creates and ends sessions; each is a row of the keys table with the key that it was made with as its parent."""

    def __init__(self, database: Database, snapshot: Snapshot, signer: AccountSigner, lifetime_seconds: int) -> None:
        self._database = database
        self._snapshot = snapshot
        self._signer = signer
        self._lifetime = timedelta(seconds=lifetime_seconds)

    async def create_code(self, caller: Caller) -> NewSession:
        """Return a code that logs in once, within a minute; raise Forbidden if the caller has no key for it."""
        refuse_agents(caller)
        if caller.is_session:
            raise Forbidden("A code is made with a key, not with a session; log in with the key itself")
        parent = self._find_parent(caller.key_id)
        now = datetime.now(UTC)
        code = self._build("code", parent, now + timedelta(seconds=CODE_SECONDS), "", now)
        # No new revision: no process needs the code in memory.
        row = self._signer.sign(code.row, 0)
        async with self._database.write() as conn:
            await account_rows.delete_expired_codes(conn, now)
            await account_rows.keys.add(conn, row, revision=0)
        return replace(code, row=row)

    async def log_in_with_key(self, key: str, client: str = "") -> NewSession:
        """Create a session; raise Unauthorised if the key is not valid, Forbidden if it is bound to an agent."""
        caller = self._snapshot.holder(key)
        if caller.agent_id is not None:
            raise Forbidden("This key is bound to an agent and can only call its tools; log in with a key of a user")
        parent = self._find_parent(caller.key_id)
        async with self._database.change() as change:
            session = await self._add_session(change, parent, client)
        return await self._announce(session)

    async def log_in_with_code(self, code: str, client: str = "") -> NewSession:
        """Create a session and use up the code; raise Unauthorised if it was used, has expired or is unknown."""
        self._signer.check_root()
        unknown = Unauthorised(
            f"This code is not valid: it works once, within {CODE_SECONDS} seconds. Print a new address with: "
            "pegboard console --print"
        )
        async with self._database.read() as conn:  # guesses cause no write
            row = await account_rows.find_key_by_hash(conn, self._signer.compute_stored_hash(hash_key(code)))
        now = datetime.now(UTC)
        if row is None or row.kind != "code" or not self._signer.is_genuine(row):
            raise unknown
        if row.expires_at is None or row.expires_at <= now:
            raise unknown
        async with self._database.change() as change:
            if not await account_rows.delete_code(change.conn, row.id):
                raise unknown
            session = await self._add_session(change, self._find_parent(row.parent_id), client)
        return await self._announce(session)

    async def list_own(self, caller: Caller) -> list[ApiKey]:
        """Return the caller's sessions that are not over, oldest first."""
        refuse_agents(caller)
        async with self._database.read() as conn:
            rows = await account_rows.list_live_sessions(conn, caller.user_id, datetime.now(UTC))
        keys = self._snapshot.keys
        return [
            replace(row, last_used_at=keys.find_last_use(row))
            for row in rows
            if self._signer.is_genuine(row) and keys.is_live_session(row)
        ]

    async def end(self, session_id: str, caller: Caller) -> None:
        """End a session of the caller; raise NotFound if there is none of this id."""
        refuse_agents(caller)
        async with self._database.change() as change:
            row = await account_rows.keys.get(change.conn, session_id)
            is_own = row is not None and row.kind == "session" and row.user_id == caller.user_id
            if row is None or not is_own or not self._signer.is_genuine(row):
                raise NotFound(f"Session '{session_id[:100]}' not found")
            if row.revoked_at is None:
                await self._revoke(change, row)
        await self._snapshot.refresh()
        log.info("session_ended", session_id=row.id, user_id=row.user_id)

    def _find_parent(self, key_id: str | None) -> ApiKey:
        """Return the valid key of this id; raise Unauthorised if it is not one."""
        self._signer.check_root()
        key = self._snapshot.keys.find_valid(key_id) if key_id is not None else None
        if key is not None and key.agent_id is None:
            return key
        raise Unauthorised("This key is not stored on this board, or is no longer valid; use another one")

    async def _add_session(self, change: Change, parent: ApiKey, client: str) -> NewSession:
        now = datetime.now(UTC)
        ends = now + self._lifetime if parent.expires_at is None else min(now + self._lifetime, parent.expires_at)
        session = self._build("session", parent, ends, client, now)
        live = await account_rows.list_live_sessions(change.conn, parent.user_id, now)
        for row in live[: max(0, len(live) + 1 - MAX_SESSIONS_PER_USER)]:
            if self._signer.is_genuine(row):
                await self._revoke(change, row)
        row = self._signer.sign(session.row, change.revision)
        await account_rows.keys.add(change.conn, row, revision=change.revision)
        return replace(session, row=row)

    async def _revoke(self, change: Change, session: ApiKey) -> None:
        revoked = self._signer.sign(replace(session, revoked_at=datetime.now(UTC)), change.revision)
        await account_rows.keys.save(change.conn, revoked, revision=change.revision)

    async def _announce(self, session: NewSession) -> NewSession:
        await self._snapshot.refresh()
        row = session.row
        log.info("session_created", session_id=row.id, user_id=row.user_id, key_id=row.parent_id)
        return session

    def _build(self, kind: KeyKind, parent: ApiKey, ends: datetime, client: str, now: datetime) -> NewSession:
        token = _PREFIXES[kind] + random.token_urlsafe(32)
        name = "".join(letter for letter in client if letter.isprintable())[:_MAX_CLIENT_LENGTH]
        hashed = self._signer.compute_stored_hash(hash_key(token))
        row = ApiKey(
            new_id(),
            parent.user_id,
            name,
            "",
            hashed,
            now,
            expires_at=ends,
            created_by=parent.user_id,
            kind=kind,
            parent_id=parent.id,
        )
        return NewSession(row, token)
