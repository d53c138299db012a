"""A dialect of an installed package, in one file: its conversations are read, stored and written too."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.testing import memory_board

MODULE = '''
from pegboard.extend import Dialect, TextMarks, Turn, Unreadable

SPEAKERS = {"person": "user", "machine": "assistant", "world": "tool"}


class Diary(Dialect):
    """Entries such as {"by": "machine", "says": text, "does": [{"what", "how", "no"}]}."""

    name = "diary"
    keys = frozenset({"does", "saw", "bit", "pages"})
    text_marks = TextMarks(calls="DO:")

    def recognises(self, item):
        return isinstance(item, dict)

    def read(self, item, into):
        if not isinstance(item, dict):
            raise Unreadable("'diary' has entries")
        for deed in item.get("does", ()) if item.get("by") == "machine" else ():
            into.call(deed["what"], deed["how"], deed["no"])
        for sight in item.get("saw", ()):
            into.answer(sight["no"], sight["thing"])

    def compose(self, calls):
        return {"by": "machine", "says": None, "does": [
            {"what": call.name, "how": call.arguments, "no": call.id} for call in calls]}

    def render(self, answers, *, many):
        return {"by": "world", "saw": [
            {"no": answer.id, "thing": answer.result.output} for answer in answers]}

    def define(self, tool):
        return {"what": tool.name}

    def say(self, role, text, id):
        return [{"by": {"user": "person", "assistant": "machine", "system": "person"}[role], "says": text}]

    def compose_turn(self, text, calls, id):
        return [{**self.compose(calls), "says": text}]

    def own(self, raw):
        return [raw]

    def unwrap(self, response):
        return response.get("pages")

    def turns(self, item, speaker):
        by = SPEAKERS.get(item.get("by"))
        return None if by is None else [Turn(by, item.get("says"), item, item.get("on"))]

    def chunk_text(self, chunk):
        return chunk["bit"] if isinstance(chunk, dict) and "bit" in chunk else None

class Broken(Diary):
    """A dialect whose pattern is invalid."""

    name = "broken"
    text_marks = TextMarks(calls="(")
'''
DEED = {"what": "echo", "how": {"a": 1}, "no": "n1"}
PAGES = [
    {"by": "person", "says": "What is 1?", "on": "2026-01-02T03:04:05Z"},
    {"by": "machine", "says": "I look.", "does": [DEED]},
    {"by": "world", "saw": [{"no": "n1", "thing": [1]}]},
    {"by": "machine", "says": "1 is 1."},
]


@pytest.fixture
def diary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The installed package with the dialect."""
    (tmp_path / "diary_format.py").write_text(MODULE)
    info = tmp_path / "diary_format-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: diary-format\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[pegboard.dialects]\ndiary = diary_format:Diary\nbroken = diary_format:Broken\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "diary_format", raising=False)


async def added(board: Pegboard, body: Any) -> tuple[str, list[Any]]:
    """Create a thread with these messages."""
    thread = await board.threads.create(board.admin)
    await board.threads.add(thread.id, board.admin, body)
    return thread.id, list((await board.threads.messages(thread.id, board.admin)).items)


@pytest.mark.usefixtures("diary")
@pytest.mark.parametrize("body", [PAGES, {"pages": PAGES}])
async def test_its_messages_are_added_with_their_speakers_times_and_answers(body: Any) -> None:
    async with memory_board() as board:
        thread, messages = await added(board, body)
        assert [(message.role, message.content) for message in messages] == [
            ("user", "What is 1?"), ("assistant", "I look."), ("assistant", "1 is 1."),
        ]  # fmt: skip
        assert messages[0].timestamp.isoformat() == "2026-01-02T03:04:05+00:00"
        (call,) = messages[1].tool_calls
        assert (call["id"], call["name"], call["arguments"], call["result"]) == ("n1", "echo", {"a": 1}, [1])
        history = await board.threads.history(thread, board.admin, "diary")
        assert history.items == PAGES
        openai = (await board.threads.history(thread, board.admin, "openai_chat")).items
        assert [item["role"] for item in openai] == ["user", "assistant", "tool", "assistant"]


@pytest.mark.usefixtures("diary")
async def test_its_text_beside_calls_and_in_streams_is_found() -> None:
    async with memory_board() as board:
        read_text = board.dialects.turn_reader.read_assistant_text
        assert read_text(PAGES[1]) == "I look."
        assert read_text([{"bit": "I "}, {"bit": "look."}, {"does": [DEED]}]) == "I look."
        assert read_text("I look.\nDO: echo") == "I look."


@pytest.mark.usefixtures("diary")
async def test_messages_of_other_dialects_are_read_as_before() -> None:
    async with memory_board() as board:
        _, messages = await added(board, [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}])
        assert [(message.role, message.content) for message in messages] == [("user", "Hi"), ("assistant", "Hello")]


@pytest.mark.usefixtures("diary")
async def test_a_dialect_with_an_invalid_pattern_is_left_out() -> None:
    async with memory_board() as board:
        assert "diary" in board.dialects
        assert "broken" not in board.dialects
