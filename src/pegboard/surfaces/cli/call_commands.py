"""`pegboard call`, `cancel`, `watch`, `definitions` and `normalize`: run calls, and read the payloads of models."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, NamedTuple

import typer

from pegboard.model.api_errors import Invalid
from pegboard.model.idempotency_key import check_idempotency_key
from pegboard.surfaces.cli.api_client import PAGE_SIZE, ApiClient, ApiReply, ServerEvent, build_path
from pegboard.surfaces.cli.command_arguments import CommandLineArguments, read_pairs
from pegboard.surfaces.cli.exit_codes import BoardUnreachable, RequestRefused, UsageError
from pegboard.surfaces.cli.follow_client import follow_call, format_progress
from pegboard.surfaces.cli.output import (
    MAX_NAME_CHARS,
    Colour,
    colour_text,
    escape_control_characters,
    format_count,
    format_local_time,
    to_single_line,
    write,
    write_json,
    write_message,
    write_table,
)
from pegboard.surfaces.cli.resources import (
    AnswerDialect,
    ToolName,
    find_caller_id,
    run_and_write,
    run_with_client,
    write_removed,
)
from pegboard.surfaces.cli.session import get_session

# Larger results are not formatted.
_MAX_FORMATTED_CHARS = 2**20
# The longest pause between two attempts to reconnect.
_MAX_RETRY_SECONDS = 5.0
# The minimum interval between two progress lines of one call.
_PROGRESS_INTERVAL_SECONDS = 1.0
_EVENT_MARKS: dict[str, tuple[str, Colour | None]] = {
    "started": ("▸", None),
    "progress": ("…", "dim"),
    "succeeded": ("✓", "green"),
    "failed": ("✗", "red"),
    "refused": ("⊘", "yellow"),
    "in_doubt": ("?", "yellow"),
}


class CallOptions(NamedTuple):
    """A call to send: the arguments, and the dialect of the response (None for the tool's)."""

    name: str
    arguments: CommandLineArguments | bytes
    shape: str | None
    once: str | None
    thread: str | None
    follow: bool


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

    On a terminal, the result is formatted according to the tool's `display`; --json prints the JSON.

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
    wanted = CallOptions(
        name,
        pairs if source is None else _read_arguments(source),
        shape or (None if session.as_json else "plain"),
        once,
        thread,
        follow,
    )
    for_people = not session.as_json and shape is None
    build_path("tools", name)  # an invalid name fails before a request is sent

    async def work(client: ApiClient) -> tuple[ApiReply, str | None]:
        reply = await send_call(client, wanted)
        is_read_out = for_people and not _is_failed(reply) and sys.stdout.isatty()
        return reply, await format_result(client, wanted, reply) if is_read_out else None

    reply, shown = run_with_client(ctx, work)
    if "x-thread-error" in reply.headers:
        write_message(reply.headers["x-thread-error"], label="Not stored in the thread: ", colour="yellow")
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
    for item in (reply.data.get("ignored") or []) if for_people else []:
        near = item.get("did_you_mean")
        hint = f" (did you mean {near!r}?)" if near else ""
        write_message(f"'{item['name']}'{hint}", label="Ignored: ", colour="yellow")
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
    run_and_write(ctx, lambda it: it.get(build_path("definitions"), **wanted), write_json)


def _read_arguments(source: str) -> bytes:
    """Return the JSON object of a file unchanged: parsing and encoding it again might lose digits of a number."""
    from pegboard.surfaces.cli.input_files import name_source, read_json_text  # noqa: PLC0415 -- only for --input

    text, arguments = read_json_text(source)
    if not isinstance(arguments, dict):
        raise UsageError(f"{name_source(source)}: the arguments must be one JSON object")
    return text.encode()


def _write_time(answer: dict[str, Any]) -> None:
    note = ", by its fallback" if answer.get("fallback") else ""
    write_message(f"{answer['tool_name']}: {answer['execution_time_ms']:.1f} ms{note}", colour="dim")


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


async def send_call(client: ApiClient, wanted: CallOptions) -> ApiReply:
    """Send the call and return the whole response; with `follow`, show progress until then."""
    headers = {} if wanted.once is None else {"Idempotency-Key": wanted.once}
    arguments = await _encode_arguments(client, wanted)
    if wanted.thread is None and not wanted.follow:
        path, params = build_path("tools", wanted.name, "call"), {"as": wanted.shape}
        return await client.send(
            "POST", path, params=params, body=arguments, headers=headers, patient=True, any_status=True
        )
    shape = wanted.shape or (await _get_tool(client, wanted.name)).get("result_style") or "plain"
    params = {"from": "plain", "as": shape, "thread": wanted.thread}
    # Built as text, so that no digit is lost.
    body = b'{"name":%s,"arguments":%s}' % (json.dumps(wanted.name).encode(), arguments)
    if not wanted.follow:
        return await client.send(
            "POST", build_path("calls"), params=params, body=body, headers=headers, patient=True, any_status=True
        )
    return await follow_call(client, params=params, body=body, headers=headers)


async def _encode_arguments(client: ApiClient, wanted: CallOptions) -> bytes:
    """Return the arguments as JSON; key=value arguments are converted to the types of the tool's schema."""
    pairs = wanted.arguments
    if isinstance(pairs, bytes):
        return pairs
    if not pairs.has_texts:
        return pairs.body
    schema = (await _get_tool(client, wanted.name)).get("input_schema")
    return pairs.encode_for_schema(schema if isinstance(schema, dict) else {})


async def format_result(client: ApiClient, wanted: CallOptions, reply: ApiReply) -> str | None:
    """Return the result as text if the tool has a `display` format, else None."""
    display = (await _get_tool(client, wanted.name)).get("display")
    if display is None or len(reply.text) > _MAX_FORMATTED_CHARS:
        return None
    # Takes a sixth of a second, and is only needed on a terminal.
    from pegboard.display.format import format_result_text  # noqa: PLC0415
    from pegboard.model.display_format import Display  # noqa: PLC0415

    try:
        known = Display.model_validate(display)
    except ValueError:  # a newer board may have styles that are unknown here
        return None
    return format_result_text(reply.data["result"], known)


async def _get_tool(client: ApiClient, name: str) -> dict[str, Any]:
    """Return the tool's definition, or an empty dict if the caller may not see it."""
    try:
        return dict((await client.get(build_path("tools", name))).data)
    except RequestRefused:
        return {}


def normalize_payload(
    ctx: typer.Context,
    source: Annotated[str, typer.Argument(metavar="FILE|-", help="A payload, a text or a stream; - is standard input")],
    dialect: Annotated[
        str | None, typer.Option("--from", metavar="DIALECT", help="Its dialect; detected by default")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Also report which calls would be refused, and why")] = False,
) -> None:
    """Show the tool calls in a message, response, text or stream of any dialect; runs nothing.

    A .json file is JSON; .jsonl, .sse and .txt are text; anything else is JSON if it can be parsed as JSON.

    Example: pegboard normalize response.json --from anthropic
    """
    from pegboard.surfaces.cli.input_files import read_payload  # noqa: PLC0415 -- `call` does without YAML

    body, kind = read_payload(source)
    path, params = build_path("calls", "normalize"), {"from": dialect, "check": check or None}
    run_and_write(
        ctx,
        lambda it: it.send("POST", path, params=params, body=body, headers={"Content-Type": kind}),
        _show_calls,
    )


def _show_calls(answer: dict[str, Any]) -> None:
    calls = answer["calls"]
    if calls:
        write_table(
            ["ID", "NAME", "SUMMARY", "ERROR"],
            [[call["id"], call["name"], call["summary"], _find_fault(call)] for call in calls],
        )
    write_message(f"{format_count(len(calls), 'call')} in {answer['dialect']}")


def _find_fault(call: dict[str, Any]) -> Any:
    """Return why the call would be refused, or the error that the payload has for it."""
    return call["problem"]["message"] if "problem" in call else call.get("error")


def watch_calls(
    ctx: typer.Context,
    tool: Annotated[str | None, typer.Option("--tool", help="Only calls of this tool, by name or id")] = None,
    user: Annotated[
        str | None, typer.Option("--user", help="Only calls of this user, by name or id; for admins")
    ] = None,
) -> None:
    """Show calls as they start, progress and end; an admin sees those of all users.

    With --json each event is one line: {"event": …, "data": …}.

    Example: pegboard watch --tool get_weather
    """

    def write_json_line(event: ServerEvent) -> None:
        write(f'{{"event":"{event.name}","data":{event.text}}}')

    show = write_json_line if get_session(ctx).as_json else WatchOutput().show

    async def work(client: ApiClient) -> None:
        params = {"tool": tool, "caller": await find_caller_id(client, user)}
        seen = ""
        is_known = False
        pause = 0.0
        while True:
            headers = {"Last-Event-ID": seen} if seen else None
            try:
                async with client.open_events(
                    "GET", build_path("executions", "stream"), params=params, headers=headers
                ) as opened:
                    write_message("Watching again" if is_known else "Watching; Ctrl-C ends it", colour="dim")
                    is_known, pause = True, 0.0
                    async for event in opened.events:
                        seen = event.number
                        show(event)
                    why = "the board closed it"
            except BoardUnreachable as failure:
                if not is_known:
                    raise
                why = failure.message
            if not pause:
                write_message(why, label="Connection lost, trying again: ", colour="yellow")
            await asyncio.sleep(pause)
            pause = min(_MAX_RETRY_SECONDS, pause * 2 or 0.25)

    try:
        run_with_client(ctx, work)
    except KeyboardInterrupt:
        raise typer.Exit(0) from None


def list_running(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option("--limit", min=1, max=PAGE_SIZE, help="Maximum number of calls")] = 50,
) -> None:
    """List the calls that run now; an admin sees those of all users.

    Example: pegboard running
    """

    def show(found: dict[str, Any]) -> None:
        rows = [
            [
                format_local_time(item["started_at"]),
                to_single_line(item["tool_name"], MAX_NAME_CHARS),
                item["caller"],
                item["surface"],
                "" if item["progress"] is None else format_progress(item),
                item["run_id"],
            ]
            for item in found["items"]
        ]
        write_table(["SINCE", "TOOL", "CALLER", "SURFACE", "PROGRESS", "ID"], rows, "No calls run.")
        if found["total"] > len(rows):
            write_message(f"{found['total']} calls run; show more with --limit")

    run_and_write(ctx, lambda it: it.get(build_path("calls"), limit=limit), show)


def cancel_call(
    ctx: typer.Context,
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="The call's id, from: watch", show_default=False)],
) -> None:
    """Cancel a running call; its caller gets the error `cancelled`."""
    try:
        run_with_client(ctx, lambda it: it.delete(build_path("calls", run_id)))
    except RequestRefused as error:
        see = {404: "See: pegboard audit list", 409: f"See: pegboard audit show {run_id}"}.get(error.status)
        lines = error.lines if see is None else (*error.lines, see)
        raise RequestRefused(error.message, lines, status=error.status, faults=error.faults) from None
    write_removed(ctx, run_id, run_id, "cancelled")


