"""The interface of a dialect: a pure translation between one wire format and the board's own types.

A dialect declares by which keys or marks its payloads are recognised, reads their calls into an `Assembly`, and
writes calls, answers and definitions. `read` gets a whole payload or each chunk of a stream; the assembly joins the
chunks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar, NamedTuple

import orjson

from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import EMPTY_MAPPING, AskedCall, Unreadable, describe_payload
from pegboard.dialects.provider_rules import Limits, Talk, TextMarks, find_message
from pegboard.dialects.shared.function_calls import define_wrapped_function
from pegboard.dialects.shared.turns import Speaker, Turn
from pegboard.model.api_errors import Invalid
from pegboard.model.call import ToolResult
from pegboard.model.call_errors import Problem
from pegboard.model.ids import make_call_id
from pegboard.model.tool import Tool

ALL_ABILITIES = ("parse", "stream", "compose", "render", "define", "history")
# Abilities of dialects without streams, without conversations, and without both.
WITHOUT_STREAM = ("parse", "compose", "render", "define", "history")
WITHOUT_HISTORY = ("parse", "stream", "compose", "render", "define")
WITHOUT_STREAM_AND_HISTORY = ("parse", "compose", "render", "define")


class Answer(NamedTuple):
    """One finished call: the parsed call and its result."""

    call: AskedCall
    result: ToolResult

    @property
    def name(self) -> str:
        """The tool's name as the caller wrote it."""
        return self.call.name or self.result.tool_name

    @property
    def id(self) -> str:
        """The call's id, or one derived from the run id if the dialect has no ids."""
        return self.call.id or make_call_id(self.run_id)

    @property
    def run_id(self) -> str:
        """The run that produced the result; for a repeat, the first run."""
        return self.result.repeat_of or self.result.run_id


