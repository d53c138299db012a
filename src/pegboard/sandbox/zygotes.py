"""Every zygote of this board: one a house, within bounds, made when needed, replaced when dead, let go of when idle."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from typing import Any

from pegboard.sandbox.houses import House, Identities, Identity
from pegboard.sandbox.refusals import unavailable
from pegboard.sandbox.zygote import LEAVING_SECONDS, Gone, Zygote
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

START_SECONDS = 60.0
IDLE_SECONDS = 600.0
# A folder that was replaced may be shown as it was for so long.
FRESH_SECONDS = 1.0
_KILLED_SECONDS = 2.0


class Zygotes:
    """Gives the zygote of a house to whoever has a call for it; `plan` tells a new one what its house is."""

    def __init__(
        self,
        plan: Callable[[House], str],
        *,
        most: int,
        start_seconds: float = START_SECONDS,
        idle_seconds: float = IDLE_SECONDS,
        fresh_seconds: float = FRESH_SECONDS,
    ) -> None:
        self._plan = plan
        self._most = most
        self._start_seconds = start_seconds
        self._idle_seconds = idle_seconds
        self._identities = Identities(fresh_seconds)
        # The one that was used last comes last.
        self._zygotes: OrderedDict[Identity, Zygote] = OrderedDict()
        # Those that take no more calls, and have not exited yet.
        self._leaving: set[Zygote] = set()
        self._sweeping: asyncio.TimerHandle | None = None
        self._closed = False

    def check(self, house: House) -> None:
        """Raises Misconfigured where the house has no folder."""
        self._identities.of(house)

    def at_hand(self, house: House, user_id: str) -> Zygote | None:
        """The house's zygote where it takes calls already; raises Misconfigured where the house has no folder."""
        known = self._identities.of(house)
        zygote = self._zygotes.get(known)
        if zygote is None or not zygote.is_ready:
            return None
        self._used(known, zygote, user_id)
        return zygote

    async def of(self, house: House, user_id: str) -> Zygote:
        """The house's zygote, which takes calls; raises Misconfigured where it cannot be made, Gone where it died."""
        known = self._identities.of(house)
        while True:
            if self._closed:
                raise unavailable("No confined call is started any more: the board is shutting down")
            zygote = self._zygotes.get(known)
            if zygote is None:
                if not self._make_room(user_id):
                    await _any([zygote.settled() for zygote in self._zygotes.values()])
                    continue
                zygote = self._start(known)
            self._used(known, zygote, user_id)
            try:
                await zygote.ready()
            except Gone:
                if zygote not in self._leaving:
                    raise
                # It had to make room for another just when it was ready.
                continue
            return zygote

    def warm(self, house: House) -> None:
        """Begin to make the house's zygote, where there is room for one more; raises ToolError where it cannot be."""
        known = self._identities.of(house)
        if not self._closed and known not in self._zygotes and len(self._zygotes) < self._most:
            self._start(known)

    def drop(self, zygote: Zygote) -> None:
        """Use this one no more: the next call gets another."""
        for known, kept in self._zygotes.items():
            if kept is zygote:
                self._end(known)
                return

    async def close(self) -> None:
        """End every zygote; it takes a few seconds at most."""
        self._closed = True
        if self._sweeping is not None:
            self._sweeping.cancel()
        for known in list(self._zygotes):
            self._end(known)
        if await self._left_within(LEAVING_SECONDS + 1):
            return
        for zygote in self._leaving:
            zygote.kill()
        if not await self._left_within(_KILLED_SECONDS):
            log.error("zygotes_left", pids=[zygote.pid for zygote in self._leaving])

    async def _left_within(self, seconds: float) -> bool:
        exits = [asyncio.ensure_future(zygote.exited.wait()) for zygote in self._leaving]
        if exits:
            _, late = await asyncio.wait(exits, timeout=seconds)
            for waiting in late:
                waiting.cancel()
        return not self._leaving

    def _start(self, known: Identity) -> Zygote:
        def forget(gone: Zygote) -> None:
            self._leaving.discard(gone)
            if self._zygotes.get(known) is gone:
                del self._zygotes[known]

        zygote = Zygote(self._plan(known[0]), start_seconds=self._start_seconds, on_exit=forget)
        self._zygotes[known] = zygote
        if self._sweeping is None:
            self._sweep()
        return zygote

    def _end(self, known: Identity) -> None:
        zygote = self._zygotes.pop(known)
        if not zygote.exited.is_set():
            self._leaving.add(zygote)
            zygote.end()

    def _used(self, known: Identity, zygote: Zygote, user_id: str) -> None:
        zygote.user_id = user_id
        self._zygotes.move_to_end(known)

    def _make_room(self, user_id: str) -> bool:
        """Whether there is room for one more, which this user needs.

        One without calls goes before one with, one that this user was the last to use before those of others, and the
        one unused for longest first.
        """
        if len(self._zygotes) < self._most:
            return True
        settled = [known for known, zygote in self._zygotes.items() if not zygote.is_starting]
        if not settled:
            return False
        self._end(min(settled, key=lambda known: self._worth(self._zygotes[known], user_id)))
        return True

    @staticmethod
    def _worth(zygote: Zygote, user_id: str) -> tuple[bool, bool]:
        return zygote.calls > 0, zygote.user_id != user_id

    def _sweep(self) -> None:
        oldest = time.monotonic() - self._idle_seconds
        for known, zygote in list(self._zygotes.items()):
            if zygote.is_ready and zygote.calls == 0 and zygote.used_at <= oldest:
                self._end(known)
        self._sweeping = None
        if self._zygotes and not self._closed:
            self._sweeping = asyncio.get_running_loop().call_later(self._idle_seconds / 4, self._sweep)


async def _any(waits: list[Coroutine[Any, Any, None]]) -> None:
    """Wait for the first of these."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
