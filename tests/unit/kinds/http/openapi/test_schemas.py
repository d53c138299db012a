from __future__ import annotations

from typing import Any

import pytest

from pegboard.json_schema.compile import compile_validator
from tests.unit.kinds.http.openapi.make_documents import Json, api, body, import_parameter, of, one, reason

DRAFT = "https://json-schema.org/draft/2020-12/schema"
OLD = ("3.0.0", "3.0.3")


def properties(schema: Json, version: str = "3.1.0", **others: Any) -> Json:
    found: Json = of(body(schema), version=version, **others)["input_schema"]
    return found


@pytest.mark.parametrize(
    ("given", "becomes"),
    [
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "string", "nullable": False}, {"type": "string"}),
        ({"type": "string", "enum": ["a"], "nullable": True}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"nullable": True}, {}),
        ({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
        ({"maximum": 9, "exclusiveMaximum": True, "minimum": 1}, {"exclusiveMaximum": 9, "minimum": 1}),
        ({"minimum": 1, "exclusiveMinimum": False}, {"minimum": 1}),
        ({"type": "integer", "format": "int64"}, {"type": "integer", "format": "int64"}),
        ({"type": "string", "format": "planet"}, {"type": "string", "format": "planet"}),
        ({"type": "string", "xml": {"name": "x"}, "externalDocs": {}, "x-own": 1}, {"type": "string"}),
        ({"type": "string", "writeOnly": True}, {"type": "string"}),
        ({"type": "string", "example": "rex"}, {"type": "string", "examples": ["rex"]}),
        ({"type": "string", "example": "x" * 500}, {"type": "string"}),
        ({"type": "integer", "default": "10"}, {"type": "integer"}),
        ({"type": "string", "default": None}, {"type": "string"}),
        ({"type": "string", "minLength": 1, "default": ""}, {"type": "string", "minLength": 1}),
        ({"type": "integer", "default": 3}, {"type": "integer", "default": 3}),
        ({"type": "string", "title": "Name", "description": "What"}, {"type": "string", "description": "What"}),
        ({"type": "string", "title": "Name"}, {"type": "string", "title": "Name"}),
        ({"type": "int"}, {"type": "integer"}),
        ({"type": "String"}, {"type": "string"}),
        ({"type": "any"}, {}),
        ({"type": "string", "required": True}, {"type": "string"}),
        ({"type": "object", "required": ["a", "a"]}, {"type": "object", "required": ["a"]}),
        ({"discriminator": {"propertyName": "x"}, "oneOf": [{"type": "string"}]}, {"oneOf": [{"type": "string"}]}),
        ({"type": "string", "deprecated": True}, {"type": "string", "deprecated": True, "description": "Deprecated."}),
    ],
)
def test_what_older_versions_say_is_reported_in_todays_words(given: Json, becomes: Json) -> None:
    for version in OLD:
        assert import_parameter(given, version) == becomes


@pytest.mark.parametrize(
    "given",
    [
        {"type": ["string", "null"]},
        {"const": "a"},
        {"exclusiveMinimum": 3},
        {"type": "array", "prefixItems": [{"type": "string"}], "items": False},
        {"if": {"type": "string"}, "then": {"minLength": 2}, "else": True},
        {"type": "object", "patternProperties": {"^x": {"type": "string"}}, "propertyNames": {"maxLength": 5}},
        {"type": "object", "dependentRequired": {"a": ["b"]}, "dependentSchemas": {"a": {"minProperties": 2}}},
        {"type": "array", "contains": {"type": "string"}, "minContains": 2},
        {"type": "string", "contentEncoding": "base64", "contentMediaType": "image/png"},
        {"not": {"type": "string"}},
        {"type": "string", "examples": ["a", "b"]},
        {"type": "object", "unevaluatedProperties": False},
    ],
)
def test_what_newer_versions_say_is_kept(given: Json) -> None:
    assert import_parameter(given) == given
    assert import_parameter(given, "3.2.0") == given


@pytest.mark.parametrize(
    "given",
    [
        {"nullable": True, "allOf": [{"$ref": "#/components/schemas/A"}]},
        {"nullable": True, "$ref": "#/components/schemas/A"},
        {"nullable": True, "type": "object", "allOf": [{"$ref": "#/components/schemas/A"}]},
    ],
)
def test_a_reference_may_be_null_if_the_document_means_so(given: Json) -> None:
    components = {"schemas": {"A": {"type": "object", "properties": {"a": {"type": "string"}}}}}
    operation = {"parameters": [{"name": "p", "in": "query", "schema": given}]}
    schema = of(operation, method="get", version="3.0.3", components=components)["input_schema"]
    validator = compile_validator(schema)
    assert validator.is_valid({"p": None})
    assert validator.is_valid({"p": {"a": "x"}})
    assert not validator.is_valid({"p": {"a": 5}})


