"""Text dialects that are told by the shape of a call, and whose answers stand together in one turn."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, ClassVar

from pegboard.dialects.base import Answer
from pegboard.dialects.text.base import THOUGHT, TextDialect, told

_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)


class TurnDialect(TextDialect):
    """Calls of one shape, and answers as one turn of a chat template."""

    # How a call begins, so that those of other dialects with the same opener are told apart.
    shape: ClassVar[re.Pattern[str]]
    # What the turn with the answers begins and ends with, and what stands around each answer.
    turn: ClassVar[tuple[str, str]]
    around: ClassVar[tuple[str, str]] = ("\n<tool_response>\n", "\n</tool_response>")

    def recognises(self, item: Any) -> bool:
        """Whether a text has a call of this shape outside of its thoughts."""
        if not isinstance(item, str):
            return False
        if "think>" not in item:
            return self.shape.search(item) is not None
        aloud = _THOUGHT.sub("", item)
        after = aloud.rpartition(THOUGHT)[2]
        return (self.shape.search(after) or self.shape.search(aloud)) is not None

    def render(self, answers: Sequence[Answer], *, many: bool) -> str:
        """The turn with all answers in it."""
        begin, end = self.turn
        return begin + "".join(self.answer(answer) for answer in answers) + end

    def answer(self, answer: Answer) -> str:
        """One answer within the turn."""
        before, after = self.around
        return f"{before}{told(answer)}{after}"


def json_text(value: Any) -> str:
    """A value as chat templates write JSON."""
    return json.dumps(value, ensure_ascii=False, default=float)