class WatchOutput:
    """Writes events as lines."""

    def __init__(self) -> None:
        # Callers of the running calls, and when the progress of each was last written.
        self._callers: dict[str, str] = {}
        self._shown: dict[str, float] = {}

    def show(self, event: ServerEvent) -> None:
        """Write an event as one line; progress of a call is written at most once per interval."""
        data = event.data
        if event.name == "started":
            self._callers[data["run_id"]] = data["caller"]
            write(_format_line("started", data["started_at"], data))
        elif event.name == "progress":
            self._show_progress(data)
        elif event.name == "finished":
            self._callers.pop(data["id"], None)
            self._shown.pop(data["id"], None)
            values = {**data, "run_id": data["id"]}
            write(_format_line(data["status"], data["finished_at"], values, f"{data['elapsed_ms']:,.1f} ms"))
        elif event.name == "gap":
            self._callers.clear()
            self._shown.clear()
            missed = data.get("missed")
            write_message(f"{'Some' if missed is None else f'{missed:,}'} events were missed", colour="yellow")
        elif event.name == "error":
            write_message(str(data.get("message")), colour="yellow")

    def _show_progress(self, data: dict[str, Any]) -> None:
        run_id = data["run_id"]
        now = time.monotonic()
        how = format_progress(data)
        if how and now - self._shown.get(run_id, -_PROGRESS_INTERVAL_SECONDS) >= _PROGRESS_INTERVAL_SECONDS:
            self._shown[run_id] = now
            values = {**data, "caller": self._callers.get(run_id, "")}
            write(_format_line("progress", datetime.now(UTC).isoformat(), values, how))


def _format_line(status: str, at: str, call: Mapping[str, Any], how: str = "") -> str:
    mark, colour = _EVENT_MARKS.get(status, ("?", "yellow"))
    clock = datetime.fromisoformat(at).astimezone().strftime("%H:%M:%S")
    name, caller = (to_single_line(call[member], MAX_NAME_CHARS) for member in ("tool_name", "caller"))
    text = f"{mark} {name:24}  {caller:12}  {how:>12}"
    shown = colour_text(text, colour)
    return "  ".join(filter(None, (clock, shown, escape_control_characters(call.get("code") or ""), call["run_id"])))
