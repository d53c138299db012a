"""Reading bodies: complete, decompressed, and limited in size."""

from __future__ import annotations

import asyncio
import gc
import gzip
import itertools
import zlib
from collections.abc import AsyncIterator, Callable

import aiohttp
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from yarl import URL

from pegboard.http_client.address_policy import AllowList
from pegboard.http_client.bounded_body import read_bounded_body, read_chunk
from pegboard.http_client.guarded_client import GuardedClient
from pegboard.model.call_errors import UpstreamFailed, UpstreamUnreachable
from tests.unit.http_client.upstreams import answer, chunked, head_of, serve_responses, serving
from tests.upstreams import Received, Wire, head, upstream

LIMIT = 1000
TEXT = b"The quick brown fox. " * 40


@pytest.fixture
async def outbound() -> AsyncIterator[GuardedClient]:
    """A way out to loopback."""
    made = GuardedClient(AllowList.read("127.0.0.1"), connect_seconds=10)
    yield made
    await made.close()


def raw_deflate(data: bytes) -> bytes:
    deflater = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return deflater.compress(data) + deflater.flush()


async def read(
    outbound: GuardedClient, raw: bytes, *, limit: int = LIMIT, method: str = "GET", keep: bool = True
) -> bytes:
    """Return the body of this response; release the connection, which can be reused if the body was read completely."""
    async with serve_responses(raw, keep=keep) as upstream:
        response = await outbound.send(method, upstream.url("/?q=secret"))
        try:
            body = await read_bounded_body(response, limit)
        except Exception as error:
            assert "secret" not in str(error)
            assert f"127.0.0.1:{upstream.port}" in str(error)
            assert response.closed
            raise
        if keep:
            await read_bounded_body(await outbound.send(method, upstream.url()), limit)
            assert upstream.connections == 1
        return body


STREAM = "Transfer-Encoding: chunked"


@pytest.mark.parametrize("size", [0, 1, LIMIT])
async def test_a_body_up_to_the_limit_is_read(size: int, outbound: GuardedClient) -> None:
    body = b"x" * size
    assert await read(outbound, answer(body)) == body
    assert await read(outbound, answer(chunked(body) if body else chunked(), STREAM, length=False)) == body
    assert await read(outbound, answer(body, length=False), keep=False) == body


async def test_a_connection_that_is_reset_while_a_body_is_read_is_reported_once(outbound: GuardedClient) -> None:
    is_read = asyncio.Event()
    reports: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reports.append(context["message"]))

    async def reset_later(_: Received, wire: Wire) -> None:
        await wire.send(head(200, {"Content-Length": "1000"}) + b"x")
        await is_read.wait()
        wire.reset()

    async with upstream(reset_later) as running:
        response = await outbound.send("GET", URL(running.url))
        assert await read_chunk(response) == b"x"
        reading = asyncio.create_task(read_chunk(response))
        await asyncio.sleep(0)
        is_read.set()
        (error,) = await asyncio.gather(reading, return_exceptions=True)
        assert isinstance(error, aiohttp.ClientPayloadError)
    response.close()
    await outbound.close()
    del response, reading, error
    gc.collect()  # asyncio reports an exception that was not retrieved when its future is deleted
    assert not reports


async def test_a_body_beyond_the_limit_is_cut_off(outbound: GuardedClient) -> None:
    body = b"x" * (LIMIT + 1)
    for raw in (answer(body), answer(chunked(body[:600], body[600:]), STREAM, length=False)):
        with pytest.raises(UpstreamFailed, match="more than 1000 bytes"):
            await read(outbound, raw)
    with pytest.raises(UpstreamFailed, match="more than 1000 bytes"):
        await read(outbound, answer(body, length=False), keep=False)


@pytest.mark.parametrize("header", ["X-None: 1", "Content-Encoding: gzip"])
async def test_a_body_that_is_announced_as_too_large_is_not_waited_for(header: str, outbound: GuardedClient) -> None:
    async with serve_responses(answer(b"begun", header, "Content-Length: 1001", length=False)) as upstream:
        response = await outbound.send("GET", upstream.url())
        with pytest.raises(UpstreamFailed, match="more than 1000 bytes"):
            await asyncio.wait_for(read_bounded_body(response, LIMIT), 30)
        await asyncio.wait_for(upstream.gone.wait(), 30)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "bare"])
async def test_a_body_may_end_where_a_piece_does(encoding: str, outbound: GuardedClient) -> None:
    encoders: dict[str, Callable[[bytes], bytes]] = {
        "gzip": gzip.compress,
        "deflate": zlib.compress,
        "bare": raw_deflate,
    }
    encode = encoders[encoding]
    header = f"Content-Encoding: {'gzip' if encoding == 'gzip' else 'deflate'}"
    for size in range(2**16 - 3, 2**16 + 260, 16):
        assert len(await read(outbound, answer(encode(bytes(size)), header), limit=2**17)) == size


