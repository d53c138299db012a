"""The only client for egress: pooled requests and plain connections to addresses that tools may reach."""

from __future__ import annotations

import asyncio
import io
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from functools import partial
from ipaddress import ip_address
from types import MappingProxyType
from typing import TYPE_CHECKING

import aiohappyeyeballs
import aiohttp
from multidict import CIMultiDict
from yarl import URL

from pegboard.http_client.address_policy import AllowList, is_numeric_host, parse_address
from pegboard.http_client.dns import DnsLookups, PermittedResolver, Resolver, resolve_with_system
from pegboard.http_client.network_errors import (
    NETWORK_ERRORS,
    AddressRefused,
    ConnectionLost,
    explain_connect_error,
    explain_send_error,
    format_host_port,
    make_address_refusal,
    make_egress_refusal,
)
from pegboard.model.call_errors import EgressRefused, Unavailable, UpstreamFailed
from pegboard.version import __version__

if TYPE_CHECKING:
    from aiohttp.connector import Connection

AddressInfo = tuple[int, int, int, str, tuple[str, int] | tuple[str, int, int, int]]

_STAGGER_SECONDS = 0.25


async def dial(
    addresses: Sequence[str], port: int, *, make: Callable[[AddressInfo], socket.socket], seconds: float
) -> socket.socket:
    """Return a connected, non-blocking socket to the first of these addresses that accepts the connection."""
    infos: list[AddressInfo] = [
        (
            socket.AF_INET6 if ":" in address else socket.AF_INET,
            socket.SOCK_STREAM,
            socket.IPPROTO_TCP,
            "",
            (address, port, 0, 0) if ":" in address else (address, port),
        )
        for address in addresses
    ]
    try:
        async with asyncio.timeout(seconds):
            return await aiohappyeyeballs.start_connection(
                infos, happy_eyeballs_delay=_STAGGER_SECONDS, interleave=1, socket_factory=make
            )
    except RuntimeError as error:  # uvloop raises it if a socket cannot be connected at all
        raise OSError(str(error)) from error


__all__ = ["USER_AGENT", "GuardedClient", "Resolver"]

USER_AGENT = f"pegboard/{__version__}"
# The default headers of every request; of several representations, JSON is preferred.
_DEFAULT_HEADERS: Mapping[str, str] = MappingProxyType(
    {"User-Agent": USER_AGENT, "Accept": "application/json, */*;q=0.8", "Accept-Encoding": "gzip, deflate"}
)

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
# A body has only the Content-Type that the caller gives.
_BODY_HEADERS = ("Content-Type",)
# A larger body is written in chunks, as fast as the upstream reads it.
_MAX_INLINE_BODY_BYTES = 2**20
_READ_BYTES = 2**18
_FIELD_BYTES = 32_768
_MAX_LOOKUPS = 64
_MAX_LOOKUPS_PER_USER = 16
_ROUNDING_THRESHOLD_SECONDS = 86_400  # aiohttp rounds timeouts above this value to whole seconds


class _Attempt:
    """One request: its target, whether a connection was started for it, and how it is sent."""

    __slots__ = ("dialled", "headers", "host", "may_resend", "port", "was_resent")

    def __init__(
        self,
        host: str,
        port: int,
        headers: Mapping[str, str] | CIMultiDict[str] = _NO_HEADERS,
        *,
        may_resend: bool = False,
    ) -> None:
        self.host = host
        self.port = port
        self.headers = headers
        self.may_resend = may_resend
        self.dialled = False
        self.was_resent = False

    async def __call__(
        self, request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        """Send the request with its headers; raise ConnectionLost instead of errors after which aiohttp resends."""
        # Added here, not before: aiohttp would merge names that differ in case, and wait for an answer to `Expect`.
        request.headers.update(self.headers)
        while True:
            try:
                return await handler(request)
            except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError):
                raise
            except (OSError, aiohttp.ServerDisconnectedError) as error:
                # If no connection was started, the upstream closed a pooled connection when it was reused.
                if self.dialled or self.was_resent or not self.may_resend:
                    raise ConnectionLost(error) from None
                self.was_resent = True


