"""Reads and writes heads of HTTP/1 messages for the proxy: strictly, so that no two parsers read them differently.

h11 parses fields and bodies, and writes what is passed on. It is lenient where RFC 9112 permits it, so a head is first
checked here, and the request line, which names the server, is read here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import h11
from yarl import URL

_REQUEST_LINE = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,40}) ([^\x00-\x20\x7f]+) HTTP/([0-9])\.([0-9])\r\n")
_ABSOLUTE_URL = re.compile(rb"([A-Za-z][A-Za-z0-9+.\-]*)://([^/?#]*)([^#]*)")
_AUTHORITY = re.compile(rb"(?:\[([0-9A-Za-z:.%\-_~]+)\]|([0-9A-Za-z._~\-\x80-\xff]+))(?::([0-9]{0,5}))?")
_LINES = re.compile(rb"[^\r\n\0]+\r\n(?:[^\r\n\0 \t][^\r\n\0]*\r\n)*\r\n")
_HOST_LINE = re.compile(rb"^host:[^\r]*\r\n", re.IGNORECASE | re.MULTILINE)
_FRAMING_LINE = re.compile(
    rb"^(?:content-length|transfer-encoding):[ \t]*([^\r]*?)[ \t]*\r\n", re.IGNORECASE | re.MULTILINE
)
_FRAMING = re.compile(rb"[0-9]{1,18}|chunked", re.IGNORECASE)
_NON_ASCII = re.compile(rb"[\x80-\xff]")
# Hop-by-hop headers, and those that the proxy writes itself.
_HOP_BY_HOP_HEADERS = frozenset(
    b"connection keep-alive proxy-connection proxy-authenticate proxy-authorization proxy-authentication-info te "
    b"trailer transfer-encoding upgrade host".split()
)
# Limit of a line between chunks, and of what follows the chunks; heads are complete before they are parsed.
_MAX_INCOMPLETE_BYTES = 2**14
_CHUNKED, _CLOSE = (b"Transfer-Encoding", b"chunked"), (b"Connection", b"close")

_Head = h11.Request | h11.Response | h11.InformationalResponse


class MalformedHttp(Exception):
    """The data is not valid HTTP/1; the message describes the error and quotes nothing of the data."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class ProxyRequest:
    """A client's request to the proxy: the server, and the request to send there, None for a tunnel."""

    method: bytes
    host: str
    port: int
    message: h11.Request | None

    @property
    def place(self) -> str:
        """Host and port of the server for messages."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def create_client_parser() -> h11.Connection:
    """Return the parser of a client's connection to the proxy."""
    return h11.Connection(h11.SERVER, max_incomplete_event_size=_MAX_INCOMPLETE_BYTES)


def create_server_parser() -> h11.Connection:
    """Return the parser of the proxy's connection to a server."""
    return h11.Connection(h11.CLIENT, max_incomplete_event_size=_MAX_INCOMPLETE_BYTES)


def read_request(head: bytes, parser: h11.Connection) -> ProxyRequest:
    """Parse the head of a request; raise MalformedHttp if it is invalid."""
    line = _REQUEST_LINE.match(head)
    if line is None:
        raise MalformedHttp("the request line is not 'METHOD http://host/path HTTP/1.1'")
    if line[3] != b"1" or line[4] not in (b"0", b"1"):
        raise MalformedHttp("only HTTP/1.0 and HTTP/1.1 are supported", 505)
    _check_head(head)
    fields, hosts = _HOST_LINE.subn(b"", head[line.end() :])
    if hosts > 1:
        raise MalformedHttp("Host is given more than once")
    method = line[1]
    host, port, authority, target = _read_target(method, line[2])
    # The client's Host is replaced: the server is the one that the URL names.
    event = _parse_head(b"%s %s HTTP/1.%s\r\nHost: %s\r\n" % (method, target, line[4], authority) + fields, parser)
    assert isinstance(event, h11.Request)
    framing = [(name, value) for name, value in event.headers if name in (b"content-length", b"transfer-encoding")]
    if line[4] == b"0" and framing and framing[0][0] == b"transfer-encoding":
        raise MalformedHttp("HTTP/1.0 has no Transfer-Encoding")
    if method == b"CONNECT":
        if framing and framing[0][1].strip(b"0"):
            raise MalformedHttp("CONNECT has no body")
        return ProxyRequest(method, host, port, None)
    headers = [(b"Host", authority), *_forward_headers(event), _CLOSE]
    return ProxyRequest(method, host, port, h11.Request(method=method, target=target, headers=headers))


