"""Calls whose arguments stand in a tag each, as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import Any, ClassVar, NamedTuple

from pegboard.core.call import Malformed
from pegboard.core.errors import MalformedArguments
from pegboard.dialects.asked import AskedCall
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.reading import json_of
from pegboard.dialects.text.scanning import Scan, Text
from pegboard.dialects.text.turn import TurnDialect, json_text
from pegboard.dialects.text.typing import property_of, typed

_HEAD = re.compile(r"[^<>\n]*")


class Head(NamedTuple):
    """What stands in an opening tag: a name, and whether the value is a string or JSON where it says so."""

    name: str
    is_string: bool | None = None


class Value(NamedTuple):
    """A value's text, and the space and the mark that follow its closing tag; no mark where it is cut off."""

    text: str
    space: str
    mark: str


def value_in(text: Text, opening: str, closing: str, *after: str) -> Generator[None, None, Value]:
    """The value up to its closing tag: the one that something of `after` follows, and that closes no tag inside it.

    So a value may hold a whole call as an example, or a stray closing tag. A stray opening tag makes the call
    malformed, and a closing tag just where the real one could be ends the value: the format has no way to tell.
    """
    parts: list[str] = []
    depth = 0
    while True:
        before, mark = yield from text.until(opening, closing)
        parts += before, mark
        if not mark:
            return Value("".join(parts), "", "")
        if mark == opening:
            depth += 1
        elif depth:
            depth -= 1
        else:
            space, follows = yield from text.then(*after)
            if follows:
                parts.pop()
                return Value("".join(parts), space, follows)
            parts.append(space)


class Draft:
    """A call whose arguments are on their way."""

    def __init__(self, name: str, into: Assembly) -> None:
        self._name = name
        self._into = into
        self._schema = into.schema_of(name)
        self._values: dict[str, Any] = {}
        self._raw: list[str] = []
        self._why = ""

    def saw(self, *raw: str) -> None:
        """Keep what was written, to be shown if it cannot be read."""
        self._raw += raw

    def set(self, key: str, value: str, is_string: bool | None = None) -> None:
        """One argument: a string or JSON where the text says which, else what the tool's schema says."""
        if key in self._values or not key:
            self._why = (
                f"the parameter '{key[:100]}' is there twice; send it once" if key else "a parameter has no name"
            )
        elif is_string is None:
            self._values[key] = typed(value, property_of(self._schema, key), self._schema)
        elif is_string:
            self._values[key] = value
        else:
            try:
                self._values[key] = json_of(value)
            except MalformedArguments as error:
                self._why = f"the parameter '{key[:100]}' is no JSON: {error.message}"

    def over(self, missing: str = "") -> None:
        """Hand over the call; what is missing of it makes it malformed."""
        why = f"the call is not whole: there is no {missing} where it should be" if missing else self._why
        if why:
            self._into.malformed(self._name, "".join(self._raw), why)
        else:
            self._into.call(self._name, self._values)


class TaggedDialect(TurnDialect):
    """Calls as a tag with a tag for each parameter, in a block or by themselves."""

    # What opens and closes a block; `openers` has all of these, and `call`.
    block: ClassVar[tuple[str, ...]]
    call: ClassVar[str]
    end_call: ClassVar[str]
    parameter: ClassVar[str]
    end_parameter: ClassVar[str]
    # Whether a call may stand outside of a block, and what must follow one in a block before it counts.
    is_bare: ClassVar[bool] = False
    follows: ClassVar[tuple[str, ...]] = ()

    def scan(self, text: Text, into: Assembly) -> Scan:
        """Take each call, in a block if it must be in one."""
        mark, in_block = "", False
        while mark := mark or (yield from self.calls_begin(text, into)):
            if mark != self.call:
                in_block = mark in self.block
                mark = ""
            elif in_block or self.is_bare:
                mark = yield from self._call(text, into, in_block)
            else:
                mark = ""

    def head(self, written: str) -> Head:
        """What the rest of an opening tag says."""
        return Head(written.strip())

    def value(self, written: str) -> str:
        """A value as it is meant."""
        return written

    def _call(self, text: Text, into: Assembly, in_block: bool) -> Generator[None, None, str]:
        """Read one call, and give the opener that was read after it, if any."""
        written, is_head = yield from self._tag(text)
        name = self.head(written).name
        if not is_head or not name:
            return ""
        draft = Draft(name, into)
        space, mark = yield from text.then(self.parameter, self.end_call)
        draft.saw(space, mark)
        if not mark and not text.is_cut(self.parameter, self.end_call):
            if in_block:
                draft.saw(*(yield from text.until(self.end_call)))
                draft.over(missing=self.parameter)
            return ""
        while mark == self.parameter:
            written, is_head = yield from self._tag(text)
            draft.saw(written)
            if not is_head:
                mark = ""
                break
            value = yield from value_in(text, self.parameter, self.end_parameter, self.parameter, self.end_call)
            mark = value.mark
            draft.saw(">", value.text, self.end_parameter if mark else "", value.space, mark)
            if mark:
                key, is_string = self.head(written)
                draft.set(key, self.value(value.text), is_string)
        if not mark:
            draft.over(missing=self.end_call)
            return ""
        if not in_block or not self.follows:
            draft.over()
            return ""
        _, mark = yield from text.then(*self.follows)
        draft.over(missing="" if mark else self.follows[0])
        return mark

    def _tag(self, text: Text) -> Generator[None, None, tuple[str, bool]]:
        """The rest of an opening tag, and whether it is whole."""
        written = yield from text.run(_HEAD)
        _, mark = yield from text.then(">")
        return written, bool(mark)


def written_value(value: Any) -> str:
    """A value as it stands in a tag."""
    return value if isinstance(value, str) else json_text(value)


def body_of(call: AskedCall, parameter: Callable[[str, Any], str], end: str) -> str:
    """What follows the opening tag of a call; arguments that could not be read stay as they were written."""
    if isinstance(call.arguments, Malformed):
        return call.arguments.text
    return "\n" + "".join(parameter(key, value) for key, value in (call.arguments or {}).items()) + end
