"""Which operations of an API document prove themselves, and where the key goes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pegboard.core.outbound import check_header
from pegboard.core.refusals import Fault, Invalid
from pegboard.core.tool import AuthConfig
from pegboard.registry.definition import checked
from pegboard.registry.openapi.references import References, Unusable

Auth = dict[str, Any]

_PLACES = {"headers": "header", "query": "query", "cookies": "cookie"}


class Security:
    """Puts the credentials that were given on the operations that ask for some."""

    def __init__(
        self,
        document: Mapping[str, Any],
        references: References,
        operations: Iterable[Mapping[str, Any]],
        auth_config: Mapping[str, Any] | None,
    ) -> None:
        self._references = references
        self._given = dict(auth_config) if auth_config is not None else None
        self._everywhere = document.get("security")
        self._is_declared = self._everywhere is not None or any(
            operation.get("security") is not None for operation in operations
        )
        components = document.get("components")
        held = components.get("securitySchemes") if isinstance(components, dict) else None
        schemes = held if isinstance(held, dict) else document.get("securityDefinitions")
        self._schemes: dict[str, Any] = schemes if isinstance(schemes, dict) else {}
        if self._given is not None:
            checked(AuthConfig, self._given, "auth_config")
            if self._given.get("header_name") and self._given.get("query_name"):
                raise Invalid.of(
                    "The import is not valid", [Fault("auth_config", "has a header_name and a query_name; keep one")]
                )

    def of(self, operation: Mapping[str, Any]) -> Auth | None:
        """The auth_config of an operation's tool, with the place of the key as the document names it."""
        wanted = operation.get("security")
        if wanted is None:
            wanted = self._everywhere
        if self._given is None or (self._is_declared and _is_none(wanted)):
            return None
        if self._given["type"] != "api_key" or self._given.get("header_name") or self._given.get("query_name"):
            return dict(self._given)
        return self._placed(self._given, _names(wanted))

    def _placed(self, auth: Auth, names: list[str]) -> Auth:
        """The key where the first scheme that is a key has it; of those the operation names, or of all."""
        for name in [*(name for name in names if name in self._schemes), *self._schemes]:
            try:
                scheme = self._references.followed(self._schemes[name], "a security scheme")
            except Unusable:
                continue
            place, label = scheme.get("in"), scheme.get("name")
            if scheme.get("type") != "apiKey" or not isinstance(label, str) or not _is_sound(label, place):
                continue
            if place == "header":
                return {**auth, "header_name": label}
            if place == "query":
                return {**auth, "query_name": label}
            if place == "cookie":
                others = {word: value for word, value in auth.items() if word not in ("type", "api_key")}
                return {**others, "type": "custom", "cookies": {label: auth["api_key"]}}
        return dict(auth)


def sent_as(auth: Auth | None) -> frozenset[tuple[str, str]]:
    """The parameters, as place and name (a header's in lower case), that the credentials already fill."""
    if auth is None:
        return frozenset()
    found: set[tuple[str, str]] = set()
    if auth["type"] == "api_key":
        if isinstance(auth.get("query_name"), str) and auth["query_name"]:
            found.add(("query", auth["query_name"]))
        else:
            found.add(("header", str(auth.get("header_name") or "X-API-Key").lower()))
    custom = auth.get("custom")
    for held in (auth, custom if isinstance(custom, dict) else {}):
        for word, place in _PLACES.items():
            names = held.get(word)
            found |= {(place, str(name)) for name in names} if isinstance(names, dict) else set()
    if isinstance(custom, dict) and not custom.keys() & _PLACES.keys():
        found |= {("header", str(name)) for name in custom}
    return frozenset((place, name.lower() if place == "header" else name) for place, name in found)


def _is_none(wanted: Any) -> bool:
    """Whether a list of requirements asks for nothing."""
    return wanted is None or (isinstance(wanted, list) and all(requirement == {} for requirement in wanted))


def _names(wanted: Any) -> list[str]:
    requirements = wanted if isinstance(wanted, list) else []
    return [name for requirement in requirements if isinstance(requirement, dict) for name in requirement]


def _is_sound(label: str, place: Any) -> bool:
    if place == "query":
        # A reference to a secret in a document would be filled in as if the importer had written it.
        return bool(label) and label.isprintable() and "{{" not in label
    try:
        check_header(label)
    except ValueError:
        return False
    return True
