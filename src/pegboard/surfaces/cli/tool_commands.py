"""`pegboard tools`: list, check, remove and restore tools."""

from __future__ import annotations

import sys
from collections import defaultdict
from typing import Annotated, Any
from urllib.parse import urlencode

import typer

from pegboard.surfaces.cli.api_client import ApiClient, ApiReply, build_path
from pegboard.surfaces.cli.exit_codes import RequestRefused, UsageError
from pegboard.surfaces.cli.output import (
    ask_confirmation,
    format_count,
    format_local_time,
    format_yes_no,
    to_single_line,
    write,
    write_json,
    write_message,
    write_table,
)
from pegboard.surfaces.cli.resources import (
    Columns,
    ToolName,
    complete_tools,
    find_agent_id,
    get_tool,
    list_resources,
    run_and_write,
    run_with_client,
    write_next_page_hint,
)
from pegboard.surfaces.cli.session import PageOptions, get_session

_SEVERITIES = ("refuse", "misread", "note")


def list_tools(
    ctx: typer.Context,
    *,
    kind: Annotated[str | None, typer.Option("--type", help="Only this kind: http, mcp, python, …")] = None,
    active: Annotated[bool | None, typer.Option("--active/--inactive", help="Only active or inactive tools")] = None,
    public: Annotated[bool | None, typer.Option("--public/--private", help="Only public or private tools")] = None,
    tag: Annotated[str | None, typer.Option("--tag", help="Only tools with this tag")] = None,
    query: Annotated[str | None, typer.Option("--query", "-q", help="Part of the name or description")] = None,
    mine: Annotated[bool, typer.Option("--mine", help="Only your own tools")] = False,
    deleted: Annotated[bool, typer.Option("--deleted", help="Removed tools instead")] = False,
    page: PageOptions,
) -> None:
    """List the tools you may see, by name."""
    wanted = {
        "tool_type": kind,
        "is_active": active,
        "is_public": public,
        "tag": tag,
        "q": query,
        "mine": mine or None,
        "deleted": deleted or None,
    }
    columns: Columns = {
        "NAME": "name",
        "KIND": "tool_type",
        "ACTIVE": lambda tool: format_yes_no(tool["is_active"]),
        "PUBLIC": lambda tool: format_yes_no(tool["is_public"]),
        "TAGS": lambda tool: ", ".join(tool["tags"]),
    }
    last: Columns = {"ID": "id"} if deleted else {"DESCRIPTION": lambda tool: to_single_line(tool["description"])}
    list_resources(ctx, build_path("tools"), {**columns, **last}, "No tools match.", page, **wanted)


def remove_tool(
    ctx: typer.Context,
    name: ToolName,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation")] = False,
) -> None:
    """Remove a tool. Undo with: pegboard tools restore NAME."""
    tool = get_tool(ctx, name).data
    if not yes and sys.stdin.isatty() and not ask_confirmation(f"Remove {tool['name']}?"):
        raise RequestRefused("Nothing was removed")
    run_with_client(ctx, lambda it: it.delete(build_path("tools", tool["id"])))
    if get_session(ctx).as_json:
        write_json({"removed": tool["id"]})
    else:
        write(f"removed {tool['name']}")
        write_message(f"Restore it with: pegboard tools restore {tool['id']}")


def restore_tool(
    ctx: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME|ID", help="From: pegboard tools list --deleted", show_default=False)
    ],
) -> None:
    """Restore a removed tool."""
    path = build_path("tools", name, "restore")
    run_and_write(ctx, lambda it: it.post(path), lambda tool: write(f"restored {tool['name']}"))


def list_versions(ctx: typer.Context, name: ToolName, page: PageOptions) -> None:
    """List the versions of a tool, newest first."""

    def show(found: dict[str, Any]) -> None:
        items = found["items"]
        older = [*(item["definition"] for item in items[1:]), None]
        write_table(
            ["VERSION", "WHEN", "BY", "CHANGED"],
            [
                [
                    item["version"],
                    format_local_time(item["created_at"]),
                    item["created_by"],
                    _describe_change(item, before),
                ]
                for item, before in zip(items, older, strict=True)
            ],
        )
        write_next_page_hint(found)

    run_and_write(ctx, lambda it: it.pages(build_path("tools", name, "versions"), page=page), show)


