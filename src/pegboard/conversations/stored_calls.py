"""Stored calls in memory form, the search for the call that an answer belongs to, and the titles of threads."""

from __future__ import annotations

import unicodedata
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pegboard.dialect_calls import AnsweredCalls
from pegboard.dialects.base import Answer
from pegboard.dialects.memory_form import MALFORMED_ERROR, to_memory_form
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.json_schema.read_arguments import convert_to_floats
from pegboard.json_schema.validation_cost import TooCostly
from pegboard.model.api_errors import Fault, Invalid
from pegboard.model.call import Caller
from pegboard.model.conversation import Message
from pegboard.registry.snapshot import Snapshot

# How many messages with calls are searched for the call of an answer, and how many are loaded at a time.
MAX_LOOK_BACK_MESSAGES = 100
_PAGE_MESSAGES = 10

LoadOlder = Callable[[int, int], Awaitable[list[Message]]]
_CallKey = tuple[str, str]


class ResultMatcher:
    """Assigns answers to the latest unanswered call with the same id, or with the same name if there is no id.

    `older` loads up to `limit` messages with calls before a position, latest first; an empty list ends the search.
    """

    def __init__(self, older: LoadOlder, before: int) -> None:
        self._load_older = older
        self._before_position = before
        self._looked = 0
        self._messages: dict[int, Message] = {}
        # By id and by name, the positions of unanswered calls, one queue per message: calls of one message are
        # answered in order.
        self._open: dict[_CallKey, list[deque[tuple[int, int]]]] = {}
        # By id and by name, whether the board ran the latest answered call.
        self._answered: dict[_CallKey, bool] = {}
        self.changed: set[int] = set()

    def __getitem__(self, position: int) -> Message:
        return self._messages[position]

    def add(self, message: Message, *, is_older: bool = False) -> None:
        """Register the unanswered calls of a message, as the latest, or as the oldest with `is_older`."""
        self._messages[message.position] = message
        places: dict[_CallKey, deque[tuple[int, int]]] = {}
        for place, call in enumerate(message.tool_calls):
            for mark in (("id", call["id"]), ("name", call["name"])):
                if is_unanswered(call):
                    places.setdefault(mark, deque()).append((message.position, place))
                elif not is_older or mark not in self._answered:
                    self._answered[mark] = "run_id" in call
        for mark, waiting in places.items():
            known = self._open.setdefault(mark, [])
            known.insert(0 if is_older else len(known), waiting)

    async def put(self, answer: AskedCall) -> Message:
        """Store the answer in its call and return the message with that call; raise Invalid if no call matches."""
        mark = ("id", answer.id) if answer.id else ("name", answer.name)
        found = self._next(mark)
        while found is None and self._looked < MAX_LOOK_BACK_MESSAGES:
            more = await self._load_older(self._before_position, _PAGE_MESSAGES)
            for message in more:
                self.add(message, is_older=True)
            self._looked = self._looked + len(more) if more else MAX_LOOK_BACK_MESSAGES
            self._before_position = more[-1].position if more else 0
            found = self._next(mark)
        if found is None:
            raise _build_unmatched_error(answer, self._answered.get(mark))
        position, place = found
        message = self._messages[position]
        calls = list(message.tool_calls)
        calls[place] = call = set_answer(calls[place], answer)
        for other in (("id", call["id"]), ("name", call["name"])):
            self._answered[other] = False
        self._messages[position] = message = replace(message, tool_calls=tuple(calls))
        self.changed.add(position)
        return message

    def _next(self, mark: _CallKey) -> tuple[int, int] | None:
        waiting = self._open.get(mark, [])
        while waiting:
            while waiting[-1]:
                position, place = waiting[-1].popleft()
                # The call is registered twice; it may have been answered under its other key.
                if is_unanswered(self._messages[position].tool_calls[place]):
                    return position, place
            waiting.pop()
        return None


def _build_unmatched_error(answer: AskedCall, was_run_here: bool | None) -> Invalid:
    """Return the error for an answer without a call; `was_run_here` is None if no such call exists, answered or not."""
    call = f"id '{answer.id[:100]}'" if answer.id else f"name '{answer.name[:100]}'"
    if not answer.id and not answer.name:
        which = "an answer needs the id or the name of its call"
    elif was_run_here is not None:
        why = "the board added it when it ran the call" if was_run_here else "it was added before"
        which = f"the call with the {call} already has an answer: {why}. Leave out this answer"
    else:
        which = (
            f"no call with the {call} is waiting for an answer in this thread; add the message with the call first. "
            f"The search covers the latest {MAX_LOOK_BACK_MESSAGES} messages with calls, in "
            "fewer if they are long"
        )
    return Invalid.of("The answer was not added", [Fault("tool_call_id", which)])


