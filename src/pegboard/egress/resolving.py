"""From names to the addresses that may be tried."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from ipaddress import ip_address
from threading import Thread

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from pegboard.egress.addresses import numeric
from pegboard.egress.allow import AllowList
from pegboard.egress.faults import Refused

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a host, which is to be reached at this port."""

_MOST_ADDRESSES = 16
_THREADS = 64


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


class SystemResolver:
    """Asks the system, each time in a thread of its own, so that a slow name server holds up nothing else.

    The threads are daemons: the process can end while one of them still waits for an answer.
    """

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(_THREADS)

    async def __call__(self, host: str, port: int) -> list[str]:
        """Every address of the host, the one to try first in front."""
        async with self._room:
            loop = asyncio.get_running_loop()
            answered: asyncio.Future[list[str]] = loop.create_future()
            Thread(target=_answer, args=(loop, answered, host, port), name="lookup", daemon=True).start()
            return list(dict.fromkeys(await answered))


def _answer(loop: asyncio.AbstractEventLoop, answered: asyncio.Future[list[str]], host: str, port: int) -> None:
    try:
        settle = partial(_settle, answered, _addresses(host, port), None)
    except Exception as error:  # whatever it is, it is for who waits
        settle = partial(_settle, answered, [], error)
    with suppress(RuntimeError):  # the loop is closed: nobody waits any more
        loop.call_soon_threadsafe(settle)


def _settle(answered: asyncio.Future[list[str]], found: list[str], error: Exception | None) -> None:
    if answered.done():
        return
    if error is None:
        answered.set_result(found)
    else:
        answered.set_exception(error)


def _addresses(host: str, port: int) -> list[str]:
    infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    return [_with_zone(*info[4]) for info in infos]


def _with_zone(address: str | int, _port: int, _flow: int = 0, zone: int = 0) -> str:
    text = str(address)
    return f"{text}%{zone}" if zone and "%" not in text else text
