"""`pegboard tools show`, `tools edit` and `export`: tools as their users write them."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer
from pydantic import BaseModel

from pegboard.model.display_format import Display
from pegboard.model.documents import write_yaml
from pegboard.model.json_text import is_json_equal
from pegboard.model.secrets import MASK
from pegboard.model.tool import RateLimit, Retry
from pegboard.model.tool_definition import ToolDefinition
from pegboard.surfaces.cli.api_client import ApiReply, build_path
from pegboard.surfaces.cli.command_arguments import read_pairs
from pegboard.surfaces.cli.exit_codes import CommandFailure, RequestRefused, UsageError
from pegboard.surfaces.cli.input_files import load_object
from pegboard.surfaces.cli.output import (
    FileFormat,
    format_count,
    format_json,
    is_json_file,
    write,
    write_file,
    write_message,
)
from pegboard.surfaces.cli.resources import ToolName, get_tool, run_with_client, write_reply
from pegboard.surfaces.cli.session import get_session


def show_tool(ctx: typer.Context, name: ToolName) -> None:
    """Show one tool, secrets masked."""
    write_reply(ctx, get_tool(ctx, name), _show_definition)


def edit_tool(
    ctx: typer.Context,
    name: ToolName,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FIELD=VALUE | FIELD:=JSON]...", help="What to change", show_default=False),
    ] = None,
    source: Annotated[
        str | None, typer.Option("--input", metavar="FILE|-", help="A file with the fields to change, YAML or JSON")
    ] = None,
) -> None:
    """Change a tool, in $EDITOR if no fields are given.

    Example: pegboard tools edit get_weather is_public:=true timeout:=5
    """
    if source is not None and words:
        raise UsageError("Give the fields as FIELD=VALUE or with --input, not both")
    if source is None and not words:
        reply = edit_in_editor(ctx, get_tool(ctx, name).data)
        if reply is None:
            write_message("Nothing was changed")
            return
    elif source is not None:
        change = load_object(source)
        reply = run_with_client(ctx, lambda it: it.patch(build_path("tools", name), change))
    else:
        body = read_pairs(words or []).body
        reply = run_with_client(ctx, lambda it: it.send("PATCH", build_path("tools", name), body=body))
    write_reply(ctx, reply, lambda tool: write(f"{tool['name']} is at version {tool['version']}"))


def export_definitions(
    ctx: typer.Context,
    target: Annotated[str, typer.Argument(metavar="[FILE|-]", help="Where to write; - is standard output")] = "-",
    form: FileFormat = None,
    every: Annotated[
        bool, typer.Option("--all/--mine", help="All tools whose config you may see, not only your own")
    ] = False,
    tag: Annotated[str | None, typer.Option("--tag", help="Only tools with this tag")] = None,
) -> None:
    """Write tool definitions as files for `apply`.

    Credentials are masked, except for references such as {{secret:NAME}}. Applied to the same board, a mask keeps the
    stored value; another board refuses it.

    Example: pegboard export tools.yaml
    """
    # Takes half a second, and the other commands do without it.
    from pegboard.registry.shipped_tools import SHIPPED_IDS  # noqa: PLC0415

    wanted = {"mine": None if every else True, "tag": tag}
    found = run_with_client(ctx, lambda it: it.pages(build_path("tools"), wanted)).data["items"]
    # Tools that are not stored have version 5 UUIDs, derived from their names; they are defined elsewhere.
    own = [tool for tool in found if tool["id"] not in SHIPPED_IDS and UUID(tool["id"]).version != 5]
    whole = [tool for tool in own if tool["config"] is not None]
    document = {"tools": [to_definition(tool) for tool in whole]}
    is_json = is_json_file(target, form, as_json=get_session(ctx).as_json)
    write_file(target, format_json(document) if is_json else write_yaml(document))
    if target != "-":
        write_message(f"Wrote {format_count(len(whole), 'tool')} to {target}")
    masked = [tool["name"] for tool in whole if _has_mask([tool["config"], tool["auth_config"]])]
    if masked:
        write_message(
            f"Masked: credentials of {', '.join(masked)}. Another board refuses them; to move these tools, write the "
            "values as {{secret:NAME}} and export again"
        )
    if len(own) > len(whole):
        write_message(
            f"Left out {format_count(len(own) - len(whole), 'tool')} of other users, whose config you may not see"
        )


def _has_mask(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_mask, value.values()))
    return any(map(_has_mask, value)) if isinstance(value, list) else value == MASK


def edit_in_editor(ctx: typer.Context, tool: dict[str, Any]) -> ApiReply | None:
    """Edit a tool in the editor and return the changed tool, None if unchanged; on an error the file is kept."""
    if tool.get("config") is None:
        raise RequestRefused(f"Tool '{tool['name']}' belongs to another user")
    command = _find_editor()
    before = to_definition(tool)
    advice = "Save and close the editor to change it; a field without a line is cleared."
    note = f"# {tool['name']}, version {tool['version']}. {advice}\n"
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
        raise type(failure)(failure.message, [*failure.lines, f"Your changes are kept in {path}"]) from None
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
            raise UsageError(f"{name} cannot be parsed: {error}") from None
    if not sys.stdin.isatty():
        raise UsageError("Nothing to change. Give FIELD=VALUE, --input FILE, or set EDITOR.")
    return ["vi"]


def _show_definition(tool: dict[str, Any]) -> None:
    definition = {name: value for name, value in to_definition(tool).items() if value is not None}
    about = {name: value for name, value in tool.items() if name not in definition and value not in (None, [], False)}
    write(write_yaml({**definition, **about}))


def to_definition(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return the definition of this tool without default values; secrets stay masked."""
    definition: dict[str, Any] = {}
    for name, field in ToolDefinition.model_fields.items():
        value = tool.get(name)
        if field.is_required():
            definition[name] = value
            continue
        default = field.get_default()
        if value is not None and value != (list(default) if isinstance(default, tuple) else default):
            definition[name] = _shorten_field(name, value)
    first = [name for name in ("name", "display_name", "description", "tool_type", "config") if name in definition]
    return {name: definition[name] for name in dict.fromkeys([*first, *definition])}


def diff_definitions(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the update that changes one definition to the other; removed fields are set to None."""
    gone = {name: None for name in before if name not in after}
    return gone | {
        name: value
        for name, value in after.items()
        if name not in before or not is_json_equal(before[name], value, exact_numbers=True)
    }


_FIELD_MODELS: dict[str, type[BaseModel]] = {"rate_limit": RateLimit, "retry": Retry, "display": Display}


def _shorten_field(name: str, value: Any) -> Any:
    """Return the value of a field without the default values in it."""
    if name == "fallback":
        return {"tool": value["tool"]} if value.get("tool") is not None else {"value": value.get("value")}
    if name not in _FIELD_MODELS:
        return value
    short = _FIELD_MODELS[name].model_validate(value).model_dump(mode="json", exclude_defaults=True)
    return {**short, "on": sorted(short["on"])} if "on" in short else short
