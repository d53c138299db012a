"""Seed 000, the responses of a tool: the format of a success, of the four types of errors, and of each data type."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dirty_equals import IsInt

from pegboard.kinds.table.insert_plan import InsertPlan
from tests.seeds.conftest import Listing
from tests.seeds.seed_000 import (
    EXAMPLE_ID,
    FORM,
    LOG_MOOD,
    LOGGED,
    MOOD,
    MOODS,
    Way,
    call,
    call_invalid,
    count,
    failed,
    field,
    inserted,
    table,
    types,
)
from tests.table_databases import rows_of, run_sql

SUCCESS = {
    "success": True,
    "data": {
        "id": EXAMPLE_ID,
        "rowCount": 1,
        "message": "Successfully logged mood entry for user_123 at 2025-10-05T14:30:00Z",
    },
}
VALIDATION_ERROR = {
    "success": False,
    "error": {
        "type": "VALIDATION_ERROR",
        "message": "Field 'energy_level' must be between 1 and 10, but received 15",
        "details": {
            "field": "energy_level",
            "expected": "integer between 1 and 10",
            "received": "15",
            "code": "too_big",
        },
    },
}
CONFIG_ERROR = {
    "success": False,
    "error": {
        "type": "CONFIG_ERROR",
        "message": "Table 'mood_entries' does not exist in database schema",
        "details": {"code": "table_not_found"},
    },
}
UNKNOWN_ERROR = {
    "success": False,
    "error": {
        "type": "UNKNOWN_ERROR",
        "message": "An unexpected error occurred during tool execution",
        "details": {"code": "internal_error"},
    },
}
# One field of each data type, by the names in the seed's examples of messages.
EVERY_TYPE = (
    field("notes", "text", maxLength=500),
    field("energy_level", "integer", min=1, max=10),
    field("temperature", "numeric", scale=2),
    field("is_active", "boolean"),
    field("mood", "enum", enumValues=MOODS),
    field("timestamp", "datetime"),
    field("metadata", "json"),
)
REPORTED: list[tuple[str, Any, str]] = [
    ("notes", "x" * 501, "Field 'notes' exceeds maximum length of 500 characters"),
    ("energy_level", 5.5, "Field 'energy_level' must be an integer between 1 and 10"),
    ("temperature", 36.655, "Field 'temperature' must be a number with max 2 decimal places"),
    ("is_active", "yes", "Field 'is_active' must be true or false"),
    ("mood", "angry", "Field 'mood' must be one of: happy, sad, neutral, anxious"),
    ("timestamp", "yesterday", "Field 'timestamp' must be a valid ISO 8601 datetime"),
    ("metadata", "{}", "Field 'metadata' must be a valid JSON object"),
]
TYPES = ("text", "integer", "numeric", "boolean", "enum", "datetime", "json")


def database_error(sqlstate: str = "23505") -> dict[str, Any]:
    """Return the seed's example, and the database's own name for the error."""
    message = "Failed to insert mood entry: unique constraint violation on (user_id, timestamp)"
    details = {"code": "P2002", "field": "user_id, timestamp", "sqlstate": sqlstate}
    return {"success": False, "error": {"type": "DATABASE_ERROR", "message": message, "details": details}}


class TestSuccessResponse:
    """Output Format: Success Response."""

    async def test_the_example_byte_for_byte(self, way: Way, url: str, listing: Listing) -> None:
        key, instant = types(url)["key"].partition(" ")[0], types(url)["instant"]
        columns = "user_id TEXT, mood TEXT, energy_level INTEGER, notes TEXT"
        await run_sql(
            url,
            f"CREATE TABLE e (id {key} PRIMARY KEY DEFAULT '{EXAMPLE_ID}', {columns}, timestamp {instant})",
        )
        await listing({**LOG_MOOD, "tableName": "e", "successMessage": LOGGED})
        assert await way.text("log-mood", MOOD) == json.dumps(SUCCESS, separators=(",", ":")).encode()

    async def test_id_is_the_uuid_of_the_inserted_row_if_the_table_has_an_id_column(self, way: Way, url: str) -> None:
        data = await inserted(way, "log-mood", MOOD)
        assert [str(key) for (key,) in await rows_of(url, "SELECT id FROM mood_entries")] == [data["id"]]

    async def test_row_count_is_the_number_of_rows_inserted(self, way: Way, listing: Listing) -> None:
        await listing({**LOG_MOOD, "batch": True})
        assert (await inserted(way, "log-mood", MOOD))["rowCount"] == 1
        rows = [{**MOOD, "user_id": name} for name in "ab"]
        assert (await inserted(way, "log-mood-batch", {"rows": rows}))["rowCount"] == 2

    async def test_message_is_a_human_readable_success_message(self, way: Way) -> None:
        data = await inserted(way, "log-mood", MOOD)
        assert data["message"] == (
            f"Successfully inserted row into mood_entries (id {data['id']}): "
            "user_id user_123, mood happy, energy_level 8, timestamp 2025-10-05T14:30:00Z"
        )


class TestErrorResponse:
    """Output Format: Error Response, its four Error Types."""

    async def test_1_validation_error(self, way: Way, url: str) -> None:
        assert await call(way, "log-mood", {**MOOD, "energy_level": 15}) == VALIDATION_ERROR
        assert await count(url) == 0

    async def test_2_database_error(self, way: Way) -> None:
        await inserted(way, "log-mood", MOOD)
        assert await call(way, "log-mood", MOOD) == database_error()

    async def test_3_config_error_detected_at_runtime(self, way: Way, url: str) -> None:
        await inserted(way, "log-mood", MOOD)
        await run_sql(url, "DROP TABLE mood_entries")
        assert await call(way, "log-mood", MOOD) == CONFIG_ERROR

    async def test_4_unknown_error(self, way: Way, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        def unforeseen(*_: object) -> None:
            raise RuntimeError("the inside of the board")

        monkeypatch.setattr(InsertPlan, "rows", unforeseen)
        assert await call(way, "log-mood", MOOD) == UNKNOWN_ERROR
        monkeypatch.undo()
        await inserted(way, "log-mood", MOOD)
        assert await count(url) == 1

    async def test_details_name_field_expected_received_and_code(self, way: Way) -> None:
        for wrong in ({"mood": "angry"}, {"notes": 5}, {"timestamp": "now"}, {"energy_level": None}):
            error = await call_invalid(way, "log-mood", {**MOOD, **wrong})
            assert error["details"].keys() == {"field", "expected", "received", "code"}
            assert all(isinstance(value, str) and value for value in error["details"].values())


class TestDataTypeValidation:
    """Data Type Validation: the example of a validation error for each of the seven types."""

    @pytest.mark.parametrize(("name", "value", "message"), REPORTED, ids=TYPES)
    async def test_the_example_validation_error_of_fields_of_type(
        self, way: Way, listing: Listing, name: str, value: Any, message: str
    ) -> None:
        # The messages for a given value do not depend on whether the field is required.
        for required in (True, False):
            fields = [{**each, "required": required} for each in EVERY_TYPE if each["name"] == name]
            await listing(table("t", "mood_entries", *fields))
            error = await call_invalid(way, "t", {name: value})
            # The received value follows, as in the example of the whole response.
            message_text, but, received = error["message"].partition(", but received ")
            assert message_text == message
            assert (bool(but), bool(received)) == ((False, False) if name == "notes" else (True, True))
            assert (error["details"]["field"], error["details"]["code"]) == (name, CODES[name])

    async def test_text_constraints_are_min_length_and_max_length(self, way: Way, listing: Listing) -> None:
        await listing(table("t", "notes", field("content", "text", minLength=2, maxLength=4)))
        assert (await call_invalid(way, "t", {"content": "a"}))["details"]["code"] == "too_small"
        assert (await call_invalid(way, "t", {"content": "abcde"}))["details"]["code"] == "too_big"

    async def test_integer_constraints_are_min_max_and_a_whole_number(self, way: Way) -> None:
        codes = {0: "too_small", 11: "too_big", 1.5: "invalid_type"}
        for value, code in codes.items():
            error = await call_invalid(way, "log-mood", {**MOOD, "energy_level": value})
            assert error["details"]["code"] == code

    async def test_numeric_constraints_are_min_max_precision_and_scale(self, way: Way, listing: Listing) -> None:
        weight = field("weight", "numeric", min=-50, precision=4, scale=2)
        await listing(table("t", "health_forms", weight))
        codes = {-50.01: "too_small", 100: "too_big", 1.234: "not_multiple_of", "1": "invalid_type"}
        for value, code in codes.items():
            assert (await call_invalid(way, "t", {"weight": value}))["details"]["code"] == code
        await listing(table("t", "health_forms", field("weight", "numeric", max=7.5)))
        assert (await call_invalid(way, "t", {"weight": 7.51}))["details"]["code"] == "too_big"

    async def test_boolean_has_no_additional_constraints(self, way: Way, url: str) -> None:
        for value in (True, False):
            await inserted(way, "submit-health-form", {**FORM, "is_smoker": value})
        kept = await rows_of(url, "SELECT is_smoker FROM health_forms")
        assert sorted(bool(value) for (value,) in kept) == [False, True]

    async def test_enum_values_must_be_in_enum_values(self, way: Way) -> None:
        for value in ("Happy", "", "happy "):
            error = await call_invalid(way, "log-mood", {**MOOD, "mood": value})
            assert error["details"]["expected"] == "one of: happy, sad, neutral, anxious"

    async def test_datetime_constraints_are_optional_min_date_and_max_date(self, way: Way, listing: Listing) -> None:
        limits = {"minDate": "2025-01-01T00:00:00Z", "maxDate": "2025-12-31T23:59:59Z"}
        await listing(table("t", "notes", field("created_at", "datetime", **limits)))
        codes = {"2025-01-01T00:00:00+01:00": "too_small", "2026-01-01T00:00:00Z": "too_big"}
        for value, code in codes.items():
            error = await call_invalid(way, "t", {"created_at": value})
            assert error["details"]["code"] == code
            assert "must be between 2025-01-01T00:00:00Z and 2025-12-31T23:59:59Z" in error["message"]

    async def test_json_accepts_any_valid_json_object(self, way: Way, url: str) -> None:
        for value in ({}, {"a": None}, {"a": [1, {"b": [[]]}], "": "x"}):
            await inserted(way, "submit-health-form", {**FORM, "metadata": value})
        assert await count(url, "health_forms") == 3


CODES = {
    "notes": "too_big",
    "energy_level": "invalid_type",
    "temperature": "not_multiple_of",
    "is_active": "invalid_type",
    "mood": "invalid_enum_value",
    "timestamp": "invalid_string",
    "metadata": "invalid_type",
}


class TestErrorResponseTests:
    """Testing Requirements: Error Response Tests."""

    async def test_validation_error_format_correct(self, way: Way) -> None:
        error = await call_invalid(way, "log-mood", {**MOOD, "mood": "angry"})
        assert error == {
            "type": "VALIDATION_ERROR",
            "message": "Field 'mood' must be one of: happy, sad, neutral, anxious, but received 'angry'",
            "details": {
                "field": "mood",
                "expected": "one of: happy, sad, neutral, anxious",
                "received": "angry",
                "code": "invalid_enum_value",
            },
        }

    async def test_database_error_format_correct(self, way: Way) -> None:
        error = await failed(way, "log-mood", {**MOOD, "notes": "spam"})
        assert error.keys() == {"type", "message", "details"}
        assert error["type"] == "DATABASE_ERROR"
        assert error["details"] == {"code": "P2004", "field": "notes", "sqlstate": "23514"}

    async def test_error_messages_llm_friendly(self, way: Way) -> None:
        misspelt = await call_invalid(way, "log-mood", {**MOOD, "note": "x"})
        assert misspelt["message"] == "Field 'note' is not known; did you mean 'notes'?"
        date = await call_invalid(way, "log-mood", {**MOOD, "timestamp": "2025-10-05"})
        assert date["message"].endswith("a date alone is no moment; write it as 2025-10-05T14:30:00Z")
        check = await failed(way, "log-mood", {**MOOD, "notes": "spam"})
        start = "Failed to insert mood entry: check constraint violation 'no_spam' on (notes); the rule is: "
        assert check["message"].startswith(start)

    async def test_error_details_include_relevant_context(self, way: Way) -> None:
        error = await call_invalid(way, "log-mood", {"user_id": "u" * 51, "mood": "angry", "timestamp": "now"})
        assert [(each["field"], each["code"]) for each in error["details"]["problems"]] == [
            ("energy_level", "missing"),
            ("mood", "invalid_enum_value"),
            ("timestamp", "invalid_string"),
            ("user_id", "too_big"),
        ]
        assert all(each["message"] and each["expected"] for each in error["details"]["problems"])

    async def test_error_codes_consistent(self, way: Way, listing: Listing) -> None:
        await inserted(way, "log-mood", MOOD)
        for _ in range(2):
            codes = [(await failed(way, "log-mood", {**MOOD, **wrong}))["details"]["code"] for wrong in WRONG]
            assert codes == ["P2002", "P2004", "too_big", "too_small", "invalid_type", "unrecognized_keys"]
        await listing(LOG_MOOD, database="postgresql://nobody@127.0.0.1:1/nowhere")
        away = await failed(way, "log-mood", MOOD)
        assert (away["details"]["code"], away["details"]["retry_after_ms"]) == ("P1001", IsInt(gt=0))


WRONG: list[dict[str, Any]] = [
    {},
    {"user_id": "v", "notes": "spam"},
    {"energy_level": 11},
    {"energy_level": 0},
    {"energy_level": "8"},
    {"x": 1},
]
