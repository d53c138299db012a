"""`pegboard audit stats`: how each tool is doing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pegboard.surfaces.cli.moments import ago
from pegboard.surfaces.cli.output import moment, say, write_table
from pegboard.surfaces.cli.people import user_id
from pegboard.surfaces.cli.routes import route
from pegboard.surfaces.cli.session import give, with_board

if TYPE_CHECKING:
    from pegboard.surfaces.cli.client import Client, Reply

Whose = Annotated[str | None, typer.Option("--caller", help="Only calls of this user, by name or id; for admins")]
LATENCIES = ("p50_ms", "p95_ms", "p99_ms", "max_ms")


def stats(
    ctx: typer.Context,
    *,
    tool: Annotated[str | None, typer.Option("--tool", help="Only this tool, by name or id")] = None,
    caller: Whose = None,
    since: Annotated[str | None, typer.Option("--since", help="From this hour on: 30m, 7d, or an ISO time")] = None,
    until: Annotated[
        str | None, typer.Option("--until", help="To the end of this hour: the same forms forms forms")
    ] = None,
) -> None:
    """Show calls, errors and latencies of each tool in the last day.

    Of your own calls; for an admin, of all users. Hours are whole. Latencies are in
    milliseconds, of calls that ran, to within 3 per cent.

    Example: pegboard audit stats --since 7d
    """
    wanted = {"tool": tool, "since": ago(since, "--since"), "until": ago(until, "--until")}

    async def work(client: Client) -> Reply:
        return await client.get(route("executions", "statistics"), **wanted, caller=await id_of(client, caller))

    def show(report: dict[str, Any]) -> None:
        write_table(
            ["TOOL", "CALLS", "SUCCEEDED", "FAILED", "REFUSED", "IN DOUBT", "P50", "P95", "P99", "MAX", "ERRORS"],
            [
                [
                    "(no such tool)" if found["tool_name"] is None else found["tool_name"],
                    *(found[name] for name in ("calls", "succeeded", "failed", "refused", "in_doubt")),
                    *(_short(found[name]) for name in LATENCIES),
                    ", ".join(f"{code} {calls}" for code, calls in found["errors"].items()),
                ]
                for found in report["tools"]
            ],
        )
        say(f"From {moment(report['since'])} to {moment(report['until'])}")

    give(ctx, with_board(ctx, work), show)


async def id_of(client: Client, caller: str | None) -> str | None:
    """The id of the user whose calls are wanted, if they are anybody's in particular."""
    return None if caller is None else await user_id(client, caller, "see calls of others")


def _short(ms: float | None) -> str:
    """Three digits are all there is to it."""
    if ms is None:
        return ""
    return f"{ms:.0f}" if ms >= 100 else f"{ms:.3g}"
