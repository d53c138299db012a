"""Seed 000, the edge cases of its testing requirements, and its security requirements."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.seeds.conftest import Listing
from tests.seeds.seed_000 import (
    FORM,
    LOG_MOOD,
    MOOD,
    NOTE,
    Way,
    call,
    call_invalid,
    count,
    create,
    failed,
    field,
    inserted,
    read_only_row,
    table,
    without,
)
from tests.table_databases import rows_of, run_sql

INJECTIONS = [
    "'; DROP TABLE notes; --",
    '"; DROP TABLE notes; --',
    "x'), ('y', now()); DELETE FROM notes; --",
    "$1 || (SELECT 1) %s ? :name {content} \\' \\\\",
    "Robert'); DROP TABLE students;--",
]
# Names that would end a statement if they were pasted into one.
ODD_TABLE = 'odd "notes"; DROP TABLE notes; --'
ODD_COLUMN = 'the "word"\'); --'


def quoted(name: str) -> str:
    """Return the name quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


class TestEdgeCases:
    """Testing Requirements: Edge Cases."""

    async def test_very_long_text_fields_at_max_length(self, way: Way, url: str, listing: Listing) -> None:
        most = 500_000  # the default limit for the arguments of a call
        await listing(table("t", "notes", field("content", "text", maxLength=most), field("created_at", "datetime")))
        await inserted(way, "t", {**NOTE, "content": "é" * most})
        assert await rows_of(url, "SELECT length(content) FROM notes") == [(most,)]
        error = await call_invalid(way, "t", {**NOTE, "content": "é" * (most + 1)})
        assert error["message"] == f"Field 'content' exceeds maximum length of {most} characters"
        assert len(error["details"]["received"]) <= 100

    @pytest.mark.parametrize(
        "text", ["Zoë", "日本語", "🙂👩‍👩‍👧", "עברית", "e\u0301", "\u202ertl", "\ufeff", "a\tb\nc", "\x7f"]
    )
    async def test_unicode_in_text_fields(self, way: Way, url: str, text: str) -> None:
        await inserted(way, "add-note", {**NOTE, "content": text})
        assert await rows_of(url, "SELECT content FROM notes") == [(text,)]

    async def test_unicode_is_counted_in_characters(self, way: Way) -> None:
        await inserted(way, "log-mood", {**MOOD, "user_id": "🙂" * 50})
        assert (await call_invalid(way, "log-mood", {**MOOD, "user_id": "🙂" * 51}))["details"]["code"] == "too_big"

    async def test_the_character_nul_is_refused_in_text_and_json(self, way: Way) -> None:
        assert (await call_invalid(way, "add-note", {**NOTE, "content": "a\0b"}))["details"]["code"] == "invalid_string"
        error = await call_invalid(way, "submit-health-form", {**FORM, "metadata": {"a": ["\0"]}})
        assert error["details"]["field"] == "metadata"

    async def test_null_vs_undefined_vs_empty_string(self, way: Way, url: str) -> None:
        given: dict[str, dict[str, Any]] = {"null": {"notes": None}, "undefined": {}, "empty": {"notes": ""}}
        for user, notes in given.items():
            await inserted(way, "log-mood", {**without(MOOD, "notes"), "user_id": user, **notes})
        stored_rows = dict(await rows_of(url, "SELECT user_id, notes FROM mood_entries"))
        assert stored_rows == {"null": None, "undefined": None, "empty": ""}
        null = await call_invalid(way, "log-mood", {**MOOD, "user_id": None})
        undefined = await call_invalid(way, "log-mood", without(MOOD, "user_id"))
        assert (null["details"]["code"], null["details"]["received"]) == ("invalid_type", "null")
        assert (undefined["details"]["code"], undefined["details"]["received"]) == ("missing", "nothing")
        await inserted(way, "log-mood", {**MOOD, "user_id": ""})

    async def test_null_is_not_replaced_by_a_default_and_undefined_is(
        self, way: Way, url: str, listing: Listing
    ) -> None:
        fields = [{**each, "default": "none"} if each["name"] == "notes" else each for each in LOG_MOOD["fields"]]
        await listing({**LOG_MOOD, "fields": fields})
        await inserted(way, "log-mood", {**MOOD, "user_id": "null", "notes": None})
        await inserted(way, "log-mood", {**without(MOOD, "notes"), "user_id": "undefined"})
        stored_rows = dict(await rows_of(url, "SELECT user_id, notes FROM mood_entries"))
        assert stored_rows == {"null": None, "undefined": "none"}

    async def test_floating_point_precision(self, way: Way, url: str) -> None:
        for weight in (0.1, 0.3, 70.15, 99.99, 499.99, 1.10):
            await inserted(way, "submit-health-form", {**FORM, "weight": weight})
            assert await rows_of(url, f"SELECT weight = {weight} FROM health_forms") in ([(True,)], [(1,)])
            await run_sql(url, "DELETE FROM health_forms")
        for weight in (0.1 + 0.2, 70.155, 1e-9):
            error = await call_invalid(way, "submit-health-form", {**FORM, "weight": weight})
            assert error["message"].startswith("Field 'weight' must be a number with max 2 decimal places")
        assert await count(url, "health_forms") == 0

    async def test_timezone_handling_in_datetimes(self, way: Way, url: str) -> None:
        same = ("2025-10-05T14:30:00Z", "2025-10-05T16:30:00+02:00", "2025-10-05T00:30:00-14:00")
        for moment in same:
            await inserted(way, "add-note", {**NOTE, "created_at": moment})
        assert await rows_of(url, "SELECT count(DISTINCT created_at) FROM notes") == [(1,)]
        await inserted(way, "log-mood", MOOD)
        error = await failed(way, "log-mood", {**MOOD, "timestamp": "2025-10-05T16:30:00+02:00"})
        assert error["details"]["code"] == "P2002"
        assert "zone" in (await call_invalid(way, "add-note", {**NOTE, "created_at": "2025-10-05T14:30:00"}))["message"]

    async def test_json_field_with_nested_objects(self, way: Way, url: str) -> None:
        deep: Any = {"end": True}
        for level in range(25):
            deep = {"level": level, "in": [deep, None], "text": "'\"; é"}
        await inserted(way, "submit-health-form", {**FORM, "metadata": deep})
        assert await read_only_row(url, "SELECT metadata FROM health_forms") == (deep,)

    async def test_simultaneous_constraint_violations_of_one_input(self, way: Way) -> None:
        wrong = {"user_id": "u" * 51, "mood": "angry", "energy_level": 15, "timestamp": "now", "x": 1}
        error = await call_invalid(way, "log-mood", wrong)
        codes = {each["field"]: each["code"] for each in error["details"]["problems"]}
        assert codes == {
            "user_id": "too_big",
            "mood": "invalid_enum_value",
            "energy_level": "too_big",
            "timestamp": "invalid_string",
            "x": "unrecognized_keys",
        }

    async def test_simultaneous_constraint_violations_in_the_database(self, way: Way, url: str) -> None:
        await inserted(way, "log-mood", MOOD)
        error = await failed(way, "log-mood", {**MOOD, "notes": "spam"})  # neither unique nor allowed
        assert (error["type"], error["details"]["code"]) == ("DATABASE_ERROR", "P2004")
        assert await count(url) == 1

    async def test_simultaneous_constraint_violations_of_calls_at_the_same_time(self, way: Way, url: str) -> None:
        answers = await asyncio.gather(*(call(way, "log-mood", MOOD) for _ in range(12)))
        assert [answer["success"] for answer in answers].count(True) == 1
        codes = {answer["error"]["details"]["code"] for answer in answers if not answer["success"]}
        assert codes == {"P2002"}
        assert await count(url) == 1


