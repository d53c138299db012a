from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator  # type: ignore[import-untyped]  # it ships no types

from pegboard.json_schema import argument_problems
from pegboard.json_schema.argument_problems import list_problems
from pegboard.json_schema.compile import BoundedValidator
from pegboard.model.call_errors import FieldProblem

DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


def of(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def problems(schema: dict[str, Any], arguments: Any) -> list[FieldProblem]:
    return list_problems(BoundedValidator(schema), arguments)


def only(schema: dict[str, Any], arguments: Any) -> FieldProblem:
    (problem,) = problems(schema, arguments)
    return problem


@pytest.mark.parametrize(
    ("schema", "arguments", "fields"),
    [
        (of(items={"items": of(price={"type": "number"})}), {"items": [{}, {}, {"price": "x"}]}, ["items[2].price"]),
        (of(a={"items": [{}, {"type": "string"}], "additionalItems": {"type": "null"}}), {"a": [1, 2, 3]},
            ["a[1]", "a[2]"]),
        ({"$schema": DRAFT_2020, **of(a={"prefixItems": [{}], "items": {"type": "null"}})}, {"a": [1, 2]}, ["a[1]"]),
        ({"additionalProperties": {"type": "integer"}}, {"a": 1, "b": "x"}, ["b"]),
        ({"patternProperties": {"^n_": {"type": "integer"}}}, {"n_1": "x", "m": "x"}, ["n_1"]),
        ({**of(a={}), "additionalProperties": False, "patternProperties": {"^x-": {}}}, {"x-y": 1, "y": 2}, ["y"]),
        ({**of(a={}, b={}), "dependencies": {"a": ["b"], "b": of("c")}}, {"a": 1}, ["b"]),
        ({**of(a={}, b={}), "dependencies": {"a": ["b"], "b": of("c")}}, {"b": 1}, ["c"]),
        ({"$schema": DRAFT_2020, "dependentRequired": {"a": ["b"]}}, {"a": 1}, ["b"]),
        ({"$schema": DRAFT_2020, **of(a={}), "unevaluatedProperties": False}, {"a": 1, "b": 1}, ["b"]),
        (
            {**of(a={"$ref": "#/definitions/n"}), "definitions": {"n": of("k", k={"type": "integer"})}},
            {"a": {"k": "x"}}, ["a.k"],
        ),
        (of(**{"a.b": {"type": "string"}, "c d": {"type": "string"}}), {"a.b": 1, "c d": 1}, ["a.b", "c d"]),
    ],
)  # fmt: skip
def test_a_problem_names_the_field_by_its_path(schema: dict[str, Any], arguments: Any, fields: list[str]) -> None:
    assert [problem.field for problem in problems(schema, arguments)] == fields


def test_a_value_too_deep_to_explain_is_still_a_problem() -> None:
    deep: Any = "x"
    for _ in range(500):
        deep = [deep]
    assert only(of(x={"type": "boolean"}), {"x": deep}).code == "custom"


def test_what_no_rule_explains_is_still_a_problem() -> None:
    schema = {"$schema": DRAFT_2020, **of(a={"unevaluatedItems": False})}
    (problem,) = problems(schema, {"a": [1]})
    assert problem.code == "custom"
    assert problem.message == "Arguments must fit the schema of this tool"


SHAPES = {
    **of("shape", shape={"oneOf": [{"$ref": "#/definitions/circle"}, {"$ref": "#/definitions/square"}]}),
    "definitions": {
        "circle": of("kind", "radius", kind={"const": "circle"}, radius={"type": "number"}),
        "square": of("kind", "side", kind={"const": "square"}, side={"type": "number"}),
    },
}


def test_a_form_chosen_by_its_constant_is_the_one_explained() -> None:
    problem = only(SHAPES, {"shape": {"kind": "square"}})
    assert (problem.code, problem.field) == ("missing", "shape.side")


def test_a_constant_that_chooses_no_form_is_reported_with_its_options() -> None:
    problem = only(SHAPES, {"shape": {"kind": "triangle"}})
    assert problem.message == "Field 'shape.kind' must be one of: circle, square, but received 'triangle'"


def test_the_nearest_form_is_the_one_that_lacks_least() -> None:
    schema = {"anyOf": [of("a", "b", "c"), of("a", "d")]}
    problem = only(schema, {"a": 1})
    assert problem == FieldProblem(
        "invalid_union", "Arguments must fit one of 2 forms; nearest: missing 'd'", None, "object", '{"a": 1}'
    )


def test_one_bad_item_at_the_end_of_a_long_array_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(argument_problems, "MAX_SECONDS", 60.0)  # on a slow machine this takes longer than the limit
    schema = of(a={"items": of("n", n={"type": "integer"})})
    assert only(schema, {"a": [{"n": 1}] * 30_000 + [{"n": "x"}]}).field == "a[30000].n"


def test_deep_faults_of_recursive_schemas_are_explained_at_once() -> None:
    expression = {
        "oneOf": [
            {"type": "number"},
            *(of("op", "left", op={"const": op}, left={"$ref": "#/definitions/e"}) for op in ("add", "sub", "mul")),
        ]
    }
    value: Any = "bad"
    for _ in range(60):
        value = {"op": "sub", "left": value}
    problem = only({"$ref": "#/definitions/e", "definitions": {"e": expression}}, value)
    assert problem.message.endswith("must be: number or object, but received 'bad'")
    twice = {"allOf": [{"properties": {"a": {"$ref": "#"}}}, {"properties": {"a": {"$ref": "#"}}}, {"type": "object"}]}
    value = 1
    for _ in range(60):
        value = {"a": value}
    assert len(problems(twice, value)) == 1


NAMES = st.sampled_from(["a", "b", "c"])
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0, "", "a", "bb", "ccc"])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=6
)
KINDS = st.sampled_from(["object", "array", "string", "integer", "number", "boolean", "null"])


def schemas_around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    count = st.integers(0, 2)
    lists = st.lists(inner, min_size=1, max_size=3)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": KINDS, "enum": st.lists(SCALARS, min_size=1, max_size=3), "const": SCALARS, "minimum": count,
            "exclusiveMaximum": count, "minLength": count, "maxLength": count, "pattern": st.sampled_from(["^a", "b+"]),
            "minItems": count, "maxItems": count, "uniqueItems": st.booleans(), "maxProperties": count,
            "required": st.lists(NAMES, unique=True), "properties": st.dictionaries(NAMES, inner, max_size=3),
            "patternProperties": st.dictionaries(st.just("^a"), inner), "additionalProperties": inner,
            "propertyNames": inner, "items": inner | lists, "contains": inner, "allOf": lists,
            "anyOf": lists, "oneOf": lists, "not": inner, "if": inner, "then": inner, "else": inner,
            "$ref": st.just("#/definitions/x"),
            "dependencies": st.dictionaries(NAMES, inner | st.lists(NAMES, unique=True), max_size=2),
        },
    )  # fmt: skip


LEAVES = st.booleans() | st.fixed_dictionaries({"type": KINDS})


@given(schemas_around(schemas_around(LEAVES) | LEAVES), schemas_around(LEAVES), VALUES)
def test_there_are_problems_exactly_where_the_specification_says_so(
    schema: dict[str, Any], definition: dict[str, Any], value: Any
) -> None:
    whole = {**schema, "definitions": {"x": {word: held for word, held in definition.items() if word != "$ref"}}}
    found = problems(whole, value)
    assert bool(found) is not Draft7Validator(whole).is_valid(value)
    assert found == problems(whole, value)
    assert all(problem.message and problem.code for problem in found)
