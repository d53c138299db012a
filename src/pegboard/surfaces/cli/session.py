"""What every command shares: where the board is, who asks, and in what form the answer is wanted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from pegboard.surfaces.cli.failures import Failure
from pegboard.surfaces.cli.output import say, write

if TYPE_CHECKING:
    from pegboard.surfaces.cli.client import Client, Reply

DEFAULT_URL = "http://127.0.0.1:8080"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Session:
    """The options that hold for every command."""

    url: str = DEFAULT_URL
    key: str | None = None
    local: bool = False
    as_json: bool = False


class BoardCommand(TyperCommand):
    """A command that takes the options of every command after its name too, where people put them."""

    def __init__(self, *given: Any, params: list[Any] | None = None, **more: Any) -> None:
        shared = [
            _later("--json", "as_json", "Print the API's own JSON", is_flag=True),
            _later("--local", "local", "Open the store itself, without a server", is_flag=True),
            _later("--url", "url", "Where the board is"),
            _later("--key", "key", "The key to show it"),
        ]
        taken = {name for param in params or () for name in param.opts}
        kept = [option for option in shared if not taken & set(option.opts)]
        super().__init__(*given, params=[*(params or []), *kept], **more)


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


def _later(flag: str, field: str, summary: str, *, is_flag: bool = False) -> TyperOption:
    def keep(ctx: Any, _param: Any, value: Any) -> None:
        if value and isinstance(ctx.obj, Session):
            ctx.obj = replace(ctx.obj, **{field: value})

    return TyperOption(
        param_decls=[flag, f"later_{field}"],
        is_flag=is_flag or None,
        default=False if is_flag else None,
        type=None if is_flag else str,
        expose_value=False,
        callback=keep,
        help=summary,
    )
