"""`pegboard chains`: run chains, or register them as tools."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from pegboard.surfaces.cli.api_client import build_path
from pegboard.surfaces.cli.command_arguments import read_pairs
from pegboard.surfaces.cli.exit_codes import UsageError
from pegboard.surfaces.cli.input_files import load_object
from pegboard.surfaces.cli.output import colour_text, to_single_line, write, write_json, write_message
from pegboard.surfaces.cli.resources import (
    Columns,
    local_time,
    run_and_write,
    run_with_client,
    show_items,
    write_reply,
)
from pegboard.surfaces.cli.session import get_session

Source = Annotated[str, typer.Argument(metavar="FILE|-", help="The chain, YAML or JSON; - is standard input")]
_STATUS_COLOURS = {"succeeded": "green", "failed": "red", "fallback": "yellow", "skipped": "dim", "not_run": "dim"}


def run_chain(
    ctx: typer.Context,
    source: Source,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KEY=VALUE | KEY:=JSON]...", help="The input of the chain", show_default=False),
    ] = None,
    once: Annotated[
        str | None, typer.Option("--once", metavar="KEY", help="Idempotency key for each of its calls")
    ] = None,
) -> None:
    """Run a chain and print its result.

    Example: pegboard chains run chain.yaml city=Lisbon
    """
    body = load_object(source)
    if words:
        given = body.get("input") or {}
        if not isinstance(given, dict):
            raise UsageError("The chain's input must be an object, so that KEY=VALUE can be added to it")
        body["input"] = {**given, **json.loads(read_pairs(words).body)}
    headers = {"Idempotency-Key": once} if once is not None else None
    text = json.dumps(body, allow_nan=False).encode()
    reply = run_with_client(
        ctx, lambda it: it.send("POST", build_path("chains"), body=text, headers=headers, patient=True, any_status=True)
    )
    if get_session(ctx).as_json:
        write(reply.text)
    else:
        _show_outcome(reply.data)
    if not reply.data["success"]:
        raise typer.Exit(1)


def save_chain(
    ctx: typer.Context,
    source: Source,
    name: Annotated[
        str | None, typer.Option("--name", help="The tool's name, if the file has none", show_default=False)
    ] = None,
) -> None:
    """Save a chain as a tool.

    The file may also hold the tool's name, description, input_schema, output_schema, tags, is_public and read_only.

    Example: pegboard chains save chain.yaml --name onboard
    """
    body = {**load_object(source), "save": True, **({"name": name} if name is not None else {})}
    body.pop("input", None)
    run_and_write(
        ctx,
        lambda it: it.post(build_path("chains"), body),
        lambda tool: write_message(f"Saved '{tool['name']}', version {tool['version']}: {tool['id']}"),
    )


def list_chains(ctx: typer.Context) -> None:
    """List saved chains."""
    reply = run_with_client(ctx, lambda it: it.pages(build_path("tools"), {"tool_type": "internal"}))
    chains = [tool for tool in reply.data["items"] if (tool.get("config") or {}).get("chain")]
    page = {"items": chains, "next_cursor": None}
    if get_session(ctx).as_json:
        write(json.dumps(page, ensure_ascii=False))
        return
    columns: Columns = {
        "NAME": "name",
        "STEPS": lambda tool: len(tool["config"]["chain"]["steps"]),
        "SINCE": local_time("updated_at"),
        "DESCRIPTION": lambda tool: to_single_line(tool["description"]),
    }
    show_items(page, columns, "No chains.")


def show_chain(ctx: typer.Context, name: Annotated[str, typer.Argument(metavar="NAME", show_default=False)]) -> None:
    """Show the steps of a saved chain."""
    reply = run_with_client(ctx, lambda it: it.get(build_path("tools", name)))
    chain = (reply.data.get("config") or {}).get("chain")
    if chain is None:
        raise UsageError(f"'{name}' is not a chain, or its steps are not visible to you")
    write_reply(ctx, reply, lambda _tool: write_json(chain))


def _show_outcome(answer: dict[str, Any]) -> None:
    for step in answer["steps"]:
        mark = colour_text(step["status"], _STATUS_COLOURS[step["status"]], sys.stderr)  # type: ignore[arg-type]
        why = f": {step['error']}" if step.get("error") else ""
        write_message(f"  {step['id']} ({step['tool']}) {mark}, {step['execution_time_ms']:.1f} ms{why}")
    if answer["success"]:
        write_json(answer["output"])
    else:
        write_message(str(answer["error"]), label="Failed: ", colour="red")
