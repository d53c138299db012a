"""The config of a tool that is about to run, with its owner's secrets filled in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from pegboard.core.errors import Misconfigured
from pegboard.core.model_errors import message_of

M = TypeVar("M", bound=BaseModel)


def read_config(model: type[M], config: Mapping[str, Any]) -> M:
    """The config as this model has it; raises Misconfigured, which says where it is wrong and not what stands there."""
    try:
        return model.model_validate(config)
    except ValidationError as error:
        # The message repeats no value: it may be a named secret, which is filled in by now.
        first = error.errors(include_url=False)[0]
        where = ".".join(["config", *map(str, first["loc"])])
        raise Misconfigured(f"{where}: {message_of(first)}") from None
