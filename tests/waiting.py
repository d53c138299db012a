"""Waiting for something that another task, thread or process does, and never for long."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

T = TypeVar("T")


async def until(look: Callable[[], Awaitable[T]], seconds: float = 30.0) -> T:
    """The first thing seen that is not empty, false or None; TimeoutError if none is within that time."""
    with anyio.fail_after(seconds):
        while not (seen := await look()):  # noqa: ASYNC110 -- what is waited for cannot set an event of ours
            await anyio.sleep(0.01)
    return seen
