"""`pegboard demo`: sample users, agents, tools and calls, to try a board or its web console."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from pegboard.surfaces.cli.demo_traffic import DemoReport, DemoTraffic, remove_demo
from pegboard.surfaces.cli.exit_codes import UsageError
from pegboard.surfaces.cli.output import format_count, show_progress, write, write_json, write_message
from pegboard.surfaces.cli.resources import Yes, confirm_removal, run_with_client
from pegboard.surfaces.cli.session import CliSession, get_session, read_settings

MAX_CALLS = 100_000


def make_demo_traffic(
    ctx: typer.Context,
    *,
    calls: Annotated[int, typer.Option("--calls", min=1, max=MAX_CALLS, help="Number of calls")] = 200,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The same seed makes the same calls")] = 1,
) -> None:
    """Add sample users, agents and tools to a running server, and make calls with them; for admins.

    Calls succeed, fail, are refused and are repeated. There is also a chain, a conversation, and an MCP server
    that changes a tool, which needs a server on this machine. Undo with: pegboard demo remove.

    Example: pegboard demo traffic --calls 500
    """
    session = _get_remote_session(ctx)
    changed = _get_server_file()

    async def work(client: Any) -> DemoReport:
        with show_progress("Calling", calls) as advance:
            return await DemoTraffic(session, client, changed=changed, seed=seed, calls=calls).make(advance)

    report = run_with_client(ctx, work)
    if session.as_json:
        write_json(report.data)
        return
    _write_lists("made", report)
    ended = ", ".join(f"{count} {word}" for word, count in sorted(report.calls.items()))
    write(f"{format_count(sum(report.calls.values()), 'call')}: {ended}")
    if report.drifted:
        write(f"changed by the MCP server: {', '.join(report.drifted)}")
    for text in report.left_out:
        write_message(text, label="left out ", colour="yellow")
    write_message("Undo with: pegboard demo remove. The rows of the calls stay in the journal.")


def remove_demo_data(ctx: typer.Context, yes: Yes = False) -> None:
    """Remove the users, agents, tools and conversations of demo traffic; the journal keeps its rows."""
    session = _get_remote_session(ctx)
    confirm_removal("Remove the users, agents, tools and conversations of demo traffic?", yes=yes)
    report = run_with_client(ctx, remove_demo)
    _get_server_file().unlink(missing_ok=True)
    if session.as_json:
        write_json(report.data)
    else:
        _write_lists("removed", report)


def _get_remote_session(ctx: typer.Context) -> CliSession:
    session = get_session(ctx)
    if session.local:
        raise UsageError("Demo traffic goes through a running server, so --local does not work with it")
    return session


def _get_server_file() -> Path:
    """Return the file that makes the demo's MCP server list its later definitions."""
    return read_settings().home.absolute() / "demo-server-changed"


def _write_lists(word: str, report: DemoReport) -> None:
    made: Mapping[str, list[str]] = {
        "user": report.users,
        "agent": report.agents,
        "tool": report.tools,
        "conversation": report.threads,
    }
    for noun, names in made.items():
        write(f"{word} {format_count(len(names), noun)}{': ' if names else ''}{', '.join(names)}")
