"""The tools of a board, as importers read and write them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from pegboard.model.call import Caller
from pegboard.model.import_report import ImportReport, ReportProgress
from pegboard.model.tool import Tool

T = TypeVar("T")
Definition = Mapping[str, Any]


def set_visibility(definition: Definition, is_public: bool | None) -> dict[str, Any]:
    """Return the definition with `is_public` set, or unchanged if `is_public` is None."""
    return dict(definition) if is_public is None else {**definition, "is_public": is_public}


def list_differences(before: Definition, after: Definition) -> dict[str, dict[str, Any]]:
    """Return the fields that differ, with the values before and after."""
    return {
        name: {"before": before.get(name), "after": value} for name, value in after.items() if before.get(name) != value
    }


class Workers(Protocol):
    """The OS threads of imports."""

    def place(self, caller: Caller) -> AbstractContextManager[None]:
        """Count one running import of this caller; raise Conflict if the user already has too many."""
        ...

    async def run(self, work: Callable[[Callable[[int, int], None]], T], what: str, on_progress: ReportProgress) -> T:
        """Run `work` in a thread and return its result; `work` is called with a function that reports progress."""
        ...


class ImportTarget(Protocol):
    """The tools of the board (`registry/import_runner.py`)."""

    @property
    def import_threads(self) -> Workers:
        """The OS threads of imports."""
        ...

    async def import_tools(
        self,
        definitions: Sequence[Definition],
        caller: Caller,
        belongs: Callable[[Tool, Definition], bool],
        *,
        held_back: Callable[[Tool, Tool], bool] = ...,
        are_sound: bool = False,
        dry_run: bool,
        on_progress: ReportProgress,
    ) -> ImportReport:
        """Create or update these tools; those that cannot be imported are listed with the reason in `left_out`."""
        ...

    async def find_tools(self, names: Sequence[str]) -> dict[str, Tool]:
        """Return the tools that have one of these names, by lower-case name."""
        ...

    async def list_owned(self, caller: Caller, which: Callable[[Tool], bool]) -> list[Tool]:
        """Return the caller's own tools for which `which` is true, by name."""
        ...

    async def get_owned(self, ref: str, caller: Caller) -> Tool:
        """Return the tool of that name or id; raise NotFound or Forbidden if this caller may not change it."""
        ...

    def define(self, tool: Tool) -> dict[str, Any]:
        """Return the definition of the tool, with secrets masked."""
        ...

    async def flag(self, drifted: Iterable[Tool], others: Iterable[Tool]) -> None:
        """Set the drift flag of some tools and clear it on others, unless they have changed since they were read."""
        ...

    async def accept(self, tool: Tool, patch: Mapping[str, Any], caller: Caller) -> Tool:
        """Replace the definition by the upstream's and clear the drift flag; raise Conflict if the tool has changed."""
        ...
