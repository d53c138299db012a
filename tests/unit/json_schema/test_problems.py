from __future__ import annotations

from typing import Any

import pytest

from pegboard.json_schema import argument_problems
from pegboard.json_schema.argument_problems import build_invalid_arguments, list_problems
from pegboard.json_schema.compile import BoundedValidator
from pegboard.model.call_errors import ErrorType, FieldProblem

DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


def of(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def problems(schema: dict[str, Any], arguments: Any) -> list[FieldProblem]:
    return list_problems(BoundedValidator(schema), arguments)


def only(schema: dict[str, Any], arguments: Any) -> FieldProblem:
    (problem,) = problems(schema, arguments)
    return problem


MOOD = of(
    "user_id",
    "mood",
    "energy_level",
    user_id={"type": "string", "maxLength": 50},
    mood={"type": "string", "enum": ["happy", "sad", "neutral", "anxious"]},
    energy_level={"type": "integer", "minimum": 1, "maximum": 10},
    notes={"type": "string", "maxLength": 500},
    timestamp={"type": "string", "format": "date-time"},
    is_active={"type": "boolean"},
    metadata={"type": "object"},
    temperature={"type": "number", "multipleOf": 0.01},
)
GOOD = {"user_id": "user_123", "mood": "happy", "energy_level": 8}


@pytest.mark.parametrize(
    ("field", "value", "code", "message", "expected", "received"),
    [
        (
            "energy_level", 15, "too_big",
            "Field 'energy_level' must be between 1 and 10, but received 15", "integer between 1 and 10", "15",
        ),
        (
            "energy_level", 0, "too_small",
            "Field 'energy_level' must be between 1 and 10, but received 0", "integer between 1 and 10", "0",
        ),
        (
            "energy_level", "abc", "invalid_type",
            "Field 'energy_level' must be an integer between 1 and 10, but received 'abc'",
            "integer between 1 and 10", "abc",
        ),
        (
            "energy_level", 1.5, "invalid_type",
            "Field 'energy_level' must be an integer between 1 and 10, but received 1.5",
            "integer between 1 and 10", "1.5",
        ),
        (
            "notes", "x" * 501, "too_big",
            "Field 'notes' exceeds maximum length of 500 characters", "string of at most 500 characters",
            "x" * 99 + "…",
        ),
        (
            "mood", "angry", "invalid_enum_value",
            "Field 'mood' must be one of: happy, sad, neutral, anxious, but received 'angry'",
            "one of: happy, sad, neutral, anxious", "angry",
        ),
        ("mood", 5, "invalid_enum_value",
            "Field 'mood' must be one of: happy, sad, neutral, anxious, but received 5",
            "one of: happy, sad, neutral, anxious", "5",
        ),
        (
            "is_active", "yes", "invalid_type",
            "Field 'is_active' must be true or false, but received 'yes'", "true or false", "yes",
        ),
        (
            "timestamp", "yesterday", "invalid_string",
            "Field 'timestamp' must be a valid ISO 8601 datetime, but received 'yesterday'; "
            "write it as 2025-10-05T14:30:00Z", "ISO 8601 date-time", "yesterday",
        ),
        (
            "timestamp", 5, "invalid_type",
            "Field 'timestamp' must be a valid ISO 8601 datetime, but received 5", "ISO 8601 date-time", "5",
        ),
        (
            "metadata", [1, {"a": None}], "invalid_type",
            "Field 'metadata' must be a valid JSON object, but received [1, {\"a\": null}]", "object",
            '[1, {"a": null}]',
        ),
        (
            "temperature", 36.625, "not_multiple_of",
            "Field 'temperature' must be a number with max 2 decimal places, but received 36.625",
            "number with at most 2 decimal places", "36.625",
        ),
        (
            "user_id", None, "invalid_type",
            "Field 'user_id' must be a string of at most 50 characters, but received null",
            "string of at most 50 characters", "null",
        ),
    ],
)  # fmt: skip
def test_each_data_type_has_its_text(
    field: str, value: Any, code: str, message: str, expected: str, received: str
) -> None:
    problem = only(MOOD, {**GOOD, field: value})
    assert problem == FieldProblem(code, message, field, expected, received)


@pytest.mark.parametrize(
    ("schema", "value", "code", "message", "expected"),
    [
        ({"minimum": 5}, 1, "too_small", "must be at least 5, but received 1", "number of at least 5"),
        ({"maximum": 5.0}, 6, "too_big", "must be at most 5, but received 6", "number of at most 5"),
        ({"type": "number", "exclusiveMinimum": 0}, 0, "too_small", "must be greater than 0, but received 0",
            "number greater than 0"),
        ({"exclusiveMaximum": 1}, 1, "too_big", "must be less than 1, but received 1", "number less than 1"),
        ({"exclusiveMinimum": 0, "maximum": 9}, 10, "too_big",
            "must be greater than 0 and at most 9, but received 10", "number greater than 0 and at most 9"),
        ({"multipleOf": 5}, 7, "not_multiple_of", "must be a multiple of 5, but received 7", "multiple of 5"),
        ({"multipleOf": 0.1}, 0.25, "not_multiple_of",
            "must be a number with max 1 decimal place, but received 0.25", "number with at most 1 decimal place"),
        ({"minLength": 1}, "", "too_small", "must not be empty", "string of at least 1 character"),
        ({"minLength": 2, "maxLength": 5}, "a", "too_small",
            "must have at least 2 characters, but received 'a'", "string of 2 to 5 characters"),
        ({"pattern": "^[A-Z]{3}$"}, "ab", "invalid_string",
            "must match the pattern ^[A-Z]{3}$, but received 'ab'", "string matching the pattern ^[A-Z]{3}$"),
        ({"format": "email"}, "nobody", "invalid_string",
            "must be a valid email address, but received 'nobody'", "email address"),
        ({"format": "date"}, "5 May", "invalid_string",
            "must be a valid ISO 8601 date, but received '5 May'; write it as 2025-10-05", "ISO 8601 date"),
        ({"format": "json-pointer"}, "a", "invalid_string",
            "must be a valid json-pointer, but received 'a'", "json-pointer"),
        ({"contentEncoding": "base64"}, "?", "invalid_string",
            "must be text encoded as base64, but received '?'", "text encoded as base64"),
        ({"const": "v1"}, 2, "invalid_literal", "must be 'v1', but received 2", "v1"),
        ({"const": 1}, "1", "invalid_literal", "must be 1, but received '1'", "1"),
        ({"type": ["string", "null"]}, 5, "invalid_type", "must be a string or null, but received 5", "string or null"),
        ({"type": "array"}, {}, "invalid_type", "must be an array, but received {}", "array"),
        ({"minItems": 2}, [1], "too_small", "must have at least 2 items, but received 1", "array of at least 2 items"),
        ({"maxItems": 1}, [1, 2], "too_big", "must have at most 1 item, but received 2", "array of at most 1 item"),
        ({"uniqueItems": True}, [1, 1.0], "custom", "must not hold the same item twice", "array of different items"),
        ({"contains": {"type": "string"}}, [1], "custom",
            "must contain at least 1 of: string, but received 0", "at least 1 of: string"),
        ({"minProperties": 1}, {}, "too_small", "must have at least 1 field, but received 0",
            "object of at least 1 field"),
        ({"maxProperties": 1}, {"a": 1, "b": 2}, "too_big", "must have at most 1 field, but received 2",
            "object of at most 1 field"),
        ({"propertyNames": {"pattern": "^[a-z]+$"}}, {"A": 1}, "custom",
            "must not have the key 'A'; a key must be: string matching the pattern ^[a-z]+$",
            "string matching the pattern ^[a-z]+$"),
        ({"not": {"type": "integer"}}, 1, "custom", "must not be: integer, but received 1", "not: integer"),
        (False, 1, "custom", "is not allowed here", "nothing"),
        ({"if": {"minimum": 5}, "then": {"maximum": 9}, "else": {"minimum": 1}}, 10, "too_big",
            "must be at most 9, but received 10", "number of at most 9"),
        ({"if": {"minimum": 5}, "then": {"maximum": 9}, "else": {"minimum": 1}}, 0, "too_small",
            "must be at least 1, but received 0", "number of at least 1"),
        ({"allOf": [{"type": "string"}, {"maxLength": 1}]}, "ab", "too_big",
            "exceeds maximum length of 1 character", "string of at most 1 character"),
        ({"anyOf": [{"type": "integer", "maximum": 10}, {"type": "null"}]}, 15, "too_big",
            "must be at most 10, but received 15", "integer of at most 10 or null"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "x", "invalid_type",
            "must be an integer or null, but received 'x'", "integer or null"),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, True, "invalid_union",
            "must be: integer or string, but received true", "integer or string"),
        ({"anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 2}]}, "abc", "invalid_union",
            "must fit one of 2 forms; nearest: Field 'x' exceeds maximum length of 2 characters",
            "string of at most 2 characters"),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, 1, "invalid_union",
            "must fit exactly one of 2 forms, but fits 2", "integer or number"),
        ({"pattern": r"(.*)*\1z"}, "a" * 50, "invalid_string",
            r"cannot be matched against the pattern (.*)*\1z: it takes too long",
            r"string matching the pattern (.*)*\1z"),
        ({"pattern": "^(?!x)"}, "a" * 10_000, "too_big",
            "exceeds maximum length of 8192 characters", "string of at most 8192 characters"),
    ],
)  # fmt: skip
def test_each_keyword_has_its_text(schema: Any, value: Any, code: str, message: str, expected: str) -> None:
    problem = only(of(x=schema), {"x": value})
    subject = "" if message.startswith("Field") else "Field 'x' "
    assert (problem.code, problem.message, problem.expected) == (code, subject + message, expected)


