"""Users never see pydantic's messages."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, ValidationError
from pydantic_core.core_schema import ErrorType

from pegboard.kinds.table.config import TableEntry
from pegboard.model.api_errors import Invalid
from pegboard.model.chain import Chain
from pegboard.model.tool import RateLimit, Retry
from pegboard.model.validation_messages import format_model_error, validate_model
from pegboard.registry.tool_create import ToolCreate, read_definition

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
    share: float = Field(0, le=1.0)
    size: Literal["small", "large"] = "small"
    name: Annotated[str, Field(min_length=1)] = "x"


def messages(model: type[BaseModel], data: Any) -> list[str]:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(data, strict=False)
    return [format_model_error(item, shows_number=True) for item in caught.value.errors(include_url=False)]


# The placeholders of the messages.
CONTEXT = dict.fromkeys(
    """min_length max_length actual_length pattern max_digits decimal_places whole_digits gt ge lt le multiple_of
    expected encoding tz_expected expected_schemes expected_version discriminator expected_tags""".split(),  # noqa: SIM905
    7,
)
# Errors that neither JSON nor text leads to.
OF_PYTHON = frozenset(
    {
        "no_such_attribute", "needs_python_object", "get_attribute_error", "dataclass_exact_type", "iteration_error",
        "default_factory_not_called", "missing_sentinel_error", "ellipsis_error", "is_instance_of", "is_subclass_of",
        "callable_type", "missing_argument", "unexpected_keyword_argument", "missing_keyword_only_argument",
        "unexpected_positional_argument", "missing_positional_only_argument", "multiple_argument_values",
    }
)  # fmt: skip


@pytest.mark.parametrize("kind", get_args(ErrorType))
def test_every_error_of_pydantic_has_words_of_ours(kind: str) -> None:
    values = {"msg": "Value error, what a model of ours says", "input": object(), "ctx": CONTEXT}
    message = format_model_error({"type": kind, "loc": ("x",), **values})
    if kind in ("value_error", "assertion_error"):
        assert message == "what a model of ours says"
    else:
        assert message and "model of ours" not in message and "{" not in message
        assert (message == "is not valid") == (kind in OF_PYTHON)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"count": "many"}, "must be an integer, but received a string"),
        ({"count": 10}, "must be at most 9, but received 10"),
        ({"items": ["a", "b"]}, "must have at most 1 item, but received 2"),
        ({"items": {"a": 1}}, "must be an array, but received an object"),
        ({"flag": []}, "must be true or false, but received an array"),
        ({"size": None}, "must be one of: 'small' or 'large', but received null"),
        ({"name": ""}, "must have at least 1 character, but received 0"),
        ({"share": 2}, "must be at most 1, but received 2"),
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
        validate_model(model, given_data, "")
    except Invalid as error:
        assert not any(words in fault.message for fault in error.faults for words in PYDANTIC)


def test_the_parameters_of_openai_are_named() -> None:
    with pytest.raises(Invalid, match="'parameters' is OpenAI's name for input_schema"):
        read_definition({"name": "x", "tool_type": "mock", "config": {"mock_response": 1}, "parameters": {}})


@pytest.mark.parametrize(
    ("step", "faults"),
    [
        ({"when": 3}, [("steps.0.when", "must be a string or an object, but received a number")]),
        (
            {"when": {"valu": 3}},
            [("steps.0.when.value", "required"), ("steps.0.when.valu", "unknown key; did you mean 'value'?")],
        ),
        (
            {"when": {"value": 3}},
            [("steps.0.when", "needs one of equals, not_equals, among, at_least, at_most, exists")],
        ),
        ({"after": "b"}, [("steps.0.after", "must be an array, but received a string")]),
    ],
)
def test_a_path_has_no_names_of_types_and_a_value_that_fits_no_type_has_one_message(
    step: dict[str, Any], faults: list[tuple[str, str]]
) -> None:
    with pytest.raises(Invalid) as refused:
        validate_model(Chain, {"steps": [{"id": "a", "tool": "b", **step}]}, "")
    assert [(fault.field, fault.message) for fault in refused.value.faults] == faults


def test_a_wrong_key_of_an_object_is_named() -> None:
    class Named(BaseModel):
        headers: dict[Annotated[str, Field(max_length=3)], int] = {}

    with pytest.raises(Invalid) as refused:
        validate_model(Named, {"headers": {"long": 1}}, "config")
    (fault,) = refused.value.faults
    assert (fault.field, fault.message) == (
        "config.headers.long",
        "the key must have at most 3 characters, but received 4",
    )
