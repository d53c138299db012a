"""Requests that must be quick, as they came: what their headers say, their body, and whether anybody still waits."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Coroutine, Iterable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException

from pegboard.core.call import Surface
from pegboard.core.refusals import Fault, Invalid, Unauthorised
from pegboard.surfaces.rest.edge import JSON, Receive, Scope, announced, read_body, request_id_of, unless_gone

T = TypeVar("T")
# What callers of other APIs call a parameter of ours.
_OTHER_NAMES = {"format": "as", "dialect": "as", "style": "as", "thread_id": "thread", "page_size": "limit"}


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
    media_type: bytes | None

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
        is_text = media_type not in (None, JSON) and names_text(media_type.decode("latin-1"))
        return cls(authorization, length, request_id, key, surface, is_text, media_type)

    def refuse_forms(self) -> None:
        """Raise 400 if the body is a multipart form."""
        if self.media_type not in (None, JSON):
            refuse_forms(self.media_type.decode("latin-1"))


def names_text(media_type: str) -> bool:
    """Whether a body of this type is text, or lines of JSON, and not a document of it."""
    media = media_type.partition(";")[0].strip().lower()
    return media.startswith("text/") or media in ("application/x-ndjson", "application/jsonl")


def query_of(request: Request, known: Collection[str]) -> dict[str, str]:
    """The query parameters of a request; raises Invalid if one is not known."""
    if not request.query:
        return {}
    query = dict(parse_qsl(request.query.decode("latin-1"), keep_blank_values=True))
    check_query(query, known)
    return query


def bearer_key(authorization: bytes | None) -> str:
    """The key of an Authorization header; raises Unauthorised with the way to send one."""
    if authorization is None:
        raise Unauthorised("A key is needed; send it as 'Authorization: Bearer KEY'")
    if authorization[:7].lower() != b"bearer ":
        raise Unauthorised("There must be one Authorization header, and it must read 'Bearer KEY'")
    return authorization[7:].strip().decode("latin-1")


def check_query(names: Iterable[str], known: Collection[str]) -> None:
    """Raise Invalid with the nearest known name if a query parameter is not known."""
    unknown = [name for name in names if name not in known]
    if unknown:
        faults = [Fault(name[:64], _hint(name, known)) for name in unknown[:20]]
        raise Invalid.of("The query is not valid", faults)


def refuse_forms(media_type: str) -> None:
    """Raise 400 if the body is a multipart form: no route takes one."""
    media = media_type.partition(";")[0].strip().lower()
    if media.startswith("multipart/"):
        raise HTTPException(400, f"The body is {media[:100]}; send JSON, with 'Content-Type: application/json'")


def _hint(name: str, known: Collection[str]) -> str:
    other = _OTHER_NAMES.get(name.lower())
    near = [other] if other in known else difflib.get_close_matches(name[:64], known, 1)
    if near:
        return f"unknown query parameter; did you mean '{near[0]}'?"
    return f"unknown query parameter; known: {', '.join(known)}" if known else "this route has no query parameters"
