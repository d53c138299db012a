from __future__ import annotations

import copy
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_jsonschema import from_schema

from pegboard.json_schema.read_arguments import ArgumentChecker, check_arguments_extent
from pegboard.model.call_errors import InvalidArguments, MalformedArguments

DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"
AB: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}


def get_error(arguments: ArgumentChecker, given: dict[str, Any]) -> InvalidArguments:
    with pytest.raises(InvalidArguments) as caught:
        arguments.check(given)
    return caught.value


class TestUnknownParameters:
    def test_they_are_dropped_before_validation_by_default(self) -> None:
        given = {"a": 1, "x": object()}
        assert ArgumentChecker(AB).check(given) == {"a": 1}
        assert set(given) == {"a", "x"}

    def test_they_are_refused_by_name_if_the_tool_rejects_them(self) -> None:
        error = get_error(ArgumentChecker(AB, unknown="reject"), {"a": 1, "bb": 2})
        assert error.message == "Invalid parameters: Field 'bb' is not known; did you mean 'b'?"
        assert error.problem.code == "unrecognized_keys"

    def test_they_are_refused_together_with_every_other_fault(self) -> None:
        error = get_error(ArgumentChecker({**AB, "required": ["b"]}, unknown="reject"), {"x": 1, "a": "no", "aa": 1})
        assert [(problem.code, problem.field) for problem in error.problems] == [
            ("missing", "b"),
            ("invalid_type", "a"),
            ("unrecognized_keys", "aa"),
            ("unrecognized_keys", "x"),
        ]

    @pytest.mark.parametrize("unknown", ["ignore", "reject"])
    def test_a_schema_that_forbids_them_always_refuses_them(self, unknown: Literal["ignore", "reject"]) -> None:
        error = get_error(ArgumentChecker({**AB, "additionalProperties": False}, unknown=unknown), {"a": 1, "bb": 2})
        assert error.message == "Invalid parameters: Field 'bb' is not known; did you mean 'b'?"
        assert error.problem.code == "unrecognized_keys"

    @pytest.mark.parametrize("unknown", ["ignore", "reject"])
    @pytest.mark.parametrize(
        "schema",
        [
            {},
            {"type": "object"},
            {"required": ["x"]},
            {**AB, "additionalProperties": True},
            {**AB, "additionalProperties": {"type": "integer"}},
            {**AB, "patternProperties": {"^x": {"type": "integer"}}},
            {"$schema": DRAFT_2020, **AB, "unevaluatedProperties": {"type": "integer"}},
            {**AB, "allOf": [{"additionalProperties": True}]},
            {**AB, "required": ["x"]},
            {"allOf": [AB, {"properties": {"x": {"type": "integer"}}}]},
            {"anyOf": [AB, {"properties": {"x": {"type": "integer"}}}]},
            {"oneOf": [{**AB, "required": ["b"]}, {"properties": {"x": {}}, "required": ["x"]}]},
            {**AB, "if": {"properties": {"a": {"const": 1}}}, "then": {"properties": {"x": {"type": "integer"}}}},
            {"$ref": "#/definitions/p", "definitions": {"p": {"properties": {"a": {}, "x": {}}}}},
            {**AB, "dependencies": {"a": ["x"]}},
            {**AB, "dependencies": {"a": {"properties": {"x": {"type": "integer"}}}}},
            {"$schema": DRAFT_2020, **AB, "dependentRequired": {"a": ["x"]}},
        ],
    )
    def test_what_the_schema_speaks_of_anywhere_is_kept(
        self, schema: dict[str, Any], unknown: Literal["ignore", "reject"]
    ) -> None:
        given = {"a": 1, "x": 5}
        assert ArgumentChecker(schema, unknown=unknown).check(given) is given

    def test_a_schema_that_declares_no_parameters_drops_all(self) -> None:
        assert ArgumentChecker({"type": "object", "properties": {}}).check({"a": 1}) == {}

    def test_only_the_top_level_is_examined(self) -> None:
        given = {"o": {"x": 1}}
        assert ArgumentChecker({"properties": {"o": AB}}).check(given) is given


class TestPresets:
    def test_they_lie_under_the_arguments(self) -> None:
        arguments = ArgumentChecker(AB, presets={"a": 14, "b": "x"})
        assert arguments.check({"a": 7}) == {"a": 7, "b": "x"}

    def test_a_declared_one_satisfies_required_and_is_validated(self) -> None:
        schema = {**AB, "required": ["a"]}
        assert ArgumentChecker(schema, presets={"a": 14}).check({}) == {"a": 14}
        assert get_error(ArgumentChecker(schema, presets={"a": "x"}), {}).problem.code == "invalid_type"

    @pytest.mark.parametrize("schema", [AB, {**AB, "additionalProperties": False}])
    @pytest.mark.parametrize("unknown", ["ignore", "reject"])
    def test_an_undeclared_one_bypasses_validation(
        self, schema: dict[str, Any], unknown: Literal["ignore", "reject"]
    ) -> None:
        assert ArgumentChecker(schema, unknown=unknown, presets={"period": 14}).check({"a": 1}) == {
            "a": 1,
            "period": 14,
        }

    def test_they_come_before_defaults(self) -> None:
        schema = {"properties": {"a": {"default": 1}, "b": {"default": 2}}}
        assert ArgumentChecker(schema, presets={"a": 3}).check({}) == {"a": 3, "b": 2}

    def test_a_caller_cannot_change_them(self) -> None:
        arguments = ArgumentChecker(AB, presets={"beside": [1]})
        arguments.check({})["beside"].append(2)
        assert arguments.check({}) == {"beside": [1]}


