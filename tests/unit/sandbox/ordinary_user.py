"""Run as root with a folder and a command: executes the command as an ordinary user, with the interpreter in reach.

If the interpreter or the folder is in a home that only its owner can enter, this home is covered, for this process
only, by an empty one with only these two.
"""

from __future__ import annotations

import os
import stat
import sys
import types
from pathlib import Path

ORDINARY_USER = 65_534


def show(paths: list[str]) -> None:
    """Make these paths readable, whatever folders they are in."""
    from pegboard.sandbox.child import syscalls

    syscalls.unshare(syscalls.NEWNS)
    syscalls.mount("none", "/", None, syscalls.MS_REC | syscalls.MS_PRIVATE)
    opened = {path: os.open(path, os.O_PATH) for path in paths}
    for path in paths:
        closed = [parent for parent in reversed(Path(path).parents) if not parent.stat().st_mode & stat.S_IXOTH]
        if closed:
            syscalls.mount("tmpfs", str(closed[0]), "tmpfs", 0, "mode=755")
        if not Path(path).exists():
            Path(path).mkdir(parents=True)
            syscalls.mount(f"/proc/self/fd/{opened[path]}", path, None, syscalls.MS_BIND | syscalls.MS_REC)


def main() -> None:
    """Become an ordinary user and run the command."""
    package = types.ModuleType("pegboard")
    package.__path__ = [sys.argv[1]]
    sys.modules["pegboard"] = package
    os.umask(0o022)
    show([sys.base_prefix, str(Path(sys.executable).parents[1]), str(Path(sys.argv[1]))])
    os.setgroups([])
    os.setresgid(ORDINARY_USER, ORDINARY_USER, ORDINARY_USER)
    os.setresuid(ORDINARY_USER, ORDINARY_USER, ORDINARY_USER)
    os.execv(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
