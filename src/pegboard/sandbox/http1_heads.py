"""Parses heads of HTTP/1 messages strictly and writes them again, so that no two parsers can read them differently."""

from __future__ import annotations

import re
from dataclasses import dataclass

from yarl import URL

HeaderFields = tuple[tuple[bytes, bytes], ...]

_TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_REQUEST_LINE = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,40}) ([^\x00-\x20\x7f]+) HTTP/([0-9])\.([0-9])")
_STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([1-9][0-9]{2})(?: ([^\x00-\x08\x0a-\x1f\x7f]*))?")
_ABSOLUTE_URL = re.compile(rb"([A-Za-z][A-Za-z0-9+.\-]*)://([^/?#]*)([^#]*)")
_AUTHORITY = re.compile(rb"(?:\[([0-9A-Za-z:.%\-_~]+)\]|([0-9A-Za-z._~\-\x80-\xff]+))(?::([0-9]{0,5}))?")
_CONTENT_LENGTH = re.compile(rb"[0-9]{1,18}")
# Hop-by-hop headers, and the headers that frame the body or name the host: those are written from the parsed values.
_HOP_BY_HOP_HEADERS = frozenset(
    b"connection keep-alive proxy-connection proxy-authenticate proxy-authorization proxy-authentication-info te "
    b"trailer transfer-encoding upgrade content-length host".split()
)


class MalformedHttp(Exception):
    """The data is not valid HTTP/1; the message describes the error and quotes nothing of the data."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class BodyFraming:
    """How a body ends: after `length` bytes, with its last chunk, or (neither) at the end of the connection."""

    length: int | None = None
    chunked: bool = False


@dataclass(frozen=True, slots=True)
class ProxyRequest:
    """A client's request to the proxy."""

    method: bytes
    host: str
    port: int
    authority: bytes
    path: bytes | None  # None: a tunnel
    minor: int
    fields: HeaderFields
    framing: BodyFraming

    @property
    def place(self) -> str:
        """Host and port of the server for messages."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def head(self) -> bytes:
        """Return the head to send to the server, on a connection for this request only."""
        lines = [b"%s %s HTTP/1.%d" % (self.method, self.path or b"/", self.minor), b"Host: " + self.authority]
        lines += [b"%s: %s" % field for field in _filter_headers(self.fields)]
        if self.framing.chunked:
            lines.append(b"Transfer-Encoding: chunked")
        elif any(name == b"content-length" for name, _ in _lowercase_names(self.fields)):
            lines.append(b"Content-Length: %d" % (self.framing.length or 0))
        return b"\r\n".join([*lines, b"Connection: close", b"", b""])


@dataclass(frozen=True, slots=True)
class ProxyResponse:
    """A server's response."""

    status: int
    phrase: bytes
    fields: HeaderFields
    framing: BodyFraming

    @property
    def is_interim(self) -> bool:
        """True if another response follows this one (status 1xx)."""
        return self.status < 200

    def head(self, *, chunked: bool) -> bytes:
        """Return the head to send to the client, whose connection is closed after the response."""
        lines = [b"HTTP/1.1 %d %s" % (self.status, self.phrase)]
        lines += [b"%s: %s" % field for field in _filter_headers(self.fields)]
        if chunked:
            lines.append(b"Transfer-Encoding: chunked")
        elif not self.framing.chunked:
            # The response to HEAD has the length of the body that it omits.
            lines += [
                b"Content-Length: " + value
                for name, value in _lowercase_names(self.fields)
                if name == b"content-length"
            ]
        if not self.is_interim:
            lines.append(b"Connection: close")
        return b"\r\n".join([*lines, b"", b""])


def read_request(head: bytes) -> ProxyRequest:
    """Parse the head of a request; raise MalformedHttp if it is invalid."""
    first, fields = _split_head(head)
    asked = _REQUEST_LINE.fullmatch(first)
    if asked is None:
        raise MalformedHttp("the request line is not 'METHOD http://host/path HTTP/1.1'")
    method, target = asked[1], asked[2]
    if asked[3] != b"1" or asked[4] not in (b"0", b"1"):
        raise MalformedHttp("only HTTP/1.0 and HTTP/1.1 are spoken here", 505)
    minor = int(asked[4])
    framing = _read_framing(fields)
    if framing.chunked and not minor:
        raise MalformedHttp("HTTP/1.0 has no Transfer-Encoding")
    if sum(name == b"host" for name, _ in _lowercase_names(fields)) > 1:
        raise MalformedHttp("Host is given more than once")
    if method == b"CONNECT":
        if framing.chunked or framing.length:
            raise MalformedHttp("CONNECT has no body")
        host, port, authority = _read_authority(target, None)
        return ProxyRequest(method, host, port, authority, None, minor, fields, BodyFraming(0))
    url = _ABSOLUTE_URL.fullmatch(target)
    if url is None:
        raise MalformedHttp(
            "this is a proxy, not a server: ask for a whole URL, as in 'GET http://host/path HTTP/1.1', "
            "or for a tunnel with 'CONNECT host:443 HTTP/1.1'"
        )
    if url[1].lower() != b"http":
        raise MalformedHttp("only http URLs are fetched; https goes through a tunnel, 'CONNECT host:443 HTTP/1.1'")
    host, port, authority = _read_authority(url[2], 80)
    path = url[3] if url[3].startswith(b"/") else b"/" + url[3]
    if method == b"OPTIONS" and not url[3]:
        path = b"*"
    if framing.length is None and not framing.chunked:
        framing = BodyFraming(0)
    return ProxyRequest(method, host, port, authority, path, minor, fields, framing)


