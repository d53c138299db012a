"""What installed packages add to the board through entry points."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

T = TypeVar("T")


def installed(group: str, make: Callable[[Any], T]) -> dict[str, T]:
    """What `make` makes of each entry point of this group, by name; a faulty package is logged and left out."""
    found: dict[str, T] = {}
    for point in _listed(tuple(sys.path)):
        if point.group != group:
            continue
        try:
            found[point.name] = make(point.load())
        except Exception:
            log.exception("plugin_left_out", group=group, plugin=point.name, value=point.value)
    return found


# Every package there is has to be looked at for it, so it is done once for all groups.
@lru_cache(maxsize=1)
def _listed(_where: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    found = entry_points()
    return tuple(
        point for group in found.groups if group.startswith("pegboard.") for point in found.select(group=group)
    )
