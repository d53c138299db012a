"""Arguments typed as key=value and key:=json."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pegboard.surfaces.cli.failures import Usage

_TYPES: dict[type, tuple[str, ...]] = {
    bool: ("boolean",),
    int: ("integer", "number"),
    float: ("number",),
    list: ("array",),
    dict: ("object",),
    type(None): ("null",),
}


@dataclass(frozen=True, slots=True)
class Pairs:
    """Members of a JSON object, each value as the JSON text it was typed as, so that no digit is lost."""

    members: dict[str, str] = field(default_factory=dict)
    strings: dict[str, str] = field(default_factory=dict)
    """Those that were typed as key=value, and are therefore strings whatever they look like."""

    @property
    def body(self) -> bytes:
        """The JSON object."""
        return ("{" + ",".join(f"{json.dumps(key)}:{text}" for key, text in self.members.items()) + "}").encode()

    def hint(self, key: str, expected: str | None) -> str | None:
        """How to write a member that was taken for a text, where that would have been what was expected."""
        text = self.strings.get(key)
        if text is None:
            return None
        try:
            value = _json(text)
        except ValueError:
            return None
        fits = expected is None or any(name in expected for name in _TYPES.get(type(value), ()))
        return f"write {key}:={text}" if fits else None


def read_pairs(words: Sequence[str]) -> Pairs:
    """What the words say; Usage names the one that says nothing."""
    pairs = Pairs()
    for word in words:
        key, equals, text = word.partition("=")
        is_json = key.endswith(":")
        key = key.removesuffix(":")
        if not equals or not key:
            raise Usage(f"'{word}' is neither key=value nor key:=json")
        if key in pairs.members:
            raise Usage(f"'{key}' is given twice")
        if is_json:
            try:
                _json(text)
            except ValueError as error:
                raise Usage(f"{key}:={text} is not JSON: {error}", [f"A text is written {key}={text}"]) from None
            pairs.members[key] = text
        else:
            pairs.members[key] = json.dumps(text)
            pairs.strings[key] = text
    return pairs


def _json(text: str) -> Any:
    try:
        text.encode()
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
