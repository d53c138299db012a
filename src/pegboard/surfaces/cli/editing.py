"""Changing a tool in one's own editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import typer

from pegboard.registry.documents import write_yaml
from pegboard.surfaces.cli.client import Reply
from pegboard.surfaces.cli.definitions import difference, written
from pegboard.surfaces.cli.failures import Failure, Refused, Usage
from pegboard.surfaces.cli.files import load_object
from pegboard.surfaces.cli.routes import route
from pegboard.surfaces.cli.session import with_board


def edit_by_hand(ctx: typer.Context, tool: dict[str, Any]) -> Reply | None:
    """The changed tool, or None if nothing was changed; what was typed is never lost to a mistake in it."""
    if tool.get("config") is None:
        raise Refused(f"Tool '{tool['name']}' belongs to somebody else")
    command = _editor()
    before = written(tool)
    note = f"# {tool['name']}, version {tool['version']}. Save and leave to change it; a line taken out is cleared.\n"
    handle, name = tempfile.mkstemp(prefix=f"pegboard-{tool['name'][:40]}-", suffix=".yaml")
    os.close(handle)
    path = Path(name)
    text = note + write_yaml(before)
    path.write_text(text, encoding="utf-8")
    try:
        reply = _sent(ctx, tool, before, _edited(command, path))
    except Failure as failure:
        if not path.exists() or path.read_bytes() == text.encode():
            path.unlink(missing_ok=True)
            raise
        raise type(failure)(failure.message, [*failure.lines, f"What you wrote is kept in {path}"]) from None
    path.unlink(missing_ok=True)
    return reply


def _sent(ctx: typer.Context, tool: dict[str, Any], before: dict[str, Any], after: dict[str, Any]) -> Reply | None:
    change = difference(before, after)
    if not change:
        return None
    # The version makes sure that nobody else's change, made meanwhile, is undone.
    body = {**change, "version": tool["version"]}
    return with_board(ctx, lambda it: it.patch(route("tools", tool["id"]), body))


def _edited(command: list[str], path: Path) -> dict[str, Any]:
    try:
        done = subprocess.run([*command, str(path)], check=False)  # noqa: S603 -- the user's own editor
    except OSError as error:
        raise Usage(f"The editor '{command[0]}' cannot be started: {error.strerror}; set EDITOR") from None
    if done.returncode != 0:
        raise Usage(f"The editor '{command[0]}' ended with exit code {done.returncode}; nothing was changed")
    return load_object(str(path))


def _editor() -> list[str]:
    for name in ("VISUAL", "EDITOR"):
        try:
            if command := shlex.split(os.environ.get(name, "")):
                return command
        except ValueError as error:
            raise Usage(f"{name} cannot be understood: {error}") from None
    if not sys.stdin.isatty():
        raise Usage("Nothing to change. Give FIELD=VALUE, --input FILE, or set EDITOR.")
    return ["vi"]
