"""How a process that has libraries copies itself."""

from __future__ import annotations

import os
import posix
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pegboard.sandbox.inside import syscalls

# What these want after a fork is for processes with threads, or each call does it for itself.
_KNOWN = frozenset({"asyncio.events", "concurrent.futures.thread", "logging", "random", "threading"})


@contextmanager
def noting_wishes() -> Iterator[set[str]]:
    """The modules that ask meanwhile to be told of forks."""
    register, wishes = os.register_at_fork, set[str]()

    def noting(**handlers: Any) -> None:
        wishes.add(sys._getframe(1).f_globals.get("__name__", ""))
        register(**handlers)

    os.register_at_fork = posix.register_at_fork = noting
    try:
        yield wishes
    finally:
        os.register_at_fork = posix.register_at_fork = register


def fork_for(wishes: set[str]) -> Callable[[], int]:
    """The C library's fork, or Python's own where a library has threads or wishes that nothing else fulfils.

    After its own Python writes to hundreds of pages, in parent and child, which the kernel has to copy then.
    """
    is_alone = len(os.listdir("/proc/self/task")) == 1
    return syscalls.fork if is_alone and wishes <= _KNOWN else os.fork
