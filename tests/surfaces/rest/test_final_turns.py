"""`POST /v1/calls` with a message without calls, the last turn of an agent loop: 200, without results."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from pegboard import Pegboard
from pegboard.testing import calls_of
from tests.surfaces.rest.clients import good, problem
from tests.surfaces.rest.streams import EVENTS, parsed

CALLS = "/v1/calls"
TEXT = {"Content-Type": "text/plain; charset=utf-8"}
BLOCKS = {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}
RESULTS: list[tuple[Any, Any]] = [
    ({"role": "assistant", "content": "Done."}, []),
    ([{"role": "user", "content": "Go."}, {"role": "assistant", "content": "Done."}], []),
    (BLOCKS, {"role": "user", "content": []}),
    ({"role": "model", "parts": [{"text": "Done."}]}, {"role": "user", "parts": []}),
    ({"role": "assistant", "content": [{"text": "Done."}]}, {"role": "user", "content": []}),
    ({"text": "Done.", "toolCalls": []}, {"role": "tool", "content": []}),
    ("Done.", []),
]


@pytest.mark.parametrize(("payload", "answer"), RESULTS)
async def test_a_message_without_calls_is_answered_without_results(
    admin: httpx.AsyncClient, board: Pegboard, payload: Any, answer: Any
) -> None:
    assert good(await admin.post(CALLS, json=payload)) == answer
    assert await board.run(payload) == answer
    assert good(await admin.post(f"{CALLS}?as=openai", json=payload)) == []
    found = good(await admin.post(f"{CALLS}/normalize", json=payload))
    assert found["calls"] == []
    events = parsed((await admin.post(CALLS, json=payload, headers=EVENTS)).text)
    assert [event.name for event in events] == ["complete"]
    assert await calls_of(board) == []


async def test_a_final_text_is_answered_without_results(admin: httpx.AsyncClient) -> None:
    assert good(await admin.post(CALLS, content="Done, see `<tool_call>`.", headers=TEXT)) == []
    refused = problem(await admin.post(CALLS, content='{"name": "echo", "argu', headers=TEXT), 422)
    assert refused["detail"].startswith("unrecognised_format")
    problem(await admin.post(CALLS, content="echo", headers=TEXT), 422)


async def test_the_last_turn_is_added_to_its_conversation(admin: httpx.AsyncClient) -> None:
    thread = good(await admin.post("/v1/threads", json={}), 201)["id"]
    good(await admin.post(CALLS, json=BLOCKS, params={"thread": thread}))
    (message,) = good(await admin.get(f"/v1/threads/{thread}/messages"))["items"]
    assert (message["role"], message["content"]) == ("assistant", "Done.")
