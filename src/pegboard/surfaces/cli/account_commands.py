"""`pegboard users`, `pegboard keys`, `pegboard agents` and `pegboard whoami`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from pegboard.surfaces.cli.api_paths import build_path
from pegboard.surfaces.cli.call_command import AnswerDialect, complete_tools
from pegboard.surfaces.cli.exit_codes import RequestRefused, UsageError
from pegboard.surfaces.cli.output import (
    Yes,
    ask_confirmation,
    confirm_removal,
    format_count,
    format_local_time,
    to_single_line,
    write,
    write_json,
    write_message,
    write_table,
)
from pegboard.surfaces.cli.session import board_command, create_group, get_session, run_with_client, write_reply
from pegboard.surfaces.cli.time_arguments import parse_future_time
from pegboard.surfaces.cli.tool_commands import AllPages, Cursor, Limit, write_next_page_hint

if TYPE_CHECKING:
    from pegboard.surfaces.cli.api_client import ApiClient, ApiReply

users_app = create_group("users", "Add and remove the people who use the board.")
keys_app = create_group("keys", "Create and revoke keys.")

_FORBIDDEN, _CONFLICT = 403, 409
User = Annotated[
    str | None, typer.Argument(metavar="[USER]", help="Name or id; by default yourself", show_default=False)
]


def show_current_user(ctx: typer.Context) -> None:
    """Show the user of this key."""

    def show(me: dict[str, Any]) -> None:
        user = me["user"]
        bound = f", bound to agent {me['agent_name']} ({me['agent_id']})" if me["agent_id"] else ""
        write(f"{user['name']} ({user['role']}), user {user['id']}, key {me['key_id'] or 'of this process'}{bound}")

    write_reply(ctx, run_with_client(ctx, lambda it: it.get(build_path("me"))), show)


@board_command(users_app, "list")
def list_users(ctx: typer.Context, limit: Limit = 50, cursor: Cursor = None, every: AllPages = False) -> None:
    """List the users, oldest first."""

    def show(page: dict[str, Any]) -> None:
        rows = [
            [user["name"], user["role"], format_local_time(user["created_at"]), user["id"]] for user in page["items"]
        ]
        write_table(["NAME", "ROLE", "SINCE", "ID"], rows, "No users.")
        write_next_page_hint(page)

    path = build_path("users")
    write_reply(ctx, run_with_client(ctx, lambda it: it.pages(path, {}, limit=limit, cursor=cursor, every=every)), show)


@board_command(users_app, "add")
def add_user(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False)],
    role: Annotated[str, typer.Option("--role", help="member or admin")] = "member",
) -> None:
    """Add a user; give them a key with: pegboard keys create NAME."""
    reply = run_with_client(ctx, lambda it: it.post(build_path("users"), {"name": name, "role": role}))
    write_reply(ctx, reply, lambda user: write(f"added {user['name']} ({user['role']})  {user['id']}"))


@board_command(users_app, "remove")
def remove_user(
    ctx: typer.Context,
    user: Annotated[str, typer.Argument(metavar="ID", help="Id or name", show_default=False)],
    yes: Yes = False,
) -> None:
    """Remove a user and revoke all their keys."""
    confirm_removal(f"Remove {user} and make all their keys void?", yes=yes)

    async def work(client: ApiClient) -> str:
        found = await find_user_id(client, user, "remove users")
        await client.delete(build_path("users", found))
        return found

    write_removed(ctx, run_with_client(ctx, work), user)


@board_command(keys_app, "create")
def create_key(
    ctx: typer.Context,
    user: User = None,
    name: Annotated[str, typer.Option("--name", help="What the key is for")] = "",
    agent: Annotated[str | None, typer.Option("--agent", help="Bind it to this agent, by name or id")] = None,
    expires: Annotated[str | None, typer.Option("--expires", help="When it expires: 30d, 12h, or an ISO time")] = None,
) -> None:
    """Create a key and print it. It is shown only once.

    Example: PEGBOARD_KEY=$(pegboard keys create alice --expires 30d)
    """
    ends = parse_future_time(expires, "--expires")

    async def work(client: ApiClient) -> ApiReply:
        owner = await find_user_id(client, user, "create keys for others")
        bound = await find_agent_id(client, agent, owner) if agent is not None else None
        return await client.post(
            build_path("users", owner, "keys"), {"name": name, "agent_id": bound, "expires_at": ends}
        )

    def show(key: dict[str, Any]) -> None:
        write(key["key"])
        until = f", good until {format_local_time(key['expires_at'])}" if key["expires_at"] else ""
        write_message(f"Key {key['id']}{until}. It is shown only once; keep it.")

    write_reply(ctx, run_with_client(ctx, work), show)


@board_command(keys_app, "list")
def list_keys(ctx: typer.Context, user: User = None) -> None:
    """List a user's keys (never the secret part)."""

    async def work(client: ApiClient) -> ApiReply:
        return await client.get(build_path("users", await find_user_id(client, user, "list keys of others"), "keys"))

    def show(found: dict[str, Any]) -> None:
        rows = [
            [
                key["name"],
                key["prefix"] and key["prefix"] + "…",
                key["agent_id"],
                format_local_time(key["created_at"]),
                key["created_by_name"] or key["created_by"],
                format_local_time(key["expires_at"]),
                format_local_time(key["revoked_at"]),
                key["id"],
            ]
            for key in found["items"]
        ]
        columns = ["NAME", "KEY", "AGENT", "SINCE", "CREATED BY", "EXPIRES", "REVOKED", "ID"]
        write_table(columns, rows, "No keys.")

    write_reply(ctx, run_with_client(ctx, work), show)


