"""The display formats that a tool may declare."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.model.api_errors import Invalid
from pegboard.model.display_format import Display, Format
from pegboard.testing import memory_board


def mock(**display: Any) -> dict[str, Any]:
    return {"name": "t", "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {}, "display": display}


def test_a_style_alone_stands_for_a_format() -> None:
    assert Display.model_validate({"result": "sql"}).result == Format(style="sql")


@pytest.mark.parametrize("path", ["total", "order.total", "items[].price", "[].price", "[]", "[][].a", "a b.ü-1[][]"])
def test_a_value_is_named_by_its_path(path: str) -> None:
    assert Display.model_validate({"fields": {path: "money"}}).fields[path].style == "money"


@pytest.mark.parametrize(
    ("display", "field", "words"),
    [
        ({"result": "sqll"}, "display.result.style", "did you mean 'sql'?"),
        ({"result": "Money"}, "display.result.style", "did you mean 'money'?"),
        ({"result": {"style": "zzz"}}, "display.result.style", "known: text, code, sql, json, table, http, money"),
        ({"result": {"style": ["sql"]}}, "display.result.style", "unknown style"),
        ({"result": {"currency": "EUR"}}, "display.result.style", "required"),
        ({"result": 5}, "display.result", "{style: money, currency: EUR}"),
        ({"result": {"style": "sql", "currency": "EUR"}}, "display.result", "'currency' belongs to the style money"),
        ({"result": {"style": "money", "unit": "ms"}}, "display.result", "'unit' belongs to the style duration"),
        ({"fields": {"a": {"style": "bytes", "scale": 0}}}, "display.fields.a", "'scale' belongs to the style money"),
        ({"arguments": {"a": {"style": "text", "whole": 1}}}, "display.arguments.a", "'whole' belongs to the style pe"),
        ({"result": {"style": "json", "columns": ["a"]}}, "display.result", "'columns' belongs to the style table"),
        ({"result": {"style": "money", "curency": "EUR"}}, "display.result.curency", "did you mean 'currency'?"),
        ({"result": {"style": "money", "currency": "euro"}}, "display.result.currency", "pattern"),
        ({"arguments": {"a..b": "sql"}}, "display.arguments", "'a..b' is not a path"),
        ({"fields": {"": "sql"}}, "display.fields", "'' is not a path"),
        ({"fields": {"a\0": "sql"}}, "display.fields", "'a\\x00' is not a path"),
        ({"fields": {"a\ud800": "sql"}}, "display.fields", "'a\\ud800' is not a path"),
        ({"result": {"style": "table", "columns": ["\u202e"]}}, "display.result.columns.0", "is not printable"),
        ({"fields": {"items[0]": "sql"}}, "display.fields", "items[].price"),
        ({"fields": {"x" * 256: "sql"}}, "display.fields", "at most 255 characters"),
        ({"fields": {str(n): "sql" for n in range(101)}}, "display.fields", "at most 100"),
        ({"results": "sql"}, "display.results", "did you mean 'result'?"),
    ],
)
async def test_what_is_wrong_is_reported_at_registration(display: dict[str, Any], field: str, words: str) -> None:
    async with memory_board() as board:
        with pytest.raises(Invalid) as refused:
            await board.add(mock(**display))
    (fault,) = refused.value.faults
    assert fault.field == field
    assert words in fault.message


def test_what_is_shown_can_be_sent_back() -> None:
    given = Display.model_validate({"arguments": {"q": "sql"}, "result": {"style": "money", "scale": 2}})
    assert Display.model_validate(given.model_dump(mode="json")) == given
