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
from pegboard.model.call_errors import ToolError
from pegboard.model.json_text import json_text
from pegboard.model.mcp_peer import EntryKind, McpPeer, PeerFailed
from pegboard.registry.snapshot import Snapshot
from pegboard.surfaces.mcp.protocol import INVALID_PARAMS, MethodResult, ProtocolError

UNAVAILABLE_KEY = "pegboard/unavailable"
_OWN_SCHEME = "pegboard://"
_TEMPLATE_VARIABLE = re.compile(r"\{[^{}]*\}")
# The field by which entries of each kind are found.
_IDENTITY: Mapping[EntryKind, str] = {"prompts": "name", "resources": "uri", "resourceTemplates": "uriTemplate"}
# Callers whose servers are kept in memory.
_MAX_CALLERS = 64


class NamedPeer(NamedTuple):
    """A server with the prefix of its prompts, and a label that no other server of the caller has."""

    peer: McpPeer
    prefix: str
    label: str


class Entry(NamedTuple):
    """A prompt, resource or template: its server, its name or URI there, and what is listed."""

    owner: NamedPeer
    original: str
    listed: Mapping[str, Any]


class EntryPage(NamedTuple):
    """All entries of one kind that a caller sees, and the servers that did not answer, with the reason."""

    entries: Sequence[Entry]
    unavailable: Mapping[str, str]


class PeerLists:
    """Finds the servers, prompts and resources of callers."""

    def __init__(self, snapshot: Snapshot, page_size: int) -> None:
        self._snapshot = snapshot
        self._page_size = page_size
        self._known: OrderedDict[Hashable, tuple[int, Sequence[NamedPeer]]] = OrderedDict()

    def find_peers(self, caller: Caller) -> Sequence[NamedPeer]:
        """Return the servers of the tools that are offered to the caller, in a stable order."""
        key = (caller.user_id, caller.role, caller.agent_id)
        known = self._known.get(key)
        if known is None or known[0] != self._snapshot.version:
            known = self._known[key] = (self._snapshot.version, self._collect(caller))
            if len(self._known) > _MAX_CALLERS:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return known[1]

    async def list_entries(self, caller: Caller, kind: EntryKind) -> EntryPage:
        """Return the entries of all servers; those of a server that does not answer are missing."""
        peers = self.find_peers(caller)
        found = await asyncio.gather(*(_read_entries(named, kind) for named in peers))
        unavailable = {peer.label: answer for peer, answer in zip(peers, found, strict=True) if isinstance(answer, str)}
        entries = [entry for answer in found if not isinstance(answer, str) for entry in answer]
        return EntryPage(_make_unique(entries, kind), unavailable)

    async def encode_page(self, caller: Caller, kind: EntryKind, cursor: str | None) -> MethodResult:
        """Return a page of entries; raise ProtocolError for a cursor of no current page."""
        found = await self.list_entries(caller, kind)
        index = 0
        texts = [json_text(entry.listed) for entry in found.entries]
        digest = hashlib.blake2b("\n".join(texts).encode(), digest_size=12).hexdigest()
        if cursor is not None:
            first, _, number = cursor.partition("-")
            index = int(number) if number.isascii() and number.isdigit() and len(number) <= 9 else 0
            if first != digest or not 0 < index * self._page_size < len(texts):
                message = "The cursor is not valid: the list has changed; start again without it"
                raise ProtocolError(INVALID_PARAMS, message)
        end = (index + 1) * self._page_size
        members = f'"{kind}":[{",".join(texts[end - self._page_size : end])}]'
        if end < len(texts):
            members += f',"nextCursor":"{digest}-{index + 1}"'
        meta = f'"{UNAVAILABLE_KEY}":{json_text(found.unavailable)}' if found.unavailable else ""
        return MethodResult(members.encode(), meta.encode())

    async def find_prompt(self, caller: Caller, name: str) -> Entry | None:
        """Return the prompt that is listed by this name."""
        return _find_listed(await self.list_entries(caller, "prompts"), "name", name)

    async def find_template(self, caller: Caller, uri: str) -> Entry | None:
        """Return the template that is listed by this URI template."""
        return _find_listed(await self.list_entries(caller, "resourceTemplates"), "uriTemplate", uri)

    async def find_resource(self, caller: Caller, uri: str) -> tuple[NamedPeer, str] | None:
        """Return the server of a resource and its URI there, or None.

        A URI that no server lists belongs to the caller's only server, if there is only one.
        """
        peers = self.find_peers(caller)
        if not peers:
            return None
        if uri.startswith(_OWN_SCHEME):
            label, _, original = uri.removeprefix(_OWN_SCHEME).partition("/")
            return next(((named, original) for named in peers if quote(named.label, safe="") == label), None)
        listed = await self.list_entries(caller, "resources")
        if (entry := _find_listed(listed, "uri", uri)) is not None:
            return entry.owner, entry.original
        if any(entry.original == uri for entry in listed.entries):
            return None  # several servers have it, each under a URI with its label
        templates = await self.list_entries(caller, "resourceTemplates")
        owners = [entry.owner for entry in templates.entries if matches_template(uri, entry.original)]
        if owners:
            return owners[0], uri
        return (peers[0], uri) if len(peers) == 1 else None

    def _collect(self, caller: Caller) -> Sequence[NamedPeer]:
        peers: dict[Hashable, McpPeer] = {}
        prefixes: dict[Hashable, Counter[str]] = {}
        for compiled in self._snapshot.list_offered_tools(caller):
            if not compiled.kind.has_peers or compiled.tool.drifted:
                continue
            try:
                peer = compiled.prepared.peer
            except ToolError:
                continue  # its calls report why
            if peer is not None:
                peers.setdefault(peer.key, peer)
                prefixes.setdefault(peer.key, Counter())[peer.prefix] += 1
        named: list[NamedPeer] = []
        used: Counter[str] = Counter()
        for key, peer in peers.items():
            used[peer.label] += 1
            number = used[peer.label]
            label = peer.label if number == 1 else f"{peer.label}-{number}"
            named.append(NamedPeer(peer, prefixes[key].most_common(1)[0][0], label))
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


async def _read_entries(named: NamedPeer, kind: EntryKind) -> list[Entry] | str:
    """Return the entries of one server, or why there are none."""
    field = _IDENTITY[kind]
    try:
        found = await named.peer.list_entries(kind)
    except PeerFailed as error:
        return error.failure.message
    entries = []
    for each in found:
        original = each.get(field)
        if isinstance(original, str):
            name = named.prefix + original if kind == "prompts" else original
            entries.append(Entry(named, original, {**each, field: name}))
    return entries


def _make_unique(entries: Sequence[Entry], kind: EntryKind) -> Sequence[Entry]:
    """Return the entries with names that occur once: the first prompt of a name, and URIs with the server's label."""
    field = _IDENTITY[kind]
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


def _find_listed(page: EntryPage, field: str, name: str) -> Entry | None:
    return next((entry for entry in page.entries if entry.listed[field] == name), None)