@board_command(keys_app, "revoke")
def revoke_key(
    ctx: typer.Context,
    key_id: Annotated[str, typer.Argument(metavar="ID", help="The key's id, from: keys list", show_default=False)],
    user: Annotated[str | None, typer.Option("--user", help="The user of the key; by default yourself")] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Revoke it although you are using it, or it is the last one of an admin")
    ] = False,
) -> None:
    """Revoke a key: it is void at once."""

    async def work(client: ApiClient, force: bool) -> None:
        owner = await find_user_id(client, user, "revoke keys of others")
        await client.send(
            "DELETE", build_path("users", owner, "keys", key_id), params={"force": "true" if force else None}
        )

    try:
        run_with_client(ctx, lambda it: work(it, yes))
    except RequestRefused as refused:
        if refused.status == 404 and user is None:
            raise RequestRefused(
                refused.message, ["If it is another user's, name them with --user"], status=404
            ) from None
        if refused.status != _CONFLICT or not sys.stdin.isatty():
            raise
        write_message(refused.message)
        if not ask_confirmation("Revoke it all the same?"):
            raise RequestRefused("Nothing was revoked") from None
        run_with_client(ctx, lambda it: work(it, True))
    write_removed(ctx, key_id, key_id, "revoked")


def write_removed(ctx: typer.Context, gone: str, shown: str, word: str = "removed") -> None:
    """Print what was removed; the API returns no body."""
    if get_session(ctx).as_json:
        write_json({word: gone})
    else:
        write(f"{word} {shown}")


async def find_user_id(client: ApiClient, user: str | None, purpose: str) -> str:
    """Return the id of a user given by name or id, None for the caller; raise RequestRefused if that needs an admin."""
    if user is not None and is_id(user):
        return user
    me = (await client.get(build_path("me"))).data["user"]
    if user is None or user == me["name"]:
        return str(me["id"])
    try:
        return await _find_id_by_name(client, "users", user)
    except RequestRefused as refused:
        if refused.status != _FORBIDDEN:
            raise
        raise RequestRefused(f"Only admins may {purpose}", status=_FORBIDDEN) from None


async def find_agent_id(client: ApiClient, agent: str, owner: str | None = None) -> str:
    """Return the id of an agent given by name or id."""
    return agent if is_id(agent) else await _find_id_by_name(client, "agents", agent, owner)


async def _find_id_by_name(client: ApiClient, what: str, name: str, owner: str | None = None) -> str:
    every = await client.pages(build_path(what), {}, limit=1, cursor=None, every=True)
    found = [
        item["id"]
        for item in every.data["items"]
        if item["name"] == name and (owner is None or item["owner_id"] == owner)
    ]
    if len(found) > 1:
        raise RequestRefused(f"There are {len(found)} {what} named '{name}'; give the id of one: {', '.join(found)}")
    if not found:
        raise RequestRefused(f"{what.capitalize().removesuffix('s')} '{name}' not found", status=404)
    return str(found[0])