class Dialect(ABC):
    """One wire format of calls, answers and definitions."""

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    abilities: ClassVar[tuple[str, ...]] = ALL_ABILITIES
    # Every object of this dialect has at least one of these top-level keys, and every text at least one of these
    # marks.
    keys: ClassVar[frozenset[str]] = frozenset()
    marks: ClassVar[tuple[str, ...]] = ()
    # A description of its payloads, for the error about another one.
    expected: ClassVar[str] = ""
    # True if streams are pieces of free text and never lines of a protocol.
    is_text: ClassVar[bool] = False
    limits: ClassVar[Limits] = Limits()
    talk: ClassVar[Talk] = Talk()
    text_marks: ClassVar[TextMarks] = TextMarks()
    # Roles that only messages of this dialect have, in lower case.
    speakers: ClassVar[Mapping[str, Speaker]] = EMPTY_MAPPING
    # Keys or types of parts other than text that only messages of this dialect have.
    media: ClassVar[frozenset[str]] = frozenset()
    # True if the chunks of a stream have the form of whole messages.
    streams_messages: ClassVar[bool] = False

    def recognises(self, item: Any) -> bool:
        """Return True if the item is of this dialect; called only if it has one of its keys or marks."""
        return False

    def read(self, item: Any, into: Assembly) -> None:
        """Read one payload, or one chunk of a stream; raise Unreadable if it is not of this dialect."""
        raise Invalid(f"'{self.name}' is a format for answers only; send the call as plain: {{name, arguments}}")

    def make_unreadable_error(self, item: Any) -> Unreadable:
        """Return the error for an item that is not of this dialect."""
        expected = f"; expected {self.expected}" if self.expected else ""
        return Unreadable(f"unrecognised_format: this is {describe_payload(item)}, not {self.name}{expected}")

    def finish(self, into: Assembly) -> None:  # noqa: B027 -- most hold nothing back
        """Add the calls that were held back; called at the end of the input."""

    def unwrap(self, response: Mapping[str, Any]) -> Any:
        """Return the message in a response, or its list of messages and items; None if this is not such a response.

        It is called for objects without a role. `messages` and `message` need no method.
        """
        return None

    def turns(self, item: Mapping[str, Any], speaker: Speaker | None) -> Sequence[Turn] | None:
        """Return the turns of one message or item; None if it has the common form, or is not of this dialect.

        `speaker` is the one whom its role names, or None. In the common form, a message has a `role`, or a `type` such
        as `human`, and its text under a common key.
        """
        return None

    def chunk_text(self, chunk: Any) -> str | None:
        """Return the model's text in one chunk of a stream, "" if it has none; None for chunks of other dialects."""
        return None

    def has_own_medium(self, part: Mapping[str, Any]) -> bool:
        """Return True if this part of a message, such as an image, identifies the message as one of this dialect."""
        return bool(self.media) and (not self.media.isdisjoint(part) or part.get("type") in self.media)

    def restore(self, arguments: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments for the tool's own schema, if the definition that the model got was adapted."""
        return arguments

    def compose(self, calls: Sequence[AskedCall]) -> Any:
        """Return one assistant message that makes these calls."""
        raise Invalid(f"'{self.name}' is a format for answers only and has no calls")

    @abstractmethod
    def render(self, answers: Sequence[Answer], *, many: bool) -> Any:
        """Return the answers in order, in the provider's format; `many` is False if the request was one bare call."""

    def render_json(self, answer: Answer) -> bytes:
        """Return one answer as JSON text."""
        return orjson.dumps(self.render((answer,), many=False))

    def say(self, role: str, text: str, id: str) -> list[Any]:
        """Return a turn of a conversation that has only text; `id` is the id of the message."""
        return [self.talk.build_message(role, text)]

    def compose_turn(self, text: str | None, calls: Sequence[AskedCall], id: str) -> list[Any]:
        """Return a turn of the model with these calls and the text beside them."""
        made = self.compose(calls)
        if not isinstance(made, dict):
            return [*(self.say("assistant", text, id) if text else ()), *(made if isinstance(made, list) else [made])]
        if text:
            beside = made.get(self.talk.parts) if self.talk.parts else None
            content = self.talk.content(text)
            made = {**made, self.talk.parts or "content": [*content, *beside] if beside else content}
        return [made]

    def reply(self, answers: Sequence[Answer]) -> list[Any]:
        """Return the messages with the results that follow a turn with calls."""
        messages = self.render(answers, many=True)
        return messages if isinstance(messages, list) else [messages]

    def compose_exchange(self, text: str | None, answers: Sequence[Answer], id: str) -> list[Any]:
        """Return a turn of the model with calls, followed by their results."""
        if self.talk.one_call:
            received: list[Any] = []
            for answer in answers:
                received += [*self.compose_turn(None if received else text, [answer.call], id), *self.reply([answer])]
            return received
        return [*self.compose_turn(text, [answer.call for answer in answers], id), *self.reply(answers)]

    def own(self, raw: Any) -> list[Any]:
        """Return a message of this provider in the form of its history; an empty list if that is not possible."""
        if isinstance(raw, list):
            # Chunks of a stream: `arrange_history` merges messages of one role if roles alternate.
            each = [self.own(item) for item in raw if self.talk.alternates or len(raw) == 1]
            return [item for items in each for item in items] if all(each) else []
        message = find_message(raw)
        if message is None:
            return []
        keys = self.talk.keys
        return [message if keys is None else {key: value for key, value in message.items() if key in keys}]

    def arrange_history(self, items: list[Any]) -> list[Any]:
        """Return the whole conversation as the provider accepts it, from its turns."""
        return self.talk.alternating(items) if self.talk.alternates else items

    def system(self, text: str) -> Any:
        """Return the system text in the form for a separate field."""
        return text

    def define(self, tool: Tool) -> Any:
        """Return the definition of one tool, by default as `{type: function, function: {…}}`."""
        return define_wrapped_function(tool)

    def define_all(self, tools: Sequence[Tool]) -> Any:
        """Return the definitions of several tools."""
        return [self.define(tool) for tool in tools]

    def define_strictly(self, tool: Tool) -> Any:
        """Return a definition that the provider enforces strictly; raise Invalid if the dialect has none."""
        raise Invalid(f"strict works only with OpenAI dialects, not with '{self.name}'")

    def declare(self, tools: Sequence[Tool], *, strict: bool = False) -> Any:
        """Return the definitions to send to the provider for these tools."""
        return [self.define_strictly(tool) for tool in tools] if strict else self.define_all(tools)


class MessagePerAnswer(Dialect):
    """Base class of dialects that answer each call with one message or item."""

    @abstractmethod
    def render_one(self, answer: Answer) -> dict[str, Any]:
        """Return the message for one answer."""

    def render(self, answers: Sequence[Answer], *, many: bool) -> Any:
        """Return a list if `many` is True, else one message."""
        rendered = [self.render_one(answer) for answer in answers]
        return rendered if many else rendered[0]


class Answers(Dialect):
    """Base class of dialects whose answers are one object each."""

    @abstractmethod
    def answer(self, answer: Answer, output: Any) -> dict[str, Any]:
        """Return the object for one answer, with this output."""

    def render(self, answers: Sequence[Answer], *, many: bool) -> Any:
        """Return a list if `many` is True, else one object."""
        rendered = [self.answer(answer, answer.result.output) for answer in answers]
        return rendered if many else rendered[0]

    def render_json(self, answer: Answer) -> bytes:
        """Return the answer as JSON text; the output's JSON is copied without parsing it."""
        return orjson.dumps(self.answer(answer, orjson.Fragment(answer.result.output_json)))


def render_ignored(result: ToolResult) -> list[dict[str, str]]:
    """Return the arguments that were ignored, each with the most similar declared name, if there is one."""
    return [
        {"name": item.name} | ({"did_you_mean": item.did_you_mean} if item.did_you_mean else {})
        for item in result.ignored
    ]


def render_circumstances(problem: Problem) -> dict[str, Any]:
    """Return how the command ended, the state of the database and the time to wait, if they are known."""
    details: dict[str, Any] = {} if problem.command is None else asdict(problem.command)
    if problem.sqlstate is not None:
        details["sqlstate"] = problem.sqlstate
    if problem.retry_after_ms is not None:
        details["retry_after_ms"] = problem.retry_after_ms
    return details
