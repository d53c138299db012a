"""The cost of validating the ten fields of a row."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

import orjson

from bench.harness import median, row
from pegboard.kinds.table.arguments import TableArgumentChecker
from pegboard.kinds.table.config import TableEntry
from pegboard.kinds.table.generate_tools import build_table_tools

ROUNDS, CHECKS = 50, 1000
AIM_US = 20.0
_FIELDS: list[dict[str, Any]] = [
    {"name": "user_id", "dataType": "text", "minLength": 1, "maxLength": 50},
    {"name": "notes", "dataType": "text", "maxLength": 500},
    {"name": "weight", "dataType": "numeric", "min": 0, "max": 500, "precision": 5, "scale": 2},
    {"name": "price", "dataType": "numeric", "precision": 12, "scale": 4},
    {"name": "height", "dataType": "integer", "min": 0, "max": 300},
    {"name": "visits", "dataType": "integer"},
    {"name": "is_smoker", "dataType": "boolean"},
    {"name": "activity", "dataType": "enum", "enumValues": ["sedentary", "light", "moderate", "active"]},
    {"name": "recorded_at", "dataType": "datetime", "minDate": "2000-01-01T00:00:00Z"},
    {"name": "metadata", "dataType": "json"},
]
_GIVEN = b"""{"user_id": "user_123", "notes": "A long walk along the river, then home by the hill", "weight": 71.25,
"price": 1234.5678, "height": 180, "visits": 12, "is_smoker": false, "activity": "moderate",
"recorded_at": "2025-10-05T14:30:00Z", "metadata": {"device": "watch", "steps": 9120}}"""


def show() -> tuple[float, bool]:
    """Print the time of a validation in microseconds; return it, and whether the aim is met."""
    entry = TableEntry.model_validate(
        {
            "toolId": "submit-health-form",
            "displayName": "Health form",
            "description": "Submit the form of a day",
            "tableName": "health_forms",
            "fields": [{"required": True, "label": field["name"], **field} for field in _FIELDS],
        }
    )
    tool, *_ = build_table_tools(entry, None, owner_id="bench", now=datetime.now(UTC))
    check = TableArgumentChecker(tool).check
    given = orjson.loads(_GIVEN)
    rounds = []
    for _ in range(1 + ROUNDS):
        begun = time.perf_counter()
        for _ in range(CHECKS):
            check(given)
        rounds.append((time.perf_counter() - begun) / CHECKS * 1e6)
    took = median(rounds[1:])
    row("validation of 10 fields", f"{took:.1f} µs")
    print(f"  aim: under {AIM_US:g} µs: {'met' if took < AIM_US else 'MISSED'}")
    return took, took < AIM_US
