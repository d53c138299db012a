"""`pegboard threads`: conversations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from textwrap import indent
from typing import Annotated, Any

import typer

from pegboard.surfaces.cli.api_client import ApiClient, ApiReply, build_path
from pegboard.surfaces.cli.exit_codes import UsageError
from pegboard.surfaces.cli.input_files import read_payload
from pegboard.surfaces.cli.output import (
    colour_text,
    escape_control_characters,
    format_count,
    format_local_time,
    to_single_line,
    write,
    write_json,
    write_message,
)
from pegboard.surfaces.cli.resources import (
    Columns,
    Yes,
    confirm_removal,
    list_resources,
    local_time,
    remove_resource,
    run_and_write,
    run_with_client,
    write_next_page_hint,
)
from pegboard.surfaces.cli.session import PageOptions

ThreadId = Annotated[str, typer.Argument(metavar="ID", help="The thread's id, from: threads list", show_default=False)]


def list_threads(ctx: typer.Context, page: PageOptions) -> None:
    """List your threads, last changed first."""
    columns: Columns = {
        "TITLE": lambda thread: to_single_line(thread["title"], 60),
        "MESSAGES": "messages",
        "CHANGED": local_time("updated_at"),
        "ID": "id",
    }
    list_resources(ctx, build_path("threads"), columns, "No threads.", page)


def show_thread(
    ctx: typer.Context,
    thread_id: ThreadId,
    *,
    shape: Annotated[
        str | None, typer.Option("--as", metavar="DIALECT", help="As a message history of this dialect")
    ] = None,
    page: PageOptions,
) -> None:
    """Show the messages of a thread, oldest first, with calls and results.

    Example: pegboard threads show 0199f0c0-… --as anthropic
    """
    if shape is not None and page.every:
        raise UsageError("--as shows one page of a conversation; use --limit 200 and --cursor instead of --all")
    path = build_path("threads", thread_id, "messages")

    async def work(client: ApiClient) -> ApiReply:
        if shape is not None:
            return await client.get(path, limit=page.limit, cursor=page.cursor, **{"as": shape})
        return await client.pages(path, page=page)

    def show(found: dict[str, Any]) -> None:
        if shape is not None:
            write_json(found)
            return
        if found["items"]:
            _write_messages(found["items"])
        else:
            write_message("No messages yet")
        write_next_page_hint(found)

    run_and_write(ctx, work, show)


def create_thread(
    ctx: typer.Context,
    title: Annotated[
        str | None,
        typer.Argument(
            metavar="[TITLE]", help="Title; by default the beginning of the first message", show_default=False
        ),
    ] = None,
) -> None:
    """Create a thread and print its id.

    Example: pegboard call get_weather city=Lisbon --thread "$(pegboard threads new Weather)"
    """
    body = {} if title is None else {"title": title}
    run_and_write(ctx, lambda it: it.post(build_path("threads"), body), lambda thread: write(thread["id"]))


def add_messages(
    ctx: typer.Context,
    thread_id: ThreadId,
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help="Text of the message", show_default=False)
    ] = None,
    *,
    role: Annotated[str | None, typer.Option("--role", help="user (default), assistant or system")] = None,
    source: Annotated[
        str | None,
        typer.Option("--input", metavar="FILE|-", help="A file with one message or several, in any dialect"),
    ] = None,
    dialect: Annotated[
        str | None, typer.Option("--from", metavar="DIALECT", help="The dialect of --input; detected by default")
    ] = None,
) -> None:
    """Add messages to a thread.

    Example: pegboard threads add 0199f0c0-… "What is the weather in Lisbon?"
    """
    if (text is None) == (source is None):
        raise UsageError("Give either the text of the message or a file with --input")
    if source is not None and role is not None:
        raise UsageError("--role needs a text; the messages of a file have their own roles")
    if source is None and dialect is not None:
        raise UsageError("--from needs --input; a text has no dialect")
    if source is None:
        body, kind = json.dumps({"role": role or "user", "content": text}).encode(), "application/json"
    else:
        body, kind = read_payload(source)
    path = build_path("threads", thread_id, "messages")
    run_and_write(
        ctx,
        lambda it: it.send("POST", path, params={"from": dialect}, body=body, headers={"Content-Type": kind}),
        lambda added: _write_messages(added.get("items", [added])),
    )


def _write_messages(messages: list[dict[str, Any]]) -> None:
    write("\n\n".join(map(_format_message, messages)))


def rename_thread(
    ctx: typer.Context,
    thread_id: ThreadId,
    title: Annotated[str, typer.Argument(metavar="TITLE", show_default=False)],
) -> None:
    """Change the title of a thread."""
    run_and_write(
        ctx,
        lambda it: it.patch(build_path("threads", thread_id), {"title": title}),
        lambda thread: write(f"renamed {thread['id']} to {to_single_line(thread['title'])}"),
    )


def remove_thread(ctx: typer.Context, thread_id: ThreadId, yes: Yes = False) -> None:
    """Remove a conversation with all its messages; this cannot be undone."""
    if not yes:
        thread = run_with_client(ctx, lambda it: it.get(build_path("threads", thread_id))).data
        messages = format_count(thread["messages"], "message")
        confirm_removal(f"Remove {to_single_line(thread['title']) or thread_id} and its {messages}?", yes=yes)
    remove_resource(ctx, "threads", thread_id)


_INDENT = "  "


def _format_message(message: Mapping[str, Any]) -> str:
    """Format a message as text: role, time, content, and each call with its result."""
    # Takes a sixth of a second, and the other commands do without it.
    from pegboard.display.names import get_tool_display_name, summarize_call  # noqa: PLC0415

    lines = [f"{colour_text(message['role'], 'green')}  {format_local_time(message['timestamp'])}"]
    if message["content"]:
        lines.append(indent(escape_control_characters(message["content"]), _INDENT))
    for call in message["tool_calls"]:
        name = get_tool_display_name(call.get("name") or "unknown")
        lines.append(_INDENT + escape_control_characters(f"→ {summarize_call(name, call.get('arguments'))}"))
        lines.append(_INDENT * 2 + _format_outcome(call))
    return "\n".join(lines)


def _format_outcome(call: Mapping[str, Any]) -> str:
    from pegboard.display.format import summarize_output  # noqa: PLC0415 -- as in `_format_message`

    if call.get("error") is not None:
        code = f" ({call['code']})" if call.get("code") else ""
        shown = colour_text(f"✗ {call['error']}{code}", "red")
    elif "result" in call:
        shown = escape_control_characters(f"✓ {summarize_output(call['result'])}")
    else:
        shown = colour_text("? no result is known", "yellow")
    notes = [f"{call['duration_ms']:,.1f} ms"] if call.get("duration_ms") is not None else []
    if (attempts := call.get("attempts") or 1) > 1:
        notes.append(f"{attempts} attempts")
    if call.get("result_valid") is False:
        notes.append("does not match its output_schema")
    return f"{shown}  {colour_text(', '.join(notes), 'dim')}" if notes else shown
