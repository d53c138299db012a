"""A thousand calls of python and of shell tools, half of which fail or time out, leave nothing behind."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.board_surfaces import KEY
from tests.integration.confined_board import python, shell
from tests.integration.process_trees import Server, count, mounts, resident, server, states, steady
from tests.surfaces.rest.clients import bearer, good, new_user
from tests.waiting import until

CALLERS = 4
EACH_AT_ONCE = 2
GROWTH = 6 * 2**20
# The maximum number of threads of the loop's own pool.
POOLED = {"threads": min(32, (os.cpu_count() or 1) + 4)}
Call = tuple[str, dict[str, Any]]

# A handler that reports the server process's resources from within.
CENSUS = """
import asyncio, ctypes, gc, threading


async def census():
    gc.collect()
    # What was free already when this was asked for is nobody's.
    ctypes.CDLL(None).malloc_trim(0)
    return {"tasks": len(asyncio.all_tasks()), "threads": threading.active_count()}
"""
HANGS = {"hang_a": 0.05, "hang_b": 0.1, "hang_c": 0.2}
CODE = """
import os, subprocess, sys, threading, time

def run(n: int, how: str = ""):
    print("call", n)
    match how:
        case "raise": raise ValueError(n)
        case "exit": os._exit(n % 200)
        case "leave": sys.exit(n)
        case "abort": os.abort()
        case "unfit": return object()
        case "large": return "x" * 2_000_000
        case "flood": print("x" * 2_000_000)
        case "starve": bytearray(2**40)
        case "files":
            for name in "abc":
                os.mkdir(name)
                open(f"{name}/{n}", "wb").write(bytes(100_000))
                os.chmod(name, 0)
        case "daemons":
            subprocess.Popen(["sleep", "600"], process_group=0)
            threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
            if os.fork() == 0:
                time.sleep(600)
        case "hang":
            subprocess.Popen(["sleep", "600"], process_group=0)
            while n % 3 == 0:
                pass
            time.sleep(600)
    return n
"""
SCRIPT = """
case "$how" in
    fail) echo "$n" >&2; exit 3;;
    abort) kill -ABRT $$;;
    text) echo no; exit 0;;
    flood) head -c 2000000 /dev/zero; exit 0;;
    files) mkdir a b; echo "$n" > a/x; ln -s / b/link; chmod 0 a;;
    daemons) nohup sleep 600 > /dev/null 2>&1 & (sleep 600 &);;
    hang) nohup sleep 600 & sleep 600;;
esac
echo "$n"
"""
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}, "how": {"type": "string"}}}


@dataclass(frozen=True)
class Kind:
    """The calls of one kind of tool: those that succeed, and those that fail."""

    tool: dict[str, Any]
    well: tuple[str, ...]
    badly: tuple[str, ...]

    def tools(self) -> list[dict[str, Any]]:
        """Return the tool, and others like it with shorter and shorter timeouts."""
        patient = {**self.tool, "config": {**self.tool["config"], "timeout": 60}}
        hasty = [
            {**self.tool, "name": name, "config": {**self.tool["config"], "timeout": seconds}}
            for name, seconds in HANGS.items()
        ]
        return [patient, *hasty]

    def plan(self, calls: int) -> list[Call]:
        """Return this many calls in any order, half of them failing, and half of these too slow."""
        hanging = [(name, {"how": "hang"}) for name in HANGS]
        failing = [(self.tool["name"], {"how": how}) for how in self.badly]
        fine = [(self.tool["name"], {"how": how}) for how in self.well]
        chosen: list[Call] = [fine[place % len(fine)] for place in range(calls // 2)]
        chosen += [hanging[place % len(hanging)] for place in range(calls // 4)]
        chosen += [failing[place % len(failing)] for place in range(calls - len(chosen))]
        random.Random(calls).shuffle(chosen)
        return [(name, {"n": n, **arguments}) for n, (name, arguments) in enumerate(chosen)]


KINDS = {
    "python": Kind(
        python(CODE, "run", is_public=True),
        ("", "", "files", "daemons"),
        ("raise", "raise", "exit", "leave", "abort", "unfit", "large", "flood", "starve"),
    ),
    "shell": Kind(
        shell(SCRIPT, name="run", shell=True, parse="json", is_public=True, input_schema=SCHEMA),
        ("", "", "files", "daemons"),
        ("fail", "fail", "abort", "text", "flood"),
    ),
}


@dataclass(frozen=True)
class ServerResources:
    """The resources of a server and its processes now."""

    files: int
    processes: int
    zombies: int
    tasks: int
    threads: int
    folders: int
    mounts: int
    zygote_files: int
    memory: int
    zygote_memory: int

    def is_within(self, before: ServerResources) -> bool:
        """Return True if no resource is used that was not used before, apart from memory."""
        counted = [name for name in self.__dataclass_fields__ if not name.endswith("memory")]
        return all(getattr(self, name) <= getattr(before, name) + POOLED.get(name, 0) for name in counted)


class ServerUsers:
    """Several users who call the tools of one server."""

    def __init__(self, running: Server, keys: list[str], folders: Path) -> None:
        self._server = running
        self._keys = keys
        self._folders = folders

    async def make(self, calls: list[Call]) -> Counter[str]:
        """Run these calls concurrently for all users, and return how they ended; some are cancelled."""
        left = iter(enumerate(calls))
        ended: Counter[str] = Counter()

        async def work(client: httpx.AsyncClient) -> None:
            for number, (name, arguments) in left:
                seconds = 0.03 if number % 50 == 7 else 120
                try:
                    answer = await client.post(f"/v1/tools/{name}/call", json=arguments, timeout=seconds)
                except httpx.TimeoutException:
                    ended["given up"] += 1
                    continue
                body = answer.json()
                ended["fine" if body["success"] else body["error_details"]["code"]] += 1
                assert not body["success"] or body["result"] == arguments["n"], body

        async with asyncio.TaskGroup() as group:
            for key in self._keys:
                group.create_task(self._as_one(key, work))
        return ended

    async def _as_one(self, key: str, work: Any) -> None:
        async with httpx.AsyncClient(base_url=self._server.url, headers=bearer(key)) as client:
            await asyncio.gather(*(work(client) for _ in range(EACH_AT_ONCE)))

    def processes(self) -> int:
        """Return the number of the server's descendants."""
        return len(states(self._server.process.pid))

    async def held(self) -> ServerResources:
        """Return the resources of the server, its zygotes and their processes."""
        async with httpx.AsyncClient(base_url=self._server.url, headers=bearer(KEY)) as client:
            census = good(await client.post("/v1/tools/census/call", json={}))["result"]
        pid = self._server.process.pid
        family = states(pid)
        zygotes = [each for each, (parent, _) in family.items() if parent == pid]
        return ServerResources(
            files=count(f"/proc/{pid}/fd"),
            processes=len(family),
            zombies=sum(1 for _, state in family.values() if state == "Z"),
            folders=count(str(self._folders)),
            mounts=sum(mounts(each) for each in (pid, *zygotes)),
            zygote_files=sum(count(f"/proc/{each}/fd") for each in zygotes),
            memory=resident(pid),
            zygote_memory=sum(resident(each) for each in zygotes),
            **census,
        )

    async def back(self, before: ServerResources) -> ServerResources:
        """Wait until no more is in use than before."""
        now = before

        async def as_before() -> bool:
            nonlocal now
            now = await self.held()
            return now.is_within(before)

        try:
            await until(as_before, 20)
        except TimeoutError:
            raise AssertionError(f"before: {before}; now: {now}") from None
        return now


