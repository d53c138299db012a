"""Tools as code: `pegboard apply` and `pegboard export`."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

import typer

from pegboard.surfaces.cli.api_paths import build_path
from pegboard.surfaces.cli.exit_codes import RequestRefused, UsageError
from pegboard.surfaces.cli.output import ask_confirmation, colour_text, format_count, format_json, write, write_message
from pegboard.surfaces.cli.session import get_session, run_with_client, write_reply

if TYPE_CHECKING:
    from pegboard.surfaces.cli.api_client import ApiReply
    from pegboard.surfaces.cli.definition_files import LocatedDefinition

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
    from pegboard.surfaces.cli.definition_files import load_definitions  # noqa: PLC0415 -- start-up time

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


def export_definitions(
    ctx: typer.Context,
    target: Annotated[str, typer.Argument(metavar="[FILE|-]", help="Where to write; - is standard output")] = "-",
    form: Annotated[
        Literal["yaml", "json"] | None,
        typer.Option("--format", help="yaml or json; by default json for *.json", show_default=False),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all/--mine", help="All tools whose config you may see, not only your own")
    ] = False,
    tag: Annotated[str | None, typer.Option("--tag", help="Only those with this tag")] = None,
) -> None:
    """Write tool definitions as files for `apply`.

    Credentials are masked, except for references such as {{secret:NAME}}. Applied to the same board, a mask keeps the
    stored value; another board refuses it.

    Example: pegboard export tools.yaml
    """
    from pegboard.model.documents import write_yaml  # noqa: PLC0415 -- start-up time
    from pegboard.registry.shipped_tools import SHIPPED_IDS  # noqa: PLC0415 -- start-up time
    from pegboard.surfaces.cli.definition_text import to_definition  # noqa: PLC0415 -- start-up time

    wanted = {"mine": None if every else True, "tag": tag}
    found = run_with_client(
        ctx, lambda it: it.pages(build_path("tools"), wanted, limit=1, cursor=None, every=True)
    ).data["items"]
    # Tools that are not stored have version 5 UUIDs, derived from their names; they are defined elsewhere.
    own = [tool for tool in found if tool["id"] not in SHIPPED_IDS and UUID(tool["id"]).version != 5]
    whole = [tool for tool in own if tool["config"] is not None]
    document = {"tools": [to_definition(tool) for tool in whole]}
    as_json = form == "json" or (form is None and (get_session(ctx).as_json or target.lower().endswith(".json")))
    text = format_json(document) if as_json else write_yaml(document)
    if target == "-":
        write(text)
    else:
        try:
            Path(target).write_text(text.rstrip("\n") + "\n", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{target}: {error.strerror}") from None
        write_message(f"Wrote {format_count(len(whole), 'tool')} to {target}")
    masked = [tool["name"] for tool in whole if _has_mask([tool["config"], tool["auth_config"]])]
    if masked:
        write_message(
            f"Masked: credentials of {', '.join(masked)}. Another board refuses them; to move these tools, write the "
            "values as {{secret:NAME}} and export again"
        )
    if len(own) > len(whole):
        write_message(
            f"Left out {format_count(len(own) - len(whole), 'tool')} of other users, whose config you may not see"
        )


def _has_mask(value: Any) -> bool:
    from pegboard.model.secrets import MASK  # noqa: PLC0415 -- start-up time

    if isinstance(value, dict):
        return any(map(_has_mask, value.values()))
    return any(map(_has_mask, value)) if isinstance(value, list) else value == MASK


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
    lines = [colour_text(f"+ {name}", "green", sys.stdout) for name in plan["created"]]
    lines += [
        colour_text(f"~ {name} ({', '.join(fields)})", "yellow", sys.stdout) for name, fields in plan["updated"].items()
    ]
    lines += [colour_text(f"- {name}", "red", sys.stdout) for name in plan["deleted"]]
    lines += [colour_text(f"= {name}", "dim", sys.stdout) for name in plan["unchanged"]]
    if lines:
        write("\n".join(lines))
    if is_dry_run:
        write_message(_summarize_plan(plan, "Would apply"))


def _summarize_plan(plan: dict[str, Any], done: str = "Applied") -> str:
    counts = {word: len(plan[word]) for word in ("created", "updated", "deleted", "unchanged")}
    return f"{done}: " + (", ".join(f"{count} {word}" for word, count in counts.items() if count) or "nothing")
