"""Conversion of values for columns, and values that columns refuse."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, get_args
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.kinds.table.column_values import BindValue, DatabaseKind, find_binder, list_types
from pegboard.kinds.table.config import DataType
from pegboard.kinds.table.insert_refusals import ColumnValueRefused
from pegboard.kinds.table.table_schema import Column, ColumnFamily

UUID_TEXT = "550e8400-e29b-41d4-a716-446655440000"


def binder(
    data_type: DataType, family: ColumnFamily, kind: DatabaseKind = "postgresql", type_: str = "", **more: Any
) -> BindValue:
    bind = find_binder(data_type, Column("c", type_ or family, family, **more), kind)
    assert bind is not None
    return bind


def refusal(bind: BindValue, value: Any) -> ColumnValueRefused:
    with pytest.raises(ColumnValueRefused) as refused:
        bind(value)
    return refused.value


class TestText:
    def test_text_is_kept_as_it_is_up_to_the_length_of_its_column(self) -> None:
        bind = binder("text", "text", max_length=4)
        assert bind("ä😀';") == "ä😀';"
        refused = refusal(bind, "ä😀';;")
        assert (refused.code, refused.expected) == ("too_big", "string of at most 4 characters")
        assert refused.reason == "exceeds maximum length of 4 characters"

    def test_nul_is_kept_by_sqlite_and_refused_for_postgresql(self) -> None:
        assert binder("text", "text", "sqlite")("a\0b") == "a\0b"
        assert refusal(binder("text", "text"), "a\0b").code == "invalid_string"

    def test_a_label_must_be_one_of_the_enum(self) -> None:
        bind = binder("text", "enum", labels=("sad", "happy"))
        assert bind("sad") == "sad"
        refused = refusal(bind, "Sad")
        assert (refused.code, refused.reason) == ("invalid_enum_value", "must be one of: sad, happy")

    @pytest.mark.parametrize("text", [UUID_TEXT, UUID_TEXT.upper(), UUID_TEXT.replace("-", "")])
    def test_a_uuid_is_read_with_its_hyphens_or_without_any(self, text: str) -> None:
        assert binder("text", "uuid")(text) == UUID(UUID_TEXT)
        assert binder("text", "uuid", "sqlite")(text) == UUID_TEXT

    @pytest.mark.parametrize("text", ["", "x", "{" + UUID_TEXT + "}", "urn:uuid:" + UUID_TEXT, UUID_TEXT + "0"])
    def test_what_is_no_uuid_is_refused(self, text: str) -> None:
        assert refusal(binder("text", "uuid"), text).code == "invalid_string"

    @pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
    def test_days_and_times_of_day_are_texts(self, kind: DatabaseKind) -> None:
        assert binder("text", "date", kind)("2025-10-05") == "2025-10-05"
        assert binder("text", "time", kind)("14:30") == "14:30:00"
        for text in ("20251005", "2025-W40-7", "2025-02-30", "5.10.2025", ""):
            assert refusal(binder("text", "date", kind), text).code == "invalid_string"
        for text in ("1430", "14", "25:00", "14:30Z", "14:30:00.1234567", ""):
            assert refusal(binder("text", "time", kind), text).code == "invalid_string"

    def test_text_that_sqlite_would_convert_to_a_number_is_refused(self) -> None:
        assert find_binder("text", Column("c", "", "other"), "sqlite")("007") == "007"  # type: ignore[misc]
        bind = binder("text", "other", "sqlite", "STRING")
        assert bind("agent 007") == "agent 007"
        assert refusal(bind, "007").code == "invalid_string"


class TestIntegers:
    @given(st.integers(-(2**70), 2**70))
    def test_an_integer_is_kept_or_refused_by_the_range_of_its_column(self, value: int) -> None:
        bind = binder("integer", "integer", low=-(2**31), high=2**31 - 1)
        if -(2**31) <= value < 2**31:
            assert bind(value) == value
        else:
            assert refusal(bind, value).code == ("too_big" if value > 0 else "too_small")

    def test_an_integer_may_be_written_with_a_decimal_point(self) -> None:
        bound = binder("integer", "integer")(1.0)
        assert (bound, type(bound)) == (1, int)

    @pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
    def test_no_column_takes_more_than_64_bits(self, kind: DatabaseKind) -> None:
        bind = binder("integer", "integer", kind)
        assert bind(2**63 - 1) == 2**63 - 1
        assert refusal(bind, 2**63).code == "too_big"
        assert refusal(bind, Decimal("1E+999999999")).code == "too_big"


class TestDecimals:
    @pytest.mark.parametrize(
        ("value", "bound"),
        [(0.1, "0.1"), (7, "7"), (1e-7, "1E-7"), (Decimal("3.14159265358979323846"), "3.14159265358979323846")],
    )
    def test_digits_are_those_of_the_json(self, value: Any, bound: str) -> None:
        assert binder("numeric", "numeric")(value) == Decimal(bound)

    def test_more_decimals_or_digits_than_the_column_has_are_refused(self) -> None:
        bind = binder("numeric", "numeric", precision=5, scale=2)
        assert bind(999.99) == Decimal("999.99")
        assert bind(Decimal("1.50000")) == Decimal("1.5")
        refused = refusal(bind, 1.234)
        assert (refused.code, refused.reason) == ("not_multiple_of", "must be a number with max 2 decimal places")
        assert (refusal(bind, 1000).code, refusal(bind, -1000).code) == ("too_big", "too_small")
        assert refusal(bind, 1000).reason == "must be less than 1000"

    def test_numbers_of_many_digits_are_not_rounded_on_the_way_to_their_bound(self) -> None:
        bind = binder("numeric", "numeric", precision=38, scale=10)
        largest = Decimal("9" * 28 + "." + "9" * 10)
        assert bind(largest) == largest
        assert refusal(bind, Decimal("1" + "0" * 28)).reason == "must be less than 1" + "0" * 28
        assert (
            refusal(binder("numeric", "numeric", precision=900), Decimal("1E+900")).reason == "must be less than 1E+900"
        )

    def test_a_negative_scale_takes_multiples(self) -> None:
        bind = binder("numeric", "numeric", precision=3, scale=-2)
        assert bind(1200) == 1200
        assert bind(0) == 0
        assert refusal(bind, 1250).reason == "must be a multiple of 100"

    @pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
    @pytest.mark.parametrize("family", ["numeric", "float"])
    @pytest.mark.parametrize("digits", ["1E+999999999", "1E-999999999", "-1E+200000"])
    def test_numbers_no_one_could_write_down_are_refused_at_once(
        self, kind: DatabaseKind, family: ColumnFamily, digits: str
    ) -> None:
        assert refusal(binder("numeric", family, kind), Decimal(digits)).code == "too_big"

    @given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**9), max_value=10**9))
    def test_a_numeric_column_keeps_exactly_what_was_given_or_refuses_it(self, value: Decimal) -> None:
        bind = binder("numeric", "numeric", precision=10, scale=3)
        try:
            assert bind(value) == value
        except ColumnValueRefused:
            assert abs(value) >= 10**7 or value != value.quantize(Decimal("0.001"))

    def test_a_double_keeps_what_a_float_holds_and_a_real_six_digits(self) -> None:
        assert binder("numeric", "float", type_="double precision")(0.1234567890123456) == 0.1234567890123456
        assert refusal(binder("numeric", "float"), Decimal("0.12345678901234567890")).code == "custom"
        assert binder("numeric", "float", type_="real")(1.5) == 1.5
        assert refusal(binder("numeric", "float", type_="real"), 1.234567).code == "custom"

    @pytest.mark.parametrize(
        ("kind", "type_", "digits", "code"),
        [
            ("postgresql", "real", "1E+39", "too_big"),
            ("postgresql", "real", "1E-39", "too_small"),
            ("postgresql", "double precision", "-1E+309", "too_big"),
            ("postgresql", "double precision", "1E-320", "too_small"),
            ("sqlite", "REAL", "1E+309", "too_big"),
            ("sqlite", "REAL", "-1E-320", "too_small"),
        ],
    )
    def test_what_a_float_would_make_infinite_or_zero_is_refused(
        self, kind: DatabaseKind, type_: str, digits: str, code: str
    ) -> None:
        bind = binder("numeric", "float", kind, type_)
        assert refusal(bind, Decimal(digits)).code == code
        assert bind(0) == 0
        assert bind(1e30) == 1e30

    def test_sqlite_keeps_15_digits_of_a_fraction_and_whole_numbers_of_64_bits(self) -> None:
        bind = binder("numeric", "numeric", "sqlite")
        assert bind(0.123456789012345) == 0.123456789012345
        assert bind(2**63 - 1) == 2**63 - 1
        refused = refusal(bind, 0.1234567890123456)
        assert "15 significant digits" in refused.reason
        assert refusal(bind, Decimal("0.12345678901234567890")).code == "custom"
        assert refusal(binder("numeric", "float", "sqlite"), 2**63 - 1).code == "custom"

    def test_a_text_column_of_sqlite_keeps_every_digit(self) -> None:
        bind = binder("numeric", "text", "sqlite")
        assert bind(Decimal("3.14159265358979323846")) == "3.14159265358979323846"
        assert bind(1e-7) == "0.0000001"


class TestMoments:
    def test_postgresql_gets_the_moment_and_without_a_zone_what_utc_clocks_show(self) -> None:
        text = "2025-10-05T16:30:00.5+02:00"
        assert binder("datetime", "instant")(text) == datetime(2025, 10, 5, 14, 30, 0, 500_000, UTC)
        assert binder("datetime", "local")(text) == datetime(2025, 10, 5, 14, 30, 0, 500_000)

    @pytest.mark.parametrize("family", ["text", "instant", "local", "other"])
    def test_sqlite_gets_text_in_utc(self, family: ColumnFamily) -> None:
        bind = binder("datetime", family, "sqlite")
        assert bind("2025-10-05T16:30+02:00") == "2025-10-05T14:30:00Z"
        assert bind("2025-10-05T14:30:00.25Z") == "2025-10-05T14:30:00.250000Z"

    def test_decimals_that_a_column_would_round_are_refused(self) -> None:
        bind = binder("datetime", "instant", precision=3)
        assert bind("2025-10-05T14:30:00.123Z").microsecond == 123_000
        assert refusal(bind, "2025-10-05T14:30:00.1234Z").code == "custom"
        assert refusal(binder("text", "time", precision=0), "14:30:00.5").reason.startswith(
            "must be a time of whole seconds"
        )

    @pytest.mark.parametrize("family", ["instant", "local"])
    def test_what_postgresqls_driver_takes_for_infinity_is_refused(self, family: ColumnFamily) -> None:
        bind = binder("datetime", family)
        assert refusal(bind, "0001-01-01T00:00:00Z").reason == "must be a datetime after 0001-01-01T00:00:00Z"
        assert refusal(bind, "9999-12-31T23:59:59.999999Z").code == "too_big"
        assert binder("datetime", family, "sqlite")("0001-01-01T00:00:00Z") == "0001-01-01T00:00:00Z"

    def test_what_is_no_moment_is_refused(self) -> None:
        assert refusal(binder("datetime", "instant"), "2025-10-05").code == "invalid_string"


class TestJson:
    @pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
    def test_json_is_compact_text_with_every_digit(self, kind: DatabaseKind) -> None:
        exact = Decimal("0.12345678901234567890")
        text = binder("json", "json", kind)({"a": [exact, 2**64 - 1], "ü": None})
        assert text == '{"a":[0.12345678901234567890,18446744073709551615],"ü":null}'

    @pytest.mark.parametrize("value", [{"a\0": 1}, {"a": ["x\0"]}, {"a": {"b": "\0"}}])
    def test_nul_inside_is_refused_for_postgresql(self, value: Any) -> None:
        assert refusal(binder("json", "json"), value).code == "invalid_string"
        assert json.loads(binder("json", "json", "sqlite")(value)) == value

    def test_a_text_that_merely_looks_like_an_escaped_nul_is_fine(self) -> None:
        assert json.loads(binder("json", "json")({"a": "\\u0000"})) == {"a": "\\u0000"}


class TestArrays:
    def test_elements_become_what_their_type_takes(self) -> None:
        numbers = Column("c", "numeric(4,1)", "numeric", precision=4, scale=1)
        assert binder("json", "array", element=numbers)([1, 2.5, None]) == [1, Decimal("2.5"), None]
        moments = Column("c", "timestamptz", "instant")
        (moment,) = binder("json", "array", element=moments)(["2025-10-05T14:30Z"])
        assert moment == datetime(2025, 10, 5, 14, 30, tzinfo=UTC)

    @pytest.mark.parametrize(
        ("element", "value", "code", "place"),
        [
            (Column("c", "smallint", "integer", low=-9, high=9), [1, 2, 10], "too_big", "[2]"),
            (Column("c", "smallint", "integer"), [1, "2"], "invalid_type", "[1]"),
            (Column("c", "smallint", "integer"), [True], "invalid_type", "[0]"),
            (Column("c", "smallint", "integer"), [1.5], "invalid_type", "[0]"),
            (Column("c", "text", "text"), ["a", "\0"], "invalid_string", "[1]"),
            (Column("c", "uuid", "uuid"), ["x"], "invalid_string", "[0]"),
            (Column("c", "bool", "boolean"), [0], "invalid_type", "[0]"),
            (Column("c", "text", "text"), {"a": 1}, "invalid_type", ""),
        ],
    )
    def test_an_element_that_does_not_fit_is_named(self, element: Column, value: Any, code: str, place: str) -> None:
        refused = refusal(binder("json", "array", element=element), value)
        assert (refused.code, refused.place) == (code, place)


def test_columns_of_bytes_take_nothing_and_sqlite_has_no_arrays() -> None:
    assert list_types(Column("c", "bytea", "bytes"), "postgresql") == []
    assert list_types(Column("c", "text[]", "array", element=Column("c", "text", "text")), "postgresql") == ["json"]
    assert list_types(Column("c", "x", "array"), "sqlite") == []
    assert set(list_types(Column("c", "", "other"), "sqlite")) == set(get_args(DataType))
