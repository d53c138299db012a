"""Replays of recorded calls over HTTP."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import anyio
import httpx
import pytest

from pegboard import Pegboard
from pegboard.surfaces.rest.replay_routes import ReplayResponse
from pegboard.testing import calls_of
from tests.board_surfaces import served
from tests.surfaces.rest.clients import client, good, mock, new_user, problem
from tests.surfaces.rest.raw_http import head, wire
from tests.waiting import until

KEEPING: dict[str, Any] = {"keep_arguments": True, "keep_result": True}
UNKNOWN = "01a1de67-d38f-7fad-935b-1783e6436bab"


async def make_call(speaker: httpx.AsyncClient, tool: str, arguments: Any = None) -> str:
    """Make a call and return the path to replay it."""
    answer = await speaker.post(f"/v1/tools/{tool}/call", json=arguments)
    return f"/v1/executions/{answer.headers['x-execution-id']}/replay"


async def test_a_call_that_ends_as_recorded_is_the_same(stored_admin: httpx.AsyncClient) -> None:
    good(await stored_admin.post("/v1/tools", json=mock(config={"mock_response": {"größe": "🦋"}}, **KEEPING)), 201)
    path = await make_call(stored_admin, "quote", {"text": "naïve"})
    answer = await stored_admin.post(path, headers={"X-Request-Id": "again"})
    body = good(answer)
    assert set(body) == set(ReplayResponse.model_fields)
    recorded = good(await stored_admin.get(path.removesuffix("/replay")))
    assert body["execution"] == recorded
    assert {name: body["result"][name] for name in ("success", "result", "tool_name")} == {
        "success": True,
        "result": {"größe": "🦋"},
        "tool_name": "quote",
    }
    assert (body["same"], body["differences"], body["more"], body["note"]) == (True, [], False, None)
    assert (body["tool_name"], body["tool_version"]) == ("quote", 1)
    row = good(await stored_admin.get(f"/v1/executions/{body['repeated_by']}"))
    assert (row["repeat_of"], row["surface"], row["request_id"]) == (recorded["id"], "rest", "again")
    assert answer.headers["x-execution-id"] == body["repeated_by"]
    ReplayResponse.model_validate(body)


async def test_another_version_or_tool_shows_what_differs(stored_admin: httpx.AsyncClient) -> None:
    good(await stored_admin.post("/v1/tools", json=mock(config={"mock_response": {"a": [1, 2]}}, **KEEPING)), 201)
    path = await make_call(stored_admin, "quote")
    good(await stored_admin.patch("/v1/tools/quote", json={"config": {"mock_response": {"a": [1], "b": None}}}))
    now = good(await stored_admin.post(path, json={}))
    assert (now["same"], now["tool_version"]) == (False, 2)
    assert now["differences"] == [
        {"path": "result.a[1]", "change": "removed", "before": 2, "after": None},
        {"path": "result.b", "change": "added", "before": None, "after": None},
    ]
    then = good(await stored_admin.post(path, json={"version": 1}))
    assert (then["same"], then["tool_version"], then["result"]["result"]) == (True, 1, {"a": [1, 2]})
    other = good(await stored_admin.post(path, json={"tool": "echo", "version": None}))
    assert (other["tool_name"], other["result"]["result"]) == ("echo", {"echo": {}})


async def test_a_failure_is_an_answer_too(board: Pegboard, admin: httpx.AsyncClient) -> None:
    await board.add(mock("sum", tool_type="builtin", config={"operation": "math_eval"}, **KEEPING))
    path = await make_call(admin, "sum", {"expression": "1/0"})
    body = good(await admin.post(path))
    assert (body["same"], body["result"]["success"]) == (True, False)
    assert body["result"]["error"] == body["execution"]["error"]
    assert body["result"]["error_details"]["code"] == "execution_failed"


async def test_the_command_line_is_distinguished(board: Pegboard, admin: httpx.AsyncClient) -> None:
    await board.add(mock(**KEEPING))
    good(await admin.post(await make_call(admin, "quote"), headers={"X-Pegboard-Surface": "cli"}))
    assert [row.surface for row in await calls_of(board)] == ["rest", "cli"]


class TestEffects:
    @pytest.fixture
    async def sent(self, board: Pegboard) -> list[str]:
        """Return the requests of a tool with effects."""
        sent = []

        @board.tool(keep_arguments=True, keep_result=True)
        async def send(to: str) -> str:
            sent.append(to)
            return to

        return sent

    async def test_they_are_repeated_only_if_that_is_confirmed(
        self, board: Pegboard, admin: httpx.AsyncClient, sent: list[str]
    ) -> None:
        path = await make_call(admin, "send", {"to": "ada"})
        for body in (None, {}, {"confirm": False}, {"version": 1}, {"tool": "send"}):
            detail = problem(await admin.post(path, json=body), 409)["detail"]
            assert all(way in detail for way in ("confirm: true", "--tool MOCK", "--version N"))
        assert (sent, len(await calls_of(board))) == (["ada"], 1)
        assert good(await admin.post(path, json={"confirm": True}))["same"]
        assert sent == ["ada", "ada"]

    async def test_a_mock_needs_no_confirming(self, board: Pegboard, admin: httpx.AsyncClient, sent: list[str]) -> None:
        await board.add(mock("pretend", config={"mock_response": "ada"}))
        assert good(await admin.post(await make_call(admin, "send", {"to": "ada"}), json={"tool": "pretend"}))["same"]
        assert sent == ["ada"]

    async def test_a_caller_who_may_not_call_the_tool_does_not_hear_of_it(
        self, board: Pegboard, admin: httpx.AsyncClient, sent: list[str]
    ) -> None:
        await board.add(mock(is_public=True, **KEEPING))
        _, key = await new_user(admin, "ada")
        async with client(board, key) as ada:
            path = await make_call(ada, "quote")
            assert problem(await ada.post(path, json={"tool": "send"}), 404)["detail"] == "Tool 'send' not found"


class TestRefusals:
    async def test_another_users_call_is_not_found(self, board: Pegboard, admin: httpx.AsyncClient) -> None:
        await board.add(mock(is_public=True, **KEEPING))
        (_, ada_key), (_, bob_key) = await new_user(admin, "ada"), await new_user(admin, "bob")
        async with client(board, ada_key) as ada, client(board, bob_key) as bob, client(board, None) as no_one:
            path = await make_call(ada, "quote")
            assert good(await ada.post(path))["same"]
            assert good(await admin.post(path))["same"]
            missing = problem(await bob.post(f"/v1/executions/{UNKNOWN}/replay"), 404)["detail"]
            assert problem(await bob.post(path), 404)["detail"].replace(path.split("/")[3], UNKNOWN) == missing
            problem(await no_one.post(path), 401)

    async def test_a_key_bound_to_an_agent_replays_nothing(self, board: Pegboard, admin: httpx.AsyncClient) -> None:
        await board.add(mock(**KEEPING))
        agent = good(await admin.post("/v1/agents", json={"name": "bot", "tools": ["quote"]}), 201)
        body = {"agent_id": agent["id"]}
        made = good(await admin.post(f"/v1/users/{board.admin.user_id}/keys", json=body), 201)
        async with client(board, made["key"]) as bound:
            problem(await bound.post(await make_call(bound, "quote")), 403)

    async def test_what_cannot_be_run_again_says_why(self, board: Pegboard, admin: httpx.AsyncClient) -> None:
        await board.add(mock(**KEEPING))
        path = await make_call(admin, "quote")
        assert "keep_arguments" in problem(await admin.post(await make_call(admin, "echo")), 422)["detail"]
        assert "refused before" in problem(await admin.post(await make_call(admin, "nonesuch")), 422)["detail"]
        assert "not both" in problem(await admin.post(path, json={"tool": "echo", "version": 1}), 422)["detail"]
        assert "has no version 7" in problem(await admin.post(path, json={"version": 7}), 404)["detail"]
        assert problem(await admin.post("/v1/executions/%00/replay"), 404)
        good(await admin.delete("/v1/tools/quote"), 204)
        assert "tools restore" in problem(await admin.post(path), 404)["detail"]

    @pytest.mark.parametrize(
        "body", [{"versoin": 1}, {"version": "one"}, {"version": 1.5}, {"tool": 5}, {"confirm": "perhaps"}, [], "echo"]
    )
    async def test_a_body_that_makes_no_sense_is_refused(
        self, board: Pegboard, admin: httpx.AsyncClient, body: Any
    ) -> None:
        await board.add(mock(**KEEPING))
        assert problem(await admin.post(await make_call(admin, "quote"), json=body), 422)["errors"]

    async def test_odd_names_and_numbers_are_not_found(self, board: Pegboard, admin: httpx.AsyncClient) -> None:
        await board.add(mock(**KEEPING))
        path = await make_call(admin, "quote")
        for body in ({"tool": ""}, {"tool": "\u0000"}, {"tool": "🦋" * 10_000}, {"version": -(2**62)}, {"version": 0}):
            assert len(problem(await admin.post(path, json=body), 404)["detail"]) < 300


class TestHostileResults:
    async def test_a_result_as_deep_as_json_goes(self, board: Pegboard, admin: httpx.AsyncClient) -> None:
        leaves = iter(range(10))

        @board.tool(keep_arguments=True, keep_result=True, read_only=True)
        async def deep() -> Any:
            nested: Any = next(leaves)
            for _ in range(250):
                nested = {"in": [nested]} if isinstance(nested, int) else [nested]
            return nested

        answer = await admin.post(await make_call(admin, "deep"))
        (found,) = good(answer)["differences"]
        assert (found["before"], found["after"]) == (0, 1)
        assert len(found["path"]) == 200

    async def test_a_result_as_large_as_may_be(self, board: Pegboard, admin: httpx.AsyncClient) -> None:
        texts = iter([["x"], ["y" * 300 for _ in range(3000)]])

        @board.tool(keep_arguments=True, keep_result=True, read_only=True)
        async def large() -> Any:
            return next(texts)

        body = good(await admin.post(await make_call(admin, "large")))
        assert (len(body["differences"]), body["more"], len(body["result"]["result"])) == (100, True, 3000)
        assert len(json.dumps(body["differences"])) < 60_000

    async def test_without_a_kept_result_it_reports_that_it_cannot_compare(
        self, board: Pegboard, admin: httpx.AsyncClient
    ) -> None:
        await board.add(mock(keep_arguments=True))
        body = good(await admin.post(await make_call(admin, "quote")))
        assert (body["same"], body["differences"]) == (None, [])
        assert "keep_result" in body["note"]


async def test_a_board_that_cannot_take_calls_answers_503(board: Pegboard, admin: httpx.AsyncClient) -> None:
    await board.add(mock(**KEEPING))
    path = await make_call(admin, "quote")
    await board.drain()
    answer = await admin.post(path)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.json()["result"]["error_details"]["code"] == "unavailable"
    assert answer.json()["same"] is False


async def test_it_is_cancelled_when_a_caller_who_asked_disconnects(board: Pegboard, admin: httpx.AsyncClient) -> None:
    started, released = asyncio.Semaphore(0), asyncio.Event()

    @board.tool(keep_arguments=True, read_only=True)
    async def waits() -> None:
        started.release()
        if released.is_set():
            await anyio.sleep_forever()

    path = await make_call(admin, "waits")
    await started.acquire()
    released.set()
    async with served(board) as url:
        async with wire(url) as stream:
            await stream.send(head("POST", path, "Content-Length: 2", "Content-Type: application/json") + b"{}")
            await started.acquire()

        async def ended() -> bool:
            return len(await calls_of(board, "waits")) == 2

        await until(ended)
    assert [row.code for row in await calls_of(board, "waits")] == [None, "cancelled"]


async def test_other_arguments_replace_the_recorded_ones_and_the_answer_says_so(
    stored_admin: httpx.AsyncClient,
) -> None:
    good(await stored_admin.patch("/v1/tools/echo", json={"keep_arguments": True}))
    path = await make_call(stored_admin, "echo", {"a": 1})
    for arguments, changed in (({"a": 2}, True), ({"a": 1}, False), ({}, True)):
        body = good(await stored_admin.post(path, json={"arguments": arguments, "tool": "echo"}))
        assert body["arguments_changed"] is changed
        assert body["result"]["result"] == {"echo": arguments}
        row = good(await stored_admin.get(f"/v1/executions/{body['repeated_by']}"))
        assert (row["arguments"], row["repeat_of"]) == (arguments, body["execution"]["id"])
    assert good(await stored_admin.post(path, json={"arguments": None}))["arguments_changed"] is False
    problem(await stored_admin.post(path, json={"arguments": [1]}), 422)


async def test_a_call_without_kept_arguments_is_run_again_with_given_ones(
    board: Pegboard, admin: httpx.AsyncClient
) -> None:
    path = await make_call(admin, "math_eval", {"expression": "1 + 1"})
    problem(await admin.post(path), 422)
    body = good(await admin.post(path, json={"arguments": {"expression": "2 + 2"}}))
    assert (body["result"]["result"]["result"], body["arguments_changed"]) == (4, None)
    refused = await make_call(admin, "math_eval", {})
    body = good(await admin.post(refused, json={"arguments": {"expression": "3"}}))
    assert (body["result"]["success"], body["same"], body["arguments_changed"]) == (True, False, None)
    execution_id = path.split("/")[3]
    replay = await board.replay(execution_id, arguments={"expression": "1 +"})
    assert (replay.result.success, replay.arguments_changed) == (False, None)


async def test_other_arguments_of_a_tool_with_effects_need_a_confirmation_too(
    board: Pegboard, admin: httpx.AsyncClient
) -> None:
    async def send(n: int = 0) -> int:
        return n

    board.tool(name="send")(send)
    path = await make_call(admin, "send", {"n": 1})
    assert "may change something" in problem(await admin.post(path, json={"arguments": {"n": 2}}), 409)["detail"]
    body = good(await admin.post(path, json={"arguments": {"n": 2}, "confirm": True}))
    assert body["result"]["result"] == 2
