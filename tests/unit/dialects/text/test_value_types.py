"""Bare text is converted to the type of the schema."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.dialects.text.tagged_calls import get_property_schema, parse_typed_value
from tests.unit.dialects.text.pieces import UNTIMED

ROOT = {
    "$defs": {
        "count": {"type": "integer"},
        "label": {"type": "string"},
        "either": {"anyOf": [{"$ref": "#/$defs/count"}, {"$ref": "#/$defs/label"}]},
        "loop": {"anyOf": [{"$ref": "#/$defs/loop"}, {"type": "boolean"}]},
        "point": {"properties": {"x": {"type": "number"}}},
    }
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
TYPES = {"string", "integer", "number", "boolean", "object", "array", "null"}


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("3", {"type": "string"}, "3"),
        ("null", {"type": "string"}, "null"),
        (' "a" ', {"type": "string"}, ' "a" '),
        ("", {"type": "string"}, ""),
        ("3", {"type": "integer"}, 3),
        (" 3\n", {"type": "integer"}, 3),
        ("123456789012345678901234567890", {"type": "integer"}, 123456789012345678901234567890),
        ("3.5", {"type": "integer"}, 3.5),
        ("three", {"type": "integer"}, "three"),
        ("", {"type": "integer"}, ""),
        ('"3"', {"type": "integer"}, '"3"'),
        ("7.5", {"type": "number"}, 7.5),
        ("true", {"type": "boolean"}, True),
        ("True", {"type": "boolean"}, True),
        ("True", {"type": "integer"}, "True"),
        ("None", {"type": ["integer", "null"]}, None),
        ("None", {"type": ["string", "null"]}, "None"),
        ("null", {"type": ["string", "null"]}, None),
        ("null", {"type": "integer", "nullable": True}, None),
        ('{"a": [1]}', {"type": "object"}, {"a": [1]}),
        ("{'a': 1}", {"type": "object"}, "{'a': 1}"),
        ('{"a": 1, "a": 2}', {"type": "object"}, '{"a": 1, "a": 2}'),
        ("[1]", {"type": ["string", "array"]}, [1]),
        ("{}", {"type": ["string", "array"]}, "{}"),
        ("3", {"type": ["string", "integer"]}, 3),
        ("3.0", {"type": ["string", "integer"]}, 3.0),
        ("3.5", {"type": ["string", "integer"]}, "3.5"),
        ("3", {"anyOf": [{"type": "string"}, {"type": "null"}]}, "3"),
        ("null", {"oneOf": [{"type": "string"}, {"type": "null"}]}, None),
        ("3", {"anyOf": [{"type": "string"}, {}]}, 3),
        ("3", {"allOf": [{"type": ["string", "integer"]}, {"type": "string"}]}, "3"),
        ("3", {"enum": ["1", "3"]}, "3"),
        ("3", {"enum": [1, 3]}, 3),
        ("3", {"enum": ["3", 4]}, "3"),
        ("4", {"enum": ["3", 4]}, 4),
        ("3", {"const": "3"}, "3"),
        ("3", {"anyOf": [{"const": "3"}, {"type": "integer"}]}, "3"),
        ("3", {"$ref": "#/$defs/count"}, 3),
        ("3", {"$ref": "#/$defs/label"}, "3"),
        ("3", {"$ref": "#/$defs/either"}, 3),
        ("a", {"$ref": "#/$defs/either"}, "a"),
        ("true", {"$ref": "#/$defs/loop"}, True),
        ("3", {"$ref": "#/$defs/nowhere"}, 3),
        ("3", True, 3),
        ("3", {}, 3),
        ("[1, null]", {}, [1, None]),
        ("false", {}, False),
        ("null", {}, None),
        ('"a"', {}, '"a"'),
        ("Zürich", {}, "Zürich"),
        ("\ud800", {"type": "integer"}, "\ud800"),
    ],
)
def test_a_text_is_typed_by_its_schema(text: str, schema: Any, value: Any) -> None:
    found = parse_typed_value(text, schema, ROOT)
    assert found == value
    assert type(found) is type(value)


@UNTIMED
@given(JSON)
def test_a_value_survives_as_text_if_its_type_is_known(value: Any) -> None:
    kinds = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object", list: "array"}
    text = value if isinstance(value, str) else json.dumps(value)
    assert parse_typed_value(text, {"type": kinds.get(type(value), "null")}) == value


@UNTIMED
@given(st.text(), JSON)
def test_no_text_and_no_schema_makes_it_raise(text: str, schema: Any) -> None:
    parse_typed_value(
        text, {"type": schema, "enum": schema, "anyOf": schema, "$ref": schema, "allOf": schema, "oneOf": [schema]}
    )


@UNTIMED
@given(st.text(), st.sets(st.sampled_from(sorted(TYPES))))
def test_a_text_that_is_no_json_is_unchanged(text: str, kinds: set[str]) -> None:
    assert parse_typed_value(f"~{text}", {"type": sorted(kinds)}) == f"~{text}"


def test_many_references_to_the_same_schemas_are_followed_once() -> None:
    steps = {f"s{n}": {"anyOf": [{"$ref": f"#/$defs/s{n + 1}"}] * 2} for n in range(200)}
    root = {"$defs": {**steps, "s200": {"type": "string"}}}
    assert parse_typed_value("3", {"$ref": "#/$defs/s0"}, root) == "3"


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (None, True),
        ({}, True),
        ({"properties": {"x": {"type": "string"}}}, {"type": "string"}),
        ({"properties": {"y": {}}, "additionalProperties": {"type": "integer"}}, {"type": "integer"}),
        ({"allOf": [{"properties": {"y": {}}}, {"properties": {"x": {"const": 1}}}]}, {"const": 1}),
        (ROOT | {"$ref": "#/$defs/point"}, {"type": "number"}),
        ({"properties": []}, True),
    ],
)
def test_the_schema_of_a_parameter_is_found(schema: Any, message: Any) -> None:
    assert get_property_schema(schema, "x") == message
