"""The API documents that tools were imported from, according to the tags of the tools."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlsplit

from pegboard.kinds.http.openapi.naming import OPENAPI_TAG_PREFIX
from pegboard.model.accounts import refuse_agents
from pegboard.model.call import Caller
from pegboard.model.page import Page, cut_page, read_cursor
from pegboard.model.tool import Tool
from pegboard.registry.snapshot import Snapshot

_MAX_SERVERS = 5


@dataclass(slots=True)
class OpenApiSource:
    """The tools of one user with the tag of one API document; the document itself is not stored."""

    tag: str
    owner_id: str
    updated_at: datetime
    # The first servers that its tools call, without paths.
    servers: list[str] = field(default_factory=list)
    tools: int = 0
    active: int = 0


@dataclass(frozen=True, slots=True)
class OpenApiSources:
    """`board.imports.sources`: lists the API documents that tools were imported from."""

    snapshot: Snapshot

    def page(self, caller: Caller, *, cursor: str | None, limit: int) -> Page[OpenApiSource]:
        """Return one page of the caller's documents, or for an admin those of all users, by tag."""
        refuse_agents(caller)
        after = read_cursor(cursor, str, str)
        tools = (item.tool for item in self.snapshot.iterate_tools())
        found = group_by_document(tool for tool in tools if caller.is_admin or tool.owner_id == caller.user_id)
        rest = [source for source in found if after is None or [source.tag, source.owner_id] > after]
        return cut_page(rest[: limit + 1], limit, lambda source: [source.tag, source.owner_id])


def group_by_document(tools: Iterable[Tool]) -> Sequence[OpenApiSource]:
    """Return the API documents of these tools, sorted by tag and owner."""
    found: dict[tuple[str, str], OpenApiSource] = {}
    for tool in tools:
        # The import puts its own tag last; others are tags of the document.
        tags = [tag for tag in tool.tags if tag.startswith(OPENAPI_TAG_PREFIX)]
        if not tags:
            continue
        key = (tags[-1], tool.owner_id)
        source = found.setdefault(key, OpenApiSource(*key, tool.updated_at))
        source.tools += 1
        source.active += tool.is_active
        source.updated_at = max(source.updated_at, tool.updated_at)
        server = _get_server(str(tool.config.get("url", "")))
        if server not in source.servers and len(source.servers) < _MAX_SERVERS:
            source.servers.append(server)
    return [found[key] for key in sorted(found)]


def _get_server(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
