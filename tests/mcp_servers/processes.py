"""The running processes and their descent."""

from __future__ import annotations

import os
from pathlib import Path


def is_running(pid: int) -> bool:
    """Return True if the process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


def descendants(of: int | None = None) -> set[int]:
    """Return the running descendants of this process; of the calling process by default."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and is_running(int(entry.name)):
            try:
                name, _, rest = (entry / "stat").read_bytes().rpartition(b")")
            except OSError:
                continue
            if not name.endswith(b"(postgres"):  # which starts and ends workers at any time
                parents[int(entry.name)] = int(rest.split()[1])
    found = {of or os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {of or os.getpid()}


def matching(word: str) -> set[int]:
    """The running processes that were started with this word among their arguments."""
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdecimal() else []
        except OSError:
            continue
        if word.encode() in words and is_running(int(entry.name)):
            found.add(int(entry.name))
    return found
