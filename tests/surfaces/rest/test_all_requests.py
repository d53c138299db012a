"""Rules for every request: request ids and the rules for browsers; and the server's own state."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import httpx
import pytest

from pegboard import Pegboard
from pegboard.testing import calls_of, memory_board
from tests.board_surfaces import KEY
from tests.surfaces.rest.clients import client, good, mock, problem

ORIGIN = "https://console.example.com"
PATHS = [("GET", "/healthz"), ("GET", "/v1/tools"), ("POST", "/v1/tools/echo/call"), ("GET", "/nonesuch")]


class TestRequestIds:
    async def test_a_callers_own_id_is_echoed_and_kept_in_the_journal(
        self, admin: httpx.AsyncClient, board: Pegboard
    ) -> None:
        for method, path in PATHS:
            answer = await admin.request(method, path, headers={"X-Request-Id": "order-66:a.b_c"})
            assert answer.headers.get_list("x-request-id") == ["order-66:a.b_c"]
        assert [call.request_id for call in await calls_of(board)] == ["order-66:a.b_c"]
        found = problem(await admin.get("/nonesuch", headers={"X-Request-Id": "mine"}), 404)
        assert found["request_id"] == "mine"

    async def test_without_one_every_request_gets_its_own(self, admin: httpx.AsyncClient) -> None:
        seen = {(await admin.request(method, path)).headers["x-request-id"] for method, path in PATHS}
        assert len({UUID(text) for text in seen}) == len(PATHS)

    @pytest.mark.parametrize("hostile", ["a b", "a" * 129, "<script>", "a\tb", "", "é".encode("latin-1"), '{"a":1}'])
    async def test_a_hostile_one_is_replaced(self, admin: httpx.AsyncClient, board: Pegboard, hostile: str) -> None:
        for method, path in PATHS:
            answer = await admin.request(method, path, headers={"X-Request-Id": hostile})
            UUID(answer.headers["x-request-id"])
        (call,) = await calls_of(board)
        assert call.request_id is not None
        UUID(call.request_id)

    async def test_a_call_names_its_execution(self, admin: httpx.AsyncClient) -> None:
        answer = await admin.post("/v1/tools/echo/call", json={})
        row = good(await admin.get(f"/v1/executions/{answer.headers['x-execution-id']}"))
        assert (row["tool_name"], row["status"]) == ("echo", "succeeded")


@asynccontextmanager
async def allowing(origins: str) -> AsyncIterator[httpx.AsyncClient]:
    async with memory_board(admin_key=KEY, cors_origins=origins) as board, client(board) as speaker:
        yield speaker


def preflight(method: str, headers: str = "authorization,content-type") -> dict[str, str]:
    return {"Origin": ORIGIN, "Access-Control-Request-Method": method, "Access-Control-Request-Headers": headers}


class TestCors:
    async def test_by_default_no_browser_is_let_in(self, admin: httpx.AsyncClient) -> None:
        for method, path in PATHS:
            answer = await admin.request(method, path, headers={"Origin": ORIGIN})
            assert not [name for name in answer.headers if name.startswith("access-control")]
        answer = await admin.options("/v1/tools/echo/call", headers=preflight("POST"))
        assert answer.status_code in (404, 405)

    async def test_an_allowed_origin_may_ask_and_call(self) -> None:
        async with allowing(f"https://other.example.com, {ORIGIN}") as speaker:
            for path, method in (
                ("/v1/tools/echo/call", "POST"),
                ("/v1/tools/echo", "PATCH"),
                ("/v1/secrets/a", "PUT"),
            ):
                asked = await speaker.options(path, headers=preflight(method))
                assert asked.status_code == 200
                assert asked.headers["access-control-allow-origin"] == ORIGIN
                assert method in asked.headers["access-control-allow-methods"]
                assert "authorization" in asked.headers["access-control-allow-headers"].lower()
            answer = await speaker.post("/v1/tools/echo/call", json={}, headers={"Origin": ORIGIN})
            assert answer.headers["access-control-allow-origin"] == ORIGIN
            assert "x-execution-id" in answer.headers["access-control-expose-headers"].lower()
            assert answer.headers["vary"] == "Origin"

    async def test_errors_can_be_read_by_the_browser_too(self) -> None:
        async with allowing(ORIGIN) as speaker:
            headers = {"Origin": ORIGIN}
            for answer in (
                await speaker.post("/v1/tools/echo/call", content=b"{", headers=headers),
                await speaker.get("/v1/tools/nonesuch", headers=headers),
                await speaker.get("/v1/tools", headers={**headers, "Authorization": "Bearer wrong"}),
            ):
                assert answer.status_code in (400, 401, 404)
                assert answer.headers["access-control-allow-origin"] == ORIGIN

    async def test_any_other_origin_is_not(self) -> None:
        async with allowing("https://other.example.com") as speaker:
            asked = await speaker.options("/v1/tools/echo/call", headers=preflight("POST"))
            assert asked.status_code == 400
            answer = await speaker.get("/v1/tools", headers={"Origin": ORIGIN})
            assert "access-control-allow-origin" not in answer.headers

    async def test_a_star_lets_any_origin_in_and_no_cookies(self) -> None:
        async with allowing("*") as speaker:
            answer = await speaker.get("/v1/tools", headers={"Origin": ORIGIN})
            assert answer.headers["access-control-allow-origin"] == "*"
            assert "access-control-allow-credentials" not in answer.headers


def counted(text: str) -> dict[str, float]:
    lines = (line.rsplit(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))
    return {name: float(value) for name, value in lines if not name.endswith("_created") and "_created{" not in name}


class TestState:
    async def test_health_and_readiness_need_no_key(self, board: Pegboard) -> None:
        async with client(board, key=None) as no_one:
            assert good(await no_one.get("/healthz")) == {"status": "ok"}
            assert good(await no_one.get("/readyz")) == {"status": "ready"}

    async def test_metrics_count_calls_durations_and_errors_by_kind_and_code(
        self, admin: httpx.AsyncClient, board: Pegboard
    ) -> None:
        await board.add(mock(input_schema={"type": "object", "required": ["a"]}))
        for path, body in (("echo", {}), ("echo", {}), ("quote", {"a": 1}), ("quote", {}), ("nonesuch", {})):
            good(await admin.post(f"/v1/tools/{path}/call", json=body))
        answer = await admin.get("/metrics")
        assert answer.headers["content-type"].startswith("text/plain")
        found = counted(answer.text)
        assert found['pegboard_calls_total{kind="builtin",outcome="success"}'] == 2
        assert found['pegboard_calls_total{kind="mock",outcome="success"}'] == 1
        assert found['pegboard_calls_total{kind="mock",outcome="error"}'] == 1
        assert found['pegboard_call_errors_total{code="missing",kind="mock"}'] == 1
        assert found['pegboard_call_errors_total{code="tool_not_found",kind="none"}'] == 1
        assert found['pegboard_call_duration_seconds_count{kind="builtin"}'] == 2
        assert found["pegboard_calls_in_flight"] == 0

    async def test_metrics_show_a_call_while_it_runs(self, admin: httpx.AsyncClient, board: Pegboard) -> None:
        seen = []

        @board.handler("look")
        async def look() -> None:
            seen.append(counted((await admin.get("/metrics")).text)["pegboard_calls_in_flight"])

        await board.add(mock("look", tool_type="internal", config={"handler": "look"}))
        good(await admin.post("/v1/tools/look/call"))
        assert seen == [1]

    async def test_the_names_of_metrics_are_valid(self, admin: httpx.AsyncClient) -> None:
        for name in counted((await admin.get("/metrics")).text):
            assert re.match(r"[a-zA-Z_:][a-zA-Z0-9_:]*(\{.*\})?$", name)
