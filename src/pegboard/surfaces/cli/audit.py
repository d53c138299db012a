"""`pegboard audit`: what was called, by whom, and how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pegboard.surfaces.cli import audit_chain
from pegboard.surfaces.cli.audit_replay import replay
from pegboard.surfaces.cli.audit_stats import Whose, id_of, stats
from pegboard.surfaces.cli.moments import ago
from pegboard.surfaces.cli.output import moment, say, write_json, write_table
from pegboard.surfaces.cli.routes import route
from pegboard.surfaces.cli.session import board_command, give, group, with_board
from pegboard.surfaces.cli.tools import Cursor, Every, Limit, say_more

if TYPE_CHECKING:
    from pegboard.surfaces.cli.client import Client, Reply

app = group("audit", "Read the journal of calls.")
WIDEST = 64


@board_command(app, "list")
def list_executions(
    ctx: typer.Context,
    *,
    tool: Annotated[str | None, typer.Option("--tool", help="Only calls of this tool, by name or id")] = None,
    caller: Whose = None,
    status: Annotated[str | None, typer.Option("--status", help="succeeded, failed, refused or in_doubt")] = None,
    code: Annotated[str | None, typer.Option("--code", help="Only this code, e.g. rate_limited")] = None,
    since: Annotated[str | None, typer.Option("--since", help="Started since: 30m, 1h, 2d, or an ISO time")] = None,
    until: Annotated[str | None, typer.Option("--until", help="Started before: the same forms")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    every: Every = False,
) -> None:
    """List calls, newest first: your own; for an admin, those of all users.

    Example: pegboard audit list --tool get_weather --since 1h
    """
    wanted = {
        "tool": tool,
        "status": status,
        "code": code,
        "since": ago(since, "--since"),
        "until": ago(until, "--until"),
    }

    def show(page: dict[str, Any]) -> None:
        write_table(
            ["WHEN", "TOOL", "STATUS", "CODE", "CALLER", "SURFACE", "MS", "ID"],
            [
                [
                    moment(item["started_at"]),
                    cut(item["tool_name"]),
                    item["status"],
                    item["code"],
                    item["caller"],
                    item["surface"],
                    f"{item['elapsed_ms']:.1f}",
                    item["id"],
                ]
                for item in page["items"]
            ],
            "No calls match.",
        )
        say_more(page)

    async def work(client: Client) -> Reply:
        whose = {"caller": await id_of(client, caller)}
        return await client.pages(route("executions"), wanted | whose, limit=limit, cursor=cursor, every=every)

    give(ctx, with_board(ctx, work), show)


def cut(name: str) -> str:
    """The name, short enough for a table: callers may ask for tools of any name."""
    return name if len(name) <= WIDEST else name[: WIDEST - 1] + "…"


@board_command(app, "show")
def show_execution(
    ctx: typer.Context,
    execution_id: Annotated[
        str, typer.Argument(metavar="ID", help="The call's id, from: audit list", show_default=False)
    ],
) -> None:
    """Show the journal row of one call."""

    def show(item: dict[str, Any]) -> None:
        write_json(item)
        if item["arguments"] is None:
            say("Arguments are not kept; set keep_arguments on the tool.")

    give(ctx, with_board(ctx, lambda it: it.get(route("executions", execution_id))), show)


board_command(app, "stats")(stats)
board_command(app, "replay")(replay)
board_command(app, "verify")(audit_chain.verify)
board_command(app, "export")(audit_chain.export)
board_command(app, "prune")(audit_chain.prune)
