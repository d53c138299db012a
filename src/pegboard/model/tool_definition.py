"""Tool definitions as written in requests and files, and tools as shown in responses."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, GetCoreSchemaHandler, ValidationInfo
from pydantic_core import CoreSchema, core_schema

from pegboard.model.base_model import Bounded, Model
from pegboard.model.display_format import Display
from pegboard.model.tool import Fallback, Kind, RateLimit, Retry, check_name, read_kind

Tag = Annotated[str, Field(min_length=1, max_length=64)]
JsonObject = dict[str, Any]


class KindName(str):
    """The name of a kind of tool. In JSON Schema it is one of the built-in kinds."""

    __slots__ = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of a Kind, with the validation of this class."""
        return core_schema.with_info_wrap_validator_function(
            cls._read,
            handler.generate_schema(Kind),
            serialization=core_schema.plain_serializer_function_ser_schema(str),
        )

    @classmethod
    def _read(cls, value: Any, read_built_in: Callable[[Any], Kind], _info: ValidationInfo) -> str:
        return read_kind(value) if isinstance(value, str) else read_built_in(value)


class ToolBase(Model):
    """The fields that people write, common to creating, changing and reading a tool."""

    name: Annotated[str, AfterValidator(check_name)] = Field(description="Unique without regard to case")
    description: str | None = Field(None, max_length=2000, description="What the tool does, for the model")
    tool_type: KindName = Field(description="How the tool runs")
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
    keep_result: bool = Field(False, description="Whether the journal keeps the result of a call, up to 64 KiB of JSON")
    max_result_bytes: int | None = Field(None, ge=1, le=100 * 2**20, description="Largest result, as JSON")
    display: Display | None = Field(None, description="How arguments and results read to people; models never see it")
    on_disconnect: Literal["cancel", "detach"] = Field(
        "cancel", description="Whether a call ends or continues when its caller disconnects"
    )


class ToolDefinition(ToolBase):
    """A tool as it is defined; `registry/tool_create.py` also checks it against the installed kinds."""

    config: JsonObject = Field(description="What this kind of tool needs to run")


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
