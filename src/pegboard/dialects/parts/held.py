"""Calls of dialects without ids, held until it is known whether what comes next answers them by name."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

from pegboard.dialects.asked import ABSENT
from pegboard.dialects.assembly import Assembly, id_of, name_of


class _Call(NamedTuple):
    name: str
    arguments: Any
    id: str
    result: Any = ABSENT
    error: str | None = None
    # Whether it was asked for here, and not only answered.
    is_asked: bool = True


class Held:
    """The calls said last: answers come right after them."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._open: dict[tuple[str, str], deque[int]] = {}

    def hold(self, name: Any, arguments: Any, id: Any = None) -> None:
        """Keep one call back."""
        call = _Call(name_of(name), arguments, id_of(id))
        self._open.setdefault(_mark(call.id, call.name), deque()).append(len(self._calls))
        self._calls.append(call)

    def answer(
        self, into: Assembly, name: Any, result: Any, error: str | None, *, id: Any = None, arguments: Any = None
    ) -> None:
        """Answer the first open call of this id, or of this name where there is none; else it stands alone."""
        places = self._open.get(_mark(id_of(id), name_of(name)))
        if places:
            place = places.popleft()
            self._calls[place] = self._calls[place]._replace(result=result, error=error)
        elif self._calls:
            # It keeps its place among those that are held.
            self._calls.append(_Call(name_of(name), arguments, id_of(id), result, error, is_asked=False))
        else:
            into.answer(id, result, error=error, name=name_of(name), arguments=arguments)

    def release(self, into: Assembly) -> None:
        """Hand over every call that is held."""
        for name, arguments, identity, result, error, is_asked in self._calls:
            if is_asked:
                into.call(name, arguments, identity, result=result, error=error)
            else:
                into.answer(identity, result, error=error, name=name, arguments=arguments)
        self._calls.clear()
        self._open.clear()


def held_in(into: Assembly) -> Held:
    """The calls that this assembly's dialect holds back."""
    if into.state is None:
        into.state = Held()
    held: Held = into.state
    return held


def _mark(identity: str, name: str) -> tuple[str, str]:
    return ("id", identity) if identity else ("name", name)
