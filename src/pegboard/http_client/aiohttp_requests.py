"""Requests over the connection pool of aiohttp, without the features of its session.

For each request, aiohttp's session handles redirects, cookies, proxies, netrc credentials, traces, compression and
timeouts. None of them is used here; to omit them, and to write a request of usual size in one write, halves the cost of
a request.
"""

from __future__ import annotations

import io
from typing import Final

import aiohttp
from aiohttp.client_exceptions import ClientConnectionResetError, ClientOSError, ConnectionTimeoutError
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.helpers import TimerNoop
from aiohttp.http import RawResponseMessage
from aiohttp.http_writer import _serialize_headers
from aiohttp.streams import StreamReader
from multidict import CIMultiDict, istr
from yarl import URL

_NO_TYPE: Final[CIMultiDict[None]] = CIMultiDict({"Content-Type": None})
_NO_TIMER: Final = TimerNoop()
_CONTENT_LENGTH = istr("Content-Length")
# A larger body is written in chunks, as fast as the upstream reads it.
_MAX_INLINE_BODY_BYTES = 2**20
_READ_BYTES = 2**18
_LINE_BYTES = 8190
_FIELD_BYTES = 32_768
_MAX_HEADERS = 128


class PlainRequest(aiohttp.ClientRequest):
    """A request with exactly the headers that it is given, plus Content-Length."""

    # Constants instead of the values that aiohttp computes for each request.
    _timer = _NO_TIMER
    _ssl = True
    _skip_auto_headers = _NO_TYPE
    response_class = aiohttp.ClientResponse
    version = aiohttp.HttpVersion11
    chunked = compress = length = server_hostname = None
    proxy = proxy_auth = proxy_headers = None

    def __init__(
        self, session: aiohttp.ClientSession, method: str, url: URL, headers: CIMultiDict[str], body: bytes | None
    ) -> None:
        self._session = session
        self._traces = []
        self.original_url = self.url = url
        self.method = method
        self.headers = headers
        self.loop = session._loop
        self.whole: bytes | None = body
        if body is None:
            if method not in self.GET_METHODS:
                headers[_CONTENT_LENGTH] = "0"
        elif len(body) <= _MAX_INLINE_BODY_BYTES:
            headers[_CONTENT_LENGTH] = str(len(body))
        else:
            self.update_body_from_data(io.BytesIO(body))

    def write(self, protocol: ResponseHandler) -> None:
        """Write head and body in one write; raise ClientConnectionResetError if the transport is closed."""
        transport = protocol.transport
        if transport is None or transport.is_closing():
            raise ClientConnectionResetError("Cannot write to closing transport")
        head = _serialize_headers(f"{self.method} {self.url.raw_path_qs} HTTP/1.1", self.headers)
        transport.write(head + self.whole if self.whole else head)


class PlainResponse(aiohttp.ClientResponse):
    """The response to a request that was written in one write."""

    def __init__(
        self, request: PlainRequest, connection: Connection, message: RawResponseMessage, body: StreamReader
    ) -> None:
        self.method = request.method
        self._real_url = self._url = request.url
        self._cache = {}
        self._traces = []
        self._loop = request.loop
        self._connection = connection
        self._closed = False
        self.version = message.version
        self.status = message.code
        self.reason = message.reason
        self._headers = message.headers
        self._raw_headers = message.raw_headers
        self.content = body
        body.on_eof(self._response_eof)

    def _response_eof(self) -> None:
        connection, self._connection = self._connection, None
        self._closed = True
        if connection is None:
            return
        transport = connection.transport
        if transport is None or transport.get_write_buffer_size():
            connection.close()  # answered before the request was sent: the rest would precede the next request
        else:
            connection.release()


async def send_request(
    session: aiohttp.ClientSession, request: PlainRequest, times: aiohttp.ClientTimeout
) -> aiohttp.ClientResponse:
    """Return the response after its head; raise what aiohttp raises, or HttpProcessingError if it is not HTTP."""
    connector = session.connector
    assert connector is not None
    try:
        try:
            connection = await connector.connect(request, [], times)
        except TimeoutError as error:
            raise ConnectionTimeoutError(f"Connection timeout to host {request.url}") from error
        protocol = connection.protocol
        assert protocol is not None
        protocol.set_response_params(
            timer=_NO_TIMER,
            skip_payload=request.method == "HEAD",
            read_until_eof=True,
            auto_decompress=False,
            read_timeout=None,
            read_bufsize=_READ_BYTES,
            timeout_ceil_threshold=times.ceil_threshold,
            max_line_size=_LINE_BYTES,
            max_field_size=_FIELD_BYTES,
            max_headers=_MAX_HEADERS,
        )
        try:
            if request._body is not None:
                return await _send_streamed(request, connection)
            request.write(protocol)
            while True:
                message, body = await protocol.read()
                if not 100 <= message.code <= 199 or message.code == 101:
                    return PlainResponse(request, connection, message, body)
        except BaseException:
            connection.close()
            raise
    except aiohttp.ClientError:
        raise
    except OSError as error:
        if error.errno is None and isinstance(error, TimeoutError):
            raise
        raise ClientOSError(*error.args) from error


async def _send_streamed(request: PlainRequest, connection: Connection) -> aiohttp.ClientResponse:
    response = await request.send(connection)
    try:
        await response.start(connection)
    except BaseException:
        response.close()
        raise
    return response
