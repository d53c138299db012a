"""References in a chain: found in data, resolved on data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pegboard.store.types import json_text

# What may stand between the braces: a root, then steps into what it is.
_ROOT = re.compile(r"\s*([A-Za-z_]+)")
_PART = re.compile(r"""\.([A-Za-z0-9_$-]+)|\[(\d{1,9})\]|\["((?:[^"\\]|\\.){0,255})"\]""")
_ESCAPED = "{{{{"
_ROOTS = ("steps", "input", "item", "index")
_OF_STEP = ("output", "error", "status")
_DEEPEST = 64
_MOST_KEYS = 10
# What all that is filled in at a time may take: a short text can refer to a large one a hundred thousand times.
MOST_BYTES = 64 * 2**20


class Misreferred(ValueError):
    """A reference that means nothing, or leads nowhere."""


class Reference(NamedTuple):
    """A root and the way from there."""

    text: str
    root: str
    path: tuple[str | int, ...]

    @property
    def step(self) -> str | None:
        """The step it refers to."""
        return str(self.path[0]) if self.root == "steps" else None

    @classmethod
    def read(cls, text: str) -> Reference:
        """The reference between two braces; Misreferred says what is wrong with it."""
        root = _ROOT.match(text)
        if root is None or root[1] not in _ROOTS:
            raise Misreferred(f"'{{{{{text[:60]}}}}}' refers to nothing; references begin with {', '.join(_ROOTS)}")
        path: list[str | int] = []
        at = root.end()
        end = len(text.rstrip())
        while at < end:
            part = _PART.match(text, at, end)
            if part is None:
                raise Misreferred(f"'{{{{{text[:60]}}}}}' cannot be read at '{text[at : at + 20]}'")
            name, place, quoted = part.groups()
            path.append(int(place) if place is not None else name if name is not None else _unquoted(quoted))
            at = part.end()
        if len(path) > _DEEPEST:
            raise Misreferred(f"'{{{{{text[:60]}}}}}' goes more than {_DEEPEST} levels deep")
        found = cls(text.strip(), root[1], tuple(path))
        found.check()
        return found

    def check(self) -> None:
        """Raise Misreferred where a step is referred to in a way that no step can be."""
        if self.root == "steps" and (len(self.path) < 2 or self.path[1] not in _OF_STEP):
            raise Misreferred(f"'{{{{{self.text}}}}}' must name a step and one of {', '.join(_OF_STEP)}")
        if self.root == "index" and self.path:
            raise Misreferred(f"'{{{{{self.text}}}}}': an index is a number and has no parts")


def references_in(template: Any) -> Iterator[Reference]:
    """Every reference in some data; raises Misreferred at the first that cannot be read."""
    if isinstance(template, str):
        if "{{" in template:
            yield from (Reference.read(inside) for _, inside in _pieces(template) if inside is not None)
    elif isinstance(template, Mapping):
        for value in template.values():
            yield from references_in(value)
    elif isinstance(template, Sequence):
        for value in template:
            yield from references_in(value)


def is_reference(text: str) -> bool:
    """Whether a text is one reference and nothing else."""
    return text.startswith("{{") and not text.startswith(_ESCAPED) and text.find("}}") == len(text) - 2 > 1


def filled(template: Any, known: Mapping[str, Any]) -> Any:
    """The data with its references filled in; a text that is one reference becomes what that refers to."""
    return _Filling(known).of(template)


class _Filling:
    """Fills in one template, and keeps count of how much that takes."""

    __slots__ = ("_known", "_left", "_sizes")

    def __init__(self, known: Mapping[str, Any]) -> None:
        self._known = known
        self._left = MOST_BYTES
        self._sizes: dict[int, int] = {}

    def of(self, template: Any) -> Any:
        if isinstance(template, str):
            return self._text(template) if "{{" in template else template
        if isinstance(template, Mapping):
            return {key: self.of(value) for key, value in template.items()}
        if isinstance(template, list | tuple):
            return [self.of(value) for value in template]
        return template

    def _text(self, template: str) -> Any:
        if is_reference(template):
            inside = template[2:-2]
            return template if _is_secret(inside) else self._value(inside)
        pieces: list[str] = []
        for before, reference in _pieces(template):
            pieces.append(before)
            if reference is not None:
                value = self._value(reference)
                pieces.append(value if isinstance(value, str) else "" if value is None else json_text(value))
        return "".join(pieces)

    def _value(self, inside: str) -> Any:
        value = looked_up(Reference.read(inside), self._known)
        if isinstance(value, str):
            self._left -= len(value)
        elif isinstance(value, Mapping | list | tuple):
            # What a template refers to lives longer than this, so that its id is its own.
            if (size := self._sizes.get(id(value))) is None:
                size = self._sizes[id(value)] = len(json_text(value))
            self._left -= size
        if self._left < 0:
            raise Misreferred(f"What is to be filled in takes more than {MOST_BYTES:,} bytes")
        return value


def looked_up(reference: Reference, known: Mapping[str, Any]) -> Any:
    """What a reference leads to; Misreferred says how far it goes and what is there instead."""
    if reference.root not in known:
        raise Misreferred(f"'{{{{{reference.text}}}}}' means something within for_each only")
    value = known[reference.root]
    for depth, part in enumerate(reference.path):
        if value is SKIPPED:
            return None
        try:
            value = value[part] if _fits(value, part) else _nowhere()
        except (KeyError, IndexError):
            way = reference.root + "".join(
                f"[{one}]" if isinstance(one, int) else f".{one}" for one in reference.path[:depth]
            )
            raise Misreferred(f"'{{{{{reference.text}}}}}' leads nowhere: {way} {_shown(value)}") from None
    return None if value is SKIPPED else value


class _Skipped:
    """Stands for the output of a step that did not run; whatever is asked of it is null."""


SKIPPED = _Skipped()


def _pieces(template: str) -> Iterator[tuple[str, str | None]]:
    """The text piece by piece: what is to stand there as it is, and the reference that follows it, if one does.

    It is gone through once, whatever braces it is full of.
    """
    at = 0
    while (start := template.find("{{", at)) >= 0:
        if template.startswith(_ESCAPED, start):
            yield template[at : start + 2], None
            at = start + 4
            continue
        end = template.find("}}", start + 2)
        if end < 0:
            break
        inside = template[start + 2 : end]
        # What stands for a secret in a config is plain text in arguments.
        if _is_secret(inside):
            yield template[at : end + 2], None
        else:
            yield template[at:start], inside
        at = end + 2
    yield template[at:].replace(_ESCAPED, "{{"), None


def _is_secret(inside: str) -> bool:
    return inside.lstrip().startswith("secret:")


def _fits(value: Any, part: str | int) -> bool:
    return isinstance(value, Mapping) if isinstance(part, str) else isinstance(value, list | tuple)


def _nowhere() -> Any:
    raise KeyError


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        raise Misreferred(f'["{text[:60]}"] is no text in JSON') from None


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        keys = [str(key)[:60] for key in list(value)[:_MOST_KEYS]]
        return f"has {', '.join(keys)}{', …' if len(value) > _MOST_KEYS else ''}" if keys else "is empty"
    if isinstance(value, list | tuple):
        return f"is a list of {len(value)}"
    return "is null" if value is None else f"is a {'text' if isinstance(value, str) else 'value'} without parts"
