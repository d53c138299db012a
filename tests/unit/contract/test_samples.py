"""Generated arguments fit the schema, and those that are to be refused do not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.contract.baseline_schemas import BASELINE_SCHEMAS
from pegboard.contract.sample_arguments import NoSample, make_invalid_arguments, make_valid_arguments
from pegboard.json_schema.compile import compile_validator


def schema_of(**properties: Any) -> dict[str, Any]:
    """Return a schema whose properties are all required."""
    return {"type": "object", "properties": properties, "required": list(properties)}


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ({"type": "string", "examples": ["Lisbon"]}, "Lisbon"),
        ({"type": "string", "default": "metric"}, "metric"),
        ({"enum": ["b", "a"]}, "b"),
        ({"const": 7}, 7),
        ({"type": "integer", "minimum": 3}, 3),
        ({"type": "number", "exclusiveMaximum": 0}, -1),
        ({"type": "integer", "multipleOf": 5, "minimum": 7}, 10),
        ({"type": "boolean"}, True),
        ({"type": "null"}, None),
        ({"type": ["integer", "null"]}, 1),
        ({"anyOf": [{"type": "null"}, {"type": "string"}]}, None),
        ({"type": "string", "examples": [5], "default": "x"}, "x"),
        ({"type": "array", "items": {"type": "string"}}, ["text 1", "text 2", "text 3"]),
        ({"type": "array", "items": {"type": "integer"}, "maxItems": 1}, [1]),
        ({"type": "object"}, {}),
        ({"$ref": "#/$defs/city"}, "Oslo"),
        ({"allOf": [{"type": "string"}, {"minLength": 8}]}, "text 1xx"),
    ],
)
def test_a_value_is_the_example_the_default_or_the_least(part: dict[str, Any], value: Any) -> None:
    schema = {**schema_of(it=part), "$defs": {"city": {"type": "string", "enum": ["Oslo"]}}}
    assert make_valid_arguments(schema) == {"it": value}


@pytest.mark.parametrize("form", ["date-time", "date", "email", "uri", "uuid", "ipv4", "ipv6", "hostname"])
def test_a_text_has_the_format_that_is_asked_for(form: str) -> None:
    part = {"type": "string", "format": form}
    assert compile_validator(part).is_valid(make_valid_arguments(schema_of(it=part))["it"])


@pytest.mark.parametrize(
    "schema",
    [
        schema_of(it={"type": "string", "pattern": "^[A-Z]{3}-[0-9]{9}$"}),
        {**schema_of(it={"$ref": "#/$defs/node"}), "$defs": {"node": schema_of(next={"$ref": "#/$defs/node"})}},
        {"type": "object", "minProperties": 3},
        schema_of(it={"type": "array", "minItems": 10**9}),
    ],
)
def test_what_cannot_be_made_up_is_reported(schema: dict[str, Any]) -> None:
    with pytest.raises(NoSample, match="give good ones"):
        make_valid_arguments(schema)


@pytest.mark.parametrize("tool", BASELINE_SCHEMAS)
def test_the_arguments_of_baseline_tools_can_be_made_up(tool: str) -> None:
    made = make_valid_arguments(BASELINE_SCHEMAS[tool].input_schema)
    assert compile_validator(BASELINE_SCHEMAS[tool].input_schema).is_valid(made)


def test_an_argument_with_a_default_may_be_missing() -> None:
    schema = schema_of(a={"type": "string"}, b={"type": "string", "default": "x"})
    wrong = [what for what, _ in make_invalid_arguments(schema, {"a": "1", "b": "2"}, refuses_unknown=False)]
    assert "the required argument 'a' is missing" in wrong
    assert "the required argument 'b' is missing" not in wrong


bounds = st.integers(-1000, 1000)
numbers = st.builds(
    lambda low, span: {"type": "integer", "minimum": low, "maximum": low + span}, bounds, st.integers(0, 50)
)
texts = st.builds(
    lambda low, span: {"type": "string", "minLength": low, "maxLength": low + span + 6},
    st.integers(0, 80),
    st.integers(0, 50),
)
plain = st.one_of(numbers, texts, st.just({"type": "boolean"}), st.just({"enum": ["x", 1, None]}))
nested = st.recursive(
    plain,
    lambda inner: st.one_of(
        st.builds(lambda part: {"type": "array", "items": part, "minItems": 1}, inner),
        st.dictionaries(st.sampled_from("abcd"), inner, max_size=3).map(lambda parts: schema_of(**parts)),
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from("klmno"), nested, max_size=4))
def test_generated_arguments_are_valid_and_damaged_ones_are_not(properties: dict[str, Any]) -> None:
    schema = schema_of(**properties)
    validator = compile_validator(schema)
    good = make_valid_arguments(schema)
    assert validator.is_valid(good)
    bad = list(make_invalid_arguments(schema, good, refuses_unknown=False))
    assert len(bad) >= min(len(properties), 5)
    for _, arguments in bad:
        assert not validator.is_valid(arguments)
