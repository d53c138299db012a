"""Sample tools for a new board."""

from __future__ import annotations

from typing import Any

_CITY_SCHEMA = {"type": "string", "description": "City name, e.g. Lisbon"}

DEMO_TOOLS: tuple[dict[str, Any], ...] = (
    {
        "name": "get_weather",
        "display_name": "Weather",
        "description": "The current weather in a city (sample data).",
        "tool_type": "mock",
        "config": {
            "mock_response": {"temperature_c": 18, "sky": "cloudy"},
            "mock_responses": [
                {"when": {"city": "Lisbon"}, "respond": {"temperature_c": 24, "sky": "clear"}},
                {"when": {"city": "Oslo"}, "respond": {"temperature_c": 3, "sky": "snow"}},
            ],
        },
        "input_schema": {"type": "object", "properties": {"city": _CITY_SCHEMA}, "required": ["city"]},
        "is_public": True,
        "read_only": True,
        "tags": ["demo"],
    },
    {
        "name": "create_ticket",
        "display_name": "Create ticket",
        "description": "Open a ticket in the (sample) tracker.",
        "tool_type": "mock",
        "config": {"mock_response": {"ticket": "DEMO-1", "status": "open"}},
        "input_schema": {
            "type": "object",
            "properties": {
                "title": {"type": "string", "minLength": 3, "maxLength": 120},
                "priority": {"type": "string", "enum": ["low", "normal", "high"], "default": "normal"},
            },
            "required": ["title"],
        },
        "rate_limit": {"max_calls": 30, "period": "minute", "burst": 5},
        "keep_arguments": True,
        "is_public": True,
        "tags": ["demo"],
    },
    {
        "name": "rsi_signal",
        "display_name": "RSI signal",
        "description": "Relative strength of a price series over 5 periods: overbought above 80, oversold below 20.",
        "tool_type": "builtin",
        "config": {"operation": "calculate_rsi", "parameters": {"period": 5, "overbought": 80, "oversold": 20}},
        "input_schema": {
            "type": "object",
            "properties": {"prices": {"type": "array", "items": {"type": "number"}, "minItems": 6}},
            "required": ["prices"],
        },
        "is_public": True,
        "read_only": True,
        "tags": ["demo"],
    },
)
