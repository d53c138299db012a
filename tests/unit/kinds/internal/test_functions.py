"""Python functions as tools: the schema, the types, the result."""

from __future__ import annotations

import enum
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, Field, field_validator

from pegboard import CallContext, Pegboard, Refusal
from pegboard.kinds.internal.functions import build_function_tool
from pegboard.testing import calls_of, memory_board


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    async with memory_board() as fresh:
        yield fresh


class Colour(enum.Enum):
    RED = "red"


class Place(BaseModel):
    city: str
    code: str = Field(alias="countryCode", min_length=2)


@dataclass
class Forecast:
    place: str
    days: list[int]


def test_the_schema_comes_from_the_annotations() -> None:
    async def weather(
        city: Annotated[str, Field(description="Where", min_length=1)],
        days: int = 3,
        unit: Literal["celsius", "kelvin"] = "celsius",
        *,
        context: CallContext,
        tags: list[str] | None = None,
    ) -> dict[str, float]:
        """The weather in a city."""
        raise NotImplementedError

    tool = build_function_tool(weather)
    assert (tool.name, tool.description) == ("weather", "The weather in a city.")
    assert tool.input_schema == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "city": {"type": "string", "minLength": 1, "description": "Where"},
            "days": {"type": "integer", "default": 3},
            "unit": {"enum": ["celsius", "kelvin"], "type": "string", "default": "celsius"},
            "tags": {"anyOf": [{"items": {"type": "string"}, "type": "array"}, {"type": "null"}], "default": None},
        },
        "required": ["city"],
    }
    assert tool.output_schema is not None
    assert tool.output_schema["additionalProperties"] == {"type": "number"}


def test_names_that_pydantic_reserves_and_titles_are_no_trouble() -> None:
    def odd(model_config: int, schema: str, json: str, _private: int, title: str, copy: bool = False) -> None: ...

    assert set(build_function_tool(odd).input_schema["properties"]) == {
        "model_config",
        "schema",
        "json",
        "_private",
        "title",
        "copy",
    }


def test_a_signature_that_cannot_be_a_tool_says_why() -> None:
    def many(*items: int) -> None: ...

    def anything(**items: int) -> None: ...

    def positional(a: int, /) -> None: ...

    for function in (many, anything, positional):
        with pytest.raises(TypeError, match="cannot be given by name"):
            build_function_tool(function)


async def test_the_function_gets_its_own_types_and_its_result_becomes_json(board: Pegboard) -> None:
    seen: list[Any] = []

    @board.tool
    async def typed(when: datetime, colour: Colour, place: Place, key: UUID) -> Forecast:
        seen.extend([when, colour, place, key])
        return Forecast(place.city, [1, 2])

    given = {
        "when": "2026-01-02T03:04:05Z",
        "colour": "red",
        "place": {"city": "Oslo", "countryCode": "NO"},
        "key": str(UUID(int=1)),
    }
    result = await board.call("typed", given)
    assert result.output == {"place": "Oslo", "days": [1, 2]}
    assert seen == [
        datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        Colour.RED,
        Place(city="Oslo", countryCode="NO"),
        UUID(int=1),
    ]


async def test_a_result_is_written_by_the_names_its_schema_has(board: Pegboard) -> None:
    @board.tool
    async def place() -> Place:
        return Place(city="Oslo", countryCode="NO")

    assert (await board.call("place")).output == {"city": "Oslo", "countryCode": "NO"}


async def test_a_result_that_is_not_as_annotated_breaks_the_contract(board: Pegboard) -> None:
    @board.tool
    async def number() -> int:
        return "three"  # type: ignore[return-value]

    result = await board.call("number")
    assert result.problem is not None
    assert result.problem.code == "contract_violation"


async def test_a_default_of_none_allows_null_whatever_the_annotation_says(board: Pegboard) -> None:
    @board.tool
    async def greet(name: str, title: str = None) -> str:  # type: ignore[assignment]  # noqa: RUF013
        return f"{title} {name}"

    assert (await board.call("greet", {"name": "Ada"})).output == "None Ada"
    assert (await board.call("greet", {"name": "Ada", "title": None})).output == "None Ada"
    assert (await board.call("greet", {"name": "Ada", "title": "Dr"})).output == "Dr Ada"


async def test_a_fault_that_only_the_types_show_is_a_validation_error_without_secrets(board: Pegboard) -> None:
    class Login(BaseModel):
        password: str

        @field_validator("password")
        @classmethod
        def _strong(cls, value: str) -> str:
            raise ValueError("too weak")

    async def enter(login: Login) -> None: ...

    enter.__annotations__["login"] = Login
    board.tool(enter)
    result = await board.call("enter", {"login": {"password": "hush-123"}})
    assert result.problem is not None
    assert (result.problem.type, result.problem.problems[0].field) == ("VALIDATION_ERROR", "login.password")
    assert "too weak" in result.problem.message
    assert "hush-123" not in str(result.problem)
    assert "hush-123" not in str(await calls_of(board))


async def test_the_fields_of_a_tool_can_be_given_and_are_checked(board: Pegboard) -> None:
    @board.tool(name="other", tags=["t"], is_public=True, rate_limit={"max_calls": 1, "period": "hour"})
    def hidden_name() -> int:
        return 1

    tool = await board.tools.get("other", board.admin)
    assert (tool.tags, tool.is_public, tool.tool_type) == (("t",), True, "internal")
    for name, wrong in (("ok", {"colour": 1}), ("not ok", {}), ("ok", {"timeout": 0})):
        with pytest.raises(Refusal):
            board.tool(name=name, **wrong)(hidden_name)


async def test_a_function_that_is_a_tool_can_still_be_called(board: Pegboard) -> None:
    @board.tool
    def double(n: int) -> int:
        return n * 2

    assert double(2) == 4
    assert (await board.call("double", {"n": 2})).output == 4
