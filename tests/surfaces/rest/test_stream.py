"""Followed calls: `POST /v1/calls` with `Accept: text/event-stream`, and repeated reads of their events."""

from __future__ import annotations

import asyncio

import anyio
import httpx
import pytest

from pegboard import Pegboard
from pegboard.model.call import CallContext
from pegboard.surfaces.rest import event_stream
from pegboard.testing import calls_of
from tests.board_surfaces import KEY, served
from tests.surfaces.rest.clients import bearer, client, good, new_user, problem
from tests.surfaces.rest.streams import EVENTS, parsed, reading, replace_following
from tests.waiting import until

CALLS = "/v1/calls"
OPENAI = {
    "role": "assistant",
    "content": "Let me look.",
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "echo", "arguments": '{"a": 1}'}}],
}


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("text/event-stream", True),
        ("Text/Event-Stream; charset=utf-8", True),
        ("application/json, text/event-stream", True),
        ("*/*, text/event-stream;q=0.5", True),
        ("application/json;q=0.5, text/event-stream;q=oops", True),
        ("*/*", False),
        ("text/event-stream;q=0", False),
        ("text/event-stream; q=0.1, application/json; q=0.9", False),
        ("text/event-streams", False),
        (";;,;q=,", False),
    ],
)
async def test_events_are_streamed_to_clients_that_prefer_them(
    admin: httpx.AsyncClient, accept: str, wanted: bool
) -> None:
    answered = await admin.post(CALLS, json={"name": "echo"}, headers={"Accept": accept})
    assert answered.headers["content-type"] == ("text/event-stream" if wanted else "application/json")


async def test_a_stream_has_events_of_each_call_and_then_of_all(admin: httpx.AsyncClient) -> None:
    body = [{"name": "echo", "arguments": {"a": 1}, "id": "x"}, {"name": "nowhere"}]
    answered = await admin.post(CALLS, json=body, headers=EVENTS)
    assert answered.headers["content-type"] == "text/event-stream"
    assert answered.headers["cache-control"] == "no-store"
    assert answered.headers["x-accel-buffering"] == "no"
    events = [item for item in parsed(answered.text) if item.name != "tool_progress"]
    assert [item.name for item in events] == ["tool_use", "tool_use", "tool_result", "tool_result", "complete"]
    use, _, result, failed, complete = (item.data for item in events)
    assert set(use) == {"run_id", "id", "name", "display_name", "message", "summary"}
    assert (use["id"], use["name"], use["message"]) == ("x", "echo", "🔧 Using Echo...")
    assert set(result) == {"run_id", "id", "name", "result", "execution_time_ms", "summary"}
    assert (result["run_id"], result["id"], result["result"]) == (use["run_id"], "x", {"echo": {"a": 1}})
    assert set(failed) == {"run_id", "id", "name", "error", "code", "execution_time_ms", "summary"}
    assert failed["code"] == "tool_not_found"
    assert complete == {
        "tool_calls": [
            {"id": "x", "name": "echo", "args": {"a": 1}},
            {"id": failed["id"], "name": "nowhere", "args": {}},
        ]
    }
    row = good(await admin.get(f"/v1/executions/{use['run_id']}"))
    assert (row["tool_name"], row["surface"]) == ("echo", "rest")


async def test_the_end_has_what_the_model_reported_and_the_answer_if_it_is_asked_for(admin: httpx.AsyncClient) -> None:
    answered = await admin.post(CALLS, json=OPENAI, params={"as": "anthropic"}, headers=EVENTS)
    *_, complete = parsed(answered.text)
    assert complete.name == "complete"
    assert complete.data["text"] == "Let me look."
    plain = good(await admin.post(CALLS, json=OPENAI, params={"as": "anthropic"}))
    assert complete.data["answer"] == plain


async def test_an_empty_message_is_complete_at_once(admin: httpx.AsyncClient) -> None:
    (only,) = parsed((await admin.post(CALLS, json=[], headers=EVENTS)).text)
    assert (only.name, only.data) == ("complete", {"tool_calls": []})


async def test_whatever_can_be_refused_is_refused_before_the_stream_begins(
    board: Pegboard, admin: httpx.AsyncClient
) -> None:
    call = {"name": "echo"}
    problem(await admin.post(CALLS, content=b"{", headers=EVENTS), 400)
    problem(await admin.post(CALLS, json=[call] * 10_000, headers=EVENTS), 422)
    problem(await admin.post(CALLS, json={"a": 1}, headers=EVENTS), 422)
    problem(await admin.post(CALLS, json=call, headers=EVENTS, params={"from": "latin"}), 422)
    problem(await admin.post(CALLS, json=call, headers=EVENTS, params={"as": "latin"}), 422)
    problem(await admin.post(CALLS, json=call, headers={**EVENTS, "Idempotency-Key": "k" * 300}), 422)
    async with client(board, "no-such-key") as no_one:
        problem(await no_one.post(CALLS, json=call, headers=EVENTS), 401)
    assert not await calls_of(board, "echo")