def test_arguments_that_fit_have_no_problems() -> None:
    assert problems(MOOD, GOOD) == []


def test_unknown_keys_name_the_nearest_known_one() -> None:
    schema = {**of(color={}, size={}), "additionalProperties": False}
    assert [problem.message for problem in problems(schema, {"colour": 1, "zzz": 2, "yyy": 3})] == [
        "Field 'colour' is not known; did you mean 'color'?",
        "Field 'yyy' is not known; known fields: color, size",
        "Field 'zzz' is not known",
    ]
    first = problems(schema, {"colour": 1})[0]
    assert (first.code, first.field, first.expected, first.received) == (
        "unrecognized_keys", "colour", "one of: color, size", "colour",
    )  # fmt: skip


def test_a_long_enum_is_cut_and_the_nearest_option_is_named() -> None:
    problem = only(of(x={"enum": [f"option{n}" for n in range(300)]}), {"x": "optio250"})
    assert "option0, option1, " in problem.message
    assert "(270 more)" in problem.message
    assert problem.message.endswith("but received 'optio250'; did you mean 'option250'?")


@pytest.mark.parametrize(
    "name", ["password", "userPassword", "token", "access_token", "client_secret", "api_key", "apiKey", "Authorization"]
)
def test_values_under_secret_looking_keys_are_not_repeated(name: str) -> None:
    secret = "hunter2-hunter2"
    for schema in ({"type": "integer"}, {"maxLength": 3}, {"enum": ["a"]}, {"pattern": "^$"}, {"const": 1}):
        problem = only(of(**{name: schema}), {name: secret})
        assert problem.received == "(hidden)"
        assert secret not in problem.message
    inside = only(of(x={"type": "string"}), {"x": {name: secret, "other": 1}})
    assert secret not in inside.message
    assert secret not in str(inside.received)
    below = only(of(**{name: {"items": {"type": "integer"}}}), {name: [secret]})
    assert secret not in str(below)


