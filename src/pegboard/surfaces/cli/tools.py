"""`pegboard tools`: the registry."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pegboard.surfaces.cli.calls import ToolName
from pegboard.surfaces.cli.failures import Refused, Usage
from pegboard.surfaces.cli.output import confirmed, moment, one_line, say, write, write_json, write_table, yes_no
from pegboard.surfaces.cli.pairs import read_pairs
from pegboard.surfaces.cli.routes import route
from pegboard.surfaces.cli.session import board_command, give, group, session_of, with_board

if TYPE_CHECKING:
    from pegboard.surfaces.cli.client import Reply
    from pegboard.surfaces.cli.files import Piece

app = group("tools", "Register, change, list and remove tools.")

Limit = Annotated[int, typer.Option("--limit", min=1, help="How many at most")]
Cursor = Annotated[str | None, typer.Option("--cursor", help="next_cursor of the previous page", show_default=False)]
Every = Annotated[bool, typer.Option("--all", help="All pages")]
Source = Annotated[str, typer.Argument(metavar="FILE|-", help="YAML or JSON; - is standard input", show_default=False)]


_UPDATE = "To update tools that exist: pegboard apply FILE"


def say_more(page: dict[str, Any]) -> None:
    """Say how to read on where a list was cut."""
    if page.get("next_cursor"):
        say(f"More results. Show all: --all. Next page: --cursor {page['next_cursor']}")


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
    every: Every = False,
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
                    yes_no(tool["is_active"]),
                    yes_no(tool["is_public"]),
                    ", ".join(tool["tags"]),
                    tool["id"] if deleted else one_line(tool["description"]),
                ]
                for tool in page["items"]
            ],
            "No tools match.",
        )
        say_more(page)

    give(
        ctx, with_board(ctx, lambda it: it.pages(route("tools"), wanted, limit=limit, cursor=cursor, every=every)), show
    )


@board_command(app, "show")
def show_tool(ctx: typer.Context, name: ToolName) -> None:
    """Show one tool, secrets masked."""
    give(ctx, _get(ctx, name), _show)


@board_command(app, "add")
def add(ctx: typer.Context, source: Source) -> None:
    """Register the tools that a file defines, all of them or none.

    Example: pegboard tools add weather.yaml
    """
    from pegboard.surfaces.cli.files import load  # noqa: PLC0415 -- start-up time

    pieces = load([source])
    added = [_add_one(ctx, pieces[0], source)] if len(pieces) == 1 else _add_all(ctx, pieces, source)
    if not session_of(ctx).as_json:
        for reply in added:
            write(f"added {reply.data['name']}  {reply.data['id']}")
    elif len(pieces) == 1:
        write(added[0].text)
    else:
        write("[" + ",".join(reply.text for reply in added) + "]")


def _add_one(ctx: typer.Context, piece: Piece, source: str) -> Reply:
    try:
        return with_board(ctx, lambda it: it.post(route("tools"), piece.definition))
    except Refused as refused:
        where = f"{piece.place}: " if source != "-" else ""
        lines = [*refused.lines, *([_UPDATE] if refused.status == 409 else [])]
        raise Refused(where + refused.message, lines, status=refused.status) from None


def _add_all(ctx: typer.Context, pieces: Sequence[Piece], source: str) -> list[Reply]:
    """Add the tools in one change, after a look at whether all of them are new."""
    from pegboard.surfaces.cli.as_code import ask_apply  # noqa: PLC0415 -- start-up time

    planned = ask_apply(ctx, pieces, prune=False, dry_run=True).data
    if existing := [*planned["updated"], *planned["unchanged"]]:
        some = ", ".join(existing[:10]) + (" …" if len(existing) > 10 else "")
        raise Refused(f"{source}: nothing was added, because these tools exist: {some}", [_UPDATE], status=409)
    ask_apply(ctx, pieces, prune=False, dry_run=False)
    return [_get(ctx, name) for name in planned["created"]]


@board_command(app, "edit")
def edit(
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
        raise Usage("Give the fields as FIELD=VALUE or with --input, not both")
    if source is None and not words:
        from pegboard.surfaces.cli.editing import edit_by_hand  # noqa: PLC0415 -- start-up time

        reply = edit_by_hand(ctx, _get(ctx, name).data)
        if reply is None:
            say("Nothing was changed")
            return
    elif source is not None:
        from pegboard.surfaces.cli.files import load_object  # noqa: PLC0415 -- start-up time

        change = load_object(source)
        reply = with_board(ctx, lambda it: it.patch(route("tools", name), change))
    else:
        body = read_pairs(words or []).body
        reply = with_board(ctx, lambda it: it.send("PATCH", route("tools", name), body=body))
    give(ctx, reply, lambda tool: write(f"{tool['name']} is at version {tool['version']}"))


@board_command(app, "remove")
def remove(
    ctx: typer.Context,
    name: ToolName,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation")] = False,
) -> None:
    """Remove a tool. Undo with: pegboard tools restore NAME."""
    tool = _get(ctx, name).data
    if not yes and sys.stdin.isatty() and not confirmed(f"Remove {tool['name']}?"):
        raise Refused("Nothing was removed")
    with_board(ctx, lambda it: it.delete(route("tools", tool["id"])))
    if session_of(ctx).as_json:
        write_json({"removed": tool["id"]})
    else:
        write(f"removed {tool['name']}")
        say(f"Put it back with: pegboard tools restore {tool['id']}")


@board_command(app, "restore")
def restore(
    ctx: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME|ID", help="As in: pegboard tools list --deleted", show_default=False)
    ],
) -> None:
    """Restore a removed tool."""
    reply = with_board(ctx, lambda it: it.post(route("tools", name, "restore")))
    give(ctx, reply, lambda tool: write(f"restored {tool['name']}"))


@board_command(app, "accept")
def accept(
    ctx: typer.Context,
    name: ToolName,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change")] = False,
) -> None:
    """Accept the changed definition of a tool from its MCP server."""
    from pegboard.surfaces.cli.imports import differences  # noqa: PLC0415 -- start-up time

    def show(answer: dict[str, Any]) -> None:
        if answer["changes"]:
            write(differences(answer["name"], answer["changes"]))
        say("Nothing was changed" if dry_run else f"accepted {answer['name']}")

    path = route("tools", name, "accept")
    give(ctx, with_board(ctx, lambda it: it.send("POST", path, params={"dry_run": dry_run}, patient=True)), show)


@board_command(app, "versions")
def versions(
    ctx: typer.Context, name: ToolName, limit: Limit = 50, cursor: Cursor = None, every: Every = False
) -> None:
    """List the versions of a tool, newest first."""

    def show(page: dict[str, Any]) -> None:
        items = page["items"]
        older = [*(item["definition"] for item in items[1:]), None]
        write_table(
            ["VERSION", "WHEN", "BY", "CHANGED"],
            [
                [item["version"], moment(item["created_at"]), item["created_by"], _changed(item, before)]
                for item, before in zip(items, older, strict=True)
            ],
        )
        say_more(page)

    path = route("tools", name, "versions")
    give(ctx, with_board(ctx, lambda it: it.pages(path, {}, limit=limit, cursor=cursor, every=every)), show)


def _get(ctx: typer.Context, name: str) -> Any:
    return with_board(ctx, lambda it: it.get(route("tools", name)))


def _show(tool: dict[str, Any]) -> None:
    from pegboard.registry.documents import write_yaml  # noqa: PLC0415 -- start-up time
    from pegboard.surfaces.cli.definitions import written  # noqa: PLC0415 -- start-up time

    definition = {name: value for name, value in written(tool).items() if value is not None}
    about = {name: value for name, value in tool.items() if name not in definition and value not in (None, [], False)}
    write(write_yaml({**definition, **about}))


def _changed(item: dict[str, Any], before: dict[str, Any] | None) -> str:
    if item["version"] == 1:
        return "made"
    if before is None:
        return "…"
    now = item["definition"]
    differing = sorted(name for name in {*now, *before} if now.get(name) != before.get(name))
    return ", ".join(differing) or "credentials"