class TestSecurityRequirements:
    """Security Requirements."""

    async def test_input_sanitization_all_inputs_are_validated_before_the_database(
        self, way: Way, url: str, listing: Listing
    ) -> None:
        # A table without constraints, so that only the validation protects it.
        await run_sql(
            url, "CREATE TABLE lax (user_id TEXT, mood TEXT, energy_level INTEGER, notes TEXT, timestamp TEXT)"
        )
        fields = [each for each in LOG_MOOD["fields"] if each["name"] != "timestamp"]
        await listing({**LOG_MOOD, "tableName": "lax", "fields": fields})
        row = without(MOOD, "timestamp")
        for wrong in ({"mood": "angry"}, {"energy_level": 11}, {"user_id": "u" * 51}, {"timestamp": "now"}):
            await call_invalid(way, "log-mood", {**row, **wrong})
        assert await count(url, "lax") == 0
        await inserted(way, "log-mood", row)

    async def test_sql_injection_prevention_values_are_parameters(self, way: Way, url: str) -> None:
        for text in INJECTIONS:
            await inserted(way, "add-note", {**NOTE, "content": text})
            await inserted(way, "submit-health-form", {**FORM, "user_id": "u", "metadata": {text: text}})
        assert sorted(await rows_of(url, "SELECT content FROM notes")) == sorted((text,) for text in INJECTIONS)
        objects = [row[0] for row in await rows_of(url, "SELECT metadata FROM health_forms")]
        assert sorted(json.dumps(json.loads(each)) for each in objects) == sorted(
            json.dumps({text: text}) for text in INJECTIONS
        )

    async def test_sql_injection_prevention_names_of_fields_are_no_way_in(self, way: Way, url: str) -> None:
        for name in (*INJECTIONS, 'content", "id', "content) VALUES ('x'); --"):
            assert (await call_invalid(way, "add-note", {**NOTE, name: "x"}))["details"]["code"] == "unrecognized_keys"
        assert await count(url, "notes") == 0

    async def test_table_whitelisting_a_table_must_be_in_the_database_schema(
        self, way: Way, url: str, listing: Listing
    ) -> None:
        for name in ("nonesuch", "notes; DROP TABLE notes", 'notes" ("content") VALUES (1); --', "notes n"):
            await listing(table("t", name, field("content", "text"), field("created_at", "datetime")))
            error = await failed(way, "t", NOTE)
            assert (error["type"], error["details"]["code"]) == ("CONFIG_ERROR", "table_not_found")
        assert await count(url, "notes") == 0

    async def test_column_whitelisting_a_mapped_column_must_be_in_the_table(
        self, way: Way, url: str, listing: Listing
    ) -> None:
        for column in ("nonesuch", "content, id", 'content") VALUES (1); --', "rowid", "ctid"):
            fields = field("text", "text"), field("created_at", "datetime")
            await listing(table("t", "notes", *fields, columnMappings={"text": column}))
            error = await failed(way, "t", {"text": "x", "created_at": NOTE["created_at"]})
            assert (error["type"], error["details"]["code"]) == ("CONFIG_ERROR", "column_not_found")
        assert await count(url, "notes") == 0

    async def test_no_raw_sql_names_are_quoted_and_never_concatenated(
        self, way: Way, url: str, listing: Listing
    ) -> None:
        await create(
            url, f"CREATE TABLE {quoted(ODD_TABLE)} (id {{key}} PRIMARY KEY, {quoted(ODD_COLUMN)} TEXT UNIQUE)"
        )
        await listing(table("t", ODD_TABLE, field("word", "text"), columnMappings={"word": ODD_COLUMN}))
        await inserted(way, "t", {"word": "x"})
        assert await rows_of(url, f"SELECT {quoted(ODD_COLUMN)} FROM {quoted(ODD_TABLE)}") == [("x",)]
        error = await failed(way, "t", {"word": "x"})
        assert (error["details"]["code"], error["details"]["field"]) == ("P2002", "word")
        assert await count(url, "notes") == 0

    async def test_audit_logging_all_tool_executions_are_logged(self, way: Way, url: str) -> None:
        await inserted(way, "log-mood", MOOD)
        await call_invalid(way, "log-mood", {**MOOD, "mood": "angry"})
        await failed(way, "log-mood", MOOD)
        await run_sql(url, "DROP TABLE mood_entries")
        await failed(way, "log-mood", MOOD)
        rows = await way.journal("log-mood")
        assert [row["code"] for row in rows] == [None, "invalid_enum_value", "P2002", "table_not_found"]
        assert rows[0]["status"] == "succeeded"
        assert all(row["status"] != "succeeded" for row in rows[1:])
        assert not any("user_123" in str(row["error"]) or "angry" in str(row["error"]) for row in rows)
