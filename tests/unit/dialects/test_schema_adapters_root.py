"""Schemas that OpenAI and Anthropic refuse: alternatives at the root, and arrays without items."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.dialects.catalog import load_dialects
from pegboard.dialects.definition_lint import lint_definition
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.schema_adapters import add_missing_items, flatten_root, remove_absent_nulls
from pegboard.dialects.schema_adapters.root_object import REFUSED_ROOT_KEYWORDS
from tests.unit.dialects.test_definition_lint import tool as tool_of

KNOWN = load_dialects()
FLAT = [name for name, dialect in KNOWN.items() if dialect.limits.root]
WITH_ITEMS = [name for name, dialect in KNOWN.items() if dialect.limits.needs_items]
EITHER: dict[str, Any] = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "name": {"type": "string"}},
    "anyOf": [{"required": ["id"]}, {"required": ["name"]}],
    "description": "Whom to look for",
}
SHAPES: dict[str, Any] = {
    "oneOf": [
        {
            "type": "object",
            "properties": {"kind": {"const": "circle"}, "size": {"type": "number"}},
            "required": ["kind", "size"],
            "additionalProperties": False,
        },
        {"$ref": "#/definitions/square"},
    ],
    "definitions": {
        "square": {
            "type": "object",
            "properties": {"kind": {"const": "square"}, "size": {"type": "string"}},
            "required": ["kind"],
            "additionalProperties": False,
        }
    },
}
ALL: dict[str, Any] = {
    "type": "object",
    "allOf": [
        {"properties": {"a": {"type": "array"}}, "required": ["a"]},
        {"properties": {"b": {"type": "array", "items": [{"type": "string"}, {"type": "integer"}]}}},
    ],
}
LEAVES = st.sampled_from([{"type": "integer"}, {"type": "string"}, {"const": "x"}, {"type": "array"}, {}, True])
OBJECTS = st.fixed_dictionaries(
    {"type": st.just("object"), "properties": st.dictionaries(st.sampled_from("abc"), LEAVES, max_size=3)},
    optional={
        "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
        "additionalProperties": st.booleans(),
        "$ref": st.just("#/$defs/shared"),
    },
)
ROOTS = st.recursive(
    OBJECTS,
    lambda inner: st.fixed_dictionaries(
        {"properties": st.dictionaries(st.sampled_from("abc"), LEAVES, max_size=2)},
        optional={word: st.lists(inner, min_size=1, max_size=3) for word in ("anyOf", "oneOf", "allOf")},
    ),
    max_leaves=6,
)
SHARED = {"$defs": {"shared": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["b"]}}}
VALUES = st.dictionaries(st.sampled_from("abcd"), st.sampled_from([1, "x", "y", [], [1], None]), max_size=4)


def parameters(definition: Any) -> dict[str, Any]:
    """Return the parameter schema in a definition, at any position."""
    if "properties" in definition:
        found: dict[str, Any] = definition
        return found
    return next(parameters(inner) for inner in definition.values() if isinstance(inner, dict))


@pytest.mark.parametrize("dialect", FLAT)
@pytest.mark.parametrize("schema", [EITHER, SHAPES, ALL], ids=["anyOf", "oneOf", "allOf"])
def test_a_definition_has_one_object_at_its_root_and_lint_says_so(dialect: str, schema: dict[str, Any]) -> None:
    tool = tool_of("find", schema)
    declared = parameters(KNOWN[dialect].define(tool))
    assert REFUSED_ROOT_KEYWORDS.isdisjoint(declared)
    assert declared["type"] == "object"
    (word,) = REFUSED_ROOT_KEYWORDS & schema.keys()
    notes = [
        finding for finding in lint_definition(tool, KNOWN[dialect]).findings if finding.field == f"input_schema.{word}"
    ]
    assert [finding.severity for finding in notes] == ["note"]


def test_alternatives_stand_side_by_side_and_the_description_says_which_go_together() -> None:
    assert flatten_root(EITHER) == {
        "type": "object",
        "properties": EITHER["properties"],
        "description": "Whom to look for (give one of: 'id' or 'name')",
    }
    flat = flatten_root(SHAPES)
    assert flat["properties"] == {
        "kind": {"enum": ["circle", "square"]},
        "size": {"anyOf": [{"type": "number"}, {"type": "string"}]},
    }
    assert (flat["required"], flat["additionalProperties"]) == (["kind"], False)
    assert flat["description"] == "Give exactly one of: 'kind'=\"circle\" with 'size' or 'kind'=\"square\""


def test_the_definitions_of_all_providers_and_frameworks_are_adapted() -> None:
    raw = {"plain", "detailed", "envelope", "memory", "mcp", "a2a", "gemini_generate_content", "google_adk"}
    assert set(KNOWN) - set(FLAT) == raw | {name for name, dialect in KNOWN.items() if dialect.is_text}
    assert set(FLAT) - set(WITH_ITEMS) == {"anthropic_messages"}


@pytest.mark.parametrize("dialect", WITH_ITEMS)
def test_every_array_has_items_and_lint_names_those_that_had_none(dialect: str) -> None:
    tool = tool_of("sum", {"type": "object", "properties": {"n": {"type": "array"}, "m": {"type": ["array", "null"]}}})
    properties = parameters(KNOWN[dialect].define(tool))["properties"]
    assert [properties[name]["items"] for name in ("n", "m")] == [{}, {}]
    found = [
        finding.field
        for finding in lint_definition(tool, KNOWN[dialect]).findings
        if "array without" in finding.message
    ]
    assert found == ["input_schema.properties.n", "input_schema.properties.m"]


def test_a_schema_that_is_one_object_with_items_everywhere_stays_the_same() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "array", "items": {"type": "integer"}}}}
    assert add_missing_items(flatten_root(schema)) is schema


def test_a_root_that_refers_to_itself_or_into_its_alternatives_is_one_object() -> None:
    endless = {"anyOf": [{"$ref": "#"}, {"properties": {"a": {"$ref": "#"}}, "required": ["a"]}]}
    assert flatten_root(endless)["properties"] == {"a": {"$ref": "#"}}
    inner = {"properties": {"a": {"type": "integer"}, "b": {"$ref": "#/anyOf/0/properties/a"}}}
    assert flatten_root({"anyOf": [inner]})["properties"]["b"] == {"type": "integer"}


@given(root=ROOTS, value=VALUES)
def test_what_fits_a_schema_fits_the_flat_one(root: dict[str, Any], value: dict[str, Any]) -> None:
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **root, **SHARED}
    flat = add_missing_items(flatten_root(schema))
    assert REFUSED_ROOT_KEYWORDS.isdisjoint(flat)
    if jsonschema_rs.is_valid(schema, value):
        assert jsonschema_rs.is_valid(flat, value)


def test_nulls_of_other_alternatives_are_left_out_again() -> None:
    schema = {
        "oneOf": [
            {"properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False},
            {"properties": {"b": {"type": "integer"}, "c": {"type": ["string", "null"]}}, "required": ["b"]},
        ]
    }
    assert remove_absent_nulls({"a": 1, "b": None}, schema) == {"a": 1}
    assert remove_absent_nulls({"b": 1, "c": None, "d": None}, schema) == {"b": 1, "c": None, "d": None}
    for name in ("openai", "anthropic", "bedrock", "langchain"):
        composed = KNOWN[name].compose([AskedCall("find", {"a": 1, "b": None}, "call_1")])
        (call,) = KNOWN.read(composed, name, lambda _: schema).calls
        assert call.arguments == {"a": 1}
    (call,) = KNOWN.read({"name": "find", "arguments": {"a": 1, "b": None}}, "plain", lambda _: schema).calls
    assert call.arguments == {"a": 1, "b": None}
