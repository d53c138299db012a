"""DNS lookups with limits on concurrency, in all and for one user, filtered by the address policy.

Not a resolver of aiohttp: its threads are the event loop's, which slow names would occupy, and no user has a limit.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from ipaddress import ip_address
from threading import Thread
from weakref import WeakValueDictionary

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from pegboard.http_client.address_policy import AllowList, is_numeric_host
from pegboard.http_client.network_errors import AddressRefused

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a host, which is to be reached at this port."""

_MAX_ADDRESSES = 16


class PermittedResolver(AbstractResolver):
    """Resolves a name to its permitted addresses only, so that no connection attempt is spent on the others."""

    def __init__(self, allow: AllowList, resolver: Resolver, seconds: float) -> None:
        self._allow = allow
        self._resolver = resolver
        self._seconds = seconds

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return the addresses to try.

        Raise OSError if there are none or on timeout, AddressRefused if none is permitted.
        """
        if is_numeric_host(host):
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
            raise AddressRefused(found[0])
        return [
            {
                "hostname": host,
                "host": str(address),
                "port": port,
                "family": socket.AF_INET if address.version == 4 else socket.AF_INET6,
                "proto": socket.IPPROTO_TCP,
                "flags": socket.AI_NUMERICHOST,
            }
            for address in permitted[:_MAX_ADDRESSES]
        ]

    async def close(self) -> None:
        """Do nothing: there are no resources to release."""


class DnsLookups:
    """Limits the concurrent lookups of a resolver, including lookups whose caller was cancelled.

    Without this limit, a caller that gives up on many slow names would leave one thread behind for each.
    """

    def __init__(self, resolver: Resolver, *, most: int, most_a_user: int | None = None) -> None:
        self._resolver = resolver
        self._room = asyncio.Semaphore(most)
        self._max_per_user = most_a_user or most
        # Each semaphore exists as long as a lookup of its user.
        self._user_semaphores: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._asking: set[asyncio.Task[Sequence[str]]] = set()
        self._closed = False

    async def __call__(self, host: str, port: int, user_id: str = "") -> Sequence[str]:
        """Return the addresses from the resolver, after waiting for the limits."""
        own = self._user_semaphores.setdefault(user_id, asyncio.Semaphore(self._max_per_user))
        await own.acquire()
        try:
            await self._room.acquire()
        except BaseException:
            own.release()
            raise
        asking = asyncio.create_task(self._ask(host, port))
        self._asking.add(asking)
        asking.add_done_callback(partial(self._on_lookup_done, own))
        if self._closed:
            asking.cancel()
        return await asyncio.shield(asking)

    def close(self) -> None:
        """Cancel all lookups, with the tasks that wait for them."""
        self._closed = True
        for asking in self._asking:
            asking.cancel()

    async def _ask(self, host: str, port: int) -> Sequence[str]:
        return await self._resolver(host, port)

    def _on_lookup_done(self, own: asyncio.Semaphore, asking: asyncio.Task[Sequence[str]]) -> None:
        self._asking.discard(asking)
        self._room.release()
        own.release()
        if not asking.cancelled():
            asking.exception()  # retrieve it, in case no task waits for the lookup


async def resolve_with_system(host: str, port: int) -> list[str]:
    """Return every address of the host from the system resolver, in the order to try them.

    Each lookup runs in a thread of its own, so that a slow name server does not block other lookups. The thread is a
    daemon thread: the process can end while the lookup is still running.
    """
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[list[str]] = loop.create_future()
    Thread(target=_run_lookup, args=(loop, answered, host, port), name="lookup", daemon=True).start()
    return list(dict.fromkeys(await answered))


def _run_lookup(loop: asyncio.AbstractEventLoop, answered: asyncio.Future[list[str]], host: str, port: int) -> None:
    try:
        settle = partial(_settle_lookup, answered, _get_addresses(host, port), None)
    except Exception as error:  # any error is passed to the waiting task
        settle = partial(_settle_lookup, answered, [], error)
    with suppress(RuntimeError):  # the loop is closed: no task waits
        loop.call_soon_threadsafe(settle)


def _settle_lookup(answered: asyncio.Future[list[str]], found: list[str], error: Exception | None) -> None:
    if answered.done():
        return
    if error is None:
        answered.set_result(found)
    else:
        answered.set_exception(error)


def _get_addresses(host: str, port: int) -> list[str]:
    infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    return [_append_zone(*info[4]) for info in infos]


def _append_zone(address: str | int, _port: int, _flow: int = 0, zone: int = 0) -> str:
    text = str(address)
    return f"{text}%{zone}" if zone and "%" not in text else text
