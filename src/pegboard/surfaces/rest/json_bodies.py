"""Read request bodies as JSON: small ones directly, large ones in OS threads, none with too many objects and lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import anyio
import orjson
from anyio.to_thread import run_sync
from fastapi import Request
from starlette.exceptions import HTTPException

from pegboard.json_schema.arguments_text import reject_duplicate_keys
from pegboard.json_schema.read_arguments import parse_json
from pegboard.model.api_errors import Fault, Invalid
from pegboard.model.call_errors import MalformedArguments
from pegboard.stages.large_reads import LARGE_BYTES
from pegboard.surfaces.rest.asgi_request import is_text_media_type

T = TypeVar("T")

# The parser holds the GIL until it is done, and an object or list costs far more time than its bytes.
MAX_CONTAINERS = 250_000
# For the routes that accept larger bodies.
MAX_DOCUMENT_CONTAINERS = 1_000_000
_MAX_THREADS = 2


class JsonBodyParser:
    """Parses the bodies of one application; its OS threads are limited, so that they never use all processors."""

    def __init__(self) -> None:
        self._threads = anyio.CapacityLimiter(_MAX_THREADS)

    async def parse(self, body: bytes, parse: Callable[[bytes], T], most: int = MAX_CONTAINERS) -> T:
        """Return `parse(body)`; raise HTTPException 413 if the body has more objects and lists than `most`."""
        if len(body) <= LARGE_BYTES:
            return parse(body)
        # Brackets in strings are counted too: to exclude them would take longer than parsing.
        if body.count(b"{") + body.count(b"[") > most:
            raise HTTPException(413, f"The body has more than {most:,} objects and lists; send fewer at a time")
        return await run_sync(parse, body, limiter=self._threads)


async def read_request_payload(request: Request) -> Any:
    """Return the body as JSON, or as text if its media type is text; raise HTTPException 400 for duplicate keys."""
    is_text = is_text_media_type(request.headers.get("content-type", ""))
    return await parse_payload(request.app.state.bodies, await request.body(), is_text=is_text)


async def parse_payload(bodies: JsonBodyParser, body: bytes, *, is_text: bool) -> Any:
    """Return the body as JSON, or as text if `is_text`; raise HTTPException 400 for duplicate keys or invalid UTF-8."""
    if not is_text:
        return await bodies.parse(body, _parse_strict_json, MAX_DOCUMENT_CONTAINERS)
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise HTTPException(400, f"The text is not UTF-8: byte {error.start + 1}") from None


def _parse_strict_json(body: bytes) -> Any:
    try:
        payload = parse_json(body)
        reject_duplicate_keys(body, payload)
    except MalformedArguments as error:
        raise HTTPException(400, error.message) from None
    return payload


async def read_document(request: Request) -> dict[str, Any]:
    """Return the body as a JSON object; it may be a large document, for which orjson is faster than FastAPI."""
    bodies: JsonBodyParser = request.app.state.bodies
    try:
        data = await bodies.parse(await request.body(), orjson.loads, MAX_DOCUMENT_CONTAINERS)
    except orjson.JSONDecodeError as error:
        raise HTTPException(400, f"Not valid JSON at character {error.pos}: {error.msg}") from None
    if not isinstance(data, dict):
        raise Invalid.of("The request is not valid", [Fault("body", "must be a JSON object")])
    return data
