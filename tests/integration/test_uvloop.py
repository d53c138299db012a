"""The short version of the tests that `make soak` runs on uvloop: a confined call, a tunnel, and requests over TLS."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Sequence
from typing import Any

import pytest
import trustme

from pegboard.http_client.address_policy import AllowList
from pegboard.http_client.bounded_body import read_bounded_body
from pegboard.http_client.guarded_client import GuardedClient
from pegboard.model.call_errors import UpstreamUnreachable
from tests.unit.http_client.upstreams import answer, open_files, serve_responses, serving
from tests.unit.sandbox.confined_tools import command, later, open_sandbox, script, until_running
from tests.unit.sandbox.proxies import proxying
from tests.waiting import until


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, Any]]:
    """The event loop of `pegboard serve`."""
    return "asyncio", {"use_uvloop": True}


async def resolve_to_loopback(host: str, port: int) -> Sequence[str]:
    return ["127.0.0.1"]


def client(trusting: ssl.SSLContext) -> GuardedClient:
    return GuardedClient(
        AllowList.read("127.0.0.1"), resolver=resolve_to_loopback, ssl_context=trusting, connect_seconds=30
    )


async def test_the_tests_run_on_uvloop() -> None:
    assert type(asyncio.get_running_loop()).__module__ == "uvloop"


async def test_confined_commands_return_their_output_end_at_their_deadline_and_can_be_cancelled() -> None:
    async with open_sandbox() as box:
        ended = await box.run(script("cat; echo err >&2; exit 3", stdin="in"), "ann", later())
        assert (ended.fate, ended.code, ended.stdout, ended.stderr) == ("exited", 3, b"in", b"err\n")
        late = await box.run(command("sleep", "3600", seconds=3600.0), "ann", time.monotonic() + 1.0)
        assert late.fate == "time"
        running = asyncio.create_task(box.run(command("sleep", "3601.5"), "ann", later(3600.0)))
        await until_running("3601.5")
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert (await box.run(command("true"), "ann", later())).code == 0


async def test_a_tunnel_carries_bytes_until_the_client_leaves() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(2**16):
            writer.write(data)
            await writer.drain()

    async with serving(echo) as upstream, proxying() as proxy:
        client = await proxy.client()
        await client.tunnel(f"127.0.0.1:{upstream.port}")
        await client.say(b"bytes")
        assert await client.read_bytes(5) == b"bytes"
        client.leave()
        await asyncio.wait_for(upstream.gone.wait(), 30)


async def test_requests_over_tls_are_answered_or_refused_and_leave_no_connection() -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("api.example").configure_cert(context)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    async with serve_responses(answer(b"private"), context=context) as upstream:
        url = upstream.url("/", host="api.example", scheme="https")
        outbound = client(trusting)
        response = await outbound.send("GET", url)
        assert await read_bounded_body(response, 100) == b"private"
        await outbound.close()
        before = open_files()
        stranger = client(ssl.create_default_context())
        with pytest.raises(UpstreamUnreachable, match="certificate"):
            await stranger.send("GET", url)
        await stranger.close()

        async def is_closed() -> bool:
            return open_files() <= before

        await until(is_closed)
