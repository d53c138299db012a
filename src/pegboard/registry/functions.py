"""Python functions as tools: the schema comes from the annotations."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import Field, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

from pegboard.core.errors import FieldProblem
from pegboard.executors.internal import Handler, context_parameter_of
from pegboard.registry.problems import invalid

DRAFT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """What a function says about itself as a tool."""

    name: str
    description: str | None
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
    handler: Handler


def function_tool(function: Callable[..., Any], name: str | None = None) -> FunctionTool:
    """The function as a tool; TypeError says what about its signature cannot be one."""
    label = name or str(getattr(function, "__name__", ""))
    context = context_parameter_of(function)
    hints = typing.get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == context:
            continue
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{label}() cannot be a tool: parameter '{parameter.name}' cannot be given by name")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hints.get(parameter.name, Any), default)
    # Pydantic reserves some attribute names; a field of another name with the parameter's as alias avoids them all.
    names = list(fields)
    columns: dict[str, Any] = {
        f"p{place}": (fields[each][0], Field(fields[each][1], alias=each)) for place, each in enumerate(names)
    }
    model = create_model(f"{label}_arguments", **columns)
    schema = _untitled(model.model_json_schema(by_alias=True))

    def read(arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            checked = model.model_validate(arguments)
        except ValidationError as error:
            raise invalid([_problem(item) for item in error.errors(include_url=False)]) from None
        return {names[place]: getattr(checked, f"p{place}") for place in range(len(names))}

    returns = hints.get("return", Any)
    adapter = _adapter(returns)
    output = None if adapter is None or returns in (Any, None, type(None)) else _untitled(adapter.json_schema())
    return FunctionTool(
        label,
        inspect.getdoc(function),
        {"$schema": DRAFT, **schema},
        {"$schema": DRAFT, **output} if output else None,
        Handler(
            function,
            context,
            inspect.iscoroutinefunction(inspect.unwrap(function)),
            read if fields else None,
            None if adapter is None else lambda value: adapter.dump_python(value, mode="json", warnings="none"),
        ),
    )


def _adapter(returns: Any) -> TypeAdapter[Any] | None:
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(returns)
        adapter.json_schema(mode="serialization")
    except (PydanticSchemaGenerationError, PydanticUserError):
        return None
    return adapter


def _untitled(schema: Any) -> Any:
    """Without the titles pydantic makes up from names: they cost tokens and tell a model nothing."""
    if isinstance(schema, dict):
        return {
            key: {name: _untitled(item) for name, item in value.items()}
            if key in ("properties", "$defs") and isinstance(value, dict)
            else _untitled(value)
            for key, value in schema.items()
            if not (key == "title" and isinstance(value, str))
        }
    return [_untitled(item) for item in schema] if isinstance(schema, list) else schema


def _problem(item: Any) -> FieldProblem:
    path = ".".join(map(str, item["loc"]))
    return FieldProblem("custom", f"Field '{path}': {item['msg']}", path, None, str(item.get("input"))[:100])
