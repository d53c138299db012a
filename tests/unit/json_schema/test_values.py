from __future__ import annotations

import json
import math
from collections import OrderedDict
from decimal import Decimal
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.json_schema.read_arguments import (
    check_arguments_extent,
    convert_to_decimals,
    convert_to_floats,
    parse_json,
)
from pegboard.model.call_errors import InvalidArguments, MalformedArguments, ToolError


class Color(StrEnum):
    RED = "red"


def malformed(body: bytes) -> str:
    with pytest.raises(MalformedArguments) as caught:
        parse_json(body)
    return caught.value.message


def unmeasured(arguments: Any, max_depth: int = 64) -> ToolError:
    with pytest.raises(ToolError) as caught:
        check_arguments_extent(arguments, max_depth=max_depth)
    return caught.value


def nested(depth: int, leaf: Any = 1) -> Any:
    for _ in range(depth):
        leaf = {"a": leaf}
    return leaf


class TestMeasure:
    @pytest.mark.parametrize(
        "arguments",
        [
            {},
            {"a": None, "b": True, "c": "é", "d": 1.5, "e": [1, {"f": []}], "g": (1, 2)},
            {"a": -(2**63), "b": 2**64 - 1},
            OrderedDict(a=1),
            {"a": Color.RED},
            {"a": [1e308, 1e308], "b": [-(2**63), 2**64 - 1], "c": ["x", "é"], "d": [True, False]},
            nested(64),
        ],
    )
    def test_json_of_bounded_depth_passes(self, arguments: Any) -> None:
        assert check_arguments_extent(arguments, max_depth=64) is False

    def test_numbers_of_more_digits_than_a_float_are_reported_and_can_be_made_floats(self) -> None:
        arguments = {"a": [Decimal("0.1"), {"b": (Decimal("12345678901234567.5"), "x")}], "c": 1}
        assert check_arguments_extent(arguments, max_depth=64) is True
        assert convert_to_floats(arguments) == {"a": [0.1, {"b": [12345678901234568.0, "x"]}], "c": 1}

    @pytest.mark.parametrize(
        ("arguments", "received"),
        [
            ([], "an array"), ("{}", "a string"), (5, "a number"), (1.5, "a number"), (None, "null"), (True, "true"),
            ({1}, "a Python set"),
        ],
    )  # fmt: skip
    def test_what_is_no_object_is_named(self, arguments: Any, received: str) -> None:
        error = unmeasured(arguments)
        assert isinstance(error, MalformedArguments)
        assert error.message == f"Arguments must be a JSON object, but received {received}"

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ({1: 2}, "Keys must be strings, but received a number"),
            ({"a": [{None: 2}]}, "received null in field 'a[0]'"),
            ({"a": {"b": {1}}}, "Field 'a.b' must be JSON"),
            ({"a": b"x"}, "but received a Python bytes"),
            ({"a": Decimal("NaN")}, "Field 'a' must be a finite number, but received NaN"),
            ({"a": Decimal("sNaN")}, "Field 'a' must be a finite number, but received sNaN"),
            ({"a": Decimal("1E+400")}, "Field 'a' must be a finite number, but received 1E+400"),
            ({"a": [0.0, math.nan]}, "Field 'a[1]' must be a finite number, but received nan"),
            ({"a": [0.5, math.inf, -math.inf]}, "Field 'a[1]' must be a finite number, but received inf"),
            ({"a": ["x", "\ud800"]}, "Field 'a[1]' holds half of a surrogate pair"),
            ({"a": -math.inf}, "Field 'a' must be a finite number, but received -inf"),
            ({"a": "\ud800"}, "Field 'a' holds half of a surrogate pair"),
            ({"\udfff": 1}, "half of a surrogate pair"),
            (nested(65), "Field 'a.a.a' is nested too deeply, at most 64 levels go"),
            (nested(100_000), "is nested too deeply"),
        ],
        ids=lambda value: value if isinstance(value, str) and value.isascii() else "",
    )
    def test_what_is_not_json_is_refused(self, arguments: Any, words: str) -> None:
        error = unmeasured(arguments)
        assert isinstance(error, MalformedArguments)
        assert words in error.message

    def test_a_tool_that_keeps_all_digits_may_have_integers_beyond_64_bits(self) -> None:
        arguments = {"a": [2**64, -(2**63) - 1, {"b": 2**64 - 1}], "c": 10**198}
        assert check_arguments_extent(arguments, max_depth=64, exact=True) is True
        assert convert_to_decimals(arguments) == arguments
        assert [type(item) for item in convert_to_decimals(arguments)["a"]] == [Decimal, Decimal, dict]
        assert type(convert_to_decimals(arguments)["a"][2]["b"]) is int
        # The last of 201 digits was not read.
        too_long = parse_json(b'{"a": 1' + b"0" * 200 + b"}")
        with pytest.raises(InvalidArguments):
            check_arguments_extent(too_long, max_depth=64, exact=True)

    def test_values_that_hold_themselves_or_multiply_end(self) -> None:
        circle: dict[str, Any] = {}
        circle["a"] = [circle, circle]
        assert "nested too deeply" in unmeasured(circle).message
        many: Any = [1]
        for _ in range(40):
            many = [many, many]
        assert "more than 2,000,000 values" in unmeasured({"a": many}).message

    @pytest.mark.parametrize(
        ("value", "code", "received"),
        [
            (2**64, "too_big", str(2**64)),
            (-(2**63) - 1, "too_small", str(-(2**63) - 1)),
            (10**5000, "too_big", "an integer of 16610 bits"),
        ],
        ids=["large", "small", "huge"],
    )
    def test_an_integer_beyond_64_bits_is_refused_by_field(self, value: int, code: str, received: str) -> None:
        error = unmeasured({"a": {"b": [1, value]}})
        assert isinstance(error, InvalidArguments)
        problem = error.problems[0]
        assert (problem.code, problem.field, problem.received) == (code, "a.b[1]", received)
        assert problem.expected == "integer between -9223372036854775808 and 18446744073709551615"

    def test_all_integers_beyond_64_bits_are_reported(self) -> None:
        assert [problem.field for problem in unmeasured({"a": 2**64, "b": 1, "c": -(2**64)}).problems] == ["a", "c"]


