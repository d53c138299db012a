"""Create, change, list and remove users, their API keys and their agents."""

from __future__ import annotations

import secrets as random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from pegboard.model.accounts import Agent, ApiKey, User, refuse_agents, require_admin
from pegboard.model.api_errors import Conflict, Fault, Invalid, NotFound
from pegboard.model.call import Caller, Role
from pegboard.model.ids import new_id
from pegboard.model.page import Page, cut_page, read_id_cursor
from pegboard.registry.account_macs import ADMIN_KEY_VARIABLE, AccountSigner, hash_key
from pegboard.registry.snapshot import Snapshot
from pegboard.storage import account_rows
from pegboard.storage.database import Change, Database
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

KEY_PREFIX = "pb_"
# The user that the first start creates on every board.
ADMIN_NAME = "admin"


@dataclass(frozen=True, slots=True)
class NewKey:
    """A new API key: its row and the key itself, which is not stored and cannot be read again."""

    row: ApiKey
    key: str = field(repr=False)


def generate_key() -> str:
    """Return a new key with 256 random bits."""
    return KEY_PREFIX + random.token_urlsafe(32)


def build_key_row(key: str, user_id: str, name: str, now: datetime, signer: AccountSigner) -> ApiKey:
    """Return the row of a key: its keyed hash, and its first 8 characters unless the key comes from the settings."""
    prefix = "" if name == ADMIN_KEY_VARIABLE else key[:8]
    return ApiKey(new_id(), user_id, name, prefix, signer.compute_stored_hash(hash_key(key)), now)


