"""`pegboard secrets`: named values that tools refer to as {{secret:NAME}}."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from pegboard.surfaces.cli.account_commands import write_removed
from pegboard.surfaces.cli.api_paths import build_path
from pegboard.surfaces.cli.exit_codes import UsageError
from pegboard.surfaces.cli.output import Yes, confirm_removal, format_local_time, write, write_message, write_table
from pegboard.surfaces.cli.session import board_command, create_group, run_with_client, write_reply
from pegboard.surfaces.cli.tool_commands import AllPages, Cursor, Limit, write_next_page_hint

app = create_group("secrets", "Keep the credentials that tools use.")

SecretName = Annotated[str, typer.Argument(metavar="NAME", show_default=False)]


@board_command(app, "set")
def set_secret(
    ctx: typer.Context,
    name: SecretName,
    value: Annotated[
        str | None,
        typer.Argument(metavar="[VALUE]", help="The value; a terminal asks for it by default", show_default=False),
    ] = None,
    stdin: Annotated[bool, typer.Option("--stdin", help="Read the value from standard input")] = False,
) -> None:
    """Set a secret; tools refer to it as {{secret:NAME}}.

    Example: pegboard secrets set WEATHER_TOKEN --stdin < token.txt
    """
    text = _read_value(name, value, stdin=stdin)
    reply = run_with_client(ctx, lambda it: it.put(build_path("secrets", name), {"value": text}))
    write_reply(ctx, reply, lambda secret: write(f"set {secret['name']}"))


@board_command(app, "list")
def list_secrets(ctx: typer.Context, limit: Limit = 50, cursor: Cursor = None, every: AllPages = False) -> None:
    """List your secrets, without their values."""

    def show(page: dict[str, Any]) -> None:
        rows = [
            [item["name"], format_local_time(item["created_at"]), format_local_time(item["updated_at"])]
            for item in page["items"]
        ]
        write_table(["NAME", "SINCE", "SET"], rows, "No secrets.")
        write_next_page_hint(page)

    path = build_path("secrets")
    write_reply(ctx, run_with_client(ctx, lambda it: it.pages(path, {}, limit=limit, cursor=cursor, every=every)), show)


@board_command(app, "remove")
def remove_secret(ctx: typer.Context, name: SecretName, yes: Yes = False) -> None:
    """Remove a secret; calls of tools that refer to it fail with that reason."""
    confirm_removal(f"Remove the secret {name} and its value?", yes=yes)
    run_with_client(ctx, lambda it: it.delete(build_path("secrets", name)))
    write_removed(ctx, name, name)


@board_command(app, "rotate")
def rotate_secrets(
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
            write_message(f"{row['table']} {row['id']}: {row['reason']}")
        if report["note"]:
            write_message(report["note"])

    path = build_path("secrets", "rotate") + ("?force=true" if force else "")
    reply = run_with_client(ctx, lambda it: it.post(path, patient=True))
    write_reply(ctx, reply, show)
    if not reply.data["finished"]:
        raise typer.Exit(1)


def _read_value(name: str, value: str | None, *, stdin: bool) -> str:
    if stdin:
        if value is not None:
            raise UsageError("Give the value or --stdin, not both")
        return _decode_value(sys.stdin.buffer.read())
    if value is not None:
        write_message(
            "Warning: a value on the command line shows in the process list and in your shell's history; use --stdin"
        )
        return value
    if not sys.stdin.isatty():
        raise UsageError("No value: give it with --stdin, or on a terminal, where it is asked for")
    try:
        return str(typer.prompt(f"Value of {name}", hide_input=True, err=True))
    except typer.Abort:
        raise typer.Exit(130) from None


def _decode_value(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError("The value on standard input is not UTF-8 text") from None
    # Files and pipes usually end with one newline, which is not part of the secret.
    return text.removesuffix("\n").removesuffix("\r")
