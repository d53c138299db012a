from __future__ import annotations

from typing import Any

import pytest

from pegboard.json_schema.compile import SchemaProblem, check_schema, compile_validator

DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def nested(depth: int, leaf: Any, key: str = "a") -> Any:
    for _ in range(depth):
        leaf = {key: leaf}
    return leaf


def refusal(schema: Any, where: str = "input_schema") -> str:
    with pytest.raises(SchemaProblem) as caught:
        check_schema(schema, where=where)
    return str(caught.value)


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": ["object", "null"]},
        of(mood={"type": "string", "enum": ["happy", "sad"]}),
        {"$schema": "http://json-schema.org/draft-07/schema", **of(a={"type": "string"})},
        {"$schema": "http://json-schema.org/draft-07/schema#", **of(a={"type": "string"})},
        {"$schema": DRAFT_2020, **of(a={"prefixItems": [{"type": "string"}]})},
        {"$id": "https://example.com/tool.json", **of(a={"$ref": "#/definitions/a"}), "definitions": {"a": {}}},
        of(a={"$id": "#/properties/a", "type": "string"}),
        of(children={"type": "array", "items": {"$ref": "#"}}),
        {**of(a={"$ref": "#/components/schemas/A"}), "components": {"schemas": {"A": {"type": "integer"}}}},
        {**of(a={"$ref": "#named"}), "definitions": {"x": {"$id": "#named"}}},
        {"$schema": DRAFT_2020, **of(a={"$ref": "#named"}), "$defs": {"x": {"$anchor": "named"}}},
        of(**{"$ref": {"type": "string"}}),
        of(a={"enum": [{"$ref": "https://example.com/x"}], "examples": [{"pattern": "("}]}),
        of(a={"type": "integer", "default": 3}, b={"$ref": "#/properties/a", "default": 4}),
        of(**{"a/b~c %": {"type": "integer", "default": 3}}),
    ],
)
def test_a_usable_schema_is_accepted(schema: dict[str, Any]) -> None:
    check_schema(schema, where="input_schema")


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ([], "input_schema: a schema must be a JSON object, but received"),
        (None, "input_schema: a schema must be a JSON object, but received"),
        (of(age={"type": "int"}), "input_schema at $.properties.age.type: must be one of: array, "),
        (of(a={"items": {"items": {"type": "text"}}}), "$.properties.a.items.items.type: must be one of: array"),
        ({"required": "a"}, "input_schema at $.required"),
        (of(a={"minLength": -1}), "input_schema at $.properties.a.minLength"),
        ({"$schema": "http://json-schema.org/draft-04/schema#"}, "use http://json-schema.org/draft-07/schema# or"),
        ({"$schema": "https://example.com/mine"}, DRAFT_2020),
        ({"$schema": 7}, "input_schema at $.$schema"),
        ({"type": "string"}, "must allow object"),
        ({"type": ["array", "null"]}, "must allow object"),
        (
            of(a={"$ref": "https://example.com/x.json"}),
            "$.properties.a.$ref: 'https://example.com/x.json' is not local",
        ),
        (of(a={"$ref": "file:///etc/passwd"}), "is not local"),
        (of(a={"$ref": "other.json#/definitions/x"}), "is not local"),
        ({"definitions": {"unused": {"$ref": "https://example.com/x"}}}, "is not local"),
        ({"$schema": DRAFT_2020, "$dynamicRef": "https://example.com/x"}, "is not local"),
        (of(a={"$ref": "#/definitions/x"}), "'#/definitions/x' names nothing in this schema"),
        (of(a={"$ref": "#nobody"}), "'#nobody' names nothing"),
        ({**of(a={"$ref": "#/definitions/x"}), "definitions": {"x": {"$id": "http://x/y"}}}, "$.definitions.x.$id"),
        (of(a={"pattern": "("}), "$.properties.a.pattern: the pattern '(' is not a regular expression that compiles"),
        ({"patternProperties": {"[": {}}}, "$.patternProperties"),
        (of(a={"pattern": "^.{1,100000}$"}), "maxLength instead"),
        ({"not": of(a={"pattern": "^(?!x)"})}, "uses look-around or a back-reference"),
        ({"patternProperties": {"(?=a)": {}}}, "uses look-around or a back-reference"),
        ({"description": "x" * 300_000}, "at most 262,144"),
        ({"enum": [[]] * 300_000}, "is larger than 256 KiB"),
        (nested(65, {}, "not"), "nested more than 64 levels deep"),
        (nested(10_000, {}, "not"), "nested more than 64 levels deep"),
        (of(a={"maximum": float("nan")}), "not JSON"),
        (of(a={"maximum": 2**64}), "beyond 64 bits"),
        ({1: {}}, "a key that is not a string"),
        (of(a={"enum": [object()]}), "a value of type object is not JSON"),
        (of(a={"enum": ["\ud800"]}), "cannot be written as JSON"),
        (of(a={"type": "integer", "default": "x"}), "$.properties.a.default: the default does not fit its own schema"),
        (of(a={"allOf": [{"$ref": "#/properties/b"}], "default": 1}, b={"type": "string"}), "the default does not fit"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_schema_that_cannot_be_used_is_refused_with_where_and_why(schema: Any, words: str) -> None:
    message = refusal(schema)
    assert message.startswith("input_schema")
    assert words in message


def test_an_output_may_be_of_any_type() -> None:
    check_schema({"type": "array"}, where="output_schema")
    assert refusal({"type": "foo"}, "output_schema").startswith("output_schema at $.type")


@pytest.mark.parametrize("reference", ["http://127.0.0.1:9/x", "file:///etc/hostname", "https://json-schema.org/x"])
def test_compiling_never_fetches_a_remote_reference(reference: str) -> None:
    with pytest.raises(ValueError, match="nothing is fetched"):
        compile_validator({"properties": {"a": {"$ref": reference}}})


def doubling(levels: int, last: Any) -> dict[str, Any]:
    """Return definitions that refer to the next one twice each, so that the work doubles at each level."""
    named = {f"d{i}": {"allOf": [{"$ref": f"#/definitions/d{i + 1}"}] * 2} for i in range(levels)}
    return {"$ref": "#/definitions/d0", "definitions": {**named, f"d{levels}": last}}


def test_references_that_multiply_are_refused_and_a_few_are_not() -> None:
    assert "expand to more than 20,000 schemas" in refusal(doubling(30, {"type": "object"}))
    check_schema(doubling(5, {"type": "object"}), where="input_schema")


def test_references_that_multiply_only_inside_values_are_refused_too() -> None:
    named = {
        f"d{i}": {"allOf": [{"properties": {"a": {"$ref": f"#/definitions/d{i + 1}"}}} for _ in range(2)]}
        for i in range(30)
    }
    schema = {"$ref": "#/definitions/d0", "definitions": {**named, "d30": {}}}
    assert "expand to more than 20,000 schemas" in refusal(schema)


def test_a_schema_of_too_many_parts_is_refused_before_they_are_checked() -> None:
    wrong = {"type": "nonsense"}
    assert "holds more than 20,000 schemas" in refusal({"anyOf": [wrong, *({} for _ in range(21_000))]})
    check_schema(of(a={"const": [{} for _ in range(21_000)]}), where="input_schema")


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"not": {"anyOf": [{"$ref": "#"}, {}]}},
        {"properties": {"a": {"$ref": "#/properties/b"}, "b": {"$ref": "#/properties/a"}}},
    ],
)
def test_a_schema_that_refers_to_itself_for_the_same_value_is_refused(schema: dict[str, Any]) -> None:
    assert "refers back to itself" in refusal(schema)


