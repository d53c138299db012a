"""Determines which operations of an API document need credentials, and where the key is sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pegboard.kinds.config_fields import check_header
from pegboard.kinds.http.openapi.document_references import DocumentReferences, Unusable
from pegboard.model.api_errors import Fault, Invalid
from pegboard.model.tool import AuthConfig
from pegboard.model.validation_messages import validate_model

Auth = dict[str, Any]

_CREDENTIAL_PLACES = {"headers": "header", "query": "query", "cookies": "cookie"}


class Security:
    """Assigns the given credentials to the operations that require some."""

    def __init__(
        self,
        document: Mapping[str, Any],
        references: DocumentReferences,
        operations: Iterable[Mapping[str, Any]],
        auth_config: Mapping[str, Any] | None,
    ) -> None:
        self._references = references
        self._given = dict(auth_config) if auth_config is not None else None
        self._global_requirements = document.get("security")
        self._is_declared = self._global_requirements is not None or any(
            operation.get("security") is not None for operation in operations
        )
        components = document.get("components")
        held = components.get("securitySchemes") if isinstance(components, dict) else None
        schemes = held if isinstance(held, dict) else document.get("securityDefinitions")
        self._schemes: dict[str, Any] = schemes if isinstance(schemes, dict) else {}
        if self._given is not None:
            validate_model(AuthConfig, self._given, "auth_config")
            if self._given.get("header_name") and self._given.get("query_name"):
                raise Invalid.of(
                    "The import is not valid", [Fault("auth_config", "has a header_name and a query_name; keep one")]
                )

    def of(self, operation: Mapping[str, Any]) -> Auth | None:
        """Return the auth_config of an operation's tool, with the key in the place that the document defines."""
        wanted = operation.get("security")
        if wanted is None:
            wanted = self._global_requirements
        if self._given is None or (self._is_declared and _requires_nothing(wanted)):
            return None
        if self._given["type"] != "api_key" or self._given.get("header_name") or self._given.get("query_name"):
            return dict(self._given)
        return self._place_key(self._given, _list_scheme_names(wanted))

    def _place_key(self, auth: Auth, names: list[str]) -> Auth:
        """Put the key in the place of the first apiKey scheme, among those of the operation, then among all."""
        for name in [*(name for name in names if name in self._schemes), *self._schemes]:
            try:
                scheme = self._references.resolve_object(self._schemes[name], "a security scheme")
            except Unusable:
                continue
            place, label = scheme.get("in"), scheme.get("name")
            if scheme.get("type") != "apiKey" or not isinstance(label, str) or not _is_valid_label(label, place):
                continue
            if place == "header":
                return {**auth, "header_name": label}
            if place == "query":
                return {**auth, "query_name": label}
            if place == "cookie":
                others = {word: value for word, value in auth.items() if word not in ("type", "api_key")}
                return {**others, "type": "custom", "cookies": {label: auth["api_key"]}}
        return dict(auth)


def list_sent_parameters(auth: Auth | None) -> frozenset[tuple[str, str]]:
    """Return the parameters, as place and name (headers in lower case), that the credentials fill."""
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
        for word, place in _CREDENTIAL_PLACES.items():
            names = held.get(word)
            found |= {(place, str(name)) for name in names} if isinstance(names, dict) else set()
    if isinstance(custom, dict) and not custom.keys() & _CREDENTIAL_PLACES.keys():
        found |= {("header", str(name)) for name in custom}
    return frozenset((place, name.lower() if place == "header" else name) for place, name in found)


def _requires_nothing(wanted: Any) -> bool:
    """True if a list of security requirements is empty."""
    return wanted is None or (isinstance(wanted, list) and all(requirement == {} for requirement in wanted))


def _list_scheme_names(wanted: Any) -> list[str]:
    requirements = wanted if isinstance(wanted, list) else []
    return [name for requirement in requirements if isinstance(requirement, dict) for name in requirement]


def _is_valid_label(label: str, place: Any) -> bool:
    if place == "query":
        # A secret reference in a document would be filled in as a secret of the importing user.
        return bool(label) and label.isprintable() and "{{" not in label
    try:
        check_header(label)
    except ValueError:
        return False
    return True
