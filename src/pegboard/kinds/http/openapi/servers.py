"""Determines the base URLs of the operations of an API document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from pegboard.kinds.config_fields import URL_PLACEHOLDER, check_url
from pegboard.kinds.http.openapi.document_references import (
    DocumentReferences,
    PartCache,
    Unusable,
    check_type,
    quote_reference,
)
from pegboard.model.api_errors import Fault, Invalid

_WEB_SCHEMES = ("https", "http")
_INVALID_URL_CHARACTERS = re.compile(r"[\x00-\x20\x7f\\{}]")


class ServerUrls:
    """The base URL of each operation: the given one, or the first usable one of the document."""

    def __init__(
        self,
        document: Mapping[str, Any],
        references: DocumentReferences,
        source_url: str | None,
        server_url: str | None,
    ) -> None:
        self._document = document
        self._references = references
        self._source = source_url
        self._given = server_url.rstrip("/") if server_url is not None else None
        self._home_origin: _Origin | None = None
        self._own_host = [{"url": "/"}]
        self._chosen: PartCache[str] = PartCache()
        if server_url is not None:
            _check_server_url(server_url)

    def base(self, operation: Mapping[str, Any], path_item: Mapping[str, Any]) -> str:
        """Return the URL before the operation's path, without a trailing slash; raise Unusable."""
        if self._given is not None:
            return self._given
        if "openapi" not in self._document:
            return self._build_swagger_base(operation)
        for holder in (operation, path_item, self._document):
            if holder.get("servers"):
                return self._choose_first(holder["servers"])
        return self._choose_first(self._own_host)

    def explain_withheld(self, base: str) -> str | None:
        """Return why credentials must not be sent to this base URL, or None if they may be."""
        if self._given is not None:
            return None
        origin = _parse_origin(base)
        if self._home_origin is None:
            try:
                self._home_origin = _parse_origin(self.base({}, {}))
            except Unusable:
                self._home_origin = origin  # the document has no common server, so use that of the first operation
        if origin.scheme == "http" and ((self._source or "").startswith("https:") or origin.host in self._safe_hosts):
            return "it would send them unencrypted; give server_url"
        if origin != self._home_origin:
            return "it is served from another origin than the rest; give server_url"
        return None

    @cached_property
    def _safe_hosts(self) -> frozenset[str]:
        """The hosts of the document's https servers."""
        if "openapi" in self._document:
            servers = self._document.get("servers")
            urls = [
                url for url, _ in self._iterate_usable(servers if isinstance(servers, list) else []) if url is not None
            ]
        else:
            try:
                urls = [self._build_swagger_base({})]
            except Unusable:
                urls = []
        return frozenset(origin.host for origin in map(_parse_origin, urls) if origin.scheme == "https")

    def _choose_first(self, servers: Any) -> str:
        check_type(servers, list, "servers")
        return self._chosen.get(servers, lambda: self._choose_best(servers))

    def _choose_best(self, servers: list[Any]) -> str:
        """Return the first usable URL, preferring https if the same URL is also offered with it; raise Unusable."""
        first, reason = None, None
        for url, error in self._iterate_usable(servers):
            if url is None:
                reason = reason or error
            elif first is None:
                first = url
                if url.startswith("https:"):
                    break
            elif url.startswith("https:") and _get_url_identity(url) == _get_url_identity(first):
                return url
        if first is None:
            raise reason or Unusable("servers is empty")
        return first

    def _iterate_usable(self, servers: list[Any]) -> Iterator[tuple[str | None, Unusable | None]]:
        for server in servers:
            try:
                resolved = self._references.resolve_object(server, "a server")
                yield self._make_absolute(self._fill_variables(resolved)), None
            except Unusable as error:
                yield None, error

    def _fill_variables(self, server: Mapping[str, Any]) -> str:
        url: Any = server.get("url")
        variables = server.get("variables")
        check_type(url, str, "the url of a server")

        def value_of(match: re.Match[str]) -> str:
            variable = variables.get(match[1]) if isinstance(variables, dict) else None
            value = variable.get("default") if isinstance(variable, dict) else None
            if isinstance(variable, dict) and value is None and isinstance(variable.get("enum"), list):
                value = next(iter(variable["enum"]), None)
            if isinstance(value, bool) or not isinstance(value, str | int):
                raise Unusable(
                    f"the server {quote_reference(url)} has no default for {{{match[1][:50]}}}; give server_url"
                )
            return str(value)

        return URL_PLACEHOLDER.sub(value_of, str(url))

    def _build_swagger_base(self, operation: Mapping[str, Any]) -> str:
        document = self._document
        host, path = document.get("host"), document.get("basePath", "/")
        schemes = operation.get("schemes") or document.get("schemes")
        check_type(path, str, "basePath")
        if schemes:
            check_type(schemes, list, "schemes")
        if schemes and not any(scheme in schemes for scheme in _WEB_SCHEMES):
            raise Unusable(f"it is served by {str(schemes[0])[:20]}, not by http or https; give server_url")
        path = "/" + path.lstrip("/")
        if host is None:
            return self._make_absolute(path)
        check_type(host, str, "host")
        scheme = next((scheme for scheme in _WEB_SCHEMES if schemes and scheme in schemes), None)
        if scheme is None:
            scheme = "http" if (self._source or "").startswith("http://") else "https"
        bare = re.sub(r"^[a-z]+://", "", host.strip())
        return self._make_absolute(f"{scheme}://{bare.rstrip('/')}{path}")

    def _make_absolute(self, url: str) -> str:
        whole = url.strip() or "/"
        try:
            scheme = urlsplit(whole).scheme
            if not scheme and self._source is not None:
                whole = urljoin(self._source, whole)
        except ValueError as error:
            raise Unusable(f"its server {quote_reference(url)} is not a URL: {error}; give server_url") from None
        if not scheme and self._source is None:
            raise Unusable(
                f"its server {quote_reference(url)} is relative to the URL of the document, not known; give server_url"
            )
        if scheme and scheme not in _WEB_SCHEMES:
            raise Unusable(f"its server {quote_reference(url)} is not reached by http or https; give server_url")
        if _INVALID_URL_CHARACTERS.search(whole):
            raise Unusable(f"its server {quote_reference(url)} holds a character that a URL cannot; give server_url")
        try:
            return check_url(whole.partition("#")[0], "its server").rstrip("/")
        except ValueError as error:
            raise Unusable(f"{error}; give server_url") from None


def join_url(base: str, path: str) -> str:
    """Join a base URL and a path; a query of the base moves to the end."""
    start, mark, query = base.partition("?")
    whole = start.rstrip("/") + (path if path.startswith("/") else f"/{path}")
    if not mark:
        return whole
    return f"{whole}{'&' if '?' in whole else '?'}{query}"


class _Origin(NamedTuple):
    scheme: str
    host: str
    port: int


def _parse_origin(url: str) -> _Origin:
    parts = urlsplit(url)
    return _Origin(parts.scheme, parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))


def _get_url_identity(url: str) -> tuple[str | None, str, str]:
    """Return host, path and query, independent of scheme and port."""
    parts = urlsplit(url)
    return parts.hostname, parts.path, parts.query


def _check_server_url(server_url: str) -> None:
    reason = "must be a URL without placeholders" if _INVALID_URL_CHARACTERS.search(server_url) else None
    try:
        check_url(server_url, "server_url")
    except ValueError as error:
        reason = str(error)
    if reason:
        raise Invalid.of("The import is not valid", [Fault("server_url", reason)])
