"""The baseline over REST: recording, resolving, listing and removing findings."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from pegboard import Pegboard
from tests.surfaces.rest.clients import client, good, new_user, problem, walked
from tests.unit.baseline.sample_findings import hashed, make_finding

FINDINGS = "/v1/baseline/findings"
RESOLVE = "/v1/baseline/resolve"


async def test_findings_are_recorded_listed_resolved_and_removed(stored_admin: httpx.AsyncClient) -> None:
    body = {"findings": [make_finding(1), make_finding(2), make_finding(2, seen_at="2026-01-02T03:04:05Z")]}
    recorded = good(await stored_admin.post(FINDINGS, json=body))
    assert recorded == {"recorded": 3, "new": 2, "recurring": 1, "reopened": 0}
    answer = good(await stored_admin.post(RESOLVE, json={"composite_hashes": [hashed(1), hashed(9)]}))
    assert answer == {"resolved": 1, "already_resolved": 0, "unknown": 1}
    listed = await walked(stored_admin, FINDINGS, limit=1)
    assert [one["composite_hash"] for one in listed] == sorted([hashed(1), hashed(2)])
    (found,) = (await stored_admin.get(FINDINGS, params={"status": "recurring"})).json()["items"]
    assert found == {
        "composite_hash": hashed(2),
        "finding_id": "f-2",
        "baseline_status": "recurring",
        "first_seen_at": "2026-01-02T03:04:05Z",
        "last_seen_at": found["last_seen_at"],
        "seen_count": 2,
        "resolved_at": None,
    }
    (found,) = (await stored_admin.get(FINDINGS, params={"status": "resolved"})).json()["items"]
    assert (found["composite_hash"], found["baseline_status"]) == (hashed(1), "resolved")
    assert good(await stored_admin.delete(FINDINGS, params={"status": "resolved"})) == {"removed": 1}
    good(await stored_admin.delete(f"{FINDINGS}/{hashed(2)}"), 204)
    problem(await stored_admin.delete(f"{FINDINGS}/{hashed(2)}"), 404)
    assert await walked(stored_admin, FINDINGS) == []


async def test_the_tools_see_what_was_recorded(admin: httpx.AsyncClient) -> None:
    good(await admin.post(FINDINGS, json={"findings": [make_finding(1)]}))
    asked = {"finding_id": "mine", "composite_hash": hashed(1), "query_type": "baseline_check"}
    answer = good(await admin.post("/v1/tools/query_baseline/call", json=asked, params={"as": "plain"}))
    assert answer["result"]["seen_count"] == 1


@pytest.mark.parametrize(
    ("path", "body", "field", "message"),
    [
        (FINDINGS, {}, "findings", "must be a list"),
        (
            FINDINGS,
            {"findings": [make_finding(1), make_finding(2, composite_hash="a")]},
            "findings.1.composite_hash",
            "has 1 char",
        ),
        (
            FINDINGS,
            {"findings": [make_finding(1, seen_at="2999-01-01T00:00:00Z")]},
            "findings.0.seen_at",
            "5 minutes in the",
        ),
        (FINDINGS, {"findings": [make_finding(1)], "batch_size": 1}, "batch_size", "is not known"),
        (FINDINGS, {"findings": [make_finding(1)], "scope": "all"}, "scope", "must be 'own' or 'shared'"),
        (FINDINGS, {"findings": [make_finding(1)] * 100_001}, "findings", "has 100,001 entries, at most 100,000"),
        (RESOLVE, {}, "composite_hashes", "must be given, or findings in its place"),
        (RESOLVE, {"composite_hashes": ["x"]}, "composite_hashes.0", "64 hexadecimal characters"),
        (RESOLVE, {"composite_hashes": [hashed(1)], "findings": [make_finding(1)]}, "composite_hashes", "not both"),
        (FINDINGS, [], "body", "must be a JSON object"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_bad_body_is_refused_by_field(
    admin: httpx.AsyncClient, path: str, body: Any, field: str, message: str
) -> None:
    refused = problem(await admin.post(path, json=body), 422)
    assert refused["errors"][0]["field"] == field
    assert message in refused["errors"][0]["message"]
    assert good(await admin.get(FINDINGS))["items"] == []


async def test_what_is_no_json_or_far_too_large_is_refused(admin: httpx.AsyncClient) -> None:
    assert "Not valid JSON" in problem(await admin.post(FINDINGS, content=b"{"), 400)["detail"]
    problem(await admin.post(FINDINGS, content=b" " * (48 * 2**20 + 1)), 413)


async def test_a_hundred_thousand_are_recorded_in_one_request(admin: httpx.AsyncClient) -> None:
    body = {"findings": [make_finding(number, seen_at="2026-01-02T03:04:05.678901Z") for number in range(100_000)]}
    assert good(await admin.post(FINDINGS, json=body))["new"] == 100_000


@pytest.mark.parametrize(
    "params", [{"status": "new"}, {"scope": "all"}, {"limit": 0}, {"cursor": "x"}, {"limit": 201}], ids=str
)
async def test_a_bad_question_is_refused(admin: httpx.AsyncClient, params: dict[str, Any]) -> None:
    problem(await admin.get(FINDINGS, params=params), 422)


async def test_nothing_is_removed_that_was_not_named(admin: httpx.AsyncClient) -> None:
    good(await admin.post(FINDINGS, json={"findings": [make_finding(1)]}))
    problem(await admin.delete(FINDINGS), 422)
    problem(await admin.delete(f"{FINDINGS}/abc"), 422)
    assert len(good(await admin.get(FINDINGS))["items"]) == 1
    assert good(await admin.delete(FINDINGS, params={"status": "all"})) == {"removed": 1}


async def test_members_have_their_own_and_only_admins_change_the_shared(
    board: Pegboard, admin: httpx.AsyncClient
) -> None:
    shared = {"scope": "shared"}
    good(await admin.post(FINDINGS, json={"findings": [make_finding(1)], **shared}))
    _, one_key = await new_user(admin, "one")
    _, other_key = await new_user(admin, "other")
    async with client(board, one_key) as one, client(board, other_key) as other:
        good(await one.post(FINDINGS, json={"findings": [make_finding(2)]}))
        assert [it["finding_id"] for it in await walked(one, FINDINGS)] == ["f-2"]
        for other_user in (other, admin):
            assert await walked(other_user, FINDINGS) == []
        for other_user in (one, other, admin):
            assert [it["finding_id"] for it in await walked(other_user, FINDINGS, **shared)] == ["f-1"]
        refused = [
            await one.post(FINDINGS, json={"findings": [make_finding(3)], **shared}),
            await one.post(RESOLVE, json={"composite_hashes": [hashed(1)], **shared}),
            await one.delete(f"{FINDINGS}/{hashed(1)}", params=shared),
            await one.delete(FINDINGS, params={"status": "all", **shared}),
        ]
        for answer in refused:
            assert "admins" in problem(answer, 403)["detail"]
    assert len(await walked(admin, FINDINGS, **shared)) == 1


async def test_a_key_of_an_agent_calls_the_tools_and_nothing_else(board: Pegboard, admin: httpx.AsyncClient) -> None:
    me = good(await admin.get("/v1/me"))["user"]["id"]
    agent = good(await admin.post("/v1/agents", json={"name": "one", "tools": ["record_findings"]}), 201)
    made = good(await admin.post(f"/v1/users/{me}/keys", json={"agent_id": agent["id"]}), 201)
    async with client(board, made["key"]) as bound:
        problem(await bound.get(FINDINGS), 403)
        problem(await bound.post(FINDINGS, json={"findings": []}), 403)
        path, plain = "/v1/tools/record_findings/call", {"as": "plain"}
        assert good(await bound.post(path, json={"findings": [make_finding(1)]}, params=plain))["success"] is True
        shared = {"findings": [make_finding(1)], "additional_params": {"scope": "shared"}}
        assert "admins" in good(await bound.post(path, json=shared, params=plain))["error"]
