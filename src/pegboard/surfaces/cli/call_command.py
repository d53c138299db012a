"""`pegboard call`, and what a model would be handed."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from pegboard.model.api_errors import Invalid
from pegboard.model.idempotency_key import check_idempotency_key
from pegboard.surfaces.cli.api_paths import build_path
from pegboard.surfaces.cli.argument_pairs import CommandLineArguments, read_pairs
from pegboard.surfaces.cli.exit_codes import UsageError
from pegboard.surfaces.cli.output import escape_control_characters, write, write_json, write_message
from pegboard.surfaces.cli.session import CliSession, get_session, run_with_client, write_reply

if TYPE_CHECKING:
    from pegboard.surfaces.cli.api_client import ApiClient, ApiReply

_COMPLETION_SECONDS = 1.0


class CallRequest(NamedTuple):
    """A call to send: the arguments, and the dialect of the response (None for the tool's)."""

    name: str
    arguments: CommandLineArguments | bytes
    shape: str | None
    once: str | None
    thread: str | None
    follow: bool


def complete_tools(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the names of tools that start with this text; empty if the board does not respond at once."""
    try:
        given = ctx.find_root().params
        session = CliSession(url=given["url"], key=given.get("key"))
        if given.get("local"):
            return []
        return asyncio.run(asyncio.wait_for(_list_matching_names(session, incomplete), _COMPLETION_SECONDS))
    except Exception:  # nothing may be printed while the shell completes
        return []


async def _list_matching_names(session: CliSession, incomplete: str) -> list[str]:
    from pegboard.surfaces.cli.api_client import PAGE_SIZE, open_client  # noqa: PLC0415 -- start-up time

    async with open_client(session) as client:
        reply = await client.get(build_path("tools"), q=incomplete or None, limit=PAGE_SIZE)
    names = [str(tool["name"]) for tool in reply.data["items"]]
    return [name for name in names if name.lower().startswith(incomplete.lower())]


ToolName = Annotated[
    str, typer.Argument(metavar="NAME", help="The tool's name or id", autocompletion=complete_tools, show_default=False)
]
AnswerDialect = Annotated[str | None, typer.Option("--as", metavar="DIALECT", help="The dialect of the answer")]


def call_tool(
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
    shape: AnswerDialect = None,
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
        raise UsageError("Give the arguments as KEY=VALUE or with --input, not both")
    try:
        check_idempotency_key(once)
    except Invalid as error:
        raise UsageError(str(error)) from None
    session = get_session(ctx)
    # For people the result is extracted from the response, so its dialect must be known here.
    wanted = CallRequest(
        name,
        pairs if source is None else _read_json_input(source),
        shape or (None if session.as_json else "plain"),
        once,
        thread,
        follow,
    )
    for_people = not session.as_json and shape is None
    build_path("tools", name)  # an invalid name fails before a request is sent

    async def work(client: ApiClient) -> tuple[ApiReply, str | None]:
        from pegboard.surfaces.cli.call_sender import format_result, send_call  # noqa: PLC0415 -- start-up time

        reply = await send_call(client, wanted)
        is_read_out = for_people and not _is_failed(reply) and sys.stdout.isatty()
        return reply, await format_result(client, wanted, reply) if is_read_out else None

    reply, shown = run_with_client(ctx, work)
    if "x-thread-error" in reply.headers:
        write_message(reply.headers["x-thread-error"], label="Not remembered: ", colour="yellow")
    if session.as_json:
        write(reply.text)
    elif shape is not None:
        write_json(reply.data)
    elif _is_failed(reply):
        _write_failure(reply.data)
    elif shown is not None:
        write(escape_control_characters(shown))
        _write_time(reply.data)
    else:
        write_json(reply.data["result"])
        _write_time(reply.data)
    if not session.as_json and shape is None:
        _write_ignored(reply.data)
    if _is_failed(reply):
        raise typer.Exit(1)


def _is_failed(reply: ApiReply) -> bool:
    return isinstance(reply.data, dict) and reply.data.get("success") is False


def show_definitions(
    ctx: typer.Context,
    shape: AnswerDialect = None,
    strict: Annotated[bool, typer.Option("--strict", help="OpenAI's strict mode")] = False,
) -> None:
    """Print the tool definitions for a model.

    Example: pegboard definitions --as openai --strict
    """
    wanted = {"as": shape, "strict": strict or None}
    write_reply(ctx, run_with_client(ctx, lambda it: it.get(build_path("definitions"), **wanted)), write_json)


def _read_json_input(source: str) -> bytes:
    from pegboard.model.documents import DocumentError, read_json, read_text  # noqa: PLC0415 -- start-up time
    from pegboard.surfaces.cli.definition_files import read_input  # noqa: PLC0415 -- start-up time

    where = "standard input" if source == "-" else source
    try:
        text = read_text(read_input(source))
        arguments = read_json(text)
    except DocumentError as error:
        raise UsageError(f"{where}{f':{error.line}' if error.line else ''}: {error.message}") from None
    if not isinstance(arguments, dict):
        raise UsageError(f"{where}: the arguments must be one JSON object")
    # Unchanged text: parsing and encoding it again might lose digits of a number.
    return text.encode()


def _write_time(answer: dict[str, Any]) -> None:
    note = ", by its fallback" if answer.get("fallback") else ""
    write_message(f"{answer['tool_name']}: {answer['execution_time_ms']:.1f} ms{note}", colour="dim")


def _write_ignored(answer: dict[str, Any]) -> None:
    for item in answer.get("ignored") or []:
        near = item.get("did_you_mean")
        write_message(
            f"'{item['name']}'{f' (did you mean {near!r}?)' if near else ''}", label="Ignored: ", colour="yellow"
        )


def _write_failure(answer: dict[str, Any]) -> None:
    details = answer.get("error_details") or {}
    error = str(answer.get("error"))
    write_message(error, label="" if error.startswith("Failed") else "Failed: ", colour="red")
    problems = details.get("problems") or []
    for problem in problems:
        field = str(problem.get("field") or "")
        if len(problems) > 1:
            write_message(f"  {field + ': ' if field else ''}{problem.get('message')}")
    if details.get("retry_after_ms") is not None and "try again in" not in error.lower():
        write_message(f"  Try again in {details['retry_after_ms'] / 1000:.1f} s")
