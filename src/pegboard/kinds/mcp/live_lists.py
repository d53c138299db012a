"""The current prompts, resources and templates of an MCP server, and optionally its tools."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from pegboard.kinds.mcp.pinned_entries import pin_entries
from pegboard.kinds.mcp.session_pool import McpSessionPool
from pegboard.kinds.mcp.upstream import PeerRefused, Upstream, UpstreamTool
from pegboard.kinds.secret_mask import SecretMask
from pegboard.model.call_errors import ToolError
from pegboard.model.import_report import LeftOut
from pegboard.model.mcp_exchange import McpFailure
from pegboard.model.mcp_peer import IDENTITY_FIELDS, EntryKind
from pegboard.model.registered_upstream import PinnedEntry

if TYPE_CHECKING:
    from pegboard.kinds.mcp.client_session import McpSession

_LIST_METHODS: Mapping[EntryKind, str] = {
    "prompts": "prompts/list",
    "resources": "resources/list",
    "resourceTemplates": "resources/templates/list",
}
_INTERNAL_ERROR = -32603

ListTools = Callable[[Upstream], Awaitable[Sequence[UpstreamTool]]]


@dataclass(slots=True)
class LiveLists:
    """The entries of each kind that could be read, with credentials masked, and the failure of each other kind."""

    entries: dict[EntryKind, list[PinnedEntry]] = field(default_factory=dict)
    failures: dict[EntryKind, McpFailure] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    tools: Sequence[UpstreamTool] | None = None
    tools_failure: McpFailure | None = None

    @property
    def failure(self) -> McpFailure | None:
        """The first failure, or None if all lists could be read."""
        return next(iter(self.failures.values()), self.tools_failure)


async def read_live_lists(
    pool: McpSessionPool, upstream: Upstream, mask: SecretMask, list_tools: ListTools | None = None
) -> LiveLists:
    """Read all lists of a server, tools only by `list_tools`; a list that cannot be read is a failure, no exception."""
    live = LiveLists()
    for kind in IDENTITY_FIELDS:
        try:
            listed = await pool.use(upstream, partial(_list_entries, kind=kind))
        except (ToolError, PeerRefused) as error:
            live.failures[kind] = convert_failure(error, mask)
            continue
        live.entries[kind], left_out = await asyncio.to_thread(pin_entries, kind, listed, mask.mask_value)
        live.left_out += left_out
    if list_tools is not None:
        try:
            live.tools = await list_tools(upstream)
        except ToolError as error:
            live.tools_failure = convert_failure(error, mask)
    return live


def convert_failure(error: ToolError | PeerRefused, mask: SecretMask) -> McpFailure:
    """Return an error as one of MCP, with credentials masked."""
    if isinstance(error, PeerRefused):
        return McpFailure(*map(mask.mask_value, error.failure))
    return McpFailure(_INTERNAL_ERROR, mask.text(error.message))


async def _list_entries(session: McpSession, *, kind: EntryKind) -> list[dict[str, Any]]:
    return await session.list_entries(_LIST_METHODS[kind], kind)
