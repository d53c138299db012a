"""The program `pegboard`: its options and commands."""

from __future__ import annotations

import gc
import sys
from types import ModuleType
from typing import Annotated

import typer

from pegboard.surfaces.cli import (
    account_commands,
    apply_command,
    audit_commands,
    baseline_commands,
    call_command,
    chain_commands,
    contract_command,
    conversation_commands,
    import_commands,
    lint_command,
    maintenance_commands,
    mock_command,
    normalize_command,
    secret_commands,
    table_commands,
    tool_commands,
    watch_command,
)
from pegboard.surfaces.cli import (
    account_commands as people,
)
from pegboard.surfaces.cli.exit_codes import UsageError
from pegboard.surfaces.cli.serve_command import serve_board
from pegboard.surfaces.cli.session import DEFAULT_URL, CliSession, RootGroup, board_command

app = typer.Typer(
    name="pegboard",
    cls=RootGroup,
    help="Pegboard: register, call and audit the tools of LLM agents.",
    no_args_is_help=True,
    # Plain help is fast, works in pipes and prints [brackets] unchanged.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from pegboard.version import __version__  # noqa: PLC0415 -- start-up time

        typer.echo(f"pegboard {__version__}")
        raise typer.Exit


@app.callback()
def read_options(
    ctx: typer.Context,
    *,
    url: Annotated[
        str, typer.Option("--url", envvar="PEGBOARD_URL", metavar="URL", help="URL of the server")
    ] = DEFAULT_URL,
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            envvar="PEGBOARD_KEY",
            metavar="KEY",
            show_default=False,
            help="API key; by default from $PEGBOARD_HOME/credentials",
        ),
    ] = None,
    local: Annotated[bool, typer.Option("--local", help="Open the database directly, without a server")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the JSON of the API")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit")
    ] = False,
) -> None:
    """Keep what every command needs to know."""
    typed = [name for name in ("url", "key", "local", "as_json") if _is_on_command_line(ctx, name)]
    if ctx.invoked_subcommand == "serve" and typed:
        flags = ", ".join("--json" if name == "as_json" else f"--{name}" for name in typed)
        raise UsageError(f"serve runs a server itself and does not take {flags}")
    ctx.obj = CliSession(url=url, key=key, local=local, as_json=as_json, is_remote="url" in typed)


def _is_on_command_line(ctx: typer.Context, name: str) -> bool:
    """Return True if the option is on the command line, not from the environment or a default."""
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


app.command("serve")(serve_board)
board_command(app, "call", context_settings={"ignore_unknown_options": True})(call_command.call_tool)
board_command(app, "watch")(watch_command.watch_calls)
board_command(app, "cancel")(watch_command.cancel_call)
board_command(app, "definitions")(call_command.show_definitions)
board_command(app, "normalize")(normalize_command.normalize_payload)
board_command(tool_commands.app, "lint")(lint_command.lint_tools)
app.add_typer(tool_commands.app)
board_command(app, "apply")(apply_command.apply_definitions)
board_command(app, "export")(apply_command.export_definitions)
app.add_typer(import_commands.app)
app.add_typer(table_commands.app)
app.add_typer(audit_commands.app)
app.add_typer(chain_commands.app)
app.add_typer(conversation_commands.app)
app.add_typer(baseline_commands.app)
app.add_typer(mock_command.app)
app.add_typer(contract_command.app)
board_command(app, "whoami")(people.show_current_user)
app.add_typer(people.users_app)
app.add_typer(people.keys_app)
app.add_typer(account_commands.agents_app)
app.add_typer(secret_commands.app)
board_command(app, "migrate")(maintenance_commands.migrate_database)
board_command(app, "doctor")(maintenance_commands.run_doctor)


def main() -> None:
    """Run the program and exit: 0 success, 1 the tool failed or the board refused, 2 usage, 3 no board."""
    # Almost all objects of the start-up stay alive: collecting garbage in them takes a third of a short run.
    gc.set_threshold(100_000, 20, 20)
    # The command line program of httpx is not used, and would import three more packages.
    sys.modules.setdefault("httpx._main", ModuleType("httpx._main"))
    try:
        app(prog_name="pegboard")
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        gc.freeze()
