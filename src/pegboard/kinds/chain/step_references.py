"""References in a chain: parsing them in templates and resolving them against data.

Not a template engine: a reference keeps the type of its value, and a caller's template must not run code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pegboard.model.json_text import json_text

# The syntax between the braces: a root, then path parts.
_ROOT = re.compile(r"\s*([A-Za-z_]+)")
_PATH_PART = re.compile(r"""\.([A-Za-z0-9_$-]+)|\[(\d{1,9})\]|\["((?:[^"\\]|\\.){0,255})"\]""")
_ESCAPED = "{{{{"
_ROOTS = ("steps", "input", "item", "index")
_STEP_FIELDS = ("output", "error", "status")
_MAX_DEPTH = 64
_MAX_SHOWN_KEYS = 10
# Maximum total size of filled-in values: a short template can refer to a large value a hundred thousand times.
MAX_FILLED_BYTES = 64 * 2**20


class InvalidReference(ValueError):
    """A reference that cannot be parsed or resolved."""


class StepReference(NamedTuple):
    """A root and the path from there."""

    text: str
    root: str
    path: tuple[str | int, ...]

    @property
    def step(self) -> str | None:
        """The id of the step that it refers to, or None."""
        return str(self.path[0]) if self.root == "steps" else None

    @classmethod
    def read(cls, text: str) -> StepReference:
        """Parse the text between the braces; raise InvalidReference if it is not a reference."""
        root = _ROOT.match(text)
        if root is None or root[1] not in _ROOTS:
            raise InvalidReference(
                f"'{{{{{text[:60]}}}}}' refers to nothing; references begin with {', '.join(_ROOTS)}"
            )
        path: list[str | int] = []
        at = root.end()
        end = len(text.rstrip())
        while at < end:
            part = _PATH_PART.match(text, at, end)
            if part is None:
                raise InvalidReference(f"'{{{{{text[:60]}}}}}' cannot be read at '{text[at : at + 20]}'")
            name, place, quoted = part.groups()
            path.append(int(place) if place is not None else name if name is not None else _unquote(quoted))
            at = part.end()
        if len(path) > _MAX_DEPTH:
            raise InvalidReference(f"'{{{{{text[:60]}}}}}' has more than {_MAX_DEPTH} path parts")
        found = cls(text.strip(), root[1], tuple(path))
        found.check()
        return found

    def check(self) -> None:
        """Raise InvalidReference if the path is not possible for the root."""
        if self.root == "steps" and (len(self.path) < 2 or self.path[1] not in _STEP_FIELDS):
            raise InvalidReference(f"'{{{{{self.text}}}}}' must name a step and one of {', '.join(_STEP_FIELDS)}")
        if self.root == "index" and self.path:
            raise InvalidReference(f"'{{{{{self.text}}}}}': an index is a number and has no parts")


def iterate_references(template: Any) -> Iterator[StepReference]:
    """Yield all references in a template; raise InvalidReference at the first one that cannot be parsed."""
    if isinstance(template, str):
        if "{{" in template:
            yield from (StepReference.read(inside) for _, inside in _split_template(template) if inside is not None)
    elif isinstance(template, Mapping):
        for value in template.values():
            yield from iterate_references(value)
    elif isinstance(template, Sequence):
        for value in template:
            yield from iterate_references(value)


def is_reference(text: str) -> bool:
    """True if the text is exactly one reference."""
    return text.startswith("{{") and not text.startswith(_ESCAPED) and text.find("}}") == len(text) - 2 > 1


def fill_template(template: Any, known: Mapping[str, Any]) -> Any:
    """Return the template with its references filled in; a text that is exactly one reference becomes the value."""
    return _TemplateFiller(known).of(template)


class _TemplateFiller:
    """Fills in one template and counts the size of the values."""

    __slots__ = ("_known", "_left", "_sizes")

    def __init__(self, known: Mapping[str, Any]) -> None:
        self._known = known
        self._left = MAX_FILLED_BYTES
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
            return template if _is_secret_reference(inside) else self._value(inside)
        pieces: list[str] = []
        for before, reference in _split_template(template):
            pieces.append(before)
            if reference is not None:
                value = self._value(reference)
                pieces.append(value if isinstance(value, str) else "" if value is None else json_text(value))
        return "".join(pieces)

    def _value(self, inside: str) -> Any:
        value = look_up_reference(StepReference.read(inside), self._known)
        if isinstance(value, str):
            self._left -= len(value)
        elif isinstance(value, Mapping | list | tuple):
            # Caching by id is safe: the values outlive this object.
            if (size := self._sizes.get(id(value))) is None:
                size = self._sizes[id(value)] = len(json_text(value))
            self._left -= size
        if self._left < 0:
            raise InvalidReference(f"The filled-in values take more than {MAX_FILLED_BYTES:,} bytes")
        return value


def look_up_reference(reference: StepReference, known: Mapping[str, Any]) -> Any:
    """Resolve a reference; raise InvalidReference with the part of the path that exists and the value there."""
    if reference.root not in known:
        raise InvalidReference(f"'{{{{{reference.text}}}}}' is defined only within for_each")
    value = known[reference.root]
    for depth, part in enumerate(reference.path):
        if value is SKIPPED_OUTPUT:
            return None
        if isinstance(part, str):
            exists = isinstance(value, Mapping) and part in value
        else:
            exists = isinstance(value, list | tuple) and part < len(value)
        if not exists:
            steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in reference.path[:depth])
            place = reference.root + "".join(steps)
            raise InvalidReference(f"'{{{{{reference.text}}}}}' cannot be resolved: {place} {_describe_value(value)}")
        value = value[part]
    return None if value is SKIPPED_OUTPUT else value


class _SkippedOutput:
    """The output of a step that did not run; every reference into it is null."""


SKIPPED_OUTPUT = _SkippedOutput()


def _split_template(template: str) -> Iterator[tuple[str, str | None]]:
    """Yield pairs of literal text and the reference that follows it, or None, in one linear pass."""
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
        # A secret reference of a config is plain text in arguments.
        if _is_secret_reference(inside):
            yield template[at : end + 2], None
        else:
            yield template[at:start], inside
        at = end + 2
    yield template[at:].replace(_ESCAPED, "{{"), None


def _is_secret_reference(inside: str) -> bool:
    return inside.lstrip().startswith("secret:")


def _unquote(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        raise InvalidReference(f'["{text[:60]}"] is no text in JSON') from None


def _describe_value(value: Any) -> str:
    if isinstance(value, Mapping):
        keys = [str(key)[:60] for key in list(value)[:_MAX_SHOWN_KEYS]]
        return f"has {', '.join(keys)}{', …' if len(value) > _MAX_SHOWN_KEYS else ''}" if keys else "is empty"
    if isinstance(value, list | tuple):
        return f"is a list of {len(value)}"
    return "is null" if value is None else f"is a {'text' if isinstance(value, str) else 'value'} without parts"
