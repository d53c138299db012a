"""The program `pegboard`: its options and its commands."""

from __future__ import annotations

import gc
import sys
from types import ModuleType
from typing import Annotated

import typer

from pegboard.surfaces.cli import (
    agents,
    as_code,
    audit,
    baseline,
    calls,
    chains,
    contract,
    imports,
    lint,
    mock,
    normalize,
    people,
    secrets,
    tables,
    threads,
    tools,
    upkeep,
    watching,
)
from pegboard.surfaces.cli.failures import Usage
from pegboard.surfaces.cli.serve import serve
from pegboard.surfaces.cli.session import DEFAULT_URL, Program, Session, board_command

app = typer.Typer(
    name="pegboard",
    cls=Program,
    help="Pegboard: register, call and audit the tools of LLM agents.",
    no_args_is_help=True,
    # Plain help is quick, survives pipes and shows [brackets] as they are written.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from pegboard.core.version import __version__  # noqa: PLC0415 -- start-up time

        typer.echo(f"pegboard {__version__}")
        raise typer.Exit


@app.callback()
def options(
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
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit")
    ] = False,
) -> None:
    """Keep what every command needs to know."""
    typed = [name for name in ("url", "key", "local", "as_json") if _is_typed(ctx, name)]
    if ctx.invoked_subcommand == "serve" and typed:
        flags = ", ".join("--json" if name == "as_json" else f"--{name}" for name in typed)
        raise Usage(f"serve runs a server itself and does not take {flags}")
    ctx.obj = Session(url=url, key=key, local=local, as_json=as_json, is_remote="url" in typed)


def _is_typed(ctx: typer.Context, name: str) -> bool:
    """Whether the option was typed, and does not come from the environment or a default."""
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


app.command("serve")(serve)
board_command(app, "call", context_settings={"ignore_unknown_options": True})(calls.call)
board_command(app, "watch")(watching.watch)
board_command(app, "cancel")(watching.cancel)
board_command(app, "definitions")(calls.definitions)
board_command(app, "normalize")(normalize.normalize)
board_command(tools.app, "lint")(lint.lint)
app.add_typer(tools.app)
board_command(app, "apply")(as_code.apply)
board_command(app, "export")(as_code.export)
app.add_typer(imports.app)
app.add_typer(tables.app)
app.add_typer(audit.app)
app.add_typer(chains.app)
app.add_typer(threads.app)
app.add_typer(baseline.app)
app.add_typer(mock.app)
app.add_typer(contract.app)
board_command(app, "whoami")(people.whoami)
app.add_typer(people.users)
app.add_typer(people.keys)
app.add_typer(agents.app)
app.add_typer(secrets.app)
board_command(app, "migrate")(upkeep.migrate)
board_command(app, "doctor")(upkeep.doctor)


def main() -> None:
    """Run the program and exit: 0 done, 1 the tool failed or the board refused, 2 usage, 3 no board."""
    # Nearly all that a start makes stays: looking for garbage in it, now or at the end, is a third of a short run.
    gc.set_threshold(100_000, 20, 20)
    # The program that httpx brings along, which nobody runs here, would load three packages more.
    sys.modules.setdefault("httpx._main", ModuleType("httpx._main"))
    try:
        app(prog_name="pegboard")
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        gc.freeze()
