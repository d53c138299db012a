"""`pegboard secrets`: named values that tools refer to as {{secret:NAME}}."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from pegboard.surfaces.cli.failures import Usage
from pegboard.surfaces.cli.output import Yes, confirm_loss, moment, say, write, write_table
from pegboard.surfaces.cli.people import removed
from pegboard.surfaces.cli.routes import route
from pegboard.surfaces.cli.session import board_command, give, group, with_board
from pegboard.surfaces.cli.tools import Cursor, Every, Limit, say_more

app = group("secrets", "Keep the credentials that tools use.")

Name = Annotated[str, typer.Argument(metavar="NAME", show_default=False)]


@board_command(app, "set")
def set_secret(
    ctx: typer.Context,
    name: Name,
    value: Annotated[
        str | None,
        typer.Argument(metavar="[VALUE]", help="The value; a terminal asks for it by default", show_default=False),
    ] = None,
    stdin: Annotated[bool, typer.Option("--stdin", help="Read the value from standard input")] = False,
) -> None:
    """Set a secret; tools refer to it as {{secret:NAME}}.

    Example: pegboard secrets set WEATHER_TOKEN --stdin < token.txt
    """
    text = _value(name, value, stdin=stdin)
    reply = with_board(ctx, lambda it: it.put(route("secrets", name), {"value": text}))
    give(ctx, reply, lambda secret: write(f"set {secret['name']}"))


@board_command(app, "list")
def list_secrets(ctx: typer.Context, limit: Limit = 50, cursor: Cursor = None, every: Every = False) -> None:
    """List your secrets, without their values."""

    def show(page: dict[str, Any]) -> None:
        rows = [[item["name"], moment(item["created_at"]), moment(item["updated_at"])] for item in page["items"]]
        write_table(["NAME", "SINCE", "SET"], rows, "No secrets.")
        say_more(page)

    path = route("secrets")
    give(ctx, with_board(ctx, lambda it: it.pages(path, {}, limit=limit, cursor=cursor, every=every)), show)


@board_command(app, "remove")
def remove(ctx: typer.Context, name: Name, yes: Yes = False) -> None:
    """Remove a secret; calls of tools that refer to it fail with that reason."""
    confirm_loss(f"Remove the secret {name} and its value?", yes=yes)
    with_board(ctx, lambda it: it.delete(route("secrets", name)))
    removed(ctx, name, name)


@board_command(app, "rotate")
def rotate(
    ctx: typer.Context,
    force: Annotated[
        bool, typer.Option("--force", help="Drop the old key even if some values cannot be decrypted")
    ] = False,
) -> None:
    """Encrypt every credential again with a new key.

    The server keeps serving; run the command again if it was interrupted.
    """

    def show(report: dict[str, Any]) -> None:
        write(f"encrypted {report['sealed']} of {report['total']} values again, with key {report['key_id']}")
        for row in report["skipped"]:
            say(f"{row['table']} {row['id']}: {row['reason']}")
        if report["note"]:
            say(report["note"])

    path = route("secrets", "rotate") + ("?force=true" if force else "")
    reply = with_board(ctx, lambda it: it.post(path, patient=True))
    give(ctx, reply, show)
    if not reply.data["finished"]:
        raise typer.Exit(1)


def _value(name: str, value: str | None, *, stdin: bool) -> str:
    if stdin:
        if value is not None:
            raise Usage("Give the value or --stdin, not both")
        return _typed(sys.stdin.buffer.read())
    if value is not None:
        say("Warning: a value on the command line shows in the process list and in your shell's history; use --stdin")
        return value
    if not sys.stdin.isatty():
        raise Usage("No value: give it with --stdin, or on a terminal, where it is asked for")
    try:
        return str(typer.prompt(f"Value of {name}", hide_input=True, err=True))
    except typer.Abort:
        raise typer.Exit(130) from None


def _typed(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise Usage("The value on standard input is not UTF-8 text") from None
    # One line end is how files and pipes end, not part of the secret.
    return text.removesuffix("\n").removesuffix("\r")
