"""No wording of pydantic's reaches a user."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, ValidationError
from pydantic_core.core_schema import ErrorType

from pegboard.core.chains import Chain
from pegboard.core.definitions import ToolCreate
from pegboard.core.model_errors import message_of
from pegboard.core.refusals import Invalid
from pegboard.core.table_config import TableEntry
from pegboard.core.tool import RateLimit, Retry
from pegboard.registry.definition import checked, read_definition

PYDANTIC = ("Input should", "Tuple should", "List should", "Field required", "Extra inputs", "Value error", "valid ")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


class Model(BaseModel):
    count: int = Field(1, ge=1, le=9)
    items: tuple[str, ...] = Field((), max_length=1)
    flag: bool = False
    size: Literal["small", "large"] = "small"
    name: Annotated[str, Field(min_length=1)] = "x"


def messages(model: type[BaseModel], data: Any) -> list[str]:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(data, strict=False)
    return [message_of(item) for item in caught.value.errors(include_url=False)]


@pytest.mark.parametrize("kind", get_args(ErrorType))
def test_every_error_of_pydantic_has_words_of_ours(kind: str) -> None:
    message = message_of(
        {"type": kind, "loc": ("x",), "msg": "Value error, what a model of ours says", "input": object()}
    )
    if kind in ("value_error", "assertion_error"):
        assert message == "what a model of ours says"
    else:
        assert message and "model of ours" not in message and "{" not in message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"count": "many"}, "must be an integer, but received a string"),
        ({"count": 10}, "must be at most 9, but received a number"),
        ({"items": ["a", "b"]}, "must have at most 1 item, but received 2"),
        ({"items": {"a": 1}}, "must be an array, but received an object"),
        ({"flag": []}, "must be true or false, but received an array"),
        ({"size": None}, "must be one of: 'small' or 'large', but received null"),
        ({"name": ""}, "must have at least 1 character"),
        ([], "must be an object, but received an array"),
    ],
)
def test_a_message_says_what_was_expected_and_what_was_received(data: Any, message: str) -> None:
    assert messages(Model, data) == [message]


def test_no_value_is_repeated() -> None:
    assert "hunter2" not in " ".join(messages(Model, {"count": "hunter2", "flag": "hunter2", "size": "hunter2"}))


@given(st.dictionaries(st.sampled_from(["name", "tool_type", "config", "input_schema", "rate_limit", "tags"]), JSON))
def test_definitions_are_refused_in_our_words(data: dict[str, Any]) -> None:
    try:
        read_definition(data)
    except Invalid as error:
        assert not any(words in fault.message for fault in error.faults for words in PYDANTIC)


@pytest.mark.parametrize("model", [Chain, RateLimit, Retry, TableEntry, ToolCreate])
@given(data=st.data())
def test_models_are_refused_in_our_words(model: type[BaseModel], data: st.DataObject) -> None:
    names = st.sampled_from(sorted(model.model_fields))
    given_data = data.draw(st.dictionaries(names, JSON))
    try:
        checked(model, given_data, "")
    except Invalid as error:
        assert not any(words in fault.message for fault in error.faults for words in PYDANTIC)


def test_the_parameters_of_openai_are_named() -> None:
    with pytest.raises(Invalid, match="'parameters' is OpenAI's name for input_schema"):
        read_definition({"name": "x", "tool_type": "mock", "config": {"mock_response": 1}, "parameters": {}})
