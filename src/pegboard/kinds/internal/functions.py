"""Registers Python functions of this process as tools or handlers; the schema comes from the annotations."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

from pydantic import BaseModel, Field, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

from pegboard.baseline.baseline import Baseline
from pegboard.baseline.baseline_tools import build_baseline_handlers
from pegboard.entry_points import load_entry_points
from pegboard.json_schema.argument_problems import build_invalid_arguments
from pegboard.json_schema.value_text import format_value
from pegboard.kinds.internal.executor import Handler, InternalExecutor, find_context_parameter
from pegboard.kinds.local_tools import LocalTools
from pegboard.model.api_errors import Conflict
from pegboard.model.call_errors import FieldProblem
from pegboard.model.secrets import is_secret_name
from pegboard.model.tool import Kind, Tool
from pegboard.model.validation_messages import list_item_faults

_NAMESPACE = UUID("5d1f1c52-6f0e-5c7e-9a53-3c1c7b2f4d10")
SCHEMA_DRAFT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """The tool fields derived from a function."""

    name: str
    description: str | None
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
    handler: Handler


def make_function_id(name: str) -> str:
    """Return the tool id of a function: the same at every start, so that data stored under it stays valid."""
    return str(uuid5(_NAMESPACE, name))


def build_function_tool(function: Callable[..., Any], name: str | None = None) -> FunctionTool:
    """Build a tool from a function; raise TypeError if its signature is not suitable."""
    label = name or str(getattr(function, "__name__", ""))
    context = find_context_parameter(function)
    hints = typing.get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == context:
            continue
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{label}() cannot be a tool: parameter '{parameter.name}' cannot be given by name")
        default = ... if parameter.default is parameter.empty else parameter.default
        hint = hints.get(parameter.name, Any)
        # `unit: str = None` allows null, whatever the annotation.
        fields[parameter.name] = (hint if default is not None else typing.Optional[hint], default)  # noqa: UP045
    # Pydantic reserves some attribute names; numbered field names with the parameter as alias avoid all conflicts.
    names = list(fields)
    columns: dict[str, Any] = {
        f"p{place}": (fields[each][0], Field(fields[each][1], alias=each)) for place, each in enumerate(names)
    }
    model = create_model(f"{label}_arguments", **columns)
    schema = _remove_titles(model.model_json_schema(by_alias=True))

    def read(arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            checked = model.model_validate(arguments)
        except ValidationError as error:
            raise build_invalid_arguments(
                [_build_problem(item, model) for item in error.errors(include_url=False)]
            ) from None
        return {names[place]: getattr(checked, f"p{place}") for place in range(len(names))}

    def write(value: Any) -> Any:
        assert adapter is not None
        return adapter.dump_python(value, mode="json", by_alias=True, warnings="none")

    returns = hints.get("return", Any)
    adapter = _build_adapter(returns)
    described = adapter is not None and returns not in (Any, None, type(None))
    output = _remove_titles(adapter.json_schema(mode="serialization")) if adapter is not None and described else None
    return FunctionTool(
        label,
        inspect.getdoc(function),
        {"$schema": SCHEMA_DRAFT, **schema},
        {"$schema": SCHEMA_DRAFT, **output} if output else None,
        Handler(
            function,
            context,
            inspect.iscoroutinefunction(inspect.unwrap(function)),
            read if fields else None,
            None if adapter is None else write,
        ),
    )


def _build_adapter(returns: Any) -> TypeAdapter[Any] | None:
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(returns)
        adapter.json_schema(mode="serialization")
    except (PydanticSchemaGenerationError, PydanticUserError):
        return None
    return adapter


def _remove_titles(schema: Any) -> Any:
    """Remove the titles that pydantic derives from names: they cost tokens without information for a model."""
    if isinstance(schema, dict):
        return {
            key: {name: _remove_titles(item) for name, item in value.items()}
            if key in ("properties", "$defs") and isinstance(value, dict)
            else _remove_titles(value)
            for key, value in schema.items()
            if not (key == "title" and isinstance(value, str))
        }
    return [_remove_titles(item) for item in schema] if isinstance(schema, list) else schema


def _build_problem(item: Any, model: type[BaseModel]) -> FieldProblem:
    (fault,) = list_item_faults([item], model)
    received = None if is_secret_name(fault.field) else format_value(item.get("input"))
    return FieldProblem("custom", f"Field '{fault.field}': {fault.message}", fault.field, None, received)


class FunctionRegistry:
    """The functions that this process registers on its board."""

    def __init__(
        self, internal: InternalExecutor, snapshot: LocalTools, build: Callable[[str, Mapping[str, Any]], Tool]
    ) -> None:
        self._internal = internal
        self._snapshot = snapshot
        # Returns the tool of the admin with this id and definition.
        self._build = build

    def add_function(self, function: Callable[..., Any], name: str | None, fields: Mapping[str, Any]) -> None:
        """Register the function as a tool of the admin that is never stored; raise Conflict if its name is taken."""
        described = build_function_tool(function, name)
        taken = self._snapshot.find(described.name)
        if taken is not None and taken.tool not in self._snapshot.local():
            raise Conflict(f"A tool named '{described.name}' is stored on this board already")
        if taken is not None and taken.tool.tool_type == Kind.TABLE:
            raise Conflict(f"A tool named '{described.name}' is already defined in the tables file")
        definition = {
            "name": described.name,
            "description": described.description,
            "tool_type": Kind.INTERNAL,
            "config": {"handler": described.name},
            "input_schema": described.input_schema,
            "output_schema": described.output_schema,
            **fields,
        }
        tool = self._build(make_function_id(described.name), definition)
        _replace_handler(self._internal.functions, tool.id, described.handler)
        self._snapshot.add_local(tool)

    def register_handler(self, name: str, handler: Handler) -> None:
        """Register the handler for stored internal tools that name it, replacing any previous one."""
        _replace_handler(self._internal.handlers, name, handler)
        self._snapshot.forget(lambda tool: tool.tool_type == Kind.INTERNAL and tool.config.get("handler") == name)


def build_shipped_handlers(baseline: Baseline) -> dict[str, Handler]:
    """Return the handlers of the internal tools that every board has."""
    return {name: Handler.of(function) for name, function in build_baseline_handlers(baseline).items()}


def load_installed_handlers() -> dict[str, Handler]:
    """Return the handlers of installed packages: for admins' tools, and a separate group also for members' tools."""
    for_members = load_entry_points("pegboard.member_handlers", functools.partial(Handler.of, for_members=True))
    return load_entry_points("pegboard.handlers", Handler.of) | for_members


def _replace_handler(handlers: dict[str, Handler], key: str, handler: Handler) -> None:
    before = handlers.get(key)
    handlers[key] = handler
    if before is not None:
        before.threads.close()
