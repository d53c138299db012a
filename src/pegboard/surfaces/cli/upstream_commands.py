"""`pegboard upstreams`: the MCP servers that were imported, with what they offer."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from pegboard.model.json_text import is_uuid
from pegboard.surfaces.cli.api_client import ApiClient, ApiReply, build_path
from pegboard.surfaces.cli.entry_changes import ENTRY_WORDS, format_differences, iterate_entry_changes
from pegboard.surfaces.cli.import_commands import show_import_report
from pegboard.surfaces.cli.output import format_count, format_local_time, to_single_line, write, write_message
from pegboard.surfaces.cli.resources import (
    Columns,
    Item,
    Yes,
    confirm_removal,
    find_id_by_name,
    list_resources,
    run_and_write,
    run_with_client,
    show_items,
    write_removed,
)
from pegboard.surfaces.cli.session import PageOptions

UpstreamName = Annotated[str, typer.Argument(metavar="NAME", help="Name or id", show_default=False)]
_MAX_ADDRESS = 60


def list_upstreams(ctx: typer.Context, page: PageOptions) -> None:
    """List the imported MCP servers; an admin sees those of all users."""
    columns: Columns = {
        "NAME": "name",
        "ADDRESS": lambda item: to_single_line(_get_address(item), _MAX_ADDRESS),
        "PREFIX": "prefix",
        "STATE": "state",
        "TOOLS": lambda item: item["counts"]["tools"],
        "PROMPTS": lambda item: item["counts"]["prompts"],
        "RESOURCES": lambda item: item["counts"]["resources"] + item["counts"]["resource_templates"],
        "ID": "id",
    }
    list_resources(ctx, build_path("upstreams"), columns, "No imported MCP servers.", page)


def list_origins(ctx: typer.Context) -> None:
    """List the servers that HTTP tools call, and whether calls to them fail.

    An admin sees those of all users. Circuit breakers and failures are those of the process that answers.
    """
    columns: Columns = {
        "ORIGIN": "origin",
        "TOOLS": "tool_count",
        "CIRCUIT": "circuit",
        "LAST FAILURE": lambda item: format_local_time(item["last_failed_at"]),
        "CODE": "last_error_code",
    }

    def show(found: Item) -> None:
        show_items(found, columns, "No HTTP tools.")
        if found["more"]:
            write_message("There are more origins; these are the first 200")

    run_and_write(ctx, lambda it: it.get(build_path("upstreams", "origins")), show)


def show_upstream(ctx: typer.Context, name: UpstreamName) -> None:
    """Show an imported MCP server: its state, tools, prompts and resources."""

    async def work(client: ApiClient) -> ApiReply:
        return await client.get(build_path("upstreams", await _find_id(client, name)))

    run_and_write(ctx, work, _show)


def check_upstream(
    ctx: typer.Context,
    name: UpstreamName,
    add: Annotated[bool, typer.Option("--add", help="Also add what the server offers since the import")] = False,
) -> None:
    """Compare an imported MCP server with what it offers now, and mark what it has changed.

    What has changed is refused until it is accepted.
    """

    async def work(client: ApiClient) -> ApiReply:
        path = build_path("upstreams", await _find_id(client, name), "import" if add else "check")
        return await client.send("POST", path, patient=True)

    run_and_write(ctx, work, lambda report: show_import_report(report, dry_run=not add))


def remove_upstream(
    ctx: typer.Context,
    name: UpstreamName,
    tools: Annotated[bool, typer.Option("--tools", help="Also delete the tools that were imported from it")] = False,
    yes: Yes = False,
) -> None:
    """Remove an imported MCP server with its prompts, resources and credentials; its tools stay."""
    confirm_removal(f"Remove {name}{' and its tools' if tools else ''}?", yes=yes)

    async def work(client: ApiClient) -> str:
        found = await _find_id(client, name)
        await client.send("DELETE", build_path("upstreams", found), params={"tools": tools})
        return found

    write_removed(ctx, run_with_client(ctx, work), name)


def accept_upstream(
    ctx: typer.Context,
    name: UpstreamName,
    entry: Annotated[
        str | None, typer.Argument(metavar="[ENTRY]", help="Name or URI; by default all", show_default=False)
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change")] = False,
) -> None:
    """Accept the changed prompts, resources and templates of an imported MCP server, or one of them.

    A tool is accepted with: pegboard tools accept NAME.
    """

    async def work(client: ApiClient) -> ApiReply:
        path = build_path("upstreams", await _find_id(client, name), "accept")
        return await client.send("POST", path, params={"dry_run": dry_run, "entry": entry}, patient=True)

    def show(answer: Item) -> None:
        for word, changes in iterate_entry_changes(answer):
            for each in changes["updated"]:
                write(format_differences(f"{word} {each}", changes["changes"][each]))
                write_message("Nothing was changed" if dry_run else f"accepted {word} {each}")
            for each in changes["gone"]:
                write_message(f"{'would forget' if dry_run else 'forgot'} {word} {each}, which is no longer listed")

    run_and_write(ctx, work, show)


async def _find_id(client: ApiClient, name: str) -> str:
    return name if is_uuid(name) else await find_id_by_name(client, "upstreams", name)


def _get_address(item: Item) -> str:
    return str(item["server_url"] or " ".join(item["command"]))


def _show(item: Item) -> None:
    connection, counts = item["connection"], item["counts"]
    write(f"{item['name']}  {_get_address(item)}")
    facts = [
        f"state {item['state']}",
        *([f"prefix {item['prefix']}"] if item["prefix"] else []),
        *(["follows new tools, prompts and resources"] if item["follow"] else []),
        "session open" if connection["is_open"] else "no session",
        *(["circuit open"] if connection["circuit"] == "open" else []),
        format_count(counts["drifted"], "drifted entry").replace("entrys", "entries"),
    ]
    write(", ".join(facts))
    if connection["last_error"]:
        write_message(connection["last_error"], label="unavailable ", colour="yellow")
    for tool in item["tools"]:
        write(f"tool {tool['name']}{' (drifted)' if tool['drifted'] else ''}")
    for member, word in ENTRY_WORDS.items():
        for entry in item[member]:
            write(f"{word} {entry['listed_as']}{_describe_state(entry)}")


def _describe_state(entry: dict[str, Any]) -> str:
    return "" if entry["state"] == "active" else f" ({entry['state']})"
