"""What a dialect is: a pure translation between one wire format and the board's own types.

A dialect says by which keys or marks its payloads are told from others, reads what is in them into an `Assembly`, and
writes calls, answers and definitions. What one dialect reads whole it also reads in pieces: `read` gets a payload, or
each chunk of a stream, and the assembly puts the pieces together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import orjson

from pegboard.core.call import ToolResult
from pegboard.core.refusals import Invalid
from pegboard.core.tool import Tool
from pegboard.dialects.asked import AskedCall
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.limits import Limits
from pegboard.dialects.talk import Talk, message_in

ALL = ("parse", "stream", "compose", "render", "define", "history")
# What comes whole or not at all, what is no conversation, and what is neither.
WHOLE = ("parse", "compose", "render", "define", "history")
CALLS = ("parse", "stream", "compose", "render", "define")
WHOLE_CALLS = ("parse", "compose", "render", "define")


class Answer(NamedTuple):
    """One finished call: what was asked, and how it ended."""

    call: AskedCall
    result: ToolResult

    @property
    def name(self) -> str:
        """The tool's name as the caller spelled it."""
        return self.call.name or self.result.tool_name

    @property
    def id(self) -> str:
        """The call's id, or one that stands for it where its dialect gave none."""
        return self.call.id or f"call_{self.run_id.replace('-', '')}"

    @property
    def run_id(self) -> str:
        """The run whose answer this is: of a repeat, the first one."""
        return self.result.repeat_of or self.result.run_id


class Dialect(ABC):
    """One shape of calls, answers and definitions."""

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    abilities: ClassVar[tuple[str, ...]] = ALL
    # Top-level keys, one of which every object of this dialect has; and literal texts, one of which every text has.
    keys: ClassVar[frozenset[str]] = frozenset()
    marks: ClassVar[tuple[str, ...]] = ()
    # Whether a stream of it is pieces of text, which may begin with anything, and never lines of a protocol.
    is_text: ClassVar[bool] = False
    limits: ClassVar[Limits] = Limits()
    talk: ClassVar[Talk] = Talk()

    def recognises(self, item: Any) -> bool:
        """Whether this object, text or chunk is of this dialect; asked only if a key or mark of it is there."""
        return False

    def read(self, item: Any, into: Assembly) -> None:
        """Take in one payload, or one chunk of a stream; raises Unreadable where it is not of this dialect."""
        raise Invalid(f"'{self.name}' is a shape of answers; send the call as plain: {{name, arguments}}")

    def finish(self, into: Assembly) -> None:  # noqa: B027 -- most hold nothing back
        """Take in what was held back, as nothing more comes."""

    def restore(self, arguments: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the tool's own schema means them, where the definition given to the model was adapted."""
        return arguments

    def compose(self, calls: Sequence[AskedCall]) -> Any:
        """What a model says that makes these calls: one assistant message."""
        raise Invalid(f"'{self.name}' is a shape of answers and has no calls of its own")

    @abstractmethod
    def render(self, answers: Sequence[Answer], *, many: bool) -> Any:
        """The answers, in order, as the provider wants them; `many` is false where one bare call was asked for."""

    def render_json(self, answer: Answer) -> bytes:
        """One answer as JSON text."""
        return orjson.dumps(self.render((answer,), many=False))

    def say(self, role: str, text: str, id: str) -> list[Any]:
        """A turn of text alone in a conversation; `id` is the message's own."""
        return [self.talk.said(role, text)]

    def speak(self, text: str | None, calls: Sequence[AskedCall], id: str) -> list[Any]:
        """A turn of the model's that makes these calls, with what it says beside them."""
        made = self.compose(calls)
        if not isinstance(made, dict):
            return [*(self.say("assistant", text, id) if text else ()), *(made if isinstance(made, list) else [made])]
        if text:
            beside = made.get(self.talk.parts) if self.talk.parts else None
            content = self.talk.content(text)
            made = {**made, self.talk.parts or "content": [*content, *beside] if beside else content}
        return [made]

    def reply(self, answers: Sequence[Answer]) -> list[Any]:
        """What follows a turn that made calls: how they ended."""
        told = self.render(answers, many=True)
        return told if isinstance(told, list) else [told]

    def exchange(self, text: str | None, answers: Sequence[Answer], id: str) -> list[Any]:
        """A turn of the model's that makes calls, and how they ended."""
        return [*self.speak(text, [answer.call for answer in answers], id), *self.reply(answers)]

    def own(self, raw: Any) -> list[Any]:
        """What came from this provider, as it stands in a conversation; nothing where it cannot stand there."""
        if isinstance(raw, list):
            # Chunks of a stream: where they are messages of one role, they become one.
            each = [self.own(item) for item in raw if self.talk.alternates or len(raw) == 1]
            return [item for items in each for item in items] if all(each) else []
        message = message_in(raw)
        if message is None:
            return []
        keys = self.talk.keys
        return [message if keys is None else {key: value for key, value in message.items() if key in keys}]

    def settled(self, items: list[Any]) -> list[Any]:
        """The whole conversation as the provider takes it, made from its turns."""
        return self.talk.alternating(items) if self.talk.alternates else items

    def system(self, text: str) -> Any:
        """The system text, where it stands apart from the messages."""
        return text

    @abstractmethod
    def define(self, tool: Tool) -> Any:
        """How one tool is declared."""

    def define_all(self, tools: Sequence[Tool]) -> Any:
        """How several are declared together."""
        return [self.define(tool) for tool in tools]

    def define_strictly(self, tool: Tool) -> Any:
        """How it is declared so that the provider holds the model to its schema, where that can be said."""
        raise Invalid(f"strict works only with OpenAI dialects, not with '{self.name}'")

    def declare(self, tools: Sequence[Tool], *, strict: bool = False) -> Any:
        """What to hand the provider for these tools."""
        return [self.define_strictly(tool) for tool in tools] if strict else self.define_all(tools)


class Answers(Dialect):
    """Answers of one object each, for dialects to build on: they say what goes into the object."""

    @abstractmethod
    def answer(self, answer: Answer, output: Any) -> dict[str, Any]:
        """The object for one answer, with the output in this form."""

    def render(self, answers: Sequence[Answer], *, many: bool) -> Any:
        """A list for a list, an object for an object."""
        rendered = [self.answer(answer, answer.result.output) for answer in answers]
        return rendered if many else rendered[0]

    def render_json(self, answer: Answer) -> bytes:
        """The answer with the output's text taken over."""
        return orjson.dumps(self.answer(answer, orjson.Fragment(answer.result.output_json)))


def ignored_of(result: ToolResult) -> list[dict[str, str]]:
    """The arguments that were ignored, each with the declared name that is nearest to it, if one is near."""
    return [
        {"name": item.name} | ({"did_you_mean": item.did_you_mean} if item.did_you_mean else {})
        for item in result.ignored
    ]
