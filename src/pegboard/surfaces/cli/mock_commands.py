"""`pegboard mock`: a board that answers from a file, and such files from a real board's journal."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from pegboard.mock_server.fixtures import Fixtures, build_fixtures_schema
from pegboard.mock_server.read_fixtures import BadFixtures, read_fixtures
from pegboard.mock_server.recorder import record_fixtures
from pegboard.model.documents import write_yaml
from pegboard.surfaces.cli.api_client import ApiClient, build_path, is_loopback, is_printable_key
from pegboard.surfaces.cli.command_arguments import parse_past_time
from pegboard.surfaces.cli.exit_codes import RequestRefused, UsageError
from pegboard.surfaces.cli.input_files import name_source, read_input
from pegboard.surfaces.cli.output import format_count, format_json, write_file, write_json, write_message
from pegboard.surfaces.cli.resources import run_with_client

DEFAULT_KEY = "mock-key"


def serve_fixtures(
    source: Annotated[
        str | None, typer.Argument(metavar="FIXTURES", help="A file, YAML or JSON; - is standard input")
    ] = None,
    *,
    host: Annotated[str, typer.Option(help="Address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one")] = 8080,
    key: Annotated[
        str, typer.Option("--key", help="API key of the callers; required if other machines can connect")
    ] = DEFAULT_KEY,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of such files and exit")] = False,
) -> None:
    """Serve fixed answers from a file; the word `serve` is optional.

    Example: pegboard mock weather.yaml --port 9000
    """
    if schema:
        write_json(build_fixtures_schema())
        return
    if source is None:
        raise UsageError("The fixtures file is missing. Write: pegboard mock FIXTURES")
    _check_key(key, host)
    fixtures = _read_fixture_file(source)

    from pegboard.surfaces.cli.mock_application import run_mock_server  # noqa: PLC0415 -- the help does without it

    run_mock_server(fixtures, key, host, port)


def record_journal(
    ctx: typer.Context,
    *,
    tool: Annotated[str | None, typer.Option("--tool", help="Only calls of this tool, by name or id")] = None,
    since: Annotated[str | None, typer.Option("--since", help="Started since: 30m, 1h, 2d, or an ISO time")] = None,
    target: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="Where to write; JSON for *.json")
    ] = "-",
) -> None:
    """Write fixtures from the journal: arguments and results of recorded calls.

    Only calls of tools with keep_arguments and keep_result are written; the report counts the others by reason.

    Example: pegboard mock record --tool get_weather --since 1h -o weather.yaml
    """
    wanted = {"tool": tool, "since": parse_past_time(since, "--since")}

    async def work(client: ApiClient) -> tuple[list[Any], dict[str, Any]]:
        rows = (await client.pages(build_path("executions"), wanted)).data["items"]
        return rows, await _get_definitions(client, sorted({row["tool_id"] for row in rows if row["tool_id"]}))

    rows, tools = run_with_client(ctx, work)
    found = record_fixtures(reversed(rows), tools)
    lines = [f"left out {count}: {why}" for why, count in found.left_out.items()]
    if not found.calls:
        raise RequestRefused("There is nothing to record", lines or ["The journal has no such calls."])
    write_file(target, format_json(found.fixtures) if target.lower().endswith(".json") else write_yaml(found.fixtures))
    write_message(
        f"Recorded {format_count(found.calls, 'call')} of {format_count(len(found.fixtures['tools']), 'tool')}"
    )
    for line in lines:
        write_message(f"  {line}")
    if found.masked:
        write_message(f"  masked {format_count(found.masked, 'value')} under a name that looks secret")


async def _get_definitions(client: ApiClient, ids: list[str]) -> dict[str, Any]:
    """Return the definitions of these tools, without those that are not found."""
    found = {}
    for tool_id in ids:
        try:
            found[tool_id] = (await client.get(build_path("tools", tool_id))).data
        except RequestRefused as refused:
            if refused.status != 404:
                raise
    return found


def _read_fixture_file(source: str) -> Fixtures:
    shown = name_source(source)
    try:
        return read_fixtures(read_input(source), shown)
    except BadFixtures as bad:
        if len(bad.lines) == 1:
            raise UsageError(bad.lines[0]) from None
        raise UsageError(f"The fixtures in {shown} are not valid", bad.lines) from None


def _check_key(key: str, host: str) -> None:
    if not is_printable_key(key):
        raise UsageError("--key: a key is a line of printable ASCII without spaces")
    if key == DEFAULT_KEY and not is_loopback(host):
        raise UsageError(
            f"--host {host} serves other machines too, and the key '{DEFAULT_KEY}' is public",
            ["Choose a key of your own with --key."],
        )
