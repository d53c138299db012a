"""Fixtures out of a journal: what real calls were answered."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pegboard.core.tool import MASK
from pegboard.mocking.faults import FAULTS
from pegboard.mocking.fixtures import FixtureTool
from pegboard.registry.shown import is_secret

# What a board does around a tool, such as trying again, is in the recorded answers already.
_KEPT = (
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
class Recording:
    """Fixtures as they are written, how many calls are in them, and why others are not."""

    fixtures: dict[str, Any]
    calls: int
    left_out: Mapping[str, int]
    masked: int


def record(rows: Iterable[Mapping[str, Any]], tools: Mapping[str, Mapping[str, Any]]) -> Recording:
    """The fixtures that answer as these executions were, oldest first; `tools` are definitions by their id."""
    left_out: Counter[str] = Counter()
    masks = _Masks()
    answers: dict[str, dict[str, list[_Answer]]] = {}
    calls = 0
    for row in rows:
        tool = tools.get(str(row["tool_id"]))
        why = _left_out(row, tool)
        if why is not None:
            left_out[why] += 1
            continue
        calls += 1
        when = masks.without(row["arguments"])
        answer = {"respond": masks.over(row["result"])} if row["status"] == "succeeded" else _error(row)
        sequence = answers.setdefault(str(row["tool_id"]), {}).setdefault(_canonical(when), [])
        if sequence and _canonical(sequence[-1].answer) == _canonical(answer):
            sequence[-1].times += 1
        else:
            sequence.append(_Answer(when, answer))
    written = [_tool(tools[tool_id], groups) for tool_id, groups in answers.items()]
    written.sort(key=lambda tool: str(tool["name"]))
    return Recording({"tools": written}, calls, dict(left_out), masks.count)


def _left_out(row: Mapping[str, Any], tool: Mapping[str, Any] | None) -> str | None:
    """Why this execution says nothing that a fixture could repeat."""
    reasons = (
        (row["status"] == "refused", "refused before the tool ran"),
        (row["status"] == "in_doubt" or row["code"] == "cancelled", "cut off, so there is no answer"),
        (row["repeat_of"] is not None and not row["attempts"], "an earlier answer, given again"),
        (tool is None, "of a tool that is no longer there"),
        (row["arguments"] is None, "without arguments: the tool does not keep_arguments"),
        (
            row["status"] == "succeeded" and row["result"] is None,
            "without a result: the tool does not keep_result, or it was null or over 64 KiB",
        ),
        (row["status"] == "failed" and row["code"] not in FAULTS, "failed in a way that fixtures have no code for"),
    )
    return next((why for is_so, why in reasons if is_so), None)


def _error(row: Mapping[str, Any]) -> dict[str, Any]:
    message = row["error"] or str(row["code"])
    return {"error": message if row["code"] == "execution_failed" else {"message": message, "code": row["code"]}}


def _tool(tool: Mapping[str, Any], groups: Mapping[str, list[_Answer]]) -> dict[str, Any]:
    fields = FixtureTool.model_fields
    kept = {name: tool[name] for name in _KEPT if fields[name].is_required() or tool[name] != fields[name].default}
    # What is contained in other arguments comes after them, or it would answer their calls.
    ordered = sorted(groups.values(), key=lambda sequence: -_keys_in(sequence[0].when))
    return {**kept, "responses": [response for sequence in ordered for response in _responses(sequence)]}


def _responses(sequence: list[_Answer]) -> list[dict[str, Any]]:
    """The answers to one set of arguments in their order; the last is given from then on."""
    last = sequence[-1]
    return [
        {
            **({"when": each.when} if each.when else {}),
            **each.answer,
            **({} if each is last else {"times": each.times}),
        }
        for each in sequence
    ]


class _Answer:
    """An answer to some arguments, and how often in a row it was given."""

    __slots__ = ("answer", "times", "when")

    def __init__(self, when: dict[str, Any], answer: dict[str, Any]) -> None:
        self.when = when
        self.answer = answer
        self.times = 1


class _Masks:
    """Takes away what lies under keys that look secret, and counts how often."""

    def __init__(self) -> None:
        self.count = 0

    def without(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments without such keys: the rest is enough for `when`."""
        kept: dict[str, Any] = {}
        for key, value in arguments.items():
            if is_secret(key):
                self.count += 1
            else:
                kept[key] = self.without(value) if isinstance(value, Mapping) else self.over(value)
        return kept

    def over(self, value: Any) -> Any:
        """The value with a mask over such texts."""
        if isinstance(value, Mapping):
            return {key: self._hidden(key, item) for key, item in value.items()}
        return [self.over(item) for item in value] if isinstance(value, list) else value

    def _hidden(self, key: str, value: Any) -> Any:
        if is_secret(key) and isinstance(value, str):
            self.count += 1
            return MASK
        return self.over(value)


def _canonical(value: Any) -> str:
    """The same text for values that `when` takes for the same: 1 and 1.0 are."""
    return json.dumps(_with_integers(value), sort_keys=True)


def _with_integers(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _with_integers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_integers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _keys_in(value: Any) -> int:
    return sum(1 + _keys_in(item) for item in value.values()) if isinstance(value, Mapping) else 0
