"""Base classes of text dialects: calls between marks in a text, and answers in a chat template's format.

Quotations and turns of other speakers are skipped, by the marks of all chat templates in every dialect: a call in
them is never run, whichever model wrote the text.
"""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Generator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.provider_rules import Talk
from pegboard.dialects.shared.content_blocks import (
    arguments_to_object,
    describe_result,
)
from pegboard.dialects.shared.function_calls import (
    define_function,
    is_model_role,
    read_function_calls,
    remove_draft_keyword,
)
from pegboard.dialects.text.scanner import Scan, Text
from pegboard.json_schema.arguments_text import parse_json_text
from pegboard.model.call import Malformed
from pegboard.model.call_errors import MalformedArguments
from pegboard.model.tool import Tool

TRUNCATED_MESSAGE = "the text ends before the end of the call"

_TOOL_NAME = re.compile(r"[^\s\"'`<>(){}\[\],=|]{1,255}")


def is_tool_name(text: str) -> bool:
    """Return True for a valid tool name; prose that happens to follow a mark is not one."""
    return _TOOL_NAME.fullmatch(text) is not None


def read_closed_arguments(text: Text, end: str, *others: str) -> Generator[None, None, Any]:
    """Return the JSON up to its end mark; Malformed if the text ends, or one of the other marks comes, before that.

    Another mark is put back, to be read again.
    """
    found, is_whole = yield from text.json()
    rest, mark = yield from text.until(end, *others)
    if mark == end and (is_whole or not found):
        return found + rest
    text.back(mark)
    return Malformed(found + rest, TRUNCATED_MESSAGE)


def parse_scanned_object(found: str, is_whole: bool) -> tuple[Any, str | None]:
    """Return the value, and None or the reason why it was cut off or cannot be parsed."""
    if not is_whole:
        return None, TRUNCATED_MESSAGE
    try:
        return parse_json_text(found), None
    except MalformedArguments as error:
        return None, error.message


class CallKeys(NamedTuple):
    """The keys of an object that is a call."""

    name: str
    arguments: str
    id: str = "id"

    def read(self, found: str, is_whole: bool, into: Assembly) -> None:
        """Add the object as a call; a malformed call if it was cut off or cannot be parsed."""
        value, why = parse_scanned_object(found, is_whole)
        if why is not None:
            if not self.read_incomplete(found, why, into) and is_whole:
                into.call("", Malformed(found, why))
        elif isinstance(value, dict) and isinstance(value.get(self.name), str):
            into.call(value[self.name], value.get(self.arguments), value.get(self.id))
        else:
            into.call("", Malformed(found, f"expected an object with '{self.name}' and '{self.arguments}'"))

    def read_incomplete(self, found: str, why: str, into: Assembly) -> bool:
        """Add a call of which only the beginning can be parsed; return False if that does not include its name."""
        head = _build_head_pattern(self).match(found)
        if head is None:
            return False
        into.call(head["name"], Malformed(head["arguments"] or "", why), head["id"])
        return True


def read_call_objects(text: Text, into: Assembly, keys: CallKeys) -> Scan:
    """Read an array of objects or one object; each call is added as soon as its object is closed."""
    is_list = yield from text.ahead("[")
    while (yield from text.ahead("{")):
        text.back("{")
        found, is_whole = yield from text.json()
        keys.read(found, is_whole, into)
        if not is_list or not (yield from text.ahead(",")):
            return


def _build_head_pattern(keys: CallKeys) -> re.Pattern[str]:
    return re.compile(
        rf'\{{\s*+(?:"{keys.id}"\s*:\s*"(?P<id>[^"\\]*+)"\s*,\s*)?(?:"type"\s*:\s*"[^"\\]*+"\s*,\s*)?'
        rf'"{keys.name}"\s*:\s*"(?P<name>[^"\\]++)"\s*+(?:,\s*"{keys.arguments}"\s*:\s*(?P<arguments>.*))?',
        re.DOTALL,
    )


_OTHER_ROLES = ("system", "developer", "user", "tool", "ipython", "function", "environment")

CODE_MARK, CODE_FENCE = "`", "```"

# An example in a code block, and the response of a tool, real or imagined by the model.
QUOTE_MARKS: Mapping[str, str] = MappingProxyType({CODE_FENCE: CODE_FENCE, "<tool_response>": "</tool_response>"})

