"""Seed 000, from a table to its tool: registration, the generated input schema, and the two example tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from pegboard import Pegboard
from tests.seeds.conftest import Listing
from tests.seeds.seed_000 import (
    FORM,
    LOG_MOOD,
    LOGGED,
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
from tests.table_databases import rows_of, write_tables
from tests.waiting import until

BIGGEST = 2**63 - 1
# The seed's Zod example as JSON Schema; an optional field may also be null.
MOOD_SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {
        "user_id": {"type": "string", "maxLength": 50, "description": "User ID"},
        "mood": {"type": "string", "enum": MOODS},
        "energy_level": {"type": "integer", "minimum": 1, "maximum": 10},
        "notes": {"type": ["string", "null"], "maxLength": 500},
        "timestamp": {"type": "string", "format": "date-time"},
    },
    "required": ["user_id", "mood", "energy_level", "timestamp"],
    "additionalProperties": False,
}


async def schema_of(way: Way, tool: str = "log-mood") -> dict[str, Any]:
    """Return the input schema of the tool."""
    return dict((await way.tool(tool))["input_schema"])


class TestToolRegistration:
    """Tool Registration: each table in the configuration generates one tool."""

    async def test_each_table_in_configuration_generates_one_tool(self, way: Way, tabled: Pegboard) -> None:
        generated = [tool.name for tool in tabled.snapshot.local() if tool.tool_type == "table"]
        assert sorted(generated) == ["add-note", "log-mood", "submit-health-form"]
        for name in generated:
            assert (await way.tool(name))["tool_type"] == "table"

    async def test_tool_id_is_from_tool_id(self, way: Way) -> None:
        assert (await way.tool("log-mood"))["name"] == LOG_MOOD["toolId"]

    async def test_tool_name_is_from_display_name(self, way: Way) -> None:
        assert (await way.tool("log-mood"))["display_name"] == LOG_MOOD["displayName"]

    async def test_tool_description_is_from_description(self, way: Way) -> None:
        assert (await way.tool("log-mood"))["description"] == LOG_MOOD["description"]

    async def test_input_schema_is_generated_from_the_fields(self, way: Way) -> None:
        assert list((await schema_of(way))["properties"]) == [each["name"] for each in LOG_MOOD["fields"]]

    async def test_an_agent_is_handed_id_description_and_input_schema(self, way: Way, tabled: Pegboard) -> None:
        offered = {each["id"]: each for each in await tabled.definitions("detailed")}
        tool = await way.tool("log-mood")
        described = {"id": "log-mood", "description": "Log how somebody feels", "inputSchema": tool["input_schema"]}
        assert offered["log-mood"] == described


class TestInputSchema:
    """Input Schema (Runtime Generated): its example, and the Generation Rules."""

    async def test_the_example_for_mood_entries(self, way: Way) -> None:
        assert await schema_of(way) == MOOD_SCHEMA

    async def test_rule_1_each_field_gets_a_schema_type_based_on_its_data_type(self, way: Way) -> None:
        properties = (await schema_of(way, "submit-health-form"))["properties"]
        assert {name: node["type"] for name, node in properties.items()} == {
            "user_id": "string",
            "weight": "number",
            "height": "integer",
            "is_smoker": "boolean",
            "activity_level": "string",
            "notes": ["string", "null"],
            "recorded_at": "string",
            "metadata": ["object", "null"],
        }
        assert properties["recorded_at"]["format"] == "date-time"

    async def test_rule_2_type_specific_constraints_are_applied(self, way: Way, listing: Listing) -> None:
        await listing(
            table(
                "t",
                "mood_entries",
                field("length", "text", minLength=2, maxLength=9),
                field("whole", "integer", min=-3, max=7),
                field("unbounded", "integer"),
                field("decimal", "numeric", min=-1.5, max=2.5, precision=5, scale=2),
                field("value", "enum", enumValues=["a", "b"]),
                field("day", "datetime", minDate="2025-01-01T00:00:00Z", maxDate="2026-01-01T00:00:00Z"),
            )
        )
        assert (await schema_of(way, "t"))["properties"] == {
            "length": {"type": "string", "minLength": 2, "maxLength": 9},
            "whole": {"type": "integer", "minimum": -3, "maximum": 7},
            "unbounded": {"type": "integer", "minimum": -BIGGEST - 1, "maximum": BIGGEST},
            "decimal": {"type": "number", "minimum": -1.5, "maximum": 2.5, "multipleOf": 0.01},
            "value": {"type": "string", "enum": ["a", "b"]},
            "day": {
                "type": "string",
                "format": "date-time",
                "description": "(not before 2025-01-01T00:00:00Z, not after 2026-01-01T00:00:00Z)",
            },
        }

    async def test_rule_3_a_field_is_optional_if_required_is_false(self, way: Way, url: str) -> None:
        assert "notes" not in (await schema_of(way))["required"]
        await inserted(way, "log-mood", without(MOOD, "notes"))
        assert await count(url) == 1

    async def test_rule_4_unknown_fields_are_rejected_strictly(self, way: Way, url: str) -> None:
        assert (await schema_of(way))["additionalProperties"] is False
        error = await call_invalid(way, "log-mood", {**MOOD, "colour": "red"})
        assert (error["details"]["code"], error["details"]["field"]) == ("unrecognized_keys", "colour")
        assert await count(url) == 0

    async def test_rule_5_default_values_are_applied_where_specified(
        self, way: Way, url: str, listing: Listing
    ) -> None:
        fields = [{**each, **DEFAULTS.get(each["name"], {})} for each in LOG_MOOD["fields"]]
        await listing({**LOG_MOOD, "fields": fields})
        schema = await schema_of(way)
        assert schema["required"] == ["user_id", "timestamp"]
        assert {name: node.get("default") for name, node in schema["properties"].items() if "default" in node} == {
            "mood": "neutral",
            "energy_level": 5,
            "notes": "none taken",
        }
        await inserted(way, "log-mood", {"user_id": "u", "timestamp": MOOD["timestamp"]})
        assert await read_only_row(url, "SELECT mood, energy_level, notes FROM mood_entries") == (
            "neutral",
            5,
            "none taken",
        )


DEFAULTS: dict[str, dict[str, Any]] = {
    "mood": {"default": "neutral"},
    "energy_level": {"default": 5},
    "notes": {"default": "none taken"},
}


class TestExampleTools:
    """Example Tool Definitions."""

    async def test_simple_tool_minimal_fields(self, way: Way, url: str) -> None:
        tool = await way.tool("add-note")
        assert (tool["name"], tool["description"]) == ("add-note", "Add a quick note")
        assert tool["input_schema"]["properties"] == {
            "content": {"type": "string", "maxLength": 1000},
            "created_at": {"type": "string", "format": "date-time"},
        }
        data = await inserted(way, "add-note", NOTE)
        assert (data["rowCount"], data["message"]) == (1, "Note added successfully")
        [(key, *row)] = await rows_of(url, "SELECT id, content FROM notes")
        assert (UUID(data["id"]), row) == (UUID(str(key)), [NOTE["content"]])

    async def test_complex_tool_all_field_types(self, way: Way, url: str) -> None:
        tool = await way.tool("submit-health-form")
        assert tool["description"] == "Submit comprehensive health tracking form"
        assert tool["input_schema"]["required"] == list(FORM)
        await inserted(way, "submit-health-form", WHOLE_FORM)
        names = ", ".join(without(WHOLE_FORM, "weight", "is_smoker"))
        expected = tuple(without(WHOLE_FORM, "weight", "is_smoker").values())
        assert await read_only_row(url, f"SELECT {names} FROM health_forms") == expected
        weight, is_smoker = await read_only_row(url, "SELECT weight, is_smoker FROM health_forms")
        assert (float(weight), bool(is_smoker)) == (70.25, False)


class TestNotes:
    """Notes."""

    async def test_1_tools_are_generated_once_and_cached(self, way: Way, tabled: Pegboard) -> None:
        def hanging() -> list[int]:
            return [id(tool) for tool in tabled.snapshot.local()]

        before = hanging()
        await inserted(way, "log-mood", MOOD)
        await inserted(way, "add-note", NOTE)
        await way.reload()
        assert hanging() == before

    async def test_2_configuration_changes_require_no_restart(self, way: Way, listing: Listing) -> None:
        await call_invalid(way, "log-mood", {**MOOD, "mood": "elated"})
        fields = [{**each, "enumValues": ["elated"]} if each["name"] == "mood" else each for each in LOG_MOOD["fields"]]
        await listing({**LOG_MOOD, "fields": fields, "successMessage": "Hot: {mood}"})
        assert (await inserted(way, "log-mood", {**MOOD, "mood": "elated"}))["message"] == "Hot: elated"
        assert (await call_invalid(way, "log-mood", MOOD))["details"]["field"] == "mood"

    async def test_2_configuration_changes_are_seen_in_the_file_by_themselves(
        self, way: Way, url: str, tmp_path: Path
    ) -> None:
        write_tables(tmp_path / "tables.json", {**LOG_MOOD, "displayName": "Another name"}, database=url)

        async def is_renamed() -> bool:
            return bool((await way.tool("log-mood"))["display_name"] == "Another name")

        assert await until(is_renamed, 10)

    async def test_3_error_messages_are_natural_language(self, way: Way) -> None:
        await inserted(way, "log-mood", MOOD)
        for arguments in (MOOD, {}, {**MOOD, "mood": 1}, {**MOOD, "notes": "spam", "user_id": "v"}):
            message = (await failed(way, "log-mood", arguments))["message"].lower()
            for technical in ("traceback", "insert into", "asyncpg", "sqlite3", "select", "$1", "none of"):
                assert technical not in message
            assert message.startswith(("field '", "failed to insert mood entry: "))

    @pytest.mark.parametrize("template", [None, LOGGED])
    async def test_4_success_messages_include_context_to_confirm_the_action(
        self, way: Way, listing: Listing, template: str | None
    ) -> None:
        await listing({**LOG_MOOD, **({"successMessage": template} if template else {})})
        message = (await inserted(way, "log-mood", MOOD))["message"]
        assert "user_123" in message
        assert "2025-10-05T14:30:00Z" in message

    async def test_5_values_are_kept_in_the_types_of_their_columns(self, way: Way, url: str) -> None:
        await inserted(way, "submit-health-form", WHOLE_FORM)
        of = "typeof" if url.startswith("sqlite") else "pg_typeof"
        suffix = "" if url.startswith("sqlite") else "::text"
        columns = ("id", "weight", "height", "is_smoker", "recorded_at", "metadata")
        found = await read_only_row(
            url, f"SELECT {', '.join(f'{of}({name}){suffix}' for name in columns)} FROM health_forms"
        )
        assert found == TYPES["sqlite" if url.startswith("sqlite") else "postgresql"]


TYPES = {
    "sqlite": ("text", "real", "integer", "integer", "text", "text"),
    "postgresql": ("uuid", "numeric", "integer", "boolean", "timestamp with time zone", "jsonb"),
}
