"""The only client for egress: pooled requests and plain connections to addresses that tools may reach."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from functools import partial
from ipaddress import ip_address
from types import MappingProxyType

import aiohappyeyeballs
import aiohttp
from aiohttp.client_reqrep import ConnectionKey
from multidict import CIMultiDict, istr
from yarl import URL

from pegboard.http_client.address_policy import AllowList, is_numeric_host, parse_address
from pegboard.http_client.aiohttp_connection import StrictResponseHandler
from pegboard.http_client.aiohttp_requests import PlainRequest, send_request
from pegboard.http_client.dns import DnsLookups, PermittedResolver, Resolver, resolve_with_system
from pegboard.http_client.network_errors import (
    NETWORK_ERRORS,
    AddressRefused,
    explain_send_error,
    format_host_port,
    make_address_refusal,
    make_egress_refusal,
)
from pegboard.model.call_errors import EgressRefused, Unavailable, UpstreamFailed
from pegboard.version import __version__

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


def to_aiohttp_error(error: OSError, url: URL, *, dialled: bool) -> Exception:
    """Return the error that aiohttp raises for a failed connection, so that both have the same messages."""
    if isinstance(error, TimeoutError) and error.errno is None:
        return aiohttp.ConnectionTimeoutError()
    key = ConnectionKey(url.raw_host or "", url.port, False, True, None, None, None)
    kind = aiohttp.ClientConnectorError if dialled else aiohttp.ClientConnectorDNSError
    return kind(key, error)


__all__ = ["USER_AGENT", "GuardedClient", "Resolver"]

USER_AGENT = f"pegboard/{__version__}"
_HOST = istr("Host")
# The default headers of every request; of several representations, JSON is preferred.
_DEFAULT_HEADERS: CIMultiDict[str] = CIMultiDict(
    {
        _HOST: "",
        istr("User-Agent"): USER_AGENT,
        istr("Accept"): "application/json, */*;q=0.8",
        istr("Accept-Encoding"): "gzip, deflate",
    }
)

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_MAX_LOOKUPS = 64
_MAX_LOOKUPS_PER_USER = 16
_ROUNDING_THRESHOLD_SECONDS = 86_400  # aiohttp rounds timeouts above this value to whole seconds


class _RequestTarget:
    """The target of a request, and whether a connection was started for it."""

    __slots__ = ("dialled", "host", "port")

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port
        self.dialled = False


_REQUEST_TARGET: ContextVar[_RequestTarget | None] = ContextVar("asked", default=None)


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
            raise EgressRefused("Tools may not reach this URL: it names no host")
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
        asked = _RequestTarget(url.raw_host or "", url.port or 0)
        token = _REQUEST_TARGET.set(asked)
        again = False
        try:
            try:
                response = await send_request(session, _build_request(session, method, url, headers, body), self._time)
            except aiohttp.ClientConnectorError:
                raise
            except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError):
                # If no connection was started, the upstream closed a pooled connection when it was reused.
                again = resend and not asked.dialled and body is None and method in _SAFE_METHODS
                if not again:
                    raise
                response = await send_request(session, _build_request(session, method, url, headers, None), self._time)
        except NETWORK_ERRORS as error:
            if isinstance(error, aiohttp.InvalidURL):
                self._check_address(asked.host, asked.port)
            # Not chained with `from`: aiohttp's error contains the whole URL and the headers.
            fault = explain_send_error(error, url, dialled=asked.dialled, connect_seconds=self._connect_seconds)
            fault.did_run = again or fault.did_run
            raise fault from None
        except asyncio.CancelledError:
            if self._was_cancelled_by_close():
                raise self._make_closed_error() from None
            raise
        finally:
            _REQUEST_TARGET.reset(token)
        if response.status < 200:
            response.close()
            raise UpstreamFailed(
                f"{format_host_port(url)} answered {response.status} to a request that asked for no such thing"
            )
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
        asked = _RequestTarget(url.raw_host or "", port)
        token = _REQUEST_TARGET.set(asked)
        try:
            found = await self._addresses(asked, user_id)
            return await dial(found, port, make=self._socket, seconds=self._connect_seconds)
        except OSError as error:
            fault = to_aiohttp_error(error, url, dialled=asked.dialled)
            raise explain_send_error(fault, url, dialled=asked.dialled, connect_seconds=self._connect_seconds) from None
        except asyncio.CancelledError:
            if self._was_cancelled_by_close():
                raise self._make_closed_error() from None
            raise
        finally:
            _REQUEST_TARGET.reset(token)

    async def close(self) -> None:
        """Close every pooled connection; after that, `send` and `connect` raise Unavailable."""
        self._closed = True
        self._lookups.close()
        self._code_lookups.close()
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _addresses(self, asked: _RequestTarget, user_id: str) -> list[str]:
        if is_numeric_host(asked.host):
            self._check_address(asked.host, asked.port)
            return [str(parse_address(asked.host))]
        lookups = partial(self._code_lookups, user_id=user_id)
        permitted = PermittedResolver(self._allow, lookups, self._connect_seconds)
        return [found["host"] for found in await permitted.resolve(asked.host, asked.port)]

    def _was_cancelled_by_close(self) -> bool:
        """Return True if `close` cancelled the task, which waited for a lookup or for a free connection."""
        task = asyncio.current_task()
        return self._closed and task is not None and not task.cancelling()

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
        # StrictResponseHandler is a subclass of the handler that aiohttp declares here.
        connector._factory = partial(StrictResponseHandler, loop=asyncio.get_running_loop())  # type: ignore[assignment]
        self._session = session = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())
        return session

    def _socket(self, info: AddressInfo) -> socket.socket:
        """Return a socket for this address; raise AddressRefused if the policy does not permit it."""
        family, kind, protocol, _, target = info
        asked = _REQUEST_TARGET.get()
        try:
            address = ip_address(target[0])
        except ValueError:
            raise AddressRefused(target[0]) from None
        if asked is None or not self._allow.permits(asked.host, target[1], address):
            raise AddressRefused(address)
        asked.dialled = True
        return socket.socket(family, kind, protocol)


def _build_request(
    session: aiohttp.ClientSession, method: str, url: URL, headers: Mapping[str, str], body: bytes | None
) -> PlainRequest:
    host = url.host_port_subcomponent
    if not host:
        raise aiohttp.InvalidURL(url)
    whole = _DEFAULT_HEADERS.copy()
    whole[_HOST] = host
    if headers:
        whole.update(headers)
    return PlainRequest(session, method, url, whole, body)
