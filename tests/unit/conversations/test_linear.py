"""Work grows linearly with the input: it is counted, not timed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pegboard.conversations.read_messages import IncomingMessage
from pegboard.dialects.provider_rules import Talk
from pegboard.dialects.shared.turns import Turn
from pegboard.dialects.turn_reader import TurnReader
from pegboard.model.api_errors import Invalid
from tests.unit.conversations.message_reading import DIALECTS, read_body


class Counted(list[Any]):
    """A list that counts how often its items were read."""

    looks = 0

    def __iter__(self) -> Iterator[Any]:
        for item in super().__iter__():
            self.looks += 1
            yield item


def test_parts_of_one_turn_are_joined_once(monkeypatch: pytest.MonkeyPatch) -> None:
    joins = 0
    replace = Turn._replace

    def counted(turn: Turn, **fields: Any) -> Turn:
        nonlocal joins
        joins += "raw" in fields and len(fields["raw"]) > 1
        return replace(turn, **fields)

    parts = [{"type": "text", "text": f"{place} "} for place in range(500)]
    with monkeypatch.context() as patch:
        patch.setattr(Turn, "_replace", counted)
        (turn,) = DIALECTS.turn_reader.read(parts)
    assert joins == 1
    assert turn.raw == parts
    assert turn.text == "".join(f"{place} " for place in range(500))


def test_bare_calls_are_examined_a_few_times_however_many_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Counted(DIALECTS.turn_reader.read([{"name": "a", "arguments": {}}] * 500))
    monkeypatch.setattr(TurnReader, "read", lambda _reader, _body: found)
    with pytest.raises(Invalid, match="500 calls in one payload"):
        read_body([{"name": "a", "arguments": {}}] * 500)
    assert found.looks <= 3 * 500


def test_turns_of_one_role_are_joined_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    offered = 0
    list_parts = Talk.list_parts

    def counted(self: Talk, message: Any) -> list[Any]:
        nonlocal offered
        parts = list_parts(self, message)
        offered += len(parts)
        return parts

    monkeypatch.setattr(Talk, "list_parts", counted)
    talk = Talk(parts="content", part={"type": "text"})
    found = [{"role": "user", "content": f"{place}"} for place in range(300)]
    (message,) = talk.alternating(found)
    assert [part["text"] for part in message["content"]] == [str(place) for place in range(300)]
    assert offered == 300


def kept(body: Any, dialect: str | None = None) -> IncomingMessage:
    (one,) = read_body(body, dialect)
    return one


@pytest.mark.parametrize("dialect", ["openai_chat", "haystack", "text_hermes", "anthropic_messages"])
def test_what_a_user_sends_is_not_kept_if_a_user_might_take_it_for_calls(dialect: str) -> None:
    event = {"parts": [{"functionCall": {"name": "get_weather", "args": {}}}], "role": "model"}
    one = kept({"role": "user", "content": event, "author": "agent", "invocationId": "i"}, dialect)
    assert (one.role, one.calls, one.raw) == ("user", (), None)
    plain = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x.test"}}], "name": "bob"}
    assert kept(plain, dialect).raw == plain
