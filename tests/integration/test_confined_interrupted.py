"""Confined calls whose server or caller ends during the call: nothing is left, and the journal records it."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from dirty_equals import IsPartialDict

from pegboard import Pegboard
from pegboard.testing import calls_of
from tests.board_surfaces import KEY, served
from tests.integration.confined_board import python, shell
from tests.integration.process_trees import WAIT, Server, Tree, processes_of, server, steady, until_ended
from tests.mcp_servers.processes import descendants
from tests.surfaces.cli.run_program import Program
from tests.surfaces.rest.clients import bearer, good
from tests.surfaces.rest.raw_http import head, wire
from tests.waiting import until

Start = Callable[..., Any]
kinds = pytest.mark.parametrize("kind", ["python", "shell"])


@pytest.fixture
def start(tmp_path: Path, database_url: str) -> Start:
    """Return a function that starts a server, always on the same state."""
    (tmp_path / "home").mkdir()

    @contextmanager
    def started(**environment: str) -> Iterator[tuple[Server, httpx.AsyncClient]]:
        with server(tmp_path / "home", database_url, tmp_path / "log", **environment) as running:
            yield running, httpx.AsyncClient(base_url=running.url, headers=bearer(KEY), timeout=WAIT)

    return started


async def rows(client: httpx.AsyncClient) -> list[dict[str, Any]]:
    """Return the rows of the journal, oldest first."""
    return list(reversed(good(await client.get("/v1/executions"))["items"]))


@kinds
async def test_everything_of_a_call_dies_with_the_server_and_the_next_one_says_in_doubt(
    start: Start, kind: str, folder: Path
) -> None:
    folder_config = {"working_dir": str(folder), "writable": True} if kind == "shell" else {}
    tree = Tree(kind, **folder_config)
    once = {"Idempotency-Key": "one"}
    with start() as (first, client):
        async with client:
            good(await client.post("/v1/tools", json=tree.definition), 201)
            call = asyncio.create_task(client.post("/v1/tools/tree/call", json={}, headers=once))
            await tree.grown()
            family = first.family
            assert len(family) > 6
            first.kill()
            await tree.gone()
            await until_ended(family)
            with pytest.raises(httpx.TransportError):
                await call
    with start() as (_, client):
        async with client:

            async def taken_over() -> Any:
                return await rows(client)

            (row,) = await until(taken_over, 20)
            assert row == IsPartialDict(tool_name="tree", kind=kind, status="in_doubt")
            again = good(await client.post("/v1/tools/tree/call", json={}, headers=once))
            assert again["error_details"]["code"] == "in_doubt"
            assert tree.running() == set()
    if kind == "shell":
        assert (folder / "log").read_text() == "begun\n"


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_a_server_asked_to_stop_lets_confined_calls_end(start: Start, folder: Path) -> None:
    script = "echo begun > begun; while ! test -e go; do sleep 0.02; done; echo done"
    with start() as (running, client):
        async with client:
            tools = (
                shell(script, name="command", shell=True, working_dir=str(folder), writable=True),
                python(
                    "import subprocess\ndef f():\n    return subprocess.run(['sleep', '1.0815']).returncode", "code"
                ),
            )
            for tool in tools:
                good(await client.post("/v1/tools", json=tool), 201)
            calls = [asyncio.create_task(client.post(f"/v1/tools/{each['name']}/call", json={})) for each in tools]

            async def both_run() -> bool:
                return (folder / "begun").exists() and bool(processes_of("sleep", "1.0815"))

            await until(both_run, 20)
            family = running.family
            running.stop()
            assert good(await calls[1])["result"] == 0
            (folder / "go").touch()
            assert good(await calls[0])["result"] == {"stdout": "done\n", "stderr": "", "exit_code": 0}
            await asyncio.to_thread(running.process.wait, WAIT)
            assert running.process.returncode == 0
            await until_ended(family)
    with start() as (_, client):
        async with client:
            assert {(row["tool_name"], row["status"]) for row in await rows(client)} == {
                ("command", "succeeded"),
                ("code", "succeeded"),
            }


@kinds
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_without_namespaces_everything_dies_with_the_server_as_well(
    start: Start, kind: str, tmp_path: Path
) -> None:
    folders = tmp_path / "folders"
    folders.mkdir()
    folders.chmod(0o777)
    tree = Tree(kind)
    with start(PEGBOARD_SANDBOX_WITHOUT="namespaces", TMPDIR=str(folders)) as (running, client):
        async with client:
            good(await client.post("/v1/tools", json=tree.definition), 201)
            call = asyncio.create_task(client.post("/v1/tools/tree/call", json={}))
            family = running.family | await tree.grown()
            assert len(listed(folders)) == 1
            running.kill()
            await tree.gone()
            await until_ended(family)
            with pytest.raises(httpx.TransportError):
                await call

    async def removed() -> bool:
        return not listed(folders)

    await until(removed)


def listed(folder: Path) -> list[str]:
    """Return the names of the files in a folder."""
    return [entry.name for entry in folder.iterdir()]


@kinds
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_what_takes_longer_than_a_server_waits_is_ended_with_its_processes(start: Start, kind: str) -> None:
    tree = Tree(kind, network=True)
    with start(PEGBOARD_DRAIN_SECONDS="0.5", PEGBOARD_SANDBOX_CHILDREN="1") as (running, client):
        async with client:
            good(await client.post("/v1/tools", json=tree.definition), 201)
            # One of them runs, and the others wait for its slot.
            calls = [asyncio.create_task(client.post("/v1/tools/tree/call", json={})) for _ in range(3)]
            await tree.grown()
            family = running.family
            running.stop()
            for answer in await asyncio.gather(*calls):
                assert (answer.status_code, int(answer.headers["retry-after"]) >= 1) == (503, True)
            await tree.gone()
            await asyncio.to_thread(running.process.wait, WAIT)
            assert running.process.returncode == 0
            await until_ended(family)
    with start() as (_, client):
        async with client:
            assert [(row["status"], row["code"]) for row in await rows(client)] == [("failed", "cancelled")] * 3


async def call_and_disconnect(through: str, board: Pegboard, tree: Tree) -> None:
    """Call the tree through that surface, and disconnect when all of its processes run."""
    if through == "library":
        call = asyncio.create_task(board.call("tree"))
        await tree.grown()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        return
    async with served(board) as url:
        if through == "rest":
            async with wire(url) as stream:
                await stream.send(head("POST", "/v1/tools/tree/call", "Content-Length: 2") + b"{}")
                await tree.grown()
        else:
            environment = Program({"PEGBOARD_URL": url, "PEGBOARD_KEY": KEY}).full_environment()
            command = [sys.executable, "-m", "pegboard", "call", "tree"]
            async with await anyio.open_process(command, env=environment, stdout=None, stderr=None) as program:
                await tree.grown()
                program.send_signal(signal.SIGINT)
                assert await program.wait() != 0
        await tree.gone()


@kinds
async def test_a_caller_who_disconnects_takes_the_processes_along(board: Pegboard, through: str, kind: str) -> None:
    tree = Tree(kind, name="tree")
    await board.add(tree.definition)
    await board.add(shell("true", name="first"))
    await board.add(python("def f(): return 1", "second"))
    assert (await board.call("first")).success
    assert (await board.call("second")).success
    before = await steady(lambda: len(descendants()))
    await call_and_disconnect(through, board, tree)
    await tree.gone()

    async def recorded() -> Any:
        return await calls_of(board, "tree")

    (row,) = await until(recorded)
    assert (row.status, row.code, row.surface) == ("failed", "cancelled", through)

    async def as_before() -> bool:
        return len(descendants()) <= before and board.confinement.sandbox.stats().running == 0

    await until(as_before, 10)
    assert (await board.call("first")).success
