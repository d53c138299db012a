"""`pegboard agents`: named sets of tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pegboard.surfaces.cli.calls import Shape, complete_tools
from pegboard.surfaces.cli.failures import Refused, Usage
from pegboard.surfaces.cli.output import Yes, confirm_loss, counted, moment, one_line, write, write_json, write_table
from pegboard.surfaces.cli.people import agent_id, is_id, removed
from pegboard.surfaces.cli.routes import route
from pegboard.surfaces.cli.session import board_command, give, group, session_of, with_board
from pegboard.surfaces.cli.tools import Cursor, Every, Limit, say_more

if TYPE_CHECKING:
    from pegboard.surfaces.cli.client import Client, Reply

app = group("agents", "Put tools on agents.")

Agent = Annotated[str, typer.Argument(metavar="AGENT", help="Name or id", show_default=False)]
Tools = Annotated[
    list[str] | None,
    typer.Option(
        "--tool", help="A tool's name or id; repeat for several", autocompletion=complete_tools, show_default=False
    ),
]
Description = Annotated[str | None, typer.Option("--description", help="What the agent is for", show_default=False)]
_NAMED = 50


@board_command(app, "list")
def list_agents(ctx: typer.Context, limit: Limit = 50, cursor: Cursor = None, every: Every = False) -> None:
    """List your agents; an admin sees those of all users."""

    def show(page: dict[str, Any]) -> None:
        rows = [
            [
                agent["name"],
                len(agent["tools"]),
                moment(agent["created_at"]),
                agent["id"],
                one_line(agent["description"]),
            ]
            for agent in page["items"]
        ]
        write_table(["NAME", "TOOLS", "SINCE", "ID", "DESCRIPTION"], rows, "No agents.")
        say_more(page)

    path = route("agents")
    give(ctx, with_board(ctx, lambda it: it.pages(path, {}, limit=limit, cursor=cursor, every=every)), show)


@board_command(app, "add")
def add(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False)],
    tools: Tools = None,
    description: Description = None,
) -> None:
    """Create an agent with tools.

    Example: pegboard agents add support --tool get_weather --tool create_ticket
    """
    body = {"name": name, "description": description, "tools": tools or []}
    reply = with_board(ctx, lambda it: it.post(route("agents"), body))
    give(ctx, reply, lambda agent: write(f"added {agent['name']}  {agent['id']}"))


@board_command(app, "show")
def show_agent(ctx: typer.Context, agent: Agent) -> None:
    """Show one agent and its tools."""
    as_json = session_of(ctx).as_json

    async def work(client: Client) -> tuple[Reply, list[str]]:
        reply = await client.get(route("agents", await agent_id(client, agent)))
        return reply, [] if as_json else await _names(client, reply.data["tools"])

    reply, names = with_board(ctx, work)

    def show(found: dict[str, Any]) -> None:
        about = f": {one_line(found['description'])}" if found["description"] else ""
        write("\n".join([f"{found['name']}{about}", f"id {found['id']}", *(f"- {name}" for name in names)]))

    give(ctx, reply, show)


@board_command(app, "edit")
def edit(
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
        raise Usage("--tool, --no-tools, and --add-tool with --remove-tool exclude each other")
    change = {"name": name, "description": description, "tools": [] if no_tools else tools or None}
    body = {field: value for field, value in change.items() if value is not None}
    if not body and not add and not take:
        raise Usage("Nothing to change. Give --name, --description, --add-tool, --remove-tool, --tool or --no-tools")

    async def work(client: Client) -> Reply:
        path = route("agents", await agent_id(client, agent))
        if add or take:
            body["tools"] = await _changed_tools(client, (await client.get(path)).data["tools"], add or [], take or [])
        return await client.patch(path, body)

    give(ctx, with_board(ctx, work), lambda found: write(f"{found['name']} has {counted(len(found['tools']), 'tool')}"))


@board_command(app, "remove")
def remove(ctx: typer.Context, agent: Agent, yes: Yes = False) -> None:
    """Remove an agent; keys that are bound to it are void."""
    confirm_loss(f"Remove {agent} and make its keys void?", yes=yes)

    async def work(client: Client) -> str:
        found = await agent_id(client, agent)
        await client.delete(route("agents", found))
        return found

    removed(ctx, with_board(ctx, work), agent)


@board_command(app, "definitions")
def definitions(ctx: typer.Context, agent: Agent, shape: Shape = None) -> None:
    """Print the tool definitions of an agent."""

    async def work(client: Client) -> Reply:
        return await client.get(route("agents", await agent_id(client, agent), "definitions"), **{"as": shape})

    give(ctx, with_board(ctx, work), write_json)


async def _changed_tools(client: Client, ids: list[str], add: list[str], take: list[str]) -> list[str]:
    """The tools of an agent, by id, with some added and some taken off; a tool to take off must be there."""
    left = list(ids)
    for ref in take:
        found = ref.lower() if is_id(ref) else str((await client.get(route("tools", ref))).data["id"])
        if found not in left:
            raise Refused(f"The agent does not have the tool '{ref}'")
        left.remove(found)
    return [*left, *add]


async def _names(client: Client, ids: list[str]) -> list[str]:
    names = []
    for tool in ids[:_NAMED]:
        try:
            names.append(str((await client.get(route("tools", tool))).data["name"]))
        except Refused:
            names.append(f"{tool} (gone)")
    more = len(ids) - _NAMED
    return [*names, f"and {more} more"] if more > 0 else names
