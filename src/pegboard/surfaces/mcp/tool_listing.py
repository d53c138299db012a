"""The tools that a caller sees, in pages; computed once per caller for each state of the registry."""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from pegboard.dialects.base import Dialect
from pegboard.model.call import Caller
from pegboard.model.json_text import json_text
from pegboard.model.tool import Tool
from pegboard.registry.compiled_tool import CompiledTool
from pegboard.registry.snapshot import Snapshot
from pegboard.surfaces.mcp.param_headers import ParamHeader, find_param_headers
from pegboard.surfaces.mcp.protocol import INVALID_PARAMS, ProtocolError, Revision
from pegboard.surfaces.mcp.schema_2020 import convert_to_2020

# Lists kept in memory; the list of another caller is computed when it is requested.
_MAX_LISTS = 64
# The members that follow from the fields of a tool, whatever another server sends.
_OWN_MEMBERS = frozenset({"name", "title", "description", "inputSchema", "outputSchema"})
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
            page = wanted.pages[revision.is_stateless, index] = self._encode_definition(wanted, revision, index)
        return page

    def compute_digest(self, caller: Caller) -> str:
        """Return a text that is different if the caller's list has changed."""
        return self._find_list(caller).digest

    def _encode_definition(self, wanted: _CallerList, revision: Revision, index: int) -> bytes:
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


class ListedTool:
    """The definition of a tool as JSON, and the parts of its schema that its calls need."""

    __slots__ = ("digest", "name", "param_headers", "session_json", "stateless_json")

    def __init__(self, compiled: CompiledTool, dialect: Dialect) -> None:
        tool = compiled.tool
        definition: dict[str, Any] = dialect.define(tool)
        self.name: str = definition["name"]
        definition["description"] = _describe_tool(tool)
        input_schema = convert_to_2020(definition["inputSchema"])
        definition["inputSchema"] = input_schema
        self.param_headers: tuple[ParamHeader, ...] = find_param_headers(input_schema)
        theirs = compiled.kind.list_mcp_members(tool)
        definition.update({name: value for name, value in theirs.items() if name not in _OWN_MEMBERS})
        # Only an object is structured content in the older revision, so only the schema of an object is listed there.
        definition.pop("outputSchema", None)
        output_schema = None if tool.output_schema is None else convert_to_2020(tool.output_schema)
        self.session_json = self.stateless_json = _encode_definition(definition, output_schema)
        if output_schema is not None and output_schema.get("type") != "object":
            self.session_json = _encode_definition(definition, None)
        self.digest = hashlib.blake2b(self.stateless_json, digest_size=16).digest()


def _encode_definition(definition: Mapping[str, Any], output_schema: Mapping[str, Any] | None) -> bytes:
    listed = definition if output_schema is None else {**definition, "outputSchema": output_schema}
    return json_text(listed).encode()


def _describe_tool(tool: Tool) -> str:
    """Return the description, the display name, or the words of the name."""
    for text in (tool.description, tool.display_name):
        if text and text.strip():
            return text
    return re.sub(r"[_-]+", " ", tool.name).strip() or tool.name
