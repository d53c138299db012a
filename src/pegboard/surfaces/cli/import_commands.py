"""`pegboard import` and `pegboard tools accept`: tools from API documents and from other MCP servers."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Annotated, Any, NamedTuple

import typer

from pegboard.model.documents import read_text
from pegboard.surfaces.cli.api_client import build_path
from pegboard.surfaces.cli.entry_changes import format_differences, show_entry_changes
from pegboard.surfaces.cli.exit_codes import RequestRefused, UsageError
from pegboard.surfaces.cli.input_files import load_object, locate_document_errors, read_input
from pegboard.surfaces.cli.mcp_file_import import format_counts, import_server_file, is_all_left_out
from pegboard.surfaces.cli.mcp_server_files import is_server_file
from pegboard.surfaces.cli.output import colour_text, show_progress, to_single_line, write, write_message
from pegboard.surfaces.cli.resources import Columns, ToolName, list_resources, local_time, run_and_write
from pegboard.surfaces.cli.session import PageOptions

# In front of the reason why an operation is left out; without it, equal reasons are equal texts.
_ROUTE_PREFIX = re.compile(r"[A-Z]{3,7} /\S*: ")
# Maximum size of a document; the server has a lower limit, PEGBOARD_MAX_IMPORT_BYTES.
MAX_DOCUMENT_BYTES = 2**28
_MAX_SERVERS_LENGTH = 60


class ImportOptions(NamedTuple):
    """The options of every import."""

    prefix: Annotated[str, typer.Option("--prefix", help="Prefix for the name of every tool")] = ""
    include: Annotated[
        list[str] | None,
        typer.Option("--include", help="Only names that match this pattern, such as get_*; repeat for several"),
    ] = None
    auth: Annotated[
        str | None,
        typer.Option(
            "--auth", metavar="FILE|-", help="auth_config for the upstream, YAML or JSON; - is standard input"
        ),
    ] = None
    bearer: Annotated[
        str | None, typer.Option("--bearer", metavar="SECRET", help="Name of the secret that is the upstream's token")
    ] = None
    public: Annotated[
        bool | None, typer.Option("--public/--private", help="Whether others may call the tools; private if new")
    ] = None
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be done, with each change")] = False


def import_openapi(
    ctx: typer.Context,
    source: Annotated[str, typer.Argument(metavar="FILE|URL|-", help="The document, or where the board can fetch it")],
    *,
    server: Annotated[
        str | None, typer.Option("--server", metavar="URL", help="The API's URL, instead of the document's")
    ] = None,
    options: ImportOptions,
) -> None:
    """Make a tool of each operation in an OpenAPI or Swagger document.

    Run again, it updates the tools it made before; fields that the document does not have, such as
    a rate limit, stay as you set them.

    Example: pegboard import openapi petstore.yaml --prefix pets_ --dry-run
    """
    body = _build_body(options)
    if source.startswith(("http://", "https://")):
        body["url"] = source
    else:
        with locate_document_errors(source):
            body["document"] = read_text(read_input(source, MAX_DOCUMENT_BYTES))
    if server is not None:
        body["server_url"] = server
    try:
        _run_import(ctx, "openapi", body)
    except RequestRefused as refused:
        if refused.status != HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            raise
        raise RequestRefused(
            f"{source} is larger than the server accepts. Raise PEGBOARD_MAX_IMPORT_BYTES on the server.",
            status=refused.status,
        ) from None


def list_sources(ctx: typer.Context, page: PageOptions) -> None:
    """List the API documents that tools were imported from; an admin sees those of all users.

    For MCP servers: pegboard upstreams list
    """
    columns: Columns = {
        "TAG": "tag",
        "SERVERS": lambda item: to_single_line(", ".join(item["servers"]), _MAX_SERVERS_LENGTH),
        "TOOLS": "tools",
        "ACTIVE": "active",
        "CHANGED": local_time("updated_at"),
    }
    list_resources(ctx, build_path("imports", "openapi"), columns, "No tools were imported from API documents.", page)


def import_mcp(
    ctx: typer.Context,
    source: Annotated[
        list[str],
        typer.Argument(
            metavar="URL | FILE | -- COMMAND...",
            help="The server's URL, a client's file of servers, or the command that starts the server (admins)",
        ),
    ],
    *,
    env: Annotated[
        list[str] | None,
        typer.Option("--env", metavar="NAME=VALUE", help="The command's environment; repeat for several"),
    ] = None,
    header: Annotated[
        list[str] | None, typer.Option("--header", metavar="NAME=VALUE", help="Sent to the URL; repeat for several")
    ] = None,
    working_dir: Annotated[str | None, typer.Option("--working-dir", help="The folder the command runs in")] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="For the tag mcp:NAME of the tools; by default the host or program")
    ] = None,
    follow: Annotated[
        bool | None,
        typer.Option("--follow/--no-follow", help="Add what the server offers later; changes are still refused"),
    ] = None,
    accept: Annotated[
        bool, typer.Option("--accept", help="Accept changed definitions instead of marking the tools as drifted")
    ] = False,
    options: ImportOptions,
) -> None:
    """Import the tools, prompts and resources of an MCP server.

    Each is pinned to its current definition. If the server changes that, it is refused until you accept the change.

    FILE is that of an MCP client, such as .cursor/mcp.json, .vscode/mcp.json or ~/.codex/config.toml:
    each server in it is imported, and credentials in its env and headers become secrets. In --prefix,
    {server} stands for the name of the server.

    Example: pegboard import mcp --prefix time_ -- mcp-server-time --local-timezone UTC
    """
    body = {**_build_body(options), "accept": accept} | ({} if follow is None else {"follow": follow})
    if is_server_file(source):
        _refuse_server_options(env=env, header=header, working_dir=working_dir, name=name, auth=body.get("auth_config"))
        import_server_file(ctx, source[0], body)
        return
    if source[0].startswith(("http://", "https://")):
        if len(source) > 1:
            raise UsageError(f"A URL takes no further arguments, but '{source[1]}' follows it")
        body["server_url"] = source[0]
    elif source[0].startswith("-"):
        raise UsageError(f"No such option: {source[0]}")
    else:
        body["command"] = source
    for key, option, pairs in (("env", "--env", env), ("headers", "--header", header)):
        if pairs:
            body[key] = dict(_parse_pair(text, option) for text in pairs)
    if working_dir is not None:
        body["working_dir"] = working_dir
    if name is not None:
        body["name"] = name
    _run_import(ctx, "mcp", body)


def _refuse_server_options(**given: Any) -> None:
    """Raise UsageError if an option is given that belongs to one server, as the file has them for each server."""
    flags = {"env": "--env", "header": "--header", "working_dir": "--working-dir", "name": "--name"}
    for option, value in given.items():
        if value is not None:
            flag = flags.get(option, "--auth and --bearer")
            raise UsageError(f"{flag} cannot be used with a file, which has its own values for each server")


def _build_body(options: ImportOptions) -> dict[str, Any]:
    body = {"prefix": options.prefix, "include": options.include or [], "dry_run": options.dry_run}
    if options.auth is not None and options.bearer is not None:
        raise UsageError("Give --auth or --bearer, not both")
    if options.auth is not None:
        body["auth_config"] = load_object(options.auth)
    if options.bearer is not None:
        body["auth_config"] = {"type": "bearer", "token": f"{{{{secret:{options.bearer}}}}}"}
    if options.public is not None:
        body["is_public"] = options.public
    return body


def _parse_pair(text: str, option: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise UsageError(f"{option} takes NAME=VALUE, not '{text}'")
    return name, value


def _run_import(ctx: typer.Context, what: str, body: dict[str, Any]) -> None:
    async def work(client: Any) -> Any:
        with show_progress("Importing") as advance:
            seen = 0

            def on_progress(data: dict[str, Any]) -> None:
                nonlocal seen
                done, total = int(data.get("done") or 0), int(data.get("total") or 0)
                if total:
                    # Reading and importing are two halves of one bar.
                    place = done + (total if data.get("what") == "importing" else 0)
                    advance(place - seen, 2 * total)
                    seen = place

            return await client.follow_import(build_path("imports", what), body, on_progress)

    reply = run_and_write(ctx, work, lambda report: show_import_report(report, dry_run=body["dry_run"]))
    if is_all_left_out(reply.data):
        raise typer.Exit(1)


def show_import_report(report: dict[str, Any], *, dry_run: bool) -> None:
    """Write what an import did, or in a dry run would do: a line for each tool, and the changes."""
    partly, wholly = _split_left_out(report)
    lines = [colour_text(f"+ {name}{partly.get(name, '')}", "green") for name in report["created"]]
    lines += [colour_text(f"~ {name}{partly.get(name, '')}", "yellow") for name in report["updated"]]
    lines += [colour_text(f"! {name} changed upstream, refused until accepted", "red") for name in report["drifted"]]
    if lines:
        write("\n".join(lines))
    if dry_run or report["drifted"]:
        shown = report["changes"] if dry_run else {name: report["changes"][name] for name in report["drifted"]}
        for name, fields in shown.items():
            write(format_differences(name, fields))
    show_entry_changes(report, dry_run=dry_run)
    for reason, names in wholly.items():
        if len(names) == 1:
            write_message(f"{names[0]}: {reason}", label="left out ", colour="yellow")
        else:
            write_message(f"{len(names)} operations: {reason}", label="left out ", colour="yellow")
            write_message(f"  {', '.join(names)}")
    for name in report["gone"]:
        write_message(
            f"{name} no longer exists; remove it with: pegboard tools remove {name}", label="gone ", colour="yellow"
        )
    for text in report["warnings"]:
        write_message(text, label="warning ", colour="yellow")
    counts = format_counts(report, sum(map(len, wholly.values())))
    write_message(f"{'Would import' if dry_run else 'Imported'}: {counts}")


def _split_left_out(report: dict[str, Any]) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return the omitted parts of each imported tool, and the names of the operations without a tool, by reason."""
    imported = {name for word in ("created", "updated") for name in report[word]}
    partly: dict[str, list[str]] = {}
    wholly: dict[str, list[str]] = {}
    for item in report["left_out"]:
        if item["name"] in imported:
            partly.setdefault(item["name"], []).append(item["reason"])
        else:
            wholly.setdefault(_ROUTE_PREFIX.sub("", item["reason"]), []).append(item["name"])
    return {name: f" ({'; '.join(reasons)})" for name, reasons in partly.items()}, wholly


def accept_tool(
    ctx: typer.Context,
    name: ToolName,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change")] = False,
) -> None:
    """Accept the changed definition of a tool from its MCP server."""

    def show(answer: dict[str, Any]) -> None:
        if answer["changes"]:
            write(format_differences(answer["name"], answer["changes"]))
        write_message("Nothing was changed" if dry_run else f"accepted {answer['name']}")

    path = build_path("tools", name, "accept")
    run_and_write(ctx, lambda it: it.send("POST", path, params={"dry_run": dry_run}, patient=True), show)
