"""The pool of zygotes, one per environment: started on demand, replaced when they die, ended when idle."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable

from pegboard.sandbox.environment_spec import EnvironmentIdentity, EnvironmentSpec, identify_environment
from pegboard.sandbox.limits import make_unavailable
from pegboard.sandbox.zygote_process import ZYGOTE_EXIT_SECONDS, Zygote, ZygoteGone
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

START_SECONDS = 60.0
IDLE_SECONDS = 600.0
_KILL_WAIT_SECONDS = 2.0


class ZygotePool:
    """Pool of zygotes, one per environment. `plan` builds the JSON spec that a new zygote is started with."""

    def __init__(
        self,
        plan: Callable[[EnvironmentSpec], str],
        *,
        most: int,
        start_seconds: float = START_SECONDS,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._build_spec = plan
        self._most = most
        self._start_seconds = start_seconds
        self._idle_seconds = idle_seconds
        # In the order of last use, the most recent last.
        self._zygotes: OrderedDict[EnvironmentIdentity, Zygote] = OrderedDict()
        # Zygotes that accept no more calls and have not exited yet.
        self._leaving: set[Zygote] = set()
        self._sweep_timer: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def zygotes(self) -> tuple[Zygote, ...]:
        """All zygotes that are starting or accept calls, the most recently used last."""
        return tuple(self._zygotes.values())

    async def of(self, environment: EnvironmentSpec, user_id: str) -> Zygote:
        """Return the ready zygote of the environment.

        Raise Misconfigured if it cannot be started, ZygoteGone if it died.
        """
        known = identify_environment(environment)
        while True:
            if self._closed:
                raise make_unavailable("No confined call is started any more: the board is shutting down")
            zygote = self._zygotes.get(known)
            if zygote is None:
                if not self._make_room(user_id):
                    starting = [zygote.settled for zygote in self._zygotes.values()]
                    await asyncio.wait(starting, return_when=asyncio.FIRST_COMPLETED)
                    continue
                zygote = self._start(known)
            self._mark_used(known, zygote, user_id)
            try:
                await zygote.wait_until_ready()
            except ZygoteGone:
                if zygote not in self._leaving:
                    raise
                # It was evicted for another zygote just when it became ready.
                continue
            return zygote

    def warm(self, environment: EnvironmentSpec) -> None:
        """Start the zygote of the environment if the pool is not full; raise ToolError if that fails."""
        known = identify_environment(environment)
        if not self._closed and known not in self._zygotes and len(self._zygotes) < self._most:
            self._start(known)

    def drop(self, zygote: Zygote) -> None:
        """Remove this zygote from the pool: the next call gets another."""
        for known, kept in self._zygotes.items():
            if kept is zygote:
                self._end(known)
                return

    async def close(self) -> None:
        """End every zygote; this takes a few seconds at most."""
        self._closed = True
        if self._sweep_timer is not None:
            self._sweep_timer.cancel()
        for known in list(self._zygotes):
            self._end(known)
        if await self._wait_for_exits(ZYGOTE_EXIT_SECONDS + 1):
            return
        for zygote in self._leaving:
            zygote.kill()
        if not await self._wait_for_exits(_KILL_WAIT_SECONDS):
            log.error("zygotes_left", pids=[zygote.pid for zygote in self._leaving])

    async def _wait_for_exits(self, seconds: float) -> bool:
        exits = [asyncio.ensure_future(zygote.exited.wait()) for zygote in self._leaving]
        if exits:
            _, late = await asyncio.wait(exits, timeout=seconds)
            for waiting in late:
                waiting.cancel()
        return not self._leaving

    def _start(self, known: EnvironmentIdentity) -> Zygote:
        def forget(gone: Zygote) -> None:
            self._leaving.discard(gone)
            if self._zygotes.get(known) is gone:
                del self._zygotes[known]

        zygote = Zygote(self._build_spec(known[0]), start_seconds=self._start_seconds, on_exit=forget)
        self._zygotes[known] = zygote
        if self._sweep_timer is None:
            self._stop_idle()
        return zygote

    def _end(self, known: EnvironmentIdentity) -> None:
        zygote = self._zygotes.pop(known)
        if not zygote.exited.is_set():
            self._leaving.add(zygote)
            zygote.end()

    def _mark_used(self, known: EnvironmentIdentity, zygote: Zygote, user_id: str) -> None:
        zygote.user_id = user_id
        self._zygotes.move_to_end(known)

    def _make_room(self, user_id: str) -> bool:
        """Make room for one more zygote that this user needs; return False if all zygotes are still starting.

        Evicted first are zygotes without calls, then those that this user was the last to use, then the least recently
        used.
        """
        if len(self._zygotes) < self._most:
            return True
        settled = [known for known, zygote in self._zygotes.items() if not zygote.is_starting]
        if not settled:
            return False
        self._end(min(settled, key=lambda known: self._eviction_order(self._zygotes[known], user_id)))
        return True

    @staticmethod
    def _eviction_order(zygote: Zygote, user_id: str) -> tuple[bool, bool]:
        return zygote.calls > 0, zygote.user_id != user_id

    def _stop_idle(self) -> None:
        oldest = time.monotonic() - self._idle_seconds
        for known, zygote in list(self._zygotes.items()):
            if zygote.is_ready and zygote.calls == 0 and zygote.used_at <= oldest:
                self._end(known)
        self._sweep_timer = None
        if self._zygotes and not self._closed:
            self._sweep_timer = asyncio.get_running_loop().call_later(self._idle_seconds / 4, self._stop_idle)
