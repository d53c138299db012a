"""Finds the caller of a request: the holder of the key in its header, else of the session in its cookie."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from pegboard.model.api_errors import Forbidden, Unauthorised
from pegboard.model.call import Caller
from pegboard.runs.handle import CallHandler
from pegboard.surfaces.rest.asgi_request import Scope, read_bearer_key
from pegboard.surfaces.rest.request_origin import OriginPolicy, OwnOrigin

Headers = Sequence[tuple[bytes, bytes]]

_SAFE_METHODS = ("GET", "HEAD")
_NO_SESSION_HERE = (
    "There are no sessions over this address: a browser would send the cookie unencrypted, or to a name that is not "
    "known as this server's. Open http://127.0.0.1:{port}/console/ on the machine of the server, or from another one "
    "through 'ssh -L {port}:127.0.0.1:{port} HOST'; or serve it over TLS and set PEGBOARD_PUBLIC_URL to its address"
)


class SessionCookie(NamedTuple):
    """The cookie of the session at one address of this server."""

    name: str
    is_secure: bool

    @classmethod
    def of(cls, origin: OwnOrigin) -> SessionCookie:
        """Return the cookie for a browser at this origin; cookies are not separated by port, so its name is."""
        return cls("__Host-pegboard", True) if origin.is_secure else cls(f"pegboard-{origin.port}", False)

    def read(self, headers: Headers) -> str | None:
        """Return the token in the cookies of a request, or None; raise Unauthorised if there are several."""
        cookies = (pair for name, value in headers if name == b"cookie" for pair in value.split(b";"))
        pairs = (pair.strip().partition(b"=") for pair in cookies)
        name = self.name.encode()
        tokens = [value for key, _, value in pairs if key == name]
        if len(tokens) > 1:
            raise Unauthorised(f"There are several cookies named {self.name}; delete the cookies of this site")
        return tokens[0].decode("latin-1") if tokens else None

    def format(self, token: str, max_age: int) -> str:
        """Return the header Set-Cookie; a browser deletes the cookie if `max_age` is 0."""
        secure = "; Secure" if self.is_secure else ""
        return f"{self.name}={token}; Max-Age={max_age}; Path=/; HttpOnly; SameSite=Strict{secure}"


class RequestCallers:
    """Finds the caller of each request."""

    def __init__(self, calls: CallHandler, origins: OriginPolicy, port: int) -> None:
        self._calls = calls
        self._origins = origins
        self._port = port

    def find(self, scope: Scope) -> Caller:
        """Return the caller of a request; raise Unauthorised or Forbidden."""
        headers: Headers = scope["headers"]
        if _has_authorization(headers):
            return self._calls.authenticate(read_bearer_key(headers))
        return self.find_session(scope["method"], headers, scope.get("scheme", "http"))

    def find_session(self, method: str, headers: Headers, scheme: str, *, is_use: bool = True) -> Caller:
        """Return the caller of a request without the header Authorization; raise Unauthorised or Forbidden."""
        token = origin = None
        if any(name == b"cookie" for name, _ in headers):
            origin = self._origins.find_own_origin(_find_header(headers, b"host"), scheme)
            token = SessionCookie.of(origin).read(headers) if origin is not None else None
        if token is None or origin is None:
            raise Unauthorised("A key is needed; send it as 'Authorization: Bearer KEY'")
        _refuse_other_sites(headers, origin, needs_origin=method not in _SAFE_METHODS)
        return self._calls.authenticate_session(token, is_use=is_use)

    def create_check(self, scope: Scope) -> Callable[[], Caller]:
        """Return a function that finds the caller of a long request again, which is no use of a session."""
        headers: Headers = scope["headers"]
        if _has_authorization(headers):
            key = read_bearer_key(headers)
            return lambda: self._calls.authenticate(key)
        method, scheme = scope["method"], scope.get("scheme", "http")
        return lambda: self.find_session(method, headers, scheme, is_use=False)

    def check_log_in(self, scope: Scope) -> SessionCookie:
        """Return the cookie for a session at the address of this request; raise Forbidden with the way out."""
        headers: Headers = scope["headers"]
        origin = self._origins.find_own_origin(_find_header(headers, b"host"), scope.get("scheme", "http"))
        if origin is None:
            raise Forbidden(_NO_SESSION_HERE.format(port=self._port))
        _refuse_other_sites(headers, origin, needs_origin=False)
        return SessionCookie.of(origin)


def _has_authorization(headers: Headers) -> bool:
    return any(name == b"authorization" for name, _ in headers)


def _find_header(headers: Headers, wanted: bytes) -> bytes | None:
    """Return the only value of a header, or None; several are none, because a proxy could use another one."""
    values = [value for name, value in headers if name == wanted]
    return values[0] if len(values) == 1 else None


def _refuse_other_sites(headers: Headers, own: OwnOrigin, *, needs_origin: bool) -> None:
    """Raise Forbidden if a page of another site, port or origin made the browser send this request."""
    if any(value != b"same-origin" for value in _list_values(headers, b"sec-fetch-site")):
        raise Forbidden("This request comes from another site (Sec-Fetch-Site); a session works on its own pages only")
    origins = list(_list_values(headers, b"origin"))
    if any(value.decode("latin-1").lower() != own.text for value in origins) or (needs_origin and not origins):
        raise Forbidden(f"The Origin of this request must be {own.text}; a session works on its own pages only")


def _list_values(headers: Headers, wanted: bytes) -> Iterable[bytes]:
    return (value for name, value in headers if name == wanted)
