"""The interface of builtin operations, and helpers to read their arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pegboard.model.call_errors import ExecutionFailed


@dataclass(frozen=True, slots=True)
class Builtin:
    """An operation shipped with Pegboard; `run` is fast, synchronous and has no side effects."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None
    run: Callable[[dict[str, Any]], Any]
    display_name: str | None = None


# A tool may declare any input schema for an operation, so arguments are not necessarily validated against ours.


def read_text_argument(arguments: Mapping[str, Any], name: str, max_length: int, default: str | None = None) -> str:
    """Return the argument as a string; raise ExecutionFailed if it is not one or too long."""
    value = arguments.get(name, default)
    if not isinstance(value, str):
        raise ExecutionFailed(f"'{name}' must be a string, but is {describe_type(value)}")
    if len(value) > max_length:
        raise ExecutionFailed(f"'{name}' may have at most {max_length} characters, but has {len(value)}")
    return value


def read_number_argument(arguments: Mapping[str, Any], name: str, default: float) -> float:
    """Return the argument as a finite float; raise ExecutionFailed if it is not a number."""
    value = arguments.get(name, default)
    if not is_number(value):
        raise ExecutionFailed(f"'{name}' must be a number, but is {describe_type(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ExecutionFailed(f"'{name}' must be a finite number")
    return number


def is_number(value: Any) -> bool:
    """True if the value is a number in JSON."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def describe_type(value: Any) -> str:
    """Return the JSON type of the value, as a phrase for messages."""
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "an array"}
    names |= {dict: "an object", type(None): "missing or null"}
    return names.get(type(value), f"of type {type(value).__name__}")
