"""Tools that start trees of processes, a server to stop while they run, and a search for what is left."""

from __future__ import annotations

import os
import secrets
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.board_surfaces import KEY
from tests.fork_server import Forked, fork
from tests.integration.confined_board import python, shell
from tests.mcp_servers.processes import descendants, is_running
from tests.surfaces.cli.run_program import Program
from tests.waiting import until

WAIT = 60

# One in the foreground, two in the background, and two orphans in another process group.
_SCRIPT = """
test -d "$PWD" && echo begun >> log 2> /dev/null
sleep {0} & sleep {0} &
(set -m; sh -c 'sleep {0} & sleep {0}' > /dev/null 2>&1 &)
sleep {0}
"""
_CODE = """
import os, subprocess

def run():
    print("begun", flush=True)
    subprocess.Popen(["sleep", "{0}"])
    subprocess.Popen(["sleep", "{0}"], process_group=0)
    if os.fork() == 0:
        os.setpgid(0, 0)
        for _ in range(2):
            if os.fork() == 0:
                os.execvp("sleep", ["sleep", "{0}"])
        os._exit(0)
    subprocess.run(["sleep", "{0}"])
"""
SLEEPERS = 5
_LOOKS = 30


class Tree:
    """A tool whose call starts a tree of processes that would sleep for hours."""

    def __init__(self, kind: str, **more: Any) -> None:
        self._mark = f"{10_000 + secrets.randbelow(10**6)}.{secrets.randbelow(10**9):09}"
        shape = _CODE if kind == "python" else _SCRIPT
        text = shape.replace("{0}", self._mark)
        whole = {"name": "tree", "timeout": 300, **more}
        self.definition = python(text, **whole) if kind == "python" else shell(text, shell=True, **whole)

    def running(self) -> set[int]:
        """Return the processes that sleep now."""
        return processes_of("sleep", self._mark)

    async def grown(self) -> set[int]:
        """Return the processes as soon as all of them run."""

        async def all_there() -> set[int]:
            found = self.running()
            return found if len(found) == SLEEPERS else set()

        return await until(all_there, 20)

    async def gone(self, seconds: float = 5.0) -> None:
        """Wait until all of the processes have ended."""

        async def none_there() -> bool:
            return not self.running()

        await until(none_there, seconds)


def processes_of(*argv: str) -> set[int]:
    """The running processes with these arguments, their program's name first."""
    found = set()
    wanted = b"\0".join(word.encode() for word in argv) + b"\0"
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdecimal() and (entry / "cmdline").read_bytes() == wanted and is_running(int(entry.name)):
                found.add(int(entry.name))
    return found


async def steady(count: Callable[[], int]) -> int:
    """Return the number when it has not changed for some time: processes for the next call start by themselves."""
    seen: list[int] = []

    async def the_same() -> bool:
        seen.append(count())
        return len(seen) > _LOOKS and len(set(seen[-_LOOKS:])) == 1

    await until(the_same, 20)
    return seen[-1]


async def until_ended(pids: set[int], seconds: float = 5.0) -> None:
    """Wait until none of these processes runs."""

    async def ended() -> bool:
        return not any(is_running(pid) for pid in pids)

    await until(ended, seconds)


def states(ancestor: int) -> dict[int, tuple[int, str]]:
    """Return the parent and the state of every descendant of this process, zombies included."""
    seen: dict[int, tuple[int, str]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            except (OSError, ValueError):
                continue
            seen[int(entry.name)] = (int(parent), state)
    found = {ancestor}
    while more := {pid for pid, (parent, _) in seen.items() if parent in found} - found:
        found |= more
    return {pid: seen[pid] for pid in found if pid != ancestor}


def count(folder: str) -> int:
    """How many entries a folder has."""
    return len(list(Path(folder).iterdir()))


def mounts(pid: int) -> int:
    """How many mounts a process sees."""
    return len(Path(f"/proc/{pid}/mountinfo").read_text().splitlines())


def resident(pid: int) -> int:
    """How many bytes of a process are in memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Server:
    """A server process, as `pegboard serve` runs it; its log goes to a file."""

    def __init__(self, process: Forked, url: str) -> None:
        self.process = process
        self.url = url

    @property
    def family(self) -> set[int]:
        """Return the process and all its descendants."""
        return {self.process.pid} | descendants(self.process.pid)

    def kill(self) -> None:
        """Kill the process with SIGKILL."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(WAIT)

    def stop(self) -> None:
        """Ask the server to stop, and allow it some time."""
        self.process.send_signal(signal.SIGTERM)


@contextmanager
def server(home: Path, database: str, log: Path, **environment: str) -> Iterator[Server]:
    """A server with its state in this folder; it is stopped at the end of the context, if not before."""
    settings = {"PEGBOARD_HOME": str(home), "PEGBOARD_DATABASE_URL": database, "PEGBOARD_ADMIN_KEY": KEY}
    program = Program({**settings, "PEGBOARD_LOG_LEVEL": "debug", "PYTHONUNBUFFERED": "1", **environment})
    with (
        log.open("ab") as errors,
        Path(os.devnull).open("rb") as nothing,
        fork(
            "pegboard",
            *("serve", "--port", "0"),
            environment=program.full_environment(),
            stdin=nothing.fileno(),
            stderr=errors.fileno(),
        ) as process,
    ):
        late = threading.Timer(WAIT, process.kill)
        late.start()
        try:
            address = next((line.decode() for line in process.stdout if b"serving at " in line), None)
            late.cancel()
            assert address is not None, log.read_text()
            yield Server(process, address.partition("serving at ")[2].split()[0])
        finally:
            late.cancel()
            process.kill()
