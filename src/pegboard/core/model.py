"""What all data that people write is read by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

# As many keys as an object may have whose keys are known, and as many entries as a list or map of such values. Each
# unknown key and each wrong entry is an error of its own, and all of them are collected while nothing else runs.
MAX_KEYS = 100
MAX_ENTRIES = 1000


class Model(BaseModel):
    """Data that crosses a boundary: frozen, and unknown keys are refused by name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _bound_keys(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and len(data) > MAX_KEYS:
            raise ValueError(f"must have at most {MAX_KEYS} keys, but received {len(data):,}")
        return data


def _bound_entries(value: Any) -> Any:
    if isinstance(value, list | tuple | Mapping) and len(value) > MAX_ENTRIES:
        raise ValueError(f"must have at most {MAX_ENTRIES:,} entries, but received {len(value):,}")
    return value


# For lists, tuples and maps whose entries are checked; the length of a list alone is checked as early by `max_length`.
Bounded = BeforeValidator(_bound_entries)
