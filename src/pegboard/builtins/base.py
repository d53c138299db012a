"""What a builtin operation is, and how one reads its arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pegboard.core.errors import ExecutionFailed


@dataclass(frozen=True, slots=True)
class Builtin:
    """An operation shipped with the board; `run` is quick, pure and synchronous."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None
    run: Callable[[dict[str, Any]], Any]
    display_name: str | None = None


# A tool may put any input schema in front of an operation, so what arrives was not necessarily checked against ours.


def text_of(arguments: Mapping[str, Any], name: str, max_length: int, default: str | None = None) -> str:
    """The argument as a string of bounded length."""
    value = arguments.get(name, default)
    if not isinstance(value, str):
        raise ExecutionFailed(f"'{name}' must be a string, but is {type_of(value)}")
    if len(value) > max_length:
        raise ExecutionFailed(f"'{name}' may have at most {max_length} characters, but has {len(value)}")
    return value


def number_of(arguments: Mapping[str, Any], name: str, default: float) -> float:
    """The argument as a finite number."""
    value = arguments.get(name, default)
    if not is_number(value):
        raise ExecutionFailed(f"'{name}' must be a number, but is {type_of(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ExecutionFailed(f"'{name}' must be a finite number")
    return number


def is_number(value: Any) -> bool:
    """Whether JSON would call this a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def type_of(value: Any) -> str:
    """What JSON calls the type of this value, as a model would read it."""
    return _TYPES.get(type(value), f"of type {type(value).__name__}")


_TYPES = {
    type(None): "missing or null",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "an array",
    dict: "an object",
}
