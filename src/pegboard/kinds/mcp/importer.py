"""Imports other MCP servers: their tools as definitions, and what else they offer; accepts changes of tools."""

from __future__ import annotations

import asyncio
import fnmatch
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from pegboard.json_schema.wide_integers import AddNote, fit_schema
from pegboard.kinds.base import InjectedConfig, OpenTool
from pegboard.kinds.import_names import MAX_TAG_LENGTH, make_valid_name, shorten_text
from pegboard.kinds.import_target import Definition, ImportTarget, list_differences, set_visibility
from pegboard.kinds.mcp.config import McpConfig
from pegboard.kinds.mcp.listed_members import HINTS, select_listed_members
from pegboard.kinds.mcp.live_lists import LiveLists, read_live_lists
from pegboard.kinds.mcp.pinned_entries import compare_entries
from pegboard.kinds.mcp.session_pool import MCP_CONNECT_SECONDS, McpSessionPool
from pegboard.kinds.mcp.upstream import Upstream, UpstreamTool, describe_command
from pegboard.kinds.mcp.upstream_store import UpstreamImport, UpstreamStore
from pegboard.kinds.secret_mask import SecretMask
from pegboard.model.accounts import refuse_agents
from pegboard.model.api_errors import Conflict, Fault, Forbidden, Invalid
from pegboard.model.call import Caller
from pegboard.model.call_errors import EgressRefused, Misconfigured, SecretUnreadable, ToolError, UpstreamUnreachable
from pegboard.model.import_report import ImportReport, LeftOut, ReportProgress, ignore_progress
from pegboard.model.registered_upstream import ServerAddress
from pegboard.model.tool import AuthConfig, Kind, Tool
from pegboard.model.validation_messages import validate_model


def build_definition(
    found: UpstreamTool, config: Mapping[str, Any], prefix: str = "", note: AddNote = lambda _text: None
) -> dict[str, Any]:
    """Return the definition of a tool that calls this one, pinned to its digest; `note` gets changes of the schema."""
    hints = {name: bool(found.annotations.get(hint)) for hint, name in HINTS.items()}
    if hints["read_only"]:
        hints["destructive"] = False
    title = found.title or found.annotations.get("title")
    listed = select_listed_members(found, note)
    return {
        "name": make_valid_name(prefix + found.name),
        "description": shorten_text(found.description, 2000) if found.description else None,
        "display_name": shorten_text(title, 255) if isinstance(title, str) and title else None,
        "tool_type": "mcp",
        "config": {
            **{name: value for name, value in config.items() if name != "listed"},
            "tool": found.name,
            "pinned": found.digest,
            **({"listed": listed} if listed else {}),
        },
        "input_schema": stamp_schema(fit_schema(found.input_schema, note)),
        "output_schema": stamp_schema(fit_schema(found.output_schema, note))
        if found.output_schema is not None
        else None,
        **hints,
    }


def make_mcp_source_tag(config: Mapping[str, Any], name: str | None = None) -> str:
    """Return the tag of all tools imported from this server: `mcp:NAME`, else `mcp:HOST`, or `mcp:PROGRAM`."""
    return f"mcp:{name or make_source_name(config)}"[:MAX_TAG_LENGTH]


def make_source_name(config: Mapping[str, Any]) -> str:
    """Return the name of a server that was imported without one: its host and port, or its program."""
    if config.get("server_url") is not None:
        return urlsplit(str(config["server_url"])).netloc
    return describe_command(config["command"])


class ToolSelection:
    """Selects tools of a server by name patterns; without patterns it selects all."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = list(dict.fromkeys(patterns))
        self._used: set[str] = set()

    def __call__(self, found: UpstreamTool) -> bool:
        """True if a pattern matches this tool's name, or if there are no patterns."""
        fitting = [each for each in self._patterns if fnmatch.fnmatchcase(found.name.lower(), each.lower())]
        self._used.update(fitting)
        return bool(fitting) or not self._patterns

    def list_unused(self) -> list[LeftOut]:
        """Return the patterns that matched no tool."""
        return [
            LeftOut(each, "no tool of the server has a name like this")
            for each in self._patterns
            if each not in self._used
        ]


def is_same_upstream(tool: Tool, config: Mapping[str, Any]) -> bool:
    """True if the tool was imported from the server of this config."""
    mine = tool.config
    return mine.get("pinned") is not None and all(mine.get(key) == config.get(key) for key in ("server_url", "command"))


def stamp_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema with MCP's default draft as `$schema` if it has none."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


LIST_SECONDS = 60.0
MAX_WARNINGS = 50
MAX_PREFIX_LENGTH = 64

# Returns a user's config and credentials with that user's secrets filled in.
InjectSecrets = Callable[[str, Mapping[str, Any], Mapping[str, Any] | None], InjectedConfig]