class AccountsService:
    """Changes users, keys and agents in the database; the snapshot is refreshed before a method returns."""

    def __init__(self, database: Database, snapshot: Snapshot, signer: AccountSigner) -> None:
        self._database = database
        self._snapshot = snapshot
        self._signer = signer

    async def create_user(self, name: str, role: Role, caller: Caller) -> User:
        """Create a user and return it; raise Forbidden unless the caller is an admin."""
        require_admin(caller, "make users")
        async with self._database.change() as change:
            user = await create_user_in_change(change, name, role, self._signer)
        await self._snapshot.refresh()
        return user

    async def get_user(self, user_id: str, caller: Caller) -> User:
        """Return the user if it is the caller or the caller is an admin; otherwise raise NotFound."""
        user = self._snapshot.user(user_id)
        if user is None:
            self._signer.check_root()
        if user is None or not (caller.is_admin or caller.user_id == user_id):
            raise NotFound(f"User '{user_id}' not found")
        return user

    async def users(self, caller: Caller, *, cursor: str | None, limit: int) -> Page[User]:
        """Return one page of all users, oldest first; raise Forbidden unless the caller is an admin."""
        require_admin(caller, "list users")
        after = read_id_cursor(cursor)
        async with self._database.read() as conn:
            found = await account_rows.users.page(conn, after=after, limit=limit + 1)
        return cut_page(found, limit, lambda user: [user.id])

    async def update_user(
        self,
        user_id: str,
        caller: Caller,
        *,
        name: str | None = None,
        role: Role | None = None,
        read_at: datetime | None = None,
    ) -> User:
        """Rename the user or change their role, and return them; None leaves a field unchanged.

        Raises Forbidden unless the caller is an admin, NotFound if there is no such user, and Conflict if the name is
        taken, if `read_at` is not the time of their last change, for the last admin, and for the name and role of the
        board's own admin.
        """
        require_admin(caller, "change users")
        async with self._database.change() as change:
            before = await account_rows.users.get(change.conn, user_id)
            if before is None or before.is_deleted or not self._signer.is_genuine(before):
                raise NotFound(f"User '{user_id}' not found")
            if read_at not in (None, before.updated_at):
                raise Conflict(f"'{before.name}' was changed meanwhile; read the user again before you change them")
            user = replace(before, name=name or before.name, role=role or before.role, updated_at=datetime.now(UTC))
            if (user.name, user.role) == (before.name, before.role):
                return before
            if before.name.lower() == ADMIN_NAME:
                raise Conflict(f"'{before.name}' is the board's own admin and keeps this name and role")
            if before.role == "admin" and user.role != "admin" and self._is_last_admin(user_id):
                raise Conflict(
                    f"'{before.name}' is the last admin who has a valid key; make another user an admin first"
                )
            holder = await account_rows.find_user_by_name(change.conn, user.name)
            if holder is not None and holder.id != user_id:
                raise Conflict(f"A user named '{user.name}' exists already")
            user = self._signer.sign(user, change.revision)
            await account_rows.users.save(change.conn, user, revision=change.revision)
        await self._snapshot.refresh()
        log.info("user_changed", user_id=user_id, role=user.role, changed_by=caller.user_id)
        return user

    def _is_last_admin(self, user_id: str) -> bool:
        """Return True if no other admin has a valid key of their own."""
        owners = {key.user_id for key in self._snapshot.keys.list_valid_keys() if key.agent_id is None}
        others = (user for user in self._snapshot.list_users() if user.role == "admin" and user.id != user_id)
        return not any(user.id in owners for user in others)

    async def remove_user(self, user_id: str, caller: Caller) -> User:
        """Mark the user as deleted, which invalidates all their keys, and return it. Their tools stay.

        Raises Forbidden unless the caller is an admin, NotFound if there is no such user, and Conflict for the caller
        and the board's own admin.
        """
        require_admin(caller, "remove users")
        if user_id == caller.user_id:
            raise Conflict("Admins cannot remove their own user")
        async with self._database.change() as change:
            user = await account_rows.users.get(change.conn, user_id)
            if user is None or user.is_deleted or not self._signer.is_genuine(user):
                raise NotFound(f"User '{user_id}' not found")
            if user.name.lower() == ADMIN_NAME:
                raise Conflict(f"'{user.name}' is the board's own admin, who owns the shipped tools, and stays")
            now = datetime.now(UTC)
            user = replace(user, is_deleted=True, deleted_at=now, updated_at=now)
            user = self._signer.sign(user, change.revision)
            await account_rows.users.save(change.conn, user, revision=change.revision)
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
        """Create a key of the user, optionally bound to one of their agents, and return it with its row."""
        refuse_agents(caller)
        await self.get_user(user_id, caller)
        if expires_at is not None and expires_at <= datetime.now(UTC):
            raise Invalid.of("The key was not made", [Fault("expires_at", "must be in the future")])
        if agent_id is not None:
            agent = self._snapshot.agent(agent_id)
            if agent is None or agent.owner_id != user_id:
                raise Invalid.of("The key was not made", [Fault("agent_id", f"'{agent_id}' is no agent of this user")])
        key = generate_key()
        row = build_key_row(key, user_id, name, datetime.now(UTC), self._signer)
        row = replace(row, agent_id=agent_id, expires_at=expires_at, created_by=caller.user_id)
        async with self._database.change() as change:
            row = self._signer.sign(row, change.revision)
            await account_rows.keys.add(change.conn, row, revision=change.revision)
        await self._snapshot.refresh()
        log.info("key_created", key_id=row.id, user_id=user_id, created_by=caller.user_id)
        return NewKey(row, key)

    def find_creator(self, key: ApiKey) -> str | None:
        """Return the name of the user who created the key, or None if it is not recorded or the user was removed."""
        user = self._snapshot.user(key.created_by) if key.created_by is not None else None
        return None if user is None else user.name

    async def keys(self, user_id: str, caller: Caller) -> list[ApiKey]:
        """Return the rows of the user's keys, including revoked ones, without sessions."""
        refuse_agents(caller)
        await self.get_user(user_id, caller)
        async with self._database.read() as conn:
            rows = await account_rows.list_user_keys(conn, user_id)
        return [replace(row, last_used_at=self._snapshot.keys.find_last_use(row)) for row in rows]

    async def revoke_key(self, user_id: str, key_id: str, caller: Caller, *, force: bool = False) -> ApiKey:
        """Revoke the key and return its row; the caller's own key and the last valid key of an admin need `force`."""
        refuse_agents(caller)
        await self.get_user(user_id, caller)
        async with self._database.change() as change:
            key = await account_rows.keys.get(change.conn, key_id)
            is_theirs = key is not None and key.kind == "key" and key.user_id == user_id
            if key is None or not is_theirs or not self._signer.is_genuine(key):
                raise NotFound(f"Key '{key_id}' not found")
            if key.revoked_at is None:
                now = datetime.now(UTC)
                if not force:
                    await self._refuse_lockout(change, key, caller, now)
                key = self._signer.sign(replace(key, revoked_at=now), change.revision)
                await account_rows.keys.save(change.conn, key, revision=change.revision)
        await self._snapshot.refresh()
        return key

    async def _refuse_lockout(self, change: Change, key: ApiKey, caller: Caller, now: datetime) -> None:
        """Raise Conflict if revoking this key locks out the caller or all admins."""
        valid = [
            each.id
            for each in await account_rows.list_admin_keys(change.conn, now)
            if self._signer.is_genuine(each) and self._snapshot.user(each.user_id) is not None
        ]
        if valid == [key.id]:
            what = "This is the last valid key of an admin; without it no admin can use the board over HTTP"
        elif key.id in (caller.key_id, caller.parent_key_id):
            what = "You are using this key now; without it you are locked out, unless you have another one"
        else:
            return
        way_back = f"an admin gives you a new key with: pegboard keys create {caller.name}"
        if caller.is_admin:
            way_back = "on the machine of the board, run: pegboard --local keys create"
        raise Conflict(
            f"{what}. Revoke it anyway with force=true, or --yes on the command line. To get back: {way_back}"
        )

    async def create_agent(self, name: str, refs: Sequence[str], caller: Caller, description: str | None) -> Agent:
        """Create an agent of the caller with these tools, given by id or name."""
        refuse_agents(caller)
        now = datetime.now(UTC)
        agent = Agent(new_id(), caller.user_id, name, self._tool_ids(refs, caller), now, now, description)
        async with self._database.change() as change:
            await _check_name_free(change, agent)
            await account_rows.agents.add(change.conn, agent, revision=change.revision)
        await self._snapshot.refresh()
        return agent

    def get_agent(self, agent_id: str, caller: Caller) -> Agent:
        """Return the agent if the caller may see it; otherwise raise NotFound.

        Owners see their agents, admins all agents, and a key that is bound to an agent only that agent.
        """
        return _check_agent_visible(self._snapshot.agent(agent_id), agent_id, caller)

    def find_agent(self, ref: str, caller: Caller) -> Agent:
        """Return the agent of this id or name if the caller may see it; otherwise raise NotFound."""
        named = self._snapshot.agent(ref)
        if named is None and caller.agent_id is not None:
            own = self._snapshot.agent(caller.agent_id)
            named = own if own is not None and own.name.lower() == ref.lower() else None
        elif named is None:
            named = self._snapshot.find_agent_by_name(ref, caller)
        return _check_agent_visible(named, ref, caller)

    async def agents(self, caller: Caller, *, cursor: str | None, limit: int) -> Page[Agent]:
        """Return one page of the caller's agents, or of all agents for an admin, oldest first."""
        refuse_agents(caller)
        after = read_id_cursor(cursor)
        owner = None if caller.is_admin else caller.user_id
        async with self._database.read() as conn:
            found = await account_rows.agents.page(conn, owner, after=after, limit=limit + 1)
        return cut_page(found, limit, lambda agent: [agent.id])

    async def update_agent(
        self,
        agent_id: str,
        caller: Caller,
        *,
        name: str | None = None,
        refs: Sequence[str] | None = None,
        **more: str | None,
    ) -> Agent:
        """Update the agent and return it; `name` and `refs` stay if they are None, `description` if it is not given."""
        refuse_agents(caller)
        async with self._database.change() as change:
            before = await _get_agent_in_change(change, agent_id, caller)
            agent = replace(
                before,
                name=before.name if name is None else name,
                tools=before.tools if refs is None else self._tool_ids(refs, caller, before.tools),
                description=more.get("description", before.description),
                updated_at=datetime.now(UTC),
            )
            await _check_name_free(change, agent)
            await account_rows.agents.save(change.conn, agent, revision=change.revision)
        await self._snapshot.refresh()
        return agent

    async def remove_agent(self, agent_id: str, caller: Caller) -> Agent:
        """Mark the agent as deleted and return it; keys that are bound to it become invalid."""
        refuse_agents(caller)
        async with self._database.change() as change:
            now = datetime.now(UTC)
            agent = replace(
                await _get_agent_in_change(change, agent_id, caller), is_deleted=True, deleted_at=now, updated_at=now
            )
            await account_rows.agents.save(change.conn, agent, revision=change.revision)
        await self._snapshot.refresh()
        return agent

    def _tool_ids(self, refs: Sequence[str], caller: Caller, already: Sequence[str] = ()) -> tuple[str, ...]:
        ids: dict[str, None] = {}
        faults = []
        for place, ref in enumerate(refs):
            compiled = self._snapshot.find(ref)
            if ref.lower() in already:
                ids[ref.lower()] = None  # keep it even if the tool was deleted or hidden since
            elif compiled is None or not self._snapshot.may_call(compiled.tool, caller):
                faults.append(Fault(f"tools.{place}", f"Tool '{ref}' not found"))
            else:
                ids[compiled.tool.id] = None
        if faults:
            raise Invalid.of("The agent cannot have these tools", faults)
        return tuple(ids)


