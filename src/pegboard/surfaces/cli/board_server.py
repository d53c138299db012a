"""The server of `pegboard serve`, its start message with commands to paste, and the tools of `--demo`."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import shlex
import shutil
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from platformdirs import user_data_path

from pegboard.board import Pegboard
from pegboard.model.api_errors import Conflict, Refusal
from pegboard.model.call_errors import ToolError
from pegboard.settings import Settings, describe_unknown_variables
from pegboard.surfaces.cli.console_command import build_console_address
from pegboard.surfaces.cli.exit_codes import UsageError
from pegboard.surfaces.cli.session import DEFAULT_URL, read_settings
from pegboard.surfaces.console.console_files import BUILD_FOLDER, ConsoleFiles
from pegboard.surfaces.rest.connection_limits import check_limit
from pegboard.surfaces.rest.server import OnOpen, bind_socket, serve_forever, serve_with_workers
from pegboard.telemetry.logs import configure_logs
from pegboard.version import __version__

_DEMO_EXAMPLE = ("get_weather", '{"city": "Lisbon"}', "city=Lisbon")
_BUILTIN_EXAMPLE = ("math_eval", '{"expression": "2^10"}', "expression=2^10")


def run_server(host: str | None, port: int | None, *, workers: int, demo: bool) -> None:
    """Serve until a stop signal; raise UsageError if the server cannot start."""
    settings = read_settings(**{key: value for key, value in (("host", host), ("port", port)) if value is not None})
    if workers > 1 and settings.redis_url is None:
        raise UsageError(
            f"--workers {workers} needs PEGBOARD_REDIS_URL: each process would count rate limits for itself, so every "
            f"limit would be {workers} times as high as configured",
            ["Set it to a Valkey or Redis, or use one worker."],
        )
    if settings.max_connections is not None:
        try:
            check_limit(settings.max_connections)
        except ValueError as error:
            raise UsageError(str(error)) from None
    configure_logs(settings.log_level, settings.log_format)
    bound, address = listen(settings.host, settings.port)
    new_key: list[str] = []
    console: list[str] = []
    warnings: list[str] = describe_unknown_variables(os.environ)

    async def on_open(board: Pegboard) -> None:
        for definition in DEMO_TOOLS if demo else ():
            with contextlib.suppress(Conflict):  # added by an earlier start, possibly changed since
                await board.add(definition)
        new_key.extend([board.new_key] if board.new_key else [])
        if board.tables.error is not None:
            warnings.append(f"{board.tables.error.message}. Its tools are missing until the file is corrected.")
        warnings.extend(f"calls cannot be served yet: {reason}" for reason in await board.ready())
        if settings.console and ConsoleFiles.open(BUILD_FOLDER) is not None:
            console.append(await create_console_address(board, address))

    def write_welcome() -> None:
        shown_key = new_key[0] if new_key else None
        console_address = console[0] if console else None
        _write_line(build_welcome(address, shown_key, settings, warnings, demo=demo, console=console_address))

    try:
        if workers == 1:
            serve_forever(settings, __version__, bound, on_open=on_open, ready=write_welcome)
        else:
            # Initialise the database once, before the worker processes open the board.
            asyncio.run(_open_once(settings, on_open))
            write_welcome()
            serve_with_workers(settings, bound, workers)
    except Exception as error:
        why = str(error) or type(error).__name__
        raise UsageError(f"The board cannot be opened: {why}", ["See what is wrong with: pegboard doctor"]) from None
    finally:
        bound.close()
    _write_line("Stopped.")


def listen(host: str, port: int) -> tuple[socket.socket, str]:
    """Return a bound socket and its URL; raise UsageError, with the option to change, if the address is not usable."""
    try:
        bound = bind_socket(host, port)
    except OSError as error:
        if error.errno == errno.EADDRNOTAVAIL or isinstance(error, socket.gaierror):
            message = f"Cannot listen on {host}: this machine does not have that address"
            raise UsageError(message, ["Choose another with --host."]) from None
        message = f"Cannot listen on {host}:{port}: {error.strerror or error}"
        raise UsageError(message, ["Choose another with --port."]) from None
    return bound, f"http://{f'[{host}]' if ':' in host else host}:{bound.getsockname()[1]}"


async def create_console_address(board: Pegboard, address: str) -> str:
    """Return the address of the console, with a one-time code of the admin if this process knows the admin's key."""
    settings = board.settings
    # A browser on this machine cannot open the address 0.0.0.0, and has a session on loopback only.
    base = settings.public_url or f"http://127.0.0.1:{address.rpartition(':')[2]}"
    key = board.new_key
    if settings.admin_key is not None:
        key = settings.admin_key.get_secret_value()
    elif key is None and not _is_in_memory(settings) and settings.credentials_file.is_file():
        key = settings.credentials_file.read_text(encoding="utf-8").strip()
    try:
        made = None if key is None else await board.sessions.create_code(board.calls.authenticate(key))
    except (Refusal, ToolError):  # the log-in page says why
        made = None
    return f"{base}/console/" if made is None else build_console_address(base, made.token)


