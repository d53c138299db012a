"""Prints the changes of the prompts, resources and resource templates of an MCP server."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from pegboard.model.documents import write_yaml
from pegboard.surfaces.cli.output import colour_text, format_count, write, write_message

# The members of a response, and the word for one of their entries.
ENTRY_WORDS = {"prompts": "prompt", "resources": "resource", "resource_templates": "resource template"}


def iterate_entry_changes(report: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Return the word for each kind of entries in a response, and their changes."""
    for member, word in ENTRY_WORDS.items():
        if report.get(member):
            yield word, report[member]


def has_entries(report: Mapping[str, Any]) -> bool:
    """Return True if an import has a prompt, resource or template."""
    words = ("created", "updated", "unchanged", "drifted")
    return any(changes[word] for _, changes in iterate_entry_changes(report) for word in words)


def list_entry_counts(report: Mapping[str, Any]) -> list[str]:
    """Return how many prompts, resources and templates a server has, as texts."""
    texts = []
    for word, changes in iterate_entry_changes(report):
        count = sum(len(changes[how]) for how in ("created", "updated", "unchanged", "drifted"))
        if count:
            texts.append(format_count(count, word))
    return texts


def show_entry_changes(report: Mapping[str, Any], *, dry_run: bool) -> None:
    """Write a line for each new, updated, changed or removed entry, and the changes of those to review."""
    for word, changes in iterate_entry_changes(report):
        for name in changes["created"]:
            write(colour_text(f"+ {word} {name}", "green"))
        for name in changes["updated"]:
            write(colour_text(f"~ {word} {name}", "yellow"))
        for name in changes["drifted"]:
            write(colour_text(f"! {word} {name} changed upstream, refused until accepted", "red"))
        for name in changes["changes"] if dry_run else changes["drifted"]:
            write(format_differences(f"{word} {name}", changes["changes"][name]))
        for name in changes["gone"]:
            write_message(f"{word} {name} is no longer listed by the server", label="gone ", colour="yellow")


def format_differences(name: str, fields: Mapping[str, Mapping[str, Any]]) -> str:
    """Return changes as a unified diff of the fields."""
    before, after = ({field: sides[side] for field, sides in fields.items()} for side in ("before", "after"))
    was, becomes = write_yaml(before).splitlines(), write_yaml(after).splitlines()
    lines = difflib.unified_diff(was, becomes, f"{name} (before)", f"{name} (after)", lineterm="", n=2)
    colours = {"+": "green", "-": "red"}
    return "\n".join(colour_text(line, colours.get(line[0], "dim")) for line in lines)  # type: ignore[arg-type]
