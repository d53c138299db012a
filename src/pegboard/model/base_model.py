"""The base class of all models of data from outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

# Limits on the keys of an object with known keys, and on the entries of a list or map of such objects. Each unknown key
# and each invalid entry is a separate error, and collecting all of them blocks the event loop.
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


# For lists, tuples and maps whose entries are validated; `max_length` alone checks a list just as early.
Bounded = BeforeValidator(_bound_entries)
