"""Progress of imports, as server-sent events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx
import pytest

from pegboard import Pegboard
from pegboard.model.filters import ToolFilter
from pegboard.testing import memory_board
from tests.api_documents import large, pets
from tests.board_surfaces import KEY, served
from tests.surfaces.rest.clients import bearer, client, good, new_user, problem
from tests.unit.kinds.mcp.changeable_server import changeable_server, odd, tool
from tests.upstreams import Received, Wire, answer, answer_json, hang, upstream
from tests.waiting import until

OPENAPI = "/v1/imports/openapi"
MCP = "/v1/imports/mcp"
EVENTS = {"Accept": "text/event-stream"}
Event = tuple[str, dict[str, Any]]


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    """A fresh board in memory that may reach loopback."""
    async with memory_board(admin_key=KEY, drain_seconds=2, egress_allow="127.0.0.1") as fresh:
        yield fresh


def events(text: str) -> list[Event]:
    """Return the events of a whole response, after a check of its form."""
    assert text.endswith("\n\n")
    found = []
    for block in text.removesuffix("\n\n").split("\n\n"):
        name, data = block.split("\n")
        assert name.startswith("event: ")
        assert data.startswith("data: ")
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


async def import_events(speaker: httpx.AsyncClient, path: str, body: dict[str, Any]) -> list[Event]:
    answered = await speaker.post(path, json=body, headers=EVENTS)
    assert answered.status_code == 200, answered.text
    assert answered.headers["content-type"].startswith("text/event-stream")
    return events(answered.text)


async def test_progress_then_the_same_report_as_otherwise(admin: httpx.AsyncClient) -> None:
    *progress, last = await import_events(admin, OPENAPI, {"document": large(200)})
    assert last[0] == "complete"
    assert len(last[1]["created"]) == 200
    assert progress
    assert {name for name, _ in progress} == {"progress"}
    assert all(set(data) == {"what", "done", "total"} for _, data in progress)
    plain = good(await admin.post(OPENAPI, json={"document": large(200)}))
    assert set(plain) == set(last[1])
    *_, last = await import_events(admin, OPENAPI, {"document": large(200)})
    assert last == ("complete", plain)


async def test_an_mcp_import_reports_progress_too(admin: httpx.AsyncClient) -> None:
    async with changeable_server(tool("say")) as server:
        first, *_, last = await import_events(admin, MCP, {"server_url": server.url})
        assert first == ("progress", {"what": "listing", "done": 0, "total": 0})
        assert last[0] == "complete"
        assert last[1]["created"] == ["say"]


async def test_a_failure_on_the_way_is_the_last_event(board: Pegboard, admin: httpx.AsyncClient) -> None:
    _, key = await new_user(admin, "mia")
    async with upstream(answer(404)) as server, client(board, key) as mia:
        for speaker, path, body, status, message in (
            (admin, OPENAPI, {"document": {"a": 1}}, 422, "not an API document"),
            (admin, OPENAPI, {}, 422, "give either document or url"),
            (admin, OPENAPI, {"url": server.url}, 502, "answered 404"),
            (admin, MCP, {"server_url": server.url}, 502, "404"),
            (mia, MCP, {"command": odd("fine")}, 403, "Only admins"),
        ):
            *before, (name, data) = await import_events(speaker, path, body)
            assert name == "error"
            assert (data["status"], data["type"]) == (status, "about:blank")
            assert message in data["detail"]
            assert {each for each, _ in before} <= {"progress"}


async def test_what_is_wrong_with_the_request_itself_is_no_stream(admin: httpx.AsyncClient) -> None:
    problem(await admin.post(OPENAPI, json={"documents": {}}, headers=EVENTS), 422)
    problem(await admin.post(OPENAPI, content=b"{", headers={**EVENTS, "Content-Type": "application/json"}), 400)
    problem(await admin.post(OPENAPI, json={}, headers={**EVENTS, "Authorization": "Bearer nobody"}), 401)


async def test_a_fault_of_the_boards_own_is_an_event_that_says_nothing_of_it(
    board: Pegboard, admin: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("inner matters")

    monkeypatch.setattr(board.imports.openapi.import_target, "import_tools", broken)
    *_, (name, data) = await import_events(admin, OPENAPI, {"document": pets("cats")})
    assert (name, data["status"]) == ("error", 500)
    assert "inner matters" not in json.dumps(data)


async def test_progress_comes_while_the_work_continues(board: Pegboard) -> None:
    go_on = anyio.Event()

    async def slowly(got: Received, wire: Wire) -> None:
        await go_on.wait()
        await answer_json(pets("cats"))(got, wire)

    async with (
        upstream(slowly) as server,
        served(board) as url,
        httpx.AsyncClient(headers={**bearer(KEY), **EVENTS}) as speaker,
        speaker.stream("POST", url + OPENAPI, json={"url": server.url}) as answered,
    ):
        lines = answered.aiter_lines()
        with anyio.fail_after(30):
            assert [await anext(lines), await anext(lines)] == [
                "event: progress",
                'data: {"what":"fetching","done":0,"total":0}',
            ]
            go_on.set()
            assert "event: complete" in [line async for line in lines]


@pytest.mark.parametrize("path", [OPENAPI, MCP])
async def test_a_reader_who_disconnects_ends_the_work(board: Pegboard, path: str) -> None:
    async with upstream(hang) as server, served(board) as url:
        body = {"url": server.url} if path == OPENAPI else {"server_url": server.url}
        async with (
            httpx.AsyncClient(headers={**bearer(KEY), **EVENTS}) as speaker,
            speaker.stream("POST", url + path, json=body) as answered,
        ):
            await anext(answered.aiter_lines())
            await until(lambda: _is_filled(server.received))
        if path == OPENAPI:  # a session with an MCP server is shared, and others may wait for it too
            await until(lambda: _is_empty(server.open))
        async with httpx.AsyncClient(headers=bearer(KEY), base_url=url) as speaker:
            assert good(await speaker.post(OPENAPI, json={"document": pets("cats")}))["created"] == ["cats"]


async def _is_filled(some: list[Any]) -> bool:
    return bool(some)


async def _is_empty(some: set[Any]) -> bool:
    return not some


async def test_a_reader_who_disconnects_while_tools_are_made_leaves_all_or_none(stored_board: Pegboard) -> None:
    document = large(300)
    async with served(stored_board) as url:
        for lines_read in (1, 3, 6):
            async with (
                httpx.AsyncClient(headers={**bearer(KEY), **EVENTS}) as speaker,
                speaker.stream("POST", url + OPENAPI, json={"document": document}) as answered,
            ):
                lines = answered.aiter_lines()
                for _ in range(lines_read):
                    await anext(lines, None)
            page = await stored_board.tools.page(
                ToolFilter(tag="openapi:large"), stored_board.admin, cursor=None, limit=1000
            )
            assert len(page.items) in (0, 300)
        async with httpx.AsyncClient(headers=bearer(KEY), base_url=url, timeout=60) as speaker:
            report = good(await speaker.post(OPENAPI, json={"document": document}))
            assert len(report["created"]) + len(report["unchanged"]) == 300
