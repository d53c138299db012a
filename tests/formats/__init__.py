"""Real payloads of every dialect, one folder each, and the expected result of parsing them.

In each folder `call.json`, `stream.json`, `result.json` and `definition.json` have `{case: payload}`; `index.json` has
the name and version of the package that made them, and the expected result of every case.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
NAMES = sorted(folder.name for folder in HERE.iterdir() if (folder / "index.json").exists())


class Case(NamedTuple):
    """One payload and its expected result."""

    dialect: str
    kind: str
    name: str
    payload: Any
    about: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.dialect}-{self.name}"


@cache
def cases(kind: str) -> list[Case]:
    """Return every case of one kind: call, stream, result or definition."""
    found = []
    for name in NAMES:
        about = json.loads((HERE / name / "index.json").read_text())["cases"].get(kind, {})
        file = HERE / name / f"{kind}.json"
        payloads = json.loads(file.read_text()) if file.exists() else {}
        found += [Case(name, kind, case, payload, about[case]) for case, payload in payloads.items()]
    return found


TOOLS: dict[str, dict[str, Any]] = {
    "get_weather": {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "City name"},
            "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
        },
        "required": ["city"],
        "additionalProperties": False,
    },
    "search_docs": {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "filters": {"type": "object"},
            "limit": {"type": "integer"},
        },
    },
    "list_projects": {"type": "object", "properties": {}},
}
