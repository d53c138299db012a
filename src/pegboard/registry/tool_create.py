"""Definitions of tools as they are sent, checked against the kinds that are installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import ConfigDict, Field, ValidationError, ValidationInfo, create_model, model_validator
from pydantic_core import PydanticCustomError

from pegboard.kinds.catalog import list_plugin_kinds, load_kinds
from pegboard.model.api_errors import Invalid
from pegboard.model.base_model import Bounded, Model
from pegboard.model.tool import Kind, read_kind
from pegboard.model.tool_definition import JsonObject, KindName, ToolDefinition
from pegboard.model.validation_messages import list_model_faults


class KnownKind(KindName):
    """The name of an installed kind of tool."""

    __slots__ = ()

    @classmethod
    def _read(cls, value: Any, read_built_in: Callable[[Any], Kind], info: ValidationInfo) -> str:
        kinds = load_kinds()
        # A tool whose kind is no longer installed keeps it in a change of other fields.
        if isinstance(value, str) and (value in kinds or value == (info.context or {}).get("kept_kind")):
            return read_kind(value)
        try:
            return read_built_in(value)
        except ValidationError:
            expected = [f"'{name}'" for name in kinds]
            raise PydanticCustomError(
                "enum", "", {"expected": f"{', '.join(expected[:-1])} or {expected[-1]}"}
            ) from None


def _make_input_schema_optional(schema: JsonObject) -> None:
    schema["required"].remove("input_schema")


class ToolCreate(ToolDefinition):
    """A new tool; `implementation {type, handler, mock_response}` may stand for tool_type and config."""

    model_config = ConfigDict(json_schema_extra=_make_input_schema_optional)

    tool_type: KnownKind = Field(description="How the tool runs")

    # Pydantic runs before-validators from the last to the first.
    @model_validator(mode="before")
    @classmethod
    def _derive_schema(cls, data: Any) -> Any:
        if not isinstance(data, dict) or data.get("input_schema") is not None:
            return data
        tool_type, config = data.get("tool_type"), data.get("config")
        kind = load_kinds().get(tool_type) if isinstance(tool_type, str) else None
        if kind is None or kind.derive_schema is None:
            return data
        schema = kind.derive_schema(config if isinstance(config, dict) else {})
        # Faults of the config are reported when the config is validated.
        return {**data, "input_schema": {"type": "object"} if schema is None else schema}

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
_UPDATE_DESCRIPTION = "A change to a tool: absent fields and masked values stay, null clears."
ToolUpdate = create_model("ToolUpdate", __base__=_Version, __doc__=_UPDATE_DESCRIPTION, **_update_fields)


def read_definition(data: Any, *, kept_kind: str | None = None) -> ToolCreate:
    """Return the parsed definition; raise Invalid with every fault. `kept_kind` is allowed, installed or not."""
    try:
        return ToolCreate.model_validate(data, context={"kept_kind": kept_kind})
    except ValidationError as error:
        raise Invalid.of("The tool definition is not valid", list_model_faults(error, ToolCreate)) from None


def describe_definition() -> JsonObject:
    """Return the JSON Schema of a definition; `tool_type` is any text, because packages add kinds."""
    schema = ToolCreate.model_json_schema()
    schema.pop("description", None)
    schema["$defs"].pop("Kind", None)
    schema["properties"]["tool_type"] = {
        "type": "string",
        "description": ToolCreate.model_fields["tool_type"].description,
    }
    return schema


def describe_plugin_configs(place: str) -> dict[str, JsonObject]:
    """Return the JSON Schema of the config of each kind that an installed package adds or replaces.

    `place` is where its definitions will stand: a JSON pointer with {name} for the kind and {{model}} for a definition.
    """
    return {
        kind.name: kind.config.model_json_schema(ref_template=place.format(name=kind.name))
        for kind in list_plugin_kinds()
    }
