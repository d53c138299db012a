"""Limits and deadline of a confined call, the kernel features that confine it, and its refusal if it did not run."""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import dataclass

from pegboard.model.call_errors import Unavailable

# Features that the kernel must have, except those that the board's owner disabled.
KERNEL_FEATURES = ("landlock", "namespaces", "seccomp")


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """Limits of one call, for all of its processes together."""

    memory: int
    processes: int
    disk: int
    output: int


_RETRY_AFTER_MS = 1000


def timeout_at(deadline: float) -> asyncio.Timeout:
    """Return a timeout that ends at this time of time.monotonic(), or never if it is infinite."""
    return asyncio.timeout(None if deadline == math.inf else deadline - time.monotonic())


def make_unavailable(message: str) -> Unavailable:
    """Return the refusal of a call that did not run and may be retried."""
    refusal = Unavailable(message, retry_after_ms=_RETRY_AFTER_MS)
    refusal.did_run = False
    return refusal
