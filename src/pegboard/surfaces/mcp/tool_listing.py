"""The tools that a caller sees, in pages; computed once per caller for each state of the registry."""

from __future__ import annotations

import hashlib
from collections import OrderedDict

from pegboard.dialects.base import Dialect
from pegboard.model.call import Caller
from pegboard.registry.compiled_tool import CompiledTool
from pegboard.registry.snapshot import Snapshot
from pegboard.surfaces.mcp.listed_tool import ListedTool
from pegboard.surfaces.mcp.protocol import INVALID_PARAMS, ProtocolError, Revision

# Lists kept in memory; the list of another caller is computed when it is requested.
_MAX_LISTS = 64
_ListKey = tuple[str, str, str | None]


class _CallerList:
    """The tools of one caller at one version of the snapshot."""

    __slots__ = ("digest", "pages", "tools", "version")

    def __init__(self, tools: list[ListedTool], version: int) -> None:
        self.tools = tools
        self.version = version
        self.digest = hashlib.blake2b(b"".join(tool.digest for tool in tools), digest_size=12).hexdigest()
        self.pages: dict[tuple[bool, int], bytes] = {}


class ToolLists:
    """The lists of tools of all callers, and each tool as it is listed."""

    def __init__(self, snapshot: Snapshot, dialect: Dialect, page_size: int) -> None:
        self._snapshot = snapshot
        self._dialect = dialect
        self._page_size = page_size
        self._listed: dict[str, tuple[CompiledTool, ListedTool]] = {}
        self._lists: OrderedDict[_ListKey, _CallerList] = OrderedDict()

    def find(self, compiled: CompiledTool) -> ListedTool:
        """Return the tool as it is listed."""
        known = self._listed.get(compiled.tool.id)
        if known is not None and known[0] is compiled:
            return known[1]
        listed = ListedTool(compiled, self._dialect)
        self._listed[compiled.tool.id] = compiled, listed
        return listed

    def encode_page(self, caller: Caller, revision: Revision, cursor: str | None) -> bytes:
        """Return `tools` and `nextCursor` as JSON members; raise ProtocolError for a cursor of no current page."""
        wanted = self._find_list(caller)
        index = 0 if cursor is None else self._read_cursor(cursor, wanted)
        page = wanted.pages.get((revision.is_stateless, index))
        if page is None:
            page = wanted.pages[revision.is_stateless, index] = self._encode(wanted, revision, index)
        return page

    def compute_digest(self, caller: Caller) -> str:
        """Return a text that is different if the caller's list has changed."""
        return self._find_list(caller).digest

    def _encode(self, wanted: _CallerList, revision: Revision, index: int) -> bytes:
        end = (index + 1) * self._page_size
        tools = wanted.tools[end - self._page_size : end]
        texts = [tool.stateless_json if revision.is_stateless else tool.session_json for tool in tools]
        following = b',"nextCursor":"%s-%d"' % (wanted.digest.encode(), index + 1) if end < len(wanted.tools) else b""
        return b'"tools":[' + b",".join(texts) + b"]" + following

    def _read_cursor(self, cursor: str, wanted: _CallerList) -> int:
        digest, _, number = cursor.partition("-")
        is_number = number.isascii() and number.isdigit() and len(number) <= 9
        if digest != wanted.digest or not is_number or not 0 < int(number) * self._page_size < len(wanted.tools):
            raise ProtocolError(INVALID_PARAMS, "The cursor is not valid: the list has changed; start again without it")
        return int(number)

    def _find_list(self, caller: Caller) -> _CallerList:
        key = (caller.user_id, caller.role, caller.agent_id)
        known = self._lists.get(key)
        version = self._snapshot.version
        if known is None or known.version != version:
            fresh = _CallerList(self._list_tools(caller), version)
            if known is not None and known.digest == fresh.digest:
                known.version = version
            else:
                known = self._lists[key] = fresh
            if len(self._lists) > _MAX_LISTS:
                self._lists.popitem(last=False)
        self._lists.move_to_end(key)
        return known

    def _list_tools(self, caller: Caller) -> list[ListedTool]:
        offered = self._snapshot.list_offered_tools(caller)
        listed = [(compiled, self.find(compiled)) for compiled in offered]
        if len(self._listed) > 2 * len(listed) + 1000:
            self._forget_removed()
        # A tool that another one of the same name hides cannot be called by its name.
        return [tool for compiled, tool in listed if self._snapshot.find(tool.name) is compiled]

    def _forget_removed(self) -> None:
        current = {compiled.tool.id: compiled for compiled in self._snapshot.iterate_tools()}
        self._listed = {key: known for key, known in self._listed.items() if current.get(key) is known[0]}
