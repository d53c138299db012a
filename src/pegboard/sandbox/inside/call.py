"""One call, as its supervisor and the process that it confines know it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pegboard.sandbox.inside.job import Job
from pegboard.sandbox.inside.place import Place


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for all calls of a zygote: the files that they may reach, the modules that their code may import.

    `without` are the abilities of the kernel that are left out; `baseline` is what the zygote itself takes of memory.
    """

    readable: tuple[str, ...]
    writable: tuple[str, ...]
    without: frozenset[str]
    allowed: tuple[str, ...]
    baseline: int


@dataclass(frozen=True, slots=True)
class Call:
    """A job and where it runs: its folder, and the port on which the server answers its requests, if there is one."""

    job: Job
    terms: Terms
    place: Place
    folder: str
    port: int | None

    def told(self) -> bytes:
        """The call in words, for the process that it is to run in."""
        return json.dumps({"job": self.job.told, "folder": self.folder, "port": self.port}).encode()

    @classmethod
    def read(cls, told: bytes, terms: Terms, place: Place) -> Call:
        """The call that was put into words."""
        words = json.loads(told)
        return cls(Job.read(words["job"]), terms, place, words["folder"], words["port"])
