"""A board to attack: runs attacks on it, and checks its state after each of them."""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import sys
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.http_client.guarded_client import Resolver
from pegboard.model.call import ToolResult
from pegboard.testing import NoSettings
from tests.unit.sandbox.confined_tools import is_pid1
from tests.waiting import until

MEBIBYTE = 2**20
# The output of an attack is checked whatever its exit code is.
EVERY_EXIT_CODE = list(range(256))
# Small, so that attacks reach them soon and do not affect the machine.
LIMITS: dict[str, Any] = {
    "sandbox_memory": 128 * MEBIBYTE,
    "sandbox_processes": 16,
    "sandbox_disk": 16 * MEBIBYTE,
    "sandbox_output": 65536,
    "max_result_bytes": 65536,
    # A place for each of the attacks that are made at once.
    "sandbox_children": 40,
}

# How often a call is made that the busy machine does not start by its deadline.
MOST_STARTS = 30

# Everything that an earlier call could have left for the call that runs this; it must be the same each time.
PROBE = """
import builtins, gc, json, os, resource, signal, sys, threading, time

def around(place):
    return [os.listdir(place), os.stat(place).st_mode, os.listxattr(place), os.statvfs(place)[:10]]

def look():
    own = ("builtins", "io", "_sitebuiltins")
    patched = [name for name, value in vars(builtins).items()
               if callable(value) and getattr(value, "__module__", "builtins") not in own]
    patched += [f"{module.__name__}.{name}" for module in (json, os, sys, time) for name, value in vars(module).items()
                if getattr(value, "__module__", None) == "tool" and value is not look]
    umask = os.umask(0o022)
    return {
        "patched": patched,
        "names": sorted(set(dir(builtins)) - {"_"}),
        "environment": dict(os.environ),
        "places": [os.getcwd(), *map(around, (".", "/tmp", "/dev/shm"))],
        "handlers": [str(signal.getsignal(number)) for number in sorted(signal.valid_signals())],
        "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        # That of processor time follows from the time that was left when the call began, that of memory from what the
        # zygote takes itself, which is not the same to the byte for the next one.
        "limits": [resource.getrlimit(getattr(resource, name)) for name in dir(resource)
                   if name.startswith("RLIMIT_") and name not in ("RLIMIT_CPU", "RLIMIT_DATA")],
        "memory": resource.getrlimit(resource.RLIMIT_DATA),
        "interpreter": [sys.path, sys.argv, len(sys.meta_path), len(sys.path_hooks), sys.getrecursionlimit(),
                        sys.gettrace() is None, sys.getswitchinterval(), gc.isenabled(), len(gc.callbacks), umask],
        "process": [threading.active_count(), os.nice(0), os.getuid(), os.getgid(), os.getgroups(), os.getpgid(0) > 0],
        "sums": [1 + 1, len("ab"), json.dumps([1]), sum(range(5)), str(256), sorted([2, 1]), True is not False],
    }
"""
# Reports whether it finds anything that another call left; an interpreter below /tmp is visible there.
SHOWN = {Path(path).parts[2] for path in (sys.prefix, sys.base_prefix) if path.startswith("/tmp/")}
LOOK_AROUND = (
    f"echo well; ls -A . /tmp /dev/shm | grep -v -x -e '.*:' -e '' {' '.join(f'-e {n}' for n in SHOWN)}; exit 0"
)
OWN_TOOLS: tuple[dict[str, Any], ...] = (
    {"name": "probe", "tool_type": "python", "config": {"code": PROBE, "entrypoint": "look"}},
    {
        "name": "well",
        "tool_type": "shell",
        "config": {"command": LOOK_AROUND, "shell": True},
        "input_schema": {"type": "object"},
    },
)
WELL = {"stdout": "well\n", "stderr": "", "exit_code": 0}


