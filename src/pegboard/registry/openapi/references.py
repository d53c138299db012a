"""Where a `$ref` of an API document leads; never outside the document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

MAX_CHAIN = 64

_ANCHORS = ("$anchor", "$dynamicAnchor", "$id")


class Unusable(Exception):
    """Something that cannot be made part of a tool; the message goes on from what it is part of."""


def kind_of(value: Any) -> str:
    """What a JSON value is, in words."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


class Blended(dict[str, Any]):
    """An object of the document and what is said beside a reference to it, made anew each time it is asked for."""


class References:
    """The parts of one document by the references that name them."""

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
        """The pointer, in one spelling, and the part that a reference names; raises Unusable."""
        if not isinstance(reference, str):
            raise Unusable(f"a $ref must be a text, not {kind_of(reference)}")
        if reference not in self._found:
            self._found[reference] = self._look_up(reference)
        return self._found[reference]

    def followed(self, node: Any, what: str) -> dict[str, Any]:
        """The object that a node is or refers to, with a description given beside the reference; raises Unusable."""
        beside: dict[str, Any] = {}
        seen: set[str] = set()
        while isinstance(node, dict) and "$ref" in node:
            pointer, target = self.find(node["$ref"])
            if pointer in seen:
                raise Unusable(f"{what} refers back to itself: {shown(node['$ref'])}")
            if len(seen) == MAX_CHAIN:
                raise Unusable(f"{what} leads through more than {MAX_CHAIN} references")
            seen.add(pointer)
            beside = {**{word: node[word] for word in ("summary", "description") if word in node}, **beside}
            node = target
        if not isinstance(node, dict):
            raise Unusable(f"{what} must be an object, not {kind_of(node)}")
        return Blended({**node, **beside}) if beside else node

    def _look_up(self, reference: str) -> tuple[str, Any]:
        fragment = self._fragment(reference)
        if fragment and not fragment.startswith("/"):
            return self._anchor(fragment, reference)
        steps = [step.replace("~1", "/").replace("~0", "~") for step in fragment.split("/")[1:]]
        found: Any = self._document
        for step in steps:
            if isinstance(found, Mapping) and step in found:
                found = found[step]
            elif isinstance(found, list) and step.isascii() and step.isdigit() and int(step[:9]) < len(found):
                found = found[int(step[:9])]
            else:
                raise Unusable(f"{shown(reference)} names nothing in the document")
        return fragment, found

    def _fragment(self, reference: str) -> str:
        """What stands behind `#`, if the rest is this document."""
        address, mark, fragment = reference.partition("#")
        if address and not self._is_own(address):
            if not mark and address in self._all_anchors():
                return address
            raise Unusable(
                f"{shown(reference)} is outside the document, and nothing is fetched; put what it names into it"
            )
        return unquote(fragment)

    def _is_own(self, address: str) -> bool:
        try:
            return self._source is not None and urljoin(self._source, address) == self._source
        except ValueError:
            return False

    def _anchor(self, name: str, reference: str) -> tuple[str, Any]:
        try:
            return self._all_anchors()[name]
        except KeyError:
            raise Unusable(f"{shown(reference)} names nothing in the document") from None

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


def shown(reference: Any) -> str:
    """A reference as it is quoted in a reason."""
    text = str(reference)
    return f"'{text if len(text) <= 100 else text[:99] + '…'}'"
