"""Harmony, the text format of gpt-oss: messages to a function, each on a channel."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

import orjson

from pegboard.dialects.base import Answer
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.provider_rules import Talk, TextMarks
from pegboard.dialects.shared.function_calls import arguments_to_json
from pegboard.dialects.text.base_text import TRUNCATED_MESSAGE, TextDialect, answer_to_text, skip_other_turn
from pegboard.dialects.text.scanner import Scan, Text
from pegboard.model.call import Malformed

_START, _CHANNEL, _MESSAGE = "<|start|>", "<|channel|>", "<|message|>"
_CALL, _END, _RETURN = "<|call|>", "<|end|>", "<|return|>"
_FUNCTIONS = "functions."
_HEADER = re.compile(
    r"\s*+(?:assistant)?\s*+(?:to=(?P<to>[^\s<]+)\s*+)?"
    r"(?:<\|channel\|>\s*+(?P<channel>\w+)\s*+(?:to=(?P<later>[^\s<]+))?)?"
)


class Harmony(TextDialect):
    """`<|start|>assistant to=functions.NAME<|channel|>commentary json<|message|>{json}<|call|>`.

    Reasoning, final answers, and messages to anything but a function are not calls. `<|call|>` ends the turn, and
    servers strip it: a call is complete if its JSON is, and nothing else follows in its message.
    """

    name: ClassVar[str] = "text_gpt_oss_harmony"
    text_marks = TextMarks(calls=r" to=functions\.")
    marks: ClassVar[tuple[str, ...]] = (_CHANNEL,)
    openers: ClassVar[tuple[str, ...]] = (_CHANNEL,)
    shape = re.compile(r"<\|channel\|>\s*+(?:analysis|commentary|final)\b")
    is_templated: ClassVar[bool] = True
    talk: ClassVar[Talk] = Talk(system="first", has_ids=False, one_call=True)

    def scan(self, text: Text, into: Assembly) -> Scan:
        mark = ""
        while True:
            before = mark
            header, mark = yield from text.until(_MESSAGE, _START, _END, _CALL, _RETURN)
            if not mark:
                return
            if mark == _MESSAGE and before == _START and not header.lstrip().startswith("assistant"):
                yield from skip_other_turn(text, into, _END, _RETURN)
            elif mark == _MESSAGE:
                recipient, channel = _parse_header(header)
                if recipient.startswith(_FUNCTIONS) and channel not in ("analysis", "final"):
                    into.call(recipient.removeprefix(_FUNCTIONS), (yield from _read_arguments(text)))
                else:
                    # A call that is quoted in reasoning or in an answer is not made.
                    yield from text.until(_END, _RETURN, *([_CALL] if recipient else []))

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """Return the calls as messages that continue the start of the model's turn."""
        return f"{_START}assistant".join(
            f" to={_FUNCTIONS}{call.name}{_CHANNEL}commentary json{_MESSAGE}{arguments_to_json(call)}{_CALL}"
            for call in calls
        )

    def answer(self, answer: Answer) -> str:
        """Return a message from the function, with the output as a JSON string."""
        output = orjson.dumps(answer_to_text(answer)).decode()
        return f"{_START}{_FUNCTIONS}{answer.call.name} to=assistant{_CHANNEL}commentary{_MESSAGE}{output}{_END}"


def _parse_header(header: str) -> tuple[str, str]:
    """Return the recipient and the channel of a message; "" for those that are missing."""
    found = _HEADER.match(header)
    assert found is not None
    return found["to"] or found["later"] or "", found["channel"] or ""


def _read_arguments(text: Text) -> Any:
    found, is_whole = yield from text.json()
    rest, mark = yield from text.until(_CALL, _END, _RETURN, _START)
    text.back(mark if mark == _START else "")
    if is_whole or mark:
        return found + rest
    return Malformed(found + rest, TRUNCATED_MESSAGE)
