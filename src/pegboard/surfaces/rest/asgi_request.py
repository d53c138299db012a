"""Parts that every HTTP request uses: request id, headers, query, body limits, disconnect detection."""

from __future__ import annotations

import asyncio
import difflib
import re
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping, MutableMapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException

from pegboard.model.api_errors import Fault, Invalid, Refusal, Unauthorised
from pegboard.model.call import Surface
from pegboard.model.call_errors import MalformedArguments, ToolError
from pegboard.model.ids import new_id
from pegboard.surfaces.rest.problem_json import (
    PROBLEM_MEDIA_TYPE,
    describe_refusal,
    describe_unexpected_error,
    encode_problem,
)
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]

T = TypeVar("T")
JSON_MEDIA_TYPE = b"application/json"
CUT_OFF_MESSAGE = "The board shut down before the call had ended; see the journal for its status"
# Requests that take longer than this are checked for a client disconnect.
DISCONNECT_CHECK_SECONDS = 0.05
# The longest pause within a request body.
BODY_TIMEOUT_SECONDS = 30
# The minimum average rate of a request body after that time.
MIN_BODY_BYTES_PER_SECOND = 16 * 1024
_TRUNCATED_MESSAGE = "The request ended before its body did"
# In the state of a request: its ClientConnection, if the server has one.
CONNECTION_KEY = "pegboard.connection"
# Set in the scope of a HEAD request.
HEAD_KEY = "pegboard.head"
# The number of digits of the largest Content-Length that the HTTP parser accepts, not counting leading zeros.
_MAX_LENGTH_DIGITS = 20
_REQUEST_ID_PATTERN = re.compile(rb"[A-Za-z0-9._:-]{1,128}")


class BodyTooSlow(HTTPException):
    """The request body did not arrive in time."""

    def __init__(self) -> None:
        super().__init__(
            408,
            f"The body arrived too slowly: nothing for {BODY_TIMEOUT_SECONDS} seconds, or less than "
            f"{MIN_BODY_BYTES_PER_SECOND:,} bytes per second",
        )


class BodyTooLarge(HTTPException):
    """The request body exceeds the size limit."""

    def __init__(self, limit: int) -> None:
        super().__init__(413, f"The body is larger than the {limit:,} bytes accepted here")


def choose_request_id(given: bytes | None) -> str:
    """Return the X-Request-Id of the client if it is valid, else a new id."""
    return given.decode() if given is not None and _REQUEST_ID_PATTERN.fullmatch(given) else new_id()


def parse_content_length(length: bytes) -> int:
    """Return Content-Length, or 0 if it is invalid (the body is also counted while it is read)."""
    digits = length.strip(b" \t")  # the parser accepts blanks after the value
    return int(digits[-_MAX_LENGTH_DIGITS:]) if digits.isdigit() else 0


async def read_body(receive: Receive, limit: int, length: int = 0) -> bytes:
    """Return the whole body; raise BodyTooLarge above the limit, MalformedArguments if it is truncated."""
    if length > limit:
        raise BodyTooLarge(limit)
    begun = asyncio.get_running_loop().time()
    message = await read_body_part(receive, begun, 0)
    body: bytes = message.get("body", b"")
    parts = [body]
    size = len(body)
    while message.get("more_body", False) and size <= limit:
        message = await read_body_part(receive, begun, size)
        part = message.get("body", b"")
        size += len(part)
        parts.append(part)
    if size > limit:
        raise BodyTooLarge(limit)
    if message["type"] == "http.disconnect":
        # A truncated body may still parse as a valid call, and must not be run.
        raise MalformedArguments(_TRUNCATED_MESSAGE)
    return body if len(parts) == 1 else b"".join(parts)


async def read_body_part(receive: Receive, begun: float, received: int) -> Message:
    """Receive the next part of a body that began at this loop time; raise BodyTooSlow if it does not arrive in time."""
    now = asyncio.get_running_loop().time()
    try:
        async with asyncio.timeout_at(min(now, begun + received / MIN_BODY_BYTES_PER_SECOND) + BODY_TIMEOUT_SECONDS):
            return await receive()
    except TimeoutError:
        raise BodyTooSlow from None


class HttpReply(NamedTuple):
    """A complete HTTP response."""

    status: int
    body: bytes
    media_type: bytes
    headers: list[tuple[bytes, bytes]]


async def send_response(
    send: Send, status: int, body: bytes, media_type: bytes, headers: list[tuple[bytes, bytes]]
) -> None:
    """Send a complete response as ASGI messages."""
    start = [(b"content-type", media_type), (b"content-length", b"%d" % len(body)), *headers]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": body})


