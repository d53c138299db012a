"""`pegboard normalize`: show the calls in the output of a model."""

from __future__ import annotations

import codecs
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from pegboard.surfaces.cli.api_paths import build_path
from pegboard.surfaces.cli.output import write_message, write_table
from pegboard.surfaces.cli.session import run_with_client, write_reply

_TEXT_SUFFIXES = (".txt", ".text", ".md", ".jsonl", ".ndjson", ".sse")


def normalize_payload(
    ctx: typer.Context,
    source: Annotated[str, typer.Argument(metavar="FILE|-", help="A payload, a text or a stream; - is standard input")],
    dialect: Annotated[
        str | None, typer.Option("--from", metavar="DIALECT", help="Its dialect; detected by default")
    ] = None,
) -> None:
    """Show the tool calls in a message, response, text or stream of any dialect; runs nothing.

    A .json file is JSON; .jsonl, .sse and .txt are text; anything else is JSON if it can be read as such.

    Example: pegboard normalize response.json --from anthropic
    """
    body, kind = read_payload(source)
    path = build_path("calls", "normalize")
    reply = run_with_client(
        ctx,
        lambda it: it.send("POST", path, params={"from": dialect}, body=body, headers={"Content-Type": kind}),
    )
    write_reply(ctx, reply, _show_calls)


def read_payload(source: str) -> tuple[bytes, str]:
    """Return the bytes of a file or of standard input, and their media type."""
    from pegboard.surfaces.cli.definition_files import read_input  # noqa: PLC0415 -- start-up time

    # Windows programs may add a byte order mark, which JSON does not allow.
    body = read_input(source).removeprefix(codecs.BOM_UTF8)
    return body, "application/json" if _is_json_payload(source, body) else "text/plain; charset=utf-8"


def _is_json_payload(source: str, body: bytes) -> bool:
    suffix = Path(source).suffix.lower() if source != "-" else ""
    if suffix == ".json" or suffix in _TEXT_SUFFIXES:
        return suffix == ".json"
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


def _show_calls(answer: dict[str, Any]) -> None:
    calls = answer["calls"]
    if calls:
        write_table(
            ["ID", "NAME", "SUMMARY", "ERROR"],
            [[call["id"], call["name"], call["summary"], call.get("error")] for call in calls],
        )
    write_message(f"{len(calls)} {'call' if len(calls) == 1 else 'calls'} in {answer['dialect']}")
