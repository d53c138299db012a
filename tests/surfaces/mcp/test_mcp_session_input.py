"""Requests of imported servers for input of a client with a session, on the stream of its call."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import mcp_types as types
import pytest
from mcp import Client

from pegboard import Pegboard
from pegboard.kinds.mcp import call_client
from pegboard.kinds.mcp.server_messages import MAX_WAITING_REQUESTS
from pegboard.model.filters import ExecutionFilter
from pegboard.settings import Settings
from tests.board_surfaces import KEY
from tests.surfaces.mcp.requesting_upstreams import (
    ANN,
    ROOT,
    SECRET,
    answered,
    build_command,
    open_session,
    start_call,
    take,
)
from tests.surfaces.mcp.rpc import SESSION, STATELESS, RpcClient, client_of, error
from tests.surfaces.mcp.test_mcp_clients import over_stdio
from tests.surfaces.mcp.test_mcp_streams import until_true
from tests.surfaces.rest.clients import good, new_user
from tests.waiting import until

pytestmark = pytest.mark.anyio
ERAS = ("legacy", "modern", "both")


async def rows(board: Pegboard) -> list[Any]:
    """The newest rows of the journal first."""
    return list((await board.executions(ExecutionFilter())).items)


@pytest.mark.parametrize("era", ERAS)
async def test_the_client_is_asked_on_the_stream_of_its_call(
    board: Pegboard, admin: httpx.AsyncClient, era: str
) -> None:
    await take(admin, era)
    client = await open_session(admin)
    async with start_call(client, "ask", message=f"Who? {SECRET}", times=2) as call:
        for _ in range(2):
            asked = await call.question()
            assert asked["method"] == "elicitation/create"
            assert asked["params"]["message"] == "Who? ********"
            assert asked["params"]["requestedSchema"]["properties"] == {"name": {"type": "string"}}
            assert (await call.answer(asked)).status_code == 202
        assert json.loads(await call.text()) == [{"name": "Ann"}, {"name": "Ann"}]
    assert [row.status for row in await rows(board)] == ["succeeded"]


async def test_sampling_and_roots_are_asked_too(admin: httpx.AsyncClient) -> None:
    await take(admin, "both")
    client = await open_session(admin)
    content = {"type": "text", "text": "hi"}
    sampled = {"role": "assistant", "content": content, "model": "m1", "_meta": {"a/b": 1}}
    for tool, method, result, text in (
        ("sample", "sampling/createMessage", sampled, "m1"),
        ("roots", "roots/list", {"roots": [{"uri": "file:///work"}]}, '["file:///work"]'),
    ):
        async with start_call(client, tool) as call:
            asked = await call.question()
            assert asked["method"] == method
            await call.answer(asked, result)
            assert await call.text() == text


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("capabilities", [{}, {"sampling": {}}])
async def test_a_client_is_not_asked_for_what_it_did_not_declare(
    admin: httpx.AsyncClient, era: str, capabilities: Any
) -> None:
    await take(admin, era)
    client = await open_session(admin, capabilities)
    result = await client.call("ask")
    assert result["isError"] is True


async def test_a_client_that_accepts_no_event_stream_is_not_asked(admin: httpx.AsyncClient) -> None:
    await take(admin, "both")
    client = await open_session(admin)
    reply = await client.post(client.message("tools/call", {"name": "ask"}), Accept="application/json")
    assert reply.json()["result"]["isError"] is True
    assert "accepts no event stream" in reply.text


async def test_the_error_and_the_refusal_of_a_client_reach_the_server(admin: httpx.AsyncClient) -> None:
    await take(admin, "both")
    client = await open_session(admin)
    async with start_call(client, "ask") as call:
        asked = await call.question()
        await call.answer(asked, {"action": "decline"})
        assert json.loads(await call.text()) == ["decline"]
    for answer in (
        {"error": {"code": -1, "message": "User rejected"}},
        {"error": {"code": "x", "message": 5}},
        {"error": "no"},
        {"result": 5},
        {"result": None},
    ):
        async with start_call(client, "ask") as call:
            asked = await call.question()
            assert (await client.post({"jsonrpc": "2.0", "id": asked["id"], **answer})).status_code == 202
            assert (await call.result())["isError"] is True


async def test_only_a_response_to_a_request_of_the_session_is_accepted(admin: httpx.AsyncClient, url: str) -> None:
    await take(admin, "both")
    client, other = await open_session(admin), await open_session(admin)
    async with start_call(client, "ask") as call:
        asked = await call.question()
        wrong = {"jsonrpc": "2.0", "id": "pegboard-99", "result": ANN}
        error(await client.post(wrong), 400, -32600, id="pegboard-99")
        error(await client.post({**wrong, "id": 1}), 400, -32600, id=1)
        error(await other.post({**wrong, "id": asked["id"]}), 400, -32600, id=asked["id"])
        stateless = RpcClient(admin, STATELESS)
        error(await stateless.post({**wrong, "id": asked["id"]}), 400, -32600, id=asked["id"])
        _, key = await new_user(admin, "ann")
        async with client_of(url, key) as http:
            thief = RpcClient(http, SESSION)
            thief.session_id = client.session_id
            error(await thief.post({**wrong, "id": asked["id"]}), 404, -32600, id=asked["id"])
        assert (await call.answer(asked)).status_code == 202
        assert await call.text() == '[{"name": "Ann"}]'
        error(await call.answer(asked), 400, -32600, id=asked["id"])
    await client.check_alive()


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_the_timeout_of_a_call_is_paused_while_its_client_is_asked(
    board: Pegboard, admin: httpx.AsyncClient, era: str
) -> None:
    await take(admin, era)
    client = await open_session(admin)
    assert await answered(client, "pid") > 0  # the session with the server is open
    good(await admin.patch("/v1/tools/ask", json={"timeout": 1.0}))
    async with start_call(client, "ask") as call:
        asked = await call.question()
        timers = [run.ready.deadline for run in board.pipeline.running_calls if run.ready is not None]
        loop = asyncio.get_running_loop()

        async def is_past_the_deadline() -> bool:
            return loop.time() > timers[0] + 0.3

        await until(is_past_the_deadline)
        await call.answer(asked)
        assert await call.text() == '[{"name": "Ann"}]'


async def test_a_client_has_a_limited_time_to_answer(
    board: Pegboard, admin: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_client, "INPUT_SECONDS", 0.3)
    await take(admin, "both")
    client = await open_session(admin)
    async with start_call(client, "ask") as call:
        asked = await call.question()
        cancelled = await call.question()
        assert cancelled == {
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": asked["id"]},
        }
        result = await call.result()
        assert "did not answer within" in result["content"][0]["text"]
        error(await call.answer(asked), 400, -32600, id=asked["id"])


async def test_a_call_asks_a_limited_number_of_times(admin: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_client, "MAX_INPUT_REQUESTS", 3)
    await take(admin, "both")
    client = await open_session(admin)
    async with start_call(client, "ask", times=5) as call:
        for _ in range(3):
            await call.answer(await call.question())
        assert "at most 3 times" in (await call.text())


async def test_few_questions_of_one_server_wait_at_once(admin: httpx.AsyncClient) -> None:
    await take(admin, "both")
    client = await open_session(admin)
    async with start_call(client, "flood", times=MAX_WAITING_REQUESTS + 10) as call:
        questions = [await call.question() for _ in range(MAX_WAITING_REQUESTS)]
        for asked in questions:
            assert (await call.answer(asked)).status_code == 202
        assert await call.text() == "10"


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_cancelled_call_takes_its_question_back(board: Pegboard, admin: httpx.AsyncClient, era: str) -> None:
    await take(admin, era)
    client = await open_session(admin)
    async with start_call(client, "ask") as call:
        asked = await call.question()
        assert (await client.notify("notifications/cancelled", {"requestId": 7})).status_code == 202
        assert not [message async for message in call.stream.rest() if "result" in message]
    assert [row.code for row in await rows(board)] == ["cancelled"]
    error(await call.answer(asked), 400, -32600, id=asked["id"])
    await client.check_alive()


async def test_a_client_that_disconnects_is_not_waited_for(board: Pegboard, admin: httpx.AsyncClient) -> None:
    await take(admin, "both")
    client = await open_session(admin)
    async with start_call(client, "ask") as call:
        await call.question()

    await until_true(lambda: board.pipeline.running_count == 0)
    (row,) = await rows(board)
    assert row.status == "failed"
    assert "disconnected" in row.error


async def test_the_end_of_a_session_ends_its_questions_and_its_sessions_with_servers(
    board: Pegboard, admin: httpx.AsyncClient
) -> None:
    await take(admin, "both")
    shared = await answered(RpcClient(admin, STATELESS), "pid")
    clients = [await open_session(admin) for _ in range(3)]
    pids = [await answered(client, "pid") for client in clients]
    assert len({shared, *pids}) == 4
    assert await answered(clients[0], "pid") == pids[0]
    assert await answered(await open_session(admin, {}), "pid") == shared
    async with start_call(clients[0], "ask") as call:
        await call.question()
        await clients[0].http.delete("/mcp", headers=clients[0].headers())
        assert (await call.result())["isError"] is True
    await until_true(lambda: not is_alive(pids[0]))
    assert await answered(clients[1], "pid") == pids[1]
    assert await answered(RpcClient(admin, STATELESS), "pid") == shared


def is_alive(pid: int) -> bool:
    """True if a process with this id runs."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


