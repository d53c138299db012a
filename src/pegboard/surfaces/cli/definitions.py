"""Tools as people write them: what to leave out, and what a change to one is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.core.definitions import ToolCreate
from pegboard.core.display import Display
from pegboard.core.tool import RateLimit, Retry


def written(tool: Mapping[str, Any]) -> dict[str, Any]:
    """The definition that gives this tool, as short as it can be; secrets stay masked."""
    definition: dict[str, Any] = {}
    for name, field in ToolCreate.model_fields.items():
        value = tool.get(name)
        if field.is_required():
            definition[name] = value
            continue
        default = field.get_default()
        if value is not None and value != (list(default) if isinstance(default, tuple) else default):
            definition[name] = _SHORTER[name](value) if name in _SHORTER else value
    return _in_order(definition)


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The change that makes one definition the other; what is gone is cleared."""
    gone = {name: None for name in before if name not in after}
    return gone | {name: value for name, value in after.items() if name not in before or not same(before[name], value)}


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal and of the same types throughout."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)


def _rate_limit(value: Any) -> Any:
    return RateLimit.model_validate(value).model_dump(mode="json", exclude_defaults=True)


def _retry(value: Any) -> Any:
    short = Retry.model_validate(value).model_dump(mode="json", exclude_defaults=True)
    return {**short, "on": sorted(short["on"])} if "on" in short else short


def _fallback(value: Any) -> Any:
    return {"tool": value["tool"]} if value.get("tool") is not None else {"value": value.get("value")}


def _display(value: Any) -> Any:
    return Display.model_validate(value).model_dump(mode="json", exclude_defaults=True)


_SHORTER = {"rate_limit": _rate_limit, "retry": _retry, "fallback": _fallback, "display": _display}


def _in_order(definition: dict[str, Any]) -> dict[str, Any]:
    first = [name for name in ("name", "display_name", "description", "tool_type", "config") if name in definition]
    return {name: definition[name] for name in [*first, *(name for name in definition if name not in first)]}
