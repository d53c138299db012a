"""`pegboard mock`: a board that answers from a file, and such files from a real board's journal."""

from __future__ import annotations

import ipaddress
import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from pegboard.surfaces.cli.api_paths import build_path
from pegboard.surfaces.cli.exit_codes import RequestRefused, UsageError
from pegboard.surfaces.cli.output import format_json, write, write_json, write_message
from pegboard.surfaces.cli.serve_command import build_listen_error
from pegboard.surfaces.cli.session import board_command, run_with_client
from pegboard.surfaces.cli.time_arguments import parse_past_time

if TYPE_CHECKING:
    from pegboard.mock_server.fixtures import Fixtures
    from pegboard.surfaces.cli.api_client import ApiClient

DEFAULT_KEY = "mock-key"


class DefaultServeGroup(TyperGroup):
    """A command group with `serve` as its default command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert `serve` if the first argument is not a command."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["serve", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    name="mock",
    cls=DefaultServeGroup,
    help="Serve answers from a file: pegboard mock FIXTURES.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("serve")
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
        from pegboard.mock_server.fixtures import build_fixtures_schema  # noqa: PLC0415 -- start-up time

        write_json(build_fixtures_schema())
        return
    if source is None:
        raise UsageError("Which file? Write: pegboard mock FIXTURES")
    _check_key(key, host)
    fixtures = _read_fixture_file(source)

    from pegboard.surfaces.cli.mock_application import serve_mock  # noqa: PLC0415 -- start-up time
    from pegboard.surfaces.rest.server import bind_socket  # noqa: PLC0415 -- start-up time
    from pegboard.telemetry.logs import configure_logs  # noqa: PLC0415 -- start-up time

    configure_logs("info", "auto")
    try:
        bound = bind_socket(host, port)
    except OSError as error:
        raise build_listen_error(host, port, error) from None
    address = f"http://{f'[{host}]' if ':' in host else host}:{bound.getsockname()[1]}"
    try:
        serve_mock(fixtures, key, bound, lambda: write(_build_mock_welcome(address, key, fixtures)))
    except Exception as error:
        raise UsageError(f"The mock board cannot be opened: {str(error) or type(error).__name__}") from None
    finally:
        bound.close()
    write("Stopped.")


@board_command(app, "record")
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

    Only of tools with keep_arguments and keep_result; the report counts what is left out, with the reason.

    Example: pegboard mock record --tool get_weather --since 1h -o weather.yaml
    """
    from pegboard.mock_server.recorder import record_fixtures as recording_of  # noqa: PLC0415 -- start-up time
    from pegboard.model.documents import write_yaml  # noqa: PLC0415 -- start-up time

    wanted = {"tool": tool, "since": parse_past_time(since, "--since")}

    async def work(client: ApiClient) -> tuple[list[Any], dict[str, Any]]:
        page = await client.pages(build_path("executions"), wanted, limit=1, cursor=None, every=True)
        rows = page.data["items"]
        return rows, await _get_definitions(client, sorted({row["tool_id"] for row in rows if row["tool_id"]}))

    rows, tools = run_with_client(ctx, work)
    found = recording_of(reversed(rows), tools)
    lines = [f"left out {count}: {why}" for why, count in found.left_out.items()]
    if not found.calls:
        raise RequestRefused("There is nothing to record", lines or ["The journal has no such calls."])
    text = format_json(found.fixtures) if target.lower().endswith(".json") else write_yaml(found.fixtures)
    if target == "-":
        write(text)
    else:
        try:
            Path(target).write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
        except (OSError, ValueError) as error:
            raise UsageError(f"{target}: {getattr(error, 'strerror', None) or error}") from None
    write_message(
        f"Recorded {_format_count(found.calls, 'call')} of {_format_count(len(found.fixtures['tools']), 'tool')}"
    )
    for line in lines:
        write_message(f"  {line}")
    if found.masked:
        write_message(f"  masked {_format_count(found.masked, 'value')} under a name that looks secret")


def _format_count(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


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
    from pegboard.mock_server.read_fixtures import BadFixtures, read_fixtures  # noqa: PLC0415 -- start-up time
    from pegboard.surfaces.cli.definition_files import read_input  # noqa: PLC0415 -- start-up time

    shown = "standard input" if source == "-" else source
    try:
        return read_fixtures(read_input(source), shown)
    except BadFixtures as bad:
        if len(bad.lines) == 1:
            raise UsageError(bad.lines[0]) from None
        raise UsageError(f"The fixtures in {shown} are not valid", bad.lines) from None


def _check_key(key: str, host: str) -> None:
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise UsageError("--key: a key is a line of printable ASCII without spaces")
    if key == DEFAULT_KEY and not _is_loopback(host):
        raise UsageError(
            f"--host {host} serves other machines too, and everybody knows the key '{DEFAULT_KEY}'",
            ["Choose a key of your own with --key."],
        )


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _build_mock_welcome(address: str, key: str, fixtures: Fixtures) -> str:
    first = fixtures.tools[0]
    body = shlex.quote(json.dumps(first.responses[0].when, ensure_ascii=False))
    bearer = shlex.quote(f"Authorization: Bearer {key}")
    names = ", ".join(tool.name for tool in fixtures.tools[:10]) + (", …" if len(fixtures.tools) > 10 else "")
    return "\n".join(
        [
            "",
            f"A mock board is serving at {address}  (API: {address}/docs)",
            f"Key: {key}",
            f"Tools: {names}",
            "",
            "Try it:",
            f"  curl -s {address}/v1/tools/{first.name}/call -H {bearer} -H 'Content-Type: application/json' -d {body}",
            "Have every sequence begin again:",
            f"  curl -s -X POST {address}/mock/reset -H {bearer}",
            "",
            "Ctrl-C stops it.",
            "",
        ]
    )