async def test_questions_of_calls_at_once_are_answered_each(admin: httpx.AsyncClient) -> None:
    await take(admin, "both")
    client = await open_session(admin)

    async def ask(number: int) -> str:
        async with start_call(client, "ask", id=number, message=f"{number}") as call:
            # A server over stdio does not say which call a request belongs to.
            async for message in call.stream.rest():
                if "method" in message:
                    name = {"name": message["params"]["message"]}
                    await call.answer(message, {"action": "accept", "content": name})
            text: str = message["result"]["content"][0]["text"]
            return text

    texts = await asyncio.gather(*(ask(number) for number in range(10, 20)))
    assert sorted(texts) == [f'[{{"name": "{number}"}}]' for number in range(10, 20)]


async def test_a_server_that_ends_while_the_client_is_asked_fails_the_call(
    board: Pegboard, admin: httpx.AsyncClient
) -> None:
    await take(admin, "both")
    client = await open_session(admin)
    async with start_call(client, "ask") as call:
        asked = await call.question()
        assert (await client.call("stop"))["isError"] is True
        assert (await call.question())["method"] == "notifications/cancelled"
        assert (await call.result())["isError"] is True
        error(await call.answer(asked), 400, -32600, id=asked["id"])
    assert await answered(client, "pid") > 0


