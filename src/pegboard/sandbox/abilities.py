"""What this machine's kernel can do to confine a call, found out by trying it."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from pegboard.sandbox import booting
from pegboard.sandbox.houses import House, plan
from pegboard.sandbox.limits import ABILITIES

PROBE_SECONDS = 10.0

_LINES = "from pegboard.sandbox.inside.probe import main\nmain()\n"
_MOST_SAID = 600
# What a machine that is only busy says.
_BUSY = (errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM)

_NEEDS = {
    "landlock": "It needs Linux 5.13 or later with 'landlock' among its security modules (lsm= on the kernel's command "
    "line), and in a container a seccomp profile that lets it through",
    "namespaces": "They need user.max_user_namespaces above 0, kernel.unprivileged_userns_clone=1 and "
    "kernel.apparmor_restrict_unprivileged_userns=0 where sysctl has these, and in a container profiles that let "
    "unshare, mount and pivot_root through (--security-opt seccomp=unconfined --security-opt apparmor=unconfined); a "
    "board that runs as root needs the capabilities SETUID and SETGID, or better runs as an ordinary user",
    "seccomp": "They need a 64-bit Linux on x86_64 or aarch64 with CONFIG_SECCOMP_FILTER",
}
_TITLES = {"landlock": "Landlock", "namespaces": "Namespaces", "seccomp": "Filters of system calls (seccomp)"}


@dataclass(frozen=True)
class Abilities:
    """What works here: the version of Landlock (0 for none), namespaces, seccomp, and a /proc of each call's own.

    `reasons` says by the fields' names why something does not. Without `proc`, memory is limited for each process of a
    call, not for all of them together. Where `untried` says why it could not be tried, nothing is known of any.
    """

    landlock: int
    namespaces: bool
    seccomp: bool
    proc: bool
    reasons: Mapping[str, str] = field(default_factory=dict)
    untried: str | None = None

    def missing(self, without: Iterable[str]) -> list[str]:
        """A sentence for each ability that is missing here and not named in `without`: why, and the way out."""
        given_up = set(without)
        if self.untried is not None:
            why = f"could not be tried here: {self.untried}. The machine is too busy; try again"
            return [f"{_TITLES[name]} {why}" for name in ABILITIES if name not in given_up]
        return [
            f"{_TITLES[name]} cannot be used here: {self.reasons.get(name, 'the kernel refuses')}. {_NEEDS[name]}. To "
            f"run python and shell tools without, add '{name}' to PEGBOARD_SANDBOX_WITHOUT."
            for name in ABILITIES
            if not getattr(self, name) and name not in given_up
        ]


def _none(reason: str) -> Abilities:
    return Abilities(0, False, False, False, dict.fromkeys((*ABILITIES, "proc"), reason))


def _untried(reason: str) -> Abilities:
    return Abilities(0, False, False, False, dict.fromkeys((*ABILITIES, "proc"), reason), reason)


async def detect(seconds: float = PROBE_SECONDS) -> Abilities:
    """What this machine can do; where that could not be tried within the time, it says so."""
    if sys.platform != "linux":
        return _none(f"the system is {sys.platform}, not Linux")
    try:
        process = await asyncio.create_subprocess_exec(
            *booting.program(_LINES, plan(House())),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=booting.inherited(),
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        tell = _untried if error.errno in _BUSY else _none
        return tell(f"the program that tries it could not be started: {error.strerror}")
    try:
        said, complaint = await asyncio.wait_for(process.communicate(), seconds)
    except TimeoutError:
        return _untried(f"the program that tries it did not end within {seconds:g} s")
    finally:
        if process.returncode is None:
            # Its session is its own: the processes that it tries things in go too.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if process.returncode == -signal.SIGKILL:
        return _untried("the program that tries it was killed from outside, maybe for memory")
    return _read(said, complaint)


def _read(said: bytes, complaint: bytes) -> Abilities:
    try:
        return Abilities(**json.loads(said))
    except (ValueError, TypeError):
        why = complaint.decode("utf-8", "replace").strip().rpartition("\n")[2][:_MOST_SAID]
        return _none(f"the program that tries it failed: {why or 'it said nothing'}")
