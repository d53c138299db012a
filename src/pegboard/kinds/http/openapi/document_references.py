"""Resolves each `$ref` of an API document; never outside the document."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Generic, TypeVar
from urllib.parse import unquote, urldefrag, urljoin

from pegboard.json_schema.schema_document import follow_pointer

T = TypeVar("T")

MAX_REFERENCE_CHAIN = 64

_ANCHORS = ("$anchor", "$dynamicAnchor", "$id")


_REQUIRED_TYPES: dict[type, str] = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}


class Unusable(Exception):
    """A part that cannot be imported; the message continues after the name of the part."""


def describe_json_type(value: Any) -> str:
    """Return the JSON type of a value, as a phrase for messages."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def check_type(value: Any, kind: type[dict[Any, Any] | list[Any] | str | bool], what: str) -> None:
    """Raise Unusable, with `what` as the subject, unless the value has this type."""
    if not isinstance(value, kind):
        raise Unusable(f"{what} must be {_REQUIRED_TYPES[kind]}, not {describe_json_type(value)}")


class MergedObject(dict[str, Any]):
    """An object merged with the fields beside a reference to it; new for each lookup, so it is not cached by id."""


class PartCache(Generic[T]):
    """What was computed for parts of the document, each identified by its identity and a key."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, Hashable], tuple[Any, T | Unusable]] = {}

    def get(self, part: Any, compute: Callable[[], T], key: Hashable = None) -> T:
        """Return what `compute` returned for this part the first time, or raise the Unusable that it raised."""
        if isinstance(part, MergedObject):
            return compute()
        if (id(part), key) not in self._found:
            result: T | Unusable
            try:
                result = compute()
            except Unusable as error:
                result = error
            self._found[id(part), key] = (part, result)  # keeps the part alive, so that its id is not reused
        found = self._found[id(part), key][1]
        if isinstance(found, Unusable):
            raise Unusable(str(found))
        return found


class DocumentReferences:
    """Resolves the references of one document."""

    def __init__(
        self,
        document: Mapping[str, Any],
        source_url: str | None = None,
        beat: Callable[[], None] = lambda: None,
    ) -> None:
        self._document = document
        self._source = urldefrag(source_url).url if source_url else None
        self._beat = beat
        self._found: dict[str, tuple[str, Any]] = {}
        self._anchors: dict[str, tuple[str, Any]] | None = None

    def find(self, reference: Any) -> tuple[str, Any]:
        """Return the canonical pointer of a reference and the part it names; raise Unusable."""
        check_type(reference, str, "a $ref")
        if reference not in self._found:
            self._found[reference] = self._look_up(reference)
        return self._found[reference]

    def resolve_object(self, node: Any, what: str) -> dict[str, Any]:
        """Return the object that a node is or refers to, with a description beside the reference; raise Unusable."""
        beside: dict[str, Any] = {}
        seen: set[str] = set()
        while isinstance(node, dict) and "$ref" in node:
            pointer, target = self.find(node["$ref"])
            if pointer in seen:
                raise Unusable(f"{what} refers back to itself: {quote_reference(node['$ref'])}")
            if len(seen) == MAX_REFERENCE_CHAIN:
                raise Unusable(f"{what} leads through more than {MAX_REFERENCE_CHAIN} references")
            seen.add(pointer)
            beside = {**{word: node[word] for word in ("summary", "description") if word in node}, **beside}
            node = target
        check_type(node, dict, what)
        return MergedObject({**node, **beside}) if beside else node

    def _look_up(self, reference: str) -> tuple[str, Any]:
        fragment = self._fragment(reference)
        if fragment and not fragment.startswith("/"):
            if fragment not in self._all_anchors():
                raise Unusable(f"{quote_reference(reference)} names nothing in the document")
            return self._all_anchors()[fragment]
        try:
            return fragment, follow_pointer(self._document, fragment)
        except LookupError:
            raise Unusable(f"{quote_reference(reference)} names nothing in the document") from None

    def _fragment(self, reference: str) -> str:
        """Return the fragment after `#` if the rest names this document; raise Unusable if not."""
        address, mark, fragment = reference.partition("#")
        if address and not self._is_own(address):
            if not mark and address in self._all_anchors():
                return address
            raise Unusable(
                f"{quote_reference(reference)} is outside the document, and nothing is fetched; put "
                "what it names into it"
            )
        return unquote(fragment)

    def _is_own(self, address: str) -> bool:
        try:
            return self._source is not None and urljoin(self._source, address) == self._source
        except ValueError:
            return False

    def _all_anchors(self) -> dict[str, tuple[str, Any]]:
        if self._anchors is None:
            self._anchors = {}
            seen: set[int] = set()
            todo: list[Any] = [self._document]
            while todo:
                self._beat()
                node = todo.pop()
                if id(node) in seen:
                    continue
                if isinstance(node, Mapping):
                    seen.add(id(node))
                    for word in _ANCHORS:
                        name = node.get(word)
                        if isinstance(name, str) and name:
                            self._anchors.setdefault(name, (name, node))
                    todo += node.values()
                elif isinstance(node, list):
                    seen.add(id(node))
                    todo += node
        return self._anchors


def quote_reference(reference: Any) -> str:
    """Return a reference in quotes, at most 100 characters, for messages."""
    text = str(reference)
    return f"'{text if len(text) <= 100 else text[:99] + '…'}'"
