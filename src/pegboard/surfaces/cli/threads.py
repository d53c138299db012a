"""`pegboard threads`: conversations."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pegboard.surfaces.cli.failures import Usage
from pegboard.surfaces.cli.output import (
    Yes,
    confirm_loss,
    counted,
    moment,
    one_line,
    say,
    write,
    write_json,
    write_table,
)
from pegboard.surfaces.cli.people import removed
from pegboard.surfaces.cli.routes import route
from pegboard.surfaces.cli.session import board_command, give, group, with_board
from pegboard.surfaces.cli.tools import Cursor, Every, Limit, say_more

if TYPE_CHECKING:
    from pegboard.surfaces.cli.client import Client, Reply

app = group("threads", "Read and write conversations; only their owner can see them.")

ThreadId = Annotated[str, typer.Argument(metavar="ID", help="The thread's id, from: threads list", show_default=False)]


@board_command(app, "list")
def list_threads(ctx: typer.Context, limit: Limit = 50, cursor: Cursor = None, every: Every = False) -> None:
    """List your threads, last changed first."""

    def show(page: dict[str, Any]) -> None:
        rows = [
            [one_line(thread["title"], 60), thread["messages"], moment(thread["updated_at"]), thread["id"]]
            for thread in page["items"]
        ]
        write_table(["TITLE", "MESSAGES", "CHANGED", "ID"], rows, "No threads.")
        say_more(page)

    path = route("threads")
    give(ctx, with_board(ctx, lambda it: it.pages(path, {}, limit=limit, cursor=cursor, every=every)), show)


@board_command(app, "show")
def show_thread(
    ctx: typer.Context,
    thread_id: ThreadId,
    *,
    shape: Annotated[
        str | None, typer.Option("--as", metavar="DIALECT", help="As a message history of this dialect")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    every: Every = False,
) -> None:
    """Show the messages of a thread, oldest first, with calls and results.

    Example: pegboard threads show 0199f0c0-… --as anthropic
    """
    if shape is not None and every:
        raise Usage("--as shows one piece of a conversation; take --limit 200 and --cursor instead of --all")
    path = route("threads", thread_id, "messages")

    async def work(client: Client) -> Reply:
        if shape is not None:
            return await client.get(path, limit=limit, cursor=cursor, **{"as": shape})
        return await client.pages(path, {}, limit=limit, cursor=cursor, every=every)

    def show(page: dict[str, Any]) -> None:
        if shape is not None:
            write_json(page)
            return
        from pegboard.surfaces.cli.messages import written  # noqa: PLC0415 -- start-up time

        if page["items"]:
            write("\n\n".join(map(written, page["items"])))
        else:
            say("Nothing was said yet")
        say_more(page)

    give(ctx, with_board(ctx, work), show)


@board_command(app, "new")
def new(
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
    give(ctx, with_board(ctx, lambda it: it.post(route("threads"), body)), lambda thread: write(thread["id"]))


@board_command(app, "add")
def add(
    ctx: typer.Context,
    thread_id: ThreadId,
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help="Text of the message", show_default=False)
    ] = None,
    *,
    role: Annotated[str | None, typer.Option("--role", help="user (default), assistant or system")] = None,
    source: Annotated[
        str | None,
        typer.Option("--input", metavar="FILE|-", help="A file with a message or several, in any dialect"),
    ] = None,
    dialect: Annotated[
        str | None, typer.Option("--from", metavar="DIALECT", help="The dialect of --input; detected by default")
    ] = None,
) -> None:
    """Add messages to a thread.

    Example: pegboard threads add 0199f0c0-… "What is the weather in Lisbon?"
    """
    if (text is None) == (source is None):
        raise Usage("Give what is said, or a file with --input: one of the two")
    if source is not None and role is not None:
        raise Usage("--role goes with a text; what is in a file says itself who says it")
    if source is None and dialect is not None:
        raise Usage("--from goes with --input; a text has no dialect")
    if source is None:
        body, kind = json.dumps({"role": role or "user", "content": text}).encode(), "application/json"
    else:
        from pegboard.surfaces.cli.normalize import read_payload  # noqa: PLC0415 -- start-up time

        body, kind = read_payload(source)
    path = route("threads", thread_id, "messages")
    reply = with_board(
        ctx,
        lambda it: it.send("POST", path, params={"from": dialect}, body=body, headers={"Content-Type": kind}),
    )

    def show(added: dict[str, Any]) -> None:
        from pegboard.surfaces.cli.messages import written  # noqa: PLC0415 -- start-up time

        write("\n\n".join(map(written, added.get("items", [added]))))

    give(ctx, reply, show)


@board_command(app, "rename")
def rename(
    ctx: typer.Context,
    thread_id: ThreadId,
    title: Annotated[str, typer.Argument(metavar="TITLE", show_default=False)],
) -> None:
    """Change the title of a thread."""
    reply = with_board(ctx, lambda it: it.patch(route("threads", thread_id), {"title": title}))
    give(ctx, reply, lambda thread: write(f"renamed {thread['id']} to {one_line(thread['title'])}"))


@board_command(app, "remove")
def remove(
    ctx: typer.Context,
    thread_id: ThreadId,
    yes: Yes = False,
) -> None:
    """Remove a conversation with all its messages; this cannot be undone."""
    path = route("threads", thread_id)
    if not yes:
        thread = with_board(ctx, lambda it: it.get(path)).data
        messages = counted(thread["messages"], "message")
        confirm_loss(f"Remove {one_line(thread['title']) or thread_id} and its {messages}?", yes=yes)
    with_board(ctx, lambda it: it.delete(path))
    removed(ctx, thread_id, thread_id)
