"""Hold what a tool returned against what it may return."""

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

from pegboard.core.errors import ContractViolation, ExecutionFailed, ResultTooLarge
from pegboard.registry.peg import Peg
from pegboard.registry.problems import problems_of

_OPTIONS = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS


class Checker:
    """Makes sure an output is JSON, of bounded size, and as its schema says."""

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes

    def check(self, peg: Peg, output: Any) -> bytes:
        """The output as JSON text."""
        text = as_json(output)
        limit = peg.tool.max_result_bytes or self._max_bytes
        if len(text) > limit:
            raise ResultTooLarge(
                f"The tool returned {len(text):,} bytes of JSON, at most {limit:,} are allowed; ask for less at once"
            )
        schema = peg.tool.output_schema
        if schema is not None and not peg.output.is_valid(data := orjson.loads(text)):
            # Without the values: an output may hold what no journal should.
            problems = problems_of(peg.output, schema, data, subject="The output")
            raise ContractViolation(
                "The tool's output breaks its output schema: " + "; ".join(item.without_value for item in problems[:5])
            )
        return text


def as_json(output: Any) -> bytes:
    """The output as JSON text; raises ExecutionFailed where it is not JSON."""
    try:
        text = orjson.dumps(output, default=_plain, option=_OPTIONS)
    except (TypeError, ValueError, RecursionError) as error:
        raise ExecutionFailed(f"The tool returned something that is not JSON: {error}") from error
    # orjson writes NaN and infinities as null; a number that is silently lost must be an error.
    if b"null" in text and not _finite(output):
        raise ExecutionFailed("The tool returned something that is not JSON: a number that is not finite")
    return text


def _plain(value: Any) -> Any:
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


def _finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, enum.Enum):
        return _finite(value.value)
    if isinstance(value, BaseModel) or (dataclasses.is_dataclass(value) and not isinstance(value, type)):
        return _finite(_plain(value))
    if isinstance(value, dict):
        return all(_finite(item) for item in value.values())
    if isinstance(value, list | tuple):
        return all(_finite(item) for item in value)
    return True
