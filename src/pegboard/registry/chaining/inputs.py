"""The input of a chain that is run without being saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.core.errors import ToolError
from pegboard.core.refusals import Fault, Invalid
from pegboard.registry.arguments import Arguments, as_floats, measure
from pegboard.registry.schemas import SchemaProblem, check_schema


def checked_input(schema: Mapping[str, Any], given: dict[str, Any], *, max_depth: int, max_bytes: int) -> Any:
    """The input as a saved chain with this schema would get it; raises Invalid if the schema or the input is wrong."""
    try:
        check_schema(schema, where="input_schema")
    except SchemaProblem as error:
        fault = Fault("input_schema", str(error).removeprefix("input_schema").lstrip(": "))
        raise Invalid.of("The chain is not valid", [fault]) from None
    try:
        if measure(given, max_depth=max_depth, max_values=max_bytes // 2):
            given = as_floats(given)
        return Arguments(schema).check(given)
    except ToolError as error:
        raise Invalid.of("The chain did not run", [Fault("input", error.message)]) from None
