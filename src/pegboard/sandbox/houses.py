"""What a call finds around it: which libraries it may import and which folder it works in, as zygotes are told."""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pegboard.core.errors import Misconfigured

# The parts of the file system that each call has of its own; nothing of the machine's can stand there.
_OWN = ("/proc", "/sys", "/dev", "/call")
_SYSTEM = "/usr"
_MOST_SEEN = 1000
_BOARD = str(Path(__file__).parent.parent)


@dataclass(frozen=True, slots=True)
class House:
    """The surroundings that calls share: modules imported beforehand, those that code may import, and a folder.

    With `python`, functions in Python run there, and else commands.
    `real` is where the folder was when the tool was made ready: a link that leads elsewhere later may be another tool's
    doing. `holds` are the places of the board itself in that folder, which are hidden there.
    """

    python: bool = False
    modules: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    working_dir: str | None = None
    writable: bool = False
    real: str | None = None
    holds: tuple[str, ...] = ()


# A folder that was replaced by another of the same name is another house; so is one in which something was replaced, or
# has come to be, that has to be hidden: what hides it is on the former.
Identity = tuple[House, tuple[tuple[int, int], ...]]


def identity(house: House) -> Identity:
    """What tells this house from others as the machine is now; raises Misconfigured where its folder is none."""
    folder = house.working_dir
    if folder is None:
        return house, ()
    try:
        seen = Path(folder).stat()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise Misconfigured(f"working_dir '{folder}' cannot be used: {why}") from None
    if not stat.S_ISDIR(seen.st_mode):
        raise Misconfigured(f"working_dir '{folder}' is not a folder")
    if house.real is not None and os.path.realpath(folder) != house.real:
        raise Misconfigured(
            f"working_dir '{folder}' leads to another folder than when the tool was made ready; if that is meant, name "
            "the folder that it leads to"
        )
    return house, ((seen.st_dev, seen.st_ino), *map(_seen, house.holds))


def _seen(path: str) -> tuple[int, int]:
    try:
        seen = os.lstat(path)
    except OSError:
        return 0, 0
    return seen.st_dev, seen.st_ino


class Identities:
    """The identities of houses, each looked up at most once a second: this is in the way of every call."""

    def __init__(self, fresh_seconds: float) -> None:
        self._fresh_seconds = fresh_seconds
        self._seen: dict[House, tuple[float, Identity]] = {}

    def of(self, house: House) -> Identity:
        """What tells this house from others, as it was a moment ago; raises Misconfigured as `identity` does."""
        if house.working_dir is None:
            return house, ()
        now = time.monotonic()
        seen = self._seen.get(house)
        if seen is not None and now < seen[0] + self._fresh_seconds:
            return seen[1]
        found = identity(house)
        if len(self._seen) >= _MOST_SEEN:
            self._seen.clear()
        self._seen[house] = now, found
        return found


def plan(house: House, *, masked: Iterable[str] = (), without: Iterable[str] = ()) -> str:
    """The house as JSON, as its zygote reads it; raises Misconfigured where the folder cannot be shown to a call."""
    site = site_folders()
    programs = {place for path in (*interpreter_folders(), *site) for place in (path, os.path.realpath(path))}
    # What is below the system's folder is shown with it.
    shown = {path: (path, False) for path in programs if not _within(path, _SYSTEM)}
    hidden = {place for path in masked for place in (os.path.normpath(path), os.path.realpath(path))}
    if house.working_dir is not None:
        target, source = os.path.normpath(house.working_dir), os.path.realpath(house.working_dir)
        _check_place(house.working_dir, target, source)
        if house.writable:
            own = programs | hidden | {_BOARD, os.path.realpath(_BOARD)}
            _check_writable(house.working_dir, (target, source), own)
        shown[target] = (source, house.writable)
    told = {
        "binds": [[source, target, writable] for target, (source, writable) in sorted(shown.items())],
        "masked": sorted(hidden),
        "python": house.python,
        "modules": list(house.modules),
        "allowed": list(house.allowed),
        "without": sorted(without),
        "prefixes": site,
    }
    return json.dumps(told)


def _check_writable(folder: str, places: tuple[str, str], own: Iterable[str]) -> None:
    """Refuse a folder that holds anything of the board's own, or is in it.

    That such a part is mounted read-only does not help: a tool could rename a folder above it, and put another there.
    """
    for path in sorted(own):
        if any(_within(path, place) or _within(place, path) for place in places):
            raise Misconfigured(
                f"working_dir '{folder}' cannot be writable: '{path}' is there, which the board itself needs; name a "
                "folder of its own for the tool"
            )


def interpreter_folders() -> list[str]:
    """Where the interpreter and its standard library are."""
    found = {sys.base_prefix, sys.base_exec_prefix, sys.prefix, sys.exec_prefix}
    return sorted(path for path in found if Path(path).is_dir() and path != "/")


def site_folders() -> list[str]:
    """Where installed libraries are, in the order in which they are looked for."""
    names = ("site-packages", "dist-packages")
    return [path for path in dict.fromkeys(sys.path) if Path(path).name in names and Path(path).is_dir()]


def _check_place(folder: str, *places: str) -> None:
    if not Path(folder).is_absolute():
        raise Misconfigured(f"working_dir '{folder}' must be an absolute path")
    for place in places:
        if place == "/":
            raise Misconfigured(f"working_dir '{folder}' is the whole file system; name the folder that is needed")
        if any(_within(place, own) for own in _OWN):
            raise Misconfigured(f"working_dir '{folder}' lies where each call has a file system of its own")


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