class TestParseJson:
    @pytest.mark.parametrize(
        ("body", "value"),
        [
            (b'{"a": 1}', {"a": 1}),
            (b'{"a": 9223372036854775807}', {"a": 2**63 - 1}),
            (b'{"a": 18446744073709551615}', {"a": 2**64 - 1}),
            (b'{"a": 18446744073709551616}', {"a": 2**64}),
            (b'{"a": -9223372036854775809}', {"a": -(2**63) - 1}),
            (b'{"a": "12345678901234567890123", "b": 1.12345678901234567890}',
                {"a": "12345678901234567890123", "b": Decimal("1.12345678901234567890")}),
            (b'{"a": 12345678901234567.5, "b": 0.1, "c": 1.50000000000000000000, "d": 123456789.1234567}',
                {"a": Decimal("12345678901234567.5"), "b": 0.1, "c": 1.5, "d": 123456789.1234567}),
            (b'{"a": 1, "a": 2, "b": 12345678901234567890}', {"a": 2, "b": 12345678901234567890}),
            (b'{"a": 1, "a": 2}', {"a": 2}),
        ],
    )  # fmt: skip
    def test_no_digit_is_lost(self, body: bytes, value: Any) -> None:
        parsed = parse_json(body)
        assert parsed == value
        assert [type(item) for item in parsed.values()] == [type(item) for item in value.values()]

    @given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30, places=12))
    def test_any_decimal_is_read_as_it_is_written(self, number: Decimal) -> None:
        read = parse_json(f'{{"a": {number:f}}}'.encode())["a"]
        assert Decimal(repr(read) if isinstance(read, float) else read) == number

    def test_a_number_too_small_for_a_float_is_kept_and_one_beyond_all_measure_refused(self) -> None:
        assert parse_json(b'{"a": 1e-400, "b": 1E-300}') == {"a": Decimal("1e-400"), "b": 1e-300}
        assert "the number 1e-99999 is too small" in malformed(b'{"a": 1e-99999}')
        assert "1,003 characters is too long" in malformed(b'{"a": 0.' + b"1" * 1001 + b"}")
        assert parse_json(b'{"a": 0e-99999, "b": "1e-99999"}') == {"a": 0, "b": "1e-99999"}

    def test_an_integer_too_large_for_the_tool_is_refused_by_field(self) -> None:
        parsed = parse_json(b'{"n": 1' + b"0" * 30 + b"}")
        assert unmeasured(parsed).problems[0].field == "n"

    @pytest.mark.parametrize(
        ("body", "words"),
        [
            (b"", "the text is empty"),
            (b"  ", "the text is empty"),
            (b'{"a": 1,}', "at line 1, column 8: there is a comma after the last entry"),
            (b'{\n"a" 1}', "at line 2, column 5: expected ':' after the key"),
            (b"{'a': 1}", "at line 1, column 2: expected a key in double quotes; use double quotes, not single ones"),
            (b"{\"a\": 'x'}", "use double quotes"),
            (b"{a: 1}", 'expected a key in double quotes, found "a"'),
            (b"[1 2]", "expected ',' or ']' after an item"),
            (b'{"a": 1 "b": 2}', "expected ',' or '}' after a value"),
            (b'{"a": 1', "the text ends too early"),
            (b'{"a": "x', "the text ends too early"),
            (b'{"a": NaN}', "use null, true or false"),
            (b'{"a": True}', "use null, true or false"),
            (b'{"a": 1} {"b": 2}', "expected nothing more after the end of the JSON"),
            (b'{"a": "x\ny"}', "must be escaped"),
            (rb'{"a": "\x"}', "a backslash must be followed by"),
            (b'{"a": 01}', "may not begin with a zero"),
            (b'{"a": 1e400}', "the number is too large"),
            (rb'{"a": "\ud800"}', "surrogate"),
            (rb'{"a": "\ud800", "n": 12345678901234567890}', "surrogate"),
            (b'{"a": "\xff"}', "byte 8 is not valid UTF-8"),
            (b'{"a": "\xed\xa0\x80"}', "is not valid UTF-8"),
            (b'{"a": NaN, "n": 12345678901234567890}', "use null, true or false"),
            (b'{"n": 1' + b"0" * 400 + b', "a": 1e400}', "is too large"),
            (b'{"n": 1' + b"0" * 400 + b', "a": NaN}', "NaN is not JSON"),
            (b'{"n": 1' + b"0" * 400 + b', "a": }', "at line 1, column"),
            (b'{"n": 1' + b"0" * 400 + b', "a": "\xff"}', "UTF-8"),
            (b"[" * 100_000, "nested too deeply"),
            (b"[1" + b"0" * 400 + b"," + b"[" * 100_000, "nested too deeply"),
            (b'{"a":' * 100_000, "nested too deeply"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_malformed_json_is_refused_in_words_to_act_on(self, body: bytes, words: str) -> None:
        message = malformed(body)
        assert message.startswith("Not valid JSON")
        assert words in message

    def test_ten_megabytes_of_digits_are_refused_by_field(self) -> None:
        parsed = parse_json(b'{"n": ' + b"9" * 10_000_000 + b"}")
        problem = unmeasured(parsed).problems[0]
        assert (problem.code, problem.field) == ("too_big", "n")
        assert len(str(problem.received)) <= 100


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)


@given(JSON)
def test_parsing_agrees_with_the_standard_library(value: Any) -> None:
    body = json.dumps(value, ensure_ascii=False).encode()
    assert parse_json(body) == json.loads(body)
    assert repr(parse_json(body)) == repr(json.loads(body))


@given(st.binary(max_size=60) | st.text(alphabet='{}[]",:0123456789.eE+-\\ntrufalsN \n', max_size=60).map(str.encode))
def test_parsing_any_bytes_gives_what_the_standard_library_gives_or_a_refusal(body: bytes) -> None:
    try:
        parsed = parse_json(body)
    except MalformedArguments:
        return
    assert parsed == json.loads(body)