def is_id(text: str) -> bool:
    """Return True if the text is a UUID."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True


agents_app = create_group("agents", "Put tools on agents.")

Agent = Annotated[str, typer.Argument(metavar="AGENT", help="Name or id", show_default=False)]
Tools = Annotated[
    list[str] | None,
    typer.Option(
        "--tool", help="A tool's name or id; repeat for several", autocompletion=complete_tools, show_default=False
    ),
]
Description = Annotated[str | None, typer.Option("--description", help="What the agent is for", show_default=False)]
_MAX_NAMED_TOOLS = 50


@board_command(agents_app, "list")
def list_agents(ctx: typer.Context, limit: Limit = 50, cursor: Cursor = None, every: AllPages = False) -> None:
    """List your agents; an admin sees those of all users."""

    def show(page: dict[str, Any]) -> None:
        rows = [
            [
                agent["name"],
                len(agent["tools"]),
                format_local_time(agent["created_at"]),
                agent["id"],
                to_single_line(agent["description"]),
            ]
            for agent in page["items"]
        ]
        write_table(["NAME", "TOOLS", "SINCE", "ID", "DESCRIPTION"], rows, "No agents.")
        write_next_page_hint(page)

    path = build_path("agents")
    write_reply(ctx, run_with_client(ctx, lambda it: it.pages(path, {}, limit=limit, cursor=cursor, every=every)), show)


@board_command(agents_app, "add")
def add_agent(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False)],
    tools: Tools = None,
    description: Description = None,
) -> None:
    """Create an agent with tools.

    Example: pegboard agents add support --tool get_weather --tool create_ticket
    """
    body = {"name": name, "description": description, "tools": tools or []}
    reply = run_with_client(ctx, lambda it: it.post(build_path("agents"), body))
    write_reply(ctx, reply, lambda agent: write(f"added {agent['name']}  {agent['id']}"))


@board_command(agents_app, "show")
def show_agent(ctx: typer.Context, agent: Agent) -> None:
    """Show one agent and its tools."""
    as_json = get_session(ctx).as_json

    async def work(client: ApiClient) -> tuple[ApiReply, list[str]]:
        reply = await client.get(build_path("agents", await find_agent_id(client, agent)))
        return reply, [] if as_json else await _list_tool_names(client, reply.data["tools"])

    reply, names = run_with_client(ctx, work)

    def show(found: dict[str, Any]) -> None:
        about = f": {to_single_line(found['description'])}" if found["description"] else ""
        write("\n".join([f"{found['name']}{about}", f"id {found['id']}", *(f"- {name}" for name in names)]))

    write_reply(ctx, reply, show)


@board_command(agents_app, "edit")
def edit_agent(
    ctx: typer.Context,
    agent: Agent,
    *,
    name: Annotated[str | None, typer.Option("--name", help="A new name", show_default=False)] = None,
    description: Description = None,
    tools: Annotated[
        list[str] | None,
        typer.Option(
            "--tool",
            help="All the tools it shall have, instead of those it has; again for more",
            autocompletion=complete_tools,
            show_default=False,
        ),
    ] = None,
    add: Annotated[
        list[str] | None,
        typer.Option(
            "--add-tool",
            help="A tool to put on it, beside those it has; again for more",
            autocompletion=complete_tools,
            show_default=False,
        ),
    ] = None,
    take: Annotated[
        list[str] | None,
        typer.Option("--remove-tool", help="A tool to take off it; again for more", show_default=False),
    ] = None,
    no_tools: Annotated[bool, typer.Option("--no-tools", help="Remove all tools from it")] = False,
) -> None:
    """Change an agent: --add-tool and --remove-tool change single tools, --tool replaces all.

    Example: pegboard agents edit support --add-tool get_weather --remove-tool create_ticket
    """
    if sum((bool(tools), no_tools, bool(add or take))) > 1:
        raise UsageError("--tool, --no-tools, and --add-tool with --remove-tool exclude each other")
    change = {"name": name, "description": description, "tools": [] if no_tools else tools or None}
    body = {field: value for field, value in change.items() if value is not None}
    if not body and not add and not take:
        raise UsageError(
            "Nothing to change. Give --name, --description, --add-tool, --remove-tool, --tool or --no-tools"
        )

    async def work(client: ApiClient) -> ApiReply:
        path = build_path("agents", await find_agent_id(client, agent))
        if add or take:
            body["tools"] = await _change_tools(client, (await client.get(path)).data["tools"], add or [], take or [])
        return await client.patch(path, body)

    write_reply(
        ctx,
        run_with_client(ctx, work),
        lambda found: write(f"{found['name']} has {format_count(len(found['tools']), 'tool')}"),
    )


@board_command(agents_app, "remove")
def remove_agent(ctx: typer.Context, agent: Agent, yes: Yes = False) -> None:
    """Remove an agent; keys that are bound to it are void."""
    confirm_removal(f"Remove {agent} and make its keys void?", yes=yes)

    async def work(client: ApiClient) -> str:
        found = await find_agent_id(client, agent)
        await client.delete(build_path("agents", found))
        return found

    write_removed(ctx, run_with_client(ctx, work), agent)


@board_command(agents_app, "definitions")
def show_agent_definitions(ctx: typer.Context, agent: Agent, shape: AnswerDialect = None) -> None:
    """Print the tool definitions of an agent."""

    async def work(client: ApiClient) -> ApiReply:
        return await client.get(
            build_path("agents", await find_agent_id(client, agent), "definitions"), **{"as": shape}
        )

    write_reply(ctx, run_with_client(ctx, work), write_json)


async def _change_tools(client: ApiClient, ids: list[str], add: list[str], take: list[str]) -> list[str]:
    """Return the agent's tool ids after adding and removing some; raise RequestRefused if one to remove is missing."""
    left = list(ids)
    for ref in take:
        found = ref.lower() if is_id(ref) else str((await client.get(build_path("tools", ref))).data["id"])
        if found not in left:
            raise RequestRefused(f"The agent does not have the tool '{ref}'")
        left.remove(found)
    return [*left, *add]


async def _list_tool_names(client: ApiClient, ids: list[str]) -> list[str]:
    names = []
    for tool in ids[:_MAX_NAMED_TOOLS]:
        try:
            names.append(str((await client.get(build_path("tools", tool))).data["name"]))
        except RequestRefused:
            names.append(f"{tool} (gone)")
    more = len(ids) - _MAX_NAMED_TOOLS
    return [*names, f"and {more} more"] if more > 0 else names
