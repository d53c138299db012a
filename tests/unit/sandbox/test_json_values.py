"""Return values as JSON: values of Python and its standard library."""

from __future__ import annotations

import dataclasses
import enum
import math
from collections import ChainMap, Counter, OrderedDict, deque, namedtuple
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from types import MappingProxyType
from typing import Any
from uuid import UUID

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.sandbox.child.result_json import MAX_RESULT_DEPTH, JsonTooLarge, UnserializableValue, encode_result

ROOM = 10**6
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


def to_json(value: Any, most: int = ROOM) -> Any:
    return orjson.loads(encode_result(value, most))


def why_not(value: Any) -> str:
    with pytest.raises(UnserializableValue) as raised:
        encode_result(value, ROOM)
    return str(raised.value)


class Color(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Word(str):
    __slots__ = ()


@dataclasses.dataclass
class Point:
    x: int
    y: Any


Pair = namedtuple("Pair", "a b")


class TestJson:
    @given(JSON)
    def test_json_is_unchanged(self, value: Any) -> None:
        assert to_json(value) == value

    @given(JSON)
    def test_it_is_written_as_short_as_can_be_and_counted(self, value: Any) -> None:
        text = encode_result(value, ROOM)
        assert encode_result(value, len(text)) == text
        with pytest.raises(JsonTooLarge):
            encode_result(value, len(text) - 1)

    def test_numbers_keep_their_kind_and_digits(self) -> None:
        assert encode_result([1, 1.0, 0.1 + 0.2, 1e300, -0.0, 2**63], ROOM) == (
            b"[1,1.0,0.30000000000000004,1e+300,-0.0,9223372036854775808]"
        )


class TestConverted:
    @pytest.mark.parametrize(
        ("value", "result"),
        [
            ((1, (2,)), [1, [2]]),
            (Pair(1, 2), [1, 2]),
            (deque([1]), [1]),
            (range(3), [0, 1, 2]),
            ({"b": 1, "a": 2}.keys(), ["b", "a"]),
            ({"a": 1}.values(), [1]),
            ({"a": 1}.items(), [["a", 1]]),
            ({3, 1, 2}, [1, 2, 3]),
            (frozenset({"b", "a"}), ["a", "b"]),
            ({"b", 1, None}, [None, 1, "b"]),
            (OrderedDict(a=1), {"a": 1}),
            (Counter("aab"), {"a": 2, "b": 1}),
            (ChainMap({"a": 1}, {"b": 2}), {"a": 1, "b": 2}),
            (MappingProxyType({"a": 1}), {"a": 1}),
            (Color.RED, "red"),
            (Level.HIGH, 3),
            (Word("w"), "w"),
            (Point(1, [Point(2, None)]), {"x": 1, "y": [{"x": 2, "y": None}]}),
            (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
            (date(2026, 1, 2), "2026-01-02"),
            (time(3, 4), "03:04:00"),
            (datetime(2026, 1, 2, 3, 4, 5, 600000), "2026-01-02T03:04:05.600000"),
            (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00+00:00"),
            (datetime(2026, 1, 2, tzinfo=timezone(timedelta(hours=2))), "2026-01-02T00:00:00+02:00"),
            (timedelta(days=1, hours=2, minutes=3, seconds=4.5), "P1DT2H3M4.5S"),
            (timedelta(days=2), "P2D"),
            (timedelta(seconds=-90), "-PT1M30S"),
            (timedelta(), "PT0S"),
            (timedelta(microseconds=1), "PT0.000001S"),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_what_json_has_no_form_for_gets_the_nearest(self, value: Any, result: Any) -> None:
        assert to_json(value) == result
        assert to_json({"a": [value]}) == {"a": [result]}

    @pytest.mark.parametrize(
        ("text", "result"),
        [
            ("7", 7),
            ("-3E+2", -300),
            ("7.0", "7.0"),
            ("10.50", "10.50"),
            ("0.1000000000000000000000000001", "0.1000000000000000000000000001"),
            ("9007199254740993", "9007199254740993"),
            ("1E+999999", "1E+999999"),
        ],
    )
    def test_a_decimal_is_exact(self, text: str, result: Any) -> None:
        found = to_json(Decimal(text))
        assert found == result
        assert type(found) is type(result)
        assert Decimal(str(found)) == Decimal(text)

    def test_keys_are_texts(self) -> None:
        keys = {2: "i", 2.5: "f", True: "b", None: "n", Color.RED: "e", date(2026, 1, 2): "d", ("a", 1): "t"}
        assert to_json({**keys, Decimal("3.5"): "x"}) == {
            "2": "i",
            "2.5": "f",
            "true": "b",
            "null": "n",
            "red": "e",
            "2026-01-02": "d",
            "a, 1": "t",
            "3.5": "x",
        }


class TestUnfit:
    @pytest.mark.parametrize(
        ("value", "words"),
        [
            (math.nan, "$ is NaN"),
            ([1, 2, math.inf], "$[2] is infinite"),
            ({"a": [{"b": -math.inf}]}, "$.a[0].b is infinite"),
            ({"a": {"my key": math.nan}}, '$.a["my key"] is NaN'),
            ([Decimal("NaN")], "$[0] is a Decimal that is NaN"),
            ([2**64], "$[0] is an integer beyond 64 bits"),
            ({"a": -(2**63) - 1}, "$.a is an integer beyond 64 bits"),
            (10**5000, "$ is an integer beyond 64 bits"),
            (["a", "\ud800"], "$[1] is a text that is not valid Unicode"),
            ({"a": b"x"}, "base64.b64encode"),
            ([bytearray()], "$[0] is bytearray"),
            (memoryview(b"x"), "$ is memoryview"),
            (1j, "$ is of type complex"),
            ({"a": object()}, "$.a is of type object"),
            ((item for item in [1]), "return list(…)"),
            (map(str, [1]), "return list(…)"),
            ([len], "not its result; call it"),
            ([Point], "not its result; call it"),
            ({1: "a", "1": "b"}, "$ has two keys that are both '1'"),
            ({"a": {b"k": 1}}, "$.a has a key of type bytes"),
            ({math.nan: 1}, "$ has a key that is not finite"),
            ({(b"k",): 1}, "$ has a key of type bytes"),
        ],
        ids=lambda value: value if isinstance(value, str) and value.startswith("$") else "",
    )
    def test_the_place_is_named_and_the_way_out(self, value: Any, words: str) -> None:
        assert words in why_not(value)

    def test_a_coroutine_wants_to_be_awaited(self) -> None:
        async def wanted() -> None: ...

        made = wanted()
        assert "await" in why_not([made])
        made.close()

    def test_what_holds_itself_is_reported_with_both_places(self) -> None:
        rows: list[Any] = [1]
        whole = {"a": {"rows": rows}}
        rows.append(whole["a"])
        assert why_not(whole).startswith("$.a.rows[1] is $.a again")
        point = Point(1, None)
        point.y = (point,)
        assert why_not(point).startswith("$.y[0] is $ again")

    def test_the_same_thing_in_several_places_is_no_circle(self) -> None:
        shared = [1]
        assert to_json([shared, {"a": shared}]) == [[1], {"a": [1]}]

    def test_depth_is_bounded(self) -> None:
        deep: Any = []
        for _ in range(MAX_RESULT_DEPTH - 1):
            deep = [deep]
        assert to_json(deep) == deep
        assert "64 levels" in why_not({"a": deep})
        for _ in range(10_000):
            deep = [deep]
        assert "64 levels" in why_not(deep)


class TestSize:
    @pytest.mark.parametrize(
        "value",
        [
            "a" * (ROOM - 1),
            "é" * (ROOM // 2),
            '"' * (ROOM // 2),
            ["a" * 1000] * 1000,
            list(range(10**6)),
            {str(number): number for number in range(10**5)},
            [[]] * (ROOM // 2),
        ],
        ids=["text", "utf-8", "escapes", "texts", "numbers", "keys", "lists"],
    )
    def test_what_is_too_much_is_noticed(self, value: Any) -> None:
        with pytest.raises(JsonTooLarge):
            encode_result(value, ROOM)

    def test_what_grows_without_end_ends_where_there_is_no_more_room(self) -> None:
        doubled: Any = []
        for _ in range(60):
            doubled = [doubled, doubled]
        with pytest.raises(JsonTooLarge):
            encode_result(doubled, ROOM)

    def test_what_the_code_raises_while_it_is_written_is_the_codes(self) -> None:
        class Odd(dict[str, Any]):
            def items(self) -> Any:
                raise RuntimeError("odd")

        with pytest.raises(RuntimeError, match="odd"):
            encode_result(Odd(a=1), ROOM)
