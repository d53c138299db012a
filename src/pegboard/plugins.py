"""What installed packages add to the board through entry points."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any, TypeVar

from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

T = TypeVar("T")


def installed(group: str, make: Callable[[Any], T]) -> dict[str, T]:
    """What `make` makes of each entry point of this group, by name; a faulty package is logged and left out."""
    found: dict[str, T] = {}
    for point in entry_points(group=group):
        try:
            found[point.name] = make(point.load())
        except Exception:
            log.exception("plugin_left_out", group=group, plugin=point.name, value=point.value)
    return found