def read_response(head: bytes, parser: h11.Connection) -> h11.Response | h11.InformationalResponse:
    """Parse the head of a response, and return the response to pass on; raise MalformedHttp if it is invalid."""
    if not head.startswith((b"HTTP/1.0 ", b"HTTP/1.1 ")):
        raise MalformedHttp("its status line is not 'HTTP/1.1 STATUS'")
    _check_head(head)
    event = _parse_head(head, parser)
    assert not isinstance(event, h11.Request)
    headers = list(_forward_headers(event))
    if event.status_code < 200 or event.status_code in (204, 304):
        # These have no body, regardless of their headers.
        headers = [(name, value) for name, value in headers if name != _CHUNKED[0]]
    if isinstance(event, h11.InformationalResponse):
        return h11.InformationalResponse(status_code=event.status_code, reason=event.reason, headers=headers)
    return h11.Response(status_code=event.status_code, reason=event.reason, headers=[*headers, _CLOSE])


def _check_head(head: bytes) -> None:
    """Raise MalformedHttp for heads that h11 accepts and other parsers may read differently."""
    if _LINES.fullmatch(head) is None:
        raise MalformedHttp(
            "each line of a head ends with CR LF and does not begin with a space, and there is no other CR, LF or NUL"
        )
    framing = _FRAMING_LINE.findall(head)
    if len(framing) > 1:
        raise MalformedHttp("Content-Length and Transfer-Encoding are both given, or one of them is given twice")
    if framing and _FRAMING.fullmatch(framing[0]) is None:
        raise MalformedHttp("Content-Length is not one whole number, or Transfer-Encoding is not 'chunked'")


def _parse_head(head: bytes, parser: h11.Connection) -> _Head:
    parser.receive_data(head)
    try:
        event = parser.next_event()
    except h11.RemoteProtocolError:
        event = None
    if not isinstance(event, _Head):
        raise MalformedHttp(
            "a line of the head is not 'Name: value', without a space before the colon; or the first line is invalid"
        )
    return event


def _forward_headers(event: _Head) -> Iterable[tuple[bytes, bytes]]:
    """Yield the end-to-end headers, and the framing of the body."""
    named = b",".join(value for name, value in event.headers if name == b"connection").lower().split(b",")
    left_out = _HOP_BY_HOP_HEADERS.union(name.strip() for name in named) - {b"content-length"}
    for (raw_name, value), (name, _) in zip(event.headers.raw_items(), event.headers, strict=True):
        if name == b"transfer-encoding":
            yield _CHUNKED
        elif name not in left_out:
            yield raw_name, value


def _read_target(method: bytes, target: bytes) -> tuple[str, int, bytes, bytes]:
    """Return host, port, authority and target of the request to the server; the target of a tunnel is its authority."""
    if method == b"CONNECT":
        host, port, authority = _read_authority(target, None)
        return host, port, authority, authority
    url = _ABSOLUTE_URL.fullmatch(target)
    if url is None:
        raise MalformedHttp(
            "this is a proxy, not a server: ask for a whole URL, as in 'GET http://host/path HTTP/1.1', "
            "or for a tunnel with 'CONNECT host:443 HTTP/1.1'"
        )
    if url[1].lower() != b"http":
        raise MalformedHttp("only http URLs are fetched; https goes through a tunnel, 'CONNECT host:443 HTTP/1.1'")
    host, port, authority = _read_authority(url[2], 80)
    if method == b"OPTIONS" and not url[3]:
        return host, port, authority, b"*"
    path = url[3] if url[3].startswith(b"/") else b"/" + url[3]
    return host, port, authority, _NON_ASCII.sub(lambda found: b"%%%02X" % ord(found[0]), path)


def _read_authority(text: bytes, default_port: int | None) -> tuple[str, int, bytes]:
    if b"@" in text:
        raise MalformedHttp("a URL has no user or password here; send an Authorization header")
    parts = _AUTHORITY.fullmatch(text)
    if parts is None or (parts[1] is not None and b":" not in parts[1]):
        raise MalformedHttp("the host is not 'host', 'host:port' or '[IPv6]:port'")
    port = int(parts[3]) if parts[3] else default_port
    if port is None or not 0 < port < 65536:
        raise MalformedHttp("the port is a number from 1 to 65535, as in 'CONNECT host:443 HTTP/1.1'")
    if parts[1] is not None or parts[2].isascii():
        return (parts[1] or parts[2]).decode("ascii"), port, text
    try:
        host = URL.build(scheme="http", host=parts[2].decode()).raw_host or ""
    except ValueError:
        raise MalformedHttp("the host is not a name") from None
    return host, port, host.encode() + (b":" + parts[3] if parts[3] else b"")
