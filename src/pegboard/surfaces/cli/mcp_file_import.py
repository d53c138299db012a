"""`pegboard import mcp FILE`: the servers of a client's file, one import after the other."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

import typer

from pegboard.model.secrets import resolve_references
from pegboard.surfaces.cli.api_client import ApiClient, build_path
from pegboard.surfaces.cli.entry_changes import has_entries, list_entry_counts
from pegboard.surfaces.cli.exit_codes import RequestRefused
from pegboard.surfaces.cli.mcp_server_files import FileServer, read_server_file
from pegboard.surfaces.cli.output import to_single_line, write_json, write_marked
from pegboard.surfaces.cli.resources import run_with_client
from pegboard.surfaces.cli.session import get_session

# In --prefix, it stands for the name of the server.
SERVER_PLACEHOLDER = "{server}"
_NOT_IN_PREFIX = re.compile(r"[^A-Za-z0-9_-]+", re.ASCII)
_MAX_NAME = 60
_MAX_REASON = 500
_CHANGE_WORDS = ("created", "updated", "unchanged", "drifted", "gone")


def import_server_file(ctx: typer.Context, source: str, options: Mapping[str, Any]) -> None:
    """Import each server of the file with these options, and print a line for each; exit with 1 if one failed."""
    servers = read_server_file(source, os.environ)
    as_json = get_session(ctx).as_json

    async def work(client: ApiClient) -> list[dict[str, Any]]:
        has_secrets = any(server.secrets for server in servers)
        listed = (await client.pages(build_path("secrets"))).data["items"] if has_secrets else []
        known = {item["name"] for item in listed}
        results = []
        for server in servers:
            result = await _import_server(client, server, options, known)
            results.append(result)
            if not as_json:
                _write_result(result, dry_run=options["dry_run"])
        return results

    results = run_with_client(ctx, work)
    if as_json:
        write_json({"servers": results})
    if any(result["status"] == "failed" for result in results):
        raise typer.Exit(1)


def format_counts(report: Mapping[str, Any], left_out: int) -> str:
    """Return how many tools an import created, updated and so on, and the number of other entries, or `nothing`."""
    counts = {word: len(report[word]) for word in _CHANGE_WORDS} | {"left out": left_out}
    texts = [f"{count} {word}" for word, count in counts.items() if count]
    return ", ".join([*texts, *list_entry_counts(report)]) or "nothing"


def is_all_left_out(report: Mapping[str, Any]) -> bool:
    """Return True if an import left something out and has nothing else."""
    return bool(report["left_out"]) and not (any(report[word] for word in _CHANGE_WORDS[:-1]) or has_entries(report))


async def _import_server(
    client: ApiClient, server: FileServer, options: Mapping[str, Any], known: set[str]
) -> dict[str, Any]:
    """Return the result of one server: its name, its status, and the report or the error."""
    result: dict[str, Any] = {"name": server.name, "status": "failed"}
    if server.is_disabled:
        return {**result, "status": "skipped", "error": "disabled in the file"}
    if server.problem is not None:
        return {**result, "error": server.problem}
    if _serves_board(server.body, client.url):
        return {**result, "status": "skipped", "error": "it serves this board itself"}
    prefix = options["prefix"].replace(SERVER_PLACEHOLDER, _NOT_IN_PREFIX.sub("_", server.name))
    body = {**options, **server.body, "prefix": prefix, "name": server.name[:_MAX_NAME]}
    new = [name for name in server.secrets if name not in known]
    try:
        if options["dry_run"]:
            report = await _run_import(client, _fill_in(body, {name: server.secrets[name] for name in new}))
        else:
            report = await _import_with_secrets(client, body, server.secrets, new)
    except RequestRefused as refused:
        return {**result, "error": "; ".join([refused.message, *refused.lines])}
    if is_all_left_out(report):
        return {**result, "secrets": [], "report": report}
    return {**result, "status": "imported", "secrets": list(server.secrets), "report": report}


def _serves_board(body: Mapping[str, Any], url: str) -> bool:
    """Return True if the server is the board at this URL, or `pegboard mcp` for it: each import would double its tools.

    `pegboard mcp` without a URL serves the board of its machine.
    """
    if "command" not in body:
        return body["server_url"] == f"{url}/mcp" or str(body["server_url"]).startswith(f"{url}/agents/")
    command = list(body["command"])
    if "mcp" not in command or all(PurePath(word).name != "pegboard" for word in command):
        return False
    given = body.get("env", {}).get("PEGBOARD_URL")
    if "--url" in command[:-1]:
        given = command[command.index("--url") + 1]
    return given is None or str(given).rstrip("/") == url


async def _import_with_secrets(
    client: ApiClient, body: dict[str, Any], secrets: Mapping[str, str], new: list[str]
) -> dict[str, Any]:
    """Set the secrets and import; remove the new secrets again if no tool uses them."""
    done: list[str] = []
    is_used = False
    try:
        for name, value in secrets.items():
            await client.put(build_path("secrets", name), {"value": value})
            done.append(name)
        report = await _run_import(client, body)
        is_used = not is_all_left_out(report)
    finally:
        for name in done:
            if name in new and not is_used:
                with suppress(RequestRefused):
                    await client.delete(build_path("secrets", name))
    return report


def _fill_in(body: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
    """Return the body with the values of secrets that are not on the board yet: a dry run sets none."""

    def get_value(name: str) -> str:
        return values.get(name, f"{{{{secret:{name}}}}}")

    def get_quoted(name: str) -> str:
        return quote(values[name], safe="") if name in values else get_value(name)

    return {
        member: resolve_references(value, get_quoted if member == "server_url" else get_value)
        for member, value in body.items()
    }


async def _run_import(client: ApiClient, body: dict[str, Any]) -> dict[str, Any]:
    reply = await client.follow_import(build_path("imports", "mcp"), body, lambda _data: None)
    return dict(reply.data)


def _write_result(result: Mapping[str, Any], *, dry_run: bool) -> None:
    if "report" in result:
        report = result["report"]
        text = format_counts(report, len(report["left_out"]))
        if result["status"] == "failed":
            text += f": {report['left_out'][0]['reason']}"
        elif result["secrets"]:
            text += f"; secrets: {', '.join(result['secrets'])}"
        if dry_run and result["status"] == "imported":
            text = f"dry run: {text}"
    else:
        text = result["error"]
    mark, colour = {"imported": ("+", "green"), "failed": ("!", "red"), "skipped": ("-", "dim")}[result["status"]]
    write_marked(mark, colour, to_single_line(f"{result['name']}: {text}", _MAX_REASON))  # type: ignore[arg-type]
