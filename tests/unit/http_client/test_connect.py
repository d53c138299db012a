"""Connections without a request: the same address policy and the same errors."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence

import pytest
from yarl import URL

from pegboard.http_client.address_policy import AllowList
from pegboard.http_client.guarded_client import GuardedClient
from pegboard.model.call_errors import EgressRefused, ToolError, Unavailable, UpstreamUnreachable
from tests.unit.http_client.blocked_addresses import LOOPBACK_SPELLINGS, NOT_PUBLIC, PUBLIC
from tests.unit.http_client.upstreams import answer, serve_responses

LOCAL = AllowList.read("127.0.0.1")


async def fixed(host: str, port: int) -> Sequence[str]:
    """A resolver for names that contain their address: `10-0-0-1.v4`."""
    return [host.removesuffix(".v4").removesuffix(".v6").replace("-", "." if host.endswith(".v4") else ":")]


async def hanging(host: str, port: int) -> Sequence[str]:
    await asyncio.Event().wait()
    raise AssertionError


async def message(outbound: GuardedClient, host: str, port: int = 80) -> str:
    """Return the error of the connection, which a request reports as well."""
    with pytest.raises(ToolError) as caught:
        await outbound.connect(host, port, "ann")
    assert not caught.value.did_run
    assert caught.value.__cause__ is None
    with pytest.raises(type(caught.value)) as sending:
        await outbound.send("GET", URL.build(scheme="http", host=host, port=port))
    assert caught.value.message == sending.value.message
    return caught.value.message


@pytest.mark.parametrize("address", NOT_PUBLIC.values(), ids=NOT_PUBLIC)
async def test_an_address_that_is_not_public_is_refused(address: str, dialled: list[str]) -> None:
    outbound = GuardedClient(AllowList(), resolver=fixed, connect_seconds=10)
    named = address.replace(":", "-") + ".v6" if ":" in address else address.replace(".", "-") + ".v4"
    hosts = [address] if "." in address and ":" in address else [address, named]
    for host in hosts:
        assert "PEGBOARD_EGRESS_ALLOW" in await message(outbound, host)
    await outbound.close()
    assert dialled == []


@pytest.mark.parametrize("host", [host.strip("[]") for host in LOOPBACK_SPELLINGS])
async def test_no_spelling_of_loopback_gets_through(host: str, dialled: list[str]) -> None:
    outbound = GuardedClient(AllowList(), connect_seconds=10)
    with pytest.raises(EgressRefused, match="PEGBOARD_EGRESS_ALLOW"):
        await outbound.connect(host, 80, "ann")
    assert dialled == []


@pytest.mark.parametrize("address", PUBLIC.values(), ids=PUBLIC)
async def test_a_public_address_is_let_through(address: str, dialled: list[str]) -> None:
    outbound = GuardedClient(AllowList(), connect_seconds=10)
    with pytest.raises(UpstreamUnreachable, match="Network is unreachable"):
        await outbound.connect(address, 80, "ann")
    assert len(dialled) == 1


@pytest.mark.parametrize("host", ["", "a b", "a/b", "a@b", "[::1]", "a\r\nb", "a\0b", "ü" * 80, "a:b"])
async def test_what_is_no_host_is_refused(host: str) -> None:
    with pytest.raises(EgressRefused, match="this host"):
        await GuardedClient(AllowList(), connect_seconds=10).connect(host, 80, "ann")


async def is_connected(made: socket.socket) -> bool:
    """Return True if this socket is connected to the expected server, and does not block."""
    try:
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(made, b"GET / HTTP/1.1\r\n\r\n")
        return not made.getblocking() and (await loop.sock_recv(made, 100)).endswith(b"reached")
    finally:
        made.close()


async def test_what_is_allowed_is_reached() -> None:
    async with serve_responses(answer(b"reached")) as running:
        outbound = GuardedClient(LOCAL, resolver=fixed, connect_seconds=10)
        for host in ("127.0.0.1", "127-0-0-1.v4", "127-0-0-1.V4", "::ffff:127.0.0.1"):
            assert await is_connected(await outbound.connect(host, running.port, "ann"))
        await outbound.close()


async def test_of_several_addresses_one_that_answers_is_taken(dialled: list[str]) -> None:
    async def several(host: str, port: int) -> Sequence[str]:
        return ["10.0.0.1", "8.8.8.8", "127.0.0.1"]

    async with serve_responses(answer(b"reached")) as running:
        outbound = GuardedClient(LOCAL, resolver=several, connect_seconds=10)
        assert await is_connected(await outbound.connect("name", running.port, "ann"))
    assert dialled == ["8.8.8.8", "127.0.0.1"]


async def test_what_cannot_be_reached_is_reported_as_for_a_request() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    outbound = GuardedClient(LOCAL, connect_seconds=5)
    assert await message(outbound, "127.0.0.1", port) == f"Could not connect to 127.0.0.1:{port}: Connection refused"
    assert (await message(outbound, "missing.invalid")).startswith("The name 'missing.invalid' could not be resolved")
    assert "write it as 127.0.0.1" in await message(outbound, "127.1")
    assert "not a plain address" in await message(outbound, "1.2.3.4.5")
    await outbound.close()
    slow = GuardedClient(LOCAL, connect_seconds=0.1, resolver=hanging)
    assert await message(slow, "a") == "Could not connect to a:80: its name was not resolved within 0.1 s"
    await slow.close()


async def test_after_closing_nothing_is_connected_to() -> None:
    outbound = GuardedClient(LOCAL, resolver=hanging, connect_seconds=10)
    waiting = asyncio.create_task(outbound.connect("name", 80, "ann"))
    await asyncio.sleep(0)
    await outbound.close()
    with pytest.raises(Unavailable, match="shutting down"):
        await asyncio.wait_for(waiting, 30)
    with pytest.raises(Unavailable, match="shutting down"):
        await outbound.connect("127.0.0.1", 80, "ann")
