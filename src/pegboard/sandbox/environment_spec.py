"""The environment of a call: the libraries that it may import and its folder, and the JSON spec for its zygote."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pegboard.model.call_errors import Misconfigured

# Parts of the file system that each call has for itself; no folder of the host can be mounted there.
_PER_CALL_PATHS = ("/proc", "/sys", "/dev", "/call")
_SYSTEM_PATH = "/usr"
_PACKAGE_PATH = str(Path(__file__).parent.parent)


@dataclass(frozen=True, slots=True)
class EnvironmentSpec:
    """The environment that calls share: preloaded modules, modules that code may import, and a folder.

    With `python`, Python functions run in it, otherwise commands. `real` is the real path of the folder when the tool
    was compiled: a symbolic link that leads elsewhere later may be the work of another tool. `holds` are the paths of
    the board itself in that folder, which are hidden there.
    """

    python: bool = False
    modules: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    working_dir: str | None = None
    writable: bool = False
    real: str | None = None
    holds: tuple[str, ...] = ()


# A folder that was replaced by another of the same name is another environment. So is one in which a path that has to
# be hidden was replaced or created: the mount that hides it covers the previous one.
EnvironmentIdentity = tuple[EnvironmentSpec, tuple[tuple[int, int], ...]]


def identify_environment(environment: EnvironmentSpec) -> EnvironmentIdentity:
    """Return the spec plus device and inode of its folder; raise Misconfigured if working_dir cannot be used."""
    folder = environment.working_dir
    if folder is None:
        return environment, ()
    try:
        seen = Path(folder).stat()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise Misconfigured(f"working_dir '{folder}' cannot be used: {why}") from None
    if not stat.S_ISDIR(seen.st_mode):
        raise Misconfigured(f"working_dir '{folder}' is not a folder")
    if environment.real is not None and os.path.realpath(folder) != environment.real:
        raise Misconfigured(
            f"working_dir '{folder}' resolves to another folder than when the tool was prepared; if this is intended, "
            "name the folder that it resolves to"
        )
    return environment, ((seen.st_dev, seen.st_ino), *map(_stat_identity, environment.holds))


def _stat_identity(path: str) -> tuple[int, int]:
    try:
        seen = os.lstat(path)
    except OSError:
        return 0, 0
    return seen.st_dev, seen.st_ino


def build_zygote_spec(environment: EnvironmentSpec, *, masked: Iterable[str] = (), without: Iterable[str] = ()) -> str:
    """Return the JSON spec of the environment for its zygote; raise Misconfigured if the folder cannot be mounted."""
    site = find_site_folders()
    programs = {place for path in (*find_interpreter_folders(), *site) for place in (path, os.path.realpath(path))}
    # Paths below /usr are mounted with it.
    shown = {path: (path, False) for path in programs if not _is_within(path, _SYSTEM_PATH)}
    hidden = {place for path in masked for place in (os.path.normpath(path), os.path.realpath(path))}
    if environment.working_dir is not None:
        target, source = os.path.normpath(environment.working_dir), os.path.realpath(environment.working_dir)
        _check_working_dir(environment.working_dir, target, source)
        if environment.writable:
            own = programs | hidden | {_PACKAGE_PATH, os.path.realpath(_PACKAGE_PATH)}
            _check_writable_dir(environment.working_dir, (target, source), own)
        shown[target] = (source, environment.writable)
    spec = {
        "binds": [[source, target, writable] for target, (source, writable) in sorted(shown.items())],
        "masked": sorted(hidden),
        "python": environment.python,
        "modules": list(environment.modules),
        "allowed": list(environment.allowed),
        "without": sorted(without),
        "prefixes": site,
    }
    return json.dumps(spec)


def _check_writable_dir(folder: str, places: tuple[str, str], own: Iterable[str]) -> None:
    """Raise Misconfigured if the folder contains a path of the board itself, or is inside one.

    A read-only mount of that path is not enough: a tool could rename a folder above it and put another in its place.
    """
    for path in sorted(own):
        if any(_is_within(path, place) or _is_within(place, path) for place in places):
            raise Misconfigured(
                f"working_dir '{folder}' cannot be writable: it contains '{path}', which the board needs, or is "
                "inside it; give the tool a separate folder"
            )


def find_interpreter_folders() -> list[str]:
    """Return the folders of the interpreter and its standard library."""
    found = {sys.base_prefix, sys.base_exec_prefix, sys.prefix, sys.exec_prefix}
    return sorted(path for path in found if Path(path).is_dir() and path != "/")


def find_site_folders() -> list[str]:
    """Return the folders of installed libraries, in the order of sys.path."""
    names = ("site-packages", "dist-packages")
    return [path for path in dict.fromkeys(sys.path) if Path(path).name in names and Path(path).is_dir()]


def _check_working_dir(folder: str, *places: str) -> None:
    if not Path(folder).is_absolute():
        raise Misconfigured(f"working_dir '{folder}' must be an absolute path")
    for place in places:
        if place == "/":
            raise Misconfigured(f"working_dir '{folder}' is the whole file system; name the folder that is needed")
        if any(_is_within(place, own) for own in _PER_CALL_PATHS):
            raise Misconfigured(f"working_dir '{folder}' is in a part of the file system that each call has for itself")


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


_BOOTSTRAP_CODE = """\
import os, sys, types
package = types.ModuleType("pegboard")
package.__path__ = [sys.argv[1]]
sys.modules["pegboard"] = package
"""


def build_child_command(lines: str, *arguments: str) -> tuple[str, ...]:
    """Return the command that runs this code, which may import from `child`; its arguments start at sys.argv[2]."""
    return (sys.executable, "-I", "-S", "-B", "-c", _BOOTSTRAP_CODE + lines, _PACKAGE_PATH, *arguments)


def inherit_environment(names: Iterable[str] = ()) -> dict[str, str]:
    """Return these variables of the server's environment, and those that the interpreter may need to find libraries."""
    return {name: os.environ[name] for name in ("LD_LIBRARY_PATH", *names) if name in os.environ}