async def create_user_in_change(change: Change, name: str, role: Role, signer: AccountSigner) -> User:
    """Create a user in this transaction; raise Conflict if the name is taken."""
    if await account_rows.find_user_by_name(change.conn, name) is not None:
        raise Conflict(f"A user named '{name}' exists already")
    now = datetime.now(UTC)
    user = signer.sign(User(new_id(), name, role, now, now), change.revision)
    await account_rows.users.add(change.conn, user, revision=change.revision)
    return user


def _check_agent_visible(agent: Agent | None, agent_id: str, caller: Caller) -> Agent:
    mine = agent is not None and agent.owner_id == caller.user_id and caller.agent_id in (None, agent.id)
    if agent is None or agent.is_deleted or not (caller.is_admin or mine):
        raise NotFound(f"Agent '{agent_id}' not found")
    return agent


async def _get_agent_in_change(change: Change, agent_id: str, caller: Caller) -> Agent:
    """Return the agent as read in this transaction, so that concurrent changes do not overwrite each other."""
    return _check_agent_visible(await account_rows.agents.get(change.conn, agent_id), agent_id, caller)


async def _check_name_free(change: Change, agent: Agent) -> None:
    holder = await account_rows.find_agent_by_name(change.conn, agent.owner_id, agent.name)
    if holder is not None and holder.id != agent.id:
        raise Conflict(f"An agent named '{agent.name}' exists already")
