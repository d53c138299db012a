"""`pegboard serve`: run the board as a server."""

from __future__ import annotations

from typing import Annotated

import typer


def serve_board(
    host: Annotated[
        str | None, typer.Option("--host", metavar="ADDRESS", help="Address to listen on [default: 127.0.0.1]")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", min=0, max=65535, metavar="N", help="Port to listen on; 0 takes a free one [default: 8080]"
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option("--workers", min=1, metavar="N", help="Processes; more than one needs PEGBOARD_REDIS_URL")
    ] = 1,
    demo: Annotated[bool, typer.Option("--demo", help="Add three demo tools")] = False,
) -> None:
    """Run the server; Ctrl-C lets running calls end, then stops.

    Example: pegboard serve --demo
    """
    from pegboard.surfaces.cli.board_server import run_server  # noqa: PLC0415 -- the help does without the server

    run_server(host, port, workers=workers, demo=demo)
