"""Calls in any dialect, run and answered at once."""

from __future__ import annotations

from typing import Any

from starlette.exceptions import HTTPException

from pegboard.core.call import Caller
from pegboard.core.errors import MalformedArguments
from pegboard.core.ids import new_id
from pegboard.core.refusals import Refusal
from pegboard.dialects.asked import Asked as Payload
from pegboard.dialects.reading import check_keys
from pegboard.dialects.saying import said
from pegboard.memory.threads import Threads
from pegboard.payloads import Answered, Payloads
from pegboard.registry.arguments import parse_json
from pegboard.stages.large_reads import LARGE
from pegboard.store.types import json_text
from pegboard.surfaces.rest.edge import JSON, Reply
from pegboard.surfaces.rest.incoming import Asked, Request, bearer_key, query_of
from pegboard.surfaces.rest.json_bodies import JsonBodies
from pegboard.surfaces.rest.problems import UNAVAILABLE

_TEXT = b"text/plain; charset=utf-8"
Headers = list[tuple[bytes, bytes]]


class PayloadRoute:
    """Runs the calls of a payload and answers all of them in one body."""

    def __init__(self, *, payloads: Payloads, threads: Threads, bodies: JsonBodies, max_body: int) -> None:
        self._payloads = payloads
        self._threads = threads
        self._bodies = bodies
        self._max_body = max_body

    async def reply(self, request: Request) -> Reply | None:
        """The answers to the calls of a payload, or None if nobody waits for them any more."""
        asked = Asked.of(request.headers)
        request.request_id = request_id = asked.request_id or new_id()
        caller = self._payloads.snapshot.holder(bearer_key(asked.authorization))
        query = query_of(request, ("as", "from", "thread"))
        asked.refuse_forms()
        body = await request.body(self._max_body, asked.length)
        raw = await read_payload(self._bodies, body, is_text=asked.is_text)
        shape, thread = query.get("as"), query.get("thread")

        def read() -> tuple[Payload, str | None]:
            return self._payloads.read(raw, query.get("from"), caller), said(raw) if thread is not None else None

        payload, text = read() if len(body) <= LARGE else await self._payloads.large_reads.run(read, len(body), caller)
        if shape is not None:
            self._payloads.dialects.named(shape, "as")
        if thread is not None:
            await self._threads.get(thread, caller)
        running = self._payloads.run(
            payload, caller, surface=asked.surface, request_id=request_id, key=asked.key, thread_id=thread
        )
        # Calls with a key go on without their caller, who may ask again for what came of them.
        answered = await (running if asked.key else request.unless_gone(running))
        if answered is None:
            return None
        status, headers = 200, [(b"x-request-id", request_id.encode()), (b"x-dialect", payload.dialect.encode())]
        results = [answer.result for answer in answered.answers]
        if any(result.repeat_of for result in results):
            headers.append((b"idempotent-replayed", b"true"))
        if results and all(result.problem is not None and result.problem.code in UNAVAILABLE for result in results):
            status = 503
            headers.append((b"retry-after", b"1"))
        elif thread is not None:
            headers += await self._remembered(thread, caller, answered, text)
        rendered = self._payloads.render(answered, shape)
        if isinstance(rendered, str) and asked.is_text:
            return Reply(status, rendered.encode(), _TEXT, headers)
        return Reply(status, json_text(rendered).encode(), JSON, headers)

    async def _remembered(self, thread: str, caller: Caller, answered: Answered, text: str | None) -> Headers:
        """Add the calls and the model's text to the thread. If that fails, a header says why: the calls have run."""
        try:
            await self._threads.remember(thread, caller, answered, text)
        except Refusal as error:
            told = "".join(letter if letter.isprintable() else " " for letter in error.message)
            return [(b"x-thread-error", told.encode("ascii", "replace"))]
        return []


async def read_payload(bodies: JsonBodies, body: bytes, *, is_text: bool) -> Any:
    """The body as JSON, or as the text that it says it is; a key that is there twice is refused."""
    if not is_text:
        return await bodies.parse(body, _parse)
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise HTTPException(400, f"The text is not UTF-8: byte {error.start + 1}") from None


def _parse(body: bytes) -> Any:
    try:
        payload = parse_json(body)
        check_keys(body, payload)
    except MalformedArguments as error:
        raise HTTPException(400, error.message) from None
    return payload
