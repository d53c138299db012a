"""What every request passes: a request id, and a bound on its body."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from pegboard.core.ids import new_id
from pegboard.surfaces.rest.problems import MEDIA_TYPE, problem

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:-]{1,128}")


class BodyTooLarge(Exception):
    """The request's body is larger than the board accepts."""


def request_id_of(given: bytes | None) -> str:
    """The caller's own request id where it is fit to be repeated, else a new one."""
    return given.decode() if given is not None and _REQUEST_ID.fullmatch(given) else new_id()


async def read_body(receive: Receive, limit: int) -> bytes:
    """The whole body; raises BodyTooLarge as soon as it is."""
    message = await receive()
    body: bytes = message.get("body", b"")
    if not message.get("more_body", False):
        if len(body) > limit:
            raise BodyTooLarge
        return body
    parts = [body]
    size = len(body)
    while message.get("more_body", False):
        message = await receive()
        part = message.get("body", b"")
        size += len(part)
        if size > limit:
            raise BodyTooLarge
        parts.append(part)
    return b"".join(parts)


async def respond(send: Send, status: int, body: bytes, media_type: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    """Send a whole answer."""
    start = [(b"content-type", media_type), (b"content-length", b"%d" % len(body)), *headers]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": body})


async def respond_problem(send: Send, status: int, detail: str, request_id: str, **more: Any) -> None:
    """Send an error of the API itself."""
    headers = [(b"x-request-id", request_id.encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await respond(send, status, problem(status, detail, request_id=request_id, **more), MEDIA_TYPE.encode(), headers)


class Edge:
    """Gives requests their id and stops bodies that are too large, before the framework sees them."""

    def __init__(self, app: ASGIApp, max_body: int) -> None:
        self._app = app
        self._max_body = max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        request_id = request_id_of(headers.get(b"x-request-id"))
        scope.setdefault("state", {})["request_id"] = request_id
        length = headers.get(b"content-length", b"")
        if length.isdigit() and int(length) > self._max_body:
            await self._refuse(send, request_id)
            return
        received = 0
        started = False

        async def bounded() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._max_body:
                raise BodyTooLarge
            return message

        async def stamped(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", request_id.encode())]
            await send(message)

        try:
            await self._app(scope, bounded, stamped)
        except BodyTooLarge:
            if started:
                raise
            await self._refuse(send, request_id)

    async def _refuse(self, send: Send, request_id: str) -> None:
        detail = f"The body is larger than the {self._max_body:,} bytes accepted here"
        await respond_problem(send, 413, detail, request_id)
