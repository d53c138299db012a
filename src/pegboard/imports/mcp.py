"""Tools from other MCP servers, and what becomes of them when those change."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from pegboard.core.call import Caller
from pegboard.core.errors import EgressRefused, Misconfigured, SecretUnreadable, ToolError, UpstreamUnreachable
from pegboard.core.outbound import McpConfig
from pegboard.core.refusals import Conflict, Fault, Forbidden, Invalid
from pegboard.core.tool import AuthConfig, Kind, Tool
from pegboard.executors.base import OpenTool
from pegboard.executors.masking import Mask
from pegboard.executors.mcp.pool import Upstreams
from pegboard.executors.mcp.upstream import Upstream, UpstreamTool
from pegboard.imports.base import Definition, Shelf, differences, published
from pegboard.imports.workshop import Tell, silent
from pegboard.registry.definition import checked, definition_of
from pegboard.registry.openapi.naming import valid_name
from pegboard.registry.opening import Filled
from pegboard.registry.registry import refuse_agents
from pegboard.registry.taking import LeftOut, TakenOn
from pegboard.registry.upstream import Wanted, definition_from, same_upstream, source_tag

LIST_SECONDS = 60.0
MOST_WARNINGS = 50

# Config and credentials as the user of this id wrote them, with that user's secrets filled in.
FillIn = Callable[[str, Mapping[str, Any], Mapping[str, Any] | None], Filled]


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
        _check_prefix(prefix)
        wanted = Wanted(include)
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
        with self._shelf.workshop.place(caller), _refusing():
            offered = await self._offered(self._fill_in(caller.user_id, config, auth_config), caller.user_id)
        warnings: dict[str, None] = {}

        def note(name: str, text: str) -> None:
            if len(warnings) < MOST_WARNINGS:
                warnings[f"{name}: {text}"] = None

        definitions, left_out = _told_apart(
            [
                published(definition_from(found, config, prefix, partial(note, found.name)), is_public)
                | {"tags": [source_tag(config)]}
                | ({"auth_config": auth_config} if auth_config else {})
                for found in offered
                if wanted(found)
            ]
        )
        taken = await self._shelf.take_on(
            definitions,
            caller,
            lambda tool, _definition: same_upstream(tool, config),
            held_back=lambda now, then: not accept and now.config.get("pinned") != then.config.get("pinned"),
            dry_run=dry_run,
            tell=tell,
        )
        taken.left_out[:0] = [*left_out, *wanted.unused()]
        taken.warnings.extend(warnings)
        if not dry_run:
            await self._flag(taken)
        names = {found.name for found in offered}
        before = await self._shelf.owned(caller, lambda tool: same_upstream(tool, config))
        taken.gone.extend(tool.name for tool in before if (tool.config.get("tool") or tool.name) not in names)
        return taken

    async def accept(self, ref: str, caller: Caller, *, dry_run: bool = False) -> tuple[Tool, dict[str, Any]]:
        """The tool as its server defines it now, callable again, and the fields that this changes."""
        tool = await self._shelf.registry.owned(ref, caller)
        if tool.tool_type is not Kind.MCP:
            raise Conflict(f"Tool '{tool.name}' is of kind {tool.tool_type}; only what an MCP server offers can drift")
        wanted = tool.config.get("tool") or tool.name
        with _refusing():
            opened = self._opened(tool)
            offered = await self._offered(Filled(dict(opened.config), opened.auth, opened.secrets), tool.owner_id)
        found = next((each for each in offered if each.name == wanted), None)
        if found is None:
            raise Conflict(f"The server of '{tool.name}' no longer offers '{wanted}'; remove the tool, or import again")
        own = definition_of(tool)
        patch = {name: value for name, value in definition_from(found, own["config"]).items() if name != "name"}
        changes = differences(own, patch)
        if not dry_run:
            tool = await self._shelf.registry.accept(tool, patch, caller)
        return tool, changes

    async def _offered(self, filled: Filled, owner_id: str) -> Sequence[UpstreamTool]:
        upstream = Upstream.of(checked(McpConfig, filled.config, ""), filled.auth, owner_id)
        self._upstreams.check(upstream)
        try:
            async with asyncio.timeout(LIST_SECONDS):
                return await self._upstreams.tools(upstream)
        except TimeoutError:
            raise UpstreamUnreachable(f"{upstream.shown} did not list its tools within {LIST_SECONDS:g} s") from None
        except ToolError as error:
            raise Mask(upstream.secrets | filled.secrets).error(error) from None

    async def _flag(self, taken: TakenOn) -> None:
        """Flag the tools that their server has changed, and no longer those that are what they were taken on as."""
        drifted = (await self._shelf.named(taken.drifted)).values()
        others = (await self._shelf.named([*taken.unchanged, *taken.updated])).values()
        await self._shelf.registry.flag(drifted, [tool for tool in others if tool.drifted])


@contextmanager
def _refusing() -> Iterator[None]:
    """What keeps the server from being asked, and is not the server's fault, as a refusal."""
    try:
        yield
    except (EgressRefused, Misconfigured, SecretUnreadable) as error:
        field = "server_url" if isinstance(error, EgressRefused) else ""
        raise Invalid.of("The server cannot be asked", [Fault(field, error.message)]) from None


def _check_prefix(prefix: str) -> None:
    if prefix and valid_name(f"{prefix}a") != f"{prefix}a":
        fault = "may hold ASCII letters, digits, - and _, and cannot start with a digit"
        raise Invalid.of("The import is not valid", [Fault("prefix", fault)])


def _told_apart(definitions: Sequence[Definition]) -> tuple[list[Definition], list[LeftOut]]:
    """The first of each name, and the others as left out."""
    first: dict[str, Definition] = {}
    others = []
    for definition in definitions:
        mine = definition["config"]["tool"]
        if "{{" in mine:
            # It would be filled in as if the importer had written it.
            others.append(LeftOut(mine, "its name holds '{{', which stands for a secret of yours"))
            continue
        kept = first.setdefault(definition["name"].lower(), definition)
        if kept is not definition:
            theirs = kept["config"]["tool"]
            others.append(LeftOut(mine, f"has the same name as '{theirs}' by the rules of this board"))
    return list(first.values()), others
