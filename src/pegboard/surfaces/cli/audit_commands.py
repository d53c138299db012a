"""`pegboard audit`: list, show and replay recorded calls, and show statistics."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from pegboard.surfaces.cli.api_client import ApiClient, ApiReply, build_path
from pegboard.surfaces.cli.command_arguments import parse_past_time
from pegboard.surfaces.cli.output import (
    MAX_NAME_CHARS,
    escape_control_characters,
    format_local_time,
    to_single_line,
    write,
    write_json,
    write_message,
    write_table,
)
from pegboard.surfaces.cli.resources import (
    Columns,
    complete_tools,
    find_caller_id,
    local_time,
    run_and_write,
    run_confirmed,
    run_with_client,
    show_items,
    write_reply,
)
from pegboard.surfaces.cli.session import PageOptions

_CHANGE_SIGNS = {"changed": "~", "added": "+", "removed": "-"}
_MAX_PATH_CHARS = 400
CallerOption = Annotated[
    str | None, typer.Option("--caller", help="Only calls of this user, by name or id; for admins")
]
ExecutionId = Annotated[str, typer.Argument(metavar="ID", help="The call's id, from: audit list", show_default=False)]
LATENCY_FIELDS = ("p50_ms", "p95_ms", "p99_ms", "max_ms")


def replay_execution(
    ctx: typer.Context,
    execution_id: ExecutionId,
    *,
    tool: Annotated[
        str | None,
        typer.Option("--tool", metavar="NAME", help="Run it with this tool", autocompletion=complete_tools),
    ] = None,
    version: Annotated[
        int | None, typer.Option("--version", metavar="N", help="Run it with this version of its own tool")
    ] = None,
    source: Annotated[
        str | None, typer.Option("--arguments", metavar="FILE|-", help="Run it with the JSON object in this file")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask, even if it may repeat effects")] = False,
) -> None:
    """Run a recorded call again and show what differs.

    Example: pegboard audit replay 01a1de67-d38f-7fad-935b-1783e6436bab --version 2
    """
    arguments = None
    if source is not None:
        from pegboard.surfaces.cli.input_files import read_json_text  # noqa: PLC0415 -- only for --arguments

        arguments = read_json_text(source)[1]
    wanted = {"tool": tool, "version": version, "arguments": arguments}

    def run(confirm: bool) -> Any:
        body = json.dumps({**wanted, "confirm": confirm}).encode()
        path = build_path("executions", execution_id, "replay")
        return run_with_client(ctx, lambda it: it.send("POST", path, body=body, patient=True, any_status=True))

    reply = run_confirmed(run, yes, "Run it again anyway?", "Nothing was run")
    write_reply(ctx, reply, _show_replay)
    if reply.data["same"] is False or not reply.data["result"]["success"]:
        raise typer.Exit(1)


def _show_replay(answer: dict[str, Any]) -> None:
    then, now = answer["execution"], answer["result"]
    status = next((each["after"] for each in answer["differences"] if each["path"] == "status"), then["status"])
    rows = [
        ("recorded", then["tool_name"], then["tool_version"], then["status"], then["elapsed_ms"], then["id"]),
        ("now", answer["tool_name"], answer["tool_version"], status, now["execution_time_ms"], answer["repeated_by"]),
    ]
    write_table(
        ["", "TOOL", "VERSION", "STATUS", "MS", "ID"],
        [
            [when, to_single_line(tool, MAX_NAME_CHARS), version, ended, f"{ms:.1f}", key]
            for when, tool, version, ended, ms, key in rows
        ],
    )
    if answer["arguments_changed"] is not False:
        write(
            "run with other arguments than the recorded ones"
            if answer["arguments_changed"]
            else "run with new arguments"
        )
    for difference in answer["differences"]:
        write(escape_control_characters(_format_difference(difference)))
    if answer["more"]:
        write("… and more")
    if answer["same"]:
        write("the same")
    if not now["success"]:
        write_message(now["error"], label="Failed: ", colour="red")
    elif answer["same"] is None:
        write_message(answer["note"])


def _format_difference(difference: dict[str, Any]) -> str:
    """Return the difference as one line, even if the path contains line breaks."""
    change = difference["change"]
    values = [
        json.dumps(difference[side], ensure_ascii=False)
        for side, missing in (("before", "added"), ("after", "removed"))
        if change != missing
    ]
    return f"{_CHANGE_SIGNS[change]} {to_single_line(difference['path'], _MAX_PATH_CHARS)}: {' → '.join(values)}"


def show_statistics(
    ctx: typer.Context,
    *,
    tool: Annotated[str | None, typer.Option("--tool", help="Only this tool, by name or id")] = None,
    caller: CallerOption = None,
    since: Annotated[str | None, typer.Option("--since", help="From this hour on: 30m, 7d, or an ISO time")] = None,
    until: Annotated[str | None, typer.Option("--until", help="To the end of this hour: the same forms")] = None,
) -> None:
    """Show calls, errors and latencies of each tool in the last day.

    Covers your own calls; for an admin, those of all users. Periods are whole hours. Latencies
    are in milliseconds, of calls that ran, to within 3 per cent.

    Example: pegboard audit stats --since 7d
    """
    wanted = {"tool": tool, "since": parse_past_time(since, "--since"), "until": parse_past_time(until, "--until")}

    async def work(client: ApiClient) -> ApiReply:
        return await client.get(
            build_path("executions", "statistics"), **wanted, caller=await find_caller_id(client, caller)
        )

    def show(report: dict[str, Any]) -> None:
        write_table(
            ["TOOL", "CALLS", "SUCCEEDED", "FAILED", "REFUSED", "IN DOUBT", "P50", "P95", "P99", "MAX", "ERRORS"],
            [
                [
                    "(no such tool)" if found["tool_name"] is None else found["tool_name"],
                    *(found[name] for name in ("calls", "succeeded", "failed", "refused", "in_doubt")),
                    *(_format_milliseconds(found[name]) for name in LATENCY_FIELDS),
                    ", ".join(f"{code} {calls}" for code, calls in found["errors"].items()),
                ]
                for found in report["tools"]
            ],
        )
        write_message(f"From {format_local_time(report['since'])} to {format_local_time(report['until'])}")

    run_and_write(ctx, work, show)


def _format_milliseconds(ms: float | None) -> str:
    """Format milliseconds with three significant digits."""
    if ms is None:
        return ""
    return f"{ms:.0f}" if ms >= 100 else f"{ms:.3g}"


def list_executions(
    ctx: typer.Context,
    *,
    tool: Annotated[str | None, typer.Option("--tool", help="Only calls of this tool, by name or id")] = None,
    caller: CallerOption = None,
    status: Annotated[str | None, typer.Option("--status", help="succeeded, failed, refused or in_doubt")] = None,
    code: Annotated[str | None, typer.Option("--code", help="Only this code, e.g. rate_limited")] = None,
    since: Annotated[str | None, typer.Option("--since", help="Started since: 30m, 1h, 2d, or an ISO time")] = None,
    until: Annotated[str | None, typer.Option("--until", help="Started before: the same forms")] = None,
    agent: Annotated[str | None, typer.Option("--agent", metavar="ID", help="Only calls of this agent")] = None,
    kind: Annotated[str | None, typer.Option("--type", help="Only tools of this kind: http, mcp, …")] = None,
    surface: Annotated[str | None, typer.Option("--surface", help="rest, mcp, cli or library")] = None,
    dialect: Annotated[str | None, typer.Option("--dialect", help="Only calls in this dialect")] = None,
    thread: Annotated[str | None, typer.Option("--thread", metavar="ID", help="Only calls of this thread")] = None,
    chain: Annotated[
        str | None, typer.Option("--chain", metavar="ID", help="Only calls of this run of a chain")
    ] = None,
    request_id: Annotated[
        str | None, typer.Option("--request-id", metavar="ID", help="Only calls of this request")
    ] = None,
    min_ms: Annotated[float | None, typer.Option("--min-ms", help="Only calls that took this long")] = None,
    page: PageOptions,
) -> None:
    """List calls, newest first: your own; for an admin, those of all users.

    Example: pegboard audit list --tool get_weather --since 1h
    """
    wanted = {
        "tool": tool,
        "status": status,
        "code": code,
        "since": parse_past_time(since, "--since"),
        "until": parse_past_time(until, "--until"),
        "agent": agent,
        "kind": kind,
        "surface": surface,
        "dialect": dialect,
        "thread": thread,
        "chain": chain,
        "request_id": request_id,
        "min_ms": min_ms,
    }
    columns: Columns = {
        "WHEN": local_time("started_at"),
        "TOOL": lambda item: to_single_line(item["tool_name"], MAX_NAME_CHARS),
        "STATUS": "status",
        "CODE": "code",
        "CALLER": "caller",
        "SURFACE": "surface",
        "MS": lambda item: f"{item['elapsed_ms']:.1f}",
        "ID": "id",
    }

    async def work(client: ApiClient) -> ApiReply:
        filters = {**wanted, "caller": await find_caller_id(client, caller)}
        return await client.pages(build_path("executions"), filters, page)

    def show(found: dict[str, Any]) -> None:
        show_items(found, columns, "No calls match.")
        if found.get("searched_to"):
            write_message(f"Searched back to {format_local_time(found['searched_to'])}")

    run_and_write(ctx, work, show)


def show_execution(ctx: typer.Context, execution_id: ExecutionId) -> None:
    """Show the journal row of one call."""

    def show(item: dict[str, Any]) -> None:
        write_json(item)
        if item["arguments"] is None:
            write_message("Arguments are not kept; set keep_arguments on the tool.")

    run_and_write(ctx, lambda it: it.get(build_path("executions", execution_id)), show)


def prove_execution(ctx: typer.Context, execution_id: ExecutionId) -> None:
    """Verify the journal row of one call against its hash chain.

    Exit 1 if it is not as the board wrote it.
    """

    def show(proof: dict[str, Any]) -> None:
        for finding in proof["findings"]:
            write_message(finding["message"])
        place = f"row {proof['number']} of writer {proof['writer']}, MAC {proof['mac']}"
        if proof["is_genuine"] is None:
            write(proof["note"])
        else:
            write(f"{place}: {'as the board wrote it' if proof['is_genuine'] else 'NOT as the board wrote it'}")

    reply = run_and_write(ctx, lambda it: it.get(build_path("executions", execution_id, "proof")), show)
    if reply.data["is_genuine"] is False:
        raise typer.Exit(1)
