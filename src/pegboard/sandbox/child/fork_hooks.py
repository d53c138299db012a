"""Chooses how a process that has imported libraries is forked."""

from __future__ import annotations

import os
import posix
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pegboard.sandbox.child import syscalls

# The fork handlers of these modules are for processes with threads, or each call does the same itself.
_KNOWN = frozenset({"asyncio.events", "concurrent.futures.thread", "logging", "random", "threading"})


@contextmanager
def noting_wishes() -> Iterator[set[str]]:
    """Collect the modules that call os.register_at_fork inside the block."""
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
    """Return the fork of the C library, or os.fork if a library has threads or an unknown fork handler.

    After os.fork, Python writes to hundreds of memory pages in parent and child, which the kernel then has to copy.
    """
    is_alone = len(os.listdir("/proc/self/task")) == 1
    return syscalls.fork if is_alone and wishes <= _KNOWN else os.fork
