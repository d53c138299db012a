"""Names for what an API document calls by its own rules: tools, their parameters, and where they come from."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Container, Iterable

from pegboard.core.outbound import PLACEHOLDER
from pegboard.core.tool import NAME_LENGTH, check_name
from pegboard.registry.openapi.texts import clean

# What every provider takes for the name of a parameter.
PROPERTY_LENGTH = 64
TAG_LENGTH = 64

_ROOM_FOR_NUMBER = 7

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+", re.ASCII)
_NOT_IN_PROPERTIES = re.compile(r"[^A-Za-z0-9_.-]+", re.ASCII)
_ORDER = ("get", "head", "options", "post", "put", "patch", "delete")


def valid_name(text: str) -> str:
    """The name that a tool may have and that is nearest to this text."""
    name = _spelled(text, _NOT_IN_NAMES).lstrip("-")
    if not name:
        return f"tool_{digest_of(text)}"
    if len(name) > NAME_LENGTH:
        name = f"{name[: NAME_LENGTH - 9].rstrip('_-')}_{digest_of(text)}"
    for attempt in (name, f"{name}_", f"_{name}", f"tool_{name}"):
        try:
            # A leading digit calls for something in front, a keyword for something behind.
            return check_name(attempt if len(attempt) <= NAME_LENGTH else attempt[:NAME_LENGTH])
        except ValueError:
            continue
    return f"tool_{digest_of(text)}"


def words_of(method: str, path: str) -> str:
    """A name for an operation that has none: `get_users_by_id`."""
    words = [method.lower()]
    for step in path.partition("#")[0].split("/"):
        for index, piece in enumerate(PLACEHOLDER.split(step)):
            word = _spelled(piece, _NOT_IN_NAMES).replace("-", "_").strip("_")
            if word:
                words.append(f"by_{word}" if index % 2 else word)
    return "_".join(words) if len(words) > 1 else f"{words[0]}_root"


def told_apart(
    wanted: Iterable[tuple[str, str, str | None]], prefix: str, beat: Callable[[], None] = lambda: None
) -> dict[tuple[str, str], str]:
    """A name for each operation, given as method, path and operationId; no two alike without regard to case."""
    # Of several that want the same name the first by path and method gets it, and the others' hold their own method
    # and path, so that neither the order of the document nor other operations change them.
    names: dict[tuple[str, str], str] = {}
    taken: set[str] = set()
    late: list[tuple[str, str, str]] = []
    for method, path, given in sorted(wanted, key=lambda each: (each[1], _place(each[0]))):
        beat()
        own = valid_name(prefix + _base(method, path, given))
        if own.lower() in taken:
            late.append((method, path, own))
        else:
            names[method, path] = own
            taken.add(own.lower())
    for method, path, own in late:
        name = _free(own, method, path, taken)
        names[method, path] = name
        taken.add(name.lower())
    return names


def name_with_body(name: str, media_type: str, taken: Container[str]) -> str:
    """A name for the tool that sends an operation's body as another media type: `upload_multipart`."""
    bare = media_type.partition(";")[0].strip().lower()
    word = {"multipart/form-data": "multipart", "application/x-www-form-urlencoded": "form"}.get(bare)
    readable = valid_name(f"{name}_{word or bare.partition('/')[2]}")
    if readable.lower() not in taken:
        return readable
    return valid_name(f"{name[: NAME_LENGTH - 17]}_{digest_of(name + bare, 16)}")


class PropertyNames:
    """What the parameters of one tool are called, no two alike."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._numbers: dict[str, int] = {}

    def take(self, wire_name: str, place: str) -> str:
        """A name for one more: as on the wire if it can be, else with its place in front, else with a number too."""
        name = _spelled(wire_name, _NOT_IN_PROPERTIES).strip("_") if not _fits(wire_name) else wire_name
        name = name or place
        if len(name) > PROPERTY_LENGTH:
            name = f"{name[: PROPERTY_LENGTH - 9]}_{digest_of(wire_name)}"
        attempt = name if name not in self._taken else f"{place}_{name}"[:PROPERTY_LENGTH]
        stem = attempt[: PROPERTY_LENGTH - _ROOM_FOR_NUMBER]
        while attempt in self._taken:
            # From where the last one of this name got to, as thousands may want the same.
            number = self._numbers.get(stem, 2) + 1
            self._numbers[stem] = number
            tail = f"_{number}"
            attempt = f"{place}_{name}"[: PROPERTY_LENGTH - len(tail)] + tail
        self._taken.add(attempt)
        return attempt


def source_tag(title: str) -> str:
    """The tag that all tools from the document of this title bear."""
    slug = re.sub(r"[\W_]+", "-", clean(title).lower()).strip("-")
    return f"openapi:{slug or 'api'}"[:TAG_LENGTH].rstrip("-")


def digest_of(text: str, length: int = 8) -> str:
    """A few hexadecimal digits that are the same for the same text everywhere."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def _base(method: str, path: str, given: str | None) -> str:
    return given if given is not None and _spelled(given, _NOT_IN_NAMES).strip("_-") else words_of(method, path)


def _free(own: str, method: str, path: str, taken: Container[str]) -> str:
    route = f"{method} {path}"
    readable = f"{own}_{words_of(method, path)}"
    if len(readable) <= NAME_LENGTH and readable.lower() not in taken:
        return readable
    for length in range(8, 65, 8):
        name = f"{own[: NAME_LENGTH - length - 1]}_{digest_of(route, length)}"
        if name.lower() not in taken:
            return name
    raise AssertionError("two operations of one path and method")


def _fits(name: str) -> bool:
    return bool(name) and _NOT_IN_PROPERTIES.search(name) is None


def _place(method: str) -> int:
    return _ORDER.index(method.lower())


def _spelled(text: str, others: re.Pattern[str]) -> str:
    """The text in plain letters; accents are dropped, and what is not allowed joins words as an underscore."""
    letters = unicodedata.normalize("NFKD", text) if not text.isascii() else text
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return others.sub(" ", plain).strip().replace(" ", "_")
