"""`pegboard serve`: run the board as a server."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from pegboard.surfaces.cli.exit_codes import UsageError

if TYPE_CHECKING:
    from pegboard.board import Pegboard
    from pegboard.settings import Settings
    from pegboard.surfaces.rest.server import OnOpen


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
    # Imported here, so that other commands start without loading the server.
    from pegboard.settings import describe_unknown_variables  # noqa: PLC0415
    from pegboard.surfaces.cli.api_client import read_settings  # noqa: PLC0415
    from pegboard.surfaces.cli.start_message import build_welcome  # noqa: PLC0415
    from pegboard.surfaces.rest.connection_limits import check_limit  # noqa: PLC0415
    from pegboard.surfaces.rest.server import bind_socket, serve_forever, serve_with_workers  # noqa: PLC0415
    from pegboard.telemetry.logs import configure_logs  # noqa: PLC0415
    from pegboard.version import __version__  # noqa: PLC0415

    settings = read_settings(**{key: value for key, value in (("host", host), ("port", port)) if value is not None})
    if workers > 1 and settings.redis_url is None:
        raise UsageError(
            f"--workers {workers} needs PEGBOARD_REDIS_URL: each process would count rate limits for itself, so every "
            f"limit would be {workers} times what it says",
            ["Set it to a Valkey or Redis, or use one worker."],
        )
    if settings.max_connections is not None:
        try:
            check_limit(settings.max_connections)
        except ValueError as error:
            raise UsageError(str(error)) from None
    configure_logs(settings.log_level, settings.log_format)
    try:
        bound = bind_socket(settings.host, settings.port)
    except OSError as error:
        raise build_listen_error(settings.host, settings.port, error) from None
    address = f"http://{f'[{settings.host}]' if ':' in settings.host else settings.host}:{bound.getsockname()[1]}"
    new_key: list[str] = []
    warnings: list[str] = describe_unknown_variables(os.environ)

    async def on_open(board: Pegboard) -> None:
        if demo:
            await _add_demo_tools(board)
        new_key.extend([board.new_key] if board.new_key else [])
        if board.tables.error is not None:
            warnings.append(f"{board.tables.error.message}. Its tools are missing until the file is corrected.")
        warnings.extend(f"calls cannot be served yet: {reason}" for reason in await board.ready())

    def ready() -> None:
        _write_line(build_welcome(address, new_key[0] if new_key else None, settings, warnings, demo=demo))

    try:
        if workers == 1:
            serve_forever(settings, __version__, bound, on_open=on_open, ready=ready)
        else:
            # Initialise the database once, before the worker processes open the board.
            asyncio.run(_open_once(settings, on_open))
            ready()
            serve_with_workers(settings, bound, workers)
    except Exception as error:
        why = str(error) or type(error).__name__
        raise UsageError(f"The board cannot be opened: {why}", ["See what is wrong with: pegboard doctor"]) from None
    finally:
        bound.close()
    _write_line("Stopped.")


def build_listen_error(host: str, port: int, error: OSError) -> UsageError:
    """Return a UsageError with the reason why the address cannot be used, and the option to change."""
    if error.errno == errno.EADDRNOTAVAIL or isinstance(error, socket.gaierror):
        return UsageError(
            f"Cannot listen on {host}: this machine does not have that address", ["Choose another with --host."]
        )
    return UsageError(f"Cannot listen on {host}:{port}: {error.strerror or error}", ["Choose another with --port."])


async def _open_once(settings: Settings, on_open: OnOpen) -> None:
    from pegboard.board import Pegboard  # noqa: PLC0415 -- other commands start without it

    async with Pegboard.open(settings=settings) as board:
        await on_open(board)


async def _add_demo_tools(board: Pegboard) -> None:
    from pegboard.demo_tools import DEMO_TOOLS  # noqa: PLC0415 -- other commands start without them
    from pegboard.model.api_errors import Conflict  # noqa: PLC0415

    for definition in DEMO_TOOLS:
        with contextlib.suppress(Conflict):  # added by an earlier start, possibly changed since
            await board.add(definition)


def _write_line(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
