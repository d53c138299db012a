"""The check stage: checks the output of a tool for JSON, size and output schema."""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Callable
from datetime import date, datetime, time
from typing import Any
from uuid import UUID

import orjson
from pydantic import BaseModel

from pegboard.json_schema.argument_problems import list_problems
from pegboard.json_schema.compile import BoundedValidator
from pegboard.json_schema.validation_cost import TooCostly
from pegboard.model.call_errors import ContractViolation, ExecutionFailed, ResultTooLarge
from pegboard.registry.compiled_tool import CompiledTool

_ORJSON_OPTIONS = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS


class OutputChecker:
    """Checks that an output is JSON, not too large, and valid for the tool's output schema."""

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes

    def check(self, compiled: CompiledTool, output: Any) -> bytes:
        """Return the output as JSON text; raise ExecutionFailed, ResultTooLarge or ContractViolation."""
        text = encode_output(output)
        limit = compiled.tool.max_result_bytes or self._max_bytes
        if len(text) > limit:
            raise ResultTooLarge(
                f"The tool returned {len(text):,} bytes of JSON, at most {limit:,} are allowed; ask for less at once"
            )
        if compiled.tool.output_schema is not None:
            _check_schema(compiled.output, text)
        return text


def _check_schema(validator: BoundedValidator, text: bytes) -> None:
    data = orjson.loads(text)
    try:
        fits = validator.is_valid(data, len(text))
    except TooCostly as error:
        raise ResultTooLarge(f"The tool's output is too large for its output schema: {error}") from None
    if not fits:
        # Without values: an output may contain data that must not be stored in the journal.
        problems = list_problems(validator, data, subject="The output")
        raise ContractViolation(
            "The tool's output breaks its output schema: "
            + "; ".join(item.message_without_value for item in problems[:5])
        )


def encode_output(output: Any) -> bytes:
    """Return the output as JSON text; raise ExecutionFailed if it is not JSON."""
    try:
        text = orjson.dumps(output, default=_to_plain, option=_ORJSON_OPTIONS)
    except (TypeError, ValueError, RecursionError) as error:
        raise ExecutionFailed(f"The tool returned something that is not JSON: {error}") from error
    # orjson writes NaN and infinities as null; a number must not be lost silently.
    if b"null" in text and not _is_finite(output):
        raise ExecutionFailed("The tool returned something that is not JSON: a number that is not finite")
    return text


def _to_plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, enum.Enum):
        return value.value
    bare: tuple[Callable[[Any], Any], ...] = (str, int, float, dict, list, tuple)
    for plain in bare:
        if isinstance(value, plain):  # type: ignore[arg-type]  # each of them is a class
            return plain(value)
    raise TypeError(f"a value of type {type(value).__name__}")


def _is_finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, enum.Enum):
        return _is_finite(value.value)
    if isinstance(value, BaseModel) or (dataclasses.is_dataclass(value) and not isinstance(value, type)):
        return _is_finite(_to_plain(value))
    if isinstance(value, dict):
        return all(_is_finite(item) for item in value.values())
    if isinstance(value, list | tuple):
        return all(_is_finite(item) for item in value)
    return True