_ATTEMPT: ContextVar[_Attempt | None] = ContextVar("attempt", default=None)


class _Response(aiohttp.ClientResponse):
    """A response whose connection is closed if the whole response arrived before the request was sent.

    The rest of that request would precede the next one.
    """

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        transport = connection.transport
        await super().start(connection)
        self.content.on_eof(partial(_close_if_unsent, transport))
        return self


def _close_if_unsent(transport: asyncio.Transport | None) -> None:
    if transport is not None and transport.get_write_buffer_size():
        transport.close()


class GuardedClient:
    """Sends requests to public addresses and to those of an allow-list.

    The address is checked when a socket is created.
    """

    def __init__(
        self,
        allow: AllowList,
        *,
        connect_seconds: float,
        resolver: Resolver | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._allow = allow
        self._connect_seconds = connect_seconds
        self._ssl_context = ssl_context
        self._time = aiohttp.ClientTimeout(
            total=None, sock_connect=connect_seconds, ceil_threshold=_ROUNDING_THRESHOLD_SECONDS
        )
        self._session: aiohttp.ClientSession | None = None
        resolver = resolver or resolve_with_system
        self._lookups = DnsLookups(resolver, most=_MAX_LOOKUPS)
        # Separate from the lookups of requests: slow names in confined code must not delay the lookups of requests.
        self._code_lookups = DnsLookups(resolver, most=_MAX_LOOKUPS, most_a_user=_MAX_LOOKUPS_PER_USER)
        self._closed = False

    def check(self, url: str) -> None:
        """Raise EgressRefused if the URL alone shows that it may not be reached; names are resolved in `send`."""
        try:
            read = URL(url)
            host, port = read.raw_host, read.port
        except ValueError:
            raise EgressRefused("Tools may not reach this URL: it cannot be read as one") from None
        self._check_url_form(read)
        if not host or port is None:
            raise EgressRefused("Tools may not reach this URL: it has no host")
        if is_numeric_host(host):
            self._check_address(host, port)

    async def send(
        self,
        method: str,
        url: URL,
        *,
        headers: Mapping[str, str] | CIMultiDict[str] = _NO_HEADERS,
        body: bytes | None = None,
        resend: bool = False,
    ) -> aiohttp.ClientResponse:
        """Return the response with its body unread; raise EgressRefused or UpstreamUnreachable if there is none.

        With `resend`, a GET, HEAD or OPTIONS request without a body is sent once more if the upstream closed a pooled
        connection when it was reused. The upstream may have received the first request.
        """
        session = self._session or self._open()
        if url.scheme not in ("http", "https") or "@" in url.raw_authority:
            self._check_url_form(url)
        is_plain = body is None and method in _SAFE_METHODS
        attempt = _Attempt(url.raw_host or "", url.port or 0, headers, may_resend=resend and is_plain)
        token = _ATTEMPT.set(attempt)
        try:
            response = await session.request(
                method,
                url,
                data=io.BytesIO(body) if body is not None and len(body) > _MAX_INLINE_BODY_BYTES else body,
                allow_redirects=False,
                middlewares=(attempt,),
                skip_auto_headers=None if is_plain else _BODY_HEADERS,
            )
        except NETWORK_ERRORS as error:
            if isinstance(error, aiohttp.InvalidURL):
                self._check_address(attempt.host, attempt.port)
            # Not chained with `from`: aiohttp's error contains the whole URL and the headers.
            fault = explain_send_error(error, url, dialled=attempt.dialled, connect_seconds=self._connect_seconds)
            fault.did_run = attempt.was_resent or fault.did_run
            raise fault from None
        except asyncio.CancelledError as cancelled:
            raise self._explain_cancellation(cancelled) from None
        finally:
            _ATTEMPT.reset(token)
        if response.status < 200:
            response.close()
            raise UpstreamFailed(f"{format_host_port(url)} answered with the unexpected status {response.status}")
        return response

    async def connect(self, host: str, port: int, user_id: str) -> socket.socket:
        """Return a connected, non-blocking socket that the caller closes; raise EgressRefused or UpstreamUnreachable.

        The number of lookups for one user is limited, including lookups whose caller was cancelled.
        """
        if self._closed:
            raise self._make_closed_error()
        try:
            url = URL.build(scheme="http", host=host, port=port)
        except ValueError:
            raise EgressRefused("Tools may not reach this host: it cannot be read as one") from None
        attempt = _Attempt(url.raw_host or "", port)
        token = _ATTEMPT.set(attempt)
        try:
            found = await self._addresses(attempt, user_id)
            return await dial(found, port, make=self._socket, seconds=self._connect_seconds)
        except OSError as error:
            raise explain_connect_error(
                error, url, dialled=attempt.dialled, connect_seconds=self._connect_seconds
            ) from None
        except asyncio.CancelledError as cancelled:
            raise self._explain_cancellation(cancelled) from None
        finally:
            _ATTEMPT.reset(token)

    async def close(self) -> None:
        """Close every pooled connection; after that, `send` and `connect` raise Unavailable."""
        self._closed = True
        self._lookups.close()
        self._code_lookups.close()
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _addresses(self, attempt: _Attempt, user_id: str) -> list[str]:
        if is_numeric_host(attempt.host):
            self._check_address(attempt.host, attempt.port)
            return [str(parse_address(attempt.host))]
        lookups = partial(self._code_lookups, user_id=user_id)
        permitted = PermittedResolver(self._allow, lookups, self._connect_seconds)
        return [found["host"] for found in await permitted.resolve(attempt.host, attempt.port)]

    def _explain_cancellation(self, cancelled: asyncio.CancelledError) -> BaseException:
        """Return the error to raise; Unavailable if `close` ended a wait for a lookup or for a free connection."""
        task = asyncio.current_task()
        return self._make_closed_error() if self._closed and task is not None and not task.cancelling() else cancelled

    def _make_closed_error(self) -> Unavailable:
        refusal = Unavailable("Nothing is sent any more: the board is shutting down")
        refusal.did_run = False
        return refusal

    def _check_url_form(self, url: URL) -> None:
        if url.scheme not in ("http", "https"):
            raise EgressRefused(f"Tools may not reach '{url.scheme[:20]}:' URLs; only http and https are sent")
        if "@" in url.raw_authority:
            raise EgressRefused("Tools may not send a user or password in a URL; put them in auth_config")

    def _check_address(self, host: str, port: int) -> None:
        address = parse_address(host)
        if address is not None and not self._allow.permits(host, port, address):
            raise make_egress_refusal(host, address)
        if address is None or (address.version == 4 and str(address) != host):
            raise make_address_refusal(host)

    def _open(self) -> aiohttp.ClientSession:
        if self._closed:
            raise self._make_closed_error()
        connector = aiohttp.TCPConnector(
            resolver=PermittedResolver(self._allow, self._lookups, self._connect_seconds),
            socket_factory=self._socket,
            ssl=self._ssl_context or True,
            limit=2000,
            # Connections to a host are limited by host_limits.py; a limit here would serve requests in order of
            # arrival, behind a user who sends very many.
            limit_per_host=0,
            ttl_dns_cache=10,
            timeout_ceil_threshold=_ROUNDING_THRESHOLD_SECONDS,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            response_class=_Response,
            headers=_DEFAULT_HEADERS,
            timeout=self._time,
            auto_decompress=False,
            read_bufsize=_READ_BYTES,
            max_field_size=_FIELD_BYTES,
        )
        return self._session

    def _socket(self, info: AddressInfo) -> socket.socket:
        """Return a socket for this address; raise AddressRefused if the policy does not permit it."""
        family, kind, protocol, _, target = info
        attempt = _ATTEMPT.get()
        try:
            address = ip_address(target[0])
        except ValueError:
            raise AddressRefused(target[0]) from None
        if attempt is None or not self._allow.permits(attempt.host, target[1], address):
            raise AddressRefused(address)
        attempt.dialled = True
        return socket.socket(family, kind, protocol)
