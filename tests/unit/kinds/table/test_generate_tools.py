"""The tools made from a table, and the schemas of their arguments."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from pegboard.json_schema.compile import check_schema
from pegboard.kinds.table.config import TableConfig
from pegboard.kinds.table.generate_tools import build_input_schema
from pegboard.kinds.table.table_schema import Column, TableSchema
from pegboard.model.tool import Kind
from tests.unit.kinds.table.make_tools import config, tools

SMALLEST, LARGEST = -(2**63), 2**63 - 1


def shown(**field: Any) -> dict[str, Any]:
    """The schema of a required field."""
    made = build_input_schema(config({"name": "a", "required": True, **field}))
    check_schema(made, where="input_schema")
    assert orjson.loads(orjson.dumps(made)) == made
    return dict(made["properties"]["a"])


@pytest.mark.parametrize(
    ("field", "schema"),
    [
        ({"dataType": "text"}, {"type": "string"}),
        ({"dataType": "text", "minLength": 2, "maxLength": 5}, {"type": "string", "minLength": 2, "maxLength": 5}),
        ({"dataType": "integer"}, {"type": "integer", "minimum": SMALLEST, "maximum": LARGEST}),
        ({"dataType": "integer", "min": 1}, {"type": "integer", "minimum": 1, "maximum": LARGEST}),
        ({"dataType": "numeric"}, {"type": "number"}),
        ({"dataType": "numeric", "min": 0.5, "max": 2}, {"type": "number", "minimum": 0.5, "maximum": 2}),
        ({"dataType": "numeric", "scale": 2}, {"type": "number", "multipleOf": 0.01}),
        (
            {"dataType": "numeric", "precision": 5, "scale": 2},
            {"type": "number", "exclusiveMinimum": -1000, "exclusiveMaximum": 1000, "multipleOf": 0.01},
        ),
        (
            {"dataType": "numeric", "precision": 5, "scale": 2, "min": 0, "max": 1000},
            {"type": "number", "minimum": 0, "exclusiveMaximum": 1000, "multipleOf": 0.01},
        ),
        (
            {"dataType": "numeric", "max": "99999999999999999999.99", "precision": 30, "scale": 0},
            {"type": "number", "exclusiveMinimum": -1e30, "maximum": 1e20, "multipleOf": 1},
        ),
        ({"dataType": "boolean"}, {"type": "boolean"}),
        ({"dataType": "enum", "enumValues": ["x", "y"]}, {"type": "string", "enum": ["x", "y"]}),
        ({"dataType": "datetime"}, {"type": "string", "format": "date-time"}),
        ({"dataType": "json"}, {"type": "object"}),
        ({"dataType": "boolean", "label": "A"}, {"type": "boolean", "description": "A"}),
        ({"dataType": "boolean", "description": "Is it"}, {"type": "boolean", "description": "Is it"}),
        ({"dataType": "boolean", "label": "A", "description": "Is it"}, {"type": "boolean", "description": "A: Is it"}),
        (
            {"dataType": "datetime", "label": "When", "minDate": "2020-01-01T00:00Z"},
            {"type": "string", "format": "date-time", "description": "When (not before 2020-01-01T00:00Z)"},
        ),
        ({"dataType": "boolean", "default": False}, {"type": "boolean", "default": False}),
    ],
)
def test_each_type_has_its_schema_with_all_constraints(field: dict[str, Any], schema: dict[str, Any]) -> None:
    assert shown(**field) == schema


class TestTheWhole:
    def test_unknown_fields_are_refused_and_required_ones_required_unless_they_have_a_default(self) -> None:
        made = build_input_schema(
            config(
                {"name": "a", "dataType": "text", "required": True},
                {"name": "b", "dataType": "text"},
                {"name": "c", "dataType": "text", "required": True, "default": "x"},
            )
        )
        assert made["required"] == ["a"]
        assert made["additionalProperties"] is False
        assert "draft-07" in made["$schema"]

    def test_an_optional_field_takes_null(self) -> None:
        enum = shown(dataType="enum", enumValues=["x"], required=False)
        assert enum == {"type": ["string", "null"], "enum": ["x", None]}
        assert shown(dataType="json", required=False) == {"type": ["object", "null"]}

    def test_a_batch_takes_rows_of_the_same(self) -> None:
        one, many = build_input_schema(config()), build_input_schema(config(batch=True))
        rows = many["properties"]["rows"]
        assert rows["items"] == {key: value for key, value in one.items() if key != "$schema"}
        assert (many["required"], many["additionalProperties"], rows["minItems"]) == (["rows"], False, 1)


class TestFacts:
    @pytest.mark.parametrize(
        ("element", "items"),
        [
            (Column("", "text", "text", max_length=9), {"type": ["string", "null"], "maxLength": 9}),
            (Column("", "int2", "integer", low=-9, high=9), {"type": ["integer", "null"], "minimum": -9, "maximum": 9}),
            (Column("", "numeric", "numeric"), {"type": ["number", "null"]}),
            (Column("", "bool", "boolean"), {"type": ["boolean", "null"]}),
            (Column("", "uuid", "uuid"), {"type": ["string", "null"], "format": "uuid"}),
            (Column("", "timestamptz", "instant"), {"type": ["string", "null"], "format": "date-time"}),
            (Column("", "mood", "enum", labels=("x", "y")), {"type": ["string", "null"], "enum": ["x", "y", None]}),
            (Column("", "jsonb", "json"), {}),
        ],
    )
    def test_json_on_an_array_column_is_an_array_of_its_elements(self, element: Column, items: dict[str, Any]) -> None:
        facts = TableSchema(None, "t", {"tags": Column("tags", "_x", "array", element=element)})
        made = build_input_schema(config({"name": "a", "dataType": "json"}, columnMappings={"a": "tags"}), facts)
        assert made["properties"]["a"] == {"type": ["array", "null"], "items": items}

    def test_text_on_a_uuid_column_is_a_uuid_and_json_on_a_json_column_an_object(self) -> None:
        columns = {"a": Column("a", "uuid", "uuid"), "b": Column("b", "jsonb", "json")}
        fields = [{"name": name, "dataType": kind, "required": True} for name, kind in (("a", "text"), ("b", "json"))]
        made = build_input_schema(config(*fields), TableSchema(None, "t", columns))
        assert made["properties"] == {"a": {"type": "string", "format": "uuid"}, "b": {"type": "object"}}


class TestColumns:
    def test_a_text_field_declares_the_type_of_its_column(self) -> None:
        columns = (
            Column("a", "date", "date"),
            Column("b", "interval", "other"),
            Column("c", "inet", "other"),
            Column("d", "time without time zone", "time"),
            Column("e", "uuid", "uuid"),
        )
        fields = [{"name": column.name, "dataType": "text", "label": "L", "required": True} for column in columns]
        found_table = TableSchema(None, "t", {column.name: column for column in columns})
        made = build_input_schema(TableConfig.model_validate({"tableName": "t", "fields": fields}), found_table)
        assert made["properties"] == {
            "a": {"type": "string", "format": "date", "description": "L"},
            "b": {"type": "string", "description": "L (of type interval, such as 1 day 02:00:00)"},
            "c": {"type": "string", "description": "L (of type inet, such as 192.0.2.1)"},
            "d": {"type": "string", "description": "L (of type time without time zone, such as 14:30:00)"},
            "e": {"type": "string", "format": "uuid", "description": "L"},
        }


class TestTools:
    def test_a_table_is_one_strict_private_tool_with_detailed_answers(self) -> None:
        [tool] = tools()
        assert (tool.name, tool.display_name, tool.tool_type) == ("log-mood", "Log a mood", Kind.TABLE)
        assert not tool.is_public
        assert (tool.unknown_parameters, tool.result_style) == ("reject", "detailed")
        assert not tool.keep_arguments
        assert tool.input_schema == build_input_schema(config())

    def test_it_is_public_and_kept_if_the_file_declares_it(self) -> None:
        [tool] = tools(public=True, audit=True)
        assert (tool.is_public, tool.keep_arguments) == (True, True)

    def test_with_batch_there_is_another_that_takes_rows(self) -> None:
        one, many = tools(batch=True)
        assert many.name == "log-mood-batch"
        assert (one.config["batch"], many.config["batch"]) == (False, True)
        assert list(many.input_schema["properties"]) == ["rows"]
        assert one == tools()[0]

    def test_ids_are_the_same_at_every_start_and_of_each_name_another(self) -> None:
        ids = [tool.id for tool in (*tools(batch=True), *tools(toolId="other"))]
        assert len(set(ids)) == 3
        assert ids[:2] == [tool.id for tool in tools({"name": "a", "dataType": "text"}, batch=True)]

    def test_their_config_is_json_and_reads_as_what_it_was(self) -> None:
        field = {"name": "a", "dataType": "numeric", "min": "0.12345678901234567890123", "max": 1.5, "default": None}
        [tool] = tools(field, schema="public")
        assert orjson.loads(orjson.dumps(tool.config)) == tool.config
        assert type(config().model_validate(tool.config)) is type(config())
        assert config().model_validate(tool.config) == config(field, schema="public", batch=False)