async def _open_once(settings: Settings, on_open: OnOpen) -> None:
    async with Pegboard.open(settings=settings) as board:
        await on_open(board)


def _write_line(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def build_welcome(
    address: str,
    new_key: str | None,
    settings: Settings,
    warnings: Sequence[str] = (),
    *,
    demo: bool,
    console: str | None = None,
) -> str:
    """Return the welcome text; its commands can be pasted into another terminal."""
    tool, body, arguments = _DEMO_EXAMPLE if demo else _BUILTIN_EXAMPLE
    key, environment = _describe_key(new_key, settings)
    if address != DEFAULT_URL:
        environment = f"PEGBOARD_URL={address} {environment}"
    lines = ["", f"Pegboard is serving at {address}  (API: {address}/docs)"]
    if console is not None:
        lines += ["Console, logs in once within a minute (later: pegboard console):", f"  {console}"]
    lines += [f"Warning: {warning}" for warning in warnings]
    if new_key is not None:
        kept = "" if _is_in_memory(settings) else f" and kept in {settings.credentials_file.absolute()}"
        lines += [f"Admin key, shown this once{kept}:", f"  {new_key}"]
    lines += [
        "",
        "Try it:",
        f'  curl -s {address}/v1/tools/{tool}/call -H "Authorization: Bearer {key}" '
        f"-H 'Content-Type: application/json' -d '{body}'",
        f"  {environment}{_find_program()} call {tool} {arguments}",
        "",
        "Ctrl-C lets running calls end, then stops.",
        "",
    ]
    return "\n".join(lines)


def _describe_key(new_key: str | None, settings: Settings) -> tuple[str, str]:
    """Return the key as written in the curl command, and the environment that the `pegboard` command needs."""
    if settings.admin_key is not None:
        return "$PEGBOARD_ADMIN_KEY", 'PEGBOARD_KEY="$PEGBOARD_ADMIN_KEY" '
    if _is_in_memory(settings):
        return f"{new_key}", f"PEGBOARD_KEY={new_key} "
    if not settings.credentials_file.exists():
        return "$PEGBOARD_KEY", ""  # the board was set up on another machine; only its admin knows the key
    credentials = shlex.quote(str(settings.credentials_file.absolute()))
    at_home = settings.home == user_data_path("pegboard")
    return f"$(cat {credentials})", "" if at_home else f"PEGBOARD_HOME={shlex.quote(str(settings.home.absolute()))} "


def _is_in_memory(settings: Settings) -> bool:
    return settings.database == "memory"


def _find_program() -> str:
    started = Path(sys.argv[0]).absolute()
    if started.name == "__main__.py":
        return f"{shlex.quote(sys.executable)} -m pegboard"
    found = shutil.which("pegboard")
    return "pegboard" if found is not None and Path(found).samefile(started) else shlex.quote(str(started))


_CITY_SCHEMA = {"type": "string", "description": "City name, e.g. Lisbon"}

DEMO_TOOLS: tuple[dict[str, Any], ...] = (
    {
        "name": "get_weather",
        "display_name": "Weather",
        "description": "The current weather in a city (sample data).",
        "tool_type": "mock",
        "config": {
            "mock_response": {"temperature_c": 18, "sky": "cloudy"},
            "mock_responses": [
                {"when": {"city": "Lisbon"}, "respond": {"temperature_c": 24, "sky": "clear"}},
                {"when": {"city": "Oslo"}, "respond": {"temperature_c": 3, "sky": "snow"}},
            ],
        },
        "input_schema": {"type": "object", "properties": {"city": _CITY_SCHEMA}, "required": ["city"]},
        "is_public": True,
        "read_only": True,
        "tags": ["demo"],
    },
    {
        "name": "create_ticket",
        "display_name": "Create ticket",
        "description": "Open a ticket in the (sample) tracker.",
        "tool_type": "mock",
        "config": {"mock_response": {"ticket": "DEMO-1", "status": "open"}},
        "input_schema": {
            "type": "object",
            "properties": {
                "title": {"type": "string", "minLength": 3, "maxLength": 120},
                "priority": {"type": "string", "enum": ["low", "normal", "high"], "default": "normal"},
            },
            "required": ["title"],
        },
        "rate_limit": {"max_calls": 30, "period": "minute", "burst": 5},
        "keep_arguments": True,
        "is_public": True,
        "tags": ["demo"],
    },
    {
        "name": "rsi_signal",
        "display_name": "RSI signal",
        "description": "Relative strength of a price series over 5 periods: overbought above 80, oversold below 20.",
        "tool_type": "builtin",
        "config": {"operation": "calculate_rsi", "parameters": {"period": 5, "overbought": 80, "oversold": 20}},
        "input_schema": {
            "type": "object",
            "properties": {"prices": {"type": "array", "items": {"type": "number"}, "minItems": 6}},
            "required": ["prices"],
        },
        "is_public": True,
        "read_only": True,
        "tags": ["demo"],
    },
)
