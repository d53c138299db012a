"""Heads of HTTP/1 messages, read strictly and written anew, so that no two readers can take them differently."""

from __future__ import annotations

import re
from dataclasses import dataclass

from yarl import URL

Fields = tuple[tuple[bytes, bytes], ...]

_TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_ASKED = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,40}) ([^\x00-\x20\x7f]+) HTTP/([0-9])\.([0-9])")
_ANSWERED = re.compile(rb"HTTP/1\.[01] ([1-9][0-9]{2})(?: ([^\x00-\x08\x0a-\x1f\x7f]*))?")
_ABSOLUTE = re.compile(rb"([A-Za-z][A-Za-z0-9+.\-]*)://([^/?#]*)([^#]*)")
_AUTHORITY = re.compile(rb"(?:\[([0-9A-Za-z:.%\-_~]+)\]|([0-9A-Za-z._~\-\x80-\xff]+))(?::([0-9]{0,5}))?")
_LENGTH = re.compile(rb"[0-9]{1,18}")
# What concerns one connection only, and the two that frame a body: those are written from what was understood.
_HOP = frozenset(
    b"connection keep-alive proxy-connection proxy-authenticate proxy-authorization proxy-authentication-info te "
    b"trailer transfer-encoding upgrade content-length host".split()
)


class Malformed(Exception):
    """What came is not HTTP/1 as it is read here; the message says what is wrong, and repeats nothing of it."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Framing:
    """How a body ends: after a length, with its last chunk, or (neither) where the connection does."""

    length: int | None = None
    chunked: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """What a client asks a proxy for."""

    method: bytes
    host: str
    port: int
    authority: bytes
    path: bytes | None  # None: a tunnel
    minor: int
    fields: Fields
    framing: Framing

    @property
    def place(self) -> str:
        """Host and port, as messages name a server."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def head(self) -> bytes:
        """The request as its server gets it, over a connection that serves it alone."""
        lines = [b"%s %s HTTP/1.%d" % (self.method, self.path or b"/", self.minor), b"Host: " + self.authority]
        lines += [b"%s: %s" % field for field in _passed_on(self.fields)]
        if self.framing.chunked:
            lines.append(b"Transfer-Encoding: chunked")
        elif any(name == b"content-length" for name, _ in _lowered(self.fields)):
            lines.append(b"Content-Length: %d" % (self.framing.length or 0))
        return b"\r\n".join([*lines, b"Connection: close", b"", b""])


@dataclass(frozen=True, slots=True)
class Response:
    """What a server answers with."""

    status: int
    phrase: bytes
    fields: Fields
    framing: Framing

    @property
    def interim(self) -> bool:
        """Whether another answer follows this one."""
        return self.status < 200

    def head(self, *, chunked: bool) -> bytes:
        """The answer as the client gets it, whose connection ends with it."""
        lines = [b"HTTP/1.1 %d %s" % (self.status, self.phrase)]
        lines += [b"%s: %s" % field for field in _passed_on(self.fields)]
        if chunked:
            lines.append(b"Transfer-Encoding: chunked")
        elif not self.framing.chunked:
            # An answer to HEAD tells the length of what it leaves out.
            lines += [b"Content-Length: " + value for name, value in _lowered(self.fields) if name == b"content-length"]
        if not self.interim:
            lines.append(b"Connection: close")
        return b"\r\n".join([*lines, b"", b""])


def read_request(head: bytes) -> Request:
    """The request that a head stands for; Malformed says what is wrong with it."""
    first, fields = _read(head)
    asked = _ASKED.fullmatch(first)
    if asked is None:
        raise Malformed("the request line is not 'METHOD http://host/path HTTP/1.1'")
    method, target = asked[1], asked[2]
    if asked[3] != b"1" or asked[4] not in (b"0", b"1"):
        raise Malformed("only HTTP/1.0 and HTTP/1.1 are spoken here", 505)
    minor = int(asked[4])
    framing = _framing(fields)
    if framing.chunked and not minor:
        raise Malformed("HTTP/1.0 has no Transfer-Encoding")
    if sum(name == b"host" for name, _ in _lowered(fields)) > 1:
        raise Malformed("Host is given more than once")
    if method == b"CONNECT":
        if framing.chunked or framing.length:
            raise Malformed("CONNECT has no body")
        host, port, authority = _authority(target, None)
        return Request(method, host, port, authority, None, minor, fields, Framing(0))
    url = _ABSOLUTE.fullmatch(target)
    if url is None:
        raise Malformed(
            "this is a proxy, not a server: ask for a whole URL, as in 'GET http://host/path HTTP/1.1', "
            "or for a tunnel with 'CONNECT host:443 HTTP/1.1'"
        )
    if url[1].lower() != b"http":
        raise Malformed("only http URLs are fetched; https goes through a tunnel, 'CONNECT host:443 HTTP/1.1'")
    host, port, authority = _authority(url[2], 80)
    path = url[3] if url[3].startswith(b"/") else b"/" + url[3]
    if method == b"OPTIONS" and not url[3]:
        path = b"*"
    if framing.length is None and not framing.chunked:
        framing = Framing(0)
    return Request(method, host, port, authority, path, minor, fields, framing)


