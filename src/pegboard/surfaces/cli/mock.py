"""`pegboard mock`: a board that answers from a file, and such files from a real board's journal."""

from __future__ import annotations

import ipaddress
import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from pegboard.surfaces.cli.failures import Refused, Usage
from pegboard.surfaces.cli.moments import ago
from pegboard.surfaces.cli.output import json_text, say, write, write_json
from pegboard.surfaces.cli.routes import route
from pegboard.surfaces.cli.serve import cannot_listen
from pegboard.surfaces.cli.session import board_command, with_board

if TYPE_CHECKING:
    from pegboard.mocking.fixtures import Fixtures
    from pegboard.surfaces.cli.client import Client

KEY = "mock-key"


class ServingGroup(TyperGroup):
    """A group whose commands may be left out: what is no command is a file to serve."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `serve` where no command is named."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["serve", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    name="mock",
    cls=ServingGroup,
    help="Serve answers from a file: pegboard mock FIXTURES.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("serve")
def serve(
    source: Annotated[
        str | None, typer.Argument(metavar="FIXTURES", help="A file, YAML or JSON; - is standard input")
    ] = None,
    *,
    host: Annotated[str, typer.Option(help="Address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one")] = 8080,
    key: Annotated[
        str, typer.Option("--key", help="API key of the callers; required if other machines can connect")
    ] = KEY,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of such files and exit")] = False,
) -> None:
    """Serve fixed answers from a file; the word `serve` is optional.

    Example: pegboard mock weather.yaml --port 9000
    """
    if schema:
        from pegboard.mocking.fixtures import json_schema  # noqa: PLC0415 -- start-up time

        write_json(json_schema())
        return
    if source is None:
        raise Usage("Which file? Write: pegboard mock FIXTURES")
    _check_key(key, host)
    fixtures = _read(source)

    from pegboard.surfaces.cli.mock_server import serve_mock  # noqa: PLC0415 -- start-up time
    from pegboard.surfaces.rest.server import listen  # noqa: PLC0415 -- start-up time
    from pegboard.telemetry.logs import configure_logs  # noqa: PLC0415 -- start-up time

    configure_logs("info", "auto")
    try:
        bound = listen(host, port)
    except OSError as error:
        raise cannot_listen(host, port, error) from None
    address = f"http://{f'[{host}]' if ':' in host else host}:{bound.getsockname()[1]}"
    try:
        serve_mock(fixtures, key, bound, lambda: write(_welcome(address, key, fixtures)))
    except Exception as error:
        raise Usage(f"The mock board cannot be opened: {str(error) or type(error).__name__}") from None
    finally:
        bound.close()
    write("Stopped.")


@board_command(app, "record")
def record(
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
    from pegboard.mocking.recording import record as recording_of  # noqa: PLC0415 -- start-up time
    from pegboard.registry.documents import write_yaml  # noqa: PLC0415 -- start-up time

    wanted = {"tool": tool, "since": ago(since, "--since")}

    async def work(client: Client) -> tuple[list[Any], dict[str, Any]]:
        page = await client.pages(route("executions"), wanted, limit=1, cursor=None, every=True)
        rows = page.data["items"]
        return rows, await _tools(client, sorted({row["tool_id"] for row in rows if row["tool_id"]}))

    rows, tools = with_board(ctx, work)
    found = recording_of(reversed(rows), tools)
    lines = [f"left out {count}: {why}" for why, count in found.left_out.items()]
    if not found.calls:
        raise Refused("There is nothing to record", lines or ["The journal has no such calls."])
    text = json_text(found.fixtures) if target.lower().endswith(".json") else write_yaml(found.fixtures)
    if target == "-":
        write(text)
    else:
        try:
            Path(target).write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
        except (OSError, ValueError) as error:
            raise Usage(f"{target}: {getattr(error, 'strerror', None) or error}") from None
    say(f"Recorded {_counted(found.calls, 'call')} of {_counted(len(found.fixtures['tools']), 'tool')}")
    for line in lines:
        say(f"  {line}")
    if found.masked:
        say(f"  masked {_counted(found.masked, 'value')} under a name that looks secret")


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


async def _tools(client: Client, ids: list[str]) -> dict[str, Any]:
    """The definitions of these tools, as far as they are there and may be seen."""
    found = {}
    for tool_id in ids:
        try:
            found[tool_id] = (await client.get(route("tools", tool_id))).data
        except Refused as refused:
            if refused.status != 404:
                raise
    return found


def _read(source: str) -> Fixtures:
    from pegboard.mocking.reading import BadFixtures, read_fixtures  # noqa: PLC0415 -- start-up time
    from pegboard.surfaces.cli.files import read_input  # noqa: PLC0415 -- start-up time

    shown = "standard input" if source == "-" else source
    try:
        return read_fixtures(read_input(source), shown)
    except BadFixtures as bad:
        if len(bad.lines) == 1:
            raise Usage(bad.lines[0]) from None
        raise Usage(f"The fixtures in {shown} are not valid", bad.lines) from None


def _check_key(key: str, host: str) -> None:
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise Usage("--key: a key is a line of printable ASCII without spaces")
    if key == KEY and not _is_loopback(host):
        raise Usage(
            f"--host {host} serves other machines too, and everybody knows the key '{KEY}'",
            ["Choose a key of your own with --key."],
        )


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _welcome(address: str, key: str, fixtures: Fixtures) -> str:
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
