"""Return values as JSON: values of numpy and pandas."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pandas as pd  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.sandbox.child.result_json import JsonTooLarge, UnserializableValue, encode_result

SOURCE = Path(__file__).parents[3] / "src" / "pegboard"
ROOM = 10**6


def to_json(value: Any) -> Any:
    return orjson.loads(encode_result(value, ROOM))


def why_not(value: Any) -> str:
    with pytest.raises(UnserializableValue) as raised:
        encode_result(value, ROOM)
    return str(raised.value)


class TestScalars:
    @pytest.mark.parametrize(
        ("value", "result"),
        [
            (np.float64(1.5), 1.5),
            (np.float32(0.5), 0.5),
            (np.float16(0.5), 0.5),
            (np.longdouble(1.5), 1.5),
            (np.int8(-3), -3),
            (np.uint64(2**64 - 1), 2**64 - 1),
            (np.bool_(True), True),
            (np.str_("a"), "a"),
            (np.datetime64("2026-01-02"), "2026-01-02"),
            (np.datetime64("2026"), "2026-01-01"),
            (np.datetime64("2026-01-02T03"), "2026-01-02T03:00:00"),
            (np.datetime64("2026-01-02T03:04:05.5", "ns"), "2026-01-02T03:04:05.500000"),
            (np.datetime64("2026-01-02T03:04:05.123456789"), "2026-01-02T03:04:05.123456789"),
            (np.datetime64("12026-01-02T03:04:05"), "12026-01-02T03:04:05"),
            (np.datetime64("NaT"), None),
            (np.timedelta64(90, "s"), "PT1M30S"),
            (np.timedelta64(3, "M"), "P3M"),
            (np.timedelta64("NaT"), None),
            (pd.NA, None),
            (pd.NaT, None),
            (pd.Timestamp("2026-01-02", tz="UTC"), "2026-01-02T00:00:00+00:00"),
            (pd.Timestamp(1, unit="ns"), "1970-01-01T00:00:00.000000001"),
            (pd.Timedelta("1D2h3ns"), "P1DT2H0.000000003S"),
            (pd.Period("2026-01"), "2026-01"),
            (pd.Interval(0, 1), "(0, 1]"),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_each_is_what_python_would_have(self, value: Any, result: Any) -> None:
        assert to_json(value) == result
        assert type(to_json(value)) is type(result)

    def test_a_number_that_is_none_is_reported_by_its_place(self) -> None:
        assert "$.rsi is NaN" in why_not({"rsi": np.float64("nan")})
        assert "$.rsi is infinite" in why_not({"rsi": np.float32("inf")})
        assert "$[0] is of type numpy.complex128" in why_not([np.complex128(1)])

    def test_they_can_be_keys(self) -> None:
        found = to_json({np.int64(1): 1, pd.Timestamp("2026-01-02"): 2, np.float64(0.5): 3})
        assert found == {"1": 1, "2026-01-02T00:00:00": 2, "0.5": 3}


class TestArrays:
    @pytest.mark.parametrize(
        ("array", "result"),
        [
            (np.array(5), 5),
            (np.arange(4).reshape(2, 2), [[0, 1], [2, 3]]),
            (np.array([1.5, np.nan]), [1.5, None]),
            (np.array([[np.nan]], dtype="f4"), [[None]]),
            (np.array([1, 2], dtype=np.longdouble), [1.0, 2.0]),
            (np.array([True, False]), [True, False]),
            (np.array(["a", "bc"]), ["a", "bc"]),
            (np.array([]), []),
            (
                np.array([1, None, "x", np.nan, Decimal("NaN"), pd.NA, pd.NaT], dtype=object),
                [1, None, "x", *[None] * 4],
            ),
            (np.array([[1, 2], None], dtype=object), [[1, 2], None]),
            (np.array(["2026-01-02", "NaT"], dtype="M8[D]"), ["2026-01-02", None]),
            (np.array([["2026-01-02", "NaT"]], dtype="M8[us]"), [["2026-01-02T00:00:00", None]]),
            (np.array([1, "NaT"], dtype="m8[h]"), ["PT1H", None]),
            (np.ma.masked_array([1.0, 2.0, np.nan], mask=[False, True, False]), [1.0, None, None]),
            (np.array([("a", 1)], dtype=[("x", "U1"), ("y", int)]), [["a", 1]]),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_they_are_lists_and_what_is_missing_is_null(self, array: Any, result: Any) -> None:
        assert to_json(array) == result

    def test_what_no_list_can_hold_is_reported_by_its_place(self) -> None:
        assert "$.a[0][1] is infinite" in why_not({"a": np.array([[1.0, -np.inf]])})
        assert "$[0] is of type complex" in why_not(np.array([1j]))
        assert "base64" in why_not(np.array([b"x"]))
        assert "unit 'ps'" in why_not(np.timedelta64(1, "ps"))

    def test_too_large_a_one_is_not_even_examined(self) -> None:
        endless = np.broadcast_to(np.float64(1), (10**6, 10**6))  # terabytes as text
        with pytest.raises(JsonTooLarge):
            encode_result(endless, ROOM)

    @given(st.lists(st.floats(allow_infinity=False, width=64), max_size=20))
    def test_every_number_comes_through(self, numbers: list[float]) -> None:
        expected = [None if number != number else number for number in numbers]
        assert to_json(np.array(numbers)) == expected
        assert to_json(pd.Series(numbers, dtype=float)) == expected


class TestSeries:
    @pytest.mark.parametrize(
        ("series", "result"),
        [
            (pd.Series([1, 2]), [1, 2]),
            (pd.Series([1.5, None]), [1.5, None]),
            (pd.Series(["a", None]), ["a", None]),
            (pd.Series([1, None], dtype="Int64"), [1, None]),
            (pd.Series([True, None], dtype="boolean"), [True, None]),
            (pd.Series(pd.Categorical(["a", None])), ["a", None]),
            (pd.Series(pd.to_datetime(["2026-01-02", None])), ["2026-01-02T00:00:00", None]),
            (pd.Series(pd.to_timedelta(["1D", None])), ["P1D", None]),
            (pd.Series([], dtype=float), []),
            (pd.Series([1, 2], index=["a", "b"]), {"a": 1, "b": 2}),
            (pd.Series([1, 2, 3])[1:], {"1": 2, "2": 3}),
            (pd.Series([1.5], index=pd.to_datetime(["2026-01-02"])), {"2026-01-02T00:00:00": 1.5}),
            (pd.Series([1], index=pd.MultiIndex.from_tuples([("a", 1)])), {"a, 1": 1}),
            (pd.Index(["a"]), ["a"]),
            (pd.date_range("2026-01-02", periods=1), ["2026-01-02T00:00:00"]),
            (pd.array([1, None]), [1, None]),
            (pd.arrays.SparseArray([1, 0]), [1, 0]),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_an_index_that_only_counts_gives_a_list_and_any_other_an_object(self, series: Any, result: Any) -> None:
        assert to_json(series) == result

    def test_what_an_object_cannot_hold_is_reported(self) -> None:
        assert "two keys that are both 'a'" in why_not(pd.Series([1, 2], index=["a", "a"]))
        assert "not finite" in why_not(pd.Series([1], index=[np.nan]))
        assert "$[0][1] is NaN" in why_not(pd.Series([[1, np.nan]]))
        assert "$[1] is infinite" in why_not(pd.Series([1, np.inf]))


class TestFrames:
    def test_they_are_records_and_what_is_missing_is_null(self) -> None:
        frame = pd.DataFrame(
            {
                "n": [1, 2],
                "f": [0.5, np.nan],
                "s": ["x", None],
                "t": pd.to_datetime(["2026-01-02", None]),
                "d": [Decimal("1.50"), None],
                7: [[1], {"a": 2}],
            }
        )
        assert to_json({"rows": frame}) == {
            "rows": [
                {"n": 1, "f": 0.5, "s": "x", "t": "2026-01-02T00:00:00", "d": "1.50", "7": [1]},
                {"n": 2, "f": None, "s": None, "t": None, "d": None, "7": {"a": 2}},
            ]
        }

    def test_an_index_that_numbers_rows_is_left_out_and_any_other_is_a_column(self) -> None:
        frame = pd.DataFrame({"a": [1, 2, 2], "b": [3, 4, 5]})
        assert to_json(frame[frame.a > 1]) == [{"a": 2, "b": 4}, {"a": 2, "b": 5}]
        assert to_json(frame.set_index("a")[:1]) == [{"a": 1, "b": 3}]
        assert to_json(frame.set_index("a", drop=False)[:1]) == [{"a": 1, "b": 3}]
        assert to_json(frame.describe()[:1]) == [{"index": "count", "a": 3.0, "b": 3.0}]
        grouped = frame.groupby(["a", "b"]).agg({"b": ["min", "max"]})
        assert to_json(grouped[:1]) == [{"a": 1, "b": 3, "b, min": 3, "b, max": 3}]
        assert to_json(pd.DataFrame({"v": [1]}, index=pd.MultiIndex.from_tuples([("x", 2)]))) == [
            {"level_0": "x", "level_1": 2, "v": 1}
        ]

    def test_there_may_be_nothing_in_them(self) -> None:
        assert to_json(pd.DataFrame()) == []
        assert to_json(pd.DataFrame({"a": []})) == []
        assert to_json(pd.DataFrame(index=[0, 1])) == [{}, {}]

    def test_what_cannot_be_reported_is_reported_by_row_and_column(self) -> None:
        assert "$[1].a is infinite" in why_not(pd.DataFrame({"a": [1, np.inf]}))
        assert "two columns that are both called 'a'" in why_not(pd.DataFrame([[1, 2]], columns=["a", "a"]))
        with pytest.raises(JsonTooLarge):
            encode_result(pd.DataFrame(np.zeros((10**6, 2))), ROOM)


def test_nothing_but_the_standard_library_is_imported_for_it() -> None:
    code = (
        "import sys, types; m = types.ModuleType('pegboard'); m.__path__ = [sys.argv[1]]; sys.modules['pegboard'] = m\n"
        "from pegboard.sandbox.child import python_call as python_job\n"
        "ours = {*sys.stdlib_module_names, 'pegboard', '__main__'}\n"
        "print([name for name in sys.modules if name.partition('.')[0] not in ours])"
    )
    command = [sys.executable, "-I", "-S", "-B", "-c", code, str(SOURCE)]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"[]\n"
