"""One call, as its supervisor and the process that it confines know it."""

from __future__ import annotations

import json
import resource
from json.encoder import encode_basestring_ascii
from typing import NamedTuple

from pegboard.sandbox.inside import house as houses
from pegboard.sandbox.inside import syscalls
from pegboard.sandbox.inside.house import House
from pegboard.sandbox.inside.job import Job


class Terms(NamedTuple):
    """What holds for all calls of a zygote.

    The files that they may reach, the abilities of the kernel that are left out, and what the process that they are
    copies of takes of memory itself.
    """

    readable: tuple[str, ...]
    writable: tuple[str, ...]
    without: frozenset[str]
    baseline: int

    @classmethod
    def of(cls, house: House) -> Terms:
        """What holds in this house for copies of this process as it is now."""
        return cls(
            readable=houses.readable(house),
            writable=houses.writable(house),
            without=house.without,
            baseline=int(syscalls.read("/proc/self/statm").split()[5]) * resource.getpagesize(),
        )


class Call(NamedTuple):
    """A job and the folder it works in."""

    job: Job
    folder: str

    def told(self) -> bytes:
        """The call in words, for the process that it is to run in."""
        return encode_basestring_ascii(self.folder).encode() + b"\n" + self.job.text

    @classmethod
    def read(cls, told: bytes) -> Call:
        """The call that was put into words."""
        folder, _, text = told.partition(b"\n")
        return cls(Job.read(text), json.loads(folder))
