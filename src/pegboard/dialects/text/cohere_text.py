"""Text format of Cohere's Command models: a JSON array between marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from pegboard.dialects.base import Answer
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.provider_rules import Talk
from pegboard.dialects.shared.function_calls import arguments_to_json
from pegboard.dialects.text.base_text import (
    THINK_CLOSE,
    THINK_OPEN,
    CallKeys,
    TextDialect,
    answer_to_text,
    read_call_objects,
)
from pegboard.dialects.text.literals import to_json_string
from pegboard.dialects.text.scanner import Scan, Text

_CALLS, _CALLS_END = "<|START_ACTION|>", "<|END_ACTION|>"
_CALL_KEYS = CallKeys("tool_name", "parameters", "tool_call_id")


class CohereR7B(TextDialect):
    """`<|START_ACTION|>[{"tool_call_id": …, "tool_name": …, "parameters": {…}}, …]<|END_ACTION|>`.

    Each object is a complete call, even if the array is cut off after it.
    """

    name: ClassVar[str] = "text_cohere_r7b"
    marks: ClassVar[tuple[str, ...]] = (_CALLS,)
    openers: ClassVar[tuple[str, ...]] = (_CALLS,)
    thoughts: ClassVar[Mapping[str, str]] = MappingProxyType(
        {THINK_OPEN: THINK_CLOSE, "<|START_THINKING|>": "<|END_THINKING|>"}
    )
    is_templated: ClassVar[bool] = True
    talk: ClassVar[Talk] = Talk(system="first")

    def scan(self, text: Text, into: Assembly) -> Scan:
        while (yield from self.find_next_opener(text, into)):
            yield from read_call_objects(text, into, _CALL_KEYS)

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """Return the calls in one array; a call without an id gets its index, as the model counts."""
        made = (
            f'    {{"tool_call_id": {to_json_string(call.id or str(place))}, "tool_name": '
            f"{to_json_string(call.name)}, "
            f'"parameters": {arguments_to_json(call)}}}'
            for place, call in enumerate(calls)
        )
        return _CALLS + "[\n" + ",\n".join(made) + "\n]" + _CALLS_END

    def render(self, answers: Sequence[Answer], *, many: bool) -> str:
        results = ",\n".join(
            _render_result(answer, answer.call.id or str(place)) for place, answer in enumerate(answers)
        )
        return (
            "<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|><|START_TOOL_RESULT|>[\n"
            f"{results}\n]<|END_TOOL_RESULT|><|END_OF_TURN_TOKEN|>"
        )

    def answer(self, answer: Answer) -> str:
        return self.render((answer,), many=False)


def _render_result(answer: Answer, identity: str) -> str:
    is_error = "null" if answer.result.problem is None else "true"
    return (
        f'    {{\n        "tool_call_id": {to_json_string(identity)},\n        "results": {{\n'
        f'            "0": {to_json_string(answer_to_text(answer))}\n        }},\n        '
        f'"is_error": {is_error}\n    }}'
    )
