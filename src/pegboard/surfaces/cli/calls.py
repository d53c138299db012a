"""`pegboard call`, and what a model would be handed."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from pegboard.core.keys import check_key
from pegboard.core.refusals import Invalid
from pegboard.surfaces.cli.failures import Usage
from pegboard.surfaces.cli.output import plain, say, write, write_json
from pegboard.surfaces.cli.pairs import Pairs, read_pairs
from pegboard.surfaces.cli.routes import route
from pegboard.surfaces.cli.session import Session, give, session_of, with_board

if TYPE_CHECKING:
    from pegboard.surfaces.cli.client import Client, Reply

_COMPLETION_SECONDS = 1.0


class Wanted(NamedTuple):
    """A call as it was asked for: its arguments, and the dialect of the answer, None for the tool's."""

    name: str
    arguments: Pairs | bytes
    shape: str | None
    once: str | None
    thread: str | None
    follow: bool


def complete_tools(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names of tools that begin like this; none at all where the board cannot be asked at once."""
    try:
        given = ctx.find_root().params
        session = Session(url=given["url"], key=given.get("key"))
        if given.get("local"):
            return []
        return asyncio.run(asyncio.wait_for(_names(session, incomplete), _COMPLETION_SECONDS))
    except Exception:  # a shell that waits for completions must not be talked to
        return []


async def _names(session: Session, incomplete: str) -> list[str]:
    from pegboard.surfaces.cli.client import PAGE, open_client  # noqa: PLC0415 -- start-up time

    async with open_client(session) as client:
        reply = await client.get(route("tools"), q=incomplete or None, limit=PAGE)
    names = [str(tool["name"]) for tool in reply.data["items"]]
    return [name for name in names if name.lower().startswith(incomplete.lower())]


ToolName = Annotated[
    str, typer.Argument(metavar="NAME", help="The tool's name or id", autocompletion=complete_tools, show_default=False)
]
Shape = Annotated[str | None, typer.Option("--as", metavar="DIALECT", help="The dialect of the answer")]


def call(
    ctx: typer.Context,
    name: ToolName,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KEY=VALUE | KEY:=JSON]...",
            help="Arguments: converted by the tool's schema (repeat a key for an array), or any JSON",
            show_default=False,
        ),
    ] = None,
    *,
    source: Annotated[
        str | None, typer.Option("--input", metavar="FILE|-", help="A file with the arguments as one JSON object")
    ] = None,
    shape: Shape = None,
    once: Annotated[
        str | None,
        typer.Option("--once", metavar="KEY", help="Idempotency key: a second call with it gets the first answer"),
    ] = None,
    thread: Annotated[
        str | None, typer.Option("--thread", metavar="ID", help="Add the call to this thread of yours")
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Show progress; Ctrl-C cancels the call")] = False,
) -> None:
    """Call a tool and print its result.

    On a terminal, the result is formatted as the tool's `display` says; --json prints the JSON.

    Example: pegboard call get_weather city=Lisbon days=3
    """
    pairs = read_pairs(words or [])
    if source is not None and words:
        raise Usage("Give the arguments as KEY=VALUE or with --input, not both")
    try:
        check_key(once)
    except Invalid as error:
        raise Usage(str(error)) from None
    session = session_of(ctx)
    # For people the result is taken out of the answer, so its shape must be one that is known here.
    wanted = Wanted(
        name,
        pairs if source is None else _input(source),
        shape or (None if session.as_json else "plain"),
        once,
        thread,
        follow,
    )
    for_people = not session.as_json and shape is None
    route("tools", name)  # what cannot be a name is no question to a board

    async def work(client: Client) -> tuple[Reply, str | None]:
        from pegboard.surfaces.cli.calling import ask, read_out  # noqa: PLC0415 -- start-up time

        reply = await ask(client, wanted)
        is_read_out = for_people and not _failed(reply) and sys.stdout.isatty()
        return reply, await read_out(client, wanted, reply) if is_read_out else None

    reply, shown = with_board(ctx, work)
    if "x-thread-error" in reply.headers:
        say(reply.headers["x-thread-error"], label="Not remembered: ", colour="yellow")
    if session.as_json:
        write(reply.text)
    elif shape is not None:
        write_json(reply.data)
    elif _failed(reply):
        _say_failure(reply.data)
    elif shown is not None:
        write(plain(shown))
        _say_time(reply.data)
    else:
        write_json(reply.data["result"])
        _say_time(reply.data)
    if not session.as_json and shape is None:
        _say_ignored(reply.data)
    if _failed(reply):
        raise typer.Exit(1)


def _failed(reply: Reply) -> bool:
    return isinstance(reply.data, dict) and reply.data.get("success") is False


def definitions(
    ctx: typer.Context,
    shape: Shape = None,
    strict: Annotated[bool, typer.Option("--strict", help="OpenAI's strict mode")] = False,
) -> None:
    """Print the tool definitions for a model.

    Example: pegboard definitions --as openai --strict
    """
    wanted = {"as": shape, "strict": strict or None}
    give(ctx, with_board(ctx, lambda it: it.get(route("definitions"), **wanted)), write_json)


def _input(source: str) -> bytes:
    from pegboard.registry.documents import Misread, read_json, read_text  # noqa: PLC0415 -- start-up time
    from pegboard.surfaces.cli.files import read_input  # noqa: PLC0415 -- start-up time

    where = "standard input" if source == "-" else source
    try:
        text = read_text(read_input(source))
        arguments = read_json(text)
    except Misread as error:
        raise Usage(f"{where}{f':{error.line}' if error.line else ''}: {error.message}") from None
    if not isinstance(arguments, dict):
        raise Usage(f"{where}: the arguments must be one JSON object")
    # As it was written: read and written again, a number might lose digits.
    return text.encode()


def _say_time(answer: dict[str, Any]) -> None:
    note = ", by its fallback" if answer.get("fallback") else ""
    say(f"{answer['tool_name']}: {answer['execution_time_ms']:.1f} ms{note}", colour="dim")


def _say_ignored(answer: dict[str, Any]) -> None:
    for item in answer.get("ignored") or []:
        near = item.get("did_you_mean")
        say(f"'{item['name']}'{f' (did you mean {near!r}?)' if near else ''}", label="Ignored: ", colour="yellow")


def _say_failure(answer: dict[str, Any]) -> None:
    details = answer.get("error_details") or {}
    error = str(answer.get("error"))
    say(error, label="" if error.startswith("Failed") else "Failed: ", colour="red")
    problems = details.get("problems") or []
    for problem in problems:
        field = str(problem.get("field") or "")
        if len(problems) > 1:
            say(f"  {field + ': ' if field else ''}{problem.get('message')}")
    if details.get("retry_after_ms") is not None and "try again in" not in error.lower():
        say(f"  Try again in {details['retry_after_ms'] / 1000:.1f} s")