def test_the_schema_is_stamped_and_holds_only_what_it_refers_to() -> None:
    components = {"schemas": {"Used": {"type": "string"}, "Unused": {"type": "string"}}}
    schema = properties(
        {"type": "object", "properties": {"a": {"$ref": "#/components/schemas/Used"}}}, components=components
    )
    assert schema == {
        "$schema": DRAFT,
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/Used"}},
        "$defs": {"Used": {"type": "string"}},
    }  # fmt: skip


def test_a_schema_that_refers_to_itself_stays_a_reference() -> None:
    tree = {
        "type": "object",
        "properties": {"below": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}},
    }
    schema = properties({"$ref": "#/components/schemas/Tree"}, components={"schemas": {"Tree": tree}})
    below = {"type": "array", "items": {"$ref": "#/$defs/Tree"}}
    assert schema["properties"] == {"below": below}
    assert schema["$defs"] == {"Tree": {"type": "object", "properties": {"below": below}}}


def test_names_of_schemas_that_only_differ_in_signs_are_distinguished() -> None:
    components = {"schemas": {"a b": {"type": "string"}, "a/b": {"type": "integer"}}}
    pair = {"x": {"$ref": "#/components/schemas/a b"}, "y": {"$ref": "#/components/schemas/a~1b"}}
    schema = properties({"type": "object", "properties": pair}, components=components)
    kinds = [schema["$defs"][node["$ref"].removeprefix("#/$defs/")]["type"] for node in schema["properties"].values()]
    assert kinds == ["string", "integer"]


OWNER = {"type": "object", "properties": {"id": {"type": "integer", "readOnly": True}, "name": {"type": "string"}}}


@pytest.mark.parametrize(
    "schema",
    [
        {**OWNER, "required": ["id", "name"]},
        {"allOf": [{"$ref": "#/components/schemas/Owner"}, {"required": ["id", "name"]}]},
        {"allOf": [{"$ref": "#/components/schemas/Owner"}], "required": ["id", "name"]},
        {"type": "object", "required": ["id", "name"], "properties": {
            "id": {"$ref": "#/components/schemas/Id"}, "name": {"type": "string"}}},
        {"type": "object", "required": ["id", "name"], "properties": {
            "id": {"allOf": [{"$ref": "#/components/schemas/Name"}, {"readOnly": True}]}, "name": {"type": "string"}}},
    ],
)  # fmt: skip
def test_what_is_only_read_is_neither_sent_nor_required(schema: Json) -> None:
    components = {"schemas": {"Owner": OWNER, "Id": {"type": "integer", "readOnly": True}, "Name": {"type": "string"}}}
    found = properties(schema, "3.0.3", components=components)
    assert list(found["properties"]) == ["name"]
    assert found["required"] == ["name"]


def test_what_is_only_read_is_dropped_deep_inside_too() -> None:
    schema = {"type": "array", "items": {"type": "object", "properties": {"owner": OWNER}, "required": ["owner"]}}
    items = properties(schema)["properties"]["body"]["items"]
    assert items["properties"]["owner"]["properties"] == {"name": {"type": "string"}}


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string", "pattern": "("}, "is not a regular expression that compiles"),
        ({"type": "thing"}, "but received 'thing'"),
        ({"type": "string", "maxLength": "5"}, "maxLength"),
        ({"properties": []}, "properties in the query parameter 'p' must be an object, not a list"),
        ({"properties": {"a": "string"}}, "'a' in the query parameter 'p' must be an object, not a text"),
        ({"allOf": {}}, "allOf in the query parameter 'p' must be a list, not an object"),
        ("text", "the query parameter 'p' must be an object, not a text"),
        ({"const": "\0"}, "NUL"),
        ({"const": "\ud800"}, "JSON"),
        ({"const": float("nan")}, "NaN"),
    ],
)
def test_a_schema_that_no_tool_may_have_leaves_only_its_operation_out(schema: Any, words: str) -> None:
    parameters = [{"name": "p", "in": "query", "schema": schema}]
    assert words in reason(api({"/x": {"get": {"parameters": parameters}}}))


def test_texts_with_what_cannot_be_stored_are_cleaned() -> None:
    assert import_parameter({"type": "string", "description": " a\0b\ud800 "})["description"] == "a�b?"
    assert one(api({"/x": {"get": {"summary": "x\0"}}}))["display_name"] == "x�"


def test_long_descriptions_are_cut() -> None:
    found = import_parameter({"type": "string", "description": "word " * 1000})
    assert len(found["description"]) <= 2000
    assert found["description"].endswith("word…")
