"""Seed 000, input: the constraints of the input format, the lists of validation and of execution tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dirty_equals import IsInt

from tests.seeds.conftest import Listing
from tests.seeds.seed_000 import (
    FORM,
    LOG_MOOD,
    MOOD,
    MOODS,
    NOTE,
    WHOLE_FORM,
    Way,
    call_invalid,
    count,
    failed,
    field,
    inserted,
    read_only_row,
    table,
    without,
)
from tests.table_databases import rows_of, run_sql

# Valid and invalid values of each field of the health form, one of each data type, with the code of the error.
VALID: dict[str, list[Any]] = {
    "user_id": ["u", "x" * 50, "", "Zoë 🙂", "'; --"],
    "height": [0, 300, 180.0],
    "weight": [0, 500, 70, 70.5, 70.25, 1e2],
    "is_smoker": [True, False],
    "activity_level": ["sedentary", "light", "moderate", "active", "very_active"],
    "recorded_at": ["2025-10-05T14:30:00Z", "2025-10-05T14:30:00.123456+02:00"],
    "metadata": [{}, {"a": {"b": [1, None, "x"]}}, None],
}
INVALID: dict[str, list[tuple[Any, str]]] = {
    "user_id": [(1, "invalid_type"), (None, "invalid_type"), (["u"], "invalid_type"), ("x" * 51, "too_big")],
    "height": [("180", "invalid_type"), (1.5, "invalid_type"), (True, "invalid_type"), (-1, "too_small")],
    "weight": [("70", "invalid_type"), (70.255, "not_multiple_of"), (500.01, "too_big"), (None, "invalid_type")],
    "is_smoker": [(0, "invalid_type"), ("true", "invalid_type"), (None, "invalid_type")],
    "activity_level": [("lazy", "invalid_enum_value"), (1, "invalid_enum_value"), (None, "invalid_enum_value")],
    "recorded_at": [("today", "invalid_string"), (1759674600, "invalid_type"), (None, "invalid_type")],
    "metadata": [("{}", "invalid_type"), ([], "invalid_type"), (1, "invalid_type"), (True, "invalid_type")],
}
MOMENTS = [
    ("2025-10-05T14:30:00Z", "2025-10-05T14:30:00Z"),
    ("2025-10-05T14:30Z", "2025-10-05T14:30:00Z"),
    ("2025-10-05T14:30:00+00:00", "2025-10-05T14:30:00Z"),
    ("2025-10-05T20:00:00+05:30", "2025-10-05T14:30:00Z"),
    ("2024-02-29T23:59:59-01:00", "2024-03-01T00:59:59Z"),
]
NO_MOMENTS = [
    "",
    "now",
    "2025-10-05",
    "14:30:00",
    "05.10.2025 14:30",
    "2025-10-05T14:30:00",
    "2025-13-05T14:30:00Z",
    "2025-02-29T14:30:00Z",
    "2025-10-05T25:00:00Z",
    "2025-10-05T14:30:00.1234567Z",
    "1759674600",
]


class TestInputFormat:
    """Input Format: its example, and the Constraints."""

    async def test_the_example_input_for_log_mood(self, way: Way, url: str) -> None:
        await inserted(way, "log-mood", MOOD)
        names = ", ".join(MOOD)
        assert await read_only_row(url, f"SELECT {names} FROM mood_entries") == tuple(MOOD.values())

    async def test_all_required_fields_must_be_present(self, way: Way, url: str) -> None:
        for name in ("user_id", "mood", "energy_level", "timestamp"):
            error = await call_invalid(way, "log-mood", without(MOOD, name))
            assert error["message"] == f"Field '{name}' is required"
            assert (error["details"]["field"], error["details"]["code"]) == (name, "missing")
        assert await count(url) == 0

    async def test_field_values_must_match_configured_data_types(self, way: Way, url: str) -> None:
        wrong: dict[str, Any] = {"user_id": 1, "mood": 1, "energy_level": "8", "notes": False, "timestamp": 5}
        error = await call_invalid(way, "log-mood", wrong)
        assert {problem["field"] for problem in error["details"]["problems"]} == set(wrong)
        assert await count(url) == 0

    async def test_unknown_fields_are_rejected(self, way: Way, url: str) -> None:
        for name in ("id", "USER_ID", "user id", "", 'user_id") VALUES (1); --'):
            error = await call_invalid(way, "log-mood", {**MOOD, name: "x"})
            assert error["details"]["code"] == "unrecognized_keys"
        assert await count(url) == 0

    async def test_enum_values_must_be_from_configured_enum_values(self, way: Way, url: str) -> None:
        for value in MOODS:
            await inserted(way, "log-mood", {**MOOD, "user_id": value, "mood": value})
        await call_invalid(way, "log-mood", {**MOOD, "mood": "elated"})
        assert await count(url) == len(MOODS)

    async def test_datetime_must_be_valid_iso_8601(self, way: Way) -> None:
        for value in NO_MOMENTS:
            error = await call_invalid(way, "log-mood", {**MOOD, "timestamp": value})
            assert error["message"].startswith("Field 'timestamp' must be a valid ISO 8601 datetime")


class TestInputValidationTests:
    """Testing Requirements: Input Validation Tests."""

    @pytest.mark.parametrize("name", VALID)
    async def test_valid_input_for_each_field_type(self, way: Way, url: str, name: str) -> None:
        for value in VALID[name]:
            await inserted(way, "submit-health-form", {**FORM, name: value})
        assert await count(url, "health_forms") == len(VALID[name])

    @pytest.mark.parametrize("name", INVALID)
    async def test_invalid_input_for_each_field_type(self, way: Way, url: str, name: str) -> None:
        for value, code in INVALID[name]:
            error = await call_invalid(way, "submit-health-form", {**FORM, name: value})
            assert (error["details"]["field"], error["details"]["code"]) == (name, code)
        assert await count(url, "health_forms") == 0

    async def test_missing_required_fields(self, way: Way) -> None:
        error = await call_invalid(way, "submit-health-form", {})
        assert [(each["field"], each["code"]) for each in error["details"]["problems"]] == [
            (name, "missing") for name in FORM
        ]

    async def test_extra_unknown_fields_should_be_rejected(self, way: Way, url: str) -> None:
        error = await call_invalid(way, "submit-health-form", {**FORM, "shoe_size": 42, "hat": None})
        assert [each["field"] for each in error["details"]["problems"]] == ["hat", "shoe_size"]
        assert await count(url, "health_forms") == 0

    async def test_boundary_values_min_max_and_length_limits(self, way: Way, url: str) -> None:
        at_the_bounds: tuple[dict[str, Any], ...] = (
            {"energy_level": 1},
            {"energy_level": 10},
            {"user_id": "u" * 50},
            {"notes": "n" * 500},
        )
        for number, change in enumerate(at_the_bounds):
            await inserted(way, "log-mood", {**MOOD, "user_id": str(number), **change})
        beyond = ({"energy_level": 0}, {"energy_level": 11}, {"user_id": "u" * 51}, {"notes": "n" * 501})
        for change in beyond:
            error = await call_invalid(way, "log-mood", {**MOOD, **change})
            assert error["details"]["code"] in {"too_small", "too_big"}
        assert await count(url) == len(at_the_bounds)

    async def test_enum_values_valid_and_invalid(self, way: Way) -> None:
        for value in MOODS:
            await inserted(way, "log-mood", {**MOOD, "user_id": value, "mood": value})
        others: list[Any] = ["", "HAPPY", " happy", "happy, sad", 0, None, ["happy"]]
        for other in others:
            error = await call_invalid(way, "log-mood", {**MOOD, "mood": other})
            assert (error["details"]["field"], error["details"]["code"]) == ("mood", "invalid_enum_value")

    async def test_datetime_formats_valid_iso_8601_and_invalid(self, way: Way, url: str) -> None:
        for given, expected in MOMENTS:
            await inserted(way, "add-note", {**NOTE, "created_at": given})
            assert await read_only_row(url, "SELECT created_at FROM notes") == (expected,)
            await run_sql(url, "DELETE FROM notes")
        for given in NO_MOMENTS:
            assert (await call_invalid(way, "add-note", {**NOTE, "created_at": given}))["details"][
                "field"
            ] == "created_at"


class TestExecutionTests:
    """Testing Requirements: Execution Tests."""

    async def test_successful_insert_with_minimal_fields(self, way: Way, url: str) -> None:
        await inserted(way, "submit-health-form", FORM)
        assert await read_only_row(url, "SELECT user_id, notes, metadata FROM health_forms") == ("user_123", None, None)

    async def test_successful_insert_with_all_fields(self, way: Way, url: str) -> None:
        await inserted(way, "submit-health-form", WHOLE_FORM)
        found = await read_only_row(url, "SELECT user_id, notes, metadata FROM health_forms")
        assert found == ("user_123", WHOLE_FORM["notes"], WHOLE_FORM["metadata"])

    async def test_insert_with_optional_fields_omitted(self, way: Way, url: str) -> None:
        await inserted(way, "log-mood", without(MOOD, "notes"))
        assert await read_only_row(url, "SELECT user_id, notes FROM mood_entries") == ("user_123", None)

    async def test_insert_with_column_mappings(self, way: Way, url: str, listing: Listing) -> None:
        text, moment = field("what", "text"), field("when", "datetime")
        await listing(table("t", "notes", text, moment, columnMappings={"what": "content", "when": "created_at"}))
        await inserted(way, "t", {"what": "Call back", "when": "2025-10-05T14:30:00Z"})
        assert await read_only_row(url, "SELECT content, created_at FROM notes") == tuple(NOTE.values())

    async def test_database_constraint_violation_unique(self, way: Way, url: str) -> None:
        await inserted(way, "log-mood", MOOD)
        error = await failed(way, "log-mood", {**MOOD, "mood": "sad"})
        assert (error["details"]["code"], error["details"]["field"]) == ("P2002", "user_id, timestamp")
        assert await rows_of(url, "SELECT mood FROM mood_entries") == [("happy",)]

    async def test_database_constraint_violation_check(self, way: Way, url: str) -> None:
        error = await failed(way, "log-mood", {**MOOD, "notes": "spam"})
        assert (error["details"]["code"], error["details"]["field"]) == ("P2004", "notes")
        assert await count(url) == 0

    async def test_database_constraint_violations_foreign_key_and_null(
        self, way: Way, url: str, listing: Listing
    ) -> None:
        await run_sql(url, "CREATE TABLE users (id INTEGER PRIMARY KEY)")
        await run_sql(url, "CREATE TABLE tags (user_id INTEGER REFERENCES users (id), word TEXT NOT NULL)")
        await listing(table("t", "tags", field("user_id", "integer"), field("word", "text", required=False)))
        error = await failed(way, "t", {"user_id": 7, "word": "x"})
        assert (error["details"]["code"], error["details"]["field"]) == ("P2003", "user_id")
        error = await failed(way, "t", {"user_id": 7, "word": None})
        assert (error["details"]["code"], error["details"]["field"]) == ("P2011", "word")
        assert await count(url, "tags") == 0

    async def test_database_connection_errors(self, way: Way, url: str, listing: Listing, tmp_path: Path) -> None:
        nowhere = f"sqlite:///{tmp_path}"  # a folder, which cannot be opened as a database
        if not url.startswith("sqlite"):
            nowhere = "postgresql://nobody:not-a-secret@127.0.0.1:1/nowhere"
        await listing(LOG_MOOD, database=nowhere)
        error = await failed(way, "log-mood", MOOD)
        assert error["type"] == "DATABASE_ERROR"
        assert error["message"] == (
            "Failed to insert mood entry: the database cannot be reached; nothing was inserted, try again in a moment"
        )
        assert (error["details"]["code"], error["details"]["retry_after_ms"]) == ("P1001", IsInt(gt=0))
        await listing(LOG_MOOD)
        await inserted(way, "log-mood", MOOD)

    async def test_table_not_found_error(self, way: Way, listing: Listing) -> None:
        await listing({**LOG_MOOD, "tableName": "nonesuch"})
        error = await failed(way, "log-mood", MOOD)
        assert (error["type"], error["details"]) == ("CONFIG_ERROR", {"code": "table_not_found"})
        assert error["message"] == "Table 'nonesuch' does not exist in database schema"