@dataclass(frozen=True)
class Tried:
    """The outcome of an attack: the error code or "succeeded", the message or output, and the duration."""

    result: ToolResult

    @property
    def code(self) -> str:
        """The error's code, or "succeeded" if there is no error."""
        return self.result.problem.code if self.result.problem is not None else "succeeded"

    @property
    def message(self) -> str:
        """The error message that the caller sees."""
        return self.result.problem.message if self.result.problem is not None else ""

    @property
    def output(self) -> Any:
        """The output of a call that succeeded."""
        assert self.result.problem is None, self.result.problem
        return self.result.output

    @property
    def missed_its_start(self) -> bool:
        """Return True if the deadline passed before the sandbox could start the call, so that none of its code ran."""
        problem = self.result.problem
        return (
            problem is not None
            and problem.code == "unavailable"
            and not problem.did_run
            and "deadline" in problem.message
        )

    def ended(self, code: str, words: str = "") -> None:
        """Make sure that it ended so: with this code, and with a match for these words in its message or output."""
        output = self.message if self.result.problem is not None else self.result.output_json.decode()
        assert (self.code, bool(re.search(words, output))) == (code, True), f"{self.code}: {output[:2000]}"


@dataclass
class Target:
    """An open board, its secrets, and its state before the first attack."""

    board: Pegboard
    home: Path
    secrets: Mapping[str, str]
    processes: frozenset[int]
    before: dict[str, Any] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)

    async def add(self, tool_type: str, config: Mapping[str, Any], properties: Iterable[str] = ()) -> str:
        """Add a tool and return its name; raise Refusal if it cannot be registered."""
        name = f"t{secrets.token_hex(8)}"
        definition: dict[str, Any] = {"name": name, "tool_type": tool_type, "config": config}
        if tool_type == "shell":
            definition["input_schema"] = {"type": "object", "properties": {one: {} for one in properties}}
        await self.board.add(definition)
        return name

    async def call(self, name: str, arguments: Mapping[str, Any] | None = None) -> Tried:
        """Call the tool and return how it ended; repeat a call that the busy machine did not start by its deadline."""
        for _ in range(MOST_STARTS):
            tried = Tried(await self.board.call(name, arguments or {}))
            if not tried.missed_its_start:
                break
        return tried

    async def _name(self, tool_type: str, config: Mapping[str, Any], properties: Iterable[str] = ()) -> str:
        """Return the name of a tool like this, which is added if it does not exist yet."""
        known = json.dumps([tool_type, config, sorted(properties)])
        if known not in self._names:
            self._names[known] = await self.add(tool_type, config, properties)
        return self._names[known]

    async def python(self, code: str, arguments: Any = None, *, timeout: float = 30.0, **config: Any) -> Tried:
        """How this code, as a tool, ended."""
        name = await self._name("python", {"code": code, "timeout": timeout, **config})
        return await self.call(name, arguments)

    async def shell(self, script: str, arguments: Any = None, *, timeout: float = 30.0, **config: Any) -> Tried:
        """How this script, as a tool, ended."""
        return await self.command(script, arguments, timeout=timeout, shell=True, **config)

    async def command(self, command: str, arguments: Any = None, *, timeout: float = 30.0, **config: Any) -> Tried:
        """How this command, as a tool with these parameters, ended."""
        config = {"command": command, "timeout": timeout, "success_exit_codes": EVERY_EXIT_CODE, **config}
        name = await self._name("shell", config, arguments or {})
        return await self.call(name, arguments)

    async def check(self) -> None:
        """Assert that the board responds as before, and that nothing leaked, changed or was left behind."""
        looked, echoed, message = await asyncio.gather(
            self.board.call("probe"), self.board.call("well"), self.board.call("echo", {"message": "well"})
        )
        assert looked.problem is None, looked.problem
        assert looked.output | {"memory": None} == self.before | {"memory": None}
        assert looked.output["memory"] == [pytest.approx(most, abs=2**20) for most in self.before["memory"]]
        assert echoed.problem is None, echoed.problem
        assert echoed.output == WELL
        assert message.success, message.problem
        assert self.own_files() == self.files

        async def is_quiet() -> bool:
            return not self.running()

        await until(is_quiet)

    def own_files(self) -> dict[str, bytes]:
        """Return the contents of the board's own files, except the database."""
        return {path.name: path.read_bytes() for path in self.home.iterdir() if not path.name.startswith("pegboard.db")}

    def zygotes(self) -> list[int]:
        """The warm processes that the board has started."""
        return [pid for pid in children(os.getpid()) - self.processes if command_line(pid)[:1] == ["pegboard-zygote"]]

    def running(self) -> set[int]:
        """Return the board's processes, except those that wait for a call.

        Each zygote may have three supervisors, a pid 1 of namespaces and a confined process, which is a child of a
        supervisor or of the zygote's template.
        """
        own = children(os.getpid()) - self.processes
        found = own - set(self.zygotes())
        for zygote in own - found:
            below = children(zygote)
            deeper = {pid for child in below for pid in descendants(child)}
            below -= {pid for pid in below if command_line(pid)[:1] == ["pegboard-template"]}
            firsts = {pid for pid in deeper if is_pid1(pid)}
            if len(below) > 3 or len(firsts) > 1 or len(deeper - firsts) > 1:
                found |= below | deeper
        return found

    def leaked(self, text: str) -> list[str]:
        """The names of the secrets that are in this text."""
        return [name for name, secret in self.secrets.items() if secret in text]


