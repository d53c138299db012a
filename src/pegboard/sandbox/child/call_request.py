"""One call, in the form that is passed from its supervisor to the confined process."""

from __future__ import annotations

import json
import resource
from json.encoder import encode_basestring_ascii
from typing import NamedTuple

from pegboard.sandbox.child import rootfs as houses
from pegboard.sandbox.child import syscalls
from pegboard.sandbox.child.job import Job
from pegboard.sandbox.child.rootfs import ZygoteSpec


class ConfinementRules(NamedTuple):
    """The rules for all calls of a zygote.

    The files that they may access, the kernel features that are disabled, and the memory of the process that they are
    forked from.
    """

    readable: tuple[str, ...]
    writable: tuple[str, ...]
    without: frozenset[str]
    baseline: int

    @classmethod
    def of(cls, house: ZygoteSpec) -> ConfinementRules:
        """Return the rules for processes that are forked from this one in its current state."""
        return cls(
            readable=houses.list_readable(house),
            writable=houses.list_writable(house),
            without=house.without,
            baseline=int(syscalls.read_file("/proc/self/statm").split()[5]) * resource.getpagesize(),
        )


class ConfinedCall(NamedTuple):
    """A job and its working folder."""

    job: Job
    folder: str

    def told(self) -> bytes:
        """Encode the call for the confined process."""
        return encode_basestring_ascii(self.folder).encode() + b"\n" + self.job.text

    @classmethod
    def read(cls, told: bytes) -> ConfinedCall:
        """Decode a call that `told()` encoded."""
        folder, _, text = told.partition(b"\n")
        return cls(Job.read(text), json.loads(folder))
