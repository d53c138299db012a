"""The report on an import of tools: the names created, updated, left out, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pegboard.model.mcp_peer import EntryKind

# Called with the current phase, the number of items done, and the total (0 if not known).
ReportProgress = Callable[[str, int, int], None]


def ignore_progress(_what: str, _done: int, _total: int) -> None:
    """Do nothing; the default if the caller wants no progress."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A part of the source that became no tool, or only in part, and the reason."""

    name: str
    reason: str


@dataclass(frozen=True)
class EntryChanges:
    """The names or URIs of a server's prompts, resources or templates, by what an import did with them.

    `digests` has those of the changed definitions, as the server has them now.
    """

    created: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    drifted: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    changes: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did, or in a dry run would do.

    `drifted` are tools that the upstream has changed since they were imported, `gone` those that it no longer has;
    neither is modified. `warnings` are the reasons why tools do not work, and changes that were made to schemas.
    `changes` has the fields of each updated or drifted tool before and after, secrets masked. `entries` has the same
    of the prompts, resources and templates of an MCP server, which is the upstream of this id.
    """

    created: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    drifted: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    changes: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    entries: dict[EntryKind, EntryChanges] = field(default_factory=dict)
    upstream_id: str | None = field(default=None, compare=False)
