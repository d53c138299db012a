"""Which call of a conversation an answer is for."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import replace

from pegboard.core.memory import Message
from pegboard.core.refusals import Fault, Invalid
from pegboard.dialects.asked import AskedCall
from pegboard.memory.calls import answered, is_open

# How many messages with calls are looked through for the one that an answer is for, and how many at a time.
LOOK_BACK = 100
_AT_ONCE = 10

Older = Callable[[int, int], Awaitable[list[Message]]]
_Mark = tuple[str, str]


class Answering:
    """Puts answers into the calls they are for: the latest open ones of their id, or of their name without one.

    `older` gives up to so many messages with calls before a place, latest first, and none where it looks no further.
    """

    def __init__(self, older: Older, before: int) -> None:
        self._older = older
        self._before = before
        self._looked = 0
        self._messages: dict[int, Message] = {}
        # Of each mark the places of its open calls, message by message; those of one message are answered in order.
        self._open: dict[_Mark, list[deque[tuple[int, int]]]] = {}
        # Of each mark whether the board ran the latest call that is answered.
        self._answered: dict[_Mark, bool] = {}
        self.changed: set[int] = set()

    def __getitem__(self, position: int) -> Message:
        return self._messages[position]

    def add(self, message: Message, *, is_older: bool = False) -> None:
        """Have a message's calls wait for their answers, as the latest unless it is older than all before."""
        self._messages[message.position] = message
        places: dict[_Mark, deque[tuple[int, int]]] = {}
        for place, call in enumerate(message.tool_calls):
            for mark in (("id", call["id"]), ("name", call["name"])):
                if is_open(call):
                    places.setdefault(mark, deque()).append((message.position, place))
                elif not is_older or mark not in self._answered:
                    self._answered[mark] = "run_id" in call
        for mark, waiting in places.items():
            known = self._open.setdefault(mark, [])
            known.insert(0 if is_older else len(known), waiting)

    async def put(self, answer: AskedCall) -> Message:
        """The message with the call that this answers, now with its answer; Invalid where there is none."""
        mark = ("id", answer.id) if answer.id else ("name", answer.name)
        found = self._next(mark)
        while found is None and self._looked < LOOK_BACK:
            more = await self._older(self._before, _AT_ONCE)
            for message in more:
                self.add(message, is_older=True)
            self._looked = self._looked + len(more) if more else LOOK_BACK
            self._before = more[-1].position if more else 0
            found = self._next(mark)
        if found is None:
            raise _unasked(answer, self._answered.get(mark))
        position, place = found
        message = self._messages[position]
        calls = list(message.tool_calls)
        calls[place] = call = answered(calls[place], answer)
        for other in (("id", call["id"]), ("name", call["name"])):
            self._answered[other] = False
        self._messages[position] = message = replace(message, tool_calls=tuple(calls))
        self.changed.add(position)
        return message

    def _next(self, mark: _Mark) -> tuple[int, int] | None:
        waiting = self._open.get(mark, [])
        while waiting:
            while waiting[-1]:
                position, place = waiting[-1].popleft()
                # It may have been answered by its other mark.
                if is_open(self._messages[position].tool_calls[place]):
                    return position, place
            waiting.pop()
        return None


def _unasked(answer: AskedCall, was_run_here: bool | None) -> Invalid:
    """Why an answer has no call; `was_run_here` is None where there is no such call, answered or not."""
    call = f"id '{answer.id[:100]}'" if answer.id else f"name '{answer.name[:100]}'"
    if not answer.id and not answer.name:
        which = "an answer needs the id or the name of its call"
    elif was_run_here is not None:
        why = "the board added it when it ran the call" if was_run_here else "it was added before"
        which = f"the call with the {call} has its answer already: {why}. Leave this answer out"
    else:
        which = (
            f"no call with the {call} waits for an answer in this thread; add the message with the call first. "
            f"Calls are looked for in the latest {LOOK_BACK} messages with calls, in fewer if they are long"
        )
    return Invalid.of("The answer was not added", [Fault("tool_call_id", which)])
