"""The rules for a table's config: each violation is reported at its place, with the correction."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.kinds.table.config import CONSTRAINTS, TableField
from pegboard.kinds.table.config_rules import find_config_faults, find_field_faults
from tests.unit.kinds.table.make_tools import config

ONE_OF_EACH: dict[str, Any] = {
    "minLength": 1,
    "maxLength": 5,
    "min": 1,
    "max": 5,
    "precision": 5,
    "scale": 2,
    "enumValues": ["a"],
    "minDate": "2025-01-01T00:00Z",
    "maxDate": "2026-01-01T00:00Z",
}


def of_field(**field: Any) -> dict[str, str]:
    read = TableField.model_validate({"name": "a", **field})
    return {fault.field: fault.message for fault in find_field_faults(read, "f")}


def of_config(*fields: dict[str, Any], **more: Any) -> dict[str, str]:
    return {fault.field: fault.message for fault in find_config_faults(config(*fields, **more), "t")}


@pytest.mark.parametrize("kind", CONSTRAINTS)
@pytest.mark.parametrize("word", ONE_OF_EACH)
def test_a_constraint_goes_with_its_own_types_alone(kind: Any, word: str) -> None:
    needed = {"enumValues": ["a"]} if kind == "enum" else {}
    found = of_field(dataType=kind, **{**needed, word: ONE_OF_EACH[word]})
    if word in CONSTRAINTS[kind]:
        assert found == {}
    else:
        owners = " and ".join(kind for kind, words in CONSTRAINTS.items() if word in words)
        assert found[f"f.{word}"].startswith(f"belongs to {owners}, not to {kind}; {kind} takes ")


@pytest.mark.parametrize(
    ("field", "where", "says"),
    [
        ({"dataType": "text", "minLength": 3, "maxLength": 2}, "minLength", "is 3, which is more than maxLength, 2"),
        ({"dataType": "numeric", "min": 0.2, "max": 0.1}, "min", "is 0.2, which is more than max, 0.1"),
        ({"dataType": "numeric", "precision": 2, "scale": 3}, "scale", "is 3, which is more than precision, 2"),
        ({"dataType": "integer", "min": 0.5}, "min", "0.5 is no integer of 64 bits"),
        ({"dataType": "integer", "max": 2**63}, "max", "9223372036854775808 is no integer of 64 bits"),
        ({"dataType": "enum"}, "enumValues", "required for an enum"),
        ({"dataType": "enum", "enumValues": ["a", "b", "a"]}, "enumValues", "'a' is given twice"),
        ({"dataType": "datetime", "minDate": "2025-10-05"}, "minDate", "is no datetime: a date alone is no moment"),
        ({"dataType": "datetime", "maxDate": "2025-10-05T10:00"}, "maxDate", "is no datetime: it has no zone"),
        (
            {"dataType": "datetime", "minDate": "2025-10-05T10:00-01:00", "maxDate": "2025-10-05T10:30Z"},
            "minDate",
            "which is after maxDate",
        ),
        ({"dataType": "text", "maxLength": 1, "default": "ab"}, "default", "exceeds maximum length of 1 character"),
        ({"dataType": "integer", "default": 1.5}, "default", "must be an integer"),
        ({"dataType": "numeric", "scale": 1, "default": 0.25}, "default", "max 1 decimal place"),
        ({"dataType": "boolean", "default": "no"}, "default", "must be true or false"),
        ({"dataType": "enum", "enumValues": ["a"], "default": "b"}, "default", "must be one of: a"),
        ({"dataType": "datetime", "default": "now"}, "default", "must be a valid ISO 8601 datetime"),
        ({"dataType": "json", "default": 5}, "default", "must be a valid JSON object"),
        ({"dataType": "text", "required": True, "default": None}, "default", "must be a string"),
    ],
)
def test_what_contradicts_itself_is_reported(field: dict[str, Any], where: str, says: str) -> None:
    found = of_field(**field)
    assert list(found) == [f"f.{where}"]
    assert says in found[f"f.{where}"]


@pytest.mark.parametrize(
    "field",
    [
        {"dataType": "text", "required": True, "default": ""},
        {"dataType": "text", "default": None},
        {"dataType": "numeric", "scale": 2, "precision": 5, "default": 1.25},
        {"dataType": "integer", "min": 5, "max": 5, "default": 5},
        {"dataType": "json", "default": {"a": [1]}},
        {"dataType": "json", "default": ["fits an array column"]},
        {"dataType": "datetime", "minDate": "2025-01-01T00:00Z", "default": "2025-01-01T00:00:00Z"},
    ],
)
def test_a_default_that_fits_may_stand_on_a_required_field_too(field: dict[str, Any]) -> None:
    assert of_field(**field) == {}


class TestBetweenFields:
    A, B = {"name": "user", "dataType": "text"}, {"name": "mood", "dataType": "text"}

    def test_two_fields_have_two_names(self) -> None:
        assert of_config(self.A, self.B, self.A) == {"t.fields.2.name": "'user' is the name of fields.0 as well"}

    def test_two_fields_go_to_two_columns(self) -> None:
        both = "the fields 'user' and 'mood' both go to the column 'x'"
        assert of_config(self.A, self.B, columnMappings={"user": "x", "mood": "x"}) == {"t.columnMappings.mood": both}
        onto = of_config(self.A, self.B, columnMappings={"user": "mood"})
        assert onto == {"t.columnMappings.user": "the fields 'user' and 'mood' both go to the column 'mood'"}
        assert of_config(self.A, self.B, columnMappings={"user": "mood", "mood": "user"}) == {}

    def test_what_is_mapped_is_a_field(self) -> None:
        found = of_config(self.A, self.B, columnMappings={"usr": "x", "y": "z"})
        assert found["t.columnMappings.usr"] == "there is no field 'usr'; did you mean 'user'?"
        assert found["t.columnMappings.y"] == "there is no field 'y'; there are: user, mood"

    def test_a_message_names_fields_the_id_and_the_count(self) -> None:
        assert of_config(self.A, successMessage="{user} has {id}, {rowCount} rows; {} {{") == {}
        found = of_config(self.A, successMessage="for {usr}")
        assert found == {"t.successMessage": "{usr} is nothing that is known; did you mean 'user'?"}


@given(st.fixed_dictionaries({}, optional={word: st.just(value) for word, value in ONE_OF_EACH.items()}))
def test_only_the_words_of_a_type_pass_together(words: dict[str, Any]) -> None:
    for kind, own in CONSTRAINTS.items():
        misplaced = {f"f.{word}" for word in words if word not in own}
        lacking = {"f.enumValues"} if kind == "enum" and "enumValues" not in words else set()
        assert set(of_field(dataType=kind, **words)) == misplaced | lacking