async def test_a_change_of_the_roots_of_a_client_reaches_the_servers_that_know_them(admin: httpx.AsyncClient) -> None:
    await take(admin, "both")
    client, other = await open_session(admin), await open_session(admin)
    for each in (client, other):
        assert await answered(each, "count_roots_changes") == 0
    assert (await client.notify("notifications/roots/list_changed")).status_code == 202

    async def is_counted() -> bool:
        return bool(await answered(client, "count_roots_changes") == 1)

    await until(is_counted)
    assert await answered(other, "count_roots_changes") == 0


async def test_long_capabilities_are_declared_without_their_content(admin: httpx.AsyncClient) -> None:
    await take(admin, "both")
    client = await open_session(admin, {"elicitation": {"x": "y" * 10_000}, "other": {"z": 1}})
    async with start_call(client, "ask") as call:
        await call.answer(await call.question())
        assert await call.text() == '[{"name": "Ann"}]'


async def test_no_task_and_no_process_is_left_after_questions(board: Pegboard, admin: httpx.AsyncClient) -> None:
    await take(admin, "both")
    shared = await answered(RpcClient(admin, STATELESS), "pid")
    before = {task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("pegboard-mcp")}
    client = await open_session(admin)
    own = await answered(client, "pid")
    for id in range(20, 23):
        async with start_call(client, "ask", id=id) as call:
            asked = await call.question()
            if id == 20:
                await call.answer(asked)
                await call.result()
            elif id == 21:
                await client.notify("notifications/cancelled", {"requestId": id})
    await until_true(lambda: board.pipeline.running_count == 0)
    await client.http.delete("/mcp", headers=client.headers())
    await until_true(lambda: not is_alive(own))

    def is_clean() -> bool:
        left = {task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("pegboard-mcp")}
        return left <= before

    await until_true(is_clean)
    assert await answered(RpcClient(admin, STATELESS), "pid") == shared


@pytest.mark.parametrize("era", ERAS)
async def test_a_prompt_may_ask_too(admin: httpx.AsyncClient, era: str) -> None:
    await take(admin, era)
    client = await open_session(admin)
    message = client.message("prompts/get", {"name": "first"}, 7)
    async with client.http.stream("POST", "/mcp", json=message, headers=client.headers()) as response:
        async for line in response.aiter_lines():
            if not line.startswith("data: "):
                continue
            found = json.loads(line[6:])
            if "method" in found:
                assert (await client.post({"jsonrpc": "2.0", "id": found["id"], "result": ANN})).status_code == 202
    assert "Ann" in json.dumps(found["result"]["messages"])


async def answer_elicitation(_context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
    """Answer with the message."""
    return types.ElicitResult(action="accept", content={"name": params.message})


async def answer_sampling(_context: Any, _params: Any) -> types.CreateMessageResult:
    """Answer with a model."""
    return types.CreateMessageResult(role="assistant", content=types.TextContent(text="hi"), model="m1")


async def answer_roots(_context: Any) -> types.ListRootsResult:
    """Respond with one root."""
    return types.ListRootsResult(roots=[types.Root.model_validate({"uri": "file:///work"})])


async def check_input(client: Client) -> None:
    """The client receives every kind of request."""
    asked = await client.call_tool("ask", {"message": "Bob", "times": 2})
    assert asked.content[0].model_dump()["text"] == '[{"name": "Bob"}, {"name": "Bob"}]'
    assert (await client.call_tool("sample", {})).content[0].model_dump()["text"] == "m1"
    assert (await client.call_tool("roots", {})).content[0].model_dump()["text"] == '["file:///work"]'


CALLBACKS: dict[str, Any] = {
    "elicitation_callback": answer_elicitation,
    "sampling_callback": answer_sampling,
    "list_roots_callback": answer_roots,
}


async def test_the_official_client_is_asked_through_the_relay(admin: httpx.AsyncClient, url: str) -> None:
    await take(admin, "both")
    async with over_stdio("legacy", PEGBOARD_URL=url, PEGBOARD_KEY=KEY, callbacks=CALLBACKS) as client:
        await check_input(client)


async def test_the_official_client_is_asked_over_stdio(tmp_path: Path) -> None:
    async with Pegboard.open(settings=Settings(home=tmp_path, admin_key=KEY)) as board:
        await board.imports.mcp(board.admin, command=build_command("both"), working_dir=str(ROOT))
    async with over_stdio("legacy", PEGBOARD_HOME=str(tmp_path), callbacks=CALLBACKS) as client:
        await check_input(client)
