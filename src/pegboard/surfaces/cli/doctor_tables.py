"""Checks of the file of tables: whether it loads, and whether its tables are there."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from pegboard.core.refusals import Invalid
from pegboard.registry.tables.reading import bytes_of
from pegboard.surfaces.cli import table_files
from pegboard.surfaces.cli.findings import Finding
from pegboard.surfaces.cli.output import counted

if TYPE_CHECKING:
    from pegboard.settings import Settings


async def examine_tables(settings: Settings) -> list[Finding]:
    """How the file of this machine's settings is, held against its databases."""
    file = settings.tables
    if file is None:
        return []
    advice = f"Correct it; look again with: pegboard tables check {file}"
    try:
        raw = bytes_of(file)
    except Invalid as error:
        return [Finding.bad("tables", error.message, "Correct PEGBOARD_TABLES")]
    checked = await table_files.check(raw, str(file), settings.database, os.environ)
    if checked.found:
        return [
            Finding.bad("tables", ": ".join(part for part in (str(file), one.place, one.message) if part), advice)
            for one in checked.found
        ]
    return [Finding.ok("tables", f"{file}: {checked.count}")]


def judge_tables(report: dict[str, Any]) -> list[Finding]:
    """What the server says of the file that it has in force."""
    if report["file"] is None:
        return []
    findings = []
    if report["error"] is not None:
        kept = "the former stays in force" if report["loaded_at"] else "no table tools are served"
        message = f"{report['error']['message']}; {kept}"
        findings.append(
            Finding.bad("tables in force", message, f"Correct {report['file']}; the server reads it again by itself")
        )
    for item in report["items"]:
        for problem in item["problems"]:
            message = f"{item['tool_id']} is disabled: {problem['message']}"
            advice = "Put that right; the tool then serves again by itself"
            findings.append(Finding.bad("tables in force", message, advice))
    return findings or [Finding.ok("tables in force", f"{report['file']}: {counted(len(report['items']), 'table')}")]
