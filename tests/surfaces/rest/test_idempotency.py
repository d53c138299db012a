"""Idempotency-Key over HTTP: a repeated call gets the recorded result and does not run again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx
import pytest

from pegboard import Pegboard
from pegboard.testing import calls_of
from tests.board_surfaces import KEY as ADMIN
from tests.board_surfaces import served
from tests.surfaces.rest.clients import bearer, client, good, mock, new_user, problem
from tests.surfaces.rest.raw_http import head, read_response, wire

KEY = {"Idempotency-Key": "k"}
BAD_KEYS = ["", "x" * 256, "a\tb", "\u00fc".encode().decode("latin-1"), "\x7f"]


class RecordingTool:
    """A tool that records its calls, and waits until it may continue."""

    def __init__(self, board: Pegboard, **fields: Any) -> None:
        self.ran: list[int] = []
        self.started = asyncio.Event()
        self.go = asyncio.Event()
        self.go.set()

        async def note(n: int = 0) -> dict[str, int]:
            self.ran.append(n)
            self.started.set()
            await self.go.wait()
            if n < 0:
                raise ValueError("below zero")
            return {"n": n, "run": len(self.ran)}

        board.tool(**fields)(note)


@pytest.fixture
async def recording_tool(stored_board: Pegboard) -> RecordingTool:
    return RecordingTool(stored_board, is_public=True)


@pytest.fixture
async def speaker(stored_board: Pegboard) -> AsyncIterator[httpx.AsyncClient]:
    async with client(stored_board) as opened:
        yield opened


class TestOneTool:
    """POST /v1/tools/{name}/call"""

    PATH = "/v1/tools/note/call"

    @pytest.mark.parametrize("shape", ["", "?as=detailed"])
    @pytest.mark.parametrize("n", [1, -1])
    async def test_the_repeat_is_the_first_answer_byte_for_byte_and_says_that_it_is_one(
        self, speaker: httpx.AsyncClient, stored_board: Pegboard, recording_tool: RecordingTool, n: int, shape: str
    ) -> None:
        first, *again = [await speaker.post(self.PATH + shape, json={"n": n}, headers=KEY) for _ in range(3)]
        assert recording_tool.ran == [n]
        assert "idempotent-replayed" not in first.headers
        for repeat in again:
            assert (repeat.status_code, repeat.content) == (200, first.content)
            assert repeat.headers["idempotent-replayed"] == "true"
            assert repeat.headers["x-execution-id"] != first.headers["x-execution-id"]
        rows = await calls_of(stored_board)
        assert [row.id for row in rows] == [answer.headers["x-execution-id"] for answer in (first, *again)]
        assert [row.repeat_of for row in rows] == [None, rows[0].id, rows[0].id]
        shown = good(await speaker.get(f"/v1/executions/{rows[1].id}"))
        assert (shown["repeat_of"], shown["attempts"]) == (rows[0].id, 0)

    async def test_without_a_key_each_runs(self, speaker: httpx.AsyncClient, recording_tool: RecordingTool) -> None:
        answers = [await speaker.post(self.PATH) for _ in range(2)]
        assert len(recording_tool.ran) == 2
        assert not any("idempotent-replayed" in answer.headers for answer in answers)

    async def test_other_arguments_are_a_failed_call_and_no_http_error(
        self, speaker: httpx.AsyncClient, recording_tool: RecordingTool
    ) -> None:
        good(await speaker.post(self.PATH, json={"n": 1}, headers=KEY))
        refused = await speaker.post(self.PATH, json={"n": 2}, headers=KEY)
        details = good(refused)["error_details"]
        assert (details["type"], details["code"]) == ("VALIDATION_ERROR", "idempotency_conflict")
        assert "idempotent-replayed" not in refused.headers
        assert recording_tool.ran == [1]

    async def test_another_users_key_of_the_same_text_is_another(
        self, speaker: httpx.AsyncClient, stored_board: Pegboard, recording_tool: RecordingTool
    ) -> None:
        good(await speaker.post(self.PATH, headers=KEY))
        _, key = await new_user(speaker, "ada")
        async with client(stored_board, key) as ada:
            answer = await ada.post(self.PATH, headers=KEY)
        assert good(answer)["success"]
        assert "idempotent-replayed" not in answer.headers
        assert len(recording_tool.ran) == 2

    @pytest.mark.parametrize("key", BAD_KEYS)
    async def test_what_is_no_key_is_refused_before_anything_runs(
        self, admin: httpx.AsyncClient, board: Pegboard, key: str
    ) -> None:
        answer = await admin.post("/v1/tools/echo/call", headers={b"Idempotency-Key": key.encode("latin-1")})
        assert "printable ASCII" in problem(answer, 422)["detail"]
        assert await calls_of(board) == []

    async def test_one_that_was_refused_can_be_sent_again_with_its_key(
        self, admin: httpx.AsyncClient, board: Pegboard
    ) -> None:
        await board.add(mock(input_schema={"type": "object", "required": ["a"]}))
        assert not good(await admin.post("/v1/tools/quote/call", json={}, headers=KEY))["success"]
        answer = await admin.post("/v1/tools/quote/call", json={"a": 1}, headers=KEY)
        assert good(answer)["success"]
        assert "idempotent-replayed" not in answer.headers

    async def test_builtins_too(self, admin: httpx.AsyncClient) -> None:
        first, again = [await admin.post("/v1/tools/current_time/call", headers=KEY) for _ in range(2)]
        assert first.content == again.content
        assert again.headers["idempotent-replayed"] == "true"


class TestManyCalls:
    """POST /v1/calls"""

    async def post(self, speaker: httpx.AsyncClient, body: Any, key: str = "k") -> httpx.Response:
        answer = await speaker.post("/v1/calls", json=body, headers={"Idempotency-Key": key})
        good(answer)
        return answer

    async def test_one_call_has_the_key_itself(self, speaker: httpx.AsyncClient, recording_tool: RecordingTool) -> None:
        call = {"name": "note", "arguments": {"n": 1}}
        one = await self.post(speaker, call)
        listed = await self.post(speaker, [call])
        alone = await speaker.post("/v1/tools/note/call", json={"n": 1}, headers=KEY)
        assert [one.json()] == listed.json()
        assert alone.json() == one.json()
        assert alone.headers["idempotent-replayed"] == "true"
        assert recording_tool.ran == [1]

    async def test_many_have_one_each_by_their_place(
        self, speaker: httpx.AsyncClient, recording_tool: RecordingTool
    ) -> None:
        calls = [{"name": "note", "arguments": {"n": n}} for n in (5, 5, -1)]
        first = await self.post(speaker, calls)
        assert sorted(recording_tool.ran) == [-1, 5, 5]
        again = await self.post(speaker, calls)
        assert again.content == first.content
        assert [answer.headers.get("idempotent-replayed") for answer in (first, again)] == [None, "true"]
        assert [answer["success"] for answer in again.json()] == [True, True, False]
        assert len(recording_tool.ran) == 3
        changed = await self.post(speaker, [calls[0], calls[2], calls[2]])
        codes = [answer.get("error_details", {}).get("code") for answer in changed.json()]
        assert codes == [None, "idempotency_conflict", "execution_failed"]
        assert len(recording_tool.ran) == 3
        alone = await speaker.post("/v1/tools/note/call", json={"n": 5}, headers={"Idempotency-Key": "k#1"})
        assert alone.json() == first.json()[1]

    async def test_each_answer_has_the_id_it_was_asked_with_this_time(
        self, speaker: httpx.AsyncClient, recording_tool: RecordingTool
    ) -> None:
        first, again = [
            (await self.post(speaker, {"id": name, "name": "note", "arguments": {}})).json() for name in ("a", "b")
        ]
        assert first["id"] == "a"
        assert again == {**first, "id": "b"}
        assert len(recording_tool.ran) == 1

    @pytest.mark.parametrize("key", BAD_KEYS)
    async def test_what_is_no_key_is_refused_before_anything_runs(
        self, admin: httpx.AsyncClient, board: Pegboard, key: str
    ) -> None:
        headers = {b"Idempotency-Key": key.encode("latin-1")}
        answer = await admin.post("/v1/calls", json={"name": "echo"}, headers=headers)
        assert "printable ASCII" in problem(answer, 422)["detail"]
        assert await calls_of(board) == []


class TestDisconnected:
    """A caller who disconnects while a call with a key runs gets the result by repeating it."""

    async def test_it_runs_on_and_a_caller_who_asks_again_gets_its_answer(
        self, stored_board: Pegboard, recording_tool: RecordingTool
    ) -> None:
        recording_tool.go.clear()
        request = head("POST", "/v1/tools/note/call", "Content-Length: 7", "Idempotency-Key: k") + b'{"n":3}'
        async with served(stored_board) as url:
            async with wire(url) as stream:
                await stream.send(request)
                with anyio.fail_after(30):
                    await recording_tool.started.wait()
            async with wire(url) as stream, wire(url) as other:
                await stream.send(request)
                await other.send(head("GET", "/healthz", "Content-Length: 0"))
                assert (await read_response(other))[0] == 200
                recording_tool.go.set()
                status, headers, body = await read_response(stream)
        assert (status, body["result"], headers["idempotent-replayed"]) == (200, {"n": 3, "run": 1}, "true")
        assert recording_tool.ran == [3]
        first, again = await calls_of(stored_board)
        assert (first.status, again.status, again.repeat_of) == ("succeeded", "succeeded", first.id)

    async def test_so_do_the_calls_of_a_list(self, stored_board: Pegboard, recording_tool: RecordingTool) -> None:
        recording_tool.go.clear()
        content = json.dumps([{"name": "note", "arguments": {"n": n}} for n in (1, 2)]).encode()
        lines = (f"Content-Length: {len(content)}", "Content-Type: application/json", "Idempotency-Key: k")
        request = head("POST", "/v1/calls", *lines) + content
        async with served(stored_board) as url:
            async with wire(url) as stream:
                await stream.send(request)
                with anyio.fail_after(30):
                    await recording_tool.started.wait()
            recording_tool.go.set()
            async with wire(url) as stream:
                await stream.send(request)
                status, _, body = await read_response(stream)
        assert (status, [answer["result"]["n"] for answer in body]) == (200, [1, 2])
        assert sorted(recording_tool.ran) == [1, 2]
        assert {row.status for row in await calls_of(stored_board)} == {"succeeded"}

    async def test_ten_concurrent_calls_with_one_key_get_one_result(
        self, stored_board: Pegboard, recording_tool: RecordingTool
    ) -> None:
        recording_tool.go.clear()
        async with served(stored_board) as url, httpx.AsyncClient(base_url=url, headers=bearer(ADMIN)) as speaker:
            asked = [asyncio.create_task(speaker.post("/v1/tools/note/call", json={}, headers=KEY)) for _ in range(10)]
            with anyio.fail_after(20):
                await recording_tool.started.wait()
                recording_tool.go.set()
                answers = await asyncio.gather(*asked)
        assert {answer.content for answer in answers} == {answers[0].content}
        assert sorted(answer.headers.get("idempotent-replayed", "") for answer in answers) == ["", *["true"] * 9]
        assert len(recording_tool.ran) == 1


async def test_two_keys_in_one_request_mean_the_same_on_both_routes(admin: httpx.AsyncClient) -> None:
    """Whichever it is: a proxy, a client and both routes must not read one request in two ways."""
    twice = [("Idempotency-Key", "one"), ("Idempotency-Key", "two")]
    answers = [
        await admin.post("/v1/tools/echo/call", json={}, headers=twice),
        await admin.post("/v1/calls", json={"name": "echo", "arguments": {}}, headers=twice),
    ]
    if answers[0].status_code == 422:
        assert answers[1].status_code == 422
    else:
        assert answers[0].json() == answers[1].json()


async def test_the_description_of_the_api_has_the_header(admin: httpx.AsyncClient) -> None:
    paths = good(await admin.get("/openapi.json"))["paths"]
    for path in ("/v1/tools/{name}/call", "/v1/calls"):
        named = {parameter["name"].lower(): parameter["in"] for parameter in paths[path]["post"]["parameters"]}
        assert named["idempotency-key"] == "header"