def test_a_long_chain_of_references_is_refused() -> None:
    named: dict[str, Any] = {f"d{i}": {"not": {"$ref": f"#/definitions/d{i + 1}"}} for i in range(2000)}
    schema = {"$ref": "#/definitions/d0", "definitions": {**named, "d2000": {}}}
    assert "more than 256 schemas for one value" in refusal(schema)


def test_a_recursive_schema_is_quick_on_deep_values() -> None:
    schema = {"allOf": [{"properties": {"a": {"$ref": "#"}}}, {"properties": {"a": {"$ref": "#"}}}, {"type": "object"}]}
    check_schema(schema, where="input_schema")
    validator = compile_validator(schema)
    assert validator.is_valid(nested(60, {}))
    assert not validator.is_valid(nested(60, 1))


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a+)+$", "a" * 1_000_000 + "!"),
        ("^(a|aa)+$", "a" * 1_000_000 + "!"),
        ("(x+x+)+y", "x" * 1_000_000),
        ("[ab]*a[ab]{3000}c", "ab" * 500_000),
        (r"(.*)*\1z", "a" * 8_000),
        ("^(?=(a+)+$)b", "a" * 1_000_000),
        ("^(?:(?=.*x)a|a)*$", "a" * 8_000),
    ],
)
def test_a_catastrophic_pattern_ends_and_never_passes_unchecked(pattern: str, text: str) -> None:
    schema = of(a={"pattern": pattern})
    check_schema(schema, where="input_schema")
    assert not compile_validator(schema).is_valid({"a": text})


