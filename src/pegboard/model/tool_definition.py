"""Tool definitions as written in requests and files, and tools as shown in responses."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, ValidationError, create_model, model_validator

from pegboard.kinds.python.function_source import CodeProblem, read_signature
from pegboard.model.api_errors import Invalid
from pegboard.model.base_model import Bounded, Model
from pegboard.model.display_format import Display
from pegboard.model.tool import Fallback, Kind, RateLimit, Retry, check_name
from pegboard.model.validation_messages import list_model_faults

Tag = Annotated[str, Field(min_length=1, max_length=64)]
JsonObject = dict[str, Any]


class ToolBase(Model):
    """The fields that people write, common to creating, changing and reading a tool."""

    name: Annotated[str, AfterValidator(check_name)] = Field(description="Unique without regard to case")
    description: str | None = Field(None, max_length=2000, description="What the tool does, for the model")
    tool_type: Kind = Field(description="How the tool runs")
    input_schema: JsonObject = Field(
        description="JSON Schema (Draft 7) of the arguments; a python tool without one takes what its function does"
    )
    output_schema: JsonObject | None = Field(None, description="JSON Schema of the result")
    auth_config: JsonObject | None = Field(None, description="Credentials; masked in every response")
    rate_limit: RateLimit | None = Field(None, description="How often it may be called")
    is_active: bool = Field(True, description="Whether calls are taken")
    is_public: bool = Field(False, description="Whether callers other than the owner may call it")
    display_name: str | None = Field(None, max_length=255, description="The name people see")
    tags: Annotated[tuple[Tag, ...], Bounded] = Field((), max_length=64, description="For filtering lists")
    timeout: float | None = Field(None, gt=0, le=3600, description="Seconds a call may take")
    unknown_parameters: Literal["ignore", "reject"] = Field("ignore", description="What to do with undeclared ones")
    result_style: Literal["plain", "detailed", "envelope"] = Field(
        "plain", description="The shape of answers by default"
    )
    retry: Retry | None = Field(None, description="When a failed attempt is made again")
    fallback: Fallback | None = Field(None, description="What answers when every attempt failed")
    idempotent: bool = Field(False, description="Running it twice is like running it once")
    read_only: bool = Field(False, description="Running it changes nothing")
    destructive: bool = Field(False, description="Running it may destroy something")
    keep_arguments: bool = Field(False, description="Whether the journal keeps the arguments")
    keep_result: bool = Field(False, description="Whether the journal keeps what a call answered, up to 64 KiB of JSON")
    max_result_bytes: int | None = Field(None, ge=1, le=100 * 2**20, description="Largest result, as JSON")
    display: Display | None = Field(None, description="How arguments and results read to people; models never see it")
    on_disconnect: Literal["cancel", "detach"] = Field(
        "cancel", description="Whether a call ends or goes on when whoever asked for it goes away"
    )


def _make_input_schema_optional(schema: JsonObject) -> None:
    schema["required"].remove("input_schema")


class ToolCreate(ToolBase):
    """A new tool; `implementation {type, handler, mock_response}` may stand for tool_type and config."""

    model_config = ConfigDict(json_schema_extra=_make_input_schema_optional)

    config: JsonObject = Field(description="What this kind of tool needs to run")

    # Pydantic runs before-validators from the last to the first.
    @model_validator(mode="before")
    @classmethod
    def _default_table_schema(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("tool_type") == Kind.TABLE and data.get("input_schema") is None:
            return {**data, "input_schema": {}}  # the schema is derived when the config is read
        return data

    @model_validator(mode="before")
    @classmethod
    def _derive_python_schema(cls, data: Any) -> Any:
        if not isinstance(data, dict) or data.get("tool_type") != Kind.PYTHON or data.get("input_schema") is not None:
            return data
        config = data.get("config")
        given = config if isinstance(config, dict) else {}
        try:
            schema = read_signature(given["code"], given.get("entrypoint"))
        except (CodeProblem, KeyError, TypeError, AttributeError):
            schema = {"type": "object"}  # faults of the config are reported when the config is validated
        return {**data, "input_schema": schema}

    @model_validator(mode="before")
    @classmethod
    def _read_implementation(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "implementation" not in data:
            return data
        given = dict(data)
        implementation = given.pop("implementation")
        if not isinstance(implementation, dict) or not isinstance(implementation.get("type"), str):
            raise ValueError("implementation is an object with a type: builtin, mock or internal")
        if "tool_type" in given or "config" in given:
            raise ValueError("give either implementation, or tool_type and config, not both")
        config = {key: value for key, value in implementation.items() if key != "type"}
        return {**given, "tool_type": implementation["type"], "config": config}


class _Version(Model):
    version: int | None = Field(None, ge=1, description="The version this change is based on; a stale one is refused")


# Every field of ToolCreate, each optional; the resulting tool is validated as a whole.
_update_fields: dict[str, Any] = {
    name: (
        Annotated[field.annotation | None, Bounded],  # type: ignore[operator]
        Field(None, description=field.description),
    )
    for name, field in ToolCreate.model_fields.items()
}
_UPDATE_DESCRIPTION = "A change to a tool: absent keeps, null clears, a masked value keeps."
ToolUpdate = create_model("ToolUpdate", __base__=_Version, __doc__=_UPDATE_DESCRIPTION, **_update_fields)


class ToolResponse(ToolBase):
    """A tool as it is shown: secrets masked, `config` only to its owner and admins."""

    config: JsonObject | None = Field(None, description="Shown to the tool's owner and to admins only")
    id: str
    owner_id: str
    alias: str | None = Field(None, description="The name used where a provider limits names")
    version: int
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None = None
    is_deleted: bool = False
    drifted: bool = False


def read_definition(data: Any) -> ToolCreate:
    """Return the parsed definition; raise Invalid with every fault."""
    try:
        return ToolCreate.model_validate(data)
    except ValidationError as error:
        raise Invalid.of("The tool definition is not valid", list_model_faults(error, ToolCreate)) from None
