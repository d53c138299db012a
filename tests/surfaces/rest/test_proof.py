"""Proofs of single rows, and when the whole journal was last verified."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from sqlalchemy import text

from pegboard import Pegboard
from pegboard.testing import calls_of
from tests.surfaces.rest.clients import client, good, new_user, problem


async def tampered(board: Pegboard, statement: str) -> None:
    async with board.database.write() as conn:
        await conn.execute(text(statement))


async def verified(speaker: httpx.AsyncClient, limit: int, **body: Any) -> None:
    """Verify to the end, some rows at a time."""
    position = None
    for _ in range(100):
        sent = {**body, "limit": limit, "next": position}
        position = good(await speaker.post("/v1/executions/verify", json=sent))["next"]
        if position is None:
            return
    raise AssertionError("the verification does not end")


async def last(speaker: httpx.AsyncClient) -> Any:
    return good(await speaker.get("/v1/executions/verification"))["last"]


async def test_a_row_is_proved_by_its_place_in_the_chain(
    stored_board: Pegboard, stored_admin: httpx.AsyncClient
) -> None:
    for number in range(4):
        await stored_board.call("echo", {"n": number})
    first, second, third, fourth = await calls_of(stored_board)
    proof = good(await stored_admin.get(f"/v1/executions/{second.id}/proof"))
    assert (proof["number"], proof["is_genuine"], proof["findings"], proof["note"]) == (2, True, [], None)
    assert len(proof["mac"]) == 32
    await tampered(stored_board, "UPDATE executions SET caller = 'mallory' WHERE seq = 3")
    proof = good(await stored_admin.get(f"/v1/executions/{third.id}/proof"))
    assert proof["is_genuine"] is False
    assert [(each["kind"], each["execution_id"]) for each in proof["findings"]] == [("changed", third.id)]
    for other in (first, second, fourth):
        assert good(await stored_admin.get(f"/v1/executions/{other.id}/proof"))["is_genuine"] is True
    await tampered(stored_board, "UPDATE executions SET writer = NULL, seq = NULL WHERE seq = 4")
    proof = good(await stored_admin.get(f"/v1/executions/{fourth.id}/proof"))
    assert (proof["is_genuine"], proof["writer"]) == (None, None)
    assert "in no hash chain" in proof["note"]


async def test_a_member_proves_their_own_rows_only(board: Pegboard, admin: httpx.AsyncClient) -> None:
    await board.call("echo", {})
    [row] = await calls_of(board)
    _, key = await new_user(admin, "ada")
    async with client(board, key) as ada:
        problem(await ada.get(f"/v1/executions/{row.id}/proof"), 404)
        own = (await ada.post("/v1/tools/echo/call", json={})).headers["x-execution-id"]
        assert good(await ada.get(f"/v1/executions/{own}/proof"))["is_genuine"] is True
        problem(await ada.get("/v1/executions/verification"), 403)
    problem(await admin.get("/v1/executions/nonsense/proof"), 404)


async def test_a_verification_of_the_whole_journal_is_recorded_at_its_end(
    stored_board: Pegboard, stored_admin: httpx.AsyncClient
) -> None:
    assert await last(stored_admin) is None
    for number in range(5):
        await stored_board.call("echo", {"n": number})
    await verified(stored_admin, 2)
    recorded = await last(stored_admin)
    assert (recorded["checked"], recorded["findings"], recorded["caller"]) == (5, {}, "admin")
    assert recorded["started_at"] < recorded["finished_at"]
    await verified(stored_admin, 100, writer=1)
    await verified(stored_admin, 100, since="2020-01-01T00:00:00Z")
    assert await last(stored_admin) == recorded
    await tampered(stored_board, "UPDATE executions SET caller = 'mallory' WHERE seq = 2")
    await verified(stored_admin, 2)
    again = await last(stored_admin)
    assert (again["checked"], again["findings"]) == (5, {"changed": 1})


@pytest.mark.parametrize("change", [{"checked": 1000}, {"findings": {}}, {"mac": "0" * 32}])
async def test_a_client_cannot_skip_rows_and_have_the_end_recorded(
    board: Pegboard, admin: httpx.AsyncClient, change: dict[str, Any]
) -> None:
    for number in range(5):
        await board.call("echo", {"n": number})
    await tampered(board, "UPDATE executions SET caller = 'mallory' WHERE seq = 1")
    path = "/v1/executions/verify"
    position = good(await admin.post(path, json={"limit": 2}))["next"]
    forged = {**position, "progress": {**position["progress"], **change}}
    elsewhere = {**position, "seq": 4}
    for sent in (forged, elsewhere, {**position, "progress": None}):
        assert good(await admin.post(path, json={"limit": 100, "next": sent}))["next"] is None
        assert await last(admin) is None
    assert good(await admin.post(path, json={"limit": 100, "next": position}))["next"] is None
    assert (await last(admin))["findings"] == {"changed": 1}


async def test_a_record_that_the_board_did_not_write_counts_for_nothing(
    stored_board: Pegboard, stored_admin: httpx.AsyncClient
) -> None:
    await stored_board.call("echo", {})
    await verified(stored_admin, 100)
    assert await last(stored_admin) is not None
    await tampered(stored_board, "UPDATE verifications SET checked = 1000")
    assert await last(stored_admin) is None
