"""Idempotency keys: a call is made once, however often it is asked for."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import orjson

from pegboard.core.call import ReadyCall, ToolResult
from pegboard.core.errors import AnswerNotKept, IdempotencyConflict, InDoubt, SecretUnreadable, TimedOut
from pegboard.journal.answers import Answer
from pegboard.journal.base import Earlier
from pegboard.journal.entries import Claim, Held
from pegboard.store.keyring import KeyringError
from pegboard.store.vault import Vault
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

KEPT_FOR = timedelta(hours=24)
MAX_ANSWER_BYTES = 256 * 1024
# How often a call that another process runs is asked after.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 0.5


class Claims:
    """Who runs the call of a key: the first that asks; all others get what it was answered."""

    def __init__(self, vault: Vault, *, kept_for: timedelta = KEPT_FOR, max_bytes: int = MAX_ANSWER_BYTES) -> None:
        self._vault = vault
        self._name_key = vault.derive("idempotency keys")
        self._kept_for = kept_for
        self._max_bytes = max_bytes
        self._running: dict[str, asyncio.Future[None]] = {}

    async def take(self, ready: ReadyCall, opened: Callable[[Claim], Awaitable[Held | None]]) -> Earlier | None:
        """None where this call is the one to run; else the earlier one, waited for while it runs."""
        name = self._name(ready)
        pause = _FIRST_PAUSE
        while True:
            first = self._running.get(name)
            if first is not None:
                await _ended(first, ready)
                continue
            self._running[name] = asyncio.get_running_loop().create_future()
            is_ours = False
            try:
                held = await opened(Claim(name, ready.digest, _text(datetime.now(UTC) + self._kept_for)))
                is_ours = held is not None and held.id == ready.run_id
            finally:
                if not is_ours:
                    self.release(name)
            if is_ours:
                return None
            earlier = self._judged(held, ready) if held is not None else None
            if earlier is not None:
                return earlier
            if time.monotonic() + pause >= ready.deadline:
                raise _still_running()
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def release(self, name: str) -> None:
        """Let those that wait for this call ask what came of it."""
        ended = self._running.pop(name, None)
        if ended is not None and not ended.done():
            ended.set_result(None)

    def sealed(self, result: ToolResult, run_id: str) -> str | None:
        """The answer as it is kept, or None where it is too large."""
        return self.seal(Answer.of(result).packed(), run_id)

    def seal(self, packed: bytes, run_id: str) -> str | None:
        """The same for an answer that is packed already."""
        if len(packed) > self._max_bytes:
            return None
        try:
            return self._vault.seal(packed.decode(), run_id)
        except KeyringError:
            log.exception("answer_not_kept", run_id=run_id)
            return None

    def _judged(self, held: Held, ready: ReadyCall) -> Earlier | None:
        """What the holder of the key means for this call; None while it still runs."""
        if not held.is_genuine:
            raise InDoubt(
                "The record of the first call with this idempotency key was changed in the database, so its answer is "
                f"not given and the call not run; look at execution {held.id}, and use a new key to run it again"
            )
        if held.digest != ready.digest:
            raise IdempotencyConflict(
                f"This idempotency key was used for '{ready.tool.name}' with other arguments; "
                "send the same arguments again, or a new key for a new call"
            )
        if held.state == "in_doubt":
            raise InDoubt(
                "The first call with this idempotency key was interrupted, and whether it took effect is not known; "
                f"look at execution {held.id}, and use a new key to run it again"
            )
        if held.state == "open":
            return None
        return Earlier(held.id, self._opened(held))

    def _opened(self, held: Held) -> Answer:
        if held.answer is not None:
            try:
                return Answer.unpacked(self._vault.open(held.answer, held.id).encode())
            except SecretUnreadable:
                log.exception("answer_unreadable", run_id=held.id)
        raise AnswerNotKept(
            f"The call with this idempotency key has run, but its answer was not kept (over {self._max_bytes:,} bytes, "
            f"or no longer readable); execution {held.id} says how it ended. Use a new key to run it again"
        )

    def _name(self, ready: ReadyCall) -> str:
        parts = orjson.dumps((ready.caller.user_id, ready.tool.id, ready.key))
        return hashlib.blake2b(parts, key=self._name_key, digest_size=32).hexdigest()


async def _ended(first: asyncio.Future[None], ready: ReadyCall) -> None:
    left = ready.deadline - time.monotonic()
    done, _ = await asyncio.wait([first], timeout=max(0.0, left))
    if not done:
        raise _still_running()


def _still_running() -> TimedOut:
    return TimedOut("The first call with this idempotency key is still running; ask again with the same key")


def _text(moment: datetime) -> str:
    return moment.isoformat(" ", "microseconds")[:26]
