"""Loads the entry points that installed plugins provide."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

T = TypeVar("T")


def load_entry_points(group: str, make: Callable[[Any], T]) -> dict[str, T]:
    """Return `make(entry point)` for each entry point of the group, by name; log and skip a plugin that raises."""
    found: dict[str, T] = {}
    for point in _list_entry_points(tuple(sys.path)):
        if point.group != group:
            continue
        try:
            found[point.name] = make(point.load())
        except Exception:
            log.exception("plugin_left_out", group=group, plugin=point.name, value=point.value)
    return found


# Cached for all groups: the scan reads the metadata of every installed package.
@lru_cache(maxsize=1)
def _list_entry_points(_where: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    found = entry_points()
    return tuple(
        point for group in found.groups if group.startswith("pegboard.") for point in found.select(group=group)
    )