def test_a_key_that_only_counts_tokens_is_no_secret() -> None:
    assert only(of(max_tokens={"type": "integer"}), {"max_tokens": "many"}).received == "many"


def test_received_is_short_whatever_was_sent() -> None:
    deep: Any = "x"
    for _ in range(200):
        deep = [deep]
    for value in ("x" * 10**6, list(range(10**5)), {"k" * 10**6: 1}, deep, {"a": {"b": "y" * 10**6}}):
        problem = only(of(x={"type": "boolean"}), {"x": value})
        assert len(str(problem.received)) <= 100
        assert len(problem.message) < 200
    assert len(str(problems({**of(), "additionalProperties": False}, {"k" * 10**6: 1})[0].message)) < 300


@pytest.mark.parametrize(
    ("schema", "arguments", "message"),
    [
        (of("p", p={}), {}, "Invalid parameters: missing 'p'"),
        (of("a", "b", a={}, b={}), {}, "Invalid parameters: missing 'a', 'b'"),
        (of("z", "a"), {}, "Invalid parameters: missing 'z', 'a'"),
        (of("address", address=of("city")), {"address": {}}, "Invalid parameters: missing 'address.city'"),
        (of(items={"items": of("id")}), {"items": [{}]}, "Invalid parameters: missing 'items[0].id'"),
        (
            of("a", "b", c={"type": "integer"}, aa={"type": "boolean"}), {"c": "x", "aa": 1},
            "Invalid parameters: missing 'a', 'b'; Field 'aa' must be true or false, but received 1; "
            "Field 'c' must be an integer, but received 'x'",
        ),
        (
            {"items": {"type": "integer"}, **of(n={"items": {"type": "integer"}})}, {"n": ["x"] * 12},
            "Invalid parameters: "
            + "; ".join(f"Field 'n[{index}]' must be an integer, but received 'x'" for index in range(10))
            + " (and 2 more)",
        ),
    ],
)  # fmt: skip
def test_the_message_lists_what_is_missing_first_and_then_the_rest(
    schema: dict[str, Any], arguments: Any, message: str
) -> None:
    error = build_invalid_arguments(problems(schema, arguments))
    assert error.message == message
    assert error.type is ErrorType.VALIDATION


def test_many_missing_are_cut_too() -> None:
    error = build_invalid_arguments(problems(of(*(f"p{n}" for n in range(12))), {}))
    assert error.message.endswith("'p8', 'p9' (and 2 more)")
    assert len(error.problems) == 12


def test_missing_ones_lead_whatever_order_they_are_given_in() -> None:
    later = FieldProblem("too_big", "Field 'a' is too big", "a")
    error = build_invalid_arguments([later, FieldProblem("missing", "Field 'b' is required", "b")])
    assert error.message == "Invalid parameters: missing 'b'; Field 'a' is too big"
    assert error.problem.code == "missing"


def test_no_more_than_fifty_problems_are_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        argument_problems, "MAX_SECONDS", 60.0
    )  # a garbage collection alone can use up the shipped limit
    assert len(problems(of(a={"items": {"type": "integer"}}), {"a": ["x"] * 10_000})) == 50
    assert len(problems({"additionalProperties": False}, {str(n): 1 for n in range(10_000)})) == 50
