"""Validation that would take too long is refused before it begins; ordinary input of any size is not."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from pegboard.contract.envelope_rules import PayloadRules
from pegboard.json_schema import argument_problems
from pegboard.json_schema.argument_problems import find_tag, list_problems
from pegboard.json_schema.compile import BoundedValidator, SchemaProblem, check_schema
from pegboard.json_schema.defaults import read_defaults
from pegboard.json_schema.read_arguments import ArgumentChecker
from pegboard.json_schema.schema_document import SchemaDocument
from pegboard.json_schema.validation_cost import MAX_CHECKS, TooCostly, compute_cost
from pegboard.kinds.table.arguments import TableArgumentChecker
from pegboard.model.call_errors import MalformedArguments, ResultTooLarge
from pegboard.model.tool import Kind, Tool
from pegboard.registry.compiled_tool import CompiledTool
from pegboard.stages.check_output import OutputChecker
from tests.unit.kinds.table.make_tools import tools

DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def items(**schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": {"type": "array", "items": schema}}}


def nested(depth: int, value: Any = 1) -> Any:
    for _ in range(depth):
        value = {"a": value, "k": 1}
    return value


def unevaluated(depth: int) -> dict[str, Any]:
    """Return a schema of which each level is evaluated twice: two to the power of the depth in total."""
    levels: dict[str, Any] = {
        f"l{level}": {
            "anyOf": [
                {"properties": {"a": {"$ref": f"#/$defs/l{level + 1}"}}, "required": ["a"]},
                {"properties": {"k": True}},
            ],
            "unevaluatedProperties": {"type": "integer"},
        }
        for level in range(depth)
    }
    levels[f"l{depth}"] = {"type": "integer"}
    return {"$schema": DRAFT_2020, "type": "object", "$defs": levels, "$ref": "#/$defs/l0"}


def mutual(count: int) -> dict[str, Any]:
    """Return schemas that all refer to all others, in a union each."""
    union = [{"$ref": f"#/definitions/d{index}"} for index in range(count)]
    one = {"type": "object", "required": ["k"], "properties": {"a": {"anyOf": union}}}
    return {"definitions": {f"d{index}": dict(one) for index in range(count)}, "$ref": "#/definitions/d0"}


def expression(kinds: int) -> dict[str, Any]:
    """Return a recursive union in one definition, as for expressions and trees."""
    union = [
        {"type": "object", "properties": {"op": {"const": f"op{kind}"}, "of": {"$ref": "#/definitions/e"}}}
        for kind in range(kinds)
    ]
    whole = {"anyOf": [*union, {"type": "integer"}]}
    return {"type": "object", "definitions": {"e": whole}, "properties": {"e": {"$ref": "#/definitions/e"}}}


SLOW_PATTERN = "^(?:[ab]{1,40}\\s?){100}q$"

TOO_COSTLY = {
    "a union of thousands of branches": (
        items(anyOf=[{"const": number} for number in range(4000)]), {"a": [-1] * 20_000},
    ),
    "a union with properties": (
        items(anyOf=[{"required": ["x"], "properties": {"x": {"const": n}}} for n in range(3000)]),
        {"a": [{"x": -1}] * 1000},
    ),
    "an enum of objects": (items(enum=[{"x": number} for number in range(3000)]), {"a": [{"x": -1}] * 1000}),
    "a slow pattern": (items(pattern=SLOW_PATTERN), {"a": ["ab" * 500] * 10}),
    "patterns for every key": (
        {"type": "object", "patternProperties": {f"x{n}.*y": {"type": "null"} for n in range(500)}},
        {f"key{n}": 1 for n in range(20_000)},
    ),
    "what is evaluated twice at each level": (unevaluated(40), nested(40)),
    "schemas that all refer to each other": (mutual(20), nested(12)),
    "a recursive union with thousands of branches": (expression(2000), {"e": {"op": "x", "of": {"of": [1] * 2000}}}),
}  # fmt: skip

ORDINARY = {
    "an embedding": (items(type="number"), {"a": [0.123] * 150_000}),
    "as many integers as fit": (items(type="integer", minimum=0), {"a": [1] * 500_000}),
    "rows of nullable fields": (
        items(type="object", required=["id"], properties={
            "id": {"type": "integer"},
            **{f"f{n}": {"anyOf": [{"type": "string", "maxLength": 99}, {"type": "null"}]} for n in range(5)},
        }),
        {"a": [{"id": 1, "f0": "abc", "f1": None, "f2": "x" * 20}] * 12_000},
    ),
    "a long list of options": (items(enum=[f"option {n}" for n in range(5000)]), {"a": ["option 4999"] * 20_000}),
    "a large text": ({"type": "object", "properties": {"a": {"type": "string"}}}, {"a": "x" * 1_000_000}),
    "texts of one kind of character": (items(pattern="^.{1,500}$"), {"a": ["x" * 400] * 2000}),
    "identifiers": (items(pattern="^[A-Z]{3}-[0-9]{4}$"), {"a": ["ABC-1234"] * 20_000}),
    "a deep expression": (expression(20), {"e": {"op": "op1", "of": {"op": "op2", "of": {"op": "op19", "of": 7}}}}),
    "schemas that refer to each other, a little deep": (mutual(5), nested(5, {"k": 1})),
    "objects that refer to each other": (
        {"definitions": {
            f"d{n}": {"type": "object", "properties": {f"p{m}": {"$ref": f"#/definitions/d{m}"} for m in range(7)}}
            for n in range(7)
        }, "$ref": "#/definitions/d0"},
        {"p1": {"p2": {"p3": {"p4": {f"p{n}": {} for n in range(7)}}}}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", TOO_COSTLY)
def test_arguments_that_would_take_too_long_are_refused(case: str) -> None:
    schema, arguments = TOO_COSTLY[case]
    check_schema(schema, where="input_schema")
    with pytest.raises(MalformedArguments, match="more than 2,000,000 checks") as caught:
        ArgumentChecker(schema).check(arguments, len(orjson.dumps(arguments)))
    assert caught.value.problem.type == "VALIDATION_ERROR" and len(caught.value.message) < 400


@pytest.mark.parametrize("case", ORDINARY)
@pytest.mark.parametrize("knows_size", [True, False])
def test_ordinary_arguments_are_not_refused_however_large(case: str, knows_size: bool) -> None:
    schema, arguments = ORDINARY[case]
    check_schema(schema, where="input_schema")
    size = len(orjson.dumps(arguments)) if knows_size else None
    assert ArgumentChecker(schema).check(arguments, size) is arguments


def test_what_a_tool_presets_counts_too() -> None:
    schema, arguments = TOO_COSTLY["a union of thousands of branches"]
    with pytest.raises(MalformedArguments, match="checks"):
        ArgumentChecker(schema, presets=arguments).check({}, 2)


def test_an_output_that_would_take_too_long_is_refused_and_not_tried_again() -> None:
    schema, output = TOO_COSTLY["a union of thousands of branches"]
    tool = Tool("id", "owner", "quote", Kind.MOCK, {}, {}, NOW, NOW, output_schema=schema)
    compiled = CompiledTool(tool, lambda _: (_ for _ in ()).throw(AssertionError("not run here")))
    with pytest.raises(ResultTooLarge, match="too large for its output schema"):
        OutputChecker(max_bytes=2**20).check(compiled, output)


def test_a_default_that_would_take_too_long_is_refused_at_registration() -> None:
    part = items(anyOf=[{"const": number} for number in range(4000)])["properties"]["a"]
    schema = {"type": "object", "properties": {"a": {**part, "default": [-1] * 20_000}}}
    with pytest.raises(SchemaProblem, match=r"properties\.a\.default: validation would take more than"):
        check_schema(schema, where="input_schema")


def test_rows_that_would_take_too_long_are_refused() -> None:
    options: list[Any] = [*range(2000), *(f"option {number}" for number in range(2000))]
    tool = tools({"name": "a", "dataType": "text", "required": True}, batch=True)[1]
    schema = deepcopy(tool.input_schema)
    schema["properties"]["rows"]["items"]["properties"]["a"]["enum"] = options
    with pytest.raises(MalformedArguments, match="checks"):
        TableArgumentChecker(replace(tool, input_schema=schema)).check({"rows": [{"a": "x"}] * 1000}, 10_200)


def test_a_payload_that_would_take_too_long_breaks_the_contract() -> None:
    schema, payload = TOO_COSTLY["a union of thousands of branches"]
    (rule,) = PayloadRules(schema).broken(payload)
    assert "more than 2,000,000 checks" in rule


def test_the_cost_of_a_value_is_values_times_schemas() -> None:
    schema = items(anyOf=[{"type": "integer", "minimum": n} for n in range(99)])
    validator = BoundedValidator(schema)
    fitting = int(MAX_CHECKS / 101)
    assert validator.is_valid({"a": [100] * (fitting - 100)})
    with pytest.raises(TooCostly):
        validator.is_valid({"a": [100] * (fitting + 100)})


def test_the_size_of_small_arguments_is_enough_to_know() -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 99}, "days": {"type": "integer"}},
    }
    assert compute_cost(SchemaDocument(schema), schema).per_byte * 100_000 < MAX_CHECKS


def test_problems_are_searched_for_within_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = items(type="integer")
    assert list_problems(BoundedValidator(schema), {"a": ["x"]})[0].field == "a[0]"
    monkeypatch.setattr(argument_problems, "MAX_SECONDS", -1.0)
    (problem,) = list_problems(BoundedValidator(schema), {"a": ["x"]})
    assert problem.message == "Arguments must fit the schema of this tool"


def test_the_forms_of_a_union_are_compared_without_a_product_of_names_and_forms() -> None:
    names = {f"n{number}": {"const": number} for number in range(3000)}
    asked: list[Any] = []

    def meant(node: Any) -> Any:
        asked.append(node)
        return node

    nodes = [{"properties": names}, *({"properties": {}} for _ in range(3000))]
    value = dict.fromkeys(names, 1)
    assert find_tag(nodes, value, meant) is None
    assert len(asked) <= 2 * len(names)


def test_the_defaults_of_many_parts_are_found() -> None:
    schema = {"allOf": [{"properties": {f"p{n}": {"default": n}}} for n in range(5000)]}
    filled = read_defaults(SchemaDocument(schema)).fill({})
    assert len(filled) == 5000 and filled["p4999"] == 4999
