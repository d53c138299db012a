"""Lookups of names: so many at once, so many of them for one user, and threads for those that the system answers."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from threading import Thread
from weakref import WeakValueDictionary

from pegboard.egress.resolving import Resolver


class Lookups:
    """A resolver that is asked so many times at once and no more, also where nobody waits for its answers any longer.

    Whoever gives up on one slow name after another would otherwise leave a thread behind with each.
    """

    def __init__(self, resolver: Resolver, *, most: int, most_a_user: int | None = None) -> None:
        self._resolver = resolver
        self._room = asyncio.Semaphore(most)
        self._most_a_user = most_a_user or most
        # Each lasts as long as one of its user's lookups.
        self._rooms: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._asking: set[asyncio.Task[Sequence[str]]] = set()
        self._closed = False

    async def __call__(self, host: str, port: int, user_id: str = "") -> Sequence[str]:
        """What the resolver answers."""
        own = self._rooms.setdefault(user_id, asyncio.Semaphore(self._most_a_user))
        await own.acquire()
        try:
            await self._room.acquire()
        except BaseException:
            own.release()
            raise
        asking = asyncio.create_task(self._ask(host, port))
        self._asking.add(asking)
        asking.add_done_callback(partial(self._answered, own))
        if self._closed:
            asking.cancel()
        return await asyncio.shield(asking)

    def close(self) -> None:
        """Ask no longer; whoever waits is cancelled."""
        self._closed = True
        for asking in self._asking:
            asking.cancel()

    async def _ask(self, host: str, port: int) -> Sequence[str]:
        return await self._resolver(host, port)

    def _answered(self, own: asyncio.Semaphore, asking: asyncio.Task[Sequence[str]]) -> None:
        self._asking.discard(asking)
        self._room.release()
        own.release()
        if not asking.cancelled():
            asking.exception()  # looked at, in case nobody else does


async def system_resolver(host: str, port: int) -> list[str]:
    """Every address of the host, the one to try first in front, as the system answers.

    It is asked in a thread of its own, so that a slow name server holds up nothing else. The thread is a daemon: the
    process can end while it still waits for an answer.
    """
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
