"""Heads of HTTP/1 messages: whatever is accepted is passed on in a way that can be read in one way only."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pegboard.sandbox.http1_heads import BodyFraming, MalformedHttp, ProxyRequest, read_request, read_response

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


@given(firsts, st.lists(fields, max_size=6))
@example("GET http://api.example/ HTTP/1.1", ["Content-Length: 5\r\n", "Connection: Content-Length\r\n"])
@example("GET http://api.example/ HTTP/1.1", ["Transfer-Encoding: chunked\r\n", "Connection: Transfer-Encoding\r\n"])
def test_a_request_that_is_accepted_is_written_in_one_way(first: str, lines: list[str]) -> None:
    head = (first + "\r\n" + "".join(lines) + "\r\n").encode()
    try:
        request = read_request(head)
    except MalformedHttp:
        return
    if request.path is None:
        return
    written = request.head()
    assert FRAMED.fullmatch(written)
    assert count(written, b"host") == count(written, b"connection") == 1
    assert written.endswith(b"\r\nConnection: close\r\n\r\n")
    assert count(written, b"transfer-encoding") == (1 if request.framing.chunked else 0)
    assert count(written, b"content-length") == (0 if request.framing.chunked else count(head, b"content-length"))
    for name in (b"te", b"trailer", b"upgrade"):
        assert count(written, name) == 0


@given(st.binary(max_size=200))
@example(b"HTTP/1.1 200 OK\r\n\r\n")
@example(b"CONNECT \xff:1 HTTP/1.1\r\n\r\n")
@example(b"GET http://\xff/ HTTP/1.1\r\n\r\n")
def test_whatever_comes_it_is_understood_or_malformed(data: bytes) -> None:
    for read in (read_request, lambda head: read_response(head, b"GET")):
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
        ("http://bücher.example:1/", "xn--bcher-kva.example", 1, "xn--bcher-kva.example:1", "/"),
        ("http://a_b-c.d~/", "a_b-c.d~", 80, "a_b-c.d~", "/"),
    ],
)
def test_where_a_url_leads(target: str, host: str, port: int, authority: str, path: str) -> None:
    request = read_request(f"GET {target} HTTP/1.1\r\n\r\n".encode())
    assert request == ProxyRequest(b"GET", host, port, authority.encode(), path.encode(), 1, (), BodyFraming(0))


def test_where_a_tunnel_leads() -> None:
    request = read_request(b"CONNECT [::1]:443 HTTP/1.0\r\nHost: other\r\nContent-Length: 0\r\n\r\n")
    assert (request.host, request.port, request.path, request.place) == ("::1", 443, None, "[::1]:443")


@pytest.mark.parametrize(
    ("method", "head", "framing"),
    [
        (b"GET", b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", BodyFraming(7)),
        (b"GET", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: CHUNKED\r\n\r\n", BodyFraming(None, True)),
        (b"GET", b"HTTP/1.0 200\r\n\r\n", BodyFraming()),
        (b"HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", BodyFraming(0)),
        (b"GET", b"HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", BodyFraming(0)),
        (b"GET", b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", BodyFraming(0)),
    ],
)
def test_how_an_answer_ends(method: bytes, head: bytes, framing: BodyFraming) -> None:
    assert read_response(head, method).framing == framing