def build_problem_reply(status: int, detail: str, request_id: str, **more: Any) -> HttpReply:
    """Return an error response of the API in problem+json."""
    headers = [(b"x-request-id", request_id.encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    elif status in (429, 503):
        headers.append((b"retry-after", b"1"))
    return HttpReply(
        status, encode_problem(status, detail, request_id=request_id, **more), PROBLEM_MEDIA_TYPE.encode(), headers
    )


def build_error_reply(error: Exception, request_id: str) -> HttpReply:
    """Return the response for an exception; log it if it is unexpected."""
    if isinstance(error, Refusal | ToolError):
        status, detail, errors = describe_refusal(error)
        return build_problem_reply(status, detail, request_id, errors=errors)
    if isinstance(error, HTTPException):
        return build_problem_reply(error.status_code, error.detail, request_id)
    log.error("request_broke", request_id=request_id, exc_info=error)
    return build_problem_reply(*describe_unexpected_error(error), request_id)


async def send_problem(send: Send, status: int, detail: str, request_id: str, **more: Any) -> None:
    """Send an error response of the API in problem+json."""
    await send_response(send, *build_problem_reply(status, detail, request_id, **more))


async def run_unless_disconnected(
    receive: Receive, work: Coroutine[Any, Any, T], connection: ClientConnection | None = None
) -> T | None:
    """Await `work` and return its result; cancel it and return None if the client disconnects first."""
    watch = _DisconnectWatch(receive) if connection is None else _ConnectionWatch(connection)
    try:
        return await work
    except asyncio.CancelledError:
        if watch.is_caller_disconnect():
            return None
        raise
    finally:
        watch.end()


class _DisconnectWatch:
    """Cancels the current task when the client disconnects; checks only after DISCONNECT_CHECK_SECONDS."""

    __slots__ = ("_is_disconnected", "_receive", "_task", "_timer", "_watch_task")

    def __init__(self, receive: Receive) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._receive = receive
        self._is_disconnected = False
        self._watch_task: asyncio.Task[None] | None = None
        self._timer = asyncio.get_running_loop().call_later(DISCONNECT_CHECK_SECONDS, self._begin)

    def is_caller_disconnect(self) -> bool:
        """Return True if the client disconnect is the only reason why this task was cancelled."""
        return self._is_disconnected and not self._task.uncancel()

    def end(self) -> None:
        """Stop watching."""
        self._timer.cancel()
        if self._watch_task is not None:
            self._watch_task.cancel()

    def _begin(self) -> None:
        self._watch_task = asyncio.create_task(self._look())

    async def _look(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._is_disconnected = True
        self._task.cancel()


class RequestLimitMiddleware:
    """Assigns request ids and rejects bodies that are too large, before FastAPI handles the request."""

    def __init__(self, app: ASGIApp, max_body: int, limits: Mapping[str, int] | None = None) -> None:
        self._app = app
        self._max_body = max_body
        # Body limits of the paths that have one of their own.
        self._limits = dict(limits or {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection; anything but HTTP is passed on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        request_id = choose_request_id(headers.get(b"x-request-id"))
        scope.setdefault("state", {})["request_id"] = request_id
        limit = self._limits.get(scope["path"].removeprefix(scope.get("root_path", "")), self._max_body)
        if parse_content_length(headers.get(b"content-length", b"")) > limit:
            await send_problem(send, 413, BodyTooLarge(limit).detail, request_id)
            return
        received = 0
        begun = asyncio.get_running_loop().time()
        whole = started = False
        if scope["method"] == "HEAD":
            # Load balancers send HEAD. It is handled as GET, and the HTTP server omits the body.
            scope = {**scope, "method": "GET", HEAD_KEY: True}

        async def receive_bounded() -> Message:
            nonlocal received, whole
            message = await (receive() if whole else read_body_part(receive, begun, received))
            whole = not message.get("more_body", False)
            received += len(message.get("body", b""))
            if received > limit:
                raise BodyTooLarge(limit)
            return message

        async def send_with_start(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", request_id.encode())]
            await send(message)

        try:
            await self._app(scope, receive_bounded, send_with_start)
        except asyncio.CancelledError:
            if not started:
                await send_problem(send, 503, CUT_OFF_MESSAGE, request_id)
            raise


# Common names in other APIs for our query parameters.
_PARAMETER_ALIASES = {"format": "as", "dialect": "as", "style": "as", "thread_id": "thread", "page_size": "limit"}


class ClientConnection(Protocol):
    """The state of a request's connection, available without waiting for ASGI messages and without timers."""

    @property
    def has_whole_body(self) -> bool:
        """True if the whole request body was received."""
        ...

    def watch(self, on_lost: Callable[[], object] | None) -> None:
        """Call `on_lost` when the client disconnects; None ends this."""


class _ConnectionWatch:
    """Cancels the current task when the client disconnects, which its connection reports."""

    __slots__ = ("_connection", "_is_disconnected", "_is_over", "_task")

    def __init__(self, connection: ClientConnection) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._connection = connection
        self._is_disconnected = self._is_over = False
        connection.watch(self._cancel)

    def is_caller_disconnect(self) -> bool:
        """Return True if the client disconnect is the only reason why this task was cancelled."""
        return self._is_disconnected and not self._task.uncancel()

    def end(self) -> None:
        """Stop watching."""
        self._is_over = True
        self._connection.watch(None)

    def _cancel(self) -> None:
        if not self._is_over:
            self._is_disconnected = True
            self._task.cancel()


class AsgiRequest:
    """A call request that is read from ASGI messages."""

    __slots__ = ("_connection", "_receive", "headers", "query", "request_id", "scheme")

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.headers: Sequence[tuple[bytes, bytes]] = scope["headers"]
        self.query: bytes = scope["query_string"]
        self.scheme: str = scope.get("scheme", "http")
        # Set by the route as soon as it is determined; every later response carries it.
        self.request_id: str | None = None
        self._receive = receive
        self._connection: ClientConnection | None = scope.get("state", {}).get(CONNECTION_KEY)

    async def body(self, limit: int, length: int) -> bytes:
        """Return the whole body; `length` is Content-Length. Raise if the body is too large, too slow or truncated."""
        if length <= limit and self._connection is not None and self._connection.has_whole_body:
            message = await self._receive()  # needs no deadline, and has exactly this length
            if message["type"] == "http.request" and not message["more_body"]:
                return bytes(message["body"])
            raise MalformedArguments(_TRUNCATED_MESSAGE)
        return await read_body(self._receive, limit, length)

    async def run_unless_disconnected(self, work: Coroutine[Any, Any, T]) -> T | None:
        """Await `work` and return its result, or None if the client disconnects first."""
        return await run_unless_disconnected(self._receive, work, self._connection)


class RequestHeaders(NamedTuple):
    """The request headers that the call routes use."""

    authorization: bytes | None
    length: int
    request_id: str | None
    key: str | None
    surface: Surface
    is_text: bool
    media_type: bytes | None

    @classmethod
    def of(cls, headers: Iterable[tuple[bytes, bytes]]) -> RequestHeaders:
        """Parse these headers."""
        authorization = request_id = key = media_type = None
        length = 0
        surface: Surface = "rest"
        for header, value in headers:
            if header == b"authorization":
                # Reject several Authorization headers: a proxy in front could use a different one.
                authorization = value if authorization is None else b""
            elif header == b"content-length":
                length = parse_content_length(value)
            elif header == b"content-type" and media_type is None:
                media_type = value
            elif header == b"x-request-id":
                request_id = choose_request_id(value)
            elif header == b"idempotency-key":
                key = value.decode("latin-1") if key is None else ""
            elif header == b"x-pegboard-surface" and value == b"cli":
                surface = "cli"
        is_text = media_type not in (None, JSON_MEDIA_TYPE) and is_text_media_type(media_type.decode("latin-1"))
        return cls(authorization, length, request_id, key, surface, is_text, media_type)

    def refuse_forms(self) -> None:
        """Raise HTTPException 400 if the body is a multipart form."""
        if self.media_type not in (None, JSON_MEDIA_TYPE):
            refuse_forms(self.media_type.decode("latin-1"))


def is_text_media_type(media_type: str) -> bool:
    """Return True if a body of this media type is plain text or JSON Lines, not one JSON document."""
    media = media_type.partition(";")[0].strip().lower()
    return media.startswith("text/") or media in ("application/x-ndjson", "application/jsonl")


def read_query(request: AsgiRequest, known: Collection[str]) -> dict[str, str]:
    """Return the query parameters of a request; raise Invalid if one is unknown."""
    if not request.query:
        return {}
    query = dict(parse_qsl(request.query.decode("latin-1"), keep_blank_values=True))
    check_query(query, known)
    return query


def read_bearer_key(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the key in the headers of a request; raise Unauthorised if there is none."""
    sent = [value for name, value in headers if name == b"authorization"]
    # If there are several, a proxy in front could use a different one.
    return parse_bearer_key(None if not sent else sent[0] if len(sent) == 1 else b"")


def parse_bearer_key(authorization: bytes | None) -> str:
    """Return the key of an Authorization header; raise Unauthorised if there is none or it is not a bearer key."""
    if authorization is None:
        raise Unauthorised("A key is needed; send it as 'Authorization: Bearer KEY'")
    if authorization[:7].lower() != b"bearer ":
        raise Unauthorised("There must be one Authorization header, and it must read 'Bearer KEY'")
    return authorization[7:].strip().decode("latin-1")


def check_query(names: Iterable[str], known: Collection[str]) -> None:
    """Raise Invalid, with the closest known name, if a query parameter is unknown."""
    unknown = [name for name in names if name not in known]
    if unknown:
        faults = [Fault(name[:64], _suggest_parameter(name, known)) for name in unknown[:20]]
        raise Invalid.of("The query is not valid", faults)


def refuse_forms(media_type: str) -> None:
    """Raise HTTPException 400 if the body is a multipart form: no route accepts one."""
    media = media_type.partition(";")[0].strip().lower()
    if media.startswith("multipart/"):
        raise HTTPException(400, f"The body is {media[:100]}; send JSON, with 'Content-Type: application/json'")


def _suggest_parameter(name: str, known: Collection[str]) -> str:
    other = _PARAMETER_ALIASES.get(name.lower())
    near = [other] if other in known else difflib.get_close_matches(name[:64], known, 1)
    if near:
        return f"unknown query parameter; did you mean '{near[0]}'?"
    return f"unknown query parameter; known: {', '.join(known)}" if known else "this route has no query parameters"
