"""Python functions as tools: the schema comes from the annotations."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

from pydantic import Field, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

from pegboard.core.errors import FieldProblem
from pegboard.core.model_errors import message_of
from pegboard.executors.internal import Handler, context_parameter_of
from pegboard.registry.problems import invalid
from pegboard.registry.shown import is_secret, text_of

_NAMESPACE = UUID("5d1f1c52-6f0e-5c7e-9a53-3c1c7b2f4d10")
DRAFT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """What a function says about itself as a tool."""

    name: str
    description: str | None
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
    handler: Handler


def function_id(name: str) -> str:
    """The id of a function's tool: the same at every start, so that what is kept about it goes on."""
    return str(uuid5(_NAMESPACE, name))


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
        hint = hints.get(parameter.name, Any)
        # `unit: str = None` says that null is allowed, whatever the annotation says.
        fields[parameter.name] = (hint if default is not None else typing.Optional[hint], default)  # noqa: UP045
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

    def write(value: Any) -> Any:
        assert adapter is not None
        return adapter.dump_python(value, mode="json", by_alias=True, warnings="none")

    returns = hints.get("return", Any)
    adapter = _adapter(returns)
    described = adapter is not None and returns not in (Any, None, type(None))
    output = _untitled(adapter.json_schema(mode="serialization")) if adapter is not None and described else None
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
            None if adapter is None else write,
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
    received = None if is_secret(path) else text_of(item.get("input"))
    return FieldProblem("custom", f"Field '{path}': {message_of(item)}", path, None, received)