def read_response(head: bytes, method: bytes) -> ProxyResponse:
    """Parse the head of the response to a request with this method; raise MalformedHttp if it is invalid."""
    first, fields = _split_head(head)
    answered = _STATUS_LINE.fullmatch(first)
    if answered is None:
        raise MalformedHttp("its status line is not 'HTTP/1.1 STATUS'")
    status = int(answered[1])
    if status == 101:
        raise MalformedHttp("it switches protocols, which nobody asked for")
    without_body = method == b"HEAD" or status < 200 or status in (204, 304)
    return ProxyResponse(status, answered[2] or b"", fields, BodyFraming(0) if without_body else _read_framing(fields))


def _split_head(head: bytes) -> tuple[bytes, HeaderFields]:
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    if any(byte in line for line in (first, *lines) for byte in (b"\n", b"\r", b"\0")):
        raise MalformedHttp("each line of a head ends with CR LF, and there is no other CR, LF or NUL")
    fields = []
    for number, line in enumerate(lines, 2):
        name, colon, value = line.partition(b":")
        if not colon or _TOKEN.fullmatch(name) is None:
            raise MalformedHttp(
                f"line {number} of the head is not 'Name: value', without a space before the name or colon"
            )
        fields.append((name, value.strip(b" \t")))
    return first, tuple(fields)


def _read_framing(fields: HeaderFields) -> BodyFraming:
    lengths = [value for name, value in _lowercase_names(fields) if name == b"content-length"]
    codings = [value.lower() for name, value in _lowercase_names(fields) if name == b"transfer-encoding"]
    if codings:
        if lengths:
            raise MalformedHttp("Content-Length and Transfer-Encoding are both given; only one can be true")
        if codings != [b"chunked"]:
            raise MalformedHttp("the only Transfer-Encoding is 'chunked', given once")
        return BodyFraming(chunked=True)
    if not lengths:
        return BodyFraming()
    if len(lengths) > 1 or _CONTENT_LENGTH.fullmatch(lengths[0]) is None:
        raise MalformedHttp("Content-Length is one whole number, given once")
    return BodyFraming(int(lengths[0]))


def _read_authority(text: bytes, usual: int | None) -> tuple[str, int, bytes]:
    if b"@" in text:
        raise MalformedHttp("a URL has no user or password here; send an Authorization header")
    parts = _AUTHORITY.fullmatch(text)
    if parts is None or (parts[1] is not None and b":" not in parts[1]):
        raise MalformedHttp("the host is not 'host', 'host:port' or '[IPv6]:port'")
    port = int(parts[3]) if parts[3] else usual
    if port is None or not 0 < port < 65536:
        raise MalformedHttp("the port is a number from 1 to 65535, as in 'CONNECT host:443 HTTP/1.1'")
    if parts[1] is not None or parts[2].isascii():
        return (parts[1] or parts[2]).decode("ascii"), port, text
    try:
        host = URL.build(scheme="http", host=parts[2].decode()).raw_host or ""
    except ValueError:
        raise MalformedHttp("the host is no name") from None
    return host, port, host.encode() + (b":" + parts[3] if parts[3] else b"")


def _filter_headers(fields: HeaderFields) -> list[tuple[bytes, bytes]]:
    """Return the end-to-end headers."""
    named = b",".join(value for name, value in _lowercase_names(fields) if name == b"connection").lower().split(b",")
    left_out = _HOP_BY_HOP_HEADERS.union(name.strip() for name in named)
    return [(name, value) for name, value in fields if name.lower() not in left_out]


def _lowercase_names(fields: HeaderFields) -> list[tuple[bytes, bytes]]:
    return [(name.lower(), value) for name, value in fields]
