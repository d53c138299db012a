"""`pegboard mcp config`: the configuration with which an MCP client uses the tools of a board."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from pegboard.surfaces.cli.exit_codes import UsageError
from pegboard.surfaces.cli.output import write, write_json, write_message
from pegboard.surfaces.cli.session import CliSession, get_session
from pegboard.surfaces.clients.client_config import build_mcp_path, describe_server_key
from pegboard.surfaces.clients.mcp_client_formats import (
    KEY_VARIABLE,
    MCP_CLIENTS,
    McpClientFormat,
    McpTarget,
    McpTransport,
)

# The variables of this shell that a configuration has or refers to.
_PASSED_VARIABLES = ("PEGBOARD_HOME", "PEGBOARD_URL", KEY_VARIABLE)


def print_client_config(
    ctx: typer.Context,
    client: Annotated[
        str,
        typer.Argument(
            metavar="CLIENT", help=", ".join(MCP_CLIENTS), autocompletion=lambda: list(MCP_CLIENTS), show_default=False
        ),
    ],
    *,
    transport: Annotated[
        McpTransport | None,
        typer.Option("--transport", help="Connect to a server, or start a command; by default http, if the client can"),
    ] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", metavar="NAME", help="Only the tools of this agent, by name or id")
    ] = None,
) -> None:
    """Print the configuration with which an MCP client uses the tools.

    The key is never printed: where a client can read it from the environment, the configuration
    refers to PEGBOARD_KEY. Over stdio, the command serves the board in PEGBOARD_HOME, or with --url
    or PEGBOARD_URL the tools of that server.

    Example: pegboard mcp config cursor --agent helper > .cursor/mcp.json
    """
    form = MCP_CLIENTS.get(client)
    if form is None:
        raise UsageError(f"'{client}' is not a known client", [f"Known clients: {', '.join(MCP_CLIENTS)}"])
    session = get_session(ctx)
    chosen = transport or form.transports[0]
    if chosen not in form.transports:
        raise UsageError(_explain_missing_transport(client, form))
    target = _build_url(session, agent) if chosen == "http" else _build_command(session, agent)
    text = form.render(target)
    notes = [f"{form.place}.", *_describe_key(form, target), *(f"{limit}." for limit in form.limits)]
    if session.as_json:
        write_json({"client": client, "transport": chosen, "config": text, "notes": notes})
        return
    write(text)
    for note in notes:
        write_message(note)


def _explain_missing_transport(client: str, form: McpClientFormat) -> str:
    if form.transports == ("http",):
        return f"{form.title} cannot start a command; use --transport http"
    return (
        f"The configuration file of {form.title} has only commands. To connect to a server, let the command pass "
        f"messages to it: pegboard mcp config {client} --url URL"
    )


def _build_url(session: CliSession, agent: str | None) -> McpTarget:
    # Loads the HTTP client, which stdio does without.
    from pegboard.surfaces.cli.api_client import check_url  # noqa: PLC0415

    if session.local:
        raise UsageError("--local opens the database directly, so it needs --transport stdio")
    return McpTarget(url=check_url(session.url) + build_mcp_path(agent))


def _build_command(session: CliSession, agent: str | None) -> McpTarget:
    program = Path(sys.executable).with_name("pegboard")
    command, *args = [str(program)] if program.exists() else [sys.executable, "-m", "pegboard"]
    args.append("mcp")
    is_relay = not session.local and (session.is_remote or bool(os.environ.get("PEGBOARD_URL")))
    if is_relay:
        # Loads the HTTP client, which the own board does without.
        from pegboard.surfaces.cli.api_client import check_url  # noqa: PLC0415

        args += ["--url", check_url(session.url)]
    if agent is not None:
        args += ["--agent", agent]
    home = os.environ.get("PEGBOARD_HOME")
    env = {"PEGBOARD_HOME": str(Path(home).absolute())} if home else {}
    return McpTarget(command=command, args=tuple(args), env=env, needs_key=is_relay)


def _describe_key(form: McpClientFormat, target: McpTarget) -> list[str]:
    """Return what the user has to do so that the client sends a key."""
    if target.url is None and not target.needs_key:
        user = f"The command uses the board as its admin, or as the user of {KEY_VARIABLE} in its environment."
        others = [name for name in sorted(os.environ) if name.startswith("PEGBOARD_") and name not in _PASSED_VARIABLES]
        if not others:
            return [user]
        return [user, f"It does not get {', '.join(others)} of this shell: use pegboard.toml in PEGBOARD_HOME, or env."]
    return describe_server_key(form, target)
