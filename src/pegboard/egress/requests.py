"""Requests as they are given, over the pool of aiohttp: nothing is added to them that nobody asked for.

aiohttp's session sees for each request to redirects, cookies, proxies, the machine's credentials, traces, compression
and times. None of it applies here, and leaving it out makes a request a fifth quicker.
"""

from __future__ import annotations

from typing import Final

import aiohttp
from aiohttp.client_exceptions import ClientOSError, ConnectionTimeoutError
from aiohttp.helpers import TimerNoop
from multidict import CIMultiDict
from yarl import URL

_NO_TYPE: Final[CIMultiDict[None]] = CIMultiDict({"Content-Type": None})
_NO_TIMER: Final = TimerNoop()
_READ_BYTES = 2**18
_LINE_BYTES = 8190
_FIELD_BYTES = 32_768
_MOST_FIELDS = 128


class PlainRequest(aiohttp.ClientRequest):
    """A request whose headers, the host's name aside, are those it was given."""

    def __init__(
        self, session: aiohttp.ClientSession, method: str, url: URL, headers: CIMultiDict[str], data: object
    ) -> None:
        # In place of aiohttp's own, which looks for all that never applies here.
        self._session = session
        self._timer = _NO_TIMER
        self._ssl = True
        self._skip_auto_headers = _NO_TYPE
        self._traces = []
        self.original_url = self.url = url
        self.method = method
        self.headers = headers
        self.loop = session._loop
        self.response_class = aiohttp.ClientResponse
        self.version = aiohttp.HttpVersion11
        self.chunked = self.compress = self.length = self.server_hostname = None
        self.proxy = self.proxy_auth = self.proxy_headers = None
        if data is not None or method not in self.GET_METHODS:
            self.update_body_from_data(data)
            self.update_transfer_encoding()


async def exchange(
    session: aiohttp.ClientSession, request: PlainRequest, times: aiohttp.ClientTimeout
) -> aiohttp.ClientResponse:
    """The head of the answer; raises what aiohttp would."""
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
            max_headers=_MOST_FIELDS,
        )
        try:
            response = await request.send(connection)
            try:
                await response.start(connection)
            except BaseException:
                response.close()
                raise
        except BaseException:
            connection.close()
            raise
    except aiohttp.ClientError:
        raise
    except OSError as error:
        if error.errno is None and isinstance(error, TimeoutError):
            raise
        raise ClientOSError(*error.args) from error
    return response
