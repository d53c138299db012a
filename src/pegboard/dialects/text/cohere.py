"""Calls as Cohere's Command models write them: a JSON array between marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

import orjson

from pegboard.dialects.asked import AskedCall
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import Answer
from pegboard.dialects.parts.function_calls import text_of_arguments
from pegboard.dialects.talk import Talk
from pegboard.dialects.text.base import THINK, THOUGHT, TextDialect, told
from pegboard.dialects.text.parts import Keys, read_objects
from pegboard.dialects.text.scanning import Scan, Text

_CALLS, _CALLS_END = "<|START_ACTION|>", "<|END_ACTION|>"
_KEYS = Keys("tool_name", "parameters", "tool_call_id")


class CohereR7B(TextDialect):
    """`<|START_ACTION|>[{"tool_call_id": …, "tool_name": …, "parameters": {…}}, …]<|END_ACTION|>`.

    Each object is a whole call by itself, also where the array is cut off after it.
    """

    name: ClassVar[str] = "text_cohere_r7b"
    marks: ClassVar[tuple[str, ...]] = (_CALLS,)
    openers: ClassVar[tuple[str, ...]] = (_CALLS,)
    thoughts: ClassVar[Mapping[str, str]] = MappingProxyType({THINK: THOUGHT, "<|START_THINKING|>": "<|END_THINKING|>"})
    is_templated: ClassVar[bool] = True
    talk: ClassVar[Talk] = Talk(system="first")

    def scan(self, text: Text, into: Assembly) -> Scan:
        """Read the arrays."""
        while (yield from self.calls_begin(text, into)):
            yield from read_objects(text, into, _KEYS)

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """The calls in one array; one without an id gets its place as the model counts."""
        made = (
            f'    {{"tool_call_id": {_json(call.id or str(place))}, "tool_name": {_json(call.name)}, '
            f'"parameters": {text_of_arguments(call)}}}'
            for place, call in enumerate(calls)
        )
        return _CALLS + "[\n" + ",\n".join(made) + "\n]" + _CALLS_END

    def render(self, answers: Sequence[Answer], *, many: bool) -> str:
        """One turn with all the results."""
        told_of = ",\n".join(_result(answer, answer.call.id or str(place)) for place, answer in enumerate(answers))
        return (
            "<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|><|START_TOOL_RESULT|>[\n"
            f"{told_of}\n]<|END_TOOL_RESULT|><|END_OF_TURN_TOKEN|>"
        )

    def answer(self, answer: Answer) -> str:
        """The turn for one result."""
        return self.render((answer,), many=False)


def _result(answer: Answer, identity: str) -> str:
    is_error = "null" if answer.result.problem is None else "true"
    return (
        f'    {{\n        "tool_call_id": {_json(identity)},\n        "results": {{\n'
        f'            "0": {_json(told(answer))}\n        }},\n        "is_error": {is_error}\n    }}'
    )


def _json(text: str) -> str:
    return orjson.dumps(text).decode()
