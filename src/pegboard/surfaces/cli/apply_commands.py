"""`pegboard apply` and `pegboard tools add`: register the tools of files."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from pegboard.surfaces.cli.api_client import ApiReply, build_path
from pegboard.surfaces.cli.exit_codes import RequestRefused, UsageError
from pegboard.surfaces.cli.input_files import LocatedDefinition, load_definitions
from pegboard.surfaces.cli.output import ask_confirmation, colour_text, write, write_message
from pegboard.surfaces.cli.resources import get_tool, run_with_client, write_reply
from pegboard.surfaces.cli.session import get_session

Source = Annotated[str, typer.Argument(metavar="FILE|-", help="YAML or JSON; - is standard input", show_default=False)]


_UPDATE_HINT = "To update tools that exist: pegboard apply FILE"
_TOOL_INDEX = re.compile(r"\btools\.(\d+)\b")


def apply_definitions(
    ctx: typer.Context,
    sources: Annotated[
        list[str],
        typer.Argument(metavar="FILE|DIR...", help="YAML or JSON, or folders of them; - is standard input"),
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be done")] = False,
    prune: Annotated[bool, typer.Option("--prune", help="Also remove your tools that are not in the files")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Remove without asking")] = False,
) -> None:
    """Make the board match files of tool definitions.

    All files or none are applied; the plan is shown first.

    Example: pegboard apply tools/ --prune --dry-run
    """
    if prune and not (yes or dry_run) and not (sys.stdin.isatty() and "-" not in sources):
        raise UsageError(
            "--prune may remove tools, and standard input is not a terminal: add --yes, or --dry-run to see the plan"
        )
    pieces = load_definitions(sources)
    planned = request_apply(ctx, pieces, prune=prune, dry_run=True)
    as_json = get_session(ctx).as_json
    if dry_run:
        write_reply(ctx, planned, lambda plan: _show_plan(plan, is_dry_run=True))
        return
    plan = planned.data
    if not as_json:
        _show_plan(plan)
    if plan["deleted"] and not yes and not ask_confirmation(f"Remove {len(plan['deleted'])} tools?"):
        raise RequestRefused("Nothing was applied")
    changes = plan["created"] or plan["updated"] or plan["deleted"]
    done = request_apply(ctx, pieces, prune=prune, dry_run=False) if changes else planned
    if as_json:
        write(done.text)
    else:
        write_message(_summarize_plan(done.data) if changes else "Nothing to do")


def request_apply(ctx: typer.Context, pieces: Sequence[LocatedDefinition], *, prune: bool, dry_run: bool) -> ApiReply:
    """Return the board's response to applying these definitions; raise RequestRefused with the file of each fault."""
    body = {"tools": [piece.definition for piece in pieces], "prune": prune, "dry_run": dry_run}
    try:
        return run_with_client(ctx, lambda it: it.post(build_path("apply"), body, patient=True))
    except RequestRefused as refused:
        if not refused.faults:
            raise
        lines = [_locate_fault(fault, pieces) for fault in refused.faults]
        raise RequestRefused(
            "The definitions are not valid; nothing was applied", lines, status=refused.status
        ) from None


def _locate_fault(fault: dict[str, Any], pieces: Sequence[LocatedDefinition]) -> str:
    """Return the fault with the file and line in place of the index in the request."""

    def place(match: re.Match[str]) -> str:
        number = int(match[1])
        return pieces[number].place if number < len(pieces) else match[0]

    where = _TOOL_INDEX.sub(place, str(fault.get("field", "")), count=1)
    return f"{where}: {_TOOL_INDEX.sub(place, str(fault.get('message', '')))}"


def _show_plan(plan: dict[str, Any], *, is_dry_run: bool = False) -> None:
    lines = [colour_text(f"+ {name}", "green") for name in plan["created"]]
    lines += [colour_text(f"~ {name} ({', '.join(fields)})", "yellow") for name, fields in plan["updated"].items()]
    lines += [colour_text(f"- {name}", "red") for name in plan["deleted"]]
    lines += [colour_text(f"= {name}", "dim") for name in plan["unchanged"]]
    if lines:
        write("\n".join(lines))
    if is_dry_run:
        write_message(_summarize_plan(plan, "Would apply"))


def _summarize_plan(plan: dict[str, Any], done: str = "Applied") -> str:
    counts = {word: len(plan[word]) for word in ("created", "updated", "deleted", "unchanged")}
    return f"{done}: " + (", ".join(f"{count} {word}" for word, count in counts.items() if count) or "nothing")


def add_tools(ctx: typer.Context, source: Source) -> None:
    """Register the tools that a file defines, all of them or none.

    Example: pegboard tools add weather.yaml
    """
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
    planned = request_apply(ctx, pieces, prune=False, dry_run=True).data
    if existing := [*planned["updated"], *planned["unchanged"]]:
        some = ", ".join(existing[:10]) + (" …" if len(existing) > 10 else "")
        raise RequestRefused(
            f"{source}: nothing was added, because these tools exist: {some}", [_UPDATE_HINT], status=409
        )
    request_apply(ctx, pieces, prune=False, dry_run=False)
    return [get_tool(ctx, name) for name in planned["created"]]
