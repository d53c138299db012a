"""Where the operations of an API document are served."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from pegboard.core.outbound import PLACEHOLDER, check_url
from pegboard.core.refusals import Fault, Invalid
from pegboard.registry.openapi.references import References, Unusable, kind_of, shown

_WEB = ("https", "http")
_UNFIT = re.compile(r"[\x00-\x20\x7f\\{}]")


class Servers:
    """The base URL of each operation: the one given, or the first in the document that can be reached."""

    def __init__(
        self, document: Mapping[str, Any], references: References, source_url: str | None, server_url: str | None
    ) -> None:
        self._document = document
        self._references = references
        self._source = source_url
        self._given = server_url.rstrip("/") if server_url is not None else None
        self._home: _Origin | None = None
        self._own_host = [{"url": "/"}]
        self._chosen: dict[int, tuple[Any, str | Unusable]] = {}
        if server_url is not None:
            _check_given(server_url)

    def base(self, operation: Mapping[str, Any], path_item: Mapping[str, Any]) -> str:
        """The URL in front of the operation's path, without a slash at its end; raises Unusable."""
        if self._given is not None:
            return self._given
        if "openapi" not in self._document:
            return self._of_host(operation)
        for holder in (operation, path_item, self._document):
            if holder.get("servers"):
                return self._first(holder["servers"])
        return self._first(self._own_host)

    def withheld(self, base: str) -> str | None:
        """Why credentials are not for an operation with this base, or None where they are."""
        if self._given is not None:
            return None
        origin = _origin(base)
        if self._home is None:
            try:
                self._home = _origin(self.base({}, {}))
            except Unusable:
                self._home = origin  # nothing is named for all, so it is where the first operation is served
        if origin.scheme == "http" and ((self._source or "").startswith("https:") or origin.host in self._safe_hosts):
            return "it would send them unencrypted; give server_url"
        return None if origin == self._home else "it is served from another origin than the rest; give server_url"

    @cached_property
    def _safe_hosts(self) -> frozenset[str]:
        """The hosts that the document as a whole is served from by https."""
        if "openapi" in self._document:
            servers = self._document.get("servers")
            urls = [url for url, _ in self._usable(servers if isinstance(servers, list) else []) if url is not None]
        else:
            try:
                urls = [self._of_host({})]
            except Unusable:
                urls = []
        return frozenset(origin.host for origin in map(_origin, urls) if origin.scheme == "https")

    def _first(self, servers: Any) -> str:
        if not isinstance(servers, list):
            raise Unusable(f"servers must be a list, not {kind_of(servers)}")
        if id(servers) not in self._chosen:
            self._chosen[id(servers)] = (servers, self._best(servers))  # itself too, so that its id stays its own
        found = self._chosen[id(servers)][1]
        if isinstance(found, Unusable):
            raise Unusable(str(found))
        return found

    def _best(self, servers: list[Any]) -> str | Unusable:
        """The first that can be reached, by https where the same is offered so too."""
        first, reason = None, None
        for url, error in self._usable(servers):
            if url is None:
                reason = reason or error
            elif first is None:
                first = url
                if url.startswith("https:"):
                    break
            elif url.startswith("https:") and _place(url) == _place(first):
                return url
        return first or reason or Unusable("servers is empty")

    def _usable(self, servers: list[Any]) -> Iterator[tuple[str | None, Unusable | None]]:
        for server in servers:
            try:
                yield self._absolute(self._filled(self._references.followed(server, "a server"))), None
            except Unusable as error:
                yield None, error

    def _filled(self, server: Mapping[str, Any]) -> str:
        url, variables = server.get("url"), server.get("variables")
        if not isinstance(url, str):
            raise Unusable(f"the url of a server must be a text, not {kind_of(url)}")

        def value_of(match: re.Match[str]) -> str:
            variable = variables.get(match[1]) if isinstance(variables, dict) else None
            value = variable.get("default") if isinstance(variable, dict) else None
            if isinstance(variable, dict) and value is None and isinstance(variable.get("enum"), list):
                value = next(iter(variable["enum"]), None)
            if isinstance(value, bool) or not isinstance(value, str | int):
                raise Unusable(f"the server {shown(url)} has no default for {{{match[1][:50]}}}; give server_url")
            return str(value)

        return PLACEHOLDER.sub(value_of, url)

    def _of_host(self, operation: Mapping[str, Any]) -> str:
        document = self._document
        host, path = document.get("host"), document.get("basePath", "/")
        schemes = operation.get("schemes") or document.get("schemes")
        if not isinstance(path, str):
            raise Unusable(f"basePath must be a text, not {kind_of(path)}")
        if schemes and not isinstance(schemes, list):
            raise Unusable(f"schemes must be a list, not {kind_of(schemes)}")
        if schemes and not any(scheme in schemes for scheme in _WEB):
            raise Unusable(f"it is served by {str(schemes[0])[:20]}, not by http or https; give server_url")
        path = "/" + path.lstrip("/")
        if host is None:
            return self._absolute(path)
        if not isinstance(host, str):
            raise Unusable(f"host must be a text, not {kind_of(host)}")
        scheme = next((scheme for scheme in _WEB if schemes and scheme in schemes), None)
        if scheme is None:
            scheme = "http" if (self._source or "").startswith("http://") else "https"
        bare = re.sub(r"^[a-z]+://", "", host.strip())
        return self._absolute(f"{scheme}://{bare.rstrip('/')}{path}")

    def _absolute(self, url: str) -> str:
        whole = url.strip() or "/"
        try:
            scheme = urlsplit(whole).scheme
            if not scheme and self._source is not None:
                whole = urljoin(self._source, whole)
        except ValueError as error:
            raise Unusable(f"its server {shown(url)} is not a URL: {error}; give server_url") from None
        if not scheme and self._source is None:
            raise Unusable(
                f"its server {shown(url)} is relative to the URL of the document, not known; give server_url"
            )
        if scheme and scheme not in _WEB:
            raise Unusable(f"its server {shown(url)} is not reached by http or https; give server_url")
        if _UNFIT.search(whole):
            raise Unusable(f"its server {shown(url)} holds a character that a URL cannot; give server_url")
        try:
            return check_url(whole.partition("#")[0], "its server").rstrip("/")
        except ValueError as error:
            raise Unusable(f"{error}; give server_url") from None


def url_of(base: str, path: str) -> str:
    """The URL of a path behind its base; a query in the base goes to the end."""
    start, mark, query = base.partition("?")
    whole = start.rstrip("/") + (path if path.startswith("/") else f"/{path}")
    if not mark:
        return whole
    return f"{whole}{'&' if '?' in whole else '?'}{query}"


class _Origin(NamedTuple):
    scheme: str
    host: str
    port: int


def _origin(url: str) -> _Origin:
    parts = urlsplit(url)
    return _Origin(parts.scheme, parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))


def _place(url: str) -> tuple[str | None, str, str]:
    """What a URL names, however it is reached."""
    parts = urlsplit(url)
    return parts.hostname, parts.path, parts.query


def _check_given(server_url: str) -> None:
    reason = "must be a URL without placeholders" if _UNFIT.search(server_url) else None
    try:
        check_url(server_url, "server_url")
    except ValueError as error:
        reason = str(error)
    if reason:
        raise Invalid.of("The import is not valid", [Fault("server_url", reason)])