async def test_a_large_body_is_read_whole(outbound: GuardedClient) -> None:
    body = bytes(range(256)) * 10_000
    assert await read(outbound, answer(body), limit=len(body)) == body


ENCODED = {
    "gzip": ("gzip", gzip.compress(TEXT)),
    "in capitals": ("GZip", gzip.compress(TEXT)),
    "an old name": ("x-gzip", gzip.compress(TEXT)),
    "deflate": ("deflate", zlib.compress(TEXT)),
    "deflate without compression": ("deflate", zlib.compress(TEXT, 0)),
    "deflate without wrapping": ("deflate", raw_deflate(TEXT)),
    "identity": ("identity", TEXT),
    "nothing": ("", TEXT),
    "gzip and identity": ("gzip, identity", gzip.compress(TEXT)),
    "two members": ("gzip", gzip.compress(TEXT[:100]) + gzip.compress(TEXT[100:])),
    "padding": ("gzip", gzip.compress(TEXT) + b"\0" * 20),
    "an empty member": ("gzip", gzip.compress(b"") + gzip.compress(TEXT)),
    "gzip twice": ("gzip, gzip", gzip.compress(gzip.compress(TEXT))),
    "gzip of deflate": ("deflate, gzip", gzip.compress(zlib.compress(TEXT))),
    "deflate of gzip": ("gzip,deflate", raw_deflate(gzip.compress(TEXT))),
}


@pytest.mark.parametrize(("encoding", "encoded"), ENCODED.values(), ids=ENCODED)
async def test_encodings_are_taken_off(encoding: str, encoded: bytes, outbound: GuardedClient) -> None:
    header = f"Content-Encoding: {encoding}"
    assert await read(outbound, answer(encoded, header)) == TEXT
    assert (
        await read(outbound, answer(chunked(*(bytes([byte]) for byte in encoded)), header, STREAM, length=False))
        == TEXT
    )


async def test_encodings_in_several_headers_are_taken_off(outbound: GuardedClient) -> None:
    twice = gzip.compress(zlib.compress(TEXT))
    assert await read(outbound, answer(twice, "Content-Encoding: deflate", "Content-Encoding: gzip")) == TEXT


@pytest.mark.parametrize(
    "encoding", ["br", "zstd", "compress", "aws-chunked", "gzip, br", "gzip, gzip, gzip", "x" * 200]
)
async def test_an_encoding_that_was_not_asked_for_is_named(encoding: str, outbound: GuardedClient) -> None:
    with pytest.raises(UpstreamFailed, match=r"has the Content-Encoding '.{2,100}', which was not asked for"):
        await read(outbound, answer(b"whatever", f"Content-Encoding: {encoding}"))


@pytest.mark.parametrize("encoding", ["gzip", "br"])
async def test_no_body_needs_no_decoding(encoding: str, outbound: GuardedClient) -> None:
    assert await read(outbound, answer(b"", f"Content-Encoding: {encoding}")) == b""


async def test_an_answer_to_head_has_no_body_whatever_its_headers_say(outbound: GuardedClient) -> None:
    raw = answer(b"", "Content-Encoding: gzip", "Content-Length: 99999999", length=False)
    assert await read(outbound, raw, method="HEAD") == b""


BROKEN = {
    "without the checksum": ("gzip", gzip.compress(TEXT)[:-9], "it ends too early"),
    "without the last byte": ("gzip", gzip.compress(TEXT)[:-1], "it ends too early"),
    "half a header": ("gzip", gzip.compress(TEXT)[:5], "it ends too early"),
    "zeros": ("gzip", b"\0\0", "incorrect header"),
    "no gzip": ("gzip", TEXT, "incorrect header"),
    "a wrong checksum": ("gzip", gzip.compress(TEXT)[:-8] + b"\1" * 8, "incorrect data check"),
    "something after the end": ("gzip", gzip.compress(TEXT) + b"garbage", "incorrect header"),
    "a thousand members": ("gzip", gzip.compress(b"") * 1002, "it has too many parts"),
    "gzip once": ("gzip, gzip", gzip.compress(TEXT), "incorrect header"),
    "the inner broken off": ("gzip, gzip", gzip.compress(gzip.compress(TEXT)[:-1]), "it ends too early"),
    "the inner missing": ("gzip, gzip", gzip.compress(b""), "it ends too early"),
    "one byte of deflate": ("deflate", b"x", "it ends too early"),
    "deflate broken off": ("deflate", zlib.compress(TEXT)[:-2], "it ends too early"),
    "bare deflate broken off": ("deflate", raw_deflate(TEXT)[:-2], "it ends too early"),
    "something after deflate": ("deflate", zlib.compress(TEXT) + b"more", "data follows its end"),
    "no deflate": ("deflate", b"\xff" * 40, "invalid block type"),
}