class TestDefaults:
    @pytest.mark.parametrize(
        ("schema", "given", "result"),
        [
            ({"properties": {"a": {"default": 1}}}, {}, {"a": 1}),
            ({"properties": {"a": {"default": None}}}, {}, {"a": None}),
            ({"properties": {"a": {"default": 1}}}, {"a": None}, {"a": None}),
            ({"properties": {"o": {"properties": {"z": {"default": 1}}}}}, {"o": {}}, {"o": {"z": 1}}),
            ({"properties": {"o": {"properties": {"z": {"default": 1}}}}}, {}, {}),
            ({"properties": {"o": {"properties": {"z": {"default": 1}}}}}, {"o": 5}, {"o": 5}),
            (
                {"properties": {"l": {"items": {"properties": {"z": {"default": 1}}}}}},
                {"l": [{}, {"z": 2}, 3]}, {"l": [{"z": 1}, {"z": 2}, 3]},
            ),
            (
                {
                    "properties": {"o": {"$ref": "#/definitions/o"}},
                    "definitions": {"o": {"properties": {"z": {"default": 1}}}},
                },
                {"o": {}}, {"o": {"z": 1}},
            ),
            (
                {"properties": {"o": {"anyOf": [{"properties": {"z": {"default": 1}}}, {"type": "null"}]}}},
                {"o": {}}, {"o": {"z": 1}},
            ),
            (
                {"properties": {"o": {"anyOf": [{"properties": {"z": {"default": 1}}}, {"properties": {"y": {}}}]}}},
                {"o": {}}, {"o": {}},
            ),
            ({"allOf": [{"properties": {"a": {"default": 1}}}]}, {}, {"a": 1}),
            ({"properties": {"a": {"default": 1}, "n": {"$ref": "#"}}}, {"n": {"n": {"a": 2}}},
                {"a": 1, "n": {"a": 1, "n": {"a": 2}}}),
            ({"properties": {"n": {"$ref": "#", "default": {}}}}, {}, {"n": {}}),
        ],
    )  # fmt: skip
    def test_they_fill_what_is_absent(
        self, schema: dict[str, Any], given: dict[str, Any], result: dict[str, Any]
    ) -> None:
        before = copy.deepcopy(given)
        assert ArgumentChecker(schema).check(given) == result
        assert given == before

    def test_nothing_is_copied_if_nothing_is_absent(self) -> None:
        schema = {
            "properties": {
                "a": {"default": 1},
                "o": {"properties": {"z": {"default": 1}}},
                "l": {"items": {"properties": {"z": {"default": 1}}}},
            }
        }
        given = {"a": 2, "o": {"z": 3}, "l": [{"z": 4}]}
        assert ArgumentChecker(schema).check(given) is given

    def test_a_required_parameter_is_missing_although_it_has_a_default(self) -> None:
        error = get_error(ArgumentChecker({"properties": {"a": {"default": 1}}, "required": ["a"]}), {})
        assert error.message == "Invalid parameters: missing 'a'"

    def test_a_caller_cannot_change_them(self) -> None:
        arguments = ArgumentChecker({"properties": {"a": {"default": {"x": [1]}}}})
        arguments.check({})["a"]["x"].append(2)
        assert arguments.check({}) == {"a": {"x": [1]}}


def test_arguments_that_need_no_change_return_unchanged() -> None:
    given = {"a": 1, "b": "x"}
    assert ArgumentChecker({**AB, "required": ["a"]}).check(given) is given


def test_a_value_that_is_not_json_is_refused_even_unmeasured() -> None:
    with pytest.raises(MalformedArguments, match="must be JSON"):
        ArgumentChecker(AB).check({"a": {1, 2}})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)


ORDER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "minLength": 1, "maxLength": 20, "pattern": "^[a-z0-9-]+$"},
        "count": {"type": "integer", "minimum": 1, "maximum": 100},
        "price": {"type": "number", "exclusiveMinimum": 0},
        "state": {"enum": ["open", "paid", None]},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3, "uniqueItems": True},
        "address": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "zip": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
    "required": ["id", "count"],
    "additionalProperties": False,
}
WAYS = [
    ArgumentChecker(ORDER),
    ArgumentChecker(ORDER, unknown="reject"),
    ArgumentChecker({**ORDER, "additionalProperties": True}),
]


def objects(schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    # from_schema itself cannot make objects with this version of hypothesis.
    parts = {
        name: objects(part) if part.get("type") == "object" else from_schema(part)
        for name, part in schema["properties"].items()
    }
    required = {name: parts.pop(name) for name in schema["required"]}
    return st.fixed_dictionaries(required, optional=parts)


@given(objects(ORDER))
def test_valid_arguments_pass_unchanged(given_arguments: Any) -> None:
    before = copy.deepcopy(given_arguments)
    for way in WAYS:
        assert way.check(given_arguments) is given_arguments
    assert given_arguments == before


ORDER_LIKE = st.fixed_dictionaries({}, optional=dict.fromkeys(ORDER["properties"], JSON))


@given(ORDER_LIKE | st.dictionaries(st.text(), JSON, max_size=5))
def test_any_arguments_pass_or_are_refused_with_reasons(given_arguments: dict[str, Any]) -> None:
    before = copy.deepcopy(given_arguments)
    for way in WAYS:
        try:
            check_arguments_extent(given_arguments, max_depth=64)
            way.check(given_arguments)
        except InvalidArguments as error:
            assert error.problems
            assert error.message.startswith("Invalid parameters: ")
        except MalformedArguments as error:
            assert error.message
    assert given_arguments == before