@dataclass(eq=False)
class McpImport:
    """Creates a tool for each tool of another MCP server, pinned to its current definition."""

    import_target: ImportTarget
    upstreams: McpSessionPool
    fill_in: InjectSecrets
    opened: Callable[[Tool], OpenTool]
    registered: UpstreamStore

    async def __call__(
        self,
        caller: Caller,
        *,
        server_url: str | None = None,
        command: Sequence[str] | None = None,
        headers: Mapping[str, str] | None = None,
        env: Mapping[str, str] | None = None,
        working_dir: str | None = None,
        name: str | None = None,
        prefix: str = "",
        include: Sequence[str] = (),
        auth_config: Mapping[str, Any] | None = None,
        is_public: bool | None = None,
        follow: bool | None = None,
        accept: bool = False,
        dry_run: bool = False,
        on_progress: ReportProgress = ignore_progress,
    ) -> ImportReport:
        """Import what a server offers: its tools, prompts, resources and resource templates.

        A repeated import flags what has changed or, with `accept`, updates it. With `follow`, what the server adds
        later is added. The tools have the tag `mcp:NAME`; by default it is the host of the URL, or the program of the
        command.
        """
        refuse_agents(caller)
        if command is not None and not caller.is_admin:
            raise Forbidden("Only admins may import from a command, since it is started on this machine")
        _check_prefix(prefix)
        wanted = ToolSelection(include)
        given = {
            "server_url": server_url,
            "command": list(command) if command is not None else None,
            "headers": dict(headers or {}),
            "env": dict(env or {}),
            "working_dir": working_dir,
        }
        config = {name: value for name, value in given.items() if value}
        validate_model(McpConfig, config, "")
        if auth_config is not None:
            validate_model(AuthConfig, auth_config, "auth_config")
        on_progress("listing", 0, 0)
        with self.import_target.import_threads.place(caller), convert_to_refusal():
            filled = self.fill_in(caller.user_id, config, auth_config)
            offered = await self._list_upstream_tools(filled, caller.user_id)
            live = await self._list_entries(filled, caller.user_id)
        warnings: dict[str, None] = {}

        def note(name: str, text: str) -> None:
            if len(warnings) < MAX_WARNINGS:
                warnings[f"{name}: {text}"] = None

        definitions, left_out = build_import_definitions(
            filter(wanted, offered), config, auth_config, name=name, prefix=prefix, is_public=is_public, note=note
        )
        taken = await self.import_target.import_tools(
            definitions,
            caller,
            lambda tool, _definition: is_same_upstream(tool, config),
            held_back=lambda now, then: not accept and now.config.get("pinned") != then.config.get("pinned"),
            dry_run=dry_run,
            on_progress=on_progress,
        )
        taken.left_out[:0] = [*left_out, *wanted.list_unused(), *live.left_out]
        taken.left_out.extend(LeftOut(kind, failure.message) for kind, failure in live.failures.items())
        taken.warnings.extend(warnings)
        if not dry_run:
            await self.flag_drifted(taken)
        names = {found.name for found in offered}
        before = await self.import_target.list_owned(caller, lambda tool: is_same_upstream(tool, config))
        taken.gone.extend(tool.name for tool in before if (tool.config.get("tool") or tool.name) not in names)
        command_words = None if command is None else tuple(command)
        given_upstream = UpstreamImport(
            shorten_text(name or make_source_name(config), 255),
            ServerAddress(server_url, command_words, prefix),
            config,
            auth_config,
            include,
            is_public,
            follow,
            [found.name for found in offered],
            partial(compare_entries, live=live.entries, is_adding=True, accepts=lambda *_: accept, is_import=True),
        )
        return await self._register(taken, given_upstream, caller, dry_run=dry_run)

    async def accept(
        self, ref: str, caller: Caller, *, digest: str | None = None, dry_run: bool = False
    ) -> tuple[Tool, dict[str, Any]]:
        """Update the tool to its server's current definition and unflag it; return it and the changed fields.

        With a `digest`, raise Conflict unless it is that of the current definition (`config.pinned` in the changes of
        a dry run), so that no definition is accepted that the caller has not seen.
        """
        tool = await self.import_target.get_owned(ref, caller)
        if tool.tool_type != Kind.MCP:
            raise Conflict(f"Tool '{tool.name}' is of kind {tool.tool_type}; only what an MCP server offers can drift")
        wanted = tool.config.get("tool") or tool.name
        with convert_to_refusal():
            opened = self.opened(tool)
            offered = await self._list_upstream_tools(
                InjectedConfig(dict(opened.config), opened.auth, opened.secrets), tool.owner_id
            )
        found = next((each for each in offered if each.name == wanted), None)
        if found is None:
            raise Conflict(f"The server of '{tool.name}' no longer offers '{wanted}'; remove the tool, or import again")
        if digest is not None and digest != found.digest:
            raise Conflict(f"The server of '{tool.name}' has changed '{wanted}' again; look at the new changes first")
        own = self.import_target.define(tool)
        patch = {name: value for name, value in build_definition(found, own["config"]).items() if name != "name"}
        changes = list_differences(own, patch)
        if not dry_run:
            tool = await self.import_target.accept(tool, patch, caller)
        return tool, changes

    async def _register(
        self, taken: ImportReport, given: UpstreamImport, caller: Caller, *, dry_run: bool
    ) -> ImportReport:
        """Save the server, unless in a dry run, and return the report with what happened to its entries."""
        if dry_run:
            known = self.registered.find(given.address, caller.user_id)
            found = given.compare(known.entries if known is not None else {})
        else:
            known, found = await self.registered.save(given, caller)
        taken.left_out.extend(found.left_out)
        return replace(taken, entries=found.changes, upstream_id=known.id if known is not None else None)

    async def _list_entries(self, filled: InjectedConfig, owner_id: str) -> LiveLists:
        upstream = Upstream.of(validate_model(McpConfig, filled.config, ""), filled.auth, owner_id)
        mask = SecretMask(upstream.secrets | filled.secrets)
        return await read_live_lists(self.upstreams, upstream, mask)

    async def _list_upstream_tools(self, filled: InjectedConfig, owner_id: str) -> Sequence[UpstreamTool]:
        upstream = Upstream.of(validate_model(McpConfig, filled.config, ""), filled.auth, owner_id)
        self.upstreams.check(upstream)
        # A longer connect timeout also extends the time for listing tools.
        seconds = LIST_SECONDS * max(1.0, self.upstreams.connect_seconds / MCP_CONNECT_SECONDS)
        try:
            async with asyncio.timeout(seconds):
                return await self.upstreams.list_all_tools(upstream)
        except TimeoutError:
            raise UpstreamUnreachable(f"{upstream.display_name} did not list its tools within {seconds:g} s") from None
        except ToolError as error:
            raise SecretMask(upstream.secrets | filled.secrets).error(error) from None

    async def flag_drifted(self, taken: ImportReport) -> None:
        """Flag the tools that their server has changed, and unflag those that match their accepted definition again."""
        drifted = (await self.import_target.find_tools(taken.drifted)).values()
        others = (await self.import_target.find_tools([*taken.unchanged, *taken.updated])).values()
        await self.import_target.flag(drifted, [tool for tool in others if tool.drifted])


