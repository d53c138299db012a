"""What all data that people write is read by."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """Data that crosses a boundary: frozen, and unknown keys are refused by name."""

    model_config = ConfigDict(frozen=True, extra="forbid")
