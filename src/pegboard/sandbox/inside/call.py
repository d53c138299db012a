"""One call, as its supervisor and the process that it confines know it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from pegboard.sandbox.inside.job import Job

Piece = Callable[[], Iterator[Any]]


class Practised(NamedTuple):
    """Pieces of work that calls are likely to do, and less likely, each in steps."""

    usual: tuple[Piece, ...]
    less_usual: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for all calls of a zygote.

    The files that they may reach, the abilities of the kernel that are left out, what is rehearsed with the libraries
    that are imported already, and what the zygote itself takes of memory.
    """

    readable: tuple[str, ...]
    writable: tuple[str, ...]
    without: frozenset[str]
    practised: Practised | None
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
