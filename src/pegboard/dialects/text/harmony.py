"""Calls as gpt-oss writes them in Harmony: messages to a function, each on a channel."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

import orjson

from pegboard.core.call import Malformed
from pegboard.dialects.asked import AskedCall
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import Answer
from pegboard.dialects.parts.function_calls import text_of_arguments
from pegboard.dialects.text.base import TextDialect, others_turn, told
from pegboard.dialects.text.parts import CUT
from pegboard.dialects.text.scanning import Scan, Text

_START, _CHANNEL, _MESSAGE = "<|start|>", "<|channel|>", "<|message|>"
_CALL, _END, _RETURN = "<|call|>", "<|end|>", "<|return|>"
_FUNCTIONS = "functions."
_HEADER = re.compile(
    r"\s*+(?:assistant)?\s*+(?:to=(?P<to>[^\s<]+)\s*+)?"
    r"(?:<\|channel\|>\s*+(?P<channel>\w+)\s*+(?:to=(?P<later>[^\s<]+))?)?"
)
_KNOWN = re.compile(r"<\|channel\|>\s*+(?:analysis|commentary|final)\b")


class Harmony(TextDialect):
    """`<|start|>assistant to=functions.NAME<|channel|>commentary json<|message|>{json}<|call|>`.

    What is thought or answered is no call, nor what is sent to anything but a function. `<|call|>` ends the turn, and
    servers leave it out: a call is whole when its JSON is and nothing else follows in its message.
    """

    name: ClassVar[str] = "text_gpt_oss_harmony"
    marks: ClassVar[tuple[str, ...]] = (_CHANNEL,)
    openers: ClassVar[tuple[str, ...]] = (_CHANNEL,)
    is_templated: ClassVar[bool] = True

    def recognises(self, item: Any) -> bool:
        """Whether a text has a message on one of the channels."""
        return isinstance(item, str) and _KNOWN.search(item) is not None

    def scan(self, text: Text, into: Assembly) -> Scan:
        """Read the messages."""
        mark = ""
        while True:
            before = mark
            header, mark = yield from text.until(_MESSAGE, _START, _END, _CALL, _RETURN)
            if not mark:
                return
            if mark == _MESSAGE and before == _START and not header.lstrip().startswith("assistant"):
                yield from others_turn(text, into, _END, _RETURN)
            elif mark == _MESSAGE:
                recipient, channel = _addressed(header)
                if recipient.startswith(_FUNCTIONS) and channel not in ("analysis", "final"):
                    into.call(recipient.removeprefix(_FUNCTIONS), (yield from _arguments(text)))
                else:
                    # Who quotes a call in a thought or an answer does not make it.
                    yield from text.until(_END, _RETURN, *([_CALL] if recipient else []))

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """The calls as messages that follow the beginning of the model's turn."""
        return f"{_START}assistant".join(
            f" to={_FUNCTIONS}{call.name}{_CHANNEL}commentary json{_MESSAGE}{text_of_arguments(call)}{_CALL}"
            for call in calls
        )

    def exchange(self, text: str | None, answers: Sequence[Answer], id: str) -> list[Any]:
        """Each call with its answer after it: the template takes one at a time."""
        told: list[Any] = []
        for answer in answers:
            told += [*self.speak(None if told else text, [answer.call], id), *self.reply([answer])]
        return told

    def answer(self, answer: Answer) -> str:
        """A message from the function, with the output as a JSON string."""
        output = orjson.dumps(told(answer)).decode()
        return f"{_START}{_FUNCTIONS}{answer.call.name} to=assistant{_CHANNEL}commentary{_MESSAGE}{output}{_END}"


def _addressed(header: str) -> tuple[str, str]:
    """To whom a message of the model is sent, and on which channel; nothing where it is not the model's."""
    found = _HEADER.match(header)
    assert found is not None
    return found["to"] or found["later"] or "", found["channel"] or ""


def _arguments(text: Text) -> Any:
    found, is_whole = yield from text.json()
    rest, mark = yield from text.until(_CALL, _END, _RETURN, _START)
    text.back(mark if mark == _START else "")
    if is_whole or mark:
        return found + rest
    return Malformed(found + rest, CUT)
