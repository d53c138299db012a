"""Schemas adapted for providers: no valid call is lost, and a model's arguments are converted back."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.dialects.schema_adapters import (
    fit_property_names,
    inline_references,
    remove_optional_nulls,
    restore_property_names,
    to_gemini_schema,
    to_strict_schema,
)
from pegboard.json_schema.compile import compile_validator
from tests.formats import TOOLS
from tests.unit.dialects.schemas import SchemaCase, instances, tools

NAMES = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
RECURSIVE = {
    "type": "object",
    "properties": {"value": {"type": "string"}, "next": {"$ref": "#"}},
    "required": ["value"],
}


def _accepts(schema: dict[str, Any], value: Any) -> bool:
    return jsonschema_rs.Draft202012Validator(schema).is_valid(value)


@given(tools())
def test_a_strict_model_can_send_every_call_and_it_returns_as_the_tool_takes_it(made: SchemaCase) -> None:
    strict = to_strict_schema(made.schema)
    assert strict is not None
    assert _accepts(strict, made.sent)
    restored = remove_optional_nulls(made.sent, made.schema)
    assert restored == made.value
    assert compile_validator(made.schema).is_valid(restored)


@given(st.data())
def test_whatever_a_strict_model_sends_the_tool_takes(data: st.DataObject) -> None:
    made = data.draw(tools())
    strict = to_strict_schema(fit_property_names(made.schema, NAMES))
    assert strict is not None
    sent = data.draw(instances(strict))
    restored = remove_optional_nulls(restore_property_names(sent, made.schema, NAMES), made.schema)
    assert compile_validator(made.schema).is_valid(restored), restored


@given(tools())
def test_strict_schemas_close_every_object_and_are_unchanged_when_made_strict_again(made: SchemaCase) -> None:
    strict = to_strict_schema(made.schema)
    assert strict is not None
    assert to_strict_schema(strict) == strict
    for node in _objects(strict):
        assert node["additionalProperties"] is False
        assert node["required"] == list(node["properties"])


@given(tools())
def test_fitted_names_match_do_not_collide_and_return(made: SchemaCase) -> None:
    fitted = fit_property_names(made.schema, NAMES)
    for node, own in zip(_objects(fitted), _objects(made.schema), strict=True):
        assert all(NAMES.fullmatch(name) for name in node["properties"])
        assert len(node["properties"]) == len(own["properties"])
    sent = _sent(made.value, made.schema, fitted)
    assert compile_validator(fitted).is_valid(sent)
    assert restore_property_names(sent, made.schema, NAMES) == made.value


@given(tools())
def test_names_and_nulls_return_together(made: SchemaCase) -> None:
    fitted = fit_property_names(made.schema, NAMES)
    strict = to_strict_schema(fitted)
    assert strict is not None
    sent = _sent(made.sent, made.schema, fitted)
    assert _accepts(strict, sent)
    assert remove_optional_nulls(restore_property_names(sent, made.schema, NAMES), made.schema) == made.value


@given(tools())
def test_gemini_takes_every_call_that_the_tool_takes(made: SchemaCase) -> None:
    adapted = to_gemini_schema(made.schema)
    assert "$ref" not in str(adapted)
    assert _accepts(adapted, made.value)


@given(tools())
def test_inlining_changes_nothing_that_is_accepted(made: SchemaCase) -> None:
    whole = inline_references(made.schema)
    assert whole is not None
    assert compile_validator(whole).is_valid(made.value)


@pytest.mark.parametrize("name", TOOLS)
def test_simple_schemas_return_equal(name: str) -> None:
    schema = TOOLS[name]
    assert to_gemini_schema(schema) == schema
    assert inline_references(schema) == schema
    assert fit_property_names(schema, NAMES) is schema


def test_arguments_are_returned_as_the_same_object_if_nothing_changes() -> None:
    arguments = {"city": "Oslo", "unit": "celsius"}
    assert remove_optional_nulls(arguments, TOOLS["get_weather"]) is arguments
    assert restore_property_names(arguments, TOOLS["get_weather"], NAMES) is arguments
    deep = {"query": "x", "filters": {"any": [1, None, {"a b": None}]}}
    assert remove_optional_nulls(deep, TOOLS["search_docs"]) is deep
    assert restore_property_names(deep, TOOLS["search_docs"], NAMES) is deep


@pytest.mark.parametrize(
    "property_schema",
    [
        {"type": "object"},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": True},
        {"type": "object", "patternProperties": {"^x": {"type": "string"}}},
        {"type": "array"},
        {"type": "array", "items": [{"type": "string"}, {"type": "integer"}]},
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b"]},
        {"type": "string", "not": {"const": "x"}},
        {"allOf": [{"type": "string"}, {"type": "integer"}]},
        {"description": "anything"},
        True,
        {"enum": [str(number) for number in range(1_001)]},
        {"enum": ["x" * 60 + str(number) for number in range(251)]},
    ],
)
def test_what_strict_mode_cannot_say_is_not_strict(property_schema: Any) -> None:
    assert to_strict_schema({"type": "object", "properties": {"it": property_schema}}) is None


def test_strict_mode_takes_ten_levels_of_objects_and_no_more() -> None:
    def nested(levels: int) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "string"}
        for _ in range(levels):
            schema = {"type": "object", "properties": {"in": schema}}
        return schema

    assert to_strict_schema(nested(10)) is not None
    assert to_strict_schema(nested(11)) is None


def test_schemas_inside_themselves_end() -> None:
    assert inline_references(RECURSIVE) is None
    assert to_strict_schema(RECURSIVE) is None
    assert to_gemini_schema(RECURSIVE) == RECURSIVE
    deep: dict[str, Any] = {"value": "x"}
    for _ in range(20):
        deep = {"value": "x", "next": deep}
    deepest = deep
    while "next" in deepest:
        deepest = deepest["next"]
    deepest["next"] = None
    meant = remove_optional_nulls(deep, RECURSIVE)
    assert compile_validator(RECURSIVE).is_valid(meant)


def test_references_that_multiply_are_not_followed_without_end() -> None:
    levels = {f"l{number}": {"anyOf": [{"$ref": f"#/$defs/l{number + 1}"}] * 9} for number in range(9)}
    schema = {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/l0"}},
        "$defs": {**levels, "l9": {"type": "null"}},
    }
    assert inline_references(schema) is None
    assert remove_optional_nulls({"x": {"y": None}}, schema) == {"x": {"y": None}}


def test_alternatives_that_hold_themselves_do_not_take_forever() -> None:
    either = [
        {"type": "object", "properties": {"in": {"$ref": "#/$defs/e"}, name: {"type": "string"}}, "required": [name]}
        for name in ("a", "b")
    ]
    schema = {"type": "object", "properties": {"e": {"$ref": "#/$defs/e"}}, "$defs": {"e": {"anyOf": either}}}
    value: dict[str, Any] = {"a": "x", "b": "y", "in": 5}
    for _ in range(60):
        value = {"a": "x", "b": "y", "in": value, "z": None}
    assert remove_optional_nulls({"e": value}, schema) == {"e": value}


def test_constraints_strict_mode_has_no_keyword_for_are_reported_in_the_description() -> None:
    strict = to_strict_schema(
        {
            "type": "object",
            "properties": {
                "code": {"type": "string", "description": "A code", "minLength": 2, "pattern": "^(?=a)"},
                "pages": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
            },
            "required": ["code", "pages"],
        }
    )
    assert strict is not None
    assert strict["properties"] == {
        "code": {"type": "string", "description": 'A code (at least 2 characters; matches "^(?=a)")'},
        "pages": {"type": "array", "items": {"type": "integer"}, "description": "No item twice"},
    }


def test_nulls_the_tool_takes_or_requires_stay() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": ["string", "null"]}, "b": {"type": "string"}, "c": {"type": "string"}},
        "required": ["b"],
    }
    assert remove_optional_nulls({"a": None, "b": None, "c": None}, schema) == {"a": None, "b": None}


def test_fitted_names_do_not_depend_on_the_order_of_properties() -> None:
    names = ["a b", "a-b", "a/b", "a_b"]
    schemas = [
        {"type": "object", "properties": {name: {"type": "string", "title": name} for name in order}}
        for order in (names, names[::-1])
    ]
    maps = [
        {
            child["title"]: name
            for name, child in fit_property_names(schema, re.compile(r"\w{1,64}"))["properties"].items()
        }
        for schema in schemas
    ]
    assert all(one == other for one, other in pairwise(maps))
    assert len(set(maps[0].values())) == len(names)


def test_a_reference_through_a_renamed_property_still_leads_there() -> None:
    schema = {
        "type": "object",
        "properties": {"a b": {"type": "string"}, "same": {"$ref": "#/properties/a%20b"}},
        "required": ["a b"],
    }
    assert fit_property_names(schema, NAMES) == {
        "type": "object",
        "properties": {"a_b": {"type": "string"}, "same": {"$ref": "#/properties/a_b"}},
        "required": ["a_b"],
    }


def _objects(schema: Any) -> list[dict[str, Any]]:
    found = [schema] if isinstance(schema, dict) and isinstance(schema.get("properties"), dict) else []
    inside = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    return found + [node for child in inside for node in _objects(child)]


def _sent(value: Any, own: Any, fitted: Any) -> Any:
    """The value under the fitted names, the two schemas walked side by side."""
    if "$ref" in own:
        return value
    for word in ("anyOf", "oneOf"):
        if word in own:
            place = 0 if value["tag"] == "one" else 1
            return _sent(value, own[word][place], fitted[word][place])
    if isinstance(value, list):
        return [_sent(item, own["items"], fitted["items"]) for item in value]
    if not isinstance(value, dict):
        return value
    names = dict(zip(own["properties"], fitted["properties"], strict=True))
    return {
        names[name]: None if item is None else _sent(item, own["properties"][name], fitted["properties"][names[name]])
        for name, item in value.items()
    }
