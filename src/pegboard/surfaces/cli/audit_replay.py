"""`pegboard audit replay`: a recorded call, run again, and what differs."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from pegboard.surfaces.cli.calls import complete_tools
from pegboard.surfaces.cli.failures import Refused
from pegboard.surfaces.cli.output import confirmed, one_line, plain, say, write, write_table
from pegboard.surfaces.cli.routes import route
from pegboard.surfaces.cli.session import give, with_board

_CONFLICT = 409
_SIGNS = {"changed": "~", "added": "+", "removed": "-"}
_WIDEST = 64
_LONGEST = 400


def replay(
    ctx: typer.Context,
    execution_id: Annotated[
        str, typer.Argument(metavar="ID", help="The call's id, from: audit list", show_default=False)
    ],
    *,
    tool: Annotated[
        str | None,
        typer.Option("--tool", metavar="NAME", help="Run it against this tool", autocompletion=complete_tools),
    ] = None,
    version: Annotated[
        int | None, typer.Option("--version", metavar="N", help="Run it against this version of its own tool")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask, although it may repeat effects")] = False,
) -> None:
    """Run a recorded call again and show what differs.

    Example: pegboard audit replay 01a1de67-d38f-7fad-935b-1783e6436bab --version 2
    """
    wanted = {"tool": tool, "version": version}

    def run(confirm: bool) -> Any:
        body = json.dumps({**wanted, "confirm": confirm}).encode()
        path = route("executions", execution_id, "replay")
        return with_board(ctx, lambda it: it.send("POST", path, body=body, patient=True, any_status=True))

    try:
        reply = run(yes)
    except Refused as refusal:
        if refusal.status != _CONFLICT or not sys.stdin.isatty():
            raise
        say(refusal.message)
        if not confirmed("Run it again all the same?"):
            raise Refused("Nothing was run") from None
        reply = run(True)
    give(ctx, reply, _show)
    if reply.data["same"] is False or not reply.data["result"]["success"]:
        raise typer.Exit(1)


def _show(answer: dict[str, Any]) -> None:
    then, now = answer["execution"], answer["result"]
    status = next((each["after"] for each in answer["differences"] if each["path"] == "status"), then["status"])
    rows = [
        ("recorded", then["tool_name"], then["tool_version"], then["status"], then["elapsed_ms"], then["id"]),
        ("now", answer["tool_name"], answer["tool_version"], status, now["execution_time_ms"], answer["repeated_by"]),
    ]
    write_table(
        ["", "TOOL", "VERSION", "STATUS", "MS", "ID"],
        [
            [when, one_line(tool, _WIDEST), version, ended, f"{ms:.1f}", key]
            for when, tool, version, ended, ms, key in rows
        ],
    )
    for difference in answer["differences"]:
        write(plain(_line(difference)))
    if answer["more"]:
        write("… and more")
    if answer["same"]:
        write("the same")
    if not now["success"]:
        say(now["error"], label="Failed: ", colour="red")
    elif answer["same"] is None:
        say(answer["note"])


def _line(difference: dict[str, Any]) -> str:
    """One line, whatever a key of the result is called."""
    change = difference["change"]
    values = [
        json.dumps(difference[side], ensure_ascii=False)
        for side, missing in (("before", "added"), ("after", "removed"))
        if change != missing
    ]
    return f"{_SIGNS[change]} {one_line(difference['path'], _LONGEST)}: {' → '.join(values)}"
