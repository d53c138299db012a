"""Sessions of the web console: log-in, cookies, requests of other sites, and how sessions end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from sqlalchemy import text

from pegboard import Pegboard
from pegboard.storage import account_rows
from pegboard.storage.database import Database
from pegboard.surfaces.rest.app import create_app
from pegboard.surfaces.rest.login_limit import MAX_FAILURES, PERIOD_SECONDS, LoginLimit
from pegboard.testing import NoSettings, calls_of, memory_board
from tests.board_surfaces import KEY
from tests.surfaces.mcp.rpc import STATELESS, RpcClient
from tests.surfaces.rest.clients import bearer, client, good, mock, new_user, problem
from tests.waiting import until

HERE = "http://127.0.0.1:8080"
SAME_SITE = {"Origin": HERE, "Sec-Fetch-Site": "same-origin"}


@asynccontextmanager
async def browser(
    board: Pegboard, address: str = HERE, headers: dict[str, str] | None = None
) -> AsyncIterator[httpx.AsyncClient]:
    """A browser with a page of the board at this address."""
    transport = httpx.ASGITransport(create_app(board, "test"), raise_app_exceptions=False, client=("192.0.2.7", 5))
    sent = {"Origin": address, "Sec-Fetch-Site": "same-origin"} if headers is None else headers
    async with httpx.AsyncClient(transport=transport, base_url=address, headers=sent) as opened:
        yield opened


async def log_in(page: httpx.AsyncClient, key: str = KEY) -> dict[str, Any]:
    """The session that a key opens."""
    session: dict[str, Any] = good(await page.post("/v1/sessions", json={"key": key}), 201)
    return session


async def test_a_key_opens_a_session_whose_calls_are_journaled_with_it(stored_board: Pegboard) -> None:
    async with browser(stored_board) as page:
        problem(await page.get("/v1/me"), 401)
        answer = await page.post("/v1/sessions", json={"key": KEY}, headers={"User-Agent": "Testfox"})
        session = good(answer, 201)
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("pegboard-8080=pbs_")
        assert cookie.split("; ")[2:] == ["Path=/", "HttpOnly", "SameSite=Strict"]
        assert 43_100 < int(cookie.split("; ")[1].removeprefix("Max-Age=")) <= 43_200
        assert answer.headers["cache-control"] == "no-store"
        assert "pbs_" not in answer.text
        me = await page.get("/v1/me")
        assert good(me)["key_id"] == session["id"]
        assert (me.headers["cache-control"], me.headers["x-content-type-options"]) == ("no-store", "nosniff")
        good(await page.post("/v1/tools/echo/call", json={"a": 1}))
        good(await page.post("/v1/calls", json={"name": "echo", "arguments": {"a": 1}}))
        followed = await page.post("/v1/calls", json={"name": "echo"}, headers={"Accept": "text/event-stream"})
        assert "event: complete" in followed.text
        rpc = RpcClient(page, STATELESS)
        assert (await rpc.call("echo", {"a": 1}))["structuredContent"] == {"echo": {"a": 1}}
        rows = await calls_of(stored_board, "echo")
        assert [(row.surface, row.key_id) for row in rows] == [("console", session["id"])] * 4
        [listed] = good(await page.get("/v1/sessions"))["items"]
        assert (listed["client"], listed["is_current"], listed["key_id"]) == ("Testfox", True, session["key_id"])
        assert listed["last_used_at"] is not None
        keys = good(await page.get(f"/v1/users/{session['user_id']}/keys"))["items"]
        assert [key["id"] for key in keys] == [session["key_id"]]


async def test_a_session_ends_by_logging_out(stored_board: Pegboard) -> None:
    async with browser(stored_board) as page, browser(stored_board) as other:
        first = await log_in(page)
        await log_in(other)
        stolen = dict(page.cookies)
        ended = await page.delete("/v1/sessions/current")
        good(ended, 204)
        assert ended.headers["set-cookie"].startswith("pegboard-8080=; Max-Age=0; Path=/; HttpOnly")
        assert not page.cookies
        page.cookies.update(stolen)
        assert "ended" in problem(await page.get("/v1/me"), 401)["detail"]
        assert len(good(await other.get("/v1/sessions"))["items"]) == 1
        problem(await other.delete("/v1/sessions/unknown"), 404)
        good(await other.delete(f"/v1/sessions/{first['id']}"), 204)
    async with client(stored_board) as admin:
        problem(await admin.delete("/v1/sessions/current"), 404)
        [left] = good(await admin.get("/v1/sessions"))["items"]
        assert left["is_current"] is False
        good(await admin.delete(f"/v1/sessions/{left['id']}"), 204)
        assert good(await admin.get("/v1/sessions"))["items"] == []


@pytest.mark.parametrize("how", ["key", "user"])
async def test_a_session_ends_with_its_key_and_its_user(stored_board: Pegboard, how: str) -> None:
    async with client(stored_board) as admin, browser(stored_board) as page:
        user_id, key = await new_user(admin, "ada")
        session = await log_in(page, key)
        good(await page.get("/v1/me"))
        path = f"/v1/users/{user_id}"
        good(await admin.delete(f"{path}/keys/{session['key_id']}" if how == "key" else path), 204)
        assert "log in" in problem(await page.get("/v1/me"), 401)["detail"]
        problem(await page.post("/v1/tools/echo/call", json={}), 401)


async def test_a_session_lasts_no_longer_than_its_key(board: Pegboard) -> None:
    async with client(board) as admin, browser(board) as page:
        ends = datetime.now(UTC) + timedelta(hours=1)
        _, key = await new_user(admin, "ada", expires_at=ends.isoformat())
        assert datetime.fromisoformat((await log_in(page, key))["expires_at"]) == ends


async def test_a_session_ends_after_idle_time_in_every_process(database_url: str, tmp_path: Path) -> None:
    settings = NoSettings(home=tmp_path / "home", admin_key=KEY, session_idle_seconds=600)
    async with Pegboard.open(database_url, settings=settings) as board, browser(board) as page:
        await log_in(page)
        cookies = dict(page.cookies)
    for idle_minutes, is_over in ((9, False), (11, True)):
        await _move_last_use(database_url, timedelta(minutes=idle_minutes))
        async with Pegboard.open(database_url, settings=settings) as board, browser(board) as page:
            page.cookies.update(cookies)
            answer = await page.get("/v1/me")
            async with client(board) as admin:
                listed = good(await admin.get("/v1/sessions"))["items"]
            if is_over:
                assert "not used for too long" in problem(answer, 401)["detail"]
                assert listed == []
            else:
                good(answer)
                assert len(listed) == 1


async def _move_last_use(database_url: str, ago: timedelta) -> None:
    database = Database.create(database_url)
    async with database.write() as conn:
        [session_id] = (await conn.execute(text("SELECT id FROM api_keys WHERE kind = 'session'"))).scalars()
        await conn.execute(text("UPDATE api_keys SET last_used_at = NULL"))
        await account_rows.save_key_uses(conn, {str(UUID(str(session_id))): datetime.now(UTC) - ago})
    await database.close()


async def test_a_session_ends_after_its_longest_duration(board: Pegboard) -> None:
    async with browser(board) as page:
        session = await log_in(page)
        assert datetime.fromisoformat(session["expires_at"]) - datetime.now(UTC) <= timedelta(hours=12)
    short = NoSettings(admin_key=KEY).model_copy(update={"session_seconds": 0, "database_url": "memory"})
    async with Pegboard.open(settings=short) as over, browser(over) as page:
        good(await page.post("/v1/sessions", json={"key": KEY}), 201)
        assert "longest duration" in problem(await page.get("/v1/me"), 401)["detail"]


async def test_a_code_logs_in_once_and_only_for_a_minute(stored_board: Pegboard) -> None:
    async with client(stored_board) as admin, browser(stored_board) as page, browser(stored_board) as other:
        made = good(await admin.post("/v1/sessions/codes"), 201)
        assert datetime.fromisoformat(made["expires_at"]) - datetime.now(UTC) <= timedelta(seconds=60)
        problem(await admin.get("/v1/me", headers=bearer(made["code"])), 401)
        session = good(await page.post("/v1/sessions", json={"code": made["code"]}), 201)
        assert good(await page.get("/v1/me"))["key_id"] == session["id"]
        late = "pegboard console --print"
        assert late in problem(await other.post("/v1/sessions", json={"code": made["code"]}), 401)["detail"]
        again = good(await admin.post("/v1/sessions/codes"), 201)
        async with stored_board.database.write() as conn:  # the code of another moment has another MAC
            await conn.execute(text("UPDATE api_keys SET name = 'changed' WHERE kind = 'code'"))
        problem(await other.post("/v1/sessions", json={"code": again["code"]}), 401)
        assert "not with a session" in problem(await page.post("/v1/sessions/codes"), 403)["detail"]


async def test_a_session_is_no_key_and_a_key_is_no_session(board: Pegboard) -> None:
    async with browser(board) as page:
        await log_in(page)
        token = page.cookies["pegboard-8080"]
        problem(await page.get("/v1/me", headers=bearer(token)), 401)
        page.cookies.clear()
        for wrong in (KEY, token + "x", ""):
            answer = await page.get("/v1/me", headers={"Cookie": f"pegboard-8080={wrong}"})
            assert "not known here" in problem(answer, 401)["detail"]
        twice = await page.get("/v1/me", headers={"Cookie": f"pegboard-8080={token}; pegboard-8080={token}"})
        assert "several cookies" in problem(twice, 401)["detail"]


async def test_the_key_counts_alone_if_there_is_one(board: Pegboard) -> None:
    async with client(board) as admin, browser(board) as page:
        _, key = await new_user(admin, "ada")
        await log_in(page)
        answer = await page.get("/v1/me", headers=bearer(key) | {"Origin": "https://evil.example"})
        assert good(answer)["user"]["name"] == "ada"
        problem(await page.get("/v1/me", headers=bearer("wrong")), 401)
        problem(await page.post("/v1/tools/echo/call", json={}, headers=bearer("wrong")), 401)
        both = [("Authorization", f"Bearer {KEY}"), ("Authorization", f"Bearer {key}")]
        problem(await page.get("/v1/me", headers=both), 401)


OTHERS = [
    {"Origin": "https://evil.example"},
    {"Origin": "http://127.0.0.1:9090"},
    {"Origin": "http://localhost:8080"},
    {"Origin": "null"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "none"},
]


@pytest.mark.parametrize("headers", OTHERS, ids=str)
async def test_a_page_of_another_origin_has_no_effect(board: Pegboard, headers: dict[str, str]) -> None:
    async with browser(board) as page:
        await log_in(page)
        cookies = dict(page.cookies)
        foreign = SAME_SITE | headers
        problem(await page.get("/v1/executions", headers=foreign), 403)
        problem(await page.get("/v1/executions/stream", headers=foreign), 403)
        problem(await page.post("/v1/tools/echo/call", json={}, headers=foreign), 403)
        problem(await page.post("/v1/calls", json={"name": "echo"}, headers=foreign), 403)
        problem(await page.post("/v1/tools", json=mock(), headers=foreign), 403)
        over_mcp = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        assert (await page.post("/mcp", json=over_mcp, headers=foreign)).status_code == 403
        problem(await page.delete("/v1/sessions/current", headers=foreign), 403)
        problem(await page.post("/v1/sessions", json={"key": KEY}, headers=foreign), 403)
    async with browser(board, headers={}) as old:
        old.cookies.update(cookies)
        good(await old.get("/v1/me"))
        problem(await old.post("/v1/tools/echo/call", json={}), 403)  # no Origin
        good(await old.post("/v1/tools/echo/call", json={}, headers={"Origin": HERE}))
    assert len(await calls_of(board)) == 1


@pytest.mark.parametrize(
    "address", ["http://192.0.2.1:8080", "http://evil.example:8080", "https://tools.example", "http://127.0.0.1.x"]
)
async def test_other_addresses_have_no_session_and_the_message_names_the_way_out(board: Pegboard, address: str) -> None:
    async with browser(board) as page:
        await log_in(page)
        cookies = dict(page.cookies)
    async with browser(board, address) as elsewhere:
        refused = problem(await elsewhere.post("/v1/sessions", json={"key": KEY}), 403)
        assert "PEGBOARD_PUBLIC_URL" in refused["detail"]
        assert "ssh -L 8080:127.0.0.1:8080" in refused["detail"]
        assert "set-cookie" not in (await elsewhere.get("/v1/me")).headers
        elsewhere.cookies.update(cookies)
        problem(await elsewhere.get("/v1/me"), 401)


async def test_the_public_url_has_sessions_over_tls(tmp_path: Path) -> None:
    async with memory_board(admin_key=KEY, public_url="https://Tools.example/board/") as board:
        # The proxy ends TLS, so that the server itself is reached over http.
        async with browser(board, "http://tools.example", {"Origin": "https://tools.example"}) as page:
            answer = await page.post("/v1/sessions", json={"key": KEY})
            good(answer, 201)
            cookie = answer.headers["set-cookie"]
            assert cookie.startswith("__Host-pegboard=pbs_")
            assert cookie.endswith("; Path=/; HttpOnly; SameSite=Strict; Secure")
            page.headers["Cookie"] = cookie.split(";")[0]
            good(await page.get("/v1/me"))
            good(await page.post("/v1/tools/echo/call", json={}))
            problem(await page.get("/v1/me", headers={"Origin": "http://tools.example"}), 403)
        async with browser(board) as page:  # the loopback address works beside it
            await log_in(page)
            good(await page.get("/v1/me"))
    async with (
        memory_board(admin_key=KEY, public_url="http://tools.example") as board,
        browser(board, "http://tools.example") as page,
    ):
        problem(await page.post("/v1/sessions", json={"key": KEY}), 403)


async def test_a_key_of_an_agent_is_refused_with_the_reason(board: Pegboard) -> None:
    async with client(board) as admin, browser(board) as page:
        agent = good(await admin.post("/v1/agents", json={"name": "robot", "tools": []}), 201)
        keys = f"/v1/users/{board.admin.user_id}/keys"
        key = good(await admin.post(keys, json={"agent_id": agent["id"]}), 201)["key"]
        assert "bound to an agent" in problem(await page.post("/v1/sessions", json={"key": key}), 403)["detail"]


@pytest.mark.parametrize(
    "body", [{}, {"key": KEY, "code": "x"}, {"key": None}, {"key": 5}, {"key": KEY, "more": 1}, [], None]
)
async def test_a_log_in_without_one_key_or_code_is_refused_without_the_key(board: Pegboard, body: Any) -> None:
    async with browser(board) as page:
        answer = await page.post("/v1/sessions", json=body)
        problem(answer, 422)
        assert KEY not in answer.text
        problem(await page.post("/v1/sessions", content=b"x" * 20_000), 413)
        problem(await page.post("/v1/sessions?key=x", json={"key": KEY}), 422)


async def test_ten_failures_in_a_minute_stop_an_address(board: Pegboard) -> None:
    async with browser(board) as page:
        for number in range(MAX_FAILURES):
            wrong = {"key": f"wrong-{number}"} if number % 2 else {"code": f"wrong-{number}"}
            problem(await page.post("/v1/sessions", json=wrong), 401)
        answer = await page.post("/v1/sessions", json={"key": KEY})
        assert "try again in" in problem(answer, 429)["detail"]
        assert 1 <= int(answer.headers["retry-after"]) <= PERIOD_SECONDS


def test_failures_count_for_a_minute_and_for_one_address() -> None:
    now = 1000.0
    limit = LoginLimit(lambda: now)
    for _ in range(MAX_FAILURES - 1):
        limit.count_failure("a")
    assert limit.get_wait_seconds("a") == 0
    now += 30
    limit.count_failure("a")
    assert limit.get_wait_seconds("a") == 30
    assert limit.get_wait_seconds("b") == 0
    now += 30
    assert limit.get_wait_seconds("a") == 0


async def test_revoking_the_key_of_the_own_session_needs_force(board: Pegboard) -> None:
    async with client(board) as admin, browser(board) as page:
        good(await admin.post(f"/v1/users/{board.admin.user_id}/keys", json={}), 201)
        session = await log_in(page)
        path = f"/v1/users/{board.admin.user_id}/keys/{session['key_id']}"
        assert "locked out" in problem(await page.delete(path), 409)["detail"]
        problem(await page.delete(f"/v1/users/{board.admin.user_id}/keys/{session['id']}"), 404)
        good(await page.delete(path, params={"force": "true"}), 204)
        problem(await page.get("/v1/me"), 401)


async def test_sessions_count_as_no_keys_of_admins(board: Pegboard) -> None:
    async with client(board) as admin, browser(board) as page:
        session = await log_in(page)
        path = f"/v1/users/{board.admin.user_id}/keys/{session['key_id']}"
        assert "last valid key of an admin" in problem(await admin.delete(path), 409)["detail"]


FORGERIES = {
    "kind": "UPDATE api_keys SET kind = 'key' WHERE kind = 'session'",
    "user": "UPDATE api_keys SET user_id = (SELECT id FROM users WHERE role = 'admin') WHERE kind = 'session'",
    "parent": "UPDATE api_keys SET parent_id = NULL WHERE kind = 'session'",
    "end": "UPDATE api_keys SET expires_at = '2999-01-01 00:00:00' WHERE kind = 'session'",
}


@pytest.mark.parametrize("statement", FORGERIES.values(), ids=FORGERIES)
async def test_a_changed_session_row_gives_no_rights(database_url: str, tmp_path: Path, statement: str) -> None:
    settings = NoSettings(home=tmp_path / "home", admin_key=KEY)
    async with Pegboard.open(database_url, settings=settings) as board:
        async with client(board) as admin, browser(board) as page:
            _, key = await new_user(admin, "ada")
            await log_in(page, key)
            cookies = dict(page.cookies)
        async with board.database.write() as conn:
            await conn.execute(text(statement))
    async with Pegboard.open(database_url, settings=settings) as board, browser(board) as page:
        page.cookies.update(cookies)
        problem(await page.get("/v1/me"), 401)
        problem(await page.get("/v1/me", headers=bearer(cookies["pegboard-8080"])), 401)


def _watched(board: Pegboard) -> Callable[[], Awaitable[bool]]:
    async def is_watched() -> bool:
        return board.watchers.is_watched

    return is_watched


async def test_an_open_stream_ends_with_its_session_and_is_no_use_of_it(board: Pegboard) -> None:
    async with browser(board) as page:
        session = await log_in(page)
        cookies = {"Cookie": f"pegboard-8080={page.cookies['pegboard-8080']}"}
        async with browser(board) as other:
            stream = asyncio.create_task(other.get("/v1/executions/stream", headers=cookies))
            await until(_watched(board))
            good(await page.delete(f"/v1/sessions/{session['id']}"), 204)
            await board.call("echo", {})  # the stream is checked before it sends the next event
            answer = await asyncio.wait_for(stream, 30)
        assert "event: error" in answer.text
        assert "This session was ended" in answer.text


async def test_a_check_of_a_session_is_no_use(database_url: str, tmp_path: Path) -> None:
    settings = NoSettings(home=tmp_path / "home", admin_key=KEY)
    async with Pegboard.open(database_url, settings=settings) as board, browser(board) as page:
        await log_in(page)
        token = page.cookies["pegboard-8080"]
    await _move_last_use(database_url, timedelta(minutes=30))
    async with Pegboard.open(database_url, settings=settings) as board, client(board) as admin:
        for is_use in (False, True):
            board.calls.authenticate_session(token, is_use=is_use)
            [listed] = good(await admin.get("/v1/sessions"))["items"]
            idle = datetime.now(UTC) - datetime.fromisoformat(listed["last_used_at"])
            assert (idle < timedelta(minutes=20)) is is_use


async def test_the_oldest_session_ends_when_there_are_too_many(
    board: Pegboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pegboard.registry.sessions.MAX_SESSIONS_PER_USER", 2)
    async with browser(board) as first, browser(board) as second, browser(board) as third:
        for page in (first, second, third):
            await log_in(page)
        problem(await first.get("/v1/me"), 401)
        good(await second.get("/v1/me"))
        good(await third.get("/v1/me"))


async def test_when_a_key_was_last_used_is_listed_and_kept(database_url: str, tmp_path: Path) -> None:
    settings = NoSettings(home=tmp_path / "home", admin_key=KEY)
    began = datetime.now(UTC).replace(microsecond=0)
    async with Pegboard.open(database_url, settings=settings) as board, client(board) as admin:
        user_id, key = await new_user(admin, "ada")
        [listed] = good(await admin.get(f"/v1/users/{user_id}/keys"))["items"]
        assert listed["last_used_at"] is None
        async with client(board, key) as ada:
            good(await ada.get("/v1/me"))
        [listed] = good(await admin.get(f"/v1/users/{user_id}/keys"))["items"]
        assert datetime.fromisoformat(listed["last_used_at"]) >= began
    async with Pegboard.open(database_url, settings=settings) as board, client(board) as admin:
        [again] = good(await admin.get(f"/v1/users/{user_id}/keys"))["items"]
        assert again["last_used_at"] == listed["last_used_at"]
