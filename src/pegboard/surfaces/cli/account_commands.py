"""`pegboard users`, `keys`, `agents`, `secrets` and `whoami`."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from pegboard.model.json_text import is_uuid
from pegboard.surfaces.cli.api_client import ApiClient, ApiReply, build_path
from pegboard.surfaces.cli.command_arguments import parse_future_time
from pegboard.surfaces.cli.exit_codes import RequestRefused, UsageError
from pegboard.surfaces.cli.output import (
    format_count,
    format_local_time,
    to_single_line,
    write,
    write_json,
    write_message,
)
from pegboard.surfaces.cli.resources import (
    NOT_FOUND,
    AnswerDialect,
    Columns,
    Item,
    Yes,
    complete_tools,
    confirm_removal,
    find_agent_id,
    find_user_id,
    list_resources,
    local_time,
    remove_resource,
    run_and_write,
    run_confirmed,
    run_with_client,
    show_items,
    write_removed,
    write_reply,
)
from pegboard.surfaces.cli.session import PageOptions, get_session

User = Annotated[
    str | None, typer.Argument(metavar="[USER]", help="Name or id; by default yourself", show_default=False)
]
Agent = Annotated[str, typer.Argument(metavar="AGENT", help="Name or id", show_default=False)]
Description = Annotated[str | None, typer.Option("--description", help="What the agent is for", show_default=False)]
SecretName = Annotated[str, typer.Argument(metavar="NAME", show_default=False)]
_MAX_NAMED_TOOLS = 50


def _tools_option(name: str, help: str) -> Any:
    return typer.Option(name, help=f"{help}; repeat for several", autocompletion=complete_tools, show_default=False)


def show_current_user(ctx: typer.Context) -> None:
    """Show the user of this key."""

    def show(me: dict[str, Any]) -> None:
        user = me["user"]
        bound = f", bound to agent {me['agent_name']} ({me['agent_id']})" if me["agent_id"] else ""
        write(f"{user['name']} ({user['role']}), user {user['id']}, key {me['key_id'] or 'of this process'}{bound}")

    run_and_write(ctx, lambda it: it.get(build_path("me")), show)


def list_users(ctx: typer.Context, page: PageOptions) -> None:
    """List the users, oldest first."""
    columns: Columns = {"NAME": "name", "ROLE": "role", "SINCE": local_time("created_at"), "ID": "id"}
    list_resources(ctx, build_path("users"), columns, "No users.", page)


def add_user(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False)],
    role: Annotated[str, typer.Option("--role", help="member or admin")] = "member",
) -> None:
    """Add a user; give them a key with: pegboard keys create NAME."""
    run_and_write(
        ctx,
        lambda it: it.post(build_path("users"), {"name": name, "role": role}),
        lambda user: write(f"added {user['name']} ({user['role']})  {user['id']}"),
    )


def edit_user(
    ctx: typer.Context,
    user: Annotated[str, typer.Argument(metavar="ID", help="Id or name", show_default=False)],
    name: Annotated[str | None, typer.Option("--name", help="The new name", show_default=False)] = None,
    role: Annotated[str | None, typer.Option("--role", help="member or admin", show_default=False)] = None,
) -> None:
    """Rename a user or change their role."""
    changes = {field: value for field, value in (("name", name), ("role", role)) if value is not None}
    if not changes:
        raise UsageError("Nothing to change: give --name or --role")

    async def work(client: ApiClient) -> ApiReply:
        user_id = await find_user_id(client, user, "change users")
        return await client.patch(build_path("users", user_id), changes)

    run_and_write(ctx, work, lambda changed: write(f"changed {changed['name']} ({changed['role']})  {changed['id']}"))


def remove_user(
    ctx: typer.Context,
    user: Annotated[str, typer.Argument(metavar="ID", help="Id or name", show_default=False)],
    yes: Yes = False,
) -> None:
    """Remove a user and revoke all their keys."""
    confirm_removal(f"Remove {user} and revoke all their keys?", yes=yes)
    remove_resource(ctx, "users", user, lambda it: find_user_id(it, user, "remove users"))


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
        until = f", valid until {format_local_time(key['expires_at'])}" if key["expires_at"] else ""
        write_message(f"Key {key['id']}{until}. It is shown only once; keep it.")

    run_and_write(ctx, work, show)


def list_keys(ctx: typer.Context, user: User = None) -> None:
    """List a user's keys (never the secret part)."""

    async def work(client: ApiClient) -> ApiReply:
        return await client.get(build_path("users", await find_user_id(client, user, "list keys of others"), "keys"))

    columns: Columns = {
        "NAME": "name",
        "KEY": lambda key: key["prefix"] and key["prefix"] + "…",
        "AGENT": "agent_id",
        "SINCE": local_time("created_at"),
        "CREATED BY": lambda key: key["created_by_name"] or key["created_by"],
        "EXPIRES": local_time("expires_at"),
        "REVOKED": local_time("revoked_at"),
        "LAST USED": local_time("last_used_at"),
        "ID": "id",
    }
    run_and_write(ctx, work, lambda page: show_items(page, columns, "No keys."))


