"""The memory that is needed to read a body."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import nullcontext

import pytest

from pegboard.http_client.address_policy import AllowList
from pegboard.http_client.bounded_body import read_bounded_body
from pegboard.http_client.guarded_client import GuardedClient
from pegboard.model.call_errors import UpstreamFailed
from tests.unit.http_client.upstreams import answer, serve_responses

LIMIT = 4 * 2**20
BESIDES = 2**20  # buffers of the connection and of what decompresses


@pytest.fixture
async def outbound() -> AsyncIterator[GuardedClient]:
    """A way out to loopback."""
    made = GuardedClient(AllowList.read("127.0.0.1"), connect_seconds=10)
    yield made
    await made.close()


@pytest.fixture
def traced() -> Iterator[None]:
    """Allocations are counted."""
    tracemalloc.start()
    yield
    tracemalloc.stop()


def bomb(times: int) -> bytes:
    """64 MiB of zeros, compressed this many times."""
    deflater = zlib.compressobj(9, wbits=16 + zlib.MAX_WBITS)
    data = b"".join([*(deflater.compress(bytes(2**20)) for _ in range(64)), deflater.flush()])
    for _ in range(times - 1):
        data = gzip.compress(data)
    return data


async def peak(outbound: GuardedClient, raw: bytes, *, refused: bool) -> int:
    """The most memory that reading this answer took."""
    async with serve_responses(raw) as upstream:
        response = await outbound.send("GET", upstream.url())
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        with pytest.raises(UpstreamFailed, match=f"more than {LIMIT} bytes") if refused else nullcontext():
            await read_bounded_body(response, LIMIT)
        return tracemalloc.get_traced_memory()[1] - before


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("times", [1, 2])
async def test_a_bomb_takes_no_more_than_the_limit(times: int, outbound: GuardedClient) -> None:
    raw = answer(bomb(times), "Content-Encoding: " + ", ".join(["gzip"] * times))
    assert await peak(outbound, raw, refused=True) < LIMIT * 1.3 + BESIDES


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("compressed", [True, False])
async def test_a_body_as_large_as_the_limit_is_not_held_twice(compressed: bool, outbound: GuardedClient) -> None:
    body = bytes(LIMIT)
    raw = answer(gzip.compress(body), "Content-Encoding: gzip") if compressed else answer(body)
    assert await peak(outbound, raw, refused=False) < LIMIT * 1.3 + BESIDES
