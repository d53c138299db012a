"""Tools as people write them: what to leave out, and what a change to one is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.model.display_format import Display
from pegboard.model.json_text import is_json_equal
from pegboard.model.tool import RateLimit, Retry
from pegboard.model.tool_definition import ToolCreate


def to_definition(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return the definition of this tool without default values; secrets stay masked."""
    definition: dict[str, Any] = {}
    for name, field in ToolCreate.model_fields.items():
        value = tool.get(name)
        if field.is_required():
            definition[name] = value
            continue
        default = field.get_default()
        if value is not None and value != (list(default) if isinstance(default, tuple) else default):
            definition[name] = _FIELD_SHORTENERS[name](value) if name in _FIELD_SHORTENERS else value
    return _order_fields(definition)


def diff_definitions(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the update that changes one definition to the other; removed fields are set to None."""
    gone = {name: None for name in before if name not in after}
    return gone | {
        name: value
        for name, value in after.items()
        if name not in before or not is_json_equal(before[name], value, exact_numbers=True)
    }


def _shorten_rate_limit(value: Any) -> Any:
    return RateLimit.model_validate(value).model_dump(mode="json", exclude_defaults=True)


def _shorten_retry(value: Any) -> Any:
    short = Retry.model_validate(value).model_dump(mode="json", exclude_defaults=True)
    return {**short, "on": sorted(short["on"])} if "on" in short else short


def _shorten_fallback(value: Any) -> Any:
    return {"tool": value["tool"]} if value.get("tool") is not None else {"value": value.get("value")}


def _shorten_display(value: Any) -> Any:
    return Display.model_validate(value).model_dump(mode="json", exclude_defaults=True)


_FIELD_SHORTENERS = {
    "rate_limit": _shorten_rate_limit,
    "retry": _shorten_retry,
    "fallback": _shorten_fallback,
    "display": _shorten_display,
}


def _order_fields(definition: dict[str, Any]) -> dict[str, Any]:
    first = [name for name in ("name", "display_name", "description", "tool_type", "config") if name in definition]
    return {name: definition[name] for name in [*first, *(name for name in definition if name not in first)]}
