"""`pegboard console`: open the web console in the browser, logged in."""

from __future__ import annotations

import webbrowser
from typing import Annotated

import typer

from pegboard.surfaces.cli.api_client import ApiClient, build_path
from pegboard.surfaces.cli.exit_codes import UsageError
from pegboard.surfaces.cli.output import write, write_json, write_message
from pegboard.surfaces.cli.resources import run_with_client
from pegboard.surfaces.cli.session import get_session


def open_console(
    ctx: typer.Context,
    only_print: Annotated[
        bool, typer.Option("--print", help="Print the address instead of opening it in the browser")
    ] = False,
) -> None:
    """Open the web console in the browser, logged in as the user of this key.

    The address works once, for 60 seconds.
    """
    session = get_session(ctx)
    if session.local:
        raise UsageError("The console is served by a server, so --local does not work with it", ["Leave --local out."])

    async def work(client: ApiClient) -> tuple[str, str]:
        made = await client.post(build_path("sessions", "codes"))
        return build_console_address(client.url, made.data["code"]), made.data["expires_at"]

    address, ends = run_with_client(ctx, work)
    if session.as_json:
        write_json({"address": address, "expires_at": ends})
    elif only_print:
        write(address)
    if not only_print:
        if webbrowser.open(address):
            write_message("Opened the console in the browser. Print its address with: pegboard console --print")
        else:
            raise UsageError("No browser could be started", ["Print the address with: pegboard console --print"])


def build_console_address(url: str, code: str) -> str:
    """Return the address that logs in with a code; browsers do not send the fragment to any server."""
    return f"{url.rstrip('/')}/console/#code={code}"
