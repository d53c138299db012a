"""Shared by the handlers of all methods: the board, its lists, and the open sessions and streams of a process."""

from __future__ import annotations

from dataclasses import replace

from pegboard.board import Pegboard
from pegboard.model.call import Caller
from pegboard.surfaces.mcp.entry_list_changes import EntryListChanges
from pegboard.surfaces.mcp.list_changes import ListChanges
from pegboard.surfaces.mcp.mcp_sessions import McpSessions
from pegboard.surfaces.mcp.peer_lists import PeerLists
from pegboard.surfaces.mcp.request_state import RequestStates
from pegboard.surfaces.mcp.stream_clock import StreamClock
from pegboard.surfaces.mcp.tool_listing import ToolLists
from pegboard.telemetry.tracing import find_tracing

_AgentKey = tuple[str, str, str | None, str | None]


class McpServer:
    """One board as an MCP server, independent of the transport."""

    def __init__(self, board: Pegboard, *, page_size: int, max_sessions: int, list_ttl_ms: int) -> None:
        self.calls = board.calls
        self.snapshot = board.snapshot
        self.lists = ToolLists(board.snapshot, board.dialects["mcp"], page_size)
        self.states = RequestStates(board.vault.seal, board.vault.open)
        self.peers = PeerLists(board.snapshot, page_size)
        self.changes = ListChanges(board.snapshot, board.watchers, self.lists, EntryListChanges(self.peers))
        self.sessions = McpSessions(max_sessions)
        self.clock = StreamClock()
        self.most_streams = max_sessions
        self.cache_members = b'"ttlMs":%d,"cacheScope":"private"' % list_ttl_ms
        self._people = board.people
        self.tracing = find_tracing()
        self._agent_callers: dict[_AgentKey, Caller] = {}
        self._agents_version = -1

    def find_agent_caller(self, ref: str, caller: Caller) -> Caller:
        """Return the caller as limited to the tools of an agent, given by id or name; raise NotFound if unknown."""
        if self._agents_version != self.snapshot.version:
            self._agent_callers.clear()
            self._agents_version = self.snapshot.version
        key = (ref, caller.user_id, caller.key_id, caller.agent_id)
        found = self._agent_callers.get(key)
        if found is None:
            agent = self._people.find_agent(ref, caller)
            # A key that is bound to an agent has the rights of a member, also if its owner is an admin.
            found = self._agent_callers[key] = replace(caller, role="member", agent_id=agent.id)
        return found


def create_mcp_server(board: Pegboard) -> McpServer:
    """Return the server of a board, with its settings."""
    settings = board.settings
    return McpServer(
        board,
        page_size=settings.mcp_page_size,
        max_sessions=settings.mcp_sessions,
        list_ttl_ms=settings.mcp_list_ttl_ms,
    )
