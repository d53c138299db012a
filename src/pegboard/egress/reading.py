"""Reading an answer's body, and never more of it than asked for."""

from __future__ import annotations

import asyncio
import io
import zlib
from collections.abc import Iterator

import aiohttp

from pegboard.core.errors import UpstreamFailed
from pegboard.egress.faults import FAULTS, place, reading_fault

_PIECE = 2**16
_BREATH = 2**20
_MOST_ENCODINGS = 2
_MOST_MEMBERS = 1000
_GZIP = 16 + zlib.MAX_WBITS


class _TooLarge(Exception):
    """More was read, or came out of a decoder, than is allowed."""


class _Decoder:
    """One compression taken off, piece by piece, and no more than a limit of bytes."""

    def __init__(self, encoding: str, limit: int) -> None:
        self._gzip = encoding == "gzip"
        self._limit = limit
        self._made = 0
        self._members = 0
        self._head = b""
        self._inflater = zlib.decompressobj(_GZIP) if self._gzip else None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What comes out for these bytes; _TooLarge, or zlib.error where they are not valid."""
        if self._inflater is None:
            self._head += data
            if len(self._head) < 2:
                return
            data = self._head
            # `deflate` is in zlib's wrapping by the book, and without it from some servers.
            wrapped = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
            self._inflater = zlib.decompressobj(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)
        inflater = self._inflater
        while True:
            if inflater.eof:
                data = data.lstrip(b"\0")
                if not data:
                    return
                if not self._gzip:
                    raise zlib.error("something follows its end")
                inflater = self._inflater = self._next_member()
            piece = inflater.decompress(data, _PIECE)
            self._made += len(piece)
            if self._made > self._limit:
                raise _TooLarge
            data = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
            if piece:
                yield piece
            elif not data:
                return

    def finish(self) -> None:
        """Raise zlib.error where the end is missing."""
        if self._inflater is None or not self._inflater.eof:
            raise zlib.error("it ends too early")

    def _next_member(self) -> zlib._Decompress:
        self._members += 1
        if self._members > _MOST_MEMBERS:
            raise zlib.error("it has too many parts")
        return zlib.decompressobj(_GZIP)


async def read_capped(response: aiohttp.ClientResponse, limit: int) -> bytes:
    """The whole body, decompressed; UpstreamFailed as soon as it is larger than the limit or cannot be decoded."""
    try:
        if response.method != "HEAD" and "Content-Encoding" in response.headers:
            return await _decoded(response, limit)
        if response.content.is_eof():
            return _arrived(response.content, limit)
        return await _plain(response, limit)
    except _TooLarge:
        response.close()
        raise UpstreamFailed(
            f"The answer of {place(response.url)} is more than {limit} bytes; ask it for less, "
            "or raise max_response_bytes, the tool's or the board's"
        ) from None
    except FAULTS as error:
        response.close()
        raise reading_fault(error, response.url) from None
    except BaseException:
        response.close()
        raise


def _arrived(content: aiohttp.StreamReader, limit: int) -> bytes:
    if content.total_bytes > limit:
        raise _TooLarge
    return content.read_nowait()


async def _plain(response: aiohttp.ClientResponse, limit: int) -> bytes:
    length = response.content_length
    if length is not None:
        if length > limit:
            raise _TooLarge
        if length <= _BREATH:
            return await response.read()
    content = response.content
    body = io.BytesIO()
    while chunk := await content.readany():
        if body.tell() + len(chunk) > limit:
            raise _TooLarge
        body.write(chunk)
    return body.getvalue()


async def _decoded(response: aiohttp.ClientResponse, limit: int) -> bytes:
    if (response.content_length or 0) > limit:
        raise _TooLarge
    chunk = await response.content.readany()
    if not chunk:
        return b""
    decoders = _decoders(response, limit)
    body = io.BytesIO()
    received = 0
    rested = 0
    try:
        while chunk:
            received += len(chunk)
            if received > limit:
                raise _TooLarge
            for piece in _through(decoders, chunk):
                body.write(piece)
                if body.tell() - rested >= _BREATH:
                    rested = body.tell()
                    await asyncio.sleep(0)
            chunk = await response.content.readany()
        for decoder in decoders:
            decoder.finish()
    except zlib.error as error:
        names = ", ".join(response.headers.getall("Content-Encoding"))
        raise UpstreamFailed(
            f"The answer of {place(response.url)} cannot be decompressed as {names[:100]}: {error}"
        ) from error
    return body.getvalue()


def _through(decoders: list[_Decoder], data: bytes) -> Iterator[bytes]:
    if not decoders:
        yield data
        return
    for piece in decoders[0].feed(data):
        yield from _through(decoders[1:], piece)


def _decoders(response: aiohttp.ClientResponse, limit: int) -> list[_Decoder]:
    """What takes the encodings off, the last that was put on first."""
    listed = ",".join(response.headers.getall("Content-Encoding")).lower().split(",")
    names = [name.strip().removeprefix("x-") for name in reversed(listed)]
    names = [name for name in names if name not in ("", "identity")]
    unknown = [name for name in names if name not in ("gzip", "deflate")]
    if unknown or len(names) > _MOST_ENCODINGS:
        shown = ", ".join(listed)[:100]
        raise UpstreamFailed(
            f"The answer of {place(response.url)} has the Content-Encoding '{shown}', which was not asked for; "
            "gzip and deflate can be read"
        )
    return [_Decoder(name, limit) for name in names]
