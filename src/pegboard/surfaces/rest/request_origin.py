"""The hosts and origins that requests may name, because a page of another site can make a browser send requests."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

from pegboard.settings import split_comma_list

_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
_LOOPBACK_ADDRESSES = frozenset({"localhost", "127.0.0.1", "::1"})
_DEFAULT_PORTS = {"http": "80", "https": "443"}


class OriginRefused(Exception):
    """The Host or the Origin of a request is not allowed; `status` is 421 or 403."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.message = message
        self.status = status


class OwnOrigin(NamedTuple):
    """The origin of this server as a browser sees it."""

    scheme: str
    netloc: str

    @property
    def is_secure(self) -> bool:
        """True if the browser connects with TLS."""
        return self.scheme == "https"

    @property
    def port(self) -> str:
        """The port that the browser connects to."""
        name = _split_port(self.netloc)
        return self.netloc[len(name) + 1 :] or _DEFAULT_PORTS[self.scheme]

    @property
    def text(self) -> str:
        """The origin as the header Origin has it."""
        return f"{self.scheme}://{self.netloc}"


class OriginPolicy:
    """The hosts and origins that requests to this server may name."""

    def __init__(self, listens_on: str, allowed_hosts: str, allowed_origins: str, public_url: str | None) -> None:
        self._is_loopback = listens_on in _LOOPBACK_ADDRESSES
        self._hosts = frozenset(name.lower() for name in split_comma_list(allowed_hosts))
        self._origins = frozenset(origin.rstrip("/").lower() for origin in split_comma_list(allowed_origins))
        self._public = None if public_url is None else _parse_own_origin(public_url)
        self._public_path = "" if public_url is None else urlsplit(public_url).path.rstrip("/")
        if self._is_loopback:
            self._hosts |= _LOOPBACK_NAMES
        if self._hosts and self._public is not None:
            self._hosts |= {self._public.netloc}
        # The last host that was accepted: almost all requests name the same one.
        self._known_host: bytes | None = None

    def check(self, host: bytes | None, origin: bytes | None) -> None:
        """Raise OriginRefused with status 421 for another Host, and with status 403 for another Origin."""
        if host is None or host != self._known_host:
            self._check_host(host)
            self._known_host = host
        if origin is not None and not self._is_allowed(origin.decode("latin-1").lower(), host):
            raise OriginRefused(
                "The Origin of this request is not allowed; PEGBOARD_CORS_ORIGINS lists those that are", 403
            )

    def find_own_origin(self, host: bytes | None, scheme: str) -> OwnOrigin | None:
        """Return the origin of a browser that may have a session, or None.

        It has one if Host is that of PEGBOARD_PUBLIC_URL or a loopback name, and the connection has TLS or is loopback.
        """
        netloc = "" if host is None else host.decode("latin-1").lower()
        public = self._public
        if public is not None and netloc in (public.netloc, f"{public.netloc}:{public.port}"):
            return public if public.is_secure or _split_port(netloc) in _LOOPBACK_NAMES else None
        if _split_port(netloc) in _LOOPBACK_NAMES and scheme in _DEFAULT_PORTS:
            return OwnOrigin(scheme, netloc)
        return None

    def find_path_prefix(self, host: bytes | None) -> str:
        """Return the path of PEGBOARD_PUBLIC_URL, which a proxy removes, if the request came through it; else ""."""
        public = self._public
        netloc = "" if host is None else host.decode("latin-1").lower()
        is_public = public is not None and netloc in (public.netloc, f"{public.netloc}:{public.port}")
        return self._public_path if is_public else ""

    def _check_host(self, host: bytes | None) -> None:
        if not self._hosts:
            return
        name = "" if host is None else host.decode("latin-1").lower()
        if name not in self._hosts and _split_port(name) not in self._hosts:
            raise OriginRefused(
                "The Host of this request is not a name of this server; PEGBOARD_ALLOWED_HOSTS lists further ones", 421
            )

    def _is_allowed(self, origin: str, host: bytes | None) -> bool:
        if origin in self._origins or "*" in self._origins:
            return True
        if self._public is not None and origin == self._public.text:
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


def _parse_own_origin(url: str) -> OwnOrigin:
    """Return the origin of a URL as browsers write it: in lower case, without the default port."""
    parsed = urlsplit(url.lower())
    return OwnOrigin(parsed.scheme, parsed.netloc.removesuffix(f":{_DEFAULT_PORTS[parsed.scheme]}"))


def _split_port(host: str) -> str:
    """Return the host without its port."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isascii() and port.isdigit() else host
