"""Heads of HTTP/1 messages: what is accepted is passed on in a form that can be read in one way only."""

from __future__ import annotations

import re

import h11
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pegboard.sandbox.proxy_http import (
    MalformedHttp,
    ProxyRequest,
    create_client_parser,
    create_server_parser,
    read_request,
    read_response,
)

FRAMED = re.compile(rb"[^\r\n\0]+(?:\r\n[!#-'*+.0-9A-Z^_`a-z|~-]+: [^\r\n\0]*)*\r\n\r\n")

names = st.sampled_from(
    ["Connection", "Content-Length", "Cookie", "Host", "TE", "Trailer", "Transfer-Encoding", "Upgrade", "X-A", "X-B"]
)
values = st.sampled_from(["", "0", "5", "5, 5", "chunked", "x-a", "close, X-B", "a\tb", "é", " a ", "100-continue"])
breaks = st.sampled_from(["\r\n"] * 20 + ["\n", "\r", "\r\n ", " \r\n", "\0"])
fields = st.builds(lambda name, colon, value, end: name + colon + value + end, names, st.just(": "), values, breaks)
firsts = st.sampled_from(
    [
        "GET http://api.example/ HTTP/1.1",
        "POST http://api.example:8080?q HTTP/1.0",
        "OPTIONS http://[::1] HTTP/1.1",
        "CONNECT api.example:443 HTTP/1.1",
        "GET http://bücher.example/ü HTTP/1.1",
        "GET / HTTP/1.1",
    ]
)


def count(head: bytes, name: bytes) -> int:
    return head.lower().count(b"\r\n" + name + b":")


def parsed(head: bytes) -> ProxyRequest:
    return read_request(head, create_client_parser())


def write_head(request: ProxyRequest) -> bytes:
    """Return the head as the server receives it."""
    assert request.message is not None
    return create_server_parser().send(request.message)


def parse_response(
    head: bytes, method: bytes = b"GET"
) -> tuple[h11.Response | h11.InformationalResponse, h11.Connection]:
    """The response to a request with this method, and the parser for its body."""
    parser = create_server_parser()
    parser.send(h11.Request(method=method, target=b"/", headers=[(b"Host", b"a")]))
    parser.send(h11.EndOfMessage())
    return read_response(head, parser), parser


@given(firsts, st.lists(fields, max_size=6))
@example("GET http://api.example/ HTTP/1.1", ["Content-Length: 5\r\n", "Connection: Content-Length\r\n"])
@example("GET http://api.example/ HTTP/1.1", ["Transfer-Encoding: chunked\r\n", "Connection: Transfer-Encoding\r\n"])
@example("GET http://api.example/ HTTP/1.1", ["Host: first\r\n", "X-A: 1\r\n"])
def test_a_request_that_is_accepted_is_written_in_one_way(first: str, lines: list[str]) -> None:
    head = (first + "\r\n" + "".join(lines) + "\r\n").encode()
    try:
        request = parsed(head)
    except MalformedHttp:
        return
    if request.message is None:
        return
    sent = write_head(request)
    assert FRAMED.fullmatch(sent)
    assert count(sent, b"host") == count(sent, b"connection") == 1
    assert sent.endswith(b"\r\nConnection: close\r\n\r\n")
    for name in (b"transfer-encoding", b"content-length"):
        assert count(sent, name) == count(head, name) <= 1
    assert count(sent, b"transfer-encoding") + count(sent, b"content-length") <= 1
    for name in (b"te", b"trailer", b"upgrade"):
        assert count(sent, name) == 0


@given(st.binary(max_size=200))
@example(b"HTTP/1.1 200 OK\r\n\r\n")
@example(b"CONNECT \xff:1 HTTP/1.1\r\n\r\n")
@example(b"GET http://\xff/ HTTP/1.1\r\n\r\n")
def test_all_data_is_parsed_or_malformed(data: bytes) -> None:
    for read in (parsed, parse_response):
        try:
            read(data)
        except MalformedHttp as error:
            assert str(error).isascii()


@pytest.mark.parametrize(
    ("target", "host", "port", "authority", "path"),
    [
        ("http://api.example", "api.example", 80, "api.example", "/"),
        ("http://api.example:/x", "api.example", 80, "api.example:", "/x"),
        ("HTTP://API.example:8080/x?y", "API.example", 8080, "API.example:8080", "/x?y"),
        ("http://[2001:db8::1]:81/", "2001:db8::1", 81, "[2001:db8::1]:81", "/"),
        ("http://[::1%25lo]/", "::1%25lo", 80, "[::1%25lo]", "/"),
        ("http://bücher.example:1/ü", "xn--bcher-kva.example", 1, "xn--bcher-kva.example:1", "/%C3%BC"),
        ("http://a_b-c.d~/", "a_b-c.d~", 80, "a_b-c.d~", "/"),
    ],
)
def test_the_target_of_a_url(target: str, host: str, port: int, authority: str, path: str) -> None:
    request = parsed(f"GET {target} HTTP/1.1\r\nHost: elsewhere\r\n\r\n".encode())
    assert (request.method, request.host, request.port) == (b"GET", host, port)
    assert write_head(request) == f"GET {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n".encode()


def test_the_target_of_a_tunnel() -> None:
    request = parsed(b"CONNECT [::1]:443 HTTP/1.0\r\nHost: other\r\nContent-Length: 0\r\n\r\n")
    assert (request.host, request.port, request.message, request.place) == ("::1", 443, None, "[::1]:443")


BODY, CHUNKS = h11.Data(b"7 bytes"), b"7\r\n7 bytes\r\n0\r\n\r\n"


@pytest.mark.parametrize(
    ("method", "head", "after", "events"),
    [
        (b"GET", b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", b"7 bytes", [BODY, h11.EndOfMessage()]),
        (b"GET", b"HTTP/1.0 200\r\n\r\n", b"7 bytes", [BODY, h11.NEED_DATA]),
        (b"HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", b"", [h11.EndOfMessage()]),
        (b"GET", b"HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", b"", [h11.EndOfMessage()]),
    ],
)
def test_how_a_response_ends(method: bytes, head: bytes, after: bytes, events: list[object]) -> None:
    _, parser = parse_response(head, method)
    parser.receive_data(after) if after else None
    assert [parser.next_event() for _ in events] == events


def test_a_response_in_chunks_ends_with_the_last_chunk() -> None:
    response, parser = parse_response(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: CHUNKED\r\n\r\n")
    assert (b"transfer-encoding", b"chunked") in list(response.headers)
    parser.receive_data(CHUNKS)
    data = parser.next_event()
    assert isinstance(data, h11.Data)
    assert data.data == b"7 bytes"
    assert parser.next_event() == h11.EndOfMessage()


def test_a_response_before_the_last_one_has_no_body() -> None:
    response, _ = parse_response(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    assert isinstance(response, h11.InformationalResponse)
    assert response.headers.raw_items() == [(b"Link", b"x")]
