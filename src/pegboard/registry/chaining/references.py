"""References in a chain: found in data, resolved on data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pegboard.store.types import json_text

# What may stand between the braces: a root, then steps into what it is.
_BRACES = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_ROOT = re.compile(r"\s*([A-Za-z_]+)")
_PART = re.compile(r"""\.([A-Za-z0-9_$-]+)|\[(\d{1,9})\]|\["((?:[^"\\]|\\.){0,255})"\]""")
_ESCAPED = "{{{{"
_ROOTS = ("steps", "input", "item", "index")
_OF_STEP = ("output", "error", "status")
_DEEPEST = 64
_MOST_KEYS = 10


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
            yield from (Reference.read(text) for text in _texts(template))
    elif isinstance(template, Mapping):
        for value in template.values():
            yield from references_in(value)
    elif isinstance(template, Sequence):
        for value in template:
            yield from references_in(value)


def is_reference(text: str) -> bool:
    """Whether a text is one reference and nothing else."""
    whole = _BRACES.fullmatch(text)
    return whole is not None and "}}" not in whole[1] and not text.startswith(_ESCAPED)


def filled(template: Any, known: Mapping[str, Any]) -> Any:
    """The data with its references filled in; a text that is one reference becomes what that refers to."""
    if isinstance(template, str):
        return _filled_text(template, known) if "{{" in template else template
    if isinstance(template, Mapping):
        return {key: filled(value, known) for key, value in template.items()}
    if isinstance(template, list | tuple):
        return [filled(value, known) for value in template]
    return template


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


def _texts(template: str) -> Iterator[str]:
    for match in _BRACES.finditer(template.replace(_ESCAPED, "")):
        # What stands for a secret in a config is plain text in arguments.
        if not match[1].lstrip().startswith("secret:"):
            yield match[1]


def _filled_text(template: str, known: Mapping[str, Any]) -> Any:
    if is_reference(template):
        inside = template[2:-2]
        is_secret = inside.lstrip().startswith("secret:")
        return template if is_secret else looked_up(Reference.read(inside), known)

    def written(match: re.Match[str]) -> str:
        if match[1].lstrip().startswith("secret:"):
            return match[0]
        value = looked_up(Reference.read(match[1]), known)
        return value if isinstance(value, str) else "" if value is None else json_text(value)

    return "{{".join(_BRACES.sub(written, part) for part in template.split(_ESCAPED))


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
