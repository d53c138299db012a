"""The user that confined processes run as, and the id maps of their user namespaces."""

from __future__ import annotations

import os
from collections.abc import Iterable

from pegboard.sandbox.child import syscalls

# A user id without files or processes: if the board runs as root, tools run as this user.
TOOL_UID = 2_000_000_000
# Used if that id is not mapped, as in a container with few user ids.
_FALLBACK_UID = 65_534
_CAP_DAC_READ_SEARCH = 2


def find_tool_uid(number: int = 0) -> int | None:
    """Return the user to switch to if this process is root, distinct per number if possible; None if there is none."""
    if os.geteuid() != 0:
        return None
    ranges = [[int(word) for word in line.split()] for line in syscalls.read_file("/proc/self/uid_map").splitlines()]
    for user in (TOOL_UID + number, _FALLBACK_UID):
        if any(first <= user < first + count for first, _outside, count in ranges):
            return user
    return None


def switch_user(user: int, *, reading_anything: bool = False) -> None:
    """Switch to this user without groups and capabilities, or with only the capability to read any file."""
    os.setgroups([])
    os.setresgid(user, user, user)
    if reading_anything:
        syscalls.keep_capabilities()
    os.setresuid(user, user, user)
    syscalls.drop_capabilities(*[_CAP_DAC_READ_SEARCH] if reading_anything else [])
    # A change of user clears the dumpable flag, which is needed to write the id maps of a namespace.
    syscalls.set_dumpable(True)


def can_read_folders(user: int, folders: Iterable[str]) -> bool:
    """Return True if that user may read all these folders."""
    child = os.fork()
    if child == 0:
        try:
            switch_user(user)
            os._exit(0 if all(os.access(folder, os.R_OK | os.X_OK) for folder in folders) else 1)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def write_id_maps(user: int, group: int) -> None:
    """Map one user and one group in the user namespace that this process has just entered."""
    syscalls.write_file("/proc/self/setgroups", "deny")
    syscalls.write_file("/proc/self/uid_map", f"{user} {user} 1")
    syscalls.write_file("/proc/self/gid_map", f"{group} {group} 1")


def count_threads(user: int) -> int:
    """Return the number of threads of that user, in all visible processes."""
    found = 0
    for process in os.listdir("/proc"):
        try:
            if process.isdecimal() and os.stat(f"/proc/{process}").st_uid == user:
                found += os.stat(f"/proc/{process}/task").st_nlink - 2
        except OSError:
            continue  # the process has ended
    return found
