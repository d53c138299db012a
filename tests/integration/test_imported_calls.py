"""Tools imported from real servers into real boards, called at once and from everywhere."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
import httpx
import pytest

from pegboard import Pegboard
from pegboard.testing import NoSettings, memory_board
from tests.api_documents import STYLES, document
from tests.mcp_servers.processes import descendants, matching
from tests.mcp_servers.run_servers import over_http
from tests.surfaces.cli.run_program import serving
from tests.surfaces.rest.clients import bearer, good
from tests.unit.kinds.mcp.changeable_server import changeable_server, tool
from tests.upstreams import upstream
from tests.waiting import until

SCRIPTS = Path(sys.executable).parent
EVERYTHING = SCRIPTS.parent / "reference/node_modules/@modelcontextprotocol/server-everything/dist/index.js"


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    """A fresh board in memory that may reach loopback."""
    async with memory_board(egress_allow="127.0.0.1") as fresh:
        yield fresh


async def test_what_one_process_imports_another_calls_without_a_restart(tmp_path: Path) -> None:
    (tmp_path / "pegboard.toml").write_text('egress_allow = "127.0.0.1"\n')
    async with upstream() as running_server, changeable_server(tool("say")) as server:
        with serving(tmp_path) as one, serving(tmp_path) as two:
            key = bearer((tmp_path / "credentials").read_text().strip())
            async with httpx.AsyncClient(headers=key, timeout=30) as speaker:
                body: dict[str, Any] = {"document": document(), "server_url": running_server.url}
                report = good(await speaker.post(f"{one}/v1/imports/openapi", json=body))
                good(await speaker.post(f"{one}/v1/imports/mcp", json={"server_url": server.url}))

                async def called(where: str, name: str, arguments: Any) -> Any:
                    answer = good(await speaker.post(f"{where}/v1/tools/{name}/call", json=arguments))
                    return answer if answer["success"] else None

                for case in STYLES[:3]:
                    assert await called(one, case.name, case.arguments)
                    case.check(running_server.last)
                    assert await until(partial(called, two, case.name, case.arguments))
                    case.check(running_server.last)
                assert await until(lambda: called(two, "say", {"text": "hi"}))
                again = good(await speaker.post(f"{two}/v1/imports/openapi", json=body))
                assert (again["created"], again["unchanged"]) == ([], report["created"])


async def test_two_boards_that_import_the_same_at_once_make_each_tool_once(database_url: str, tmp_path: Path) -> None:
    settings = NoSettings(home=tmp_path / "home", egress_allow="127.0.0.1")
    async with (
        Pegboard.open(database_url, settings=settings) as one,
        Pegboard.open(database_url, settings=settings) as two,
    ):
        whole = document(servers=[{"url": "https://api.example.com"}])
        reports = await asyncio.gather(
            *(board.imports.openapi(board.admin, document=whole) for board in (one, two, one, two))
        )
        names = sorted(case.name for case in STYLES)
        assert sorted(name for report in reports for name in report.created) == names
        for report in reports:
            assert sorted(report.created + report.unchanged) == names


async def test_the_official_time_server(board: Pegboard) -> None:
    command = [str(SCRIPTS / "mcp-server-time"), "--local-timezone", "UTC"]
    taken = await board.imports.mcp(board.admin, command=command, prefix="time_")
    assert taken.created == ["time_get_current_time", "time_convert_time"]
    arguments = {"source_timezone": "Europe/Berlin", "time": "12:00", "target_timezone": "Asia/Tokyo"}
    converted = await board.call("time_convert_time", arguments)
    assert converted.output["target"]["timezone"] == "Asia/Tokyo"
    assert converted.output["target"]["datetime"][10:] in ("T19:00:00+09:00", "T20:00:00+09:00")
    failed = await board.call("time_get_current_time", {"timezone": "Nowhere/Land"})
    assert failed.problem is not None
    assert failed.problem.code == "execution_failed"
    assert "Nowhere/Land" in failed.problem.message
    assert (await board.imports.mcp(board.admin, command=command, prefix="time_")).unchanged == taken.created


async def test_the_official_git_server(board: Pegboard, tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@b.c", "-C", str(tmp_path)]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "A first step"]):
        await anyio.run_process([*git, *words])
    command = [str(SCRIPTS / "mcp-server-git"), "--repository", str(tmp_path)]
    taken = await board.imports.mcp(board.admin, command=command, include=["git_*"])
    assert {"git_log", "git_status", "git_diff"} <= set(taken.created)
    log = await board.call("git_log", {"repo_path": str(tmp_path), "max_count": 1})
    assert "A first step" in log.output
    assert (await board.tools.get("git_status", board.admin)).read_only


def everything(*words: str) -> list[str]:
    """The command of the npm server that has everything."""
    return [str(SCRIPTS / "node"), str(EVERYTHING), *words]


@contextmanager
def everything_over_http() -> Iterator[str]:
    """The npm server on a port; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {"PORT": str(port), "PATH": os.environ["PATH"]}
    with subprocess.Popen(
        everything("streamableHttp"),
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            os.killpg(process.pid, signal.SIGKILL)  # node is a child of the program that starts it


@pytest.mark.parametrize("way", ["stdio", "http"])
async def test_the_official_server_that_has_everything(board: Pegboard, way: str) -> None:
    if way == "stdio":
        await _try_everything(board, {"command": everything("stdio")})
        return
    with everything_over_http() as url:

        async def listening() -> bool:
            try:
                await board.imports.mcp(board.admin, server_url=url, dry_run=True)
            except Exception:
                return False
            return True

        await until(listening, 30)
        await _try_everything(board, {"server_url": url})


async def _try_everything(board: Pegboard, source: dict[str, Any]) -> None:
    taken = await board.imports.mcp(board.admin, prefix="all_", **source)
    assert {"all_echo", "all_get-sum", "all_get-tiny-image", "all_get-structured-content"} <= set(taken.created)
    assert taken.left_out == []
    assert (await board.call("all_echo", {"message": "hi"})).output == "Echo: hi"
    summed = await board.call("all_get-sum", {"a": 2, "b": 40})
    assert "42" in str(summed.output)
    image = await board.call("all_get-tiny-image")
    assert [part["type"] for part in image.output["content"]] == ["text", "image", "text"]
    weather = await board.call("all_get-structured-content", {"location": "New York"})
    assert set(weather.output) == {"temperature", "conditions", "humidity"}
    wrong = await board.call("all_get-sum", {"a": "two"})
    assert wrong.problem is not None
    assert wrong.problem.type == "VALIDATION_ERROR"
    again = await board.imports.mcp(board.admin, prefix="all_", **source)
    assert (again.unchanged, again.drifted, again.gone) == (taken.created, [], [])


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_a_change_that_a_server_announces_is_seen_at_the_next_call(board: Pegboard, era: str) -> None:
    with over_http(era) as server:
        url = server.upstream.server_url
        taken = await board.imports.mcp(board.admin, server_url=url, prefix="day_")
        assert "day_say" in taken.created
        assert (await board.call("day_say", {"text": "hi"})).output == "hi"
        assert (await board.call("day_learn")).success

        async def refused() -> bool:
            problem = (await board.call("day_say", {"text": "hi"})).problem
            return problem is not None and problem.code == "drifted"

        await until(refused)
        again = await board.imports.mcp(board.admin, server_url=url, prefix="day_")
        assert (again.drifted, again.created) == (["day_say"], ["day_more"])
        await board.imports.mcp.accept("day_say", board.admin)
        assert (await board.call("day_say", {"text": "hi"})).success


async def test_a_board_that_closes_leaves_no_servers_behind() -> None:
    mark = f"mark-{uuid4()}"
    async with memory_board() as board:
        command = [str(SCRIPTS / "mcp-server-time"), "--local-timezone", "UTC"]
        await board.imports.mcp(board.admin, command=command, prefix="time_")
        await board.imports.mcp(board.admin, command=everything("stdio", mark), prefix="all_")
        ours = descendants()
        assert len(ours & matching("--local-timezone")) >= 1
        assert len(ours & matching(mark)) >= 1
    left = descendants()
    assert left & (matching("--local-timezone") | matching(mark)) == set()
