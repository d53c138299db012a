"""`pegboard normalize`: the calls in what a model said."""

from __future__ import annotations

import codecs
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from pegboard.surfaces.cli.output import say, write_table
from pegboard.surfaces.cli.routes import route
from pegboard.surfaces.cli.session import give, with_board

_TEXTS = (".txt", ".text", ".md", ".jsonl", ".ndjson", ".sse")


def normalize(
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
    path = route("calls", "normalize")
    reply = with_board(
        ctx,
        lambda it: it.send("POST", path, params={"from": dialect}, body=body, headers={"Content-Type": kind}),
    )
    give(ctx, reply, _show)


def read_payload(source: str) -> tuple[bytes, str]:
    """What is in a file or comes from standard input, and its media type."""
    from pegboard.surfaces.cli.files import read_input  # noqa: PLC0415 -- start-up time

    # Editors and shells of Windows put a mark before a text that JSON has no place for.
    body = read_input(source).removeprefix(codecs.BOM_UTF8)
    return body, "application/json" if _is_json(source, body) else "text/plain; charset=utf-8"


def _is_json(source: str, body: bytes) -> bool:
    suffix = Path(source).suffix.lower() if source != "-" else ""
    if suffix == ".json" or suffix in _TEXTS:
        return suffix == ".json"
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


def _show(answer: dict[str, Any]) -> None:
    calls = answer["calls"]
    if calls:
        write_table(
            ["ID", "NAME", "SUMMARY", "ERROR"],
            [[call["id"], call["name"], call["summary"], call.get("error")] for call in calls],
        )
    say(f"{len(calls)} {'call' if len(calls) == 1 else 'calls'} in {answer['dialect']}")
