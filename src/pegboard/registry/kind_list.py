"""The kinds of tools as people see them: purpose, config, example, and who may register them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel

from pegboard.kinds.base import KindSpec, RegistrationRules
from pegboard.kinds.catalog import load_kinds
from pegboard.model.call import Caller
from pegboard.registry.build_tool import make_empty_tool

# Stands for any member.
_MEMBER = Caller("", "")


@dataclass(frozen=True, slots=True)
class KindDescription:
    """One kind of tool; `restriction` is what members may not register, if there is anything."""

    name: str
    purpose: str
    config_schema: Mapping[str, Any]
    example: Mapping[str, Any] | None
    derives_schema: bool
    default_timeout: float
    registered_by: Literal["users", "admins"] | None
    restriction: str | None


def list_kinds(rules: RegistrationRules) -> list[KindDescription]:
    """Return the installed kinds in the order of the catalog, as these rules of a board allow them."""
    return [_describe(kind, rules) for kind in load_kinds().values()]


def _describe(kind: KindSpec, rules: RegistrationRules) -> KindDescription:
    refusal = None
    if kind.example is not None:
        empty = make_empty_tool("", _MEMBER.user_id, datetime.now(UTC))
        tool = replace(empty, tool_type=kind.name, config=kind.example["config"])
        refusal = kind.may_register(tool, _MEMBER, rules)
    return KindDescription(
        name=kind.name,
        purpose=kind.purpose,
        config_schema=_build_schema(kind.config),
        example=kind.example,
        derives_schema=kind.derive_schema is not None,
        default_timeout=kind.default_timeout,
        registered_by=None if kind.example is None else "users" if refusal is None else "admins",
        restriction=refusal or kind.restriction or None,
    )


@lru_cache(maxsize=100)
def _build_schema(config: type[BaseModel]) -> Mapping[str, Any]:
    return config.model_json_schema()
