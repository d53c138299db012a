"""Connections that carry no request of ours: looked up, guarded and made as those of requests are."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence

import aiohappyeyeballs
import aiohttp
from aiohttp.client_reqrep import ConnectionKey
from yarl import URL

AddressInfo = tuple[int, int, int, str, tuple[str, int] | tuple[str, int, int, int]]

_STAGGER_SECONDS = 0.25


async def dial(
    addresses: Sequence[str], port: int, *, make: Callable[[AddressInfo], socket.socket], seconds: float
) -> socket.socket:
    """A connected, non-blocking socket to whichever of these addresses answers first."""
    infos: list[AddressInfo] = [
        (
            socket.AF_INET6 if ":" in address else socket.AF_INET,
            socket.SOCK_STREAM,
            socket.IPPROTO_TCP,
            "",
            (address, port, 0, 0) if ":" in address else (address, port),
        )
        for address in addresses
    ]
    try:
        async with asyncio.timeout(seconds):
            return await aiohappyeyeballs.start_connection(
                infos, happy_eyeballs_delay=_STAGGER_SECONDS, interleave=1, socket_factory=make
            )
    except RuntimeError as error:  # uvloop raises it where a socket cannot be connected at all
        raise OSError(str(error)) from error


def as_of_a_request(error: OSError, url: URL, *, dialled: bool) -> Exception:
    """The fault as aiohttp has it where a request's connection fails, so that both are told in the same words."""
    if isinstance(error, TimeoutError) and error.errno is None:
        return aiohttp.ConnectionTimeoutError()
    key = ConnectionKey(url.raw_host or "", url.port, False, True, None, None, None)
    kind = aiohttp.ClientConnectorError if dialled else aiohttp.ClientConnectorDNSError
    return kind(key, error)
