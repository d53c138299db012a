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

from pegboard.model.documents import write_yaml
from pegboard.surfaces.cli.api_client import ApiReply
from pegboard.surfaces.cli.api_paths import build_path
from pegboard.surfaces.cli.definition_files import load_object
from pegboard.surfaces.cli.definition_text import diff_definitions, to_definition
from pegboard.surfaces.cli.exit_codes import CommandFailure, RequestRefused, UsageError
from pegboard.surfaces.cli.session import run_with_client


def edit_in_editor(ctx: typer.Context, tool: dict[str, Any]) -> ApiReply | None:
    """Edit a tool in the editor and return the changed tool, None if unchanged; on an error the file is kept."""
    if tool.get("config") is None:
        raise RequestRefused(f"Tool '{tool['name']}' belongs to somebody else")
    command = _find_editor()
    before = to_definition(tool)
    note = f"# {tool['name']}, version {tool['version']}. Save and leave to change it; a line taken out is cleared.\n"
    handle, name = tempfile.mkstemp(prefix=f"pegboard-{tool['name'][:40]}-", suffix=".yaml")
    os.close(handle)
    path = Path(name)
    text = note + write_yaml(before)
    path.write_text(text, encoding="utf-8")
    try:
        reply = _send_change(ctx, tool, before, _run_editor(command, path))
    except CommandFailure as failure:
        if not path.exists() or path.read_bytes() == text.encode():
            path.unlink(missing_ok=True)
            raise
        raise type(failure)(failure.message, [*failure.lines, f"What you wrote is kept in {path}"]) from None
    path.unlink(missing_ok=True)
    return reply


def _send_change(
    ctx: typer.Context, tool: dict[str, Any], before: dict[str, Any], after: dict[str, Any]
) -> ApiReply | None:
    change = diff_definitions(before, after)
    if not change:
        return None
    # The version makes the update fail if another user has changed the tool in between.
    body = {**change, "version": tool["version"]}
    return run_with_client(ctx, lambda it: it.patch(build_path("tools", tool["id"]), body))


def _run_editor(command: list[str], path: Path) -> dict[str, Any]:
    try:
        done = subprocess.run([*command, str(path)], check=False)  # noqa: S603 -- the user's own editor
    except OSError as error:
        raise UsageError(f"The editor '{command[0]}' cannot be started: {error.strerror}; set EDITOR") from None
    if done.returncode != 0:
        raise UsageError(f"The editor '{command[0]}' ended with exit code {done.returncode}; nothing was changed")
    return load_object(str(path))


def _find_editor() -> list[str]:
    for name in ("VISUAL", "EDITOR"):
        try:
            if command := shlex.split(os.environ.get(name, "")):
                return command
        except ValueError as error:
            raise UsageError(f"{name} cannot be understood: {error}") from None
    if not sys.stdin.isatty():
        raise UsageError("Nothing to change. Give FIELD=VALUE, --input FILE, or set EDITOR.")
    return ["vi"]
