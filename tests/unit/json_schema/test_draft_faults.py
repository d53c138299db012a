"""A schema that violates its draft is refused with the path, and what was expected and received."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pegboard.json_schema.compile import SchemaProblem, check_schema, compile_validator
from pegboard.json_schema.schema_document import DRAFT_7, DRAFT_2020

KEYWORDS = [
    "$id", "$schema", "$ref", "$comment", "$anchor", "$dynamicRef", "$dynamicAnchor", "$defs", "$vocabulary",
    "title", "description", "default", "readOnly", "writeOnly", "examples", "multipleOf", "maximum",
    "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength", "pattern", "items",
    "additionalItems", "prefixItems", "maxItems", "minItems", "uniqueItems", "contains", "maxContains",
    "minContains", "maxProperties", "minProperties", "required", "properties", "patternProperties",
    "additionalProperties", "dependencies", "dependentRequired", "dependentSchemas", "propertyNames", "const",
    "enum", "type", "format", "contentMediaType", "contentEncoding", "contentSchema", "if", "then", "else",
    "allOf", "anyOf", "oneOf", "not", "definitions", "unevaluatedItems", "unevaluatedProperties", "deprecated",
]  # fmt: skip
VALUES: list[Any] = [
    None, True, 3, -1, 0, 1.5, "x", "(", "\\ ", "%zz", "#x", "#/x", "", [], [3], ["a", "a"], [None], [{"type": "x"}],
    {}, {"a": 3}, {"a": []}, {"a": [3]}, {"a": ["x", "x"]}, {"a": {"type": "strin"}}, {"(": {}}, {"a": "x"},
]  # fmt: skip
# Texts of the validator of schemas.
LIBRARY = re.compile(
    r"is not of type|is not one of|has less than|non-unique|than or equal to|less than the minimum|does not match"
    r"|is not a \"|Invalid URI|Failed to resolve|is not valid under|can be used:"
)
TYPES = "must be one of: array, boolean, integer, null, number, object, string, but received"


def refusal(schema: Any) -> str:
    with pytest.raises(SchemaProblem) as refused:
        check_schema(schema, where="output_schema")
    return str(refused.value)


@pytest.mark.parametrize("draft", [DRAFT_7, DRAFT_2020])
@pytest.mark.parametrize("keyword", KEYWORDS)
def test_no_wording_of_the_validator_is_in_a_message(keyword: str, draft: str) -> None:
    for value in VALUES:
        for schema in ({"$schema": draft, "properties": {"a": {keyword: value}}}, {"$schema": draft, keyword: value}):
            try:
                check_schema(schema, where="output_schema")
            except SchemaProblem as problem:
                assert not LIBRARY.search(str(problem)), schema


@pytest.mark.parametrize("draft", [DRAFT_7, DRAFT_2020])
@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "strin"}, f"$.properties.a.type: {TYPES} 'strin'; did you mean 'string'?"),
        ({"type": "float"}, f"$.properties.a.type: {TYPES} 'float'; did you mean 'number'?"),
        ({"type": "OBJECT"}, f"$.properties.a.type: {TYPES} 'OBJECT'; did you mean 'object'?"),
        ({"type": "zzz"}, f"$.properties.a.type: {TYPES} 'zzz'"),
        ({"type": ["string", "nul"]}, f"$.properties.a.type[1]: {TYPES} 'nul'; did you mean 'null'?"),
        ({"type": 3}, f"$.properties.a.type: {TYPES} 3"),
        ({"type": []}, "$.properties.a.type: must have at least 1 item, but received 0"),
        ({"type": ["null", "null"]}, "$.properties.a.type: must not hold the same item twice"),
        ({"required": "x"}, "$.properties.a.required: must be an array, but received 'x'"),
        ({"required": [1]}, "$.properties.a.required[0]: must be a string, but received 1"),
        ({"minimum": "3"}, "$.properties.a.minimum: must be a number, but received '3'"),
        ({"minLength": -1}, "$.properties.a.minLength: must be at least 0, but received -1"),
        ({"multipleOf": 0}, "$.properties.a.multipleOf: must be greater than 0, but received 0"),
        ({"properties": []}, "$.properties.a.properties: must be a valid JSON object, but received []"),
        ({"enum": {}}, "$.properties.a.enum: must be an array, but received {}"),
        ({"anyOf": []}, "$.properties.a.anyOf: must have at least 1 item, but received 0"),
        ({"not": "x"}, "$.properties.a.not: must be a schema, which is an object, true or false, but received 'x'"),
        ({"pattern": "("}, "$.properties.a.pattern: the pattern '(' is not a regular expression that compiles"),
        ({"$id": "%zz"}, "$.properties.a.$id: must be a URI reference, but received '%zz'"),
        ({"$ref": "#/x"}, "$.properties.a.$ref: '#/x' names nothing in this schema"),
        ({"enum": "x" * 1000}, "$.properties.a.enum: must be an array, but received '" + "x" * 99 + "…'"),
    ],
    ids=lambda value: None if isinstance(value, str) else next(iter(value)),
)
def test_a_message_has_the_path_what_was_expected_and_what_was_received(schema: Any, message: str, draft: str) -> None:
    assert refusal({"$schema": draft, "properties": {"a": schema}}) == f"output_schema at {message}"


@pytest.mark.parametrize("draft", [DRAFT_7, DRAFT_2020])
def test_a_relative_id_is_accepted(draft: str) -> None:
    schema = {"$schema": draft, "$id": "person.json", "properties": {"a": {"type": "integer", "default": 1}}}
    check_schema(schema, where="input_schema")
    assert compile_validator(schema).is_valid({"a": 1})
    schema["properties"] = {"a": {"type": "integer", "default": "x"}}
    assert refusal(schema) == "output_schema at $.properties.a.default: the default does not fit its own schema"
