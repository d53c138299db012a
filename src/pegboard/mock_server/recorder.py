"""Generates fixtures from recorded calls of a journal."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pegboard.mock_server.fixtures import ERROR_CLASSES_BY_CODE, FixtureTool
from pegboard.model.json_text import map_leaves
from pegboard.model.secrets import MASK, is_secret_name

# Behaviour around a tool, such as retries, is part of the recorded answers.
_COPIED_FIELDS = (
    "name",
    "description",
    "display_name",
    "input_schema",
    "output_schema",
    "result_style",
    "unknown_parameters",
    "idempotent",
    "read_only",
    "destructive",
)


@dataclass(frozen=True, slots=True)
class RecordedFixtures:
    """The fixtures, how many calls they contain, and why other calls were left out."""

    fixtures: dict[str, Any]
    calls: int
    left_out: Mapping[str, int]
    masked: int


def record_fixtures(rows: Iterable[Mapping[str, Any]], tools: Mapping[str, Mapping[str, Any]]) -> RecordedFixtures:
    """Return fixtures that answer like these executions, oldest first; `tools` are definitions by id."""
    left_out: Counter[str] = Counter()
    masks = _SecretMasker()
    answers: dict[str, dict[str, list[_RecordedAnswer]]] = {}
    calls = 0
    for row in rows:
        tool = tools.get(str(row["tool_id"]))
        why = _explain_omission(row, tool)
        if why is not None:
            left_out[why] += 1
            continue
        calls += 1
        when = masks.remove_secrets(row["arguments"])
        answer = {"respond": masks.mask_secrets(row["result"])} if row["status"] == "succeeded" else _build_error(row)
        sequence = answers.setdefault(str(row["tool_id"]), {}).setdefault(_to_canonical_json(when), [])
        if sequence and _to_canonical_json(sequence[-1].answer) == _to_canonical_json(answer):
            sequence[-1].times += 1
        else:
            sequence.append(_RecordedAnswer(when, answer))
    written = [_build_tool(tools[tool_id], groups) for tool_id, groups in answers.items()]
    written.sort(key=lambda tool: str(tool["name"]))
    return RecordedFixtures({"tools": written}, calls, dict(left_out), masks.count)


def _explain_omission(row: Mapping[str, Any], tool: Mapping[str, Any] | None) -> str | None:
    """Return the reason why this execution cannot become a fixture, or None."""
    reasons = (
        (row["status"] == "refused", "refused before the tool ran"),
        (row["status"] == "in_doubt" or row["code"] == "cancelled", "interrupted, so there is no answer"),
        (row["repeat_of"] is not None and not row["attempts"], "a repeat, which got the answer of an earlier call"),
        (tool is None, "its tool no longer exists"),
        (row["arguments"] is None, "without arguments: the tool does not keep_arguments"),
        (
            row["status"] == "succeeded" and row["result"] is None,
            "without a result: the tool does not keep_result, or it was null or over 64 KiB",
        ),
        (
            row["status"] == "failed" and row["code"] not in ERROR_CLASSES_BY_CODE,
            "failed with a code that fixtures do not have",
        ),
    )
    return next((why for is_so, why in reasons if is_so), None)


def _build_error(row: Mapping[str, Any]) -> dict[str, Any]:
    message = row["error"] or str(row["code"])
    return {"error": message if row["code"] == "execution_failed" else {"message": message, "code": row["code"]}}


def _build_tool(tool: Mapping[str, Any], groups: Mapping[str, list[_RecordedAnswer]]) -> dict[str, Any]:
    fields = FixtureTool.model_fields
    kept = {
        name: tool[name] for name in _COPIED_FIELDS if fields[name].is_required() or tool[name] != fields[name].default
    }
    # A `when` that is contained in others comes after them, otherwise it would answer their calls.
    ordered = sorted(groups.values(), key=lambda sequence: -_count_keys(sequence[0].when))
    return {**kept, "responses": [response for sequence in ordered for response in _build_responses(sequence)]}


def _build_responses(sequence: list[_RecordedAnswer]) -> list[dict[str, Any]]:
    """Return the answers to one set of arguments in order; the last one has no count and is repeated."""
    last = sequence[-1]
    return [
        ({"when": each.when} if each.when else {}) | each.answer | ({} if each is last else {"times": each.times})
        for each in sequence
    ]


@dataclass(slots=True)
class _RecordedAnswer:
    """An answer to some arguments, and how often in a row it was given."""

    when: dict[str, Any]
    answer: dict[str, Any]
    times: int = 1


class _SecretMasker:
    """Removes or masks values under secret-looking keys, and counts them."""

    def __init__(self) -> None:
        self.count = 0

    def remove_secrets(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments without such keys: the rest is enough for `when`."""
        kept: dict[str, Any] = {}
        for key, value in arguments.items():
            if is_secret_name(key):
                self.count += 1
            else:
                kept[key] = self.remove_secrets(value) if isinstance(value, Mapping) else self.mask_secrets(value)
        return kept

    def mask_secrets(self, value: Any, name: str = "") -> Any:
        """Return the value, which has this name, with such strings masked."""
        if isinstance(value, Mapping):
            return {key: self.mask_secrets(item, key) for key, item in value.items()}
        if isinstance(value, list):
            return [self.mask_secrets(item) for item in value]
        if isinstance(value, str) and is_secret_name(name):
            self.count += 1
            return MASK
        return value


def _to_canonical_json(value: Any) -> str:
    """Return the same text for values that `when` considers equal, such as 1 and 1.0."""

    def normalize(leaf: Any) -> Any:
        return int(leaf) if isinstance(leaf, float) and leaf.is_integer() else leaf

    return json.dumps(map_leaves(value, normalize), sort_keys=True)


def _count_keys(value: Any) -> int:
    return sum(1 + _count_keys(item) for item in value.values()) if isinstance(value, Mapping) else 0
