"""Makes unique names for tools, parameters and tags from an API document."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable
from typing import Any

from pegboard.kinds.config_fields import URL_PLACEHOLDER
from pegboard.kinds.import_names import (
    MAX_TAG_LENGTH,
    NOT_IN_NAMES,
    clean_text,
    make_short_digest,
    make_valid_name,
    replace_invalid_characters,
    shorten_text,
)
from pegboard.model.tool import MAX_NAME_LENGTH

# In front of the title of a document, in the tag of its tools.
OPENAPI_TAG_PREFIX = "openapi:"


def make_one_line(value: Any, length: int) -> str:
    """Return the text in one line of at most this many characters."""
    return shorten_text(" ".join(clean_text(value).split()), length)


def join_paragraphs(*texts: str) -> str:
    """Join the texts as paragraphs, without those that are contained in another."""
    kept: list[str] = []
    for text in texts:
        if text and not any(text in other for other in kept):
            kept = [other for other in kept if not text.startswith(other.rstrip("."))] + [text]
    return "\n\n".join(kept)


# The maximum that all providers accept for parameter names.
MAX_PROPERTY_LENGTH = 64

_NUMBER_SUFFIX_LENGTH = 7

_NOT_IN_PROPERTIES = re.compile(r"[^A-Za-z0-9_.-]+", re.ASCII)
_METHOD_ORDER = ("get", "head", "options", "post", "put", "patch", "delete")


def make_route_name(method: str, path: str) -> str:
    """Return a name for an operation without operationId: `get_users_by_id`."""
    words = [method.lower()]
    for step in path.partition("#")[0].split("/"):
        for index, piece in enumerate(URL_PLACEHOLDER.split(step)):
            word = replace_invalid_characters(piece, NOT_IN_NAMES).replace("-", "_").strip("_")
            if word:
                words.append(f"by_{word}" if index % 2 else word)
    return "_".join(words) if len(words) > 1 else f"{words[0]}_root"


def assign_unique_names(
    wanted: Iterable[tuple[str, str, str | None]], prefix: str, beat: Callable[[], None] = lambda: None
) -> dict[tuple[str, str], str]:
    """Return a unique name, ignoring case, for each operation, given as method, path and operationId."""
    # If several operations have the same name, the first by path and method gets it. The names of the others contain
    # their method and path, so that they do not depend on the order of the document or on other operations.
    names: dict[tuple[str, str], str] = {}
    taken: set[str] = set()
    late: list[tuple[str, str, str]] = []
    for method, path, given in sorted(wanted, key=lambda each: (each[1], _METHOD_ORDER.index(each[0].lower()))):
        beat()
        is_usable = given is not None and replace_invalid_characters(given, NOT_IN_NAMES).strip("_-")
        own = make_valid_name(f"{prefix}{given if is_usable else make_route_name(method, path)}")
        if own.lower() in taken:
            late.append((method, path, own))
        else:
            names[method, path] = own
            taken.add(own.lower())
    for method, path, own in late:
        name = _make_free_name(own, method, path, taken)
        names[method, path] = name
        taken.add(name.lower())
    return names


def make_body_variant_name(name: str, media_type: str, taken: Container[str]) -> str:
    """Return the name of the tool that sends an operation's body as another media type: `upload_multipart`."""
    bare = media_type.partition(";")[0].strip().lower()
    word = {"multipart/form-data": "multipart", "application/x-www-form-urlencoded": "form"}.get(bare)
    readable = make_valid_name(f"{name}_{word or bare.partition('/')[2]}")
    if readable.lower() not in taken:
        return readable
    return make_valid_name(f"{name[: MAX_NAME_LENGTH - 17]}_{make_short_digest(name + bare, 16)}")


class PropertyNames:
    """Unique names for the parameters of one tool."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._numbers: dict[str, int] = {}

    def take(self, wire_name: str, place: str) -> str:
        """Return a new name: the wire name if possible, else with its place as prefix, else also with a number."""
        name = wire_name
        if _NOT_IN_PROPERTIES.search(name):
            name = replace_invalid_characters(name, _NOT_IN_PROPERTIES).strip("_")
        name = name or place
        if len(name) > MAX_PROPERTY_LENGTH:
            name = f"{name[: MAX_PROPERTY_LENGTH - 9]}_{make_short_digest(wire_name)}"
        attempt = name if name not in self._taken else f"{place}_{name}"[:MAX_PROPERTY_LENGTH]
        stem = attempt[: MAX_PROPERTY_LENGTH - _NUMBER_SUFFIX_LENGTH]
        while attempt in self._taken:
            # Continue from the last number of this name, because thousands may have the same.
            number = self._numbers.get(stem, 2) + 1
            self._numbers[stem] = number
            tail = f"_{number}"
            attempt = f"{place}_{name}"[: MAX_PROPERTY_LENGTH - len(tail)] + tail
        self._taken.add(attempt)
        return attempt


def make_openapi_source_tag(title: str) -> str:
    """Return the tag of all tools from the document with this title."""
    slug = re.sub(r"[\W_]+", "-", clean_text(title).lower()).strip("-")
    return f"{OPENAPI_TAG_PREFIX}{slug or 'api'}"[:MAX_TAG_LENGTH].rstrip("-")


def _make_free_name(own: str, method: str, path: str, taken: Container[str]) -> str:
    route = f"{method} {path}"
    readable = f"{own}_{make_route_name(method, path)}"
    if len(readable) <= MAX_NAME_LENGTH and readable.lower() not in taken:
        return readable
    for length in range(8, 65, 8):
        name = f"{own[: MAX_NAME_LENGTH - length - 1]}_{make_short_digest(route, length)}"
        if name.lower() not in taken:
            return name
    raise AssertionError("two operations of one path and method")