# Turns of other speakers, which a template ends with a token that the model cannot write itself.
OTHER_TURN_MARKS: Mapping[str, str] = MappingProxyType(
    {
        **{f"<|im_start|>{role}": "<|im_end|>" for role in _OTHER_ROLES},
        **{f'<|open|>message role="{role}"': "<|end_of_msg|>" for role in _OTHER_ROLES},
        **{f"<|im_{role}|>": "<|im_end|>" for role in ("system", "user")},
        **{f"<|start_of_role|>{role}": "<|end_of_text|>" for role in (*_OTHER_ROLES, "documents", "available_tools")},
        **{f"<|start_header_id|>{role}": "<|eot_id|>" for role in _OTHER_ROLES},
        **{f"]~b]{role}": "[e~[" for role in _OTHER_ROLES},
        **{f"<|turn>{role}": "<turn|>" for role in _OTHER_ROLES},
        **{f"<|{role}|>": "<|assistant|>" for role in ("system", "user", "observation")},
        "<|tool_response>": "<tool_response|>",
        "<|tool_response_start|>": "<|tool_response_end|>",
        "<|SYSTEM_TOKEN|>": "<|END_OF_TURN_TOKEN|>",
        "<|USER_TOKEN|>": "<|END_OF_TURN_TOKEN|>",
        "<|START_TOOL_RESULT|>": "<|END_TOOL_RESULT|>",
        "<｜User｜>": "<｜Assistant｜>",
        "<｜tool▁outputs▁begin｜>": "<｜tool▁outputs▁end｜>",
        "<｜tool▁output▁begin｜>": "<｜tool▁output▁end｜>",
        "<function_results>": "</function_results>",
        **{f"[{mark}]": f"[/{mark}]" for mark in ("INST", "SYSTEM_PROMPT", "AVAILABLE_TOOLS", "TOOL_RESULTS")},
    }
)


THINK_OPEN, THINK_CLOSE = "<think>", "</think>"
EMPTY_THOUGHT = f"{THINK_OPEN}\n\n{THINK_CLOSE}\n\n"
# The marks that a template adds after a turn.
_TURN_END_MARKS = ("<|im_end|>", "<|end_of_text|>", "[e~[", "<｜end▁of▁sentence｜>")


class TextDialect(Dialect):
    """Calls between marks in a model's text, and answers in the format of its chat template.

    A subclass defines how its text is scanned. Reasoning, quotations and turns of other speakers contain no calls:
    `scan` uses `find_next_opener`, which skips them.
    """

    expected = "a string, or a list of its pieces"
    is_text = True
    talk: ClassVar[Talk] = Talk(system="first", has_ids=False)
    # True if its template writes calls itself, and does not accept calls within a text.
    is_templated: ClassVar[bool] = False
    # The marks that start a call, or a list of calls.
    openers: ClassVar[tuple[str, ...]]
    # The beginning of a call, which distinguishes it from those of dialects with the same opener.
    shape: ClassVar[re.Pattern[str] | None] = None
    # The marks around reasoning.
    thoughts: ClassVar[Mapping[str, str]] = MappingProxyType({THINK_OPEN: THINK_CLOSE})

    def recognises(self, item: Any) -> bool:
        """Return True if a text has a call of this shape, or one of the openers if no shape is declared."""
        if not isinstance(item, str) or self.shape is None:
            return isinstance(item, str) and any(opener in item for opener in self.openers)
        return self.shape.search(item) is not None

    def read(self, item: Any, into: Assembly) -> None:
        """Read a text or a piece of one, or a message whose content is text; raise Unreadable for anything else."""
        if isinstance(item, dict):
            if not is_model_role(item.get("role")):
                # A turn of another speaker: the calls before it are finished.
                into.drop()
                return
            read_function_calls(item.get("tool_calls"), into)
            item = item.get("content") or ("" if item.get("tool_calls") else item.get("content"))
        if not isinstance(item, str):
            raise self.make_unreadable_error(item)
        if into.state is None:
            text = Text()
            into.state = (text, self.scan(text, into))
        text, scan = into.state
        text.add(item)
        next(scan, None)

    def finish(self, into: Assembly) -> None:
        """Read the rest at the end of the text."""
        if into.state is not None:
            text, scan = into.state
            text.close()
            for _ in scan:
                pass

    @abstractmethod
    def scan(self, text: Text, into: Assembly) -> Scan:
        """Read the text from start to end, and add its calls to the assembly."""

    def find_next_opener(self, text: Text, into: Assembly) -> Any:
        """Wait for the next opener outside of skipped sections, and return it; "" at the end of the text.

        Reasoning may have started in the prompt: then only its end mark is in the text, and calls before it are
        dropped.
        """
        marks = (*self.openers, *self.thoughts, *self.thoughts.values(), *QUOTE_MARKS, *OTHER_TURN_MARKS)
        while True:
            before, mark = yield from text.until(*marks)
            if mark in self.openers and before.rpartition("\n")[2].count(CODE_MARK) % 2:
                yield from text.until(CODE_MARK, "\n\n")
            elif not (yield from self.skip_section(mark, text, into)):
                return mark

    def skip_section(self, mark: str, text: Text, into: Assembly) -> Generator[None, None, bool]:
        """If this mark starts or ends a section without calls, skip that section and return True."""
        thought = tuple(self.thoughts.values())
        if mark in self.thoughts:
            yield from text.until(self.thoughts[mark])
        elif mark in thought:
            into.drop()
        elif mark == CODE_FENCE:
            _, end = yield from text.until(CODE_FENCE, *thought)
            text.back(end if end != CODE_FENCE else "")
        elif mark in QUOTE_MARKS:
            yield from text.until(QUOTE_MARKS[mark])
        elif mark in OTHER_TURN_MARKS:
            yield from skip_other_turn(text, into, OTHER_TURN_MARKS[mark])
        else:
            return False
        return True

    def render(self, answers: Sequence[Answer], *, many: bool) -> Any:
        """Return the answers in order."""
        return "".join(self.answer(answer) for answer in answers)

    @abstractmethod
    def answer(self, answer: Answer) -> str:
        """Return the text for one answer."""

    def compose_turn(self, text: str | None, calls: Sequence[AskedCall], id: str) -> list[Any]:
        """Return a message for the chat template, with the calls as the model writes them."""
        if self.is_templated:
            made = [_compose_function(call) for call in calls]
            return [{"role": "assistant", "content": text or "", "tool_calls": made}]
        written = self.compose(calls).removeprefix(EMPTY_THOUGHT).strip()
        for end in _TURN_END_MARKS:
            written = written.removesuffix(end).rstrip()
        return self.say("assistant", f"{text}\n{written}" if text else written, id)

    def reply(self, answers: Sequence[Answer]) -> list[Any]:
        """Return one tool message per answer."""
        return [
            {"role": "tool", **({"tool_call_id": answer.call.id} if self.talk.has_ids else {})}
            | {"name": answer.name, "content": answer_to_text(answer)}
            for answer in answers
        ]

    def own(self, raw: Any) -> list[Any]:
        """Return a text as the content of a message."""
        if not isinstance(raw, str):
            return super().own(raw)
        return [] if self.is_templated else self.say("assistant", raw, "")

    def define(self, tool: Tool) -> Any:
        """Return the tool definition for the chat template."""
        function = define_function(tool) | {"parameters": remove_draft_keyword(tool.input_schema)}
        return {"type": "function", "function": function}


