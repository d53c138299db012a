"""How every surface runs calls: authenticate, read, check the thread, run, remember, render.

A surface reads its request, calls these methods in this order and writes the answer:

    authenticate   an API key                        → Caller
    read           a payload in any dialect          → CallPayload; its thread exists and is the caller's
    run            the calls of a payload            → HandledPayload, remembered in the thread
      or follow    the same in a task of its own     → FollowedRun, whose events clients read
    render         HandledPayload                    → the answer in a dialect

`call` runs one call of a tool by name, and `run_chain` a chain. From here, dialect_calls.py and then pipeline.py.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar, overload

from pegboard.conversations.conversations import Conversations
from pegboard.dialect_calls import AnsweredCalls, PayloadRunner
from pegboard.dialects.parsed_calls import ParsedCalls
from pegboard.kinds.chain.outcome import ChainOutcome
from pegboard.kinds.chain.run_chain import ChainRequest, ChainRunner
from pegboard.model.api_errors import Refusal
from pegboard.model.call import Caller, CallRequest, ToolCall, ToolResult
from pegboard.model.chain import Chain
from pegboard.model.idempotency_key import check_idempotency_key
from pegboard.pipeline import Pipeline
from pegboard.registry.snapshot import Snapshot
from pegboard.runs.followed_runs import FollowedRun, FollowedRuns
from pegboard.stages.large_reads import LARGE_BYTES

T = TypeVar("T")


class DisconnectWatch(Protocol):
    """Awaits work for a client; cancels it and returns None if the client disconnects first."""

    def __call__(self, work: Coroutine[Any, Any, T], /) -> Coroutine[Any, Any, T | None]:
        """Return the result of `work`, or None."""


class CallPayload(NamedTuple):
    """A payload that was read: its request, its calls, the model's text, and the dialect of the answer."""

    request: CallRequest
    asked: ParsedCalls
    text: str | None = None
    shape: str | None = None


class HandledPayload(NamedTuple):
    """A payload whose calls have ended; `thread_error` is why they were not stored in the thread."""

    answered: AnsweredCalls
    shape: str | None
    thread_error: Refusal | None = None

    @property
    def results(self) -> list[ToolResult]:
        """The results in the order of the calls."""
        return [answer.result for answer in self.answered.answers]


