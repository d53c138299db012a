"""UI messages: calls with their current state."""

from __future__ import annotations

from pegboard.dialects.catalog import load_dialects
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.vercel import VercelUi
from tests.unit.dialects.web_dialects import answer_to

KNOWN = load_dialects()
DIALECT = VercelUi()
CALL = AskedCall("get_weather", {"city": "Bern"}, "call_1")


def test_a_composed_message_is_read_back_with_its_calls_open() -> None:
    message = DIALECT.compose([CALL])
    assert KNOWN.read(message, "vercel_ui").calls == (CALL,)
    assert message["parts"][0]["state"] == "input-available"


def test_how_a_call_ended_stands_in_its_part() -> None:
    message = DIALECT.render([answer_to(CALL, {"degrees": 7}), answer_to(CALL._replace(id="b"), error="no")], many=True)
    good, bad = KNOWN.read(message, "vercel_ui").calls
    assert (good.result, bad.error) == ({"degrees": 7}, "no")


def test_the_dialect_is_used_only_if_it_is_named() -> None:
    assert KNOWN.read(DIALECT.compose([CALL])).dialect == "vercel_ai_v7"
