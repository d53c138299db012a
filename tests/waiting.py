"""Wait, with a timeout, for the effect of another task, thread or process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

T = TypeVar("T")


async def until(look: Callable[[], Awaitable[T]], seconds: float = 30.0) -> T:
    """Poll `look` and return its first truthy result; raise TimeoutError after this many seconds."""
    with anyio.fail_after(seconds):
        while not (seen := await look()):  # noqa: ASYNC110 -- what is waited for cannot set an event of ours
            await anyio.sleep(0.01)
    return seen
