"""Messages of threads over HTTP: written and read in any dialect."""

from __future__ import annotations

from typing import Any

import httpx
import orjson
import pytest

from tests.surfaces.rest.clients import good, problem
from tests.surfaces.rest.test_threads import HI, begun

ASKED = {
    "role": "assistant",
    "content": "Let me look.",
    "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Bern"}'}}
    ],
}
CALL = {"id": "c", "name": "a", "arguments": {}}
REPORTED = {"role": "tool", "tool_call_id": "call_1", "content": '{"temp": 7.5}'}


async def test_one_message_is_answered_with_itself_and_several_with_a_list(stored_admin: httpx.AsyncClient) -> None:
    path = f"{await begun(stored_admin)}/messages"
    one = good(await stored_admin.post(path, json=HI), 201)
    assert set(one) == {"id", "role", "content", "timestamp", "tool_calls"}
    assert (one["role"], one["content"], one["tool_calls"]) == ("user", "hi", [])
    several = good(await stored_admin.post(path, json=[ASKED, HI]), 201)
    assert [message["role"] for message in several["items"]] == ["assistant", "user"]
    held = good(await stored_admin.post(path, json=REPORTED), 201)
    assert held["id"] == several["items"][0]["id"] and held["tool_calls"][0]["result"] == {"temp": 7.5}
    page = good(await stored_admin.get(path))
    assert page == {"items": [one, held, several["items"][1]], "next_cursor": None, "system": None}


async def test_messages_are_read_page_by_page(admin: httpx.AsyncClient) -> None:
    path = f"{await begun(admin, [{'role': 'user', 'content': str(number)} for number in range(5)])}/messages"
    first = good(await admin.get(path, params={"limit": 3}))
    second = good(await admin.get(path, params={"limit": 3, "cursor": first["next_cursor"]}))
    assert [message["content"] for message in first["items"] + second["items"]] == ["0", "1", "2", "3", "4"]
    assert second["next_cursor"] is None
    problem(await admin.get(path, params={"cursor": "nonsense"}), 422)
    problem(await admin.get(path, params={"limit": 201}), 422)


async def test_a_history_comes_as_another_provider_s_own(admin: httpx.AsyncClient) -> None:
    path = f"{await begun(admin, [{'role': 'system', 'content': 'Be brief'}, HI, ASKED, REPORTED])}/messages"
    anthropic = good(await admin.get(path, params={"as": "anthropic"}))
    assert [item["role"] for item in anthropic["items"]] == ["user", "assistant", "user"]
    assert anthropic["items"][1]["content"][-1]["name"] == "weather" and "Be brief" in str(anthropic["system"])
    openai = good(await admin.get(path, params={"as": "openai"}))
    assert [item["role"] for item in openai["items"]] == ["system", "user", "assistant", "tool"]
    assert openai["system"] is None and openai["items"][2]["tool_calls"] == ASKED["tool_calls"]
    assert "klingon" in problem(await admin.get(path, params={"as": "klingon"}), 422)["detail"]


async def test_numbers_keep_their_digits_and_keys_their_order(stored_admin: httpx.AsyncClient) -> None:
    path = f"{await begun(stored_admin)}/messages"
    for written in (
        b'{"z":0.1000000000000000055511151231257827,"a":[1.5]}',
        b'{"z":0.1000000000000000055511151231257827,"a":[12345678901234567890123]}',
    ):
        body = b'{"role":"assistant","content":null,"tool_calls":[{"id":"c","name":"a","arguments":' + written + b"}]}"
        answer = await stored_admin.post(path, content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 201, answer.text
        assert written in answer.content.replace(b", ", b",").replace(b": ", b":")
        assert written in (await stored_admin.get(path)).content.replace(b", ", b",").replace(b": ", b":")


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        (b"{", 400, "JSON"),
        (b'{"role":"user","role":"system","content":"x"}', 400, "twice"),
        (b'{"foo":1}', 422, "an object with the keys 'foo'"),
        (b'{"role":"tool","tool_call_id":"nobody","content":"1"}', 422, "is waiting for an answer"),
        (b'{"role":"user","content":' + b"[" * 500 + b"]" * 500 + b"}", 422, "nested too deeply"),
        (orjson.dumps([CALL] * 10_000), 422, "10,000 calls in one payload, at most 100"),
    ],
)  # fmt: skip
async def test_a_body_that_is_no_message_is_refused(
    admin: httpx.AsyncClient, body: bytes, status: int, says: str
) -> None:
    path = await begun(admin)
    answer = await admin.post(f"{path}/messages", content=body, headers={"content-type": "application/json"})
    assert says in problem(answer, status)["detail"]
    assert good(await admin.get(path))["messages"] == 0


async def test_a_body_larger_than_the_board_takes_is_refused(admin: httpx.AsyncClient) -> None:
    path = await begun(admin)
    answer = await admin.post(f"{path}/messages", json={"role": "user", "content": "x" * (5 * 2**20)})
    problem(answer, 413)


async def test_text_and_streams_are_taken_too(admin: httpx.AsyncClient) -> None:
    path = f"{await begun(admin)}/messages"
    text = '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>'
    answer = await admin.post(
        path, content=text, headers={"content-type": "text/plain"}, params={"from": "text_hermes"}
    )
    assert good(answer, 201)["tool_calls"][0]["name"] == "add"
    events = 'data: {"choices":[{"delta":{"role":"assistant","content":"Hello"}}]}\n\ndata: [DONE]\n\n'
    answer = await admin.post(path, content=events, headers={"content-type": "text/event-stream"})
    assert good(answer, 201)["content"] == "Hello"


async def test_the_routes_are_described(admin: httpx.AsyncClient) -> None:
    described: dict[str, Any] = good(await admin.get("/openapi.json"))["paths"]
    operations = {
        operation["operationId"]
        for path, methods in described.items()
        if path.startswith("/v1/threads")
        for operation in methods.values()
    }
    assert operations == {
        *("create_thread", "list_threads", "get_thread", "rename_thread", "delete_thread"),
        *("add_messages", "list_messages"),
    }
