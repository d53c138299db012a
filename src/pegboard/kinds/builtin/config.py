"""The config of builtin tools."""

from __future__ import annotations

from typing import Any

from pydantic import AliasChoices, Field

from pegboard.kinds.config_fields import NonEmptyText
from pegboard.model.base_model import Model


class BuiltinConfig(Model):
    """An operation shipped with the board; `parameters` are defaults under the call's arguments."""

    operation: NonEmptyText = Field(validation_alias=AliasChoices("operation", "handler"))
    parameters: dict[str, Any] = {}
