"""Helpers for tests of real confined processes: their libraries, and a search for what they leave."""

from __future__ import annotations

import os
import re
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from pegboard.http_client.address_policy import AllowList
from pegboard.http_client.guarded_client import GuardedClient
from pegboard.sandbox.call_channel import CallChannel
from pegboard.sandbox.limits import SandboxLimits
from pegboard.sandbox.sandbox import EnvironmentSpec, Sandbox, SandboxJob
from tests.waiting import until

LIMITS = SandboxLimits(memory=512 * 2**20, processes=64, disk=256 * 2**20, output=2**20)
PLAIN = EnvironmentSpec()


class SiteFolder:
    """Installed libraries, for this test."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder / "site-packages"
        self._folder.mkdir(mode=0o755)
        monkeypatch.syspath_prepend(str(self._folder))

    def add(self, code: str) -> str:
        """Add a library whose module has this code, and return its name."""
        name = "shelved_" + secrets.token_hex(6)
        (self._folder / f"{name}.py").write_text(code)
        return name


def children_now() -> set[int]:
    """Return the child processes of this process, zombies included."""
    own = os.getpid()
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parent = int((entry / "stat").read_bytes().rpartition(b")")[2].split()[1])
            except (OSError, ValueError):
                continue
            if parent == own:
                found.add(int(entry.name))
    return found


def children_of(pid: int) -> list[int]:
    """Return the existing child processes of another process, by its main thread."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def descendants_of(pid: int) -> list[int]:
    """Return the child processes of another process, and theirs."""
    return [below for child in children_of(pid) for below in (child, *descendants_of(child))]


def is_closed(line: CallChannel) -> bool:
    """Return True if the peer has disconnected, or was given up."""
    closed: list[bool] = []
    line.on_close(lambda: closed.append(True))
    return bool(closed)


def descriptors() -> int:
    """How many descriptors this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def listed(folder: Path) -> list[str]:
    """Return the names of the files in a folder."""
    return sorted(entry.name for entry in folder.iterdir())


def is_process(pid: int) -> bool:
    """Return True if the process exists."""
    return Path(f"/proc/{pid}").exists()


def make_sandbox(
    children: int = 4, zygotes: int = 2, without: tuple[str, ...] = (), limits: SandboxLimits = LIMITS, allow: str = ""
) -> Sandbox:
    """Return a new sandbox."""
    outbound = GuardedClient(AllowList.read(allow), connect_seconds=10)
    return Sandbox(limits, children=children, zygotes=zygotes, without=without, masked=(), outbound=outbound)


@asynccontextmanager
async def open_sandbox(
    children: int = 4, zygotes: int = 2, without: tuple[str, ...] = (), limits: SandboxLimits = LIMITS, allow: str = ""
) -> AsyncIterator[Sandbox]:
    """A sandbox; after it is closed, none of its processes and descriptors may be left."""
    box = make_sandbox(children, zygotes, without, limits, allow)
    assert (await box.abilities()).missing(without) == []
    processes, opened = children_now(), descriptors()
    try:
        yield box
    finally:
        with anyio.fail_after(20):
            await box.close()
    assert children_now() == processes
    assert descriptors() == opened


def command(
    *argv: str, seconds: float = 20.0, environment: EnvironmentSpec = PLAIN, network: bool = False, **payload: Any
) -> SandboxJob:
    """Return a job that runs a command in its work folder."""
    received = {"kind": "exec", "env": {}, "argv": list(argv), "cwd": ".", "stdin": ""} | payload
    return SandboxJob(environment, received, seconds, 2**20, network)


def script(text: str, **more: Any) -> SandboxJob:
    """A job that runs some lines of shell."""
    return command("sh", "-c", text, **more)


def later(seconds: float = 30.0) -> float:
    """A deadline."""
    return time.monotonic() + seconds


def processes_of(mark: str, start: str = "") -> set[int]:
    """The processes that were started with this among their arguments, which begin with `start`."""
    found = set()
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            line = (entry / "cmdline").read_bytes() if entry.name.isdecimal() else b""
            if mark.encode() in line and line.startswith(start.encode()):
                found.add(int(entry.name))
    return found


async def until_running(mark: str) -> None:
    """Wait until the command that sleeps for so long is there."""

    async def look() -> set[int]:
        return processes_of(mark, "sleep")

    await until(look)


async def until_over(mark: str) -> None:
    """Wait until there are no such processes."""

    async def look() -> bool:
        return not processes_of(mark)

    await until(look)


async def until_idle(box: Sandbox) -> None:
    """Wait until no call has a slot, and nothing is left of any call."""

    async def look() -> bool:
        return box.stats().running == box.stats().open == 0

    await until(look)


def is_pid1(pid: int) -> bool:
    """Return True if a process is pid 1 of its namespace, which only waits."""
    try:
        return re.search(r"^NSpid:.*\t1$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE) is not None
    except OSError:
        return False
