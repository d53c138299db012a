"""Idempotency keys: a call with a key runs once, and repeats get the recorded answer."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import orjson

from pegboard.journal.entries import Claim, ClaimHolder
from pegboard.journal.journal import EarlierCall, StoredAnswer
from pegboard.model.call import ReadyCall, ToolResult
from pegboard.model.call_errors import AnswerNotKept, IdempotencyConflict, InDoubt, SecretUnreadable, TimedOut
from pegboard.model.journal_row import format_moment
from pegboard.storage.keyring import KeyringError
from pegboard.storage.vault import Vault
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

ANSWER_LIFETIME = timedelta(hours=24)
MAX_ANSWER_BYTES = 256 * 1024
# How often a call that runs in another process is polled.
_MIN_POLL_SECONDS, _MAX_POLL_SECONDS = 0.02, 0.5


class IdempotencyClaims:
    """Assigns each idempotency key to the first call that uses it; the other calls get the answer of the first."""

    def __init__(
        self, vault: Vault, *, kept_for: timedelta = ANSWER_LIFETIME, max_bytes: int = MAX_ANSWER_BYTES
    ) -> None:
        self._vault = vault
        self._name_key = vault.derive("idempotency keys")
        self._answer_lifetime = kept_for
        self._max_bytes = max_bytes
        self._running: dict[str, asyncio.Future[None]] = {}

    async def take(
        self, ready: ReadyCall, opened: Callable[[Claim], Awaitable[ClaimHolder | None]]
    ) -> EarlierCall | None:
        """Return None if this call is the one to run; otherwise wait for the earlier call and return it."""
        name = self._name(ready)
        pause = _MIN_POLL_SECONDS
        while True:
            first = self._running.get(name)
            if first is not None:
                await _wait_for_first_call(first, ready)
                continue
            self._running[name] = asyncio.get_running_loop().create_future()
            is_ours = False
            try:
                held = await opened(Claim(name, ready.digest, format_moment(datetime.now(UTC) + self._answer_lifetime)))
                is_ours = held is not None and held.id == ready.run_id
            finally:
                if not is_ours:
                    self.release(name)
            if is_ours:
                return None
            earlier = self._resolve_holder(held, ready) if held is not None else None
            if earlier is not None:
                return earlier
            if time.monotonic() + pause >= ready.deadline:
                raise _build_still_running_error()
            await asyncio.sleep(pause)
            pause = min(2 * pause, _MAX_POLL_SECONDS)

    def release(self, name: str) -> None:
        """Wake up the calls that wait for this one."""
        ended = self._running.pop(name, None)
        if ended is not None and not ended.done():
            ended.set_result(None)

    def encrypt_answer(self, result: ToolResult, run_id: str) -> str | None:
        """Return the encrypted answer, or None if it is too large."""
        return self.seal(StoredAnswer.of(result).encode(), run_id)

    def seal(self, packed: bytes, run_id: str) -> str | None:
        """Return an already packed answer encrypted, or None if it is too large or there is no usable key."""
        if len(packed) > self._max_bytes:
            return None
        try:
            return self._vault.seal(packed.decode(), run_id)
        except KeyringError:
            log.exception("answer_not_kept", run_id=run_id)
            return None

    def _resolve_holder(self, held: ClaimHolder, ready: ReadyCall) -> EarlierCall | None:
        """Return the earlier call that holds the key, or None while it still runs; raise if the key cannot be used."""
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
        return EarlierCall(held.id, self._decrypt_answer(held))

    def _decrypt_answer(self, held: ClaimHolder) -> StoredAnswer:
        if held.answer is not None:
            try:
                return StoredAnswer.unpack(self._vault.open(held.answer, held.id).encode())
            except SecretUnreadable:
                log.exception("answer_unreadable", run_id=held.id)
        raise AnswerNotKept(
            f"The call with this idempotency key has run, but its answer was not kept (over {self._max_bytes:,} bytes, "
            f"or no longer readable); execution {held.id} says how it ended. Use a new key to run it again"
        )

    def _name(self, ready: ReadyCall) -> str:
        parts = orjson.dumps((ready.caller.user_id, ready.tool.id, ready.key))
        return hashlib.blake2b(parts, key=self._name_key, digest_size=32).hexdigest()


async def _wait_for_first_call(first: asyncio.Future[None], ready: ReadyCall) -> None:
    left = ready.deadline - time.monotonic()
    done, _ = await asyncio.wait([first], timeout=max(0.0, left))
    if not done:
        raise _build_still_running_error()


def _build_still_running_error() -> TimedOut:
    return TimedOut("The first call with this idempotency key is still running; ask again with the same key")
