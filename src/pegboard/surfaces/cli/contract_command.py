"""`pegboard contract`: check whether a tool complies with the envelope contract."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import httpx
import typer

from pegboard.contract.baseline_schemas import BASELINE_SCHEMAS
from pegboard.contract.compliance_check import check, has_effects
from pegboard.contract.compliance_report import Report
from pegboard.contract.sample_arguments import NoSample
from pegboard.contract.send_envelope import NoEnvelope, sender
from pegboard.json_schema.compile import SchemaProblem
from pegboard.model.documents import DocumentError, read_json
from pegboard.surfaces.cli.api_client import ApiClient, build_path
from pegboard.surfaces.cli.exit_codes import CommandFailure, UsageError
from pegboard.surfaces.cli.input_files import load_object
from pegboard.surfaces.cli.output import escape_control_characters, write, write_json, write_table
from pegboard.surfaces.cli.resources import complete_tools, run_with_client
from pegboard.surfaces.cli.session import get_session


class _CheckOptions(NamedTuple):
    """The options of the checks."""

    arguments: dict[str, Any] | None
    calls: int
    p95_ms: float
    seconds: float
    yes: bool

    async def run(self, send: Any, tool: str, definition: Mapping[str, Any]) -> Report:
        limit = definition.get("rate_limit") or {}
        try:
            return await check(
                send,
                tool,
                self.arguments,
                input_schema=definition.get("input_schema"),
                output_schema=definition.get("output_schema"),
                refuses_unknown=definition.get("unknown_parameters") == "reject",
                calls=self.calls,
                p95_ms=self.p95_ms,
                seconds=self.seconds,
                # How many back-to-back calls the tool's rate limit allows.
                most_calls=limit.get("burst") or limit.get("max_calls"),
            )
        except NoSample as error:
            raise UsageError(f"{tool}: {error}", ["Give them with --args."]) from None
        except SchemaProblem as error:
            raise UsageError(f"{tool}: {error}") from None


def check_contract(
    ctx: typer.Context,
    target: Annotated[
        str,
        typer.Argument(
            metavar="TOOL|URL",
            help="A tool of the board, or the URL where a server accepts envelopes",
            autocompletion=complete_tools,
            show_default=False,
        ),
    ],
    *,
    arguments: Annotated[
        str | None,
        typer.Option("--args", metavar="JSON|FILE", help="Valid arguments; generated from the input_schema by default"),
    ] = None,
    tool: Annotated[str | None, typer.Option("--tool", help="With a URL: the tool's name there")] = None,
    definition: Annotated[
        str | None,
        typer.Option("--definition", metavar="FILE", help="With a URL: input_schema and output_schema of the tool"),
    ] = None,
    headers: Annotated[
        list[str] | None,
        typer.Option("--header", metavar="NAME:VALUE", help="With a URL: a header to send; repeat for several"),
    ] = None,
    calls: Annotated[int, typer.Option(min=1, max=10_000, help="Number of calls to measure")] = 20,
    p95_ms: Annotated[
        float, typer.Option("--p95-ms", min=0, help="Maximum 95th percentile of the duration of calls")
    ] = 200,
    seconds: Annotated[float, typer.Option("--timeout", min=0.01, help="Seconds to wait for each response")] = 10,
    yes: Annotated[bool, typer.Option("--yes", help="Check even if the many calls may have effects")] = False,
) -> None:
    """Run the five compliance tests: schema, determinism, errors, performance, ordering.

    Exit code 1 if the tool fails any of them.

    Example: pegboard contract check math_eval --args '{"expression": "2^10"}'
    """
    if math.isnan(p95_ms) or math.isnan(seconds):
        raise UsageError("--p95-ms and --timeout are numbers, not nan")
    options = _CheckOptions(_read_arguments(arguments), calls, p95_ms, seconds, yes)
    if target.startswith(("http://", "https://")):
        report = asyncio.run(_check_remote_tool(target, tool, definition, headers or [], options))
    elif tool is not None or definition is not None or headers:
        raise UsageError("--tool, --definition and --header need a URL; the board has these of its own tools")
    else:
        report = run_with_client(ctx, lambda it: _check_board_tool(it, target, options))
    if get_session(ctx).as_json:
        write_json(report.data)
    else:
        _show_contract_report(report)
    if not report.passed:
        raise typer.Exit(1)


async def _check_board_tool(client: ApiClient, name: str, options: _CheckOptions) -> Report:
    definition = (await client.get(build_path("tools", name))).data
    if has_effects(definition):
        _refuse_effects(f"'{definition['name']}' is not read_only", options)

    async def send(envelope: dict[str, Any]) -> Any:
        body = json.dumps(envelope).encode()
        try:
            reply = await client.send(
                "POST", build_path("calls"), params={"from": "envelope"}, body=body, patient=True, any_status=True
            )
        except CommandFailure as failure:
            raise NoEnvelope("; ".join([failure.message, *failure.lines])) from None
        if reply.status != 200:
            raise NoEnvelope(f"HTTP {reply.status}: {reply.text[:300]}")
        return reply.data

    return await options.run(send, definition["name"], definition)


async def _check_remote_tool(
    url: str, tool: str | None, definition: str | None, headers: list[str], options: _CheckOptions
) -> Report:
    if tool is None:
        raise UsageError("Name the tool of that server with --tool", [f"Such as: {', '.join(BASELINE_SCHEMAS)}"])
    known = load_object(definition) if definition is not None else {}
    if tool not in BASELINE_SCHEMAS and options.arguments is None and "input_schema" not in known:
        raise UsageError(f"The arguments of '{tool}' are not known", ["Give valid ones with --args."])
    if tool not in BASELINE_SCHEMAS and known.get("read_only") is not True:
        _refuse_effects(f"'{tool}' is not declared read_only", options)
    async with sender(_check_url(url), dict(map(_parse_header, headers))) as send:
        return await options.run(send, tool, known)


def _refuse_effects(why: str, options: _CheckOptions) -> None:
    if not options.yes:
        message = f"The tests would call the tool about {options.calls + 30} times, and {why}"
        raise UsageError(message, ["If its effects are harmless, add --yes."])


def _check_url(url: str) -> str:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise UsageError(f"'{url}' is not a URL: {error}") from None
    if not parsed.host or (parsed.port or 0) > 65535:
        raise UsageError(f"'{url}' is not the URL of a server")
    return url


def _parse_header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip() or not text.isascii() or not text.isprintable():
        raise UsageError(f"--header is NAME:VALUE in printable ASCII, not '{text}'")
    return name.strip(), value.strip()


def _read_arguments(given: str | None) -> dict[str, Any] | None:
    """Return the arguments, given as JSON or as a file; raise UsageError if they are not valid."""
    if given is None:
        return None
    if not given.lstrip().startswith("{"):
        return load_object(given)
    try:
        found = read_json(given)
    except DocumentError as error:
        raise UsageError(f"--args: {error.message}") from None
    return dict(found)


def _show_contract_report(report: Report) -> None:
    write_table(["TEST", "OUTCOME", "DETAIL"], [[test.name, test.outcome, test.detail] for test in report.tests])
    if broken := report.broken():
        write("\n".join(map(escape_control_characters, broken)))
