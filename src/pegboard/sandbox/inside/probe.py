"""Tries what confines a call, each ability in a process of its own, and prints what works and why not.

Started as `python -I -S -B -c … PACKAGE HOUSE`, with a house of no more than the interpreter as JSON. It takes the very
steps that a call takes, so that it also finds out a kernel which has an ability and does not grant it here.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from pegboard.sandbox.inside import landlock, seccomp, syscalls
from pegboard.sandbox.inside.house import House, build
from pegboard.sandbox.inside.job import Bounds, Job
from pegboard.sandbox.inside.room import Room
from pegboard.sandbox.inside.steps import StepFailed

# What an administrator may have set, by the value that stands in the way.
_SETTINGS = {
    "kernel.unprivileged_userns_clone": "0",
    "kernel.apparmor_restrict_unprivileged_userns": "1",
    **{f"user.max_{kind}_namespaces": "0" for kind in ("user", "pid", "mnt", "ipc", "uts", "net")},
}
_CONTAINERS = ("/.dockerenv", "/run/.containerenv")


def main() -> None:
    """Print one JSON object: what works, and by ability why it does not."""
    print(json.dumps(probe(House.read(sys.argv[2]))))  # noqa: T201 -- what this program is for


def probe(house: House) -> dict[str, Any]:
    """What works, and by ability why it does not."""
    trials: dict[str, Callable[[], int]] = {
        "landlock": _try_landlock,
        "namespaces": partial(_try_namespaces, house),
        "seccomp": _try_seccomp,
    }
    tried = {name: _apart(os.fork, trial) for name, trial in trials.items()}
    reasons = {name: outcome for name, outcome in tried.items() if isinstance(outcome, str)}
    if "namespaces" in reasons:
        reasons["namespaces"] += _obstacles()
        reasons["proc"] = "it needs namespaces"
    elif not tried["namespaces"]:
        reasons["proc"] = "the kernel shows no new /proc where parts of the old one are hidden, as in most containers"
    return {
        "landlock": 0 if "landlock" in reasons else tried["landlock"],
        "namespaces": "namespaces" not in reasons,
        "seccomp": "seccomp" not in reasons,
        "proc": "proc" not in reasons,
        "reasons": reasons,
    }


def _try_landlock() -> int:
    """The version that confines."""
    version = landlock.abi()
    syscalls.forbid_new_privileges()
    landlock.confine(["/proc"], [], tcp_connect=[])
    try:
        os.close(os.open("/", os.O_RDONLY))
    except PermissionError:
        return version
    raise StepFailed("a process confined with it could read the root folder all the same")


def _try_seccomp() -> int:
    syscalls.forbid_new_privileges()
    seccomp.confine(network=False)
    try:
        socket.socket().close()
    except PermissionError:
        return 1
    raise StepFailed("a process confined with it could make a socket all the same")


def _try_namespaces(house: House) -> int:
    """1 where a call has a /proc of its own too."""
    build(house)
    room = Room(house)
    room.open(network=True)
    room.listen().close()
    room.lead(room.first)
    outcome = _apart(os.fork, lambda: _follow(room))
    if isinstance(outcome, str):
        raise StepFailed(outcome)
    room.hide()
    room.furnish(Job(False, 1.0, Bounds(0, 1, 2**20, 0, 0), {}, None, True, False, b"", {}, b""))
    room.close(None)
    return outcome


def _follow(room: Room) -> int:
    room.follow(room.first, network=True)
    return int(Path("/proc/self/stat").exists())


def _apart(fork: Callable[[], int], trial: Callable[[], int]) -> int | str:
    """What a trial gives in a process of its own, or the sentence why it failed."""
    read, write = os.pipe()
    try:
        child = fork()
    except OSError as error:
        os.close(read)
        os.close(write)
        return f"starting a process for it: {error.strerror}"
    if child == 0:
        _report(trial, write)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        return f"the process that tried it was ended by {signal.Signals(-status).name}"
    outcome: int | str = json.loads(said)
    return outcome


def _report(trial: Callable[[], int], pipe: int) -> NoReturn:
    outcome: int | str = "the process that tried it stopped halfway"
    try:
        outcome = trial()
    except OSError as error:
        outcome = error.strerror or str(error)
    except Exception as error:
        outcome = str(error) if isinstance(error, StepFailed) else f"{type(error).__name__}: {error}"
    finally:
        try:
            os.write(pipe, json.dumps(outcome).encode())
        finally:
            os._exit(0)


def _obstacles() -> str:
    found = [f"{name} is {value}" for name, value in _SETTINGS.items() if _setting(name) == value]
    if any(Path(mark).exists() for mark in _CONTAINERS):
        found.append("this is a container")
    return f" ({', '.join(found)})" if found else ""


def _setting(name: str) -> str:
    try:
        return Path("/proc/sys", *name.split(".")).read_text().strip()
    except OSError:
        return ""
