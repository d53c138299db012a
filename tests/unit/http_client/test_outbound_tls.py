"""TLS: which certificates are trusted, and the error for others."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from typing import Any

import pytest
import trustme

from pegboard.http_client.address_policy import AllowList
from pegboard.http_client.bounded_body import read_bounded_body
from pegboard.http_client.guarded_client import GuardedClient
from pegboard.model.call_errors import UpstreamUnreachable
from tests.event_loops import USE_UVLOOP
from tests.unit.http_client.upstreams import Upstream, answer, open_files, serve_responses, serving
from tests.waiting import until

LOCAL = AllowList.read("127.0.0.1")


@pytest.fixture(params=USE_UVLOOP)
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """Either event loop: they report faults in different ways."""
    return "asyncio", {"use_uvloop": request.param}


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """The certificate authority of the servers."""
    return trustme.CA()


def server_side(authority: trustme.CA, *names: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)
    return context


def trusting(authority: trustme.CA) -> GuardedClient:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return GuardedClient(LOCAL, resolver=local, ssl_context=context, connect_seconds=0.5)


async def local(host: str, port: int) -> Sequence[str]:
    return ["127.0.0.1"]


async def fault_of(
    outbound: GuardedClient, upstream: Upstream, host: str = "api.example", *, sent: bool = False
) -> str:
    before = open_files()
    with pytest.raises(UpstreamUnreachable) as caught:
        await outbound.send("GET", upstream.url("/?q=secret", host=host, scheme="https"))
    assert "secret" not in caught.value.message
    assert caught.value.did_run == sent
    assert f"{host}:{upstream.port}" in caught.value.message

    async def closed() -> bool:
        return open_files() <= before

    await until(closed)
    await outbound.close()
    return caught.value.message


@pytest.mark.parametrize("host", ["api.example", "API.example.", "127.0.0.1"])
async def test_a_certificate_of_the_right_name_is_trusted(host: str, authority: trustme.CA) -> None:
    context = server_side(authority, "api.example", "127.0.0.1")
    async with serve_responses(answer(b"fine"), context=context) as upstream:
        outbound = trusting(authority)
        response = await outbound.send("GET", upstream.url(host=host, scheme="https"))
        assert await read_bounded_body(response, 10) == b"fine"
        await outbound.close()


async def test_an_unknown_authority_is_not_trusted(authority: trustme.CA) -> None:
    async with serve_responses(answer(), context=server_side(authority, "api.example")) as upstream:
        result = await fault_of(GuardedClient(LOCAL, resolver=local, connect_seconds=10), upstream)
        assert upstream.heads == []
    assert result.startswith("TLS with ")
    assert "certificate" in result


@pytest.mark.parametrize("host", ["other.example", "127.0.0.1"])
async def test_a_certificate_of_another_name_is_not_trusted(host: str, authority: trustme.CA) -> None:
    async with serve_responses(answer(), context=server_side(authority, "api.example")) as upstream:
        result = await fault_of(trusting(authority), upstream, host)
        assert upstream.heads == []
    assert "mismatch" in result


async def test_a_server_that_speaks_plain_http_is_pointed_out(authority: trustme.CA) -> None:
    async def complain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        await reader.read()

    async with serving(complain) as upstream:
        result = await fault_of(trusting(authority), upstream)
    assert result.endswith("does it speak plain http?")


async def test_a_server_that_hangs_up_in_the_handshake(authority: trustme.CA) -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)

    async with serving(hang_up) as upstream:
        await fault_of(trusting(authority), upstream)


async def test_a_server_that_never_shakes_hands(authority: trustme.CA) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with serving(silent) as upstream:
        result = await fault_of(trusting(authority), upstream)
    assert result.endswith("it did not answer within 0.5 s")


async def test_a_server_that_insists_on_a_client_certificate(authority: trustme.CA) -> None:
    context = server_side(authority, "api.example")
    context.verify_mode = ssl.CERT_REQUIRED
    authority.configure_trust(context)
    async with serve_responses(answer(), context=context) as upstream:
        # It reports this only after the request was sent.
        await fault_of(trusting(authority), upstream, sent=True)
