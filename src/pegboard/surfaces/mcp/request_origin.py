"""Refuses requests that a page of another site makes a browser send: checks Host and Origin."""

from __future__ import annotations

from urllib.parse import urlsplit

from pegboard.settings import split_comma_list
from pegboard.surfaces.mcp.protocol import INVALID_REQUEST, ProtocolError

_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
_LOOPBACK_ADDRESSES = frozenset({"localhost", "127.0.0.1", "::1"})


class OriginPolicy:
    """The hosts and origins that requests to this server may name."""

    def __init__(self, listens_on: str, allowed_hosts: str, allowed_origins: str) -> None:
        self._is_loopback = listens_on in _LOOPBACK_ADDRESSES
        self._hosts = frozenset(name.lower() for name in split_comma_list(allowed_hosts))
        if self._is_loopback:
            self._hosts |= _LOOPBACK_NAMES
        self._origins = frozenset(origin.rstrip("/").lower() for origin in split_comma_list(allowed_origins))
        # The last host that was accepted: almost all requests name the same one.
        self._known_host: bytes | None = None

    def check(self, host: bytes | None, origin: bytes | None) -> None:
        """Raise ProtocolError with status 421 for another Host, and with status 403 for another Origin."""
        if host is None or host != self._known_host:
            self._check_host(host)
            self._known_host = host
        if origin is not None and not self._is_allowed(origin.decode("latin-1").lower(), host):
            raise ProtocolError(
                INVALID_REQUEST,
                "The Origin of this request is not allowed; PEGBOARD_CORS_ORIGINS lists those that are",
                status=403,
            )

    def _check_host(self, host: bytes | None) -> None:
        if not self._hosts:
            return
        name = "" if host is None else host.decode("latin-1").lower()
        if name not in self._hosts and _split_port(name) not in self._hosts:
            raise ProtocolError(
                INVALID_REQUEST,
                "The Host of this request is not a name of this server; PEGBOARD_ALLOWED_HOSTS lists further ones",
                status=421,
            )

    def _is_allowed(self, origin: str, host: bytes | None) -> bool:
        if origin in self._origins or "*" in self._origins:
            return True
        try:
            parsed = urlsplit(origin)
        except ValueError:
            return False
        if parsed.scheme not in ("http", "https") or not parsed.netloc or parsed.path or parsed.query:
            return False
        if host is not None and parsed.netloc == host.decode("latin-1").lower():
            return True
        return self._is_loopback and _split_port(parsed.netloc) in _LOOPBACK_NAMES


def _split_port(host: str) -> str:
    """Return the host without its port."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isascii() and port.isdigit() else host
