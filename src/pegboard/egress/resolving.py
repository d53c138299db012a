"""From names to the addresses that may be tried."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import ip_address

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from pegboard.egress.addresses import numeric
from pegboard.egress.allow import AllowList
from pegboard.egress.faults import Refused

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a host, which is to be reached at this port."""

_MOST_ADDRESSES = 16


class PermittedAddresses(AbstractResolver):
    """Answers with a name's permitted addresses, so that a long list of others costs no attempt each."""

    def __init__(self, allow: AllowList, resolver: Resolver, seconds: float) -> None:
        self._allow = allow
        self._resolver = resolver
        self._seconds = seconds

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The addresses to try; OSError where there are none, or not in time, Refused where none is permitted."""
        if numeric(host):
            raise aiohttp.InvalidURL(host)
        try:
            async with asyncio.timeout(self._seconds):
                found = [ip_address(text) for text in await self._resolver(host, port)]
        except OSError:
            raise
        except Exception as error:
            raise OSError("it is no name that can be looked up") from error
        if not found:
            raise OSError("it has no address")
        permitted = [address for address in found if self._allow.permits(host, port, address)]
        if not permitted:
            raise Refused(found[0])
        return [
            {
                "hostname": host,
                "host": str(address),
                "port": port,
                "family": socket.AF_INET if address.version == 4 else socket.AF_INET6,
                "proto": socket.IPPROTO_TCP,
                "flags": socket.AI_NUMERICHOST,
            }
            for address in permitted[:_MOST_ADDRESSES]
        ]

    async def close(self) -> None:
        """Nothing is held."""