def revoke_key(
    ctx: typer.Context,
    key_id: Annotated[str, typer.Argument(metavar="ID", help="The key's id, from: keys list", show_default=False)],
    user: Annotated[str | None, typer.Option("--user", help="The user of the key; by default yourself")] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Revoke it even if you are using it, or it is the last one of an admin")
    ] = False,
) -> None:
    """Revoke a key; it becomes invalid at once."""

    async def work(client: ApiClient, force: bool) -> None:
        owner = await find_user_id(client, user, "revoke keys of others")
        await client.send(
            "DELETE", build_path("users", owner, "keys", key_id), params={"force": "true" if force else None}
        )

    def run(force: bool) -> None:
        run_with_client(ctx, lambda it: work(it, force))

    try:
        run_confirmed(run, yes, "Revoke it anyway?", "Nothing was revoked")
    except RequestRefused as refused:
        if refused.status != NOT_FOUND or user is not None:
            raise
        lines = ["If it belongs to another user, name that user with --user"]
        raise RequestRefused(refused.message, lines, status=NOT_FOUND) from None
    write_removed(ctx, key_id, key_id, "revoked")


def list_agents(ctx: typer.Context, page: PageOptions) -> None:
    """List your agents; an admin sees those of all users."""
    columns: Columns = {
        "NAME": "name",
        "TOOLS": lambda agent: len(agent["tools"]),
        "SINCE": local_time("created_at"),
        "ID": "id",
        "DESCRIPTION": lambda agent: to_single_line(agent["description"]),
    }
    list_resources(ctx, build_path("agents"), columns, "No agents.", page)


def add_agent(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False)],
    tools: Annotated[list[str] | None, _tools_option("--tool", "A tool's name or id")] = None,
    description: Description = None,
) -> None:
    """Create an agent with tools.

    Example: pegboard agents add support --tool get_weather --tool create_ticket
    """
    body = {"name": name, "description": description, "tools": tools or []}
    run_and_write(
        ctx,
        lambda it: it.post(build_path("agents"), body),
        lambda agent: write(f"added {agent['name']}  {agent['id']}"),
    )


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


def edit_agent(
    ctx: typer.Context,
    agent: Agent,
    *,
    name: Annotated[str | None, typer.Option("--name", help="A new name", show_default=False)] = None,
    description: Description = None,
    tools: Annotated[list[str] | None, _tools_option("--tool", "A tool that replaces those it has")] = None,
    add: Annotated[list[str] | None, _tools_option("--add-tool", "A tool to add to those it has")] = None,
    remove: Annotated[list[str] | None, _tools_option("--remove-tool", "A tool to remove")] = None,
    no_tools: Annotated[bool, typer.Option("--no-tools", help="Remove all tools from it")] = False,
) -> None:
    """Change an agent: --add-tool and --remove-tool change single tools, --tool replaces all.

    Example: pegboard agents edit support --add-tool get_weather --remove-tool create_ticket
    """
    if sum((bool(tools), no_tools, bool(add or remove))) > 1:
        raise UsageError("--tool, --no-tools, and --add-tool with --remove-tool exclude each other")
    change = {"name": name, "description": description, "tools": [] if no_tools else tools or None}
    body = {field: value for field, value in change.items() if value is not None}
    if not body and not add and not remove:
        raise UsageError(
            "Nothing to change. Give --name, --description, --add-tool, --remove-tool, --tool or --no-tools"
        )

    async def work(client: ApiClient) -> ApiReply:
        path = build_path("agents", await find_agent_id(client, agent))
        if add or remove:
            before = (await client.get(path)).data["tools"]
            body["tools"] = await _change_tools(client, before, add or [], remove or [])
        return await client.patch(path, body)

    run_and_write(ctx, work, lambda it: write(f"{it['name']} has {format_count(len(it['tools']), 'tool')}"))


