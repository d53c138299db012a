"""The prompts and resources that a caller sees: those of the MCP servers whose tools the caller may use."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections import Counter, OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from pegboard.model.call import Caller
from pegboard.model.json_text import json_text
from pegboard.model.mcp_peer import IDENTITY_FIELDS, EntryKind, McpPeer
from pegboard.model.registered_upstream import RegisteredUpstream
from pegboard.registry.snapshot import Snapshot
from pegboard.surfaces.mcp.protocol import INVALID_PARAMS, MethodResult, ProtocolError

UNAVAILABLE_KEY = "pegboard/unavailable"
_OWN_SCHEME = "pegboard://"
_TEMPLATE_VARIABLE = re.compile(r"\{[^{}]*\}")
# Callers whose lists are kept in memory.
_MAX_CALLERS = 64


class NamedPeer(NamedTuple):
    """A server with a label that no other server of the caller has."""

    peer: McpPeer
    upstream: RegisteredUpstream
    label: str


class Entry(NamedTuple):
    """A prompt, resource or template: its server, its name or URI there, and its definition."""

    owner: NamedPeer
    original: str
    listed: Mapping[str, Any]


class EntryList:
    """The entries of one kind that a caller sees, in a stable order."""

    def __init__(self, entries: Sequence[Entry], field: str) -> None:
        self.entries = entries
        self.by_name = {entry.listed[field]: entry for entry in entries}
        self.originals = {entry.original for entry in entries}
        self.texts = [json_text(entry.listed) for entry in entries]
        self.digest = hashlib.blake2b("\n".join(self.texts).encode(), digest_size=12).hexdigest()


class _CallerLists:
    """The servers and entries of one caller at one version of the snapshot."""

    def __init__(self, version: int, peers: Sequence[NamedPeer]) -> None:
        self.version = version
        self.peers = peers
        self.entries: dict[EntryKind, EntryList] = {}


class PeerLists:
    """Finds the servers, prompts and resources of callers; lists have the accepted entries, and ask no server."""

    def __init__(self, snapshot: Snapshot, page_size: int) -> None:
        self._snapshot = snapshot
        self._page_size = page_size
        self._known: OrderedDict[Hashable, _CallerLists] = OrderedDict()

    def find_peers(self, caller: Caller) -> Sequence[NamedPeer]:
        """Return the servers that the caller imported, and those of the tools that are offered to the caller."""
        return self._find_lists(caller).peers

    def follow_servers(self, caller: Caller) -> None:
        """Ask the followed servers of the caller for new tools and entries, unless that was done recently."""
        for named in self.find_peers(caller):
            if named.upstream.follow:
                named.peer.refresh_soon()

    def list_entries(self, caller: Caller, kind: EntryKind) -> EntryList:
        """Return the entries of all servers, in the definitions that their owners accepted."""
        lists = self._find_lists(caller)
        found = lists.entries.get(kind)
        if found is None:
            entries = [entry for named in lists.peers for entry in _build_entries(named, kind)]
            found = lists.entries[kind] = EntryList(_make_unique(entries, kind), IDENTITY_FIELDS[kind])
        return found

    async def encode_page(self, caller: Caller, kind: EntryKind, cursor: str | None) -> MethodResult:
        """Return a page of entries, and which servers do not answer; raise ProtocolError for an invalid cursor."""
        found = self.list_entries(caller, kind)
        index = 0
        texts = found.texts
        if cursor is not None:
            first, _, number = cursor.partition("-")
            index = int(number) if number.isascii() and number.isdigit() and len(number) <= 9 else 0
            if first != found.digest or not 0 < index * self._page_size < len(texts):
                message = "The cursor is not valid: the list has changed; start again without it"
                raise ProtocolError(INVALID_PARAMS, message)
        end = (index + 1) * self._page_size
        members = f'"{kind}":[{",".join(texts[end - self._page_size : end])}]'
        if end < len(texts):
            members += f',"nextCursor":"{found.digest}-{index + 1}"'
        unavailable = await self._find_unavailable(caller)
        meta = f'"{UNAVAILABLE_KEY}":{json_text(unavailable)}' if unavailable else ""
        return MethodResult(members.encode(), meta.encode())

    def find_prompt(self, caller: Caller, name: str) -> Entry | None:
        """Return the prompt that is listed by this name."""
        return self.list_entries(caller, "prompts").by_name.get(name)

    def find_template(self, caller: Caller, uri: str) -> Entry | None:
        """Return the template that is listed by this URI template."""
        return self.list_entries(caller, "resourceTemplates").by_name.get(uri)

    async def find_resource(self, caller: Caller, uri: str) -> tuple[NamedPeer, str] | None:
        """Return the server of a resource and its URI there, or None.

        A URI that no server lists belongs to the caller's only server, if there is only one. Raise PeerFailed if the
        definition that the server has now is not the accepted one.
        """
        peers = self.find_peers(caller)
        if uri.startswith(_OWN_SCHEME):
            label, _, original = uri.removeprefix(_OWN_SCHEME).partition("/")
            peers = [named for named in peers if quote(named.label, safe="") == label]
            return await self._check_resource(peers[0], original) if peers else None
        listed = self.list_entries(caller, "resources")
        if (entry := listed.by_name.get(uri)) is not None:
            return await self._check_resource(entry.owner, entry.original)
        if uri in listed.originals:
            return None  # several servers have it, each under a URI with its label
        for template in self.list_entries(caller, "resourceTemplates").entries:
            if matches_template(uri, template.original):
                return await self._check_resource(template.owner, uri)
        return await self._check_resource(peers[0], uri) if len(peers) == 1 else None

    async def _check_resource(self, named: NamedPeer, uri: str) -> tuple[NamedPeer, str]:
        pinned = named.upstream.get_entries
        template = next((each for each in pinned("resourceTemplates") if matches_template(uri, each.name)), None)
        if any(each.name == uri for each in pinned("resources")):
            await named.peer.check_entry("resources", uri)
        elif template is not None:
            await named.peer.check_entry("resourceTemplates", template.name)
        else:
            await named.peer.check_unlisted(uri)
        return named, uri

    async def _find_unavailable(self, caller: Caller) -> dict[str, str]:
        """Return the labels of the servers that do not answer, with the reason."""
        peers = self.find_peers(caller)
        found = await asyncio.gather(*(named.peer.find_problem() for named in peers))
        return {named.label: problem for named, problem in zip(peers, found, strict=True) if problem is not None}

    def _find_lists(self, caller: Caller) -> _CallerLists:
        key = (caller.user_id, caller.role, caller.agent_id)
        known = self._known.get(key)
        if known is None or known.version != self._snapshot.version:
            known = self._known[key] = _CallerLists(self._snapshot.version, self._collect(caller))
            if len(self._known) > _MAX_CALLERS:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return known

    def _collect(self, caller: Caller) -> Sequence[NamedPeer]:
        index = self._snapshot.upstreams
        # A key that is bound to an agent reaches only servers of the agent's tools.
        own = index.list_owned(caller.user_id) if caller.agent_id is None else []
        found = {upstream.id: upstream for upstream in own}
        for compiled in self._snapshot.list_offered_tools(caller):
            if not compiled.tool.drifted and (upstream := index.find_by_tool(compiled)) is not None:
                found[upstream.id] = upstream
        named: list[NamedPeer] = []
        used: Counter[str] = Counter()
        # The caller's own servers first: another user's server must not take their labels, prompts and URIs.
        for upstream in sorted(found.values(), key=lambda each: (each.owner_id != caller.user_id, each.id)):
            used[upstream.name] += 1
            number = used[upstream.name]
            label = upstream.name if number == 1 else f"{upstream.name}-{number}"
            named.append(NamedPeer(index.get_peer(upstream.id), upstream, label))
        return named


def matches_template(uri: str, template: str) -> bool:
    """True if a URI template may produce the URI: its fixed parts occur in their order, at both ends exactly."""
    parts = _TEMPLATE_VARIABLE.split(template)
    if len(parts) == 1:
        return uri == template
    first, *middle, last = parts
    if not uri.startswith(first) or not uri.endswith(last) or len(uri) < len(first) + len(last):
        return False
    place, end = len(first), len(uri) - len(last)
    for part in middle:
        found = uri.find(part, place, end)
        if found < 0:
            return False
        place = found + len(part)
    return True


def _build_entries(named: NamedPeer, kind: EntryKind) -> list[Entry]:
    """Return the current entries of one server, without those that it no longer has."""
    field = IDENTITY_FIELDS[kind]
    prefix = named.upstream.prefix if kind == "prompts" else ""
    return [
        Entry(named, each.name, {**each.entry, field: prefix + each.name})
        for each in named.upstream.get_entries(kind)
        if each.state != "gone"
    ]


def _make_unique(entries: Sequence[Entry], kind: EntryKind) -> Sequence[Entry]:
    """Return the entries with names that occur once: the first prompt of a name, and URIs with the server's label."""
    field = IDENTITY_FIELDS[kind]
    names = Counter(entry.listed[field] for entry in entries)
    if len(names) == len(entries):
        return entries
    unique: dict[str, Entry] = {}
    for entry in entries:
        name = entry.listed[field]
        if names[name] > 1 and kind != "prompts":
            name = f"{_OWN_SCHEME}{quote(entry.owner.label, safe='')}/{name}"
        unique.setdefault(name, entry._replace(listed={**entry.listed, field: name}))
    return list(unique.values())
