"""The user that confined processes run as, and the user namespaces that they live in."""

from __future__ import annotations

import os
from collections.abc import Iterable

from pegboard.sandbox.inside import syscalls

# Nobody's files and nobody's processes: where the board runs as root, tools run as this user.
OTHER_USER = 2_000_000_000
# Where that one does not exist, as in a container with few users, this one may.
_FALLBACK_USER = 65_534
_READ_ANYTHING = 2


def other_user(number: int = 0) -> int | None:
    """A user to become where this process is root, one for each number; None where it is not, or knows no other."""
    if os.geteuid() != 0:
        return None
    ranges = [[int(word) for word in line.split()] for line in syscalls.read("/proc/self/uid_map").splitlines()]
    for user in (OTHER_USER + number, _FALLBACK_USER):
        if any(first <= user < first + count for first, _outside, count in ranges):
            return user
    return None


def become(user: int, *, reading_anything: bool = False) -> None:
    """Give up every group, this process's user and, with it, every capability, or all but that to read any file."""
    os.setgroups([])
    os.setresgid(user, user, user)
    if reading_anything:
        syscalls.keep_capabilities()
    os.setresuid(user, user, user)
    syscalls.drop_capabilities(*[_READ_ANYTHING] if reading_anything else [])
    # A change of user takes this away, and with it the right to name the users of one's own namespace.
    syscalls.set_dumpable(True)


def can_reach(user: int, folders: Iterable[str]) -> bool:
    """Whether that user may read all these folders."""
    child = os.fork()
    if child == 0:
        try:
            become(user)
            os._exit(0 if all(os.access(folder, os.R_OK | os.X_OK) for folder in folders) else 1)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def map_users(user: int, group: int) -> None:
    """Name the one user and the one group of the user namespace that this process has just been put into."""
    syscalls.write("/proc/self/setgroups", "deny")
    syscalls.write("/proc/self/uid_map", f"{user} {user} 1")
    syscalls.write("/proc/self/gid_map", f"{group} {group} 1")


def tasks(user: int) -> int:
    """How many threads that user has, in all processes that can be seen."""
    found = 0
    for process in os.listdir("/proc"):
        try:
            if process.isdecimal() and os.stat(f"/proc/{process}").st_uid == user:
                found += os.stat(f"/proc/{process}/task").st_nlink - 2
        except OSError:
            continue  # it has ended
    return found
