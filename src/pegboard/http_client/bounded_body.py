"""Reads a response body up to a limit, and decompresses it.

Not aiohttp's decompression: it passes on a body with several encodings, or an unknown one, as it is.
"""

from __future__ import annotations

import asyncio
import io
import zlib
from collections.abc import Iterator

import aiohttp

from pegboard.http_client.network_errors import NETWORK_ERRORS, explain_read_error, format_host_port
from pegboard.model.call_errors import UpstreamFailed

_PIECE_BYTES = 2**16
_YIELD_BYTES = 2**20
_MAX_ENCODINGS = 2
_MAX_GZIP_MEMBERS = 1000
_GZIP_WBITS = 16 + zlib.MAX_WBITS


class _BodyTooLarge(Exception):
    """Raised if the body, compressed or decompressed, is larger than the limit."""


class _Decoder:
    """Decompresses one content encoding in chunks, up to a limit of bytes."""

    def __init__(self, encoding: str, limit: int) -> None:
        self._is_gzip = encoding == "gzip"
        self._limit = limit
        self._made = 0
        self._members = 0
        self._head = b""
        self._inflater = zlib.decompressobj(_GZIP_WBITS) if self._is_gzip else None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the decompressed chunks; raise _BodyTooLarge above the limit, or zlib.error if the data is invalid."""
        if self._inflater is None:
            self._head += data
            if len(self._head) < 2:
                return
            data = self._head
            # `deflate` has the zlib wrapper according to the standard, but some servers send it without.
            wrapped = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
            self._inflater = zlib.decompressobj(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)
        inflater = self._inflater
        while True:
            if inflater.eof:
                data = data.lstrip(b"\0")
                if not data:
                    return
                if not self._is_gzip:
                    raise zlib.error("data follows its end")
                self._members += 1
                if self._members > _MAX_GZIP_MEMBERS:
                    raise zlib.error("it has too many parts")
                inflater = self._inflater = zlib.decompressobj(_GZIP_WBITS)
            piece = inflater.decompress(data, _PIECE_BYTES)
            self._made += len(piece)
            if self._made > self._limit:
                raise _BodyTooLarge
            data = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
            if piece:
                yield piece
            elif not data:
                return

    def finish(self) -> None:
        """Raise zlib.error if the stream is incomplete."""
        if self._inflater is None or not self._inflater.eof:
            raise zlib.error("it ends too early")


async def read_bounded_body(response: aiohttp.ClientResponse, limit: int) -> bytes:
    """Return the decompressed body; raise UpstreamFailed if it is larger than the limit or cannot be decoded."""
    try:
        if response.method != "HEAD" and "Content-Encoding" in response.headers:
            return await _read_decoded(response, limit)
        if response.content.is_eof():
            return _read_buffered(response.content, limit)
        return await _read_identity(response, limit)
    except _BodyTooLarge:
        response.close()
        raise UpstreamFailed(
            f"The answer of {format_host_port(response.url)} is more than {limit} bytes; ask it for less, "
            "or raise max_response_bytes, the tool's or the board's"
        ) from None
    except NETWORK_ERRORS as error:
        response.close()
        raise explain_read_error(error, response.url) from None
    except BaseException:
        response.close()
        raise


async def read_chunk(response: aiohttp.ClientResponse) -> bytes:
    """Return the next bytes of the body, empty at its end; raise a network error if it broke off.

    aiohttp itself waits forever if a chunked body stops being HTTP: it closes the connection, but does not notify
    the reader.
    """
    content, connection = response.content, response.connection
    closed = None if connection is None or connection.protocol is None else connection.protocol.closed
    if closed is None:
        return await _read_any(content)

    def fail(_closed: asyncio.Future[None]) -> None:
        if not content.is_eof() and content.exception() is None:
            content.set_exception(aiohttp.ClientPayloadError())

    closed.remove_done_callback(_retrieve_exception)
    closed.add_done_callback(_retrieve_exception)
    closed.add_done_callback(fail)
    try:
        return await _read_any(content)
    finally:
        closed.remove_done_callback(fail)


def _retrieve_exception(closed: asyncio.Future[None]) -> None:
    # The reader gets the error from the body; asyncio logs an exception that is not retrieved from a future.
    if not closed.cancelled():
        closed.exception()


async def _read_any(content: aiohttp.StreamReader) -> bytes:
    try:
        return await content.readany()
    except RuntimeError as error:  # the connection was closed since the last read
        raise aiohttp.ClientPayloadError from error


def _read_buffered(content: aiohttp.StreamReader, limit: int) -> bytes:
    if content.total_bytes > limit:
        raise _BodyTooLarge
    return content.read_nowait()


async def _read_identity(response: aiohttp.ClientResponse, limit: int) -> bytes:
    if (response.content_length or 0) > limit:
        raise _BodyTooLarge
    body = io.BytesIO()
    while chunk := await read_chunk(response):
        if body.tell() + len(chunk) > limit:
            raise _BodyTooLarge
        body.write(chunk)
    return body.getvalue()


async def _read_decoded(response: aiohttp.ClientResponse, limit: int) -> bytes:
    if (response.content_length or 0) > limit:
        raise _BodyTooLarge
    chunk = await read_chunk(response)
    if not chunk:
        return b""
    decoders = _build_decoders(response, limit)
    body = io.BytesIO()
    received = 0
    rested = 0
    try:
        while chunk:
            received += len(chunk)
            if received > limit:
                raise _BodyTooLarge
            for piece in _decode_through(decoders, chunk):
                body.write(piece)
                if body.tell() - rested >= _YIELD_BYTES:
                    rested = body.tell()
                    await asyncio.sleep(0)
            chunk = await read_chunk(response)
        for decoder in decoders:
            decoder.finish()
    except zlib.error as error:
        names = ", ".join(response.headers.getall("Content-Encoding"))
        raise UpstreamFailed(
            f"The answer of {format_host_port(response.url)} cannot be decompressed as {names[:100]}: {error}"
        ) from error
    return body.getvalue()


def _decode_through(decoders: list[_Decoder], data: bytes) -> Iterator[bytes]:
    if not decoders:
        yield data
        return
    for piece in decoders[0].feed(data):
        yield from _decode_through(decoders[1:], piece)


def _build_decoders(response: aiohttp.ClientResponse, limit: int) -> list[_Decoder]:
    """Return the decoders in the order to apply them, which is the reverse of Content-Encoding."""
    listed = ",".join(response.headers.getall("Content-Encoding")).lower().split(",")
    names = [name.strip().removeprefix("x-") for name in reversed(listed)]
    names = [name for name in names if name not in ("", "identity")]
    unknown = [name for name in names if name not in ("gzip", "deflate")]
    if unknown or len(names) > _MAX_ENCODINGS:
        shown = ", ".join(listed)[:100]
        raise UpstreamFailed(
            f"The answer of {format_host_port(response.url)} has the Content-Encoding '{shown}', "
            "which was not asked for; "
            "gzip and deflate can be read"
        )
    return [_Decoder(name, limit) for name in names]
