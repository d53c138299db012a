"""Tools from other MCP servers, and what becomes of them when those change."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pegboard.core.call import Caller
from pegboard.core.errors import EgressRefused, UpstreamUnreachable
from pegboard.core.outbound import McpConfig
from pegboard.core.refusals import Conflict, Fault, Forbidden, Invalid
from pegboard.core.tool import AuthConfig, Kind, Tool
from pegboard.executors.base import OpenTool
from pegboard.executors.mcp.pool import Upstreams
from pegboard.executors.mcp.upstream import Upstream, UpstreamTool
from pegboard.imports.base import Definition, Shelf, Tell, differences, published, silent
from pegboard.registry.definition import checked, definition_of
from pegboard.registry.registry import refuse_agents
from pegboard.registry.taking import LeftOut, TakenOn
from pegboard.registry.upstream import definition_from, included, same_upstream

LIST_SECONDS = 60.0

# Config and credentials as somebody wrote them, with that user's secrets filled in.
FillIn = Callable[[str, Mapping[str, Any], Mapping[str, Any] | None], tuple[dict[str, Any], dict[str, Any] | None]]


class McpImport:
    """Makes a tool of each tool that another MCP server offers, pinned to what it says of itself."""

    def __init__(
        self, shelf: Shelf, upstreams: Upstreams, *, fill_in: FillIn, opened: Callable[[Tool], OpenTool]
    ) -> None:
        self._shelf = shelf
        self._upstreams = upstreams
        self._fill_in = fill_in
        self._opened = opened

    async def __call__(
        self,
        caller: Caller,
        *,
        server_url: str | None = None,
        command: Sequence[str] | None = None,
        headers: Mapping[str, str] | None = None,
        env: Mapping[str, str] | None = None,
        working_dir: str | None = None,
        prefix: str = "",
        include: Sequence[str] = (),
        auth_config: Mapping[str, Any] | None = None,
        is_public: bool | None = None,
        accept: bool = False,
        dry_run: bool = False,
        tell: Tell = silent,
    ) -> TakenOn:
        """Import a server's tools; run again, it flags those that the server has changed, unless told to accept."""
        refuse_agents(caller)
        if command is not None and not caller.is_admin:
            raise Forbidden("Only admins may import from a command, since it is started on this machine")
        given = {
            "server_url": server_url,
            "command": list(command) if command is not None else None,
            "headers": dict(headers or {}),
            "env": dict(env or {}),
            "working_dir": working_dir,
        }
        config = {name: value for name, value in given.items() if value}
        checked(McpConfig, config, "")
        if auth_config is not None:
            checked(AuthConfig, auth_config, "auth_config")
        tell("listing", 0, 0)
        offered = await self._offered(*self._fill_in(caller.user_id, config, auth_config))
        definitions = [
            published(definition_from(found, config, prefix), is_public)
            | ({"auth_config": auth_config} if auth_config else {})
            for found in offered
            if included(found, include)
        ]
        taking, drifted = await self._sorted(definitions, config, accept=accept)
        unique, doubled = _told_apart(taking)
        taken = await self._shelf.take_on(
            unique, caller, lambda tool, _spec: same_upstream(tool, config), dry_run=dry_run, tell=tell
        )
        taken.left_out.extend(doubled)
        if accept and not dry_run:
            await self._unflag(taken.unchanged, caller)
        for tool, definition in drifted:
            taken.drifted.append(tool.name)
            taken.changes[tool.name] = differences(definition_of(tool), definition)
            if not dry_run:
                await self._shelf.registry.drifted(tool)
        names = {found.name for found in offered}
        before = await self._shelf.owned(caller, lambda tool: same_upstream(tool, config))
        taken.gone.extend(tool.name for tool in before if (tool.config.get("tool") or tool.name) not in names)
        return taken

    async def accept(self, ref: str, caller: Caller, *, dry_run: bool = False) -> tuple[Tool, dict[str, Any]]:
        """The tool as its server defines it now, callable again, and the fields that this changes."""
        tool = await self._shelf.registry.owned(ref, caller)
        if tool.tool_type is not Kind.MCP:
            raise Conflict(f"Tool '{tool.name}' is of kind {tool.tool_type}; only what an MCP server offers can drift")
        opened = self._opened(tool)
        wanted = tool.config.get("tool") or tool.name
        offered = await self._offered(dict(opened.config), opened.auth)
        found = next((each for each in offered if each.name == wanted), None)
        if found is None:
            raise Conflict(f"The server of '{tool.name}' no longer offers '{wanted}'; remove the tool, or import again")
        own = definition_of(tool)
        patch = {name: value for name, value in definition_from(found, own["config"]).items() if name != "name"}
        changes = differences(own, patch)
        if not dry_run:
            tool = await self._shelf.registry.accept(tool, patch, caller)
        return tool, changes

    async def _offered(self, config: dict[str, Any], auth: Mapping[str, Any] | None) -> Sequence[UpstreamTool]:
        upstream = Upstream.of(McpConfig.model_validate(config), auth)
        try:
            async with asyncio.timeout(LIST_SECONDS):
                return await self._upstreams.tools(upstream)
        except EgressRefused as error:
            raise Invalid.of("The server cannot be asked", [Fault("server_url", error.message)]) from None
        except TimeoutError:
            raise UpstreamUnreachable(f"{upstream.shown} did not list its tools within {LIST_SECONDS:g} s") from None

    async def _unflag(self, names: Sequence[str], caller: Caller) -> None:
        """Accept those that are flagged although they are by now what they were."""
        for tool in (await self._shelf.named(names)).values():
            if tool.drifted:
                await self._shelf.registry.accept(tool, {}, caller)

    async def _sorted(
        self, definitions: Sequence[Definition], config: Mapping[str, Any], *, accept: bool
    ) -> tuple[list[Definition], list[tuple[Tool, Definition]]]:
        """The definitions to take on, and those of tools that their server has changed since they were."""
        taking: list[Definition] = []
        drifted: list[tuple[Tool, Definition]] = []
        on_board = await self._shelf.named([str(definition["name"]) for definition in definitions])
        for definition in definitions:
            tool = on_board.get(definition["name"].lower())
            changed = tool is not None and tool.config.get("pinned") != definition["config"]["pinned"]
            if tool is not None and changed and not accept and same_upstream(tool, config):
                drifted.append((tool, definition))
            else:
                taking.append(definition)
        return taking, drifted


def _told_apart(definitions: Sequence[Definition]) -> tuple[list[Definition], list[LeftOut]]:
    """The first of each name, and the others as left out."""
    first: dict[str, Definition] = {}
    others = []
    for definition in definitions:
        kept = first.setdefault(definition["name"].lower(), definition)
        if kept is not definition:
            mine, theirs = definition["config"]["tool"], kept["config"]["tool"]
            others.append(LeftOut(mine, f"has the same name as '{theirs}' by the rules of this board"))
    return list(first.values()), others
