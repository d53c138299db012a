"""What a confined call may take, and which abilities of the kernel confine it."""

from __future__ import annotations

from dataclasses import dataclass

# What the kernel must be able to do, unless the board's owner names what may be missing.
ABILITIES = ("landlock", "namespaces", "seccomp")


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one call, all of its processes together."""

    memory: int = 512 * 2**20
    processes: int = 64
    disk: int = 256 * 2**20
    output: int = 2**20
