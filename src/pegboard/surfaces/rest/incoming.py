"""Requests that must be quick, as they came: what their headers say, their body, and whether anybody still waits."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar
from urllib.parse import parse_qsl

from pegboard.core.call import Surface
from pegboard.core.refusals import Unauthorised
from pegboard.surfaces.rest.edge import Receive, Scope, announced, read_body, request_id_of, unless_gone

T = TypeVar("T")


class Request(Protocol):
    """A call as it came over HTTP, however it was read."""

    # What its route knows it by, once it does: the answer is to carry it whatever happens then.
    request_id: str | None

    @property
    def headers(self) -> Sequence[tuple[bytes, bytes]]:
        """Its headers, their names in small letters."""
        ...

    @property
    def query(self) -> bytes:
        """What its URL asks for."""
        ...

    async def body(self, limit: int, length: int) -> bytes:
        """All of its body, of which so much was announced; raises where it is too large, too slow or cut off."""
        ...

    async def unless_gone(self, work: Coroutine[Any, Any, T]) -> T | None:
        """What `work` gives, or None if the caller went away first, for whom it was then cancelled."""
        ...


class Received:
    """A request that comes in messages of ASGI."""

    __slots__ = ("_receive", "headers", "query", "request_id")

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.headers: Sequence[tuple[bytes, bytes]] = scope["headers"]
        self.query: bytes = scope["query_string"]
        self.request_id: str | None = None
        self._receive = receive

    async def body(self, limit: int, length: int) -> bytes:
        """All of its body."""
        return await read_body(self._receive, limit, length)

    async def unless_gone(self, work: Coroutine[Any, Any, T]) -> T | None:
        """What `work` gives, or None if the caller went away first."""
        return await unless_gone(self._receive, work)


class Asked(NamedTuple):
    """What the headers of a request say."""

    authorization: bytes | None
    length: int
    request_id: str | None
    key: str | None
    surface: Surface
    is_text: bool

    @classmethod
    def of(cls, headers: Iterable[tuple[bytes, bytes]]) -> Asked:
        """What these headers say."""
        authorization = request_id = key = media_type = None
        length = 0
        surface: Surface = "rest"
        for header, value in headers:
            if header == b"authorization":
                # Two of them could be read differently by a proxy in front of us.
                authorization = value if authorization is None else b""
            elif header == b"content-length":
                length = announced(value)
            elif header == b"content-type" and media_type is None:
                media_type = value
            elif header == b"x-request-id":
                request_id = request_id_of(value)
            elif header == b"idempotency-key":
                key = value.decode("latin-1") if key is None else ""
            elif header == b"x-pegboard-surface" and value == b"cli":
                surface = "cli"
        is_text = media_type not in (None, b"application/json") and names_text(media_type.decode("latin-1"))
        return cls(authorization, length, request_id, key, surface, is_text)


def names_text(media_type: str) -> bool:
    """Whether a body of this type is text, or lines of JSON, and not a document of it."""
    media = media_type.partition(";")[0].strip().lower()
    return media.startswith("text/") or media in ("application/x-ndjson", "application/jsonl")


def query_of(request: Request) -> dict[str, str]:
    """What the URL of a request asks for."""
    return dict(parse_qsl(request.query.decode("latin-1"), keep_blank_values=True)) if request.query else {}


def bearer_key(authorization: bytes | None) -> str:
    """The key of an Authorization header; raises Unauthorised with the way to send one."""
    if authorization is None:
        raise Unauthorised("A key is needed; send it as 'Authorization: Bearer KEY'")
    if authorization[:7].lower() != b"bearer ":
        raise Unauthorised("There must be one Authorization header, and it must read 'Bearer KEY'")
    return authorization[7:].strip().decode("latin-1")