def _compose_function(call: AskedCall) -> dict[str, Any]:
    identity = {"id": call.id} if call.id else {}
    return identity | {"type": "function", "function": {"name": call.name, "arguments": arguments_to_object(call)}}


def skip_other_turn(text: Text, into: Assembly, *ends: str) -> Scan:
    """Skip the turn of another speaker; if it is complete, drop the calls before it, which are finished."""
    _, end = yield from text.until(*ends)
    if end:
        into.drop()


def answer_to_text(answer: Answer) -> str:
    """Return the text of an answer for the model, plain or as JSON."""
    text = describe_result(answer.result)
    return text if answer.result.problem is None else f"Error: {text}"


THOUGHT_PATTERN = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)


class TurnDialect(TextDialect):
    """Calls of one shape, and all answers in one turn of a chat template."""

    shape: ClassVar[re.Pattern[str]]
    # The start and end of the turn with the answers, and the text around each answer.
    turn: ClassVar[tuple[str, str]]
    answer_wrapper: ClassVar[tuple[str, str]] = ("\n<tool_response>\n", "\n</tool_response>")

    def recognises(self, item: Any) -> bool:
        """Return True if a text has a call of this shape outside of reasoning."""
        if not isinstance(item, str):
            return False
        if "think>" not in item:
            return self.shape.search(item) is not None
        visible = THOUGHT_PATTERN.sub("", item)
        after = visible.rpartition(THINK_CLOSE)[2]
        return (self.shape.search(after) or self.shape.search(visible)) is not None

    def render(self, answers: Sequence[Answer], *, many: bool) -> str:
        """Return the turn with all answers."""
        begin, end = self.turn
        return begin + "".join(self.answer(answer) for answer in answers) + end

    def answer(self, answer: Answer) -> str:
        """Return one answer within the turn."""
        before, after = self.answer_wrapper
        return f"{before}{answer_to_text(answer)}{after}"


def to_template_json(value: Any) -> str:
    """Return a value as JSON in the style of chat templates."""
    return json.dumps(value, ensure_ascii=False, default=float)