@dataclass(eq=False)
class CallHandler:
    """Handles requests to run calls, for all surfaces."""

    snapshot: Snapshot
    pipeline: Pipeline
    payloads: PayloadRunner
    threads: Conversations
    following: FollowedRuns
    chains: ChainRunner

    def authenticate(self, key: str) -> Caller:
        """Return the holder of an API key; raise Unauthorised if it is not valid."""
        return self.snapshot.keys.holder(key)

    def authenticate_session(self, token: str, *, is_use: bool = True) -> Caller:
        """Return the caller of a session of the web console; raise Unauthorised if it is over."""
        return self.snapshot.keys.session_holder(token, is_use=is_use)

    async def read(
        self,
        raw: Any,
        request: CallRequest,
        *,
        dialect: str | None = None,
        shape: str | None = None,
        size: int = 0,
        with_text: bool = False,
    ) -> CallPayload:
        """Return the calls of a payload in the named or detected dialect, and the model's text if it is needed.

        A payload of a large `size` in bytes is parsed in an OS thread. Raises a Refusal if no dialect fits, if `shape`
        is not a dialect, or if the thread is not the caller's.
        """
        needs_text = with_text or request.thread_id is not None

        def parse() -> tuple[ParsedCalls, str | None]:
            asked = self.payloads.read(raw, dialect, request.caller)
            return asked, self.payloads.dialects.turn_reader.read_assistant_text(raw) if needs_text else None

        asked, text = (
            parse() if size <= LARGE_BYTES else await self.payloads.large_reads.run(parse, size, request.caller)
        )
        if shape is not None:
            self.payloads.dialects.named(shape, "as")
        if request.thread_id is not None:
            await self.threads.get(request.thread_id, request.caller)
        return CallPayload(request, asked, text, shape)

    @overload
    async def run(self, payload: CallPayload) -> HandledPayload: ...
    @overload
    async def run(self, payload: CallPayload, watch: DisconnectWatch) -> HandledPayload | None: ...
    async def run(self, payload: CallPayload, watch: DisconnectWatch | None = None) -> HandledPayload | None:
        """Run the calls of a payload and store them in its thread; return None if the client has disconnected.

        With `watch`, a disconnect cancels the calls, unless the request has an idempotency key: the client may request
        their results again. For the same reason, such a client's calls are not stored in the thread if none of them
        could run.
        """
        request = payload.request
        running = self.payloads.run(payload.asked, request)
        answered = await (running if watch is None or request.key else watch(running))
        if answered is None:
            return None
        handled = HandledPayload(answered, payload.shape)
        if request.thread_id is None or (watch is not None and is_unavailable(handled.results)):
            return handled
        return handled._replace(thread_error=await self._remember(payload, answered))

    def follow(self, payload: CallPayload) -> FollowedRun:
        """Run a payload in a task of its own; raise Unavailable if its user follows too many."""
        return self.following.start(payload.asked, payload.request, partial(self._complete, payload))

    def render(self, handled: HandledPayload) -> Any:
        """Return the results in the dialect that was asked for, or in the payload's own."""
        return self.payloads.render(handled.answered, handled.shape)

    @overload
    def call(
        self, call: ToolCall, caller: Caller, watch: None = None, run_id: str | None = None
    ) -> Coroutine[Any, Any, ToolResult]: ...
    @overload
    def call(
        self, call: ToolCall, caller: Caller, watch: DisconnectWatch | None, run_id: str | None = None
    ) -> Coroutine[Any, Any, ToolResult | None]: ...
    def call(
        self, call: ToolCall, caller: Caller, watch: DisconnectWatch | None = None, run_id: str | None = None
    ) -> Coroutine[Any, Any, ToolResult | None]:
        """Run one call and return its result, or None if the client has disconnected and the call was cancelled.

        `run_id` is the id of the call if it is given, for `cancel`. With `watch`, a disconnect cancels the call, unless
        it has an idempotency key, because its result can be requested again, or the tool's `on_disconnect` is `detach`.
        Raises Invalid if the key is not valid.
        """
        if call.key is not None:
            check_idempotency_key(call.key)
        running = self.pipeline.run(call, caller, run_id=run_id)
        if watch is None or call.key is not None:
            return running
        compiled = self.snapshot.find(call.name)
        # Tools of instant kinds never wait, so watching for a disconnect is not worth its cost.
        if compiled is None or compiled.kind.is_instant or compiled.tool.on_disconnect == "detach":
            return running
        return watch(running)

    def cancel(self, run_id: str, why: str) -> bool:
        """Cancel a running call of this process with `why` as the recorded reason; return False if it is over."""
        return self.pipeline.cancel(run_id, why)

    async def run_chain(
        self,
        chain: Chain,
        given: Mapping[str, Any],
        request: CallRequest,
        watch: DisconnectWatch | None = None,
        *,
        schema: Mapping[str, Any] | None = None,
        size: int = 0,
    ) -> ChainOutcome | None:
        """Run a chain and return its outcome; return None if the client has disconnected, which cancels its calls.

        With a `schema`, the input is checked against it first, in an OS thread if the request is large. Calls with an
        idempotency key are not cancelled.
        """
        check_idempotency_key(request.key)
        if schema is not None:
            check = partial(self.chains.read_input, schema, given)
            given = await self.payloads.large_reads.run(check, size, request.caller)
        running = self.chains.run(chain, given, ChainRequest.of(request))
        return await (running if watch is None or request.key else watch(running))

    async def _complete(self, payload: CallPayload, answered: AnsweredCalls) -> dict[str, Any]:
        """Store followed calls in their thread and return the fields of the event `complete`."""
        fields: dict[str, Any] = {"text": payload.text} if payload.text else {}
        if payload.request.thread_id is not None:
            error = await self._remember(payload, answered)
            fields |= {"thread_id": payload.request.thread_id} if error is None else {"thread_error": error.message}
        if payload.shape is not None:
            fields["answer"] = self.payloads.render(answered, payload.shape)
        return fields

    async def _remember(self, payload: CallPayload, answered: AnsweredCalls) -> Refusal | None:
        """Store the calls and the model's text in the thread; return the error, because the calls have run anyway."""
        request = payload.request
        assert request.thread_id is not None
        try:
            await self.threads.remember(request.thread_id, request.caller, answered, payload.text)
        except Refusal as error:
            return error
        return None


def is_unavailable(results: Sequence[ToolResult]) -> bool:
    """True if there are results, and the board could run or record none of these calls."""
    return bool(results) and all(result.is_unavailable for result in results)
