"""`pegboard tools lint`: check tool definitions against the rules of providers."""

from __future__ import annotations

from collections import defaultdict
from typing import Annotated, Any
from urllib.parse import urlencode

import typer

from pegboard.surfaces.cli.api_paths import build_path
from pegboard.surfaces.cli.call_command import complete_tools
from pegboard.surfaces.cli.output import write_message, write_table
from pegboard.surfaces.cli.session import run_with_client, write_reply

_SEVERITIES = ("refuse", "misread", "note")


def lint_tools(
    ctx: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Names or ids; by default all tools in your definitions",
            autocompletion=complete_tools,
            show_default=False,
        ),
    ] = None,
    providers: Annotated[
        list[str] | None,
        typer.Option("--for", metavar="PROVIDER", help="A dialect, repeat for several; by default the main providers"),
    ] = None,
) -> None:
    """Report what providers refuse or misread in tool definitions, and their size in tokens.

    Exit code 1 if a provider refuses a definition. Tokens are an estimate: 4 bytes of JSON per token.

    Example: pegboard tools lint get_weather --for openai --for gemini
    """
    wanted = [("tool", name) for name in names or ()] + [("for", name) for name in providers or ()]
    path = build_path("lint") + ("?" + urlencode(wanted, errors="replace") if wanted else "")
    reply = run_with_client(ctx, lambda it: it.get(path))
    write_reply(ctx, reply, _show_lint_report)
    if any(finding["severity"] == "refuse" for _, _, finding in _list_findings(reply.data)):
        raise typer.Exit(1)


def _show_lint_report(answer: dict[str, Any]) -> None:
    spent: dict[str, list[int]] = defaultdict(list)
    for provider in answer["providers"]:
        for tool in provider["tools"]:
            spent[tool["tool"]].append(tool["tokens"])
    rows = [[name, _format_range(counts)] for name, counts in spent.items()]
    if rows:
        write_table(["TOOL", "TOKENS"], rows)
    # Equal findings of several providers are printed once.
    whose: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for dialect, tool, finding in _list_findings(answer):
        whose[finding["severity"], tool, finding["field"], finding["message"]].append(dialect)
    if whose:
        every = len(answer["providers"])
        found = sorted(whose.items(), key=lambda item: _SEVERITIES.index(item[0][0]))
        write_table(
            ["SEVERITY", "TOOL", "FOR", "FIELD", "FINDING"],
            [
                [severity, tool, "all" if 1 < every == len(dialects) else ", ".join(dialects), field, message]
                for (severity, tool, field, message), dialects in found
            ],
        )
    for provider in answer["providers"]:
        count = len(provider["tools"])
        tools = "1 tool" if count == 1 else f"{count} tools"
        write_message(f"{provider['dialect']}: {tools}, about {provider['tokens']} tokens")
    write_message(f"Tokens: {answer['counted']}", colour="dim")


def _list_findings(answer: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """Return every finding with its provider and tool."""
    return [
        (provider["dialect"], tool, finding)
        for provider in answer["providers"]
        for tool, findings in (
            ("", provider["findings"]),
            *((each["tool"], each["findings"]) for each in provider["tools"]),
        )
        for finding in findings
    ]


def _format_range(counts: list[int]) -> str:
    return str(counts[0]) if len(set(counts)) == 1 else f"{min(counts)}-{max(counts)}"
