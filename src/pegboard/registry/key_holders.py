"""The API keys and sessions in memory: their holders and last uses; writes the uses to the database."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from pegboard.model.accounts import Agent, ApiKey, User
from pegboard.model.api_errors import Unauthorised
from pegboard.model.call import Caller, Role
from pegboard.registry.account_macs import AccountSigner, hash_key
from pegboard.storage import account_rows
from pegboard.storage.database import Database
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# Sessions that ended earlier are forgotten.
_KEPT_SECONDS = 86_400
_USAGE_WRITE_SECONDS = 60.0
_LAST_WRITE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class _KeyHolder:
    caller: Caller
    expires: float | None


class KeyHolders:
    """Finds the holder of a key or a session; users and agents come from the snapshot."""

    def __init__(
        self,
        signer: AccountSigner,
        find_user: Callable[[str], User | None],
        find_agent: Callable[[str], Agent | None],
        session_idle_seconds: float,
    ) -> None:
        self._signer = signer
        self._find_user = find_user
        self._find_agent = find_agent
        self._session_idle_seconds = session_idle_seconds
        self._by_hash: dict[str, ApiKey] = {}
        self._by_id: dict[str, ApiKey] = {}
        # By the hash in memory; emptied at every change of users, keys and agents.
        self._holders: dict[str, _KeyHolder] = {}
        self._sessions: dict[str, _KeyHolder] = {}
        # Keys that exist only in this process.
        self._admitted: dict[str, _KeyHolder] = {}
        # When each key was last used in this process or, for sessions, in another one.
        self._last_used: dict[str, float] = {}

    def holder(self, key: str) -> Caller:
        """Return the caller who holds this key; raise Unauthorised if the key is unknown, revoked or expired.

        The message contains no more than the holder of the key may know.
        """
        hashed = hash_key(key)
        holder = self._holders.get(hashed) or self._admitted.get(hashed)
        if holder is None:
            holder = self._holders[hashed] = self._look_up(self._signer.compute_stored_hash(hashed))
        now = time.time()
        if holder.expires is not None and holder.expires <= now:
            raise Unauthorised("This key has expired; ask for a new one")
        if holder.caller.key_id is not None:
            self._last_used[holder.caller.key_id] = now
        return holder.caller

    def session_holder(self, token: str, *, is_use: bool = True) -> Caller:
        """Return the caller of a session; raise Unauthorised with the reason if it is over.

        A check of an open stream is no use of the session.
        """
        hashed = hash_key(token)
        holder = self._sessions.get(hashed)
        if holder is None:
            holder = self._sessions[hashed] = self._look_up_session(self._signer.compute_stored_hash(hashed))
        key_id = holder.caller.key_id
        assert key_id is not None
        now = time.time()
        if holder.expires is not None and holder.expires <= now:
            raise Unauthorised("This session is over, because it has reached its longest duration; log in again")
        if self._last_used[key_id] + self._session_idle_seconds <= now:
            raise Unauthorised("This session is over, because it was not used for too long; log in again")
        if is_use:
            self._last_used[key_id] = now
        return holder.caller

    def admit(self, key: str, caller: Caller) -> None:
        """Accept a key that exists only in this process."""
        self._admitted[hash_key(key)] = _KeyHolder(caller, None)

    def apply(self, genuine: Iterable[ApiKey], others: Iterable[ApiKey]) -> None:
        """Take over changed rows; the others have no valid MAC and give no rights."""
        for key in others:
            self._remove(key)
        for key in genuine:
            self._remove(key)
            self._by_hash[key.key_hash] = self._by_id[key.id] = key
        kept = time.time() - _KEPT_SECONDS
        for key in [key for key in self._by_id.values() if key.kind == "session"]:
            if key.expires_at is None or key.expires_at.timestamp() <= kept:
                self._remove(key)
                self._last_used.pop(key.id, None)
        self.forget_holders()

    def forget_holders(self) -> None:
        """Look up every holder again, because users, keys or agents have changed."""
        self._holders.clear()
        self._sessions.clear()

    def find_valid(self, key_id: str) -> ApiKey | None:
        """Return the key of this id if it is accepted now, or None; sessions are no keys."""
        key = self._by_id.get(key_id)
        return key if key is not None and key.kind == "key" and self._is_valid(key) else None

    def list_valid_keys(self) -> Iterator[ApiKey]:
        """Return the stored keys that are accepted now, without sessions."""
        return (key for key in self._by_id.values() if key.kind == "key" and self._is_valid(key))

    def is_live_session(self, session: ApiKey) -> bool:
        """Return True if the session is accepted now."""
        parent = self._find_parent(session)
        is_idle = self._read_last_use(session) + self._session_idle_seconds <= time.time()
        return parent is not None and not is_idle and self._is_valid(session) and self._is_valid(parent)

    def has_sessions(self) -> bool:
        """Return True if there are sessions that are not over for a day."""
        return any(key.kind == "session" for key in self._by_id.values())

    def find_last_use(self, key: ApiKey) -> datetime | None:
        """Return when a key or session was last used as far as this process knows, in whole seconds."""
        known = self._last_used.get(key.id, 0)
        last = max(known, key.last_used_at.timestamp() if key.last_used_at is not None else 0)
        return datetime.fromtimestamp(int(last), UTC) if last else None

    def list_uses(self, since: float) -> dict[str, datetime]:
        """Return when each key was last used, of those used after `since`."""
        return {key_id: datetime.fromtimestamp(at, UTC) for key_id, at in self._last_used.items() if at > since}

    def merge_uses(self, uses: Mapping[str, datetime]) -> None:
        """Take over the uses of sessions in other processes."""
        for key_id, used_at in uses.items():
            self._last_used[key_id] = max(self._last_used.get(key_id, 0), used_at.timestamp())

    def _is_valid(self, key: ApiKey) -> bool:
        if key.revoked_at is not None or (key.expires_at is not None and key.expires_at.timestamp() <= time.time()):
            return False
        has_user = self._find_user(key.user_id) is not None
        return has_user and (key.agent_id is None or self._find_agent(key.agent_id) is not None)

    def _read_last_use(self, session: ApiKey) -> float:
        stored = session.last_used_at or session.created_at
        return max(self._last_used.get(session.id, 0), stored.timestamp())

    def _find_parent(self, session: ApiKey) -> ApiKey | None:
        parent = self._by_id.get(session.parent_id or "")
        is_parent = parent is not None and parent.kind == "key" and parent.user_id == session.user_id
        return parent if is_parent else None

    def _remove(self, key: ApiKey) -> None:
        known = self._by_id.pop(key.id, None)
        self._by_hash.pop(key.key_hash, None)
        if known is not None:
            self._by_hash.pop(known.key_hash, None)

    def _look_up(self, hashed: str) -> _KeyHolder:
        key = self._by_hash.get(hashed)
        user = self._find_user(key.user_id) if key is not None else None
        if key is None or key.kind != "key" or user is None:
            raise Unauthorised("This key is not known here")
        if key.revoked_at is not None:
            raise Unauthorised("This key was revoked")
        if key.agent_id is not None and self._find_agent(key.agent_id) is None:
            raise Unauthorised("The agent of this key was removed; ask for a key of another agent")
        # A key of an agent only gives access to the agent's tools, even if its owner is an admin.
        role: Role = user.role if key.agent_id is None else "member"
        caller = Caller(user.id, user.name, role, key.id, key.agent_id)
        return _KeyHolder(caller, key.expires_at.timestamp() if key.expires_at else None)

    def _look_up_session(self, hashed: str) -> _KeyHolder:
        session = self._by_hash.get(hashed)
        user = self._find_user(session.user_id) if session is not None else None
        if session is None or session.kind != "session" or user is None:
            raise Unauthorised("This session is not known here; log in again")
        if session.revoked_at is not None:
            raise Unauthorised("This session was ended; log in again")
        parent = self._find_parent(session)
        if parent is None or parent.revoked_at is not None:
            raise Unauthorised("The key of this session was revoked; log in with another key")
        ends = [key.expires_at.timestamp() for key in (session, parent) if key.expires_at is not None]
        self._last_used[session.id] = self._read_last_use(session)
        return _KeyHolder(Caller(user.id, user.name, user.role, session.id, None, parent.id), min(ends, default=0))


class KeyUsage:
    """Writes the uses of keys from memory to the database; no call causes a write of its own."""

    def __init__(self, database: Database, keys: KeyHolders) -> None:
        self._database = database
        self._keys = keys
        self._written = 0.0

    async def record(self) -> None:
        """Write the uses since the last time, and read those of sessions by other processes."""
        now = time.time()
        uses = self._keys.list_uses(self._written)
        if uses:
            async with self._database.write() as conn:
                await account_rows.save_key_uses(conn, uses)
        self._written = now
        if self._keys.has_sessions():
            async with self._database.read() as conn:
                self._keys.merge_uses(await account_rows.list_session_uses(conn, datetime.now(UTC)))

    async def run(self) -> None:
        """Record uses every minute until cancelled; an error only delays it."""
        while True:
            await asyncio.sleep(_USAGE_WRITE_SECONDS)
            await self._try_to_record()

    async def close(self) -> None:
        """Record the last uses."""
        try:
            async with asyncio.timeout(_LAST_WRITE_SECONDS):
                await self._try_to_record()
        except TimeoutError:
            log.warning("key_uses_not_recorded", error="the database did not answer in time")

    async def _try_to_record(self) -> None:
        try:
            await self.record()
        except Exception as error:
            log.warning("key_uses_not_recorded", error=repr(error))
