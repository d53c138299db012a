"""`pegboard users`, `pegboard keys` and `pegboard whoami`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from pegboard.surfaces.cli.failures import Refused
from pegboard.surfaces.cli.moments import ahead
from pegboard.surfaces.cli.output import Yes, confirm_loss, confirmed, moment, say, write, write_json, write_table
from pegboard.surfaces.cli.routes import route
from pegboard.surfaces.cli.session import board_command, give, group, session_of, with_board
from pegboard.surfaces.cli.tools import Cursor, Every, Limit, say_more

if TYPE_CHECKING:
    from pegboard.surfaces.cli.client import Client, Reply

users = group("users", "Add and remove the people who use the board.")
keys = group("keys", "Create and revoke keys.")

_FORBIDDEN, _CONFLICT = 403, 409
User = Annotated[
    str | None, typer.Argument(metavar="[USER]", help="Name or id; by default yourself", show_default=False)
]


def whoami(ctx: typer.Context) -> None:
    """Show the user of this key."""

    def show(me: dict[str, Any]) -> None:
        user = me["user"]
        bound = f", bound to agent {me['agent_name']} ({me['agent_id']})" if me["agent_id"] else ""
        write(f"{user['name']} ({user['role']}), user {user['id']}, key {me['key_id'] or 'of this process'}{bound}")

    give(ctx, with_board(ctx, lambda it: it.get(route("me"))), show)


@board_command(users, "list")
def list_users(ctx: typer.Context, limit: Limit = 50, cursor: Cursor = None, every: Every = False) -> None:
    """List the users, oldest first."""

    def show(page: dict[str, Any]) -> None:
        rows = [[user["name"], user["role"], moment(user["created_at"]), user["id"]] for user in page["items"]]
        write_table(["NAME", "ROLE", "SINCE", "ID"], rows, "No users.")
        say_more(page)

    path = route("users")
    give(ctx, with_board(ctx, lambda it: it.pages(path, {}, limit=limit, cursor=cursor, every=every)), show)


@board_command(users, "add")
def add_user(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False)],
    role: Annotated[str, typer.Option("--role", help="member or admin")] = "member",
) -> None:
    """Add a user; give them a key with: pegboard keys create NAME."""
    reply = with_board(ctx, lambda it: it.post(route("users"), {"name": name, "role": role}))
    give(ctx, reply, lambda user: write(f"added {user['name']} ({user['role']})  {user['id']}"))


@board_command(users, "remove")
def remove_user(
    ctx: typer.Context,
    user: Annotated[str, typer.Argument(metavar="ID", help="Id or name", show_default=False)],
    yes: Yes = False,
) -> None:
    """Remove a user and revoke all their keys."""
    confirm_loss(f"Remove {user} and make all their keys void?", yes=yes)

    async def work(client: Client) -> str:
        found = await user_id(client, user, "remove users")
        await client.delete(route("users", found))
        return found

    removed(ctx, with_board(ctx, work), user)


@board_command(keys, "create")
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
    ends = ahead(expires, "--expires")

    async def work(client: Client) -> Reply:
        owner = await user_id(client, user, "create keys for others")
        bound = await agent_id(client, agent, owner) if agent is not None else None
        return await client.post(route("users", owner, "keys"), {"name": name, "agent_id": bound, "expires_at": ends})

    def show(key: dict[str, Any]) -> None:
        write(key["key"])
        until = f", good until {moment(key['expires_at'])}" if key["expires_at"] else ""
        say(f"Key {key['id']}{until}. It is shown only once; keep it.")

    give(ctx, with_board(ctx, work), show)


@board_command(keys, "list")
def list_keys(ctx: typer.Context, user: User = None) -> None:
    """List a user's keys (never the secret part)."""

    async def work(client: Client) -> Reply:
        return await client.get(route("users", await user_id(client, user, "list keys of others"), "keys"))

    def show(found: dict[str, Any]) -> None:
        rows = [
            [
                key["name"],
                key["prefix"] and key["prefix"] + "…",
                key["agent_id"],
                moment(key["created_at"]),
                key["created_by_name"] or key["created_by"],
                moment(key["expires_at"]),
                moment(key["revoked_at"]),
                key["id"],
            ]
            for key in found["items"]
        ]
        columns = ["NAME", "KEY", "AGENT", "SINCE", "CREATED BY", "EXPIRES", "REVOKED", "ID"]
        write_table(columns, rows, "No keys.")

    give(ctx, with_board(ctx, work), show)


@board_command(keys, "revoke")
def revoke_key(
    ctx: typer.Context,
    key_id: Annotated[str, typer.Argument(metavar="ID", help="The key's id, from: keys list", show_default=False)],
    user: Annotated[str | None, typer.Option("--user", help="The user of the key; by default yourself")] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Revoke it although you are using it, or it is the last one of an admin")
    ] = False,
) -> None:
    """Revoke a key: it is void at once."""

    async def work(client: Client, force: bool) -> None:
        owner = await user_id(client, user, "revoke keys of others")
        await client.send("DELETE", route("users", owner, "keys", key_id), params={"force": "true" if force else None})

    try:
        with_board(ctx, lambda it: work(it, yes))
    except Refused as refused:
        if refused.status == 404 and user is None:
            raise Refused(refused.message, ["If it is another user's, name them with --user"], status=404) from None
        if refused.status != _CONFLICT or not sys.stdin.isatty():
            raise
        say(refused.message)
        if not confirmed("Revoke it all the same?"):
            raise Refused("Nothing was revoked") from None
        with_board(ctx, lambda it: work(it, True))
    removed(ctx, key_id, key_id, "revoked")


def removed(ctx: typer.Context, gone: str, shown: str, word: str = "removed") -> None:
    """Say that something is gone, which the API says with silence."""
    if session_of(ctx).as_json:
        write_json({word: gone})
    else:
        write(f"{word} {shown}")


async def user_id(client: Client, user: str | None, purpose: str) -> str:
    """The id of a user given by name or id, or of the caller for None; only admins do what `purpose` says to others."""
    if user is not None and is_id(user):
        return user
    me = (await client.get(route("me"))).data["user"]
    if user is None or user == me["name"]:
        return str(me["id"])
    try:
        return await _id_named(client, "users", user)
    except Refused as refused:
        if refused.status != _FORBIDDEN:
            raise
        raise Refused(f"Only admins may {purpose}", status=_FORBIDDEN) from None


async def agent_id(client: Client, agent: str, owner: str | None = None) -> str:
    """The id of an agent given by name or id."""
    return agent if is_id(agent) else await _id_named(client, "agents", agent, owner)


async def _id_named(client: Client, what: str, name: str, owner: str | None = None) -> str:
    every = await client.pages(route(what), {}, limit=1, cursor=None, every=True)
    found = [
        item["id"]
        for item in every.data["items"]
        if item["name"] == name and (owner is None or item["owner_id"] == owner)
    ]
    if len(found) > 1:
        raise Refused(f"There are {len(found)} {what} named '{name}'; give the id of one: {', '.join(found)}")
    if not found:
        raise Refused(f"{what.capitalize().removesuffix('s')} '{name}' not found", status=404)
    return str(found[0])


def is_id(text: str) -> bool:
    """Whether the text is an id."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True
