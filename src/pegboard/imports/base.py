"""What importing from any source shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pegboard.core.call import Caller
from pegboard.core.tool import Tool
from pegboard.imports.workshop import Tell, Workshop
from pegboard.registry.registry import Registry
from pegboard.registry.snapshot import Snapshot
from pegboard.registry.taking import TakenOn, take_on
from pegboard.store import tools
from pegboard.store.database import Database

Definition = Mapping[str, Any]


class Shelf:
    """The board's tools, as importers change them."""

    def __init__(self, registry: Registry, database: Database, snapshot: Snapshot, workshop: Workshop) -> None:
        self.registry = registry
        self.workshop = workshop
        self._database = database
        self._snapshot = snapshot

    async def take_on(
        self,
        definitions: Sequence[Definition],
        caller: Caller,
        belongs: Callable[[Tool, Definition], bool],
        *,
        held_back: Callable[[Tool, Tool], bool] = lambda _now, _then: False,
        are_sound: bool = False,
        dry_run: bool,
        tell: Tell,
    ) -> TakenOn:
        """Create or update these tools; what cannot be is left out with its reason."""
        return await take_on(
            definitions,
            caller,
            belongs=belongs,
            held_back=held_back,
            dry_run=dry_run,
            registry=self.registry,
            database=self._database,
            snapshot=self._snapshot,
            are_sound=are_sound,
            in_thread=lambda work: self.workshop.run(work, "importing", tell),
        )

    async def named(self, names: Sequence[str]) -> dict[str, Tool]:
        """Those of these names that are on the board, by name in lower case."""
        async with self._database.read() as conn:
            return await tools.all_named(conn, names)

    async def owned(self, caller: Caller, which: Callable[[Tool], bool]) -> list[Tool]:
        """The caller's own tools that fit, by name."""
        async with self._database.read() as conn:
            return [tool for tool in await tools.all_owned(conn, caller.user_id) if which(tool)]


def published(definition: Definition, is_public: bool | None) -> dict[str, Any]:
    """The definition, for everybody or for its owner alone where that was said."""
    return dict(definition) if is_public is None else {**definition, "is_public": is_public}


def differences(before: Definition, after: Definition) -> dict[str, dict[str, Any]]:
    """The fields that differ, as they were and as they would be."""
    return {
        name: {"before": before.get(name), "after": value} for name, value in after.items() if before.get(name) != value
    }
