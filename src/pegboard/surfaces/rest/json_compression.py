"""Compresses JSON responses for clients that accept gzip."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Iterable

from pegboard.surfaces.rest.asgi_request import ASGIApp, Message, Receive, Scope, Send

_MIN_BYTES = 1024
# Larger bodies are compressed in an OS thread.
_THREAD_BYTES = 64 * 1024
_LEVEL = 4
_JSON_TYPES = (b"application/json", b"application/problem+json")
# Routes that run calls: their latency counts more than the size of a response.
_CALL_PREFIXES = ("/v1/calls", "/v1/chains")
_CALL_SUFFIX = "/replay"


class JsonCompression:
    """Compresses complete JSON responses over 1 kB, but not those of the call routes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection."""
        if scope["type"] != "http" or scope["method"] == "HEAD" or _is_call_path(scope):
            await self._app(scope, receive, send)
            return
        is_accepted = accepts_gzip(scope["headers"])
        start: Message | None = None

        async def send_compressed(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and _is_json(message):
                start = message  # its headers depend on the body
                return
            if start is not None:
                head, start = start, None
                headers = [*head["headers"], (b"vary", b"Accept-Encoding")]
                body = message.get("body", b"")
                if is_accepted and len(body) > _MIN_BYTES and not message.get("more_body", False):
                    body = await _compress(body)
                    headers = [pair for pair in headers if pair[0].lower() != b"content-length"]
                    headers += [(b"content-length", b"%d" % len(body)), (b"content-encoding", b"gzip")]
                    message = {**message, "body": body}
                await send({**head, "headers": headers})
            await send(message)

        await self._app(scope, receive, send_compressed)


def accepts_gzip(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return True if the client accepts gzip: a weight of 0 means that it does not."""
    for name, value in headers:
        if name == b"accept-encoding":
            for coding in value.lower().split(b","):
                token, _, weight = coding.replace(b" ", b"").partition(b";q=")
                if token == b"gzip":
                    return weight.strip(b"0.") != b"" or weight == b""
    return False


def _is_call_path(scope: Scope) -> bool:
    path: str = scope["path"].removeprefix(scope.get("root_path", ""))
    return path.startswith(_CALL_PREFIXES) or path.endswith(_CALL_SUFFIX)


def _is_json(start: Message) -> bool:
    names = {name.lower(): value for name, value in start.get("headers", ())}
    return names.get(b"content-type", b"").partition(b";")[0] in _JSON_TYPES and b"content-encoding" not in names


async def _compress(body: bytes) -> bytes:
    if len(body) > _THREAD_BYTES:
        return await asyncio.to_thread(gzip.compress, body, _LEVEL, mtime=0)
    return gzip.compress(body, _LEVEL, mtime=0)
