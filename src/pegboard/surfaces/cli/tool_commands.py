"""`pegboard tools`: the registry."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pegboard.surfaces.cli.api_paths import build_path
from pegboard.surfaces.cli.argument_pairs import read_pairs
from pegboard.surfaces.cli.call_command import ToolName
from pegboard.surfaces.cli.exit_codes import RequestRefused, UsageError
from pegboard.surfaces.cli.output import (
    ask_confirmation,
    format_local_time,
    format_yes_no,
    to_single_line,
    write,
    write_json,
    write_message,
    write_table,
)
from pegboard.surfaces.cli.session import board_command, create_group, get_session, run_with_client, write_reply

if TYPE_CHECKING:
    from pegboard.surfaces.cli.api_client import ApiReply
    from pegboard.surfaces.cli.definition_files import LocatedDefinition

app = create_group("tools", "Register, change, list and remove tools.")

Limit = Annotated[int, typer.Option("--limit", min=1, help="How many at most")]
Cursor = Annotated[str | None, typer.Option("--cursor", help="next_cursor of the previous page", show_default=False)]
AllPages = Annotated[bool, typer.Option("--all", help="All pages")]
Source = Annotated[str, typer.Argument(metavar="FILE|-", help="YAML or JSON; - is standard input", show_default=False)]


_UPDATE_HINT = "To update tools that exist: pegboard apply FILE"


def write_next_page_hint(page: dict[str, Any]) -> None:
    """Print how to read on if the list is incomplete."""
    if page.get("next_cursor"):
        write_message(f"More results. Show all: --all. Next page: --cursor {page['next_cursor']}")


@board_command(app, "list")
def list_tools(
    ctx: typer.Context,
    *,
    kind: Annotated[str | None, typer.Option("--type", help="Only this kind: http, mcp, python, …")] = None,
    active: Annotated[bool | None, typer.Option("--active/--inactive", help="Only active or inactive tools")] = None,
    public: Annotated[bool | None, typer.Option("--public/--private", help="Only public or private tools")] = None,
    tag: Annotated[str | None, typer.Option("--tag", help="Only those with this tag")] = None,
    query: Annotated[str | None, typer.Option("--query", "-q", help="Part of the name or description")] = None,
    mine: Annotated[bool, typer.Option("--mine", help="Only your own")] = False,
    deleted: Annotated[bool, typer.Option("--deleted", help="Removed tools instead")] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
    every: AllPages = False,
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

    def show(page: dict[str, Any]) -> None:
        last = "ID" if deleted else "DESCRIPTION"
        write_table(
            ["NAME", "KIND", "ACTIVE", "PUBLIC", "TAGS", last],
            [
                [
                    tool["name"],
                    tool["tool_type"],
                    format_yes_no(tool["is_active"]),
                    format_yes_no(tool["is_public"]),
                    ", ".join(tool["tags"]),
                    tool["id"] if deleted else to_single_line(tool["description"]),
                ]
                for tool in page["items"]
            ],
            "No tools match.",
        )
        write_next_page_hint(page)

    write_reply(
        ctx,
        run_with_client(ctx, lambda it: it.pages(build_path("tools"), wanted, limit=limit, cursor=cursor, every=every)),
        show,
    )


@board_command(app, "show")
def show_tool(ctx: typer.Context, name: ToolName) -> None:
    """Show one tool, secrets masked."""
    write_reply(ctx, _get_tool(ctx, name), _show_definition)


@board_command(app, "add")
def add_tools(ctx: typer.Context, source: Source) -> None:
    """Register the tools that a file defines, all of them or none.

    Example: pegboard tools add weather.yaml
    """
    from pegboard.surfaces.cli.definition_files import load_definitions  # noqa: PLC0415 -- start-up time

    pieces = load_definitions([source])
    added = [_add_one(ctx, pieces[0], source)] if len(pieces) == 1 else _add_all(ctx, pieces, source)
    if not get_session(ctx).as_json:
        for reply in added:
            write(f"added {reply.data['name']}  {reply.data['id']}")
    elif len(pieces) == 1:
        write(added[0].text)
    else:
        write("[" + ",".join(reply.text for reply in added) + "]")


def _add_one(ctx: typer.Context, piece: LocatedDefinition, source: str) -> ApiReply:
    try:
        return run_with_client(ctx, lambda it: it.post(build_path("tools"), piece.definition))
    except RequestRefused as refused:
        where = f"{piece.place}: " if source != "-" else ""
        lines = [*refused.lines, *([_UPDATE_HINT] if refused.status == 409 else [])]
        raise RequestRefused(where + refused.message, lines, status=refused.status) from None


def _add_all(ctx: typer.Context, pieces: Sequence[LocatedDefinition], source: str) -> list[ApiReply]:
    """Add the tools in one change; raise RequestRefused if some of them exist."""
    from pegboard.surfaces.cli.apply_command import request_apply  # noqa: PLC0415 -- start-up time

    planned = request_apply(ctx, pieces, prune=False, dry_run=True).data
    if existing := [*planned["updated"], *planned["unchanged"]]:
        some = ", ".join(existing[:10]) + (" …" if len(existing) > 10 else "")
        raise RequestRefused(
            f"{source}: nothing was added, because these tools exist: {some}", [_UPDATE_HINT], status=409
        )
    request_apply(ctx, pieces, prune=False, dry_run=False)
    return [_get_tool(ctx, name) for name in planned["created"]]


@board_command(app, "edit")
def edit_tool(
    ctx: typer.Context,
    name: ToolName,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FIELD=VALUE | FIELD:=JSON]...", help="What to change", show_default=False),
    ] = None,
    source: Annotated[
        str | None, typer.Option("--input", metavar="FILE|-", help="A file with the fields to change, YAML or JSON")
    ] = None,
) -> None:
    """Change a tool, in $EDITOR if no fields are given.

    Example: pegboard tools edit get_weather is_public:=true timeout:=5
    """
    if source is not None and words:
        raise UsageError("Give the fields as FIELD=VALUE or with --input, not both")
    if source is None and not words:
        from pegboard.surfaces.cli.tool_editing import edit_in_editor  # noqa: PLC0415 -- start-up time

        reply = edit_in_editor(ctx, _get_tool(ctx, name).data)
        if reply is None:
            write_message("Nothing was changed")
            return
    elif source is not None:
        from pegboard.surfaces.cli.definition_files import load_object  # noqa: PLC0415 -- start-up time

        change = load_object(source)
        reply = run_with_client(ctx, lambda it: it.patch(build_path("tools", name), change))
    else:
        body = read_pairs(words or []).body
        reply = run_with_client(ctx, lambda it: it.send("PATCH", build_path("tools", name), body=body))
    write_reply(ctx, reply, lambda tool: write(f"{tool['name']} is at version {tool['version']}"))


@board_command(app, "remove")
def remove_tool(
    ctx: typer.Context,
    name: ToolName,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation")] = False,
) -> None:
    """Remove a tool. Undo with: pegboard tools restore NAME."""
    tool = _get_tool(ctx, name).data
    if not yes and sys.stdin.isatty() and not ask_confirmation(f"Remove {tool['name']}?"):
        raise RequestRefused("Nothing was removed")
    run_with_client(ctx, lambda it: it.delete(build_path("tools", tool["id"])))
    if get_session(ctx).as_json:
        write_json({"removed": tool["id"]})
    else:
        write(f"removed {tool['name']}")
        write_message(f"Put it back with: pegboard tools restore {tool['id']}")


@board_command(app, "restore")
def restore_tool(
    ctx: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME|ID", help="As in: pegboard tools list --deleted", show_default=False)
    ],
) -> None:
    """Restore a removed tool."""
    reply = run_with_client(ctx, lambda it: it.post(build_path("tools", name, "restore")))
    write_reply(ctx, reply, lambda tool: write(f"restored {tool['name']}"))


@board_command(app, "accept")
def accept_tool(
    ctx: typer.Context,
    name: ToolName,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change")] = False,
) -> None:
    """Accept the changed definition of a tool from its MCP server."""
    from pegboard.surfaces.cli.import_commands import format_differences  # noqa: PLC0415 -- start-up time

    def show(answer: dict[str, Any]) -> None:
        if answer["changes"]:
            write(format_differences(answer["name"], answer["changes"]))
        write_message("Nothing was changed" if dry_run else f"accepted {answer['name']}")

    path = build_path("tools", name, "accept")
    write_reply(
        ctx, run_with_client(ctx, lambda it: it.send("POST", path, params={"dry_run": dry_run}, patient=True)), show
    )


@board_command(app, "versions")
def list_versions(
    ctx: typer.Context, name: ToolName, limit: Limit = 50, cursor: Cursor = None, every: AllPages = False
) -> None:
    """List the versions of a tool, newest first."""

    def show(page: dict[str, Any]) -> None:
        items = page["items"]
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
        write_next_page_hint(page)

    path = build_path("tools", name, "versions")
    write_reply(ctx, run_with_client(ctx, lambda it: it.pages(path, {}, limit=limit, cursor=cursor, every=every)), show)


def _get_tool(ctx: typer.Context, name: str) -> Any:
    return run_with_client(ctx, lambda it: it.get(build_path("tools", name)))


def _show_definition(tool: dict[str, Any]) -> None:
    from pegboard.model.documents import write_yaml  # noqa: PLC0415 -- start-up time
    from pegboard.surfaces.cli.definition_text import to_definition  # noqa: PLC0415 -- start-up time

    definition = {name: value for name, value in to_definition(tool).items() if value is not None}
    about = {name: value for name, value in tool.items() if name not in definition and value not in (None, [], False)}
    write(write_yaml({**definition, **about}))


def _describe_change(item: dict[str, Any], before: dict[str, Any] | None) -> str:
    if item["version"] == 1:
        return "made"
    if before is None:
        return "…"
    now = item["definition"]
    differing = sorted(name for name in {*now, *before} if now.get(name) != before.get(name))
    return ", ".join(differing) or "credentials"