async def test_a_stream_is_resumed_in_the_middle_and_after_the_end(board: Pegboard) -> None:
    go_on = anyio.Event()

    @board.tool
    async def walk(context: CallContext) -> int:
        context.progress(1, 2)
        await go_on.wait()
        return 7

    async with served(board) as url:
        async with reading(url, CALLS, method="POST", json={"name": "walk"}) as first:
            use = await first.until("tool_use")
            progress = await first.until("tool_progress")
        path = f"/v1/calls/{first.run_id}/events"
        async with reading(url, path, headers={"Last-Event-ID": str(use.id)}) as second:
            assert second.run_id == first.run_id
            assert await second.next() == progress
            go_on.set()
            rest = await second.rest()
        assert [item.name for item in rest] == ["tool_result", "complete"]
        every = [use, progress, *rest]
        # By the call's own id; by the query, over which the header has precedence; from the end only the end.
        own = f"/v1/calls/{use.data['run_id'].upper()}/events"
        for seen, wanted in (({}, 0), ({"last_event_id": use.id}, 1), ({"last_event_id": rest[-1].id}, 4)):
            async with reading(url, own, params=seen) as again:
                assert await again.rest() == every[wanted:]
        header = {"Last-Event-ID": str(rest[0].id)}
        async with reading(url, path, params={"last_event_id": 1}, headers=header) as again:
            assert await again.rest() == rest[1:]


async def test_what_cannot_be_resumed_says_why(board: Pegboard, admin: httpx.AsyncClient) -> None:
    run_id = (await admin.post(CALLS, json={"name": "echo"}, headers=EVENTS)).headers["x-run-id"]
    path = f"/v1/calls/{run_id}/events"
    for odd in ("x", "-1", "1.5", "²", "9" * 30, "99"):
        problem(await admin.get(path, params={"last_event_id": odd}), 422)
    assert parsed((await admin.get(path, headers={"Last-Event-ID": ""})).text)
    problem(await admin.get("/v1/calls/nowhere/events"), 404)
    problem(await admin.get(f"/v1/calls/{'0' * 200}/events"), 404)
    _, key = await new_user(admin, "mia")
    async with client(board, key) as mia:
        problem(await mia.get(path), 404)
        own = await mia.post(CALLS, json={"name": "echo"}, headers=EVENTS)
        problem(await admin.get(f"/v1/calls/{own.headers['x-run-id']}/events"), 404)
    head = await admin.head(path)
    assert (head.status_code, head.text) == (200, "")


async def test_events_expire_and_the_journal_stays(board: Pegboard) -> None:
    replace_following(board, kept_seconds=0.05)
    async with client(board) as admin:
        events = parsed((await admin.post(CALLS, json={"name": "echo"}, headers=EVENTS)).text)
        run_id = events[0].data["run_id"]

        async def gone() -> bool:
            return (await admin.get(f"/v1/calls/{run_id}/events")).status_code == 410

        await until(gone)
        answered = await admin.get(f"/v1/calls/{run_id}/events")
        assert answered.headers["content-type"] == "application/problem+json"
        assert f"/v1/executions/{run_id}" in answered.json()["detail"]
        _, key = await new_user(admin, "mia")
        async with client(board, key) as mia:
            problem(await mia.get(f"/v1/calls/{run_id}/events"), 404)
        # A call that was never followed has a row, and so no events any more.
        plain = await admin.post("/v1/tools/echo/call", json={})
        assert (await admin.get(f"/v1/calls/{plain.headers['x-execution-id']}/events")).status_code == 410
    await board.following.close()


async def test_an_agents_key_reads_what_it_follows_and_not_what_its_user_does(
    board: Pegboard, admin: httpx.AsyncClient
) -> None:
    agent = good(await admin.post("/v1/agents", json={"name": "robot", "tools": ["echo"]}), 201)
    users = good(await admin.get("/v1/users"))["items"]
    made = good(await admin.post(f"/v1/users/{users[0]['id']}/keys", json={"agent_id": agent["id"]}), 201)
    theirs = (await admin.post(CALLS, json={"name": "echo"}, headers=EVENTS)).headers["x-run-id"]
    async with client(board, made["key"]) as robot:
        own = await robot.post(CALLS, json={"name": "echo"}, headers=EVENTS)
        assert parsed((await robot.get(f"/v1/calls/{own.headers['x-run-id']}/events")).text) == parsed(own.text)
        problem(await robot.get(f"/v1/calls/{theirs}/events"), 404)
        problem(await robot.get("/v1/executions/stream"), 403)
    assert (await admin.get(f"/v1/calls/{own.headers['x-run-id']}/events")).status_code == 200


async def test_a_quiet_stream_shows_that_it_lives(board: Pegboard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "HEARTBEAT_SECONDS", 0.02)

    @board.tool
    async def wait() -> None:
        await asyncio.sleep(0.1)

    async with (
        served(board) as url,
        httpx.AsyncClient(base_url=url, headers={**EVENTS, **bearer(KEY)}) as speaker,
    ):
        answered = await speaker.post(CALLS, json={"name": "wait"})
    assert "\n\n: still here\n\n" in answered.text
    assert parsed(answered.text)[-1].name == "complete"
