"""The parts that calls in texts have in common: names, arguments up to an end mark, and objects that are calls."""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Any, NamedTuple

from pegboard.core.call import Malformed
from pegboard.core.errors import MalformedArguments
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.reading import json_of
from pegboard.dialects.text.scanning import Scan, Text

CUT = "the text ends before the call does"

_NAME = re.compile(r"[^\s\"'`<>(){}\[\],=|]{1,255}")


def is_name(text: str) -> bool:
    """Whether a tool may go by this: prose that follows a mark by chance names none."""
    return _NAME.fullmatch(text) is not None


def closed_arguments(text: Text, end: str, *others: str) -> Generator[None, None, Any]:
    """The JSON up to its end mark; Malformed where the text, or one of the other marks, comes before that.

    Another mark is left to be read again.
    """
    found, is_whole = yield from text.json()
    rest, mark = yield from text.until(end, *others)
    if mark == end and (is_whole or not found):
        return found + rest
    text.back(mark)
    return Malformed(found + rest, CUT)


class Keys(NamedTuple):
    """What the fields of an object that is a call are named."""

    name: str
    arguments: str
    id: str = "id"

    def read(self, found: str, is_whole: bool, into: Assembly) -> None:
        """Hand in the object as a call; one that was cut off or cannot be read, with what is known of it."""
        why = CUT
        if is_whole:
            try:
                value = json_of(found)
            except MalformedArguments as error:
                why = error.message
            else:
                if isinstance(value, dict) and isinstance(value.get(self.name), str):
                    into.call(value[self.name], value.get(self.arguments), value.get(self.id))
                else:
                    into.call("", Malformed(found, f"expected an object with '{self.name}' and '{self.arguments}'"))
                return
        if not self.read_broken(found, why, into) and is_whole:
            into.call("", Malformed(found, why))

    def read_broken(self, found: str, why: str, into: Assembly) -> bool:
        """Hand in a call of which only the beginning can be read, if that says its name."""
        head = _head(self).match(found)
        if head is None:
            return False
        into.call(head["name"], Malformed(head["arguments"] or "", why), head["id"])
        return True


def read_objects(text: Text, into: Assembly, keys: Keys) -> Scan:
    """Hand in what comes next, each call as soon as its object is closed: an array of objects, or one object."""
    is_list = yield from text.ahead("[")
    while (yield from text.ahead("{")):
        text.back("{")
        found, is_whole = yield from text.json()
        keys.read(found, is_whole, into)
        if not is_list or not (yield from text.ahead(",")):
            return


def _head(keys: Keys) -> re.Pattern[str]:
    return re.compile(
        rf'\{{\s*+(?:"{keys.id}"\s*:\s*"(?P<id>[^"\\]*+)"\s*,\s*)?(?:"type"\s*:\s*"[^"\\]*+"\s*,\s*)?'
        rf'"{keys.name}"\s*:\s*"(?P<name>[^"\\]++)"\s*+(?:,\s*"{keys.arguments}"\s*:\s*(?P<arguments>.*))?',
        re.DOTALL,
    )