def remove_agent(ctx: typer.Context, agent: Agent, yes: Yes = False) -> None:
    """Remove an agent; keys that are bound to it become invalid."""
    confirm_removal(f"Remove {agent} and invalidate its keys?", yes=yes)
    remove_resource(ctx, "agents", agent, lambda it: find_agent_id(it, agent))


def show_agent_definitions(ctx: typer.Context, agent: Agent, shape: AnswerDialect = None) -> None:
    """Print the tool definitions of an agent."""

    async def work(client: ApiClient) -> ApiReply:
        return await client.get(
            build_path("agents", await find_agent_id(client, agent), "definitions"), **{"as": shape}
        )

    run_and_write(ctx, work, write_json)


async def _change_tools(client: ApiClient, ids: list[str], add: list[str], remove: list[str]) -> list[str]:
    """Return the agent's tool ids after adding and removing some; raise RequestRefused if one to remove is missing."""
    left = list(ids)
    for ref in remove:
        found = ref.lower() if is_uuid(ref) else str((await client.get(build_path("tools", ref))).data["id"])
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
            names.append(f"{tool} (removed)")
    more = len(ids) - _MAX_NAMED_TOOLS
    return [*names, f"and {more} more"] if more > 0 else names


def set_secret(
    ctx: typer.Context,
    name: SecretName,
    value: Annotated[
        str | None,
        typer.Argument(metavar="[VALUE]", help="The value; a terminal asks for it by default", show_default=False),
    ] = None,
    stdin: Annotated[bool, typer.Option("--stdin", help="Read the value from standard input")] = False,
) -> None:
    """Set a secret; tools refer to it as {{secret:NAME}}.

    Example: pegboard secrets set WEATHER_TOKEN --stdin < token.txt
    """
    text = _read_value(name, value, stdin=stdin)
    path = build_path("secrets", name)
    run_and_write(ctx, lambda it: it.put(path, {"value": text}), lambda secret: write(f"set {secret['name']}"))


def list_secrets(ctx: typer.Context, page: PageOptions) -> None:
    """List your secrets, without their values."""
    columns: Columns = {
        "NAME": "name",
        "SINCE": local_time("created_at"),
        "SET": local_time("updated_at"),
        "USED BY": _format_uses,
    }
    list_resources(ctx, build_path("secrets"), columns, "No secrets.", page)


def _format_uses(secret: Item) -> str:
    names = [use["name"] for use in secret["used_by"][:_MAX_NAMED_TOOLS]]
    more = secret["uses"] - len(names)
    return ", ".join([*names, f"and {more} more"] if more > 0 else names)


def remove_secret(ctx: typer.Context, name: SecretName, yes: Yes = False) -> None:
    """Remove a secret; calls of tools that refer to it fail with that reason."""
    confirm_removal(f"Remove the secret {name} and its value?", yes=yes)
    remove_resource(ctx, "secrets", name)


def rotate_secrets(
    ctx: typer.Context,
    force: Annotated[
        bool, typer.Option("--force", help="Drop the old key even if some values cannot be decrypted")
    ] = False,
) -> None:
    """Encrypt every credential again with a new key.

    The server continues to serve calls; run the command again if it was interrupted.
    """

    def show(report: dict[str, Any]) -> None:
        write(f"encrypted {report['sealed']} of {report['total']} values again, with key {report['key_id']}")
        for row in report["skipped"]:
            write_message(f"{row['table']} {row['id']}: {row['reason']}")
        if report["note"]:
            write_message(report["note"])

    path = build_path("secrets", "rotate") + ("?force=true" if force else "")
    if not run_and_write(ctx, lambda it: it.post(path, patient=True), show).data["finished"]:
        raise typer.Exit(1)


def _read_value(name: str, value: str | None, *, stdin: bool) -> str:
    if stdin:
        if value is not None:
            raise UsageError("Give the value or --stdin, not both")
        return _decode_value(sys.stdin.buffer.read())
    if value is not None:
        write_message(
            "Warning: a value on the command line shows in the process list and in your shell's history; use --stdin"
        )
        return value
    if not sys.stdin.isatty():
        raise UsageError("No value: give it with --stdin, or run the command on a terminal, which asks for it")
    try:
        return str(typer.prompt(f"Value of {name}", hide_input=True, err=True))
    except typer.Abort:
        raise typer.Exit(130) from None


def _decode_value(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError("The value on standard input is not UTF-8 text") from None
    # Files and pipes usually end with one newline, which is not part of the secret.
    return text.removesuffix("\n").removesuffix("\r")
