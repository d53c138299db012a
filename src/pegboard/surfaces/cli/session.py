"""What every command shares: where the board is, who asks, and in what form the answer is wanted."""

from __future__ import annotations

import asyncio
import copy
import functools
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin

import typer
from typer.core import TyperGroup

from pegboard.surfaces.cli.failures import Failure, Usage
from pegboard.surfaces.cli.output import say, write, write_json

if TYPE_CHECKING:
    from pegboard.surfaces.cli.client import Client, Reply

DEFAULT_URL = "http://127.0.0.1:8080"

T = TypeVar("T")
Command = TypeVar("Command", bound=Callable[..., None])

# The options of every command that may also follow the command's name, each with its default and declaration.
SHARED_OPTIONS: dict[str, tuple[Any, Any]] = {
    "as_json": (False, Annotated[bool, typer.Option("--json", help="Print the JSON of the API")]),
    "local": (False, Annotated[bool, typer.Option("--local", help="Open the database directly, without a server")]),
    "url": (None, Annotated[str | None, typer.Option("--url", metavar="URL", help="URL of the server")]),
    "key": (None, Annotated[str | None, typer.Option("--key", metavar="KEY", help="API key")]),
}
# Keeps the names of added parameters apart from a command's own.
PREFIX = "shared_"


@dataclass(frozen=True, slots=True)
class Session:
    """The options that hold for every command."""

    url: str = DEFAULT_URL
    key: str | None = None
    local: bool = False
    as_json: bool = False
    # Whether --url was typed before the command.
    is_remote: bool = False


class Program(TyperGroup):
    """The whole program: says what went wrong and ends with the exit code for it."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except Failure as failure:
            tell(failure)
            raise typer.Exit(failure.exit_code) from None


def tell(failure: Failure) -> None:
    """Say why the program cannot go on."""
    say(failure.message, label="Error: ", colour="red")
    for line in failure.lines:
        say(f"  {line}")


def session_of(ctx: typer.Context) -> Session:
    """The options this command runs with."""
    found = ctx.obj
    return found if isinstance(found, Session) else Session()


def with_board(ctx: typer.Context, work: Callable[[Client], Awaitable[T]]) -> T:
    """What `work` gets from the board; questions to people are asked outside, since Ctrl-C ends this at once."""
    from pegboard.surfaces.cli.client import open_client  # noqa: PLC0415 -- start-up time

    async def whole() -> T:
        async with open_client(session_of(ctx)) as client:
            return await work(client)

    return asyncio.run(whole())


def give(ctx: typer.Context, reply: Reply, show: Callable[[Any], None]) -> None:
    """Give out an answer: as the API sent it with --json, else the way `show` does."""
    if session_of(ctx).as_json:
        write(reply.text)
    else:
        show(reply.data)


def group(name: str, summary: str) -> typer.Typer:
    """An empty group of commands."""
    return typer.Typer(name=name, help=summary, no_args_is_help=True, rich_markup_mode=None)


def board_command(app: typer.Typer, name: str, **settings: Any) -> Callable[[Command], Command]:
    """Add a command to `app` that also accepts the shared options after its name."""

    def add(command: Command) -> Command:
        app.command(name, **settings)(accept_shared_options(command))
        return command

    return add


def accept_shared_options(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the shared options added to its signature; an option after the command's name has priority."""
    declared = inspect.signature(command, eval_str=True)
    own = declared.replace(parameters=[_with_metavar(one) for one in declared.parameters.values()])
    added = [
        inspect.Parameter(PREFIX + field, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=option)
        for field, (default, option) in SHARED_OPTIONS.items()
    ]

    @functools.wraps(command)
    def run(**arguments: Any) -> None:
        given = {option.name: arguments.pop(option.name) for option in added}
        ctx = arguments["ctx"]
        changes = {name.removeprefix(PREFIX): value for name, value in given.items() if value}
        session = ctx.obj = replace(session_of(ctx), **changes)
        if session.local and (session.is_remote or changes.get("url")):
            raise Usage("--local opens the database directly, so it excludes --url; leave one of them out")
        try:
            command(**arguments)
        except Failure as failure:
            if session.as_json:
                write_json(failure.data)
            raise

    run.__signature__ = own.replace(parameters=[*own.parameters.values(), *added])  # type: ignore[attr-defined]
    return run


def _with_metavar(parameter: inspect.Parameter) -> inspect.Parameter:
    """The parameter with TEXT or N as the word for its value in help texts, unless it declares a word itself."""
    if get_origin(parameter.annotation) is not Annotated:
        return parameter
    kind, option, *_ = get_args(parameter.annotation)
    kinds = {kind, *get_args(kind)}
    word = "TEXT" if str in kinds or list[str] in kinds else "N" if kinds & {int, float} else None
    if word is None or getattr(option, "metavar", word) is not None:
        return parameter
    named = copy.copy(option)
    named.metavar = word
    return parameter.replace(annotation=Annotated[kind, named])
