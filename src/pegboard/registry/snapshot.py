"""The snapshot: all tools, users, keys, agents, secrets and imported servers in memory, so that calls need no query."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime

from pegboard.kinds.base import Prepared
from pegboard.kinds.mcp.peer import UpstreamPeer
from pegboard.model.accounts import ROOT_ROW_NAME, Agent, ApiKey, Secret, User
from pegboard.model.call import Caller
from pegboard.model.registered_upstream import RegisteredUpstream
from pegboard.model.tool import Tool, iterate_near_spellings, list_lookup_names
from pegboard.registry.account_macs import AccountSigner
from pegboard.registry.change_log import ChangedKind, ChangedThing, ChangeLog
from pegboard.registry.compiled_tool import CompiledTool
from pegboard.registry.key_holders import KeyHolders
from pegboard.registry.upstream_index import UpstreamIndex
from pegboard.storage import account_rows, tool_rows, upstream_rows
from pegboard.storage.database import Database, read_revision


class Snapshot:
    """Tools, users, keys, agents, secrets and imported servers, indexed for lookup and refreshed from the database."""

    def __init__(
        self,
        database: Database,
        signer: AccountSigner,
        prepare: Callable[[Tool], Prepared],
        make_peer: Callable[[RegisteredUpstream], UpstreamPeer],
        session_idle_seconds: float,
    ) -> None:
        self.revision = 0
        # Increases with every change, also of the tools that exist only in this process.
        self.version = 0
        # The changes since the first refresh.
        self.changes = ChangeLog()
        # Called after every change.
        self.on_change: set[Callable[[], None]] = set()
        self._database = database
        self._signer = signer
        self._prepare = prepare
        self._lock = asyncio.Lock()
        self._names: dict[str, CompiledTool] = {}
        self._ids: dict[str, CompiledTool] = {}
        self._local: dict[str, CompiledTool] = {}
        self._local_ids: dict[str, CompiledTool] = {}
        self._users: dict[str, User] = {}
        self._admins: set[str] = set()
        self._agents: dict[str, Agent] = {}
        self._agent_tools: dict[str, frozenset[str]] = {}
        self._secrets: dict[tuple[str, str], Secret] = {}
        self.keys = KeyHolders(signer, self.user, self.agent, session_idle_seconds)
        self.upstreams = UpstreamIndex(make_peer, self.iterate_tools)

    def find(self, name: str) -> CompiledTool | None:
        """Return the tool of that name, alias or id, or None."""
        key = name.lower()
        return self._local.get(key) or self._names.get(key) or self.find_by_id(key)

    def find_nearest(self, name: str, caller: Caller) -> str | None:
        """Return the name of an active tool that the caller may call and that is spelt almost like `name`, or None."""
        for other in iterate_near_spellings(name.lower()):
            compiled = self._local.get(other) or self._names.get(other)
            if compiled is not None and compiled.tool.is_active and self.may_call(compiled.tool, caller):
                return compiled.tool.name
        return None

    def find_by_id(self, tool_id: str) -> CompiledTool | None:
        """Return the tool of that id, stored or local to this process, or None."""
        return self._ids.get(tool_id) or self._local_ids.get(tool_id)

    def find_stored(self, name: str) -> Tool | None:
        """Return the stored tool of that name or alias, even if a local tool of this process hides it."""
        compiled = self._names.get(name.lower())
        return None if compiled is None else compiled.tool

    def iterate_tools(self) -> Iterator[CompiledTool]:
        """Return an iterator over all tools, sorted by name."""
        every = {**self._ids, **{item.tool.id: item for item in self._local.values()}}
        return iter(sorted(every.values(), key=lambda item: (item.tool.name.lower(), item.tool.id)))

    def local(self) -> list[Tool]:
        """Return the tools that exist only in this process."""
        return [item.tool for item in {id(item): item for item in self._local.values()}.values()]

    def may_call(self, tool: Tool, caller: Caller) -> bool:
        """Return True if the tool is public or the caller's own, or the caller is an admin.

        A key that is bound to an agent can only call the agent's tools.
        """
        if caller.agent_id is not None and tool.id not in self._agent_tools.get(caller.agent_id, ()):
            return False
        return tool.is_public or tool.owner_id == caller.user_id or caller.is_admin or self._is_admin(caller.user_id)

    def is_trusted_by(self, owner_id: str, tool: Tool) -> bool:
        """Return True if the tool is the owner's or an admin's, so that an unbound name in a definition may mean it."""
        return tool.owner_id == owner_id or self._is_admin(tool.owner_id)

    def list_offered_tools(self, caller: Caller) -> list[CompiledTool]:
        """Return the tools that a model gets by default: the caller's own active ones and public ones of admins."""
        if caller.agent_id is not None:
            return self.list_agent_tools(caller.agent_id)
        return [
            item
            for item in self.iterate_tools()
            if item.tool.is_active
            and (item.tool.owner_id == caller.user_id or (item.tool.is_public and self._is_admin(item.tool.owner_id)))
        ]

    def list_agent_tools(self, agent_id: str) -> list[CompiledTool]:
        """Return the active tools that keys of an agent may call; none if there is no such agent."""
        agent = self._agents.get(agent_id)
        if agent is None:
            return []
        holder = Caller(agent.owner_id, agent.name, agent_id=agent.id)
        return [item for item in self.iterate_tools() if item.tool.is_active and self.may_call(item.tool, holder)]

    def holder(self, key: str) -> Caller:
        """Return the caller who holds this key; raise Unauthorised if it is not valid."""
        return self.keys.holder(key)

    def admit(self, key: str, caller: Caller) -> None:
        """Accept a key that exists only in this process."""
        self.keys.admit(key, caller)

    def user(self, user_id: str) -> User | None:
        """Return the user of that id, or None if there is none or it was removed."""
        return self._users.get(user_id)

    def agent(self, agent_id: str) -> Agent | None:
        """Return the agent of that id, or None if there is none or it was removed."""
        return self._agents.get(agent_id)

    def list_users(self) -> list[User]:
        """Return all users, oldest first."""
        return sorted(self._users.values(), key=lambda user: user.id)

    def list_agents(self, owner_id: str | None) -> list[Agent]:
        """Return the agents of a user, or all agents, oldest first."""
        found = (agent for agent in self._agents.values() if owner_id in (None, agent.owner_id))
        return sorted(found, key=lambda agent: agent.id)

    def find_agent_by_name(self, name: str, caller: Caller) -> Agent | None:
        """Return the caller's agent of this name, else for an admin the only one of that name, else None."""
        named = [agent for agent in self._agents.values() if agent.name.lower() == name.lower()]
        own = [agent for agent in named if agent.owner_id == caller.user_id]
        found = own or (named if caller.is_admin else [])
        return found[0] if len(found) == 1 else None

    def secret(self, owner_id: str, name: str) -> Secret | None:
        """Return the named secret of a user, or None."""
        return self._secrets.get((owner_id, name))

    def is_or_was_admin(self, user_id: str) -> bool:
        """Return True if the user is an admin or was one when removed: the tools of a removed admin keep working."""
        return user_id in self._admins

    def _is_admin(self, user_id: str) -> bool:
        user = self._users.get(user_id)
        return user is not None and user.role == "admin"

    async def refresh(self) -> None:
        """Load every row that changed in the database since the last refresh."""
        async with self._lock:
            async with self._database.read() as conn:
                revision = await read_revision(conn)
                if revision == self.revision:
                    return
                since = self.revision
                changed_users = await account_rows.users.list_changed(conn, since)
                changed_keys = await account_rows.list_changed_keys(conn, since, datetime.now(UTC))
                changed_agents = await account_rows.agents.list_changed(conn, since)
                changed_secrets = await account_rows.secrets.list_changed(conn, since)
                changed_tools = await tool_rows.list_changed_tools(conn, since)
                changed_upstreams = await upstream_rows.list_changed_upstreams(conn, since)
            public_before = {tool.id for tool in changed_tools if self._is_public(tool.id)}
            self._apply_accounts(changed_users, changed_keys, changed_agents)
            self._apply_tools(changed_tools)
            self.upstreams.update(changed_upstreams)
            self._apply_secrets(changed_secrets)
            self.revision = revision
            if since == 0:
                self.changes.start(revision)
            else:
                self.changes.add(
                    revision,
                    [
                        *_list_changed_accounts(changed_users, changed_keys, changed_agents, changed_secrets),
                        *_list_changed_tools(changed_tools, public_before),
                        *(
                            ChangedThing("upstream", each.id, each.owner_id, is_removed=each.is_deleted)
                            for each in changed_upstreams
                        ),
                    ],
                )
            self._report_change()

    def _apply_accounts(
        self, some_users: Iterable[User], some_keys: Iterable[ApiKey], some_agents: Iterable[Agent]
    ) -> None:
        # MACs are verified here, once per row, and not at each call.
        genuine_users, other_users = self._signer.split_genuine(some_users)
        for user in other_users:
            self._admins.discard(user.id)
            self._users.pop(user.id, None)
        for user in genuine_users:
            (self._admins.add if user.role == "admin" else self._admins.discard)(user.id)
            if user.is_deleted:
                self._users.pop(user.id, None)
            else:
                self._users[user.id] = user
        genuine_keys, other_keys = self._signer.split_genuine(some_keys)
        self.keys.apply(genuine_keys, other_keys)
        for agent in some_agents:
            if agent.is_deleted:
                self._agents.pop(agent.id, None)
                self._agent_tools.pop(agent.id, None)
            else:
                self._agents[agent.id] = agent
                self._agent_tools[agent.id] = frozenset(agent.tools)
        self.keys.forget_holders()

    def _apply_tools(self, some_tools: Sequence[Tool]) -> None:
        for tool in some_tools:
            before = self._ids.pop(tool.id, None)
            if before is not None:
                for name in list_lookup_names(before.tool.name):
                    if self._names.get(name) is before:
                        del self._names[name]
        for tool in some_tools:
            if not tool.is_deleted:
                compiled = CompiledTool(tool, self._prepare)
                self._ids[tool.id] = compiled
                for name in list_lookup_names(tool.name):
                    self._names[name] = compiled

    def _apply_secrets(self, some_secrets: Iterable[Secret]) -> None:
        owners = set()
        for secret in some_secrets:
            owners.add(secret.owner_id)
            if secret.sealed is None:
                self._secrets.pop((secret.owner_id, secret.name), None)
            else:
                self._secrets[secret.owner_id, secret.name] = secret
        if owners:
            self.forget(lambda tool: tool.owner_id in owners)
            self.upstreams.forget_secrets(owners)

    def add_local(self, tool: Tool) -> None:
        """Add a tool that exists only in this process."""
        compiled = CompiledTool(tool, self._prepare)
        for name in list_lookup_names(tool.name):
            self._local[name] = compiled
        self._local_ids[tool.id] = compiled
        self._report_local_changes([tool], [])

    def swap_local_tools(self, former: Iterable[Tool], tools: Iterable[Tool]) -> None:
        """Replace the former local tools by these, atomically; an unchanged tool keeps its compiled form."""
        tools = list(tools)
        local = dict(self._local)
        before = {tool.name: local[tool.name.lower()] for tool in former}
        for tool_name in before:
            for name in list_lookup_names(tool_name):
                del local[name]
        for tool in tools:
            compiled = before.get(tool.name)
            if compiled is None or compiled.tool != tool:
                compiled = CompiledTool(tool, self._prepare)
            for name in list_lookup_names(tool.name):
                local[name] = compiled
        self._local = local
        self._local_ids = {compiled.tool.id: compiled for compiled in local.values()}
        self._report_local_changes(
            [tool for tool in tools if before.get(tool.name) is not local[tool.name.lower()]],
            [compiled.tool for compiled in before.values() if compiled.tool.id not in self._local_ids],
        )

    def _is_public(self, tool_id: str) -> bool:
        compiled = self._ids.get(tool_id)
        return compiled is not None and compiled.tool.is_public

    def _report_local_changes(self, changed: Iterable[Tool], removed: Iterable[Tool]) -> None:
        things = [ChangedThing("tool", tool.id, tool.owner_id, tool.is_public) for tool in changed]
        things += [ChangedThing("tool", tool.id, tool.owner_id, tool.is_public, True) for tool in removed]
        self.changes.add(self.revision, things, is_local=True)
        self._report_change()

    def _report_change(self) -> None:
        self.version += 1
        self.upstreams.forget_tools()
        for report in tuple(self.on_change):
            report()

    def warm(self, tool_id: str) -> None:
        """Prepare a tool that was created or changed for its first call, if its kind takes long for that."""
        compiled = self._ids.get(tool_id)
        if compiled is not None and compiled.tool.is_active and compiled.kind.warms_up:
            compiled.warm()

    def forget(self, which: Callable[[Tool], bool]) -> None:
        """Discard the prepared form of these tools, so that their next call prepares them again."""
        for item in (*self._ids.values(), *self._local.values()):
            if which(item.tool):
                item.forget()


def _list_changed_accounts(
    some_users: Iterable[User],
    some_keys: Iterable[ApiKey],
    some_agents: Iterable[Agent],
    some_secrets: Iterable[Secret],
) -> Iterator[ChangedThing]:
    for user in some_users:
        yield ChangedThing("user", user.id, user.id, is_removed=user.is_deleted)
    for key in some_keys:
        kind: ChangedKind = "session" if key.kind == "session" else "key"
        yield ChangedThing(kind, key.id, key.user_id, is_removed=key.revoked_at is not None)
    for agent in some_agents:
        yield ChangedThing("agent", agent.id, agent.owner_id, is_removed=agent.is_deleted)
    for secret in some_secrets:
        if secret.name != ROOT_ROW_NAME:
            yield ChangedThing("secret", secret.name, secret.owner_id, is_removed=secret.sealed is None)


def _list_changed_tools(some_tools: Iterable[Tool], public_before: Collection[str]) -> Iterator[ChangedThing]:
    for tool in some_tools:
        is_public = tool.is_public or tool.id in public_before
        yield ChangedThing("tool", tool.id, tool.owner_id, is_public, tool.is_deleted)