_NO_RESULT = object()


def to_memory_form_with_result(answer: Answer) -> dict[str, Any]:
    """Return a call that this board ran, in memory form."""
    form = to_memory_form(answer.call) | {"id": answer.id}
    result = answer.result
    form.pop("error", None)
    if result.problem is None:
        form["result"] = result.output
    else:
        form |= {"error": result.problem.message, "code": result.problem.code}
    return form | {"duration_ms": result.elapsed_ms, "attempts": result.attempts, "run_id": answer.run_id}


def list_memory_forms(answered: AnsweredCalls) -> tuple[dict[str, Any], ...]:
    """Return every call of a payload in memory form, including those that the board did not run.

    Answers to calls that are not in the payload are left out if they do not name a tool.
    """
    answers = iter(answered.answers)
    forms = []
    for call in answered.asked.calls:
        answer = next(answers, None) if call.is_open else None
        if answer is not None:
            forms.append(to_memory_form_with_result(answer))
        elif call.name or call.arguments is not None:
            forms.append(to_memory_form(call))
    return tuple(forms)


def is_unanswered(form: Mapping[str, Any]) -> bool:
    """Return True if the call has no answer yet."""
    if "result" in form:
        return False
    return form.get("error") is None or (form["error"] == MALFORMED_ERROR and "raw_arguments" in form)


def set_answer(form: Mapping[str, Any], answer: AskedCall) -> dict[str, Any]:
    """Return the call with its answer."""
    outcome = {"result": answer.result} if answer.error is None else {"error": answer.error}
    return {key: value for key, value in form.items() if key != "error"} | outcome


def check_result(form: dict[str, Any], snapshot: Snapshot, caller: Caller) -> dict[str, Any]:
    """Return the call with `result_valid`, if the caller may call the tool and the tool has an output schema."""
    result = form.get("result", _NO_RESULT)
    compiled = snapshot.find(form["name"]) if result is not _NO_RESULT else None
    if compiled is None or compiled.tool.output_schema is None or not snapshot.may_call(compiled.tool, caller):
        return {key: value for key, value in form.items() if key != "result_valid"}
    try:
        is_valid = compiled.output.is_valid(convert_to_floats(result))
    except TooCostly:
        return {key: value for key, value in form.items() if key != "result_valid"}
    except ValueError:  # the value is not JSON
        is_valid = False
    return form | {"result_valid": is_valid}


def is_deeper_than(value: Any, most: int) -> bool:
    """Return True if lists and objects are nested more than `most` levels deep."""
    level = [value]
    for _ in range(most):
        level = [
            inner
            for item in level
            for inner in (item.values() if isinstance(item, Mapping) else item)
            if isinstance(inner, dict | list | tuple)
        ]
        if not level:
            return False
    return True


def split_calls_and_answers(calls: Sequence[AskedCall]) -> tuple[list[AskedCall], list[AskedCall]]:
    """Split into calls that a model makes and answers to earlier calls."""
    asked = [call for call in calls if call.arguments is not None]
    return asked, [call for call in calls if call.arguments is None and not call.is_open]


MAX_TITLE_CHARS = 200
_MAX_DERIVED_TITLE_CHARS = 80


def check_title(title: str | None) -> str | None:
    """Return the title on one line; raise Invalid if it is too long or blank."""
    if title is None:
        return None
    line = _to_single_line(title[: 4 * MAX_TITLE_CHARS])
    if not line or len(line) > MAX_TITLE_CHARS or len(title) > 4 * MAX_TITLE_CHARS:
        raise Invalid.of(
            "The title of the thread is not valid",
            [Fault("title", f"must have 1 to {MAX_TITLE_CHARS} characters, or be null")],
        )
    return line


def derive_title(text: str | None) -> str | None:
    """Derive a title from the first message, cut after a word."""
    line = _to_single_line((text or "")[: 4 * _MAX_DERIVED_TITLE_CHARS])
    if len(line) <= _MAX_DERIVED_TITLE_CHARS:
        return line or None
    words = line[:_MAX_DERIVED_TITLE_CHARS].rpartition(" ")[0]
    return (words if len(words) > _MAX_DERIVED_TITLE_CHARS // 2 else line[: _MAX_DERIVED_TITLE_CHARS - 1]).rstrip(
        " ,;:.-–"
    ) + "…"


def _to_single_line(text: str) -> str:
    return " ".join("".join(" " if unicodedata.category(letter) in ("Cc", "Cs") else letter for letter in text).split())
