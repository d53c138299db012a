"""Users, their keys and their agents."""

from __future__ import annotations

import secrets as random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from pegboard.core.call import Caller, Role
from pegboard.core.ids import new_id
from pegboard.core.people import Agent, ApiKey, User
from pegboard.core.refusals import Conflict, Fault, Invalid, NotFound
from pegboard.registry.pages import Page, an_id, cut, read_cursor
from pegboard.registry.registry import admins_only, refuse_agents
from pegboard.registry.signing import SET_KEY, PeopleSigner, hash_key
from pegboard.registry.snapshot import Snapshot
from pegboard.store import agents, keys, users
from pegboard.store.database import Change, Database
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

KEY_PREFIX = "pb_"
# The user that every board has from its first start on.
ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key at the only time it can be read."""

    row: ApiKey
    key: str = field(repr=False)


def mint_key() -> str:
    """A key with 256 bits of chance in it."""
    return KEY_PREFIX + random.token_urlsafe(32)


def key_row(key: str, user_id: str, name: str, now: datetime, signer: PeopleSigner) -> ApiKey:
    """What is stored of a key: a keyed hash, and the beginning of one that is random."""
    return ApiKey(new_id(), user_id, name, "" if name == SET_KEY else key[:8], signer.hash_of(hash_key(key)), now)


class People:
    """Changes who may use the board; the snapshot follows before the change is answered."""

    def __init__(self, database: Database, snapshot: Snapshot, signer: PeopleSigner) -> None:
        self._database = database
        self._snapshot = snapshot
        self._signer = signer

    async def create_user(self, name: str, role: Role, caller: Caller) -> User:
        """The new user; admins only."""
        admins_only(caller, "make users")
        async with self._database.change() as change:
            user = await add_user(change, name, role, self._signer)
        await self._snapshot.refresh()
        return user

    async def get_user(self, user_id: str, caller: Caller) -> User:
        """The user: oneself, or anybody for an admin."""
        user = self._snapshot.user(user_id)
        if user is None:
            self._signer.check_root()
        if user is None or not (caller.is_admin or caller.user_id == user_id):
            raise NotFound(f"User '{user_id}' not found")
        return user

    async def users(self, caller: Caller, *, cursor: str | None, limit: int) -> Page[User]:
        """All users, oldest first; admins only."""
        admins_only(caller, "list users")
        place = read_cursor(cursor, an_id)
        async with self._database.read() as conn:
            found = await users.page(conn, after=place[0] if place else None, limit=limit + 1)
        return cut(found, limit, [found[min(limit, len(found)) - 1].id] if found else None)

    async def remove_user(self, user_id: str, caller: Caller) -> User:
        """The user, gone with all their keys at once; their tools stay, for admins to see to."""
        admins_only(caller, "remove users")
        if user_id == caller.user_id:
            raise Conflict("An admin cannot remove themselves")
        async with self._database.change() as change:
            user = await users.get(change.conn, user_id)
            if user is None or user.is_deleted or not self._signer.is_genuine(user):
                raise NotFound(f"User '{user_id}' not found")
            if user.name.lower() == ADMIN:
                raise Conflict(f"'{user.name}' is the board's own admin, who owns the shipped tools, and stays")
            now = datetime.now(UTC)
            user = replace(user, is_deleted=True, deleted_at=now, updated_at=now)
            user = self._signer.sign(user, change.revision)
            await users.save(change.conn, user, revision=change.revision)
        await self._snapshot.refresh()
        return user

    async def create_key(
        self,
        user_id: str,
        caller: Caller,
        *,
        name: str = "",
        agent_id: str | None = None,
        expires_at: datetime | None = None,
    ) -> NewKey:
        """A new key of the user, perhaps bound to one of their agents; it is shown only once."""
        refuse_agents(caller)
        await self.get_user(user_id, caller)
        if expires_at is not None and expires_at <= datetime.now(UTC):
            raise Invalid.of("The key was not made", [Fault("expires_at", "must be in the future")])
        if agent_id is not None:
            agent = self._snapshot.agent(agent_id)
            if agent is None or agent.owner_id != user_id:
                raise Invalid.of("The key was not made", [Fault("agent_id", f"'{agent_id}' is no agent of this user")])
        key = mint_key()
        row = key_row(key, user_id, name, datetime.now(UTC), self._signer)
        row = replace(row, agent_id=agent_id, expires_at=expires_at, created_by=caller.user_id)
        async with self._database.change() as change:
            row = self._signer.sign(row, change.revision)
            await keys.add(change.conn, row, revision=change.revision)
        await self._snapshot.refresh()
        log.info("key_created", key_id=row.id, user_id=user_id, created_by=caller.user_id)
        return NewKey(row, key)

    def creator_of(self, key: ApiKey) -> str | None:
        """The name of the user who made the key, if that is known and they are still there."""
        user = self._snapshot.user(key.created_by) if key.created_by is not None else None
        return None if user is None else user.name

    async def keys(self, user_id: str, caller: Caller) -> list[ApiKey]:
        """The user's keys, revoked ones included, without what they open."""
        refuse_agents(caller)
        await self.get_user(user_id, caller)
        async with self._database.read() as conn:
            return await keys.of_user(conn, user_id)

    async def revoke_key(self, user_id: str, key_id: str, caller: Caller, *, force: bool = False) -> ApiKey:
        """The key, void from now on; the caller's own key and the last one of an admin only with `force`."""
        refuse_agents(caller)
        await self.get_user(user_id, caller)
        async with self._database.change() as change:
            key = await keys.get(change.conn, key_id)
            if key is None or key.user_id != user_id or not self._signer.is_genuine(key):
                raise NotFound(f"Key '{key_id}' not found")
            if key.revoked_at is None:
                now = datetime.now(UTC)
                if not force:
                    await self._refuse_lockout(change, key, caller, now)
                key = self._signer.sign(replace(key, revoked_at=now), change.revision)
                await keys.save(change.conn, key, revision=change.revision)
        await self._snapshot.refresh()
        return key

    async def _refuse_lockout(self, change: Change, key: ApiKey, caller: Caller, now: datetime) -> None:
        """Raise Conflict where the caller, or every admin, would be locked out without this key."""
        valid = [
            each.id
            for each in await keys.of_admins(change.conn, now)
            if self._signer.is_genuine(each) and self._snapshot.user(each.user_id) is not None
        ]
        if valid == [key.id]:
            what = "This is the last valid key of an admin; without it no admin can use the board over HTTP"
        elif key.id == caller.key_id:
            what = "You are using this key now; without it you are locked out, unless you have another one"
        else:
            return
        way_back = f"an admin gives you a new key with: pegboard keys create {caller.name}"
        if caller.is_admin:
            way_back = "on the machine of the board, run: pegboard --local keys create"
        raise Conflict(
            f"{what}. Revoke it all the same with force=true, or --yes on the command line. To get back: {way_back}"
        )

    async def create_agent(self, name: str, refs: Sequence[str], caller: Caller, description: str | None) -> Agent:
        """A new agent of the caller with these tools, given by id or name."""
        refuse_agents(caller)
        now = datetime.now(UTC)
        agent = Agent(new_id(), caller.user_id, name, self._tool_ids(refs, caller), now, now, description)
        async with self._database.change() as change:
            await _name_free(change, agent)
            await agents.add(change.conn, agent, revision=change.revision)
        await self._snapshot.refresh()
        return agent

    def get_agent(self, agent_id: str, caller: Caller) -> Agent:
        """The agent: one's own, or any for an admin; an agent's key sees its own agent."""
        return _visible(self._snapshot.agent(agent_id), agent_id, caller)

    async def agents(self, caller: Caller, *, cursor: str | None, limit: int) -> Page[Agent]:
        """The caller's agents, or everybody's for an admin, oldest first."""
        refuse_agents(caller)
        place = read_cursor(cursor, an_id)
        owner = None if caller.is_admin else caller.user_id
        async with self._database.read() as conn:
            found = await agents.page(conn, owner, after=place[0] if place else None, limit=limit + 1)
        return cut(found, limit, [found[min(limit, len(found)) - 1].id] if found else None)

    async def update_agent(
        self,
        agent_id: str,
        caller: Caller,
        *,
        name: str | None = None,
        refs: Sequence[str] | None = None,
        **more: str | None,
    ) -> Agent:
        """The changed agent; a name or tools that are None stay, and so does a `description` that is not given."""
        refuse_agents(caller)
        async with self._database.change() as change:
            before = await _agent_of(change, agent_id, caller)
            agent = replace(
                before,
                name=before.name if name is None else name,
                tools=before.tools if refs is None else self._tool_ids(refs, caller, before.tools),
                description=more.get("description", before.description),
                updated_at=datetime.now(UTC),
            )
            await _name_free(change, agent)
            await agents.save(change.conn, agent, revision=change.revision)
        await self._snapshot.refresh()
        return agent

    async def remove_agent(self, agent_id: str, caller: Caller) -> Agent:
        """The agent, removed; keys that are bound to it are void."""
        refuse_agents(caller)
        async with self._database.change() as change:
            now = datetime.now(UTC)
            agent = replace(await _agent_of(change, agent_id, caller), is_deleted=True, deleted_at=now, updated_at=now)
            await agents.save(change.conn, agent, revision=change.revision)
        await self._snapshot.refresh()
        return agent

    def _tool_ids(self, refs: Sequence[str], caller: Caller, already: Sequence[str] = ()) -> tuple[str, ...]:
        ids: dict[str, None] = {}
        faults = []
        for place, ref in enumerate(refs):
            peg = self._snapshot.find(ref)
            if ref.lower() in already:
                ids[ref.lower()] = None  # it may have been deleted since, or be hidden by now: it stays as it is
            elif peg is None or not self._snapshot.may_call(peg.tool, caller):
                faults.append(Fault(f"tools.{place}", f"Tool '{ref}' not found"))
            else:
                ids[peg.tool.id] = None
        if faults:
            raise Invalid.of("The agent cannot have these tools", faults)
        return tuple(ids)


async def add_user(change: Change, name: str, role: Role, signer: PeopleSigner) -> User:
    """A new user within this change."""
    if await users.named(change.conn, name) is not None:
        raise Conflict(f"A user named '{name}' exists already")
    now = datetime.now(UTC)
    user = signer.sign(User(new_id(), name, role, now, now), change.revision)
    await users.add(change.conn, user, revision=change.revision)
    return user


def _visible(agent: Agent | None, agent_id: str, caller: Caller) -> Agent:
    mine = agent is not None and agent.owner_id == caller.user_id and caller.agent_id in (None, agent.id)
    if agent is None or agent.is_deleted or not (caller.is_admin or mine):
        raise NotFound(f"Agent '{agent_id}' not found")
    return agent


async def _agent_of(change: Change, agent_id: str, caller: Caller) -> Agent:
    """The agent as it is within this change, so that two changes at once cannot undo each other."""
    return _visible(await agents.get(change.conn, agent_id), agent_id, caller)


async def _name_free(change: Change, agent: Agent) -> None:
    holder = await agents.named(change.conn, agent.owner_id, agent.name)
    if holder is not None and holder.id != agent.id:
        raise Conflict(f"An agent named '{agent.name}' exists already")
