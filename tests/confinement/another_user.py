"""Run as root: executes a command as an ordinary user without rights or groups, who can reach some folders.

If one of these folders is in a home that only its owner can enter, this home is covered, for this process and its
children only, by an empty one with only these folders.

    python another_user.py FOLDER… -- COMMAND…
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

from pegboard.sandbox.child import syscalls

USER = 65_534


def show(folders: Iterable[Path]) -> None:
    """Make these folders accessible to every user, whatever folders they are in."""
    syscalls.unshare(syscalls.NEWNS)
    syscalls.mount("none", "/", None, syscalls.MS_REC | syscalls.MS_PRIVATE)
    opened = {folder: os.open(folder, os.O_PATH) for folder in folders}
    for closed in {first for folder in opened if (first := first_closed(folder)) is not None}:
        syscalls.mount("tmpfs", str(closed), "tmpfs", syscalls.MS_NOSUID | syscalls.MS_NODEV, "mode=755")
    # Outer folders first: a folder within another mounted one is already visible.
    for folder in sorted(opened, key=lambda folder: folder.parts):
        if not folder.exists():
            folder.mkdir(parents=True)
            syscalls.mount(f"/proc/self/fd/{opened[folder]}", str(folder), None, syscalls.MS_BIND | syscalls.MS_REC)


def first_closed(folder: Path) -> Path | None:
    """Return the outermost parent folder that other users cannot enter, or None."""
    return next((parent for parent in reversed(folder.parents) if not parent.stat().st_mode & stat.S_IXOTH), None)


def become(user: int) -> None:
    """Switch to this user, without any rights of root."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def main() -> None:
    """Mount the folders of the arguments and execute the command as an ordinary user."""
    split = sys.argv.index("--")
    folders, command = sys.argv[1:split], sys.argv[split + 1 :]
    os.umask(0o022)
    show(map(Path, folders))
    become(USER)
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
