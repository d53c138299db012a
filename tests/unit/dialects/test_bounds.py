"""A payload gets a limited number of calls, and a response of a size limited by its own."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from pegboard import Pegboard, ToolResult
from pegboard.dialect_calls import MAX_PAYLOAD_CALLS
from pegboard.dialects import call_assembler
from pegboard.dialects.base import Answer
from pegboard.dialects.catalog import load_dialects
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.model.api_errors import Invalid
from pegboard.model.json_text import json_text
from pegboard.testing import memory_board
from tests.board_surfaces import KEY
from tests.formats import Case, cases
from tests.surfaces.rest.clients import client, problem

KNOWN = load_dialects()
READ = [name for name, dialect in KNOWN.items() if "parse" in dialect.abilities]
# What each call adds to a response besides its input: an id, a display name, a summary, field names.
PER_CALL = 1000
FILLERS: list[Any] = [{}, [], None, "", 0]
RUN = "0190aaaa-0000-7000-8000-000000000001"
LONG = "x" * 20_000
NO_CALLS = "[" + ",".join(["{}"] * 5000) + "]"


@pytest.fixture(scope="module")
async def board() -> AsyncIterator[Pegboard]:
    async with memory_board(admin_key=KEY) as opened:
        yield opened


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


def examples(name: str) -> Iterator[Any]:
    """A payload of each kind that the dialect reads."""
    found = [case for kind in ("call", "stream", "result") for case in cases(kind) if case.dialect == name]
    kinds: dict[str, Case] = {}
    for case in found:
        kinds.setdefault(f"{case.kind} {type(case.payload).__name__}", case)
    yield from (case.payload for case in kinds.values())
    if not found:
        yield json.loads(json_text(KNOWN[name].compose([AskedCall("a", {"x": 1}, "1"), AskedCall("b", {}, "2")])))


def enlarge_payload(value: Any) -> Iterator[Any]:
    """Return the payload with one of its lists repeated or filled with other items, or one of its texts made longer."""
    if isinstance(value, str):
        yield value + LONG
        yield value * 500
        yield from with_lists(value)
    elif isinstance(value, list):
        yield value * (MAX_PAYLOAD_CALLS // max(len(value), 1))
        yield from ([filler] * 5000 for filler in FILLERS)
        for place, item in enumerate(value[:3]):
            yield from ([*value[:place], other, *value[place + 1 :]] for other in enlarge_payload(item))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from ({**value, key: other} for other in enlarge_payload(item))


def with_lists(text: str) -> Iterator[str]:
    """Return the text with each JSON value replaced by a list of objects that are not calls."""
    for place, letter in enumerate(text):
        if letter in "{[":
            try:
                _, length = json.JSONDecoder().raw_decode(text[place:])
            except ValueError:
                continue
            yield text[:place] + NO_CALLS + text[place + length :]


@pytest.mark.parametrize("name", READ)
async def test_an_answer_is_at_most_a_few_times_as_long_as_its_payload(name: str, board: Pegboard) -> None:
    checked = 0
    for payload in (other for example in examples(name) for other in enlarge_payload(example)):
        for given in (name, None):
            try:
                answer = board.normalize(payload, dialect=given)
            except Invalid:
                continue
            checked += 1
            sent = len(json_text(payload).encode())
            assert len(json_text(answer).encode()) <= 4 * sent + PER_CALL * MAX_PAYLOAD_CALLS, str(payload)[:300]
    assert checked


@pytest.mark.parametrize("name", READ)
async def test_results_that_answer_several_calls_are_not_copied_without_bound(name: str, board: Pegboard) -> None:
    dialect = KNOWN[name]
    made = [AskedCall("a", {"x": place}, f"id{place:07}") for place in range(90)]
    answers = [Answer(call, ToolResult("a", True, json.dumps(LONG[:1000]).encode(), run_id=RUN)) for call in made]
    called, answered = dialect.compose(made), dialect.render(answers, many=True)
    if isinstance(called, str):
        histories: list[Any] = [f"{called}\n{answered}", f"{called}\nObservation: {LONG * 3}"]
    else:
        listed = [part if isinstance(part, list) else [part] for part in (called, answered)]
        histories = [[*listed[0], *listed[1]]]
    for history in histories:
        try:
            shown = board.normalize(json.loads(json_text(history)), dialect=name)
        except Invalid:
            continue
        sent = len(json_text(history).encode())
        assert len(json_text(shown).encode()) <= 4 * sent + PER_CALL * MAX_PAYLOAD_CALLS


@pytest.mark.parametrize("name", READ)
def test_every_reader_refuses_more_calls_than_a_payload_may_hold(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def written(count: int) -> Any:
        calls = [AskedCall("a", {}, f"id{place:07}") for place in range(count)]
        return json.loads(json_text(KNOWN[name].compose(calls)))

    assert call_assembler.MAX_CALLS == 10_000
    monkeypatch.setattr(call_assembler, "MAX_CALLS", 150)
    assert len(KNOWN.read(written(150), name).calls) == 150
    with pytest.raises(Invalid, match="More than 150 calls in one payload"):
        KNOWN.read(written(151), name)


async def test_more_open_calls_than_are_run_are_refused_by_every_surface(board: Pegboard) -> None:
    calls = [{"name": "echo", "arguments": {}}] * (MAX_PAYLOAD_CALLS + 1)
    with pytest.raises(Invalid, match="101 calls in one payload, at most 100 are read"):
        board.normalize(calls)
    async with client(board) as speaker:
        thread = (await speaker.post("/v1/threads", json={})).json()["id"]
        for path in ("/v1/calls", "/v1/calls/normalize", f"/v1/threads/{thread}/messages"):
            assert "at most 100 are" in problem(await speaker.post(path, json=calls), 422)["detail"]
        events = await speaker.post("/v1/calls", json=calls, headers={"Accept": "text/event-stream"})
        assert "at most 100 are" in problem(events, 422)["detail"]


async def test_a_history_may_hold_more_finished_calls_than_are_run(board: Pegboard) -> None:
    history: list[Any] = []
    for place in range(150):
        call = {"id": f"c{place}", "type": "function", "function": {"name": "echo", "arguments": "{}"}}
        history += [{"role": "assistant", "tool_calls": [call]}]
        history += [{"role": "tool", "tool_call_id": f"c{place}", "content": "{}"}]
    assert len(board.normalize(history)["calls"]) == 150
    assert len(await board.run([*history, history[0]])) == 1


async def test_a_list_of_what_is_no_call_keeps_the_text_of_each_element(board: Pegboard) -> None:
    asked = KNOWN.read('<tool_call>[{}, {"name": "a"}, {"name": "b", "x": 1}]</tool_call>', "text_hermes")
    texts = [getattr(call.arguments, "text", call.arguments) for call in asked.calls]
    assert texts == ["{}", {}, '{"name": "b", "x": 1}']
