"""One call, as its supervisor and the process that it confines know it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pegboard.sandbox.inside.job import Job


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for all calls of a zygote.

    The files that they may reach, the abilities of the kernel that are left out, the modules that are imported already
    and those that code may import, and what the zygote itself takes of memory.
    """

    readable: tuple[str, ...]
    writable: tuple[str, ...]
    without: frozenset[str]
    modules: tuple[str, ...]
    allowed: tuple[str, ...]
    baseline: int


@dataclass(frozen=True, slots=True)
class Call:
    """A job and the folder it works in."""

    job: Job
    folder: str

    def told(self) -> bytes:
        """The call in words, for the process that it is to run in."""
        return json.dumps(self.folder).encode() + b"\n" + self.job.text

    @classmethod
    def read(cls, told: bytes) -> Call:
        """The call that was put into words."""
        folder, _, text = told.partition(b"\n")
        return cls(Job.read(text), json.loads(folder))