@contextmanager
def convert_to_refusal() -> Iterator[None]:
    """Convert errors that are not the server's fault, raised before the server is called, to a refusal."""
    try:
        yield
    except (EgressRefused, Misconfigured, SecretUnreadable) as error:
        field = "server_url" if isinstance(error, EgressRefused) else ""
        raise Invalid.of("The import cannot start", [Fault(field, error.message)]) from None


def _check_prefix(prefix: str) -> None:
    if len(prefix) > MAX_PREFIX_LENGTH:
        fault = f"has more than {MAX_PREFIX_LENGTH} characters"
        raise Invalid.of("The import is not valid", [Fault("prefix", fault)])
    if prefix and make_valid_name(f"{prefix}a") != f"{prefix}a":
        fault = "may hold ASCII letters, digits, - and _, and cannot start with a digit"
        raise Invalid.of("The import is not valid", [Fault("prefix", fault)])


def build_import_definitions(
    tools: Iterable[UpstreamTool],
    config: Mapping[str, Any],
    auth_config: Mapping[str, Any] | None,
    *,
    name: str | None,
    prefix: str,
    is_public: bool | None,
    note: Callable[[str, str], None] = lambda _name, _text: None,
) -> tuple[list[Definition], list[LeftOut]]:
    """Return the definitions of a server's tools, and what is left out; `note` gets changes of a tool's schema."""
    return _split_duplicates(
        [
            set_visibility(build_definition(found, config, prefix, partial(note, found.name)), is_public)
            | {"tags": [make_mcp_source_tag(config, name)]}
            | ({"auth_config": auth_config} if auth_config else {})
            for found in tools
        ]
    )


def _split_duplicates(definitions: Sequence[Definition]) -> tuple[list[Definition], list[LeftOut]]:
    """Return the first definition of each name; the others are left out."""
    first: dict[str, Definition] = {}
    others = []
    for definition in definitions:
        mine = definition["config"]["tool"]
        if "{{" in mine:
            # It would be filled in as a secret of the importing user.
            others.append(LeftOut(mine, "its name holds '{{', which would refer to a secret of yours"))
            continue
        kept = first.setdefault(definition["name"].lower(), definition)
        if kept is not definition:
            theirs = kept["config"]["tool"]
            others.append(LeftOut(mine, f"has the same name as '{theirs}' by the rules of this board"))
    return list(first.values()), others