def _describe_change(item: dict[str, Any], before: dict[str, Any] | None) -> str:
    if item["version"] == 1:
        return "made"
    if before is None:
        return "…"
    now = item["definition"]
    differing = sorted(name for name in {*now, *before} if now.get(name) != before.get(name))
    return ", ".join(differing) or "credentials"


def lint_tools(
    ctx: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Names or ids; by default all tools in your definitions",
            autocompletion=complete_tools,
            show_default=False,
        ),
    ] = None,
    providers: Annotated[
        list[str] | None,
        typer.Option("--for", metavar="PROVIDER", help="A dialect, repeat for several; by default the main providers"),
    ] = None,
    source: Annotated[
        str | None, typer.Option("--file", metavar="FILE|-", help="Check the definitions in this file instead")
    ] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", metavar="AGENT", help="Check the tools of this agent, by name or id")
    ] = None,
) -> None:
    """Report what providers refuse or misread in tool definitions, and their size in tokens.

    Exit code 1 if a provider refuses a definition. Tokens are an estimate: 4 bytes of JSON per token.

    Example: pegboard tools lint get_weather --for openai --for gemini
    """
    if sum([source is not None, bool(names), agent is not None]) > 1:
        raise UsageError("Give one of: names of tools, --file, --agent")
    drafts = None
    if source is not None:
        from pegboard.surfaces.cli.input_files import load_definitions  # noqa: PLC0415 -- only for --file

        drafts = {"tools": [piece.definition for piece in load_definitions([source])]}
    wanted = [("tool", name) for name in names or ()] + [("for", name) for name in providers or ()]

    async def work(client: ApiClient) -> ApiReply:
        of_agent = [] if agent is None else [("agent", await find_agent_id(client, agent))]
        path = build_path("lint") + "?" + urlencode([*wanted, *of_agent], errors="replace")
        return await (client.get(path) if drafts is None else client.post(path, drafts))

    reply = run_and_write(ctx, work, _show_lint_report)
    if any(finding["severity"] == "refuse" for _, _, finding in _list_findings(reply.data)):
        raise typer.Exit(1)


def _show_lint_report(answer: dict[str, Any]) -> None:
    spent: dict[str, list[int]] = defaultdict(list)
    for provider in answer["providers"]:
        for tool in provider["tools"]:
            spent[tool["tool"]].append(tool["tokens"])
    rows = [[name, _format_range(counts)] for name, counts in spent.items()]
    if rows:
        write_table(["TOOL", "TOKENS"], rows)
    # Equal findings of several providers are printed once.
    dialects_by_finding: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for dialect, tool, finding in _list_findings(answer):
        dialects_by_finding[finding["severity"], tool, finding["field"], finding["message"]].append(dialect)
    if dialects_by_finding:
        every = len(answer["providers"])
        found = sorted(dialects_by_finding.items(), key=lambda item: _SEVERITIES.index(item[0][0]))
        write_table(
            ["SEVERITY", "TOOL", "FOR", "FIELD", "FINDING"],
            [
                [severity, tool, "all" if 1 < every == len(dialects) else ", ".join(dialects), field, message]
                for (severity, tool, field, message), dialects in found
            ],
        )
    for provider in answer["providers"]:
        tools = format_count(len(provider["tools"]), "tool")
        write_message(f"{provider['dialect']}: {tools}, about {provider['tokens']} tokens")
    write_message(f"Tokens: {answer['counted']}", colour="dim")


def _list_findings(answer: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """Return every finding with its provider and tool."""
    return [
        (provider["dialect"], tool, finding)
        for provider in answer["providers"]
        for tool, findings in (
            ("", provider["findings"]),
            *((each["tool"], each["findings"]) for each in provider["tools"]),
        )
        for finding in findings
    ]


def _format_range(counts: list[int]) -> str:
    return str(counts[0]) if len(set(counts)) == 1 else f"{min(counts)}-{max(counts)}"
