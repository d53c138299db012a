"""Fixtures: the tools of a mock board, their answers, and all errors that an answer can be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema

from pegboard.kinds.table import config
from pegboard.model import call_errors
from pegboard.model.base_model import Model
from pegboard.model.call_errors import ToolError
from pegboard.model.tool import Fallback, RateLimit, Retry, check_name

_ERROR_CLASSES: tuple[type[ToolError], ...] = (
    call_errors.ExecutionFailed,
    call_errors.TimedOut,
    call_errors.RateLimited,
    call_errors.UpstreamFailed,
    call_errors.UpstreamUnreachable,
    call_errors.CircuitOpen,
    call_errors.ContractViolation,
    call_errors.ResultTooLarge,
    call_errors.InvalidArguments,
    call_errors.MalformedArguments,
    call_errors.ToolNotFound,
    call_errors.ToolInactive,
    call_errors.HandlerNotFound,
    call_errors.Misconfigured,
    call_errors.SecretUnreadable,
    call_errors.Drifted,
    call_errors.EgressRefused,
    config.TableUnusable,
    config.DatabaseFailed,
    call_errors.Cancelled,
    call_errors.Unavailable,
    call_errors.Unrecorded,
    call_errors.IdempotencyConflict,
    call_errors.InDoubt,
    call_errors.AnswerNotKept,
    call_errors.InternalError,
)


def _group_by_code() -> dict[str, list[type[ToolError]]]:
    found: dict[str, list[type[ToolError]]] = {}
    for each in _ERROR_CLASSES:
        found.setdefault(each.code, []).append(each)
    return found


ERROR_CLASSES_BY_CODE: Mapping[str, list[type[ToolError]]] = _group_by_code()


def build_tool_error(code: str, message: str, retryable: bool | None) -> ToolError:
    """Return the error that a board raises with this code; `retryable` overrides the default of the code."""
    classes = ERROR_CLASSES_BY_CODE[code]
    chosen = next((each for each in classes if each.retryable is retryable), classes[0])
    # Some of the classes build their own message; the fixture's message is used instead.
    error = chosen.__new__(chosen)
    ToolError.__init__(error, message)
    if retryable is not None:
        error.retryable = retryable  # type: ignore[misc]  # of the class, except here
    return error


JSON_SCHEMA_DRAFT = "https://json-schema.org/draft/2020-12/schema"
MAX_LATENCY_MS = 600_000


def _check_error_code(code: str) -> str:
    if code not in ERROR_CLASSES_BY_CODE:
        raise ValueError(f"'{code[:100]}' is not a code of a failed call; known: {', '.join(ERROR_CLASSES_BY_CODE)}")
    return code


class MockedError(Model):
    """How a call fails; a text is the message of a plain failure."""

    message: str = Field(min_length=1, max_length=2000, description="What went wrong, as the caller reads it")
    code: Annotated[str, AfterValidator(_check_error_code)] = Field(
        "execution_failed",
        description="A code of the page on errors",
        json_schema_extra={"enum": [*ERROR_CLASSES_BY_CODE]},
    )
    retryable: bool | None = Field(None, description="Whether trying again may help; by default as the code has it")

    @model_validator(mode="before")
    @classmethod
    def _convert_text(cls, data: Any) -> Any:
        return {"message": data} if isinstance(data, str) else data

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return a schema for a string or the object."""
        described = handler(core)
        whole = handler.resolve_ref_schema(described)
        full_form = dict(whole)
        whole.clear()
        whole["anyOf"] = [{"type": "string", "minLength": 1, "maxLength": 2000}, full_form]
        return described


def _require_one_outcome(schema: dict[str, Any]) -> None:
    schema["oneOf"] = [{"required": ["respond"]}, {"required": ["error"]}]


class Response(Model):
    """One answer of a tool: to which calls it is given, and how often."""

    model_config = ConfigDict(json_schema_extra=_require_one_outcome)

    when: dict[str, Any] = Field({}, description="Answers calls whose arguments contain this; every call if absent")
    respond: Any = Field(None, description="What the tool returns, any JSON; checked against the output_schema")
    error: MockedError = Field(None, description="How the call fails instead")  # type: ignore[assignment]
    latency_ms: int = Field(0, ge=0, le=MAX_LATENCY_MS, description="How long the answer takes")
    times: int | None = Field(None, ge=1, description="How many calls it answers; then the next that fits does")

    @model_validator(mode="after")
    def _check_one_outcome(self) -> Response:
        if len(self.model_fields_set & {"respond", "error"}) != 1:
            raise ValueError("give either respond or error")
        return self

    @property
    def fails(self) -> bool:
        """True if the call is answered with an error."""
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
        """The fields that the tool on the board has too."""
        given = self.model_dump(mode="json", exclude={"responses"}, exclude_unset=True)
        return {**given, "input_schema": self.input_schema}


class Fixtures(Model):
    """The whole file."""

    tools: list[FixtureTool] = Field(min_length=1, description="The tools of the board, and no others")

    def find_duplicates(self) -> Iterator[tuple[int, str]]:
        """Yield the indexes and names of tools whose name an earlier tool has."""
        seen: set[str] = set()
        for place, tool in enumerate(self.tools):
            if tool.name.lower() in seen:
                yield place, tool.name
            seen.add(tool.name.lower())


def build_fixtures_schema() -> dict[str, Any]:
    """Return the JSON Schema of the fixtures format."""
    return {"$schema": JSON_SCHEMA_DRAFT, **Fixtures.model_json_schema(mode="validation")}
