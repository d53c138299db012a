"""Tools as code: `pegboard apply` and `pegboard export`."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

import typer

from pegboard.surfaces.cli.failures import Refused, Usage
from pegboard.surfaces.cli.output import confirmed, counted, json_text, painted, say, write
from pegboard.surfaces.cli.routes import route
from pegboard.surfaces.cli.session import give, session_of, with_board

if TYPE_CHECKING:
    from pegboard.surfaces.cli.client import Reply
    from pegboard.surfaces.cli.files import Piece

_INDEX = re.compile(r"\btools\.(\d+)\b")


def apply(
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
    from pegboard.surfaces.cli.files import load  # noqa: PLC0415 -- start-up time

    if prune and not (yes or dry_run) and not (sys.stdin.isatty() and "-" not in sources):
        raise Usage(
            "--prune may remove tools, and standard input is not a terminal: add --yes, or --dry-run to see the plan"
        )
    pieces = load(sources)
    planned = ask_apply(ctx, pieces, prune=prune, dry_run=True)
    as_json = session_of(ctx).as_json
    if dry_run:
        give(ctx, planned, lambda plan: _show_plan(plan, is_dry_run=True))
        return
    plan = planned.data
    if not as_json:
        _show_plan(plan)
    if plan["deleted"] and not yes and not confirmed(f"Remove {len(plan['deleted'])} tools?"):
        raise Refused("Nothing was applied")
    changes = plan["created"] or plan["updated"] or plan["deleted"]
    done = ask_apply(ctx, pieces, prune=prune, dry_run=False) if changes else planned
    if as_json:
        write(done.text)
    else:
        say(_summary(done.data) if changes else "Nothing to do")


def export(
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
    from pegboard.registry.documents import write_yaml  # noqa: PLC0415 -- start-up time
    from pegboard.registry.shipped import SHIPPED_IDS  # noqa: PLC0415 -- start-up time
    from pegboard.surfaces.cli.definitions import written  # noqa: PLC0415 -- start-up time

    wanted = {"mine": None if every else True, "tag": tag}
    found = with_board(ctx, lambda it: it.pages(route("tools"), wanted, limit=1, cursor=None, every=True)).data["items"]
    # Those that are not stored have ids made of their names: what they are is kept elsewhere.
    own = [tool for tool in found if tool["id"] not in SHIPPED_IDS and UUID(tool["id"]).version != 5]
    whole = [tool for tool in own if tool["config"] is not None]
    document = {"tools": [written(tool) for tool in whole]}
    as_json = form == "json" or (form is None and (session_of(ctx).as_json or target.lower().endswith(".json")))
    text = json_text(document) if as_json else write_yaml(document)
    if target == "-":
        write(text)
    else:
        try:
            Path(target).write_text(text.rstrip("\n") + "\n", encoding="utf-8")
        except OSError as error:
            raise Usage(f"{target}: {error.strerror}") from None
        say(f"Wrote {counted(len(whole), 'tool')} to {target}")
    masked = [tool["name"] for tool in whole if _has_mask([tool["config"], tool["auth_config"]])]
    if masked:
        say(
            f"Masked: credentials of {', '.join(masked)}. Another board refuses them; to move these tools, write the "
            "values as {{secret:NAME}} and export again"
        )
    if len(own) > len(whole):
        say(f"Left out {counted(len(own) - len(whole), 'tool')} of other users, whose config you may not see")


def _has_mask(value: Any) -> bool:
    from pegboard.core.tool import MASK  # noqa: PLC0415 -- start-up time

    if isinstance(value, dict):
        return any(map(_has_mask, value.values()))
    return any(map(_has_mask, value)) if isinstance(value, list) else value == MASK


def ask_apply(ctx: typer.Context, pieces: Sequence[Piece], *, prune: bool, dry_run: bool) -> Reply:
    """What the board answers when these definitions are applied, or would be; faults name the files."""
    body = {"tools": [piece.definition for piece in pieces], "prune": prune, "dry_run": dry_run}
    try:
        return with_board(ctx, lambda it: it.post(route("apply"), body, patient=True))
    except Refused as refused:
        if not refused.faults:
            raise
        lines = [_located(fault, pieces) for fault in refused.faults]
        raise Refused("The definitions are not valid; nothing was applied", lines, status=refused.status) from None


def _located(fault: dict[str, Any], pieces: Sequence[Piece]) -> str:
    """The fault with the file that it is in, in place of the number in the list that was sent."""

    def place(match: re.Match[str]) -> str:
        number = int(match[1])
        return pieces[number].place if number < len(pieces) else match[0]

    where = _INDEX.sub(place, str(fault.get("field", "")), count=1)
    return f"{where}: {_INDEX.sub(place, str(fault.get('message', '')))}"


def _show_plan(plan: dict[str, Any], *, is_dry_run: bool = False) -> None:
    lines = [painted(f"+ {name}", "green", sys.stdout) for name in plan["created"]]
    lines += [
        painted(f"~ {name} ({', '.join(fields)})", "yellow", sys.stdout) for name, fields in plan["updated"].items()
    ]
    lines += [painted(f"- {name}", "red", sys.stdout) for name in plan["deleted"]]
    lines += [painted(f"= {name}", "dim", sys.stdout) for name in plan["unchanged"]]
    if lines:
        write("\n".join(lines))
    if is_dry_run:
        say(_summary(plan, "Would apply"))


def _summary(plan: dict[str, Any], done: str = "Applied") -> str:
    counts = {word: len(plan[word]) for word in ("created", "updated", "deleted", "unchanged")}
    return f"{done}: " + (", ".join(f"{count} {word}" for word, count in counts.items() if count) or "nothing")
