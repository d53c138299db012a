"""Shared by the commands: requests, lists, removals, and the options that several of them have."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, TypeVar

import typer

from pegboard.model.json_text import is_uuid
from pegboard.surfaces.cli.api_client import PAGE_SIZE, ApiClient, ApiReply, build_path, open_client
from pegboard.surfaces.cli.exit_codes import RequestRefused, UsageError
from pegboard.surfaces.cli.output import (
    ask_confirmation,
    format_local_time,
    write,
    write_json,
    write_message,
    write_table,
)
from pegboard.surfaces.cli.session import CliSession, PageOptions, get_session

T = TypeVar("T")
Item = dict[str, Any]
# The columns of a table: the member of an item, or a function of the item, by the heading of the column.
Columns = Mapping[str, str | Callable[[Item], object]]

FORBIDDEN, NOT_FOUND, CONFLICT = 403, 404, 409
_COMPLETION_SECONDS = 1.0


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
    async with open_client(session) as client:
        reply = await client.get(build_path("tools"), q=incomplete or None, limit=PAGE_SIZE)
    names = [str(tool["name"]) for tool in reply.data["items"]]
    return [name for name in names if name.lower().startswith(incomplete.lower())]


Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; required without a terminal")]
ToolName = Annotated[
    str, typer.Argument(metavar="NAME", help="The tool's name or id", autocompletion=complete_tools, show_default=False)
]
AnswerDialect = Annotated[str | None, typer.Option("--as", metavar="DIALECT", help="The dialect of the response")]


def run_with_client(ctx: typer.Context, work: Callable[[ApiClient], Awaitable[T]]) -> T:
    """Run `work` with a client and return its result; ask the user outside of it, because Ctrl-C cancels it at once."""

    async def run_work() -> T:
        async with open_client(get_session(ctx)) as client:
            return await work(client)

    return asyncio.run(run_work())


def run_and_write(
    ctx: typer.Context, work: Callable[[ApiClient], Awaitable[ApiReply]], show: Callable[[Any], None]
) -> ApiReply:
    """Run `work`, and write the response that it returns: with --json as the API sent it, else by calling `show`."""
    reply = run_with_client(ctx, work)
    write_reply(ctx, reply, show)
    return reply


def write_reply(ctx: typer.Context, reply: ApiReply, show: Callable[[Any], None]) -> None:
    """Write a response: with --json as the API sent it, else by calling `show`."""
    if get_session(ctx).as_json:
        write(reply.text)
    else:
        show(reply.data)


def list_resources(
    ctx: typer.Context,
    path: str,
    columns: Columns,
    empty: str,
    page: PageOptions,
    **params: Any,
) -> None:
    """Write a list of the API as a table, from as many pages as the options require."""
    run_and_write(ctx, lambda it: it.pages(path, params, page), lambda found: show_items(found, columns, empty))


def show_items(page: Item, columns: Columns, empty: str) -> None:
    """Write a page of a list as a table, and the options for the next page if there is one."""
    rows = [
        [item[column] if isinstance(column, str) else column(item) for column in columns.values()]
        for item in page["items"]
    ]
    write_table(list(columns), rows, empty)
    write_next_page_hint(page)


def write_next_page_hint(page: Item) -> None:
    """Print the options for the next page if the list is incomplete."""
    if page.get("next_cursor"):
        write_message(f"More results. Show all: --all. Next page: --cursor {page['next_cursor']}")


def local_time(member: str) -> Callable[[Item], str]:
    """Return a column with a timestamp in the local time zone."""
    return lambda item: format_local_time(item[member])


def remove_resource(
    ctx: typer.Context, collection: str, name: str, find_id: Callable[[ApiClient], Awaitable[str]] | None = None
) -> None:
    """Remove one item, found by its name unless `find_id` finds its id, and print what was removed."""

    async def work(client: ApiClient) -> str:
        found = name if find_id is None else await find_id(client)
        await client.delete(build_path(collection, found))
        return found

    write_removed(ctx, run_with_client(ctx, work), name)


def write_removed(ctx: typer.Context, gone: str, shown: str, word: str = "removed") -> None:
    """Print what was removed; the API returns no body."""
    if get_session(ctx).as_json:
        write_json({word: gone})
    else:
        write(f"{word} {shown}")


def confirm_removal(question: str, *, yes: bool) -> None:
    """Ask before an action that cannot be undone; raise UsageError without a terminal unless `yes`."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("This cannot be undone, and nothing was removed. Without a terminal, confirm it with --yes")
    if not ask_confirmation(question):
        raise RequestRefused("Nothing was removed")


def run_confirmed(run: Callable[[bool], T], yes: bool, question: str, refusal: str) -> T:
    """Run `run(yes)`; if the board refuses it without confirmation, ask on a terminal and run `run(True)`."""
    try:
        return run(yes)
    except RequestRefused as refused:
        if refused.status != CONFLICT or not sys.stdin.isatty():
            raise
        write_message(refused.message)
    if not ask_confirmation(question):
        raise RequestRefused(refusal)
    return run(True)


async def find_agent_id(client: ApiClient, agent: str, owner: str | None = None) -> str:
    """Return the id of an agent given by name or id."""
    return agent if is_uuid(agent) else await find_id_by_name(client, "agents", agent, owner)


async def find_user_id(client: ApiClient, user: str | None, purpose: str) -> str:
    """Return the id of a user given by name or id, None for the caller; raise RequestRefused if that needs an admin."""
    if user is not None and is_uuid(user):
        return user
    me = (await client.get(build_path("me"))).data["user"]
    if user is None or user == me["name"]:
        return str(me["id"])
    try:
        return await find_id_by_name(client, "users", user)
    except RequestRefused as refused:
        if refused.status != FORBIDDEN:
            raise
        raise RequestRefused(f"Only admins may {purpose}", status=FORBIDDEN) from None


async def find_caller_id(client: ApiClient, caller: str | None) -> str | None:
    """Return the id of the user to filter calls by, or None for no filter."""
    return None if caller is None else await find_user_id(client, caller, "see calls of others")


async def find_id_by_name(client: ApiClient, what: str, name: str, owner: str | None = None) -> str:
    """Return the id of the item with this name; raise RequestRefused if there is none, or more than one."""
    items = (await client.pages(build_path(what))).data["items"]
    found = [item["id"] for item in items if item["name"] == name and (owner is None or item["owner_id"] == owner)]
    if len(found) > 1:
        raise RequestRefused(f"There are {len(found)} {what} named '{name}'; give the id of one: {', '.join(found)}")
    if not found:
        raise RequestRefused(f"{what.capitalize().removesuffix('s')} '{name}' not found", status=NOT_FOUND)
    return str(found[0])


def get_tool(ctx: typer.Context, name: str) -> ApiReply:
    """Return the response with a tool."""
    return run_with_client(ctx, lambda it: it.get(build_path("tools", name)))