@asynccontextmanager
async def target(home: Path, *, resolver: Resolver | None = None, **settings: Any) -> AsyncIterator[Target]:
    """A board on a SQLite file in this folder, with a secret in its environment."""
    marker = f"marker-{secrets.token_hex(16)}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONFINEMENT_SECRET", marker)
        patch.setenv("PEGBOARD_ADMIN_KEY", f"{marker}-key")
        own = NoSettings(home=home, log_level="error", **LIMITS | settings)
        async with Pegboard.open(settings=own, resolver=resolver) as board:
            known = {"environment": marker, "named secret": f"named-{secrets.token_hex(16)}"}
            await board.secrets.put("HIDDEN", known["named secret"], board.admin)
            for file in ("secret.key", "credentials"):
                known |= {f"{file} {place}": word for place, word in enumerate(long_words(home / file))}
            opened = Target(board, home, known, frozenset(children(os.getpid())))
            for definition in OWN_TOOLS:
                await board.add(definition)
            looked = await board.call("probe")
            opened.before, opened.files = looked.output, opened.own_files()
            assert looked.problem is None, looked.problem
            await opened.check()
            yield opened


def long_words(file: Path) -> list[str]:
    """The parts of a file that are long enough to be secrets."""
    return re.findall(r"[A-Za-z0-9+/=_-]{20,}", file.read_text())


def children(pid: int) -> set[int]:
    """Return the child processes of this process."""
    found: set[int] = set()
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            found |= set(map(int, (thread / "children").read_text().split()))
    return found


def descendants(pid: int) -> set[int]:
    """Return the child processes of this process, and theirs."""
    found = children(pid)
    return found.union(*map(descendants, found))


def command_line(pid: int) -> list[str]:
    """Return the arguments of a process; empty if it does not exist."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").decode(errors="replace").split("\0")
    except OSError:
        return []


def list_machine_processes(mark: str) -> list[int]:
    """Return the processes of the machine with this in one of their arguments."""
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]
    return [pid for pid in pids if any(mark in word for word in command_line(pid))]


def list_sleepers(mark: str) -> list[int]:
    """Return those of the processes that only sleep, for this many seconds."""
    return [pid for pid in list_machine_processes(mark) if command_line(pid) == ["sleep", mark]]


def listed(folder: Path) -> list[str]:
    """Return the names of the files in a folder."""
    return sorted(path.name for path in folder.iterdir())


def table(attacks: Mapping[str, Any]) -> list[Any]:
    """Return the attacks as parameters of a test, each with its name as id."""
    return [pytest.param(*(row if isinstance(row, tuple) else (row,)), id=name) for name, row in attacks.items()]