@pytest.mark.parametrize(("encoding", "encoded", "message"), BROKEN.values(), ids=BROKEN)
async def test_broken_compression_is_reported_to_be(
    encoding: str, encoded: bytes, message: str, outbound: GuardedClient
) -> None:
    with pytest.raises(UpstreamFailed, match=f"cannot be decompressed as {encoding}: .*{message}"):
        await read(outbound, answer(encoded, f"Content-Encoding: {encoding}"), limit=100_000)


@pytest.mark.parametrize(
    "raw",
    [
        answer(b"short", "Content-Length: 100", length=False),
        answer(b"64\r\nshort", STREAM, length=False),
        answer(chunked(b"fine").removesuffix(b"0\r\n\r\n"), STREAM, length=False),
        answer(gzip.compress(TEXT)[:20], "Content-Encoding: gzip", "Content-Length: 100", length=False),
    ],
    ids=["by length", "in a chunk", "between chunks", "compressed"],
)
async def test_an_answer_that_breaks_off(raw: bytes, outbound: GuardedClient) -> None:
    with pytest.raises(UpstreamUnreachable, match="broke off"):
        await read(outbound, raw, keep=False)


@pytest.mark.parametrize("later", [b"zz\r\nwhat", b"4\r\nfine\r\nzz\r\n", b"4\r\nfin"])
async def test_an_answer_that_turns_to_nonsense(later: bytes, outbound: GuardedClient) -> None:
    async def turn(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head_of(reader)
        writer.write(answer(b"", STREAM, length=False))
        await answered.wait()
        writer.write(later)

    answered = asyncio.Event()
    async with serving(turn) as upstream:
        response = await outbound.send("GET", upstream.url())
        answered.set()
        with pytest.raises(UpstreamUnreachable, match="broke off"):
            await read_bounded_body(response, LIMIT)


@pytest.mark.parametrize("header", ["X-None: 1", "Content-Encoding: gzip"])
async def test_a_slow_drip_ends_when_the_caller_stops_waiting(header: str, outbound: GuardedClient) -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head_of(reader)
        writer.write(answer(gzip.compress(TEXT)[:8], header, "Content-Length: 500", length=False))
        await reader.read()

    async with serving(drip) as upstream:
        response = await outbound.send("GET", upstream.url())
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await read_bounded_body(response, LIMIT)
        await asyncio.wait_for(upstream.gone.wait(), 30)
        assert response.closed


@pytest.mark.parametrize("header", ["X-None: 1", "Content-Encoding: gzip"])
async def test_a_body_that_never_ends_is_cut_off(header: str, outbound: GuardedClient) -> None:
    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head_of(reader)
        writer.write(answer(b"", header, STREAM, length=False))
        deflater = zlib.compressobj(0, wbits=16 + zlib.MAX_WBITS)
        while True:
            piece = deflater.compress(b"x" * 1000) if "gzip" in header else b"x" * 1000
            if piece:
                writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()

    async with serving(flood) as upstream:
        response = await outbound.send("GET", upstream.url())
        with pytest.raises(UpstreamFailed, match="more than 300000 bytes"):
            await read_bounded_body(response, 300_000)
        await asyncio.wait_for(upstream.gone.wait(), 30)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    body=st.builds(bytes.__mul__, st.binary(max_size=300), st.integers(1, 800)),
    encodings=st.lists(st.sampled_from(["gzip", "deflate"]), max_size=2),
    cuts=st.lists(st.integers(0, 3000), max_size=5),
)
async def test_whatever_was_encoded_comes_out(
    body: bytes, encodings: list[str], cuts: list[int], outbound: GuardedClient
) -> None:
    encoded = body
    for name in encodings:
        encoded = gzip.compress(encoded) if name == "gzip" else zlib.compress(encoded)
    edges = sorted({0, len(encoded), *(cut for cut in cuts if cut < len(encoded))})
    pieces = [encoded[start:end] for start, end in itertools.pairwise(edges)]
    raw = answer(chunked(*pieces), f"Content-Encoding: {', '.join(encodings)}", STREAM, length=False)
    async with serve_responses(raw) as upstream:
        assert await read_bounded_body(await outbound.send("GET", upstream.url()), 300_000) == body
        response: aiohttp.ClientResponse = await outbound.send("GET", upstream.url())
        if len(body) > 1:
            with pytest.raises(UpstreamFailed):
                await read_bounded_body(response, len(body) - 1)
        else:
            response.close()
