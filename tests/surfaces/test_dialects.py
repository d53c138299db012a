"""Every payload in tests/formats, through the library and over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import pytest

from pegboard import Pegboard
from pegboard.model.call import Execution
from pegboard.model.filters import ExecutionFilter
from pegboard.testing import calls_of, memory_board
from tests.board_surfaces import KEY
from tests.formats import NAMES, TOOLS, Case, cases
from tests.surfaces.rest.clients import client, good, mock, problem

WEATHER = {"temp_c": 7.5, "sky": "bewölkt"}
RESULTS: dict[str, Any] = {"get_weather": WEATHER, "search_docs": {"hits": []}, "list_projects": ["alpha", "beta"]}
Normalize = Callable[[Any, str | None], Awaitable[dict[str, Any]]]


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    async with memory_board(admin_key=KEY) as fresh:
        for name, schema in TOOLS.items():
            await fresh.add(mock(name, config={"mock_response": RESULTS[name]}, input_schema=schema))
        yield fresh


@pytest.fixture(params=["library", "rest", "rest, as text"])
async def normalize(request: pytest.FixtureRequest, board: Pegboard) -> AsyncIterator[Normalize]:
    """Normalise a payload through one of the surfaces."""

    async def by_library(payload: Any, dialect: str | None) -> dict[str, Any]:
        return board.normalize(payload, dialect=dialect)

    async def by_rest(payload: Any, dialect: str | None) -> dict[str, Any]:
        params = {"from": dialect} if dialect else {}
        if request.param == "rest" or not isinstance(payload, str):
            answer = await speaker.post("/v1/calls/normalize", json=payload, params=params)
        else:
            headers = {"Content-Type": "text/plain; charset=utf-8"}
            answer = await speaker.post("/v1/calls/normalize", content=payload.encode(), headers=headers, params=params)
        found: dict[str, Any] = good(answer)
        return found

    async with client(board) as speaker:
        yield by_library if request.param == "library" else by_rest


def check(case: Case, calls: list[dict[str, Any]]) -> None:
    """Hold normalised calls against the index."""
    if case.about.get("allow_error"):
        assert all(call["error"] == "malformed_arguments" for call in calls)
        return
    expected = case.about["expected"]
    assert len(calls) == len(expected), str(case)
    minted = [call["id"] for call, wanted in zip(calls, expected, strict=True) if wanted["id"] is None]
    assert all(minted)
    assert len(set(minted)) == len(minted)
    for call, wanted in zip(calls, expected, strict=True):
        assert {key: call.get(key) for key in wanted if key != "id"} == {
            key: value for key, value in wanted.items() if key != "id"
        }, str(case)
        assert wanted["id"] is None or call["id"] == wanted["id"]
        assert call["display_name"]
        assert call["summary"]


async def test_every_payload_becomes_its_calls(normalize: Normalize) -> None:
    for case in [*cases("call"), *cases("stream")]:
        for name in (case.dialect, None):
            check(case, (await normalize(case.payload, name))["calls"])


async def newest(board: Pegboard) -> str:
    """The id of the last row of the journal."""
    page = await board.executions(ExecutionFilter(), limit=1)
    return page.items[0].id if page.items else ""


async def calls_since(board: Pegboard, seen: str) -> list[Execution]:
    """Return the rows after this one."""
    return [row for row in (await board.executions(ExecutionFilter(), limit=50)).items if row.id > seen]


async def test_calls_run_and_are_answered_in_their_dialect(board: Pegboard) -> None:
    for case in cases("call"):
        wanted = [call for call in case.about["expected"] if call["name"] in TOOLS and "result" not in call]
        runs = [
            call
            for call in wanted
            if not call.get("provider_executed")
            and "error" not in call
            # A call whose arguments were lost lacks its city, and is refused.
            and ("city" in call["arguments"] or call["name"] != "get_weather")
        ]
        seen = await newest(board)
        answer = await board.run(case.payload, dialect=case.dialect)
        rows = await calls_since(board, seen)
        assert sorted(row.tool_name for row in rows if row.status == "succeeded") == sorted(
            call["name"] for call in runs
        ), str(case)
        assert {row.dialect for row in rows} <= {case.dialect}
        if any(call["name"] == "get_weather" for call in runs):
            assert "temp_c" in str(answer), str(case)


async def test_malformed_arguments_are_never_run_and_the_model_is_informed_what_to_do(board: Pegboard) -> None:
    (case,) = [case for case in cases("call") if (case.dialect, case.name) == ("openai_chat", "malformed_truncated")]
    (answer,) = await board.run(case.payload)
    assert answer["tool_call_id"] == "call_W1"
    assert "the text ends too early" in answer["content"]
    assert "Send the call again" in answer["content"]
    (row,) = await calls_of(board)
    assert (row.status, row.code, row.dialect) == ("refused", "malformed_arguments", "openai_chat")


async def test_what_the_provider_ran_is_not_run_again(board: Pegboard) -> None:
    (case,) = [case for case in cases("call") if case.name == "server_tool_use"]
    answer = await board.run(case.payload)
    assert [block["tool_use_id"] for block in answer["content"]] == ["toolu_W1"]
    assert [row.tool_name for row in await calls_of(board)] == ["get_weather"]


class TestOverHttp:
    @pytest.fixture
    async def admin(self, board: Pegboard) -> AsyncIterator[httpx.AsyncClient]:
        async with client(board) as speaker:
            yield speaker

    async def test_one_dialect_in_and_another_out(self, admin: httpx.AsyncClient) -> None:
        call = {"name": "get_weather", "arguments": {"city": "Zürich"}, "id": "1"}
        answer = good(await admin.post("/v1/calls", json=call, params={"as": "anthropic"}))
        assert answer["role"] == "user"
        assert answer["content"][0]["tool_use_id"] == "1"

    async def test_text_is_answered_with_text(self, admin: httpx.AsyncClient) -> None:
        text = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich"}}\n</tool_call>'
        headers = {"Content-Type": "text/plain"}
        answer = await admin.post("/v1/calls", content=text.encode(), headers=headers)
        assert answer.headers["content-type"].startswith("text/plain")
        assert "<tool_response>" in answer.text
        assert good(await admin.post("/v1/calls", json=text)) == answer.text

    async def test_a_stream_as_it_came_over_the_wire_is_taken(self, admin: httpx.AsyncClient) -> None:
        (case,) = [case for case in cases("stream") if (case.dialect, case.name) == ("openai_chat", "single")]
        lines = "".join(
            f"data: {httpx.Request('POST', 'http://x', json=chunk).read().decode()}\n\n" for chunk in case.payload
        )
        for content_type in ("text/event-stream", "text/plain"):
            answer = await admin.post(
                "/v1/calls", content=(lines + "data: [DONE]\n\n").encode(), headers={"Content-Type": content_type}
            )
            assert good(answer)[0]["tool_call_id"] == "call_W1"

    async def test_what_no_dialect_knows_is_reported(self, admin: httpx.AsyncClient) -> None:
        for path in ("/v1/calls", "/v1/calls/normalize"):
            response = problem(await admin.post(path, json={"surprise": 1}), 422)
            assert response["detail"].startswith(
                "unrecognised_format: this is not a tool call in a known format: an object"
            )
            assert "'surprise'" in response["detail"]
            assert len(response["detail"]) < 300

    async def test_every_answer_names_the_dialect_that_was_read(self, admin: httpx.AsyncClient) -> None:
        call = {"name": "get_weather", "input": {"city": "Zürich"}}
        for path, accept in (("/v1/calls", ""), ("/v1/calls", "text/event-stream"), ("/v1/calls/normalize", "")):
            headers = {"Accept": accept} if accept else {}
            answer = await admin.post(path, json=call, headers=headers)
            assert (answer.status_code, answer.headers["x-dialect"]) == (200, "crewai")
        answer = await admin.post("/v1/calls", json=call | {"id": "c"}, params={"from": "crewai", "as": "openai"})
        assert answer.headers["x-dialect"] == "crewai"

    @pytest.mark.parametrize(
        ("content", "status"),
        [
            (b"", 400),
            (b"{", 400),
            (b'{"name": "echo", "name": "delete_all"}', 400),
            (b'{"name": "echo", "arguments": {"a": "\\ud800"}}', 400),
            (b'{"name": "echo", "arguments": {"a": 1e999}}', 400),
            (b"[" * 50_000, 400),
        ],
    )
    async def test_a_body_that_is_no_json_is_refused(
        self, admin: httpx.AsyncClient, content: bytes, status: int
    ) -> None:
        problem(await admin.post("/v1/calls", content=content), status)
        problem(await admin.post("/v1/calls/normalize", content=content), status)

    async def test_ten_thousand_calls_are_neither_normalised_nor_run(
        self, admin: httpx.AsyncClient, board: Pegboard
    ) -> None:
        call = {"id": "c", "type": "function", "function": {"name": "list_projects", "arguments": "{}"}}
        message = {"role": "assistant", "tool_calls": [call] * 10_000}
        for path in ("/v1/calls/normalize", "/v1/calls"):
            assert "10,000 calls" in problem(await admin.post(path, json=message), 422)["detail"]
        assert await calls_of(board) == []

    async def test_the_dialects_are_listed_with_their_short_names(self, admin: httpx.AsyncClient) -> None:
        listed = {dialect["name"]: dialect for dialect in good(await admin.get("/v1/dialects"))}
        assert set(NAMES) < set(listed)
        assert listed["openai_chat"]["aliases"] == ["openai"]
        assert listed["anthropic_messages"]["abilities"] == [
            "parse",
            "stream",
            "compose",
            "render",
            "define",
            "history",
        ]

    async def test_tools_are_declared_strictly_if_a_provider_has_that(self, admin: httpx.AsyncClient) -> None:
        params = {"as": "openai", "strict": "true"}
        function = good(await admin.get("/v1/tools/get_weather/definition", params=params))["function"]
        assert function["strict"] is True
        assert function["parameters"]["required"] == ["city", "unit"]
        every = good(await admin.get("/v1/definitions", params=params))
        assert {tool["function"]["name"]: tool["function"]["strict"] for tool in every}["search_docs"] is False
        call = {
            "function": {"name": "get_weather", "arguments": '{"city": "Zürich", "unit": null}'},
            "type": "function",
        }
        assert "temp_c" in good(await admin.post("/v1/calls", json=call))["content"]
        refused = problem(await admin.get("/v1/definitions", params={"as": "gemini", "strict": "true"}), 422)
        assert refused["detail"] == "strict works only with OpenAI dialects, not with 'gemini_generate_content'"

    async def test_tools_are_declared_in_every_dialect(self, admin: httpx.AsyncClient) -> None:
        for dialect in NAMES:
            params = {"as": dialect}
            assert "get_weather" in str(good(await admin.get("/v1/tools/get_weather/definition", params=params)))
            every = str(good(await admin.get("/v1/definitions", params=params)))
            assert all(name in every for name in TOOLS), dialect


async def test_a_call_without_a_name_is_refused_with_a_message(board: Pegboard) -> None:
    message = {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": {"arguments": "{}"}}]}
    (answer,) = await board.run(message)
    assert "no readable tool name" in answer["content"]
    assert [row.code for row in await calls_of(board)] == ["tool_not_found"]
