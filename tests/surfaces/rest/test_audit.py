"""The journal as a whole over HTTP: verified, exported, pruned, by admins."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from pegboard import Pegboard
from tests.surfaces.rest.clients import client, good, new_user, problem

NOW = datetime.now(UTC).isoformat()
ROUTES: list[tuple[str, str, Any]] = [
    ("POST", "/v1/executions/verify", {}),
    ("POST", "/v1/executions/verify-export", {"lines": []}),
    ("GET", "/v1/executions/export", None),
    ("POST", "/v1/executions/prune", {"before": "2000-01-01T00:00:00Z"}),
]


async def make_calls(board: Pegboard, times: int = 3) -> None:
    for place in range(times):
        await board.call("echo", {"n": place})


async def tampered(board: Pegboard, statement: str) -> None:
    async with board.database.write() as conn:
        await conn.execute(text(statement))


async def verified(speaker: httpx.AsyncClient, **body: Any) -> dict[str, Any]:
    """Return all responses of a verification as one."""
    whole: dict[str, Any] = {"checked": 0, "findings": [], "notes": []}
    position = None
    for _ in range(100):
        answer = good(await speaker.post("/v1/executions/verify", json={**body, "next": position}))
        assert set(answer) == {"checked", "findings", "notes", "next", "total"}
        for name in whole:
            whole[name] += answer[name]
        position = answer["next"]
        if position is None:
            return whole
    raise AssertionError("the verification does not end")


async def exported(speaker: httpx.AsyncClient, **params: Any) -> list[str]:
    """All lines of an export."""
    lines: list[str] = []
    cursor: str | None = None
    for _ in range(100):
        answer = await speaker.get("/v1/executions/export", params={**params, **({"cursor": cursor} if cursor else {})})
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"].startswith("application/x-ndjson")
        lines += answer.text.split("\n")[:-1]
        cursor = answer.headers.get("x-next-cursor")
        if cursor is None:
            return lines
    raise AssertionError("the export does not end")


class TestWho:
    async def test_members_and_keys_of_agents_are_refused(self, admin: httpx.AsyncClient, board: Pegboard) -> None:
        _, member = await new_user(admin, "mel")
        me = good(await admin.get("/v1/me"))["user"]["id"]
        agent = good(await admin.post("/v1/agents", json={"name": "a", "tools": []}), 201)["id"]
        bound = good(await admin.post(f"/v1/users/{me}/keys", json={"agent_id": agent}), 201)["key"]
        for key, why in ((member, "Only admins may"), (bound, "bound to an agent")):
            async with client(board, key) as speaker:
                for method, path, body in ROUTES:
                    assert why in problem(await speaker.request(method, path, json=body), 403)["detail"]
        async with client(board, None) as no_one:
            for method, path, body in ROUTES:
                problem(await no_one.request(method, path, json=body), 401)


class TestVerify:
    @pytest.mark.parametrize("limit", [1, 20_000])
    async def test_a_boards_own_journal_is_clean(
        self, stored_board: Pegboard, stored_admin: httpx.AsyncClient, limit: int
    ) -> None:
        await make_calls(stored_board)
        assert await verified(stored_admin, limit=limit) == {"checked": 3, "findings": [], "notes": []}

    async def test_a_changed_row_is_named(self, stored_board: Pegboard, stored_admin: httpx.AsyncClient) -> None:
        await make_calls(stored_board)
        await tampered(stored_board, "UPDATE executions SET caller = 'eve' WHERE seq = 2")
        [row] = [row for row in good(await stored_admin.get("/v1/executions"))["items"] if row["caller"] == "eve"]
        assert (await verified(stored_admin))["findings"] == [
            {
                "kind": "changed",
                "message": f"Row 2 of writer 1, execution {row['id']}, is not as the board wrote it",
                "writer": 1,
                "first": 2,
                "last": 2,
                "execution_id": row["id"],
            }
        ]
        assert (await verified(stored_admin, writer=1, first=3))["findings"] == []
        assert (await verified(stored_admin, since=NOW))["checked"] == 3
        assert (await verified(stored_admin, until="2000-01-01T00:00:00Z"))["checked"] == 0

    @pytest.mark.parametrize(
        "body",
        [
            {"first": 1},
            {"last": 1},
            {"writer": 0},
            {"writer": 2**40},
            {"writer": 1, "first": 2**70},
            {"limit": 0},
            {"limit": 10**9},
            {"since": "yesterday"},
            {"next": "x"},
            {"next": {}},
            {"next": {"writer": 2**40}},
            {"nonsense": 1},
        ],
        ids=str,
    )
    async def test_what_makes_no_sense_is_refused(self, admin: httpx.AsyncClient, body: dict[str, Any]) -> None:
        problem(await admin.post("/v1/executions/verify", json=body), 422)


class TestExport:
    @pytest.mark.parametrize("limit", [1, 1000])
    async def test_it_verifies_by_itself(
        self, stored_board: Pegboard, stored_admin: httpx.AsyncClient, limit: int
    ) -> None:
        await make_calls(stored_board)
        lines = await exported(stored_admin, limit=limit)
        assert [next(iter(json.loads(line))) for line in lines] == [
            *("pegboard_export", "pegboard_writer", "id", "id", "id", "pegboard_head", "pegboard_end")
        ]
        answer = good(await stored_admin.post("/v1/executions/verify-export", json={"lines": lines, "compare": True}))
        assert answer == {"checked": 3, "findings": [], "notes": [], "next": None}

    async def test_its_rows_are_those_of_the_api(self, board: Pegboard, admin: httpx.AsyncClient) -> None:
        await make_calls(board, 1)
        row = json.loads((await exported(admin))[2])
        shown = good(await admin.get(f"/v1/executions/{row['id']}"))
        for name in ("started_at", "finished_at"):
            assert datetime.fromisoformat(row.pop(name)) == datetime.fromisoformat(shown.pop(name))
        assert {name: row[name] for name in shown} == shown
        assert set(row) - set(shown) == {"writer", "seq", "mac", "previous"}

    async def test_a_file_is_checked_in_pieces(self, board: Pegboard, admin: httpx.AsyncClient) -> None:
        await make_calls(board)
        lines = await exported(admin)
        lines[3] = lines[3].replace('"echo"', '"ohce"')
        position, findings = None, []
        for place, line in enumerate(lines):
            body = {"lines": [line], "last": place == len(lines) - 1, "next": position}
            answer = good(await admin.post("/v1/executions/verify-export", json=body))
            findings += answer["findings"]
            position = answer["next"]
        assert position is None
        assert [(finding["kind"], finding["first"]) for finding in findings] == [("changed", 2)]

    @pytest.mark.parametrize("name", ["mac", "previous", "id"])
    @pytest.mark.parametrize("last", [True, False])
    async def test_a_tampered_file_is_answered_whatever_it_holds(
        self, board: Pegboard, admin: httpx.AsyncClient, name: str, last: bool
    ) -> None:
        await make_calls(board)
        lines = await exported(admin)
        lines[3] = json.dumps({**json.loads(lines[3]), name: "\ud800"})
        body = {"lines": lines if last else lines[:4], "last": last}
        answer = good(await admin.post("/v1/executions/verify-export", json=body))
        assert [finding["first"] for finding in answer["findings"]] == [2]

    async def test_a_span_of_time_is_exported(self, board: Pegboard, admin: httpx.AsyncClient) -> None:
        await make_calls(board)
        assert len(await exported(admin, until="2000-01-01T00:00:00Z")) == 4
        assert len(await exported(admin, since="2000-01-01T00:00:00Z")) == 7

    async def test_what_makes_no_sense_is_refused(self, admin: httpx.AsyncClient) -> None:
        for params in ({"cursor": "x"}, {"cursor": "ÿ"}, {"cursor": "e30x"}, {"limit": "0"}, {"since": "1"}):
            problem(await admin.get("/v1/executions/export", params=params), 422)
        bodies: list[Any] = [
            {},
            {"lines": ["nonsense"]},
            {"lines": []},
            {"lines": [1]},
            {"lines": [], "next": {"line": "x"}},
        ]
        for body in bodies:
            problem(await admin.post("/v1/executions/verify-export", json=body), 422)


class TestPrune:
    async def test_old_rows_go_and_the_rest_verifies(
        self, stored_board: Pegboard, stored_admin: httpx.AsyncClient
    ) -> None:
        await make_calls(stored_board)
        moment = datetime.now(UTC).isoformat()
        await make_calls(stored_board, 2)
        path = "/v1/executions/prune"
        planned = good(await stored_admin.post(path, json={"before": moment, "dry_run": True}))
        assert planned == {"removed": 3, "more": False}
        assert good(await stored_admin.post(path, json={"before": moment, "limit": 2})) == {"removed": 2, "more": True}
        assert good(await stored_admin.post(path, json={"before": moment})) == {"removed": 1, "more": False}
        assert await verified(stored_admin) == {"checked": 2, "findings": [], "notes": ["3 rows pruned"]}
        await make_calls(stored_board, 1)
        assert (await verified(stored_admin))["checked"] == 3
        assert len(good(await stored_admin.get("/v1/executions"))["items"]) == 3

    async def test_a_tampered_journal_is_pruned_only_by_force(self, board: Pegboard, admin: httpx.AsyncClient) -> None:
        await make_calls(board)
        await tampered(board, "UPDATE executions SET caller = 'eve' WHERE seq = 2")
        body = {"before": datetime.now(UTC).isoformat()}
        refused = problem(await admin.post("/v1/executions/prune", json=body), 409)
        assert refused["detail"].startswith("Row 2 of writer 1")
        assert good(await admin.post("/v1/executions/prune", json={**body, "force": True}))["removed"] == 3

    async def test_what_makes_no_sense_is_refused(self, admin: httpx.AsyncClient) -> None:
        future = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
        for body in ({}, {"before": future}, {"before": "30d"}, {"before": NOW, "limit": 0}, {"before": NOW, "x": 1}):
            problem(await admin.post("/v1/executions/prune", json=body), 422)