@asynccontextmanager
async def server_users(tmp_path: Path, kind: Kind, **environment: str) -> AsyncIterator[ServerUsers]:
    """A server with those tools, and users who may call them."""
    packages, folders = tmp_path / "packages", tmp_path / "folders"
    info = packages / "census_tools-1.0.dist-info"
    for made in (info, folders):
        made.mkdir(parents=True)
    folders.chmod(0o777)
    (packages / "census_tools.py").write_text(CENSUS)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: census-tools\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[pegboard.handlers]\ncensus = census_tools:census\n")
    path = os.pathsep.join([str(packages), *filter(None, [os.environ.get("PYTHONPATH")])])
    more = {"PYTHONPATH": path, "TMPDIR": str(folders), "PEGBOARD_LOG_LEVEL": "warning", **environment}
    with server(tmp_path / "home", f"sqlite:///{tmp_path}/home/pegboard.db", tmp_path / "log", **more) as running:
        async with httpx.AsyncClient(base_url=running.url, headers=bearer(KEY), timeout=60) as admin:
            keys = [(await new_user(admin, f"user-{number}"))[1] for number in range(CALLERS)]
            census = {"name": "census", "tool_type": "internal", "config": {"handler": "census"}}
            for tool in (*kind.tools(), {**census, "input_schema": {"type": "object"}}):
                good(await admin.post("/v1/tools", json=tool), 201)
        yield ServerUsers(running, keys, folders)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(
    ("without", "calls"),
    [
        ("", 50),
        ("namespaces", 50),
        pytest.param("", 1000, marks=pytest.mark.soak),
        pytest.param("namespaces", 100, marks=pytest.mark.soak),
    ],
)
async def test_many_calls_leave_nothing_behind(tmp_path: Path, name: str, calls: int, without: str) -> None:
    kind = KINDS[name]
    # A slot for every caller, because those with a short timeout would expire while they wait.
    places = {"PEGBOARD_SANDBOX_CHILDREN": str(CALLERS * EACH_AT_ONCE)}
    async with server_users(tmp_path, kind, PEGBOARD_SANDBOX_WITHOUT=without, **places) as people:
        await people.make(kind.plan(max(calls // 5, 60)))  # modules and pools are loaded once, before the measurement
        await steady(people.processes)
        before = await people.held()
        ended = await people.make(kind.plan(calls))
        assert sum(ended.values()) == calls
        assert set(ended) <= {"fine", "execution_failed", "result_too_large", "timeout", "unavailable", "given up"}
        assert ended["fine"] >= calls * 0.45
        assert ended["execution_failed"] >= calls * 0.15
        # On a busy machine, calls with a short timeout may expire before they get a slot.
        assert ended["timeout"] >= calls * 0.05
        assert ended["timeout"] + ended["unavailable"] >= calls * 0.2
        after = await people.back(before)
        assert after.memory - before.memory < GROWTH, (before, after)
        assert after.zygote_memory - before.zygote_memory < GROWTH, (before, after)
