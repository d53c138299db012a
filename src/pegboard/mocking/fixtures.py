"""Fixtures: the tools of a mock board, and what each of them answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema

from pegboard.core.model import Model
from pegboard.core.tool import Fallback, RateLimit, Retry, check_name
from pegboard.mocking.faults import FAULTS

DRAFT = "https://json-schema.org/draft/2020-12/schema"
LONGEST_LATENCY = 600_000


def _known(code: str) -> str:
    if code not in FAULTS:
        raise ValueError(f"'{code[:100]}' is no code of a failed call; there are: {', '.join(FAULTS)}")
    return code


class MockedError(Model):
    """How a call fails; a text is the message of a plain failure."""

    message: str = Field(min_length=1, max_length=2000, description="What went wrong, as the caller reads it")
    code: Annotated[str, AfterValidator(_known)] = Field(
        "execution_failed", description="A code of the page on errors", json_schema_extra={"enum": [*FAULTS]}
    )
    retryable: bool | None = Field(
        None, description="Whether to say that trying again may help; as the code has it if absent"
    )

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, data: Any) -> Any:
        return {"message": data} if isinstance(data, str) else data

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """A text, or the object."""
        described = handler(core)
        whole = handler.resolve_ref_schema(described)
        spelt = dict(whole)
        whole.clear()
        whole["anyOf"] = [{"type": "string", "minLength": 1, "maxLength": 2000}, spelt]
        return described


def _one_of_two(schema: dict[str, Any]) -> None:
    schema["oneOf"] = [{"required": ["respond"]}, {"required": ["error"]}]


class Response(Model):
    """One answer of a tool: to which calls it is given, and how often."""

    model_config = ConfigDict(json_schema_extra=_one_of_two)

    when: dict[str, Any] = Field({}, description="Answers calls whose arguments contain this; every call if absent")
    respond: Any = Field(None, description="What the tool returns, any JSON; checked against the output_schema")
    error: MockedError = Field(None, description="How the call fails instead")  # type: ignore[assignment]
    latency_ms: int = Field(0, ge=0, le=LONGEST_LATENCY, description="How long the answer takes")
    times: int | None = Field(None, ge=1, description="How many calls it answers; then the next that fits does")

    @model_validator(mode="after")
    def _either(self) -> Response:
        if len(self.model_fields_set & {"respond", "error"}) != 1:
            raise ValueError("give either respond or error")
        return self

    @property
    def fails(self) -> bool:
        """Whether the call is answered with an error."""
        return "error" in self.model_fields_set


class FixtureTool(Model):
    """A tool of a mock board: its definition as callers see it, and its answers."""

    name: Annotated[str, AfterValidator(check_name)] = Field(description="Unique without regard to case")
    description: str | None = Field(None, max_length=2000, description="What the tool does, for the model")
    display_name: str | None = Field(None, max_length=255, description="The name people see")
    input_schema: dict[str, Any] = Field({"type": "object"}, description="JSON Schema of the arguments")
    output_schema: dict[str, Any] | None = Field(None, description="JSON Schema of the result")
    result_style: Literal["plain", "detailed", "envelope"] = Field("plain", description="The shape of answers")
    unknown_parameters: Literal["ignore", "reject"] = Field("ignore", description="What to do with undeclared ones")
    timeout: float | None = Field(None, gt=0, le=3600, description="Seconds a call may take")
    rate_limit: RateLimit | None = Field(None, description="How often it may be called")
    retry: Retry | None = Field(None, description="When a failed attempt is made again; each attempt takes an answer")
    fallback: Fallback | None = Field(None, description="What answers when every attempt failed")
    idempotent: bool = Field(False, description="Running it twice is like running it once")
    read_only: bool = Field(False, description="Running it changes nothing")
    destructive: bool = Field(False, description="Running it may destroy something")
    responses: list[Response] = Field(min_length=1, description="Tried in order: the first that fits answers")

    @property
    def definition(self) -> dict[str, Any]:
        """What of it the tool on the board has too."""
        given = self.model_dump(mode="json", exclude={"responses"}, exclude_unset=True)
        return {**given, "input_schema": self.input_schema}


class Fixtures(Model):
    """The whole file."""

    tools: list[FixtureTool] = Field(min_length=1, description="The tools of the board, and no others")

    def twice(self) -> Iterator[tuple[int, str]]:
        """The places of tools whose name another one before has, and that name."""
        seen: set[str] = set()
        for place, tool in enumerate(self.tools):
            if tool.name.lower() in seen:
                yield place, tool.name
            seen.add(tool.name.lower())


def json_schema() -> dict[str, Any]:
    """The format of fixtures as a JSON Schema."""
    return {"$schema": DRAFT, **Fixtures.model_json_schema(mode="validation")}
