"""Find the call in a conversation that an answer belongs to."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import replace

from pegboard.conversations.stored_calls import is_unanswered, set_answer
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.model.api_errors import Fault, Invalid
from pegboard.model.conversation import Message

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
        which = f"the call with the {call} has its answer already: {why}. Leave this answer out"
    else:
        which = (
            f"no call with the {call} waits for an answer in this thread; add the message with the call first. "
            f"Calls are looked for in the latest {MAX_LOOK_BACK_MESSAGES} messages with calls, in "
            "fewer if they are long"
        )
    return Invalid.of("The answer was not added", [Fault("tool_call_id", which)])
