"""The board in memory: what calls are served from, without a query."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pegboard.core.call import Caller, Role
from pegboard.core.people import Agent, ApiKey, Secret, User
from pegboard.core.refusals import Unauthorised
from pegboard.core.tool import Kind, Tool, alias_of
from pegboard.executors.base import Prepared
from pegboard.registry.peg import Peg
from pegboard.registry.signing import PeopleSigner, hash_key
from pegboard.registry.spelling import near_spellings
from pegboard.store import agents, keys, secrets, tools, users
from pegboard.store.database import Database, revision_of


@dataclass(frozen=True, slots=True)
class _Holder:
    caller: Caller
    expires: float | None


class Snapshot:
    """Tools, users, keys, agents and secrets by what they are looked up by; kept up with the store."""

    def __init__(self, database: Database, signer: PeopleSigner, prepare: Callable[[Tool], Prepared]) -> None:
        self.revision = 0
        self._database = database
        self._signer = signer
        self._prepare = prepare
        self._lock = asyncio.Lock()
        self._names: dict[str, Peg] = {}
        self._ids: dict[str, Peg] = {}
        self._local: dict[str, Peg] = {}
        self._local_ids: dict[str, Peg] = {}
        self._users: dict[str, User] = {}
        self._admins: set[str] = set()
        self._keys: dict[str, ApiKey] = {}
        self._agents: dict[str, Agent] = {}
        self._agent_tools: dict[str, frozenset[str]] = {}
        self._secrets: dict[tuple[str, str], Secret] = {}
        self._holders: dict[str, _Holder] = {}
        self._admitted: dict[str, _Holder] = {}

    def find(self, name: str) -> Peg | None:
        """The tool of that name, alias or id."""
        key = name.lower()
        return self._local.get(key) or self._names.get(key) or self._ids.get(key)

    def nearest(self, name: str, caller: Caller) -> str | None:
        """The name of an active tool that the caller may call and that is spelt almost like this."""
        for other in near_spellings(name.lower()):
            peg = self._local.get(other) or self._names.get(other)
            if peg is not None and peg.tool.is_active and self.may_call(peg.tool, caller):
                return peg.tool.name
        return None

    def with_id(self, tool_id: str) -> Peg | None:
        """The tool of that id, stored or of this process."""
        return self._ids.get(tool_id) or self._local_ids.get(tool_id)

    def stored(self, name: str) -> Tool | None:
        """The tool of that name or alias that is in the store, though one of this process may hide it."""
        peg = self._names.get(name.lower())
        return None if peg is None else peg.tool

    def pegs(self) -> Iterator[Peg]:
        """Every tool, by name."""
        every = {**self._ids, **{peg.tool.id: peg for peg in self._local.values()}}
        return iter(sorted(every.values(), key=lambda peg: (peg.tool.name.lower(), peg.tool.id)))

    def local(self) -> list[Tool]:
        """The tools that live in this process alone."""
        return [peg.tool for peg in {id(peg): peg for peg in self._local.values()}.values()]

    def may_call(self, tool: Tool, caller: Caller) -> bool:
        """Whether the tool is the caller's own, public, or the caller an admin; an agent's key sees its tools alone."""
        if caller.agent_id is not None and tool.id not in self._agent_tools.get(caller.agent_id, ()):
            return False
        return tool.is_public or tool.owner_id == caller.user_id or caller.is_admin or self._is_admin(caller.user_id)

    def is_trusted_by(self, owner_id: str, tool: Tool) -> bool:
        """Whether an unbound name in a definition of this owner may mean the tool: their own, or an admin's."""
        return tool.owner_id == owner_id or self._is_admin(tool.owner_id)

    def handed_to(self, caller: Caller) -> list[Peg]:
        """What a model is given unasked: the caller's own active tools and the public ones of admins."""
        if caller.agent_id is not None:
            return self.on_agent(caller.agent_id, caller)
        return [
            peg
            for peg in self.pegs()
            if peg.tool.is_active
            and (peg.tool.owner_id == caller.user_id or (peg.tool.is_public and self._is_admin(peg.tool.owner_id)))
        ]

    def on_agent(self, agent_id: str, caller: Caller) -> list[Peg]:
        """The active tools put on an agent that the caller may call."""
        on_it = self._agent_tools.get(agent_id, frozenset())
        return [
            peg
            for peg in self.pegs()
            if peg.tool.id in on_it and peg.tool.is_active and self.may_call(peg.tool, caller)
        ]

    def holder(self, key: str) -> Caller:
        """The caller who holds this key; raises Unauthorised, which never says more than the key's holder may know."""
        hashed = hash_key(key)
        holder = self._holders.get(hashed) or self._admitted.get(hashed)
        if holder is None:
            holder = self._holders[hashed] = self._look_up(self._signer.hash_of(hashed))
        if holder.expires is not None and holder.expires <= time.time():
            raise Unauthorised("This key has expired; ask for a new one")
        return holder.caller

    def admit(self, key: str, caller: Caller) -> None:
        """Let a key in that lives in this process alone."""
        self._admitted[hash_key(key)] = _Holder(caller, None)

    def user(self, user_id: str) -> User | None:
        """The user of that id, unless removed."""
        return self._users.get(user_id)

    def agent(self, agent_id: str) -> Agent | None:
        """The agent of that id, unless removed."""
        return self._agents.get(agent_id)

    def secret(self, owner_id: str, name: str) -> Secret | None:
        """The named secret of a user."""
        return self._secrets.get((owner_id, name))

    def is_or_was_admin(self, user_id: str) -> bool:
        """Whether the user is an admin, or was one when removed: the tools of a removed admin go on."""
        return user_id in self._admins

    def _is_admin(self, user_id: str) -> bool:
        user = self._users.get(user_id)
        return user is not None and user.role == "admin"

    def _look_up(self, hashed: str) -> _Holder:
        key = self._keys.get(hashed)
        user = self._users.get(key.user_id) if key is not None else None
        if key is None or user is None:
            raise Unauthorised("This key is not known here")
        if key.revoked_at is not None:
            raise Unauthorised("This key was revoked")
        if key.agent_id is not None and key.agent_id not in self._agents:
            raise Unauthorised("The agent of this key was removed; ask for a key of another agent")
        # What an agent holds never opens more than its tools, whoever it belongs to.
        role: Role = user.role if key.agent_id is None else "member"
        caller = Caller(user.id, user.name, role, key.id, key.agent_id)
        return _Holder(caller, key.expires_at.timestamp() if key.expires_at else None)

    async def refresh(self) -> None:
        """Take in everything that changed in the store since the last time."""
        async with self._lock:
            async with self._database.read() as conn:
                revision = await revision_of(conn)
                if revision == self.revision:
                    return
                since = self.revision
                changed_users = await users.changed(conn, since)
                changed_keys = await keys.changed(conn, since)
                changed_agents = await agents.changed(conn, since)
                changed_secrets = await secrets.changed(conn, since)
                changed_tools = await tools.changed(conn, since)
            self._take_people(changed_users, changed_keys, changed_agents)
            self._take_tools(changed_tools)
            self._take_secrets(changed_secrets)
            self.revision = revision

    def _take_people(
        self, some_users: Iterable[User], some_keys: Iterable[ApiKey], some_agents: Iterable[Agent]
    ) -> None:
        # Checked here, once a row, and not at each call.
        genuine_users, other_users = self._signer.genuine(some_users)
        for user in other_users:
            self._admins.discard(user.id)
            self._users.pop(user.id, None)
        for user in genuine_users:
            (self._admins.add if user.role == "admin" else self._admins.discard)(user.id)
            if user.is_deleted:
                self._users.pop(user.id, None)
            else:
                self._users[user.id] = user
        genuine_keys, other_keys = self._signer.genuine(some_keys)
        for key in other_keys:
            self._keys.pop(key.key_hash, None)
        for key in genuine_keys:
            self._keys[key.key_hash] = key
        for agent in some_agents:
            if agent.is_deleted:
                self._agents.pop(agent.id, None)
                self._agent_tools.pop(agent.id, None)
            else:
                self._agents[agent.id] = agent
                self._agent_tools[agent.id] = frozenset(agent.tools)
        self._holders.clear()

    def _take_tools(self, some_tools: Sequence[Tool]) -> None:
        for tool in some_tools:
            before = self._ids.pop(tool.id, None)
            if before is not None:
                for name in names_of(before.tool.name):
                    if self._names.get(name) is before:
                        del self._names[name]
        for tool in some_tools:
            if not tool.is_deleted:
                peg = Peg(tool, self._prepare)
                self._ids[tool.id] = peg
                for name in names_of(tool.name):
                    self._names[name] = peg

    def _take_secrets(self, some_secrets: Iterable[Secret]) -> None:
        owners = set()
        for secret in some_secrets:
            owners.add(secret.owner_id)
            if secret.sealed is None:
                self._secrets.pop((secret.owner_id, secret.name), None)
            else:
                self._secrets[secret.owner_id, secret.name] = secret
        if owners:
            self.forget(lambda tool: tool.owner_id in owners)

    def hang(self, tool: Tool) -> None:
        """Hang a tool that lives in this process alone."""
        peg = Peg(tool, self._prepare)
        for name in names_of(tool.name):
            self._local[name] = peg
        self._local_ids[tool.id] = peg

    def swap(self, former: Iterable[Tool], tools: Iterable[Tool]) -> None:
        """Hang these tools of this process in place of the former ones, all at once; one that is the same stays."""
        local = dict(self._local)
        before = {tool.name: local[tool.name.lower()] for tool in former}
        for tool_name in before:
            for name in names_of(tool_name):
                del local[name]
        for tool in tools:
            peg = before.get(tool.name)
            if peg is None or peg.tool != tool:
                peg = Peg(tool, self._prepare)
            for name in names_of(tool.name):
                local[name] = peg
        self._local = local
        self._local_ids = {peg.tool.id: peg for peg in local.values()}

    def warm(self, tool_id: str) -> None:
        """Make a tool that runs code, and was made or changed, ready for its first call."""
        peg = self._ids.get(tool_id)
        if peg is not None and peg.tool.is_active and peg.tool.tool_type in (Kind.PYTHON, Kind.SHELL):
            peg.warm()

    def forget(self, which: Callable[[Tool], bool]) -> None:
        """Prepare these tools anew at their next call."""
        for peg in (*self._ids.values(), *self._local.values()):
            if which(peg.tool):
                peg.forget()


def names_of(name: str) -> tuple[str, ...]:
    """What a tool of this name is found by, in lower case: the name, and its alias where it has one."""
    alias = alias_of(name)
    return (name.lower(),) if alias is None else (name.lower(), alias.lower())
