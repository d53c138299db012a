"""`pegboard mcp`: the tools of a board for an MCP client that starts this program."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated

import typer

from pegboard.surfaces.cli.session import CliSession, get_session


def serve_mcp(
    ctx: typer.Context,
    *,
    agent: Annotated[
        str | None, typer.Option("--agent", metavar="NAME", help="Only the tools of this agent, by name or id")
    ] = None,
) -> None:
    """Serve the tools to an MCP client over standard input and output.

    With --url or PEGBOARD_URL they are those of that server, else those of the board in PEGBOARD_HOME.

    Example: pegboard mcp --agent helper
    """
    session = get_session(ctx)
    if not session.local and (session.is_remote or os.environ.get("PEGBOARD_URL")):
        from pegboard.surfaces.cli.mcp_relay import relay_to_server  # noqa: PLC0415 -- only one of the two is needed

        asyncio.run(relay_to_server(session, agent))
    else:
        asyncio.run(_serve_own_board(session, agent))


async def _serve_own_board(session: CliSession, agent: str | None) -> None:
    from pegboard.surfaces.cli.mcp_board import serve_own_board  # noqa: PLC0415 -- only one of the two is needed

    await serve_own_board(session.key, agent)