def read_response(head: bytes, method: bytes) -> Response:
    """The answer that a head stands for, to a request of this method; Malformed says what is wrong with it."""
    first, fields = _read(head)
    answered = _ANSWERED.fullmatch(first)
    if answered is None:
        raise Malformed("its status line is not 'HTTP/1.1 STATUS'")
    status = int(answered[1])
    if status == 101:
        raise Malformed("it switches protocols, which nobody asked for")
    without_body = method == b"HEAD" or status < 200 or status in (204, 304)
    return Response(status, answered[2] or b"", fields, Framing(0) if without_body else _framing(fields))


def _read(head: bytes) -> tuple[bytes, Fields]:
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    if any(byte in line for line in (first, *lines) for byte in (b"\n", b"\r", b"\0")):
        raise Malformed("each line of a head ends with CR LF, and there is no other CR, LF or NUL")
    fields = []
    for number, line in enumerate(lines, 2):
        name, colon, value = line.partition(b":")
        if not colon or _TOKEN.fullmatch(name) is None:
            raise Malformed(f"line {number} of the head is not 'Name: value', without a space before the name or colon")
        fields.append((name, value.strip(b" \t")))
    return first, tuple(fields)


def _framing(fields: Fields) -> Framing:
    lengths = [value for name, value in _lowered(fields) if name == b"content-length"]
    codings = [value.lower() for name, value in _lowered(fields) if name == b"transfer-encoding"]
    if codings:
        if lengths:
            raise Malformed("Content-Length and Transfer-Encoding are both given; only one can be true")
        if codings != [b"chunked"]:
            raise Malformed("the only Transfer-Encoding is 'chunked', given once")
        return Framing(chunked=True)
    if not lengths:
        return Framing()
    if len(lengths) > 1 or _LENGTH.fullmatch(lengths[0]) is None:
        raise Malformed("Content-Length is one whole number, given once")
    return Framing(int(lengths[0]))


def _authority(text: bytes, usual: int | None) -> tuple[str, int, bytes]:
    if b"@" in text:
        raise Malformed("a URL has no user or password here; send an Authorization header")
    parts = _AUTHORITY.fullmatch(text)
    if parts is None or (parts[1] is not None and b":" not in parts[1]):
        raise Malformed("the host is not 'host', 'host:port' or '[IPv6]:port'")
    port = int(parts[3]) if parts[3] else usual
    if port is None or not 0 < port < 65536:
        raise Malformed("the port is a number from 1 to 65535, as in 'CONNECT host:443 HTTP/1.1'")
    if parts[1] is not None or parts[2].isascii():
        return (parts[1] or parts[2]).decode("ascii"), port, text
    try:
        host = URL.build(scheme="http", host=parts[2].decode()).raw_host or ""
    except ValueError:
        raise Malformed("the host is no name") from None
    return host, port, host.encode() + (b":" + parts[3] if parts[3] else b"")


def _passed_on(fields: Fields) -> list[tuple[bytes, bytes]]:
    """The fields that are for whoever is at the other end."""
    named = b",".join(value for name, value in _lowered(fields) if name == b"connection").lower().split(b",")
    left_out = _HOP.union(name.strip() for name in named)
    return [(name, value) for name, value in fields if name.lower() not in left_out]


def _lowered(fields: Fields) -> list[tuple[bytes, bytes]]:
    return [(name.lower(), value) for name, value in fields]
