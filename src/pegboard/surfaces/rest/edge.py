"""What every request passes: a request id, and a bound on its body."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping, MutableMapping
from typing import Any, NamedTuple, TypeVar

from starlette.exceptions import HTTPException

from pegboard.core.errors import MalformedArguments, ToolError
from pegboard.core.ids import new_id
from pegboard.core.refusals import Refusal
from pegboard.surfaces.rest.problems import MEDIA_TYPE, problem, refusal_of, status_of, trouble_of
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]

T = TypeVar("T")
JSON = b"application/json"
CUT_OFF = "The board shut down before the call had ended; the journal says how far it came"
# After how long it is looked whether a caller still waits.
LOOK_SECONDS = 0.05
# How long a caller may pause within a body.
BODY_SECONDS = 30
# Bytes per second that a body must come at, on average, after that time.
BODY_RATE = 16 * 1024
# In the scope of a request that only asks for the head of an answer.
HEAD = "pegboard.head"
# What the longest length has that the server's parser takes, but for zeros in front, of which it takes any number.
_DIGITS = 20
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:-]{1,128}")


class BodyTooSlow(HTTPException):
    """The request's body stopped coming."""

    def __init__(self) -> None:
        super().__init__(
            408, f"Nothing more of the body came for {BODY_SECONDS} seconds, or less than {BODY_RATE:,} bytes a second"
        )


class BodyTooLarge(HTTPException):
    """The request's body is larger than the board accepts."""

    def __init__(self, limit: int) -> None:
        super().__init__(413, f"The body is larger than the {limit:,} bytes accepted here")


def request_id_of(given: bytes | None) -> str:
    """The caller's own request id where it is fit to be repeated, else a new one."""
    return given.decode() if given is not None and _REQUEST_ID.fullmatch(given) else new_id()


def announced(length: bytes) -> int:
    """How long a body is said to be; 0 where it cannot be told, since it is counted as it comes all the same."""
    return int(length[-_DIGITS:]) if length.isdigit() else 0


async def read_body(receive: Receive, limit: int, length: int = 0) -> bytes:
    """The whole body; raises BodyTooLarge as soon as it is, MalformedArguments where the caller left in between."""
    if length > limit:
        raise BodyTooLarge(limit)
    begun = asyncio.get_running_loop().time()
    message = await next_part(receive, begun, 0)
    body: bytes = message.get("body", b"")
    parts = [body]
    size = len(body)
    while message.get("more_body", False) and size <= limit:
        message = await next_part(receive, begun, size)
        part = message.get("body", b"")
        size += len(part)
        parts.append(part)
    if size > limit:
        raise BodyTooLarge(limit)
    if message["type"] == "http.disconnect":
        # What came so far may read like a whole call, and must not be run as one.
        raise MalformedArguments("The request ended before its body did")
    return body if len(parts) == 1 else b"".join(parts)


async def next_part(receive: Receive, begun: float, received: int) -> Message:
    """The next part of a body that began at this time of the loop; raises BodyTooSlow."""
    now = asyncio.get_running_loop().time()
    try:
        async with asyncio.timeout_at(min(now, begun + received / BODY_RATE) + BODY_SECONDS):
            return await receive()
    except TimeoutError:
        raise BodyTooSlow from None


class Reply(NamedTuple):
    """A whole answer."""

    status: int
    body: bytes
    media_type: bytes
    headers: list[tuple[bytes, bytes]]


async def respond(send: Send, status: int, body: bytes, media_type: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    """Send a whole answer."""
    start = [(b"content-type", media_type), (b"content-length", b"%d" % len(body)), *headers]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": body})


def refusing(status: int, detail: str, request_id: str, **more: Any) -> Reply:
    """An error of the API itself."""
    headers = [(b"x-request-id", request_id.encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    elif status in (429, 503):
        headers.append((b"retry-after", b"1"))
    return Reply(status, problem(status, detail, request_id=request_id, **more), MEDIA_TYPE.encode(), headers)


def reply_to(error: Exception, request_id: str) -> Reply:
    """The answer to a request that this went wrong with; what nobody foresaw is in the log."""
    if isinstance(error, Refusal):
        status, detail, errors = refusal_of(error)
        return refusing(status, detail, request_id, errors=errors)
    if isinstance(error, HTTPException):
        return refusing(error.status_code, error.detail, request_id)
    if isinstance(error, MalformedArguments):
        return refusing(400, error.message, request_id)
    if isinstance(error, ToolError):
        return refusing(status_of(error), error.message, request_id)
    log.error("request_broke", request_id=request_id, exc_info=error)
    return refusing(*trouble_of(error), request_id)


async def respond_problem(send: Send, status: int, detail: str, request_id: str, **more: Any) -> None:
    """Send an error of the API itself."""
    await respond(send, *refusing(status, detail, request_id, **more))


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, T]) -> T | None:
    """What `work` gives, or None if the caller went away first, for whom it was then cancelled."""
    watch = _Watch(receive)
    try:
        return await work
    except asyncio.CancelledError:
        if watch.is_theirs():
            return None
        raise
    finally:
        watch.end()


class _Watch:
    """Cancels this task once its caller is gone; what is over in a moment costs nobody a look."""

    __slots__ = ("_is_gone", "_looking", "_receive", "_task", "_timer")

    def __init__(self, receive: Receive) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._receive = receive
        self._is_gone = False
        self._looking: asyncio.Task[None] | None = None
        self._timer = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._begin)

    def is_theirs(self) -> bool:
        """Whether the caller's going is all that cancelled this task."""
        return self._is_gone and not self._task.uncancel()

    def end(self) -> None:
        """Look no longer."""
        self._timer.cancel()
        if self._looking is not None:
            self._looking.cancel()

    def _begin(self) -> None:
        self._looking = asyncio.create_task(self._look())

    async def _look(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._is_gone = True
        self._task.cancel()


class Edge:
    """Gives requests their id and stops bodies that are too large, before the framework sees them."""

    def __init__(self, app: ASGIApp, max_body: int, larger: Mapping[str, int] | None = None) -> None:
        self._app = app
        self._max_body = max_body
        # Paths that take larger bodies than the others.
        self._larger = dict(larger or {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        request_id = request_id_of(headers.get(b"x-request-id"))
        scope.setdefault("state", {})["request_id"] = request_id
        limit = self._larger.get(scope["path"].removeprefix(scope.get("root_path", "")), self._max_body)
        if announced(headers.get(b"content-length", b"")) > limit:
            await respond_problem(send, 413, BodyTooLarge(limit).detail, request_id)
            return
        received = 0
        begun = asyncio.get_running_loop().time()
        whole = started = False
        if scope["method"] == "HEAD":
            # Load balancers probe with it. It is GET, and the server leaves the body out.
            scope = {**scope, "method": "GET", HEAD: True}

        async def bounded() -> Message:
            nonlocal received, whole
            message = await (receive() if whole else next_part(receive, begun, received))
            whole = not message.get("more_body", False)
            received += len(message.get("body", b""))
            if received > limit:
                raise BodyTooLarge(limit)
            return message

        async def stamped(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", request_id.encode())]
            await send(message)

        try:
            await self._app(scope, bounded, stamped)
        except asyncio.CancelledError:
            if not started:
                await respond_problem(send, 503, CUT_OFF, request_id)
            raise