def test_look_around_works_where_giving_up_means_refusing() -> None:
    schema = of(a={"pattern": r"^(?!\s*$).+"}, b={"anyOf": [{"pattern": r"^(?=.*\d).{8,}$"}, {"type": "null"}]})
    check_schema(schema, where="input_schema")
    validator = compile_validator(schema)
    assert validator.is_valid({"a": "word", "b": "longer than 8"})
    assert not validator.is_valid({"a": "   "})
    assert not validator.is_valid({"b": "no digit here"})
    assert not validator.is_valid({"a": "a" * 10_000})


def test_a_simple_pattern_takes_a_text_of_any_length() -> None:
    validator = compile_validator(of(a={"pattern": r"\S"}, b={"pattern": "^[A-Za-z0-9+/]+={0,2}$"}))
    assert validator.is_valid({"a": " " * 1_000_000 + "x", "b": "A" * 1_000_000})


def test_a_counted_pattern_takes_texts_as_long_as_it_needs() -> None:
    validator = compile_validator(of(a={"pattern": "^.{1,1000}$"}, b={"pattern": "^[0-9a-f]{64}$"}))
    assert validator.is_valid({"a": "é" * 1000, "b": "0" * 64})
    assert not validator.is_valid({"a": "é" * 1001})


def test_a_pattern_that_may_fail_is_matched_against_all_of_a_text() -> None:
    validator = compile_validator(of(a={"not": {"pattern": "x[0-9a-f]{64}$"}}))
    assert validator.is_valid({"a": "y" * 20_000})
    assert not validator.is_valid({"a": "y" * 20_000 + "x" + "0" * 64})


def test_patterns_that_are_too_large_together_are_refused() -> None:
    schema = of(**{f"p{n}": {"pattern": f"^.{{1,{900 - n}}}$"} for n in range(50)})
    assert "too large taken together" in refusal(schema)


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("2025-10-05T14:30:00Z", True),
        ("2025-10-05T14:30:00.123456+02:00", True),
        ("2025-10-05T14:30Z", True),
        ("2025-10-05T14:30-05:30", True),
        ("2024-02-29T00:00Z", True),
        ("2025-02-29T00:00Z", False),
        ("2025-10-05T25:00Z", False),
        ("2025-10-05T14:30:00", False),
        ("2025-10-05T14:30", False),
        ("2025-10-05", False),
        ("2025-10-05 at noon", False),
        ("", False),
    ],
)
def test_a_date_time_has_a_zone_and_may_leave_out_seconds(text: str, fits: bool) -> None:
    assert compile_validator(of(at={"format": "date-time"})).is_valid({"at": text}) is fits


@pytest.mark.parametrize(
    ("format_name", "good", "bad"),
    [
        ("email", "a@example.com", "a at example"),
        ("uuid", "550e8400-e29b-41d4-a716-446655440000", "550e"),
        ("ipv4", "127.0.0.1", "127.0.0.256"),
        ("date", "2024-02-29", "2025-02-29"),
    ],
)
def test_formats_are_asserted(format_name: str, good: str, bad: str) -> None:
    validator = compile_validator({"$schema": DRAFT_2020, **of(a={"format": format_name})})
    assert validator.is_valid({"a": good})
    assert not validator.is_valid({"a": bad})


def test_draft_7_is_read_unless_2020_12_is_stamped() -> None:
    schema = of(a={"prefixItems": [{"type": "string"}]})
    assert compile_validator(schema).is_valid({"a": [1]})
    assert not compile_validator({"$schema": DRAFT_2020, **schema}).is_valid({"a": [1]})


@pytest.mark.parametrize(
    ("value", "fits"),
    [(1, True), (1.0, True), (-(2**63), True), (2**64 - 1, True), (1.5, False), (True, False), ("1", False)],
)
def test_an_integer_is_any_whole_number_and_no_boolean(value: Any, fits: bool) -> None:
    assert compile_validator(of(a={"type": "integer"})).is_valid({"a": value}) is fits
