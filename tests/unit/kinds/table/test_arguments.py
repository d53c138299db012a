"""Errors of rows that do not fit, in the form of the contract."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from pegboard.kinds.table.arguments import TableArgumentChecker
from pegboard.kinds.table.table_schema import Column, TableSchema
from pegboard.model.call_errors import FieldProblem, MalformedArguments
from tests.unit.kinds.table.make_tools import FIELDS, ROW, problems, tools

MOODS = TableArgumentChecker(tools()[0])
BATCH = TableArgumentChecker(tools(batch=True)[1])


def of_field(value: Any, **field: Any) -> FieldProblem | None:
    """Return the error of the value of one required field, or None."""
    arguments = TableArgumentChecker(tools({"name": "a", "required": True, **field})[0])
    found = problems(arguments, {"a": value})
    assert len(found) <= 1
    return found[0] if found else None


class TestTheContract:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"notes": "x" * 501}, "Field 'notes' exceeds maximum length of 500 characters"),
            ({"energy_level": "high"}, "Field 'energy_level' must be an integer between 1 and 10"),
            ({"energy_level": 2.5}, "Field 'energy_level' must be an integer between 1 and 10"),
            ({"temperature": 36.655}, "Field 'temperature' must be a number with max 2 decimal places"),
            ({"is_active": "yes"}, "Field 'is_active' must be true or false"),
            ({"mood": "angry"}, "Field 'mood' must be one of: happy, sad, neutral, anxious"),
            ({"timestamp": "yesterday"}, "Field 'timestamp' must be a valid ISO 8601 datetime"),
            ({"timestamp": 1759674600}, "Field 'timestamp' must be a valid ISO 8601 datetime"),
            ({"metadata": "{}"}, "Field 'metadata' must be a valid JSON object"),
        ],
    )
    def test_each_type_has_its_own_words(self, change: dict[str, Any], message: str) -> None:
        [problem] = problems(MOODS, {**ROW, **change})
        assert problem.message_without_value == message
        assert problem.field == next(iter(change))

    def test_the_example_of_the_contract_is_word_for_word(self) -> None:
        assert problems(MOODS, {**ROW, "energy_level": 15}) == [
            FieldProblem(
                "too_big",
                "Field 'energy_level' must be between 1 and 10, but received 15",
                "energy_level",
                "integer between 1 and 10",
                "15",
            )
        ]

    def test_an_unknown_field_is_refused_with_the_nearest(self) -> None:
        [problem] = problems(MOODS, {**ROW, "user": "x"})
        assert (problem.code, problem.message) == (
            "unrecognized_keys",
            "Field 'user' is not known; did you mean 'user_id'?",
        )

    def test_all_faults_of_all_fields_come_together_missing_ones_first(self) -> None:
        row = {**ROW, "mood": "angry", "energy_level": 0, "timestamp": "today", "user_id": "a\0", "x": 1}
        del row["is_active"]
        assert [(problem.field, problem.code) for problem in problems(MOODS, row)] == [
            ("is_active", "missing"),
            ("energy_level", "too_small"),
            ("mood", "invalid_enum_value"),
            ("timestamp", "invalid_string"),
            ("user_id", "invalid_string"),
            ("x", "unrecognized_keys"),
        ]


class TestNullsAndDefaults:
    def test_a_row_that_fits_is_the_very_same_object(self) -> None:
        assert MOODS.check(ROW) is ROW

    def test_null_goes_for_an_optional_field_alone(self) -> None:
        assert problems(MOODS, {**ROW, "notes": None}) == []
        for field in ROW:
            [problem] = problems(MOODS, {**ROW, field: None})
            assert (problem.field, problem.received) == (field, "null")

    def test_an_empty_text_is_a_text(self) -> None:
        assert problems(MOODS, {**ROW, "user_id": ""}) == []

    def test_a_default_is_for_what_is_absent_and_not_for_null(self) -> None:
        [tool] = tools({"name": "a", "dataType": "json", "default": {"n": []}}, {"name": "b", "dataType": "text"})
        arguments = TableArgumentChecker(tool)
        filled = arguments.check({})
        assert filled == {"a": {"n": []}}
        filled["a"]["n"].append(1)
        assert arguments.check({"b": "x"}) == {"b": "x", "a": {"n": []}}
        assert arguments.check({"a": None}) == {"a": None}

    def test_a_required_field_with_a_default_may_be_absent(self) -> None:
        [tool] = tools({"name": "a", "dataType": "integer", "required": True, "default": 3})
        assert TableArgumentChecker(tool).check({}) == {"a": 3}


class TestValues:
    @pytest.mark.parametrize("value", [0, 1.0, 2**63 - 1, -(2**63), Decimal("9007199254740993.0")])
    def test_integers_are_whole_numbers_of_64_bits(self, value: Any) -> None:
        assert of_field(value, dataType="integer") is None

    @pytest.mark.parametrize(
        ("value", "code"), [(2**63, "too_big"), (-(2**63) - 1, "too_small"), (1e19, "too_big"), (True, "invalid_type")]
    )
    def test_and_nothing_else(self, value: Any, code: str) -> None:
        problem = of_field(value, dataType="integer")
        assert problem is not None
        assert problem.code == code

    def test_limits_hold_to_the_last_digit(self) -> None:
        field = {"dataType": "numeric", "max": "99999999999999999999.99"}
        assert of_field(Decimal("99999999999999999999.99"), **field) is None
        problem = of_field(Decimal("99999999999999999999.9900000001"), **field)
        assert problem is not None
        assert problem.message_without_value == "Field 'a' must be at most 99999999999999999999.99"

    def test_places_of_long_numbers_are_counted_exactly(self) -> None:
        for fits in ("12345678901234567890.12", "12345678901234567890.1200000", "1.00000000000000000000"):
            assert of_field(Decimal(fits), dataType="numeric", scale=2) is None
        for unfit in ("12345678901234567890.123", "0.010000000000000000001", "1E-400"):
            problem = of_field(Decimal(unfit), dataType="numeric", scale=2)
            assert problem is not None
            assert problem.message_without_value == "Field 'a' must be a number with max 2 decimal places"

    def test_precision_without_a_scale_counts_digits(self) -> None:
        for fits in (0, 12345, 1.2345, 0.00012345, 1e-7, Decimal("1.2345000000000000000"), 10000.0):
            assert of_field(fits, dataType="numeric", precision=5) is None
        for unfit in (123456, 1.23456, 1e5, 100000, Decimal("0.100000000000000000001")):
            problem = of_field(unfit, dataType="numeric", precision=5)
            assert problem is not None
            assert problem.message_without_value == "Field 'a' must be a number with max 5 digits"

    @pytest.mark.parametrize(
        ("limits", "code", "words"),
        [
            ({"minDate": "2026-01-01T00:00Z"}, "too_small", "must not be before 2026-01-01T00:00:00Z"),
            ({"maxDate": "2025-10-05T16:00:00+02:00"}, "too_big", "must not be after 2025-10-05T14:00:00Z"),
            (
                {"minDate": "2020-01-01T00:00Z", "maxDate": "2021-01-01T00:00Z"},
                "too_big",
                "must be between 2020-01-01T00:00:00Z and 2021-01-01T00:00:00Z",
            ),
        ],
    )
    def test_moments_are_compared_as_instants(self, limits: dict[str, str], code: str, words: str) -> None:
        problem = of_field("2025-10-05T14:30:00Z", dataType="datetime", **limits)
        assert problem is not None
        assert (problem.code, problem.message_without_value) == (code, f"Field 'a' {words}")
        assert of_field(next(iter(limits.values())), dataType="datetime", **limits) is None

    def test_why_a_moment_cannot_be_read_is_reported(self) -> None:
        problem = of_field("2025-10-05", dataType="datetime")
        assert problem is not None
        assert problem.message.endswith("'2025-10-05': a date alone is no moment; write it as 2025-10-05T14:30:00Z")

    @pytest.mark.parametrize("value", [{"a": ["x\0"]}, {"x\0": 1}, {"a": {"b": "\0"}}])
    def test_no_text_of_a_json_field_holds_nul(self, value: Any) -> None:
        problem = of_field(value, dataType="json")
        assert problem is not None
        assert "NUL" in problem.message
        assert of_field({"a": "\\u0000", "n": Decimal("1.00000000000000000001")}, dataType="json") is None

    def test_quotes_semicolons_and_any_unicode_are_text(self) -> None:
        assert of_field("'; DROP TABLE x; -- \" 🙂 é \u202e", dataType="text") is None

    def test_secrets_are_not_repeated(self) -> None:
        [tool] = tools({"name": "password", "dataType": "datetime"})
        [problem] = problems(TableArgumentChecker(tool), {"password": "hush"})
        assert "hush" not in f"{problem}"

    def test_what_is_no_json_is_malformed(self) -> None:
        with pytest.raises(MalformedArguments, match="must be JSON"):
            MOODS.check({**ROW, "metadata": object()})


class TestFacts:
    def test_a_uuid_column_takes_uuids(self) -> None:
        facts = TableSchema(None, "t", {"a": Column("a", "uuid", "uuid")})
        [tool] = tools({"name": "a", "dataType": "text", "required": True}, facts=facts)
        arguments = TableArgumentChecker(tool)
        assert problems(arguments, {"a": "550e8400-E29B-41d4-a716-446655440000"}) == []
        [problem] = problems(arguments, {"a": "550e8400"})
        assert (problem.code, problem.message_without_value) == ("invalid_string", "Field 'a' must be a valid UUID")

    @pytest.mark.parametrize(
        ("family", "good", "bad"),
        [
            ("instant", "2025-10-05T14:30:00Z", "2025-10-05"),
            ("date", "2025-10-05", "5.10."),
            ("uuid", "550e8400-e29b-41d4-a716-446655440000", "550e8400"),
            ("integer", 5, "x"),
        ],
    )
    def test_the_faulty_item_of_an_array_is_named(self, family: Any, good: Any, bad: Any) -> None:
        facts = TableSchema(None, "t", {"a": Column("a", "_x", "array", element=Column("", "x", family))})
        [tool] = tools({"name": "a", "dataType": "json"}, facts=facts)
        arguments = TableArgumentChecker(tool)
        assert problems(arguments, {"a": [good, good]}) == []
        assert [problem.field for problem in problems(arguments, {"a": [good, bad]})] == ["a[1]"]


class TestBatch:
    def test_rows_that_fit_are_filled_one_by_one(self) -> None:
        given = {"rows": [ROW, ROW]}
        assert BATCH.check(given) is given
        many = TableArgumentChecker(tools(*FIELDS, {"name": "n", "dataType": "integer", "default": 1}, batch=True)[1])
        assert many.check({"rows": [{**ROW, "n": 2}, ROW]}) == {"rows": [{**ROW, "n": 2}, {**ROW, "n": 1}]}

    def test_the_faults_of_all_rows_come_with_their_index(self) -> None:
        rows = [ROW, {**ROW, "mood": "angry", "timestamp": "now"}, 5, {}]
        fields = [(problem.field, problem.code) for problem in problems(BATCH, {"rows": rows})]
        assert fields[:7] == [(f"rows[3].{name}", "missing") for name in ROW]
        assert fields[7:] == [
            ("rows[1].mood", "invalid_enum_value"),
            ("rows[1].timestamp", "invalid_string"),
            ("rows[2]", "invalid_type"),
        ]

    def test_one_faulty_row_among_very_many_is_found(self) -> None:
        rows = [ROW] * 9000 + [{**ROW, "energy_level": 11}]
        assert [problem.field for problem in problems(BATCH, {"rows": rows})] == ["rows[9000].energy_level"]

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({}, "Field 'rows' is required"),
            ({"rows": []}, "Field 'rows' must have at least 1 item, but received 0"),
            ({"rows": ROW}, "Field 'rows' must be an array"),
            ({"rows": [ROW], "more": 1}, "Field 'more' is not known"),
        ],
    )
    def test_anything_but_rows_is_refused(self, given: dict[str, Any], words: str) -> None:
        [problem] = problems(BATCH, given)
        assert problem.message.startswith(words)
