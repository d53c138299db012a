"""The proxy of a confined call: what it refuses, and that it reaches no server when it does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from pegboard.http_client.address_policy import AllowList
from tests.unit.http_client.blocked_addresses import LOOPBACK_SPELLINGS, NOT_PUBLIC
from tests.unit.http_client.conftest import dialled  # noqa: F401 -- the fixture: nothing beyond loopback is contacted
from tests.unit.http_client.upstreams import Upstream, answer, serve_responses, serving
from tests.unit.sandbox.proxies import Names, fetching, proxying
from tests.waiting import until

pytestmark = pytest.mark.usefixtures("dialled")
NOTHING = AllowList()


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    """A server on loopback that must not be reached."""
    async with serve_responses(answer(b"reached")) as running:
        yield running


def both_ways(host: str, port: int) -> tuple[bytes, bytes]:
    """Return requests for a tunnel to this address, and for a URL."""
    return f"CONNECT {host}:{port} HTTP/1.1\r\n\r\n".encode(), fetching(port, host=host)


@pytest.mark.parametrize("address", NOT_PUBLIC.values(), ids=NOT_PUBLIC)
async def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    host = f"[{address}]" if ":" in address else address
    async with proxying(NOTHING, resolver=Names(evil=[[address]])) as proxy:
        for asked in (host, "evil"):
            for item in both_ways(asked, 80):
                got = await proxy.answer(item)
                assert got.status == 403
                assert "PEGBOARD_EGRESS_ALLOW" in got.body.decode()
                assert got.phrase == got.body.decode().strip(), "clients show the status line of a refused tunnel"


@pytest.mark.parametrize("host", LOOPBACK_SPELLINGS)
async def test_no_spelling_of_loopback_gets_through(host: str, upstream: Upstream) -> None:
    async with proxying(NOTHING) as proxy:
        for item in both_ways(host, upstream.port):
            assert (await proxy.answer(item)).status == 403
    assert upstream.connections == 0


@pytest.mark.parametrize("host", ["127.1", "0x7f.1", "2130706433", "127.0.0.1."])
async def test_an_allowed_address_must_be_written_plainly(host: str, upstream: Upstream) -> None:
    async with proxying() as proxy:
        for item in both_ways(host, upstream.port):
            got = await proxy.answer(item)
            assert (got.status, "write it as 127.0.0.1" in got.phrase) == (403, True)


async def test_a_name_that_is_rebound_is_refused(upstream: Upstream) -> None:
    names = Names(evil=[["8.8.8.8"], ["127.0.0.1"]])
    async with proxying(NOTHING, resolver=names) as proxy:
        assert (await proxy.answer(fetching(upstream.port, host="evil"))).status == 502
        for item in both_ways("evil", upstream.port):
            assert (await proxy.answer(item)).status == 403
    assert upstream.connections == 0


async def test_of_a_names_addresses_only_the_permitted_are_tried_and_it_is_looked_up_once(upstream: Upstream) -> None:
    names = Names(mixed=[["10.0.0.1", "127.0.0.1", "192.168.0.1"]])
    async with proxying(resolver=names) as proxy:
        assert (await proxy.answer(fetching(upstream.port, host="mixed"))).body == b"reached"
    assert names.asked == ["mixed"]


@pytest.mark.parametrize("entry", ["api.example", "api.example:{port}", "127.0.0.1:{port}", "127.0.0.0/8"])
async def test_what_is_allowed_by_name_or_network_is_reached(entry: str, upstream: Upstream) -> None:
    allow = AllowList.read(entry.format(port=upstream.port))
    async with proxying(allow, resolver=Names(**{"api.example": [["127.0.0.1"]]})) as proxy:
        assert (await proxy.answer(fetching(upstream.port, host="API.Example"))).body == b"reached"
        assert f"Host: API.Example:{upstream.port}\r\n" in upstream.heads[0]


async def test_a_name_in_other_letters_is_asked_for_as_the_network_spells_it(upstream: Upstream) -> None:
    names = Names(**{"xn--bcher-kva.example": [["127.0.0.1"]]})
    async with proxying(resolver=names) as proxy:
        assert (await proxy.answer(fetching(upstream.port, host="bücher.example"))).status == 200
    assert f"Host: xn--bcher-kva.example:{upstream.port}\r\n" in upstream.heads[0]


async def test_a_name_that_is_never_resolved_is_given_up() -> None:
    async with proxying(resolver=Names(never=[]), connect_seconds=0.1) as proxy:
        got = await proxy.answer(fetching(80, host="never"))
    assert (got.status, got.phrase) == (502, "Could not connect to never:80: its name was not resolved within 0.1 s")


async def test_a_call_has_so_many_lookups_under_way_and_no_more() -> None:
    async def sixteen() -> bool:
        return len(names.asked) >= 16

    names = Names(never=[])
    async with proxying(resolver=names) as proxy:
        clients = [await proxy.client() for _ in range(24)]
        for client in clients:
            await client.say(fetching(80, host="never"))
        await until(sixteen)
        assert (await proxy.answer(b"odd\r\n\r\n")).status == 400, "others are served meanwhile"
        assert len(names.asked) == 16
        for client in clients:
            client.leave()


HTTP = "GET http://127.0.0.1:{port}/ HTTP/1.1\r\n"
BAD = {
    "a request to a server": "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n",
    "an asterisk": "OPTIONS * HTTP/1.1\r\n\r\n",
    "https without a tunnel": "GET https://127.0.0.1:{port}/ HTTP/1.1\r\n\r\n",
    "ftp": "GET ftp://127.0.0.1:{port}/ HTTP/1.1\r\n\r\n",
    "a user": "GET http://user:hunter2@127.0.0.1:{port}/ HTTP/1.1\r\n\r\n",
    "a host behind a user": "GET http://api.example@127.0.0.1:{port}/ HTTP/1.1\r\n\r\n",
    "a backslash": "GET http://127.0.0.1:{port}\\@api.example/ HTTP/1.1\r\n\r\n",
    "an escape in the host": "GET http://127.0.0.%31:{port}/ HTTP/1.1\r\n\r\n",
    "IPv4 in brackets": "GET http://[127.0.0.1]:{port}/ HTTP/1.1\r\n\r\n",
    "an open bracket": "GET http://[::1:{port}/ HTTP/1.1\r\n\r\n",
    "no host": "GET http://:{port}/ HTTP/1.1\r\n\r\n",
    "a port too large": "GET http://127.0.0.1:99999/ HTTP/1.1\r\n\r\n",
    "port 0": "GET http://127.0.0.1:0/ HTTP/1.1\r\n\r\n",
    "a signed port": "GET http://127.0.0.1:+{port}/ HTTP/1.1\r\n\r\n",
    "a fragment": "GET http://127.0.0.1:{port}/#x HTTP/1.1\r\n\r\n",
    "a tunnel without a port": "CONNECT 127.0.0.1 HTTP/1.1\r\n\r\n",
    "a tunnel to a URL": "CONNECT http://127.0.0.1:{port}/ HTTP/1.1\r\n\r\n",
    "a tunnel with a path": "CONNECT 127.0.0.1:{port}/x HTTP/1.1\r\n\r\n",
    "a tunnel with a body": "CONNECT 127.0.0.1:{port} HTTP/1.1\r\nContent-Length: 1\r\n\r\nx",
    "two lengths": HTTP + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
    "the same length twice": HTTP + "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx",
    "a list of lengths": HTTP + "Content-Length: 1, 1\r\n\r\nx",
    "a signed length": HTTP + "Content-Length: +1\r\n\r\nx",
    "a length below zero": HTTP + "Content-Length: -1\r\n\r\nx",
    "a length in hex": HTTP + "Content-Length: 0x1\r\n\r\nx",
    "a length in other digits": HTTP + "Content-Length: \u0661\r\n\r\nx",
    "an empty length": HTTP + "Content-Length:\r\n\r\nx",
    "an endless length": HTTP + "Content-Length: " + "9" * 99 + "\r\n\r\nx",
    "a length and chunks": HTTP + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks and a length": HTTP + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "another coding": HTTP + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "a coding that is nearly it": HTTP + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "two codings": HTTP + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    "a coding in HTTP/1.0": "GET http://127.0.0.1:{port}/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two hosts": HTTP + "Host: a\r\nHost: b\r\n\r\n",
    "lines that end in LF": "GET http://127.0.0.1:{port}/ HTTP/1.1\nHost: a\n\n",
    "one line that ends in LF": HTTP + "A: b\nContent-Length: 5\r\n\r\n",
    "an end of LF alone": HTTP + "A: b\r\n\n",
    "an LF before the end": HTTP + "A: b\n\r\n",
    "a CR in a value": HTTP + "A: b\rC: d\r\n\r\n",
    "a NUL in a value": HTTP + "A: b\0\r\n\r\n",
    "a folded line": HTTP + "A: b\r\n c\r\n\r\n",
    "a line folded with a tab": HTTP + "A: b\r\n\tc\r\n\r\n",
    "a space before the colon": HTTP + "Content-Length : 1\r\n\r\nx",
    "a space before the name": HTTP + " Content-Length: 1\r\n\r\nx",
    "a name that is none": HTTP + "A(b): c\r\n\r\n",
    "no name": HTTP + ": c\r\n\r\n",
    "no colon": HTTP + "abc\r\n\r\n",
    "two spaces": "GET  http://127.0.0.1:{port}/ HTTP/1.1\r\n\r\n",
    "a tab": "GET\thttp://127.0.0.1:{port}/\tHTTP/1.1\r\n\r\n",
    "a space in the URL": "GET http://127.0.0.1:{port}/a b HTTP/1.1\r\n\r\n",
    "no version": "GET http://127.0.0.1:{port}/\r\n\r\n",
    "a method that is none": "G(T http://127.0.0.1:{port}/ HTTP/1.1\r\n\r\n",
    "nothing": "\r\n\r\n",
    "TLS": "\x16\x03\x01\x02\x00\x01",
}
BAD_CHUNKS = {
    "no size": "xyz\r\n",
    "an empty size": "\r\nx",
    "a signed size": "+1\r\nx\r\n0\r\n\r\n",
    "an endless size": "F" * 99 + "\r\nx",
    "a size that ends in LF": "1\nx\r\n0\r\n\r\n",
    "an extension that never ends": "1;" + "x" * 20_000,
    "more than the size": "1\r\nxyz\r\n0\r\n\r\n",
    "trailers that never end": "0\r\n" + "A: b\r\n" * 4000,
}


@pytest.mark.parametrize("message", BAD.values(), ids=BAD)
async def test_what_two_readers_could_take_differently_is_refused(message: str, upstream: Upstream) -> None:
    async with proxying() as proxy:
        got = await proxy.answer(message.replace("{port}", str(upstream.port)).encode())
    assert got.status == 400
    assert got.phrase.startswith("The proxy cannot read the request: ")
    assert "hunter2" not in got.phrase
    assert upstream.connections == 0


@pytest.mark.parametrize("body", BAD_CHUNKS.values(), ids=BAD_CHUNKS)
async def test_a_body_in_chunks_that_are_not_right_is_refused(body: str) -> None:
    async def reading(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionResetError):
            seen.append(await reader.read())

    seen: list[bytes] = []
    async with serving(reading) as upstream, proxying() as proxy:
        got = await proxy.answer(
            fetching(upstream.port, "/", "Transfer-Encoding: chunked", method="POST") + body.encode()
        )
        await asyncio.wait_for(upstream.gone.wait(), 30)
    assert got.status == 400
    assert got.phrase.startswith("The proxy cannot read the request's body: ")
    assert not any(b"\r\n0\r\n" in whole for whole in seen), "its server is not told that it is whole"


@pytest.mark.parametrize("version", ["HTTP/2.0", "HTTP/0.9", "HTTP/1.2"])
async def test_other_versions_are_not_recognised(version: str) -> None:
    async with proxying() as proxy:
        assert (await proxy.answer(f"PRI * {version}\r\n\r\n".encode())).status == 505


async def test_a_head_that_does_not_end_is_refused_at_its_limit(upstream: Upstream) -> None:
    async with proxying() as proxy:
        head = fetching(upstream.port, "/", "X: ")
        fits = head.replace(b"X: ", b"X: " + b"x" * (2**14 - len(head)))
        assert (await proxy.answer(fits)).status == 200
        assert (await proxy.answer(fits.replace(b"X: ", b"X: x"))).status == 431
        assert (await proxy.answer(b"G" * 20_000)).status == 431


async def test_a_client_that_still_sends_a_body_gets_the_reason() -> None:
    async with proxying(NOTHING) as proxy:
        client = await proxy.client()
        body = b"x" * 5_000_000
        await client.say(fetching(80, "/", f"Content-Length: {len(body)}", method="POST", host="10.0.0.1") + body)
        assert (await client.answer()).status == 403
        client.leave()


async def test_why_has_no_body_where_only_the_head_was_asked_for() -> None:
    async with proxying(NOTHING) as proxy:
        got = await proxy.answer(fetching(80, method="HEAD", host="10.0.0.1"))
    assert (got.status, got.body) == (403, b"")
