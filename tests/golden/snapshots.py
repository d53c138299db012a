"""The stored snapshots of what others build on, and the functions that make them again."""

from __future__ import annotations

import ast
import asyncio
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
from pydantic_core import PydanticUndefined

from pegboard import Settings, create_app
from pegboard.testing import memory_board
from tests.golden.program import ROOT, read_help

FOLDER = Path(__file__).parent
_LEVELS = frozenset({"debug", "info", "warning", "error", "exception", "critical"})
_EVENT = re.compile(r"[a-z][a-z0-9_]*")


def describe_api() -> str:
    """Return the text of `/openapi.json`, indented; keys keep their order, so two equal texts are equal responses."""

    async def fetch() -> bytes:
        async with memory_board() as board:
            transport = httpx.ASGITransport(create_app(board, version="VERSION"))
            async with httpx.AsyncClient(transport=transport, base_url="http://board") as client:
                return (await client.get("/openapi.json")).raise_for_status().content

    return json.dumps(json.loads(asyncio.run(fetch())), indent=1, ensure_ascii=False) + "\n"


def describe_commands() -> str:
    """Return the output of `--help` for every command and group."""
    return "\n".join(f"$ {path} --help\n{text.rstrip()}\n" for path, text in read_help())


def describe_names() -> str:
    """The settings with their defaults, and the levels and names of log events."""
    settings = [f"PEGBOARD_{name.upper()} = {value}" for name, value in _list_defaults()]
    return "\n".join(["# Settings and their defaults", *settings, "", "# Log events", *sorted(set(_list_events())), ""])


def _list_defaults() -> Iterator[tuple[str, str]]:
    for name, field in Settings.model_fields.items():
        if field.default_factory is not None or field.default is PydanticUndefined:
            yield name, "(computed)"
        else:
            yield name, str(field.default)


def _list_events() -> Iterator[str]:
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "log" in text else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _LEVELS:
                receiver = node.func.value
                if isinstance(receiver, ast.Name) and receiver.id.strip("_") in ("log", "logger") and node.args:
                    # The first argument may choose between two names.
                    parts = [str(part.value) for part in ast.walk(node.args[0]) if isinstance(part, ast.Constant)]
                    yield from (f"{node.func.attr} {part}" for part in parts if _EVENT.fullmatch(part))


SNAPSHOTS: dict[str, Callable[[], str]] = {
    "openapi.json": describe_api,
    "help.txt": describe_commands,
    "names.txt": describe_names,
}
