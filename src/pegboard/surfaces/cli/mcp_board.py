"""The board of this machine for the MCP client that started this program."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pegboard.board import Pegboard
from pegboard.model.api_errors import Refusal
from pegboard.model.call import Caller
from pegboard.surfaces.cli.exit_codes import BoardUnreachable, UsageError
from pegboard.surfaces.cli.session import read_settings
from pegboard.surfaces.mcp.mcp_server import create_mcp_server
from pegboard.surfaces.mcp.stdio_lines import StdioLines
from pegboard.surfaces.mcp.stdio_server import serve_stdio
from pegboard.telemetry.logs import configure_logs


async def serve_own_board(key: str | None, agent: str | None) -> None:
    """Serve until the end of the input, as the user of the key or as the admin; raise a CommandFailure if it fails."""
    async with _open_board() as board:
        server = create_mcp_server(board)

        def get_caller() -> Caller:
            caller = board.admin if key is None else board.calls.authenticate(key)
            return caller if agent is None else server.find_agent_caller(agent, caller)

        try:
            get_caller()
        except Refusal as error:
            raise UsageError(error.message) from None
        await serve_stdio(server, StdioLines(board.settings.max_body_bytes), get_caller)


@asynccontextmanager
async def _open_board() -> AsyncIterator[Pegboard]:
    settings = read_settings()
    configure_logs("warning", settings.log_format)
    opening = Pegboard.open(settings=settings)
    try:
        board = await opening.__aenter__()
    except Exception as error:
        why = str(error) or type(error).__name__
        raise BoardUnreachable(
            f"The board cannot be opened: {why}", ["See what is wrong with: pegboard doctor"]
        ) from None
    try:
        yield board
    finally:
        await opening.__aexit__(None, None, None)
