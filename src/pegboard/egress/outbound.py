"""The one way out: requests to addresses that tools may reach, over pooled connections."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Mapping
from contextvars import ContextVar
from functools import partial
from ipaddress import ip_address
from types import MappingProxyType

import aiohttp
from multidict import CIMultiDict, istr
from yarl import URL

from pegboard.core.errors import EgressRefused, Unavailable, UpstreamFailed
from pegboard.core.version import __version__
from pegboard.egress.addresses import literal, numeric
from pegboard.egress.allow import AllowList
from pegboard.egress.connection import Connection
from pegboard.egress.dialling import AddressInfo, as_of_a_request, dial
from pegboard.egress.faults import FAULTS, Refused, misspelt, place, refusal, sending_fault
from pegboard.egress.lookups import Lookups, system_resolver
from pegboard.egress.requests import PlainRequest, exchange
from pegboard.egress.resolving import PermittedAddresses, Resolver

__all__ = ["USER_AGENT", "Outbound", "Resolver"]

USER_AGENT = f"pegboard/{__version__}"
_HOST = istr("Host")
# What every request begins with; of several forms of an answer, the one that becomes data is preferred.
_HEADERS: CIMultiDict[str] = CIMultiDict(
    {
        _HOST: "",
        istr("User-Agent"): USER_AGENT,
        istr("Accept"): "application/json, */*;q=0.8",
        istr("Accept-Encoding"): "gzip, deflate",
    }
)

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_LOOKUPS = 64
_LOOKUPS_A_USER = 16
_NEVER_ROUND = 86_400  # seconds above which aiohttp makes times whole


class _Asked:
    """What a request asked for, and whether a connection was begun for it."""

    __slots__ = ("dialled", "host", "port")

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port
        self.dialled = False


_ASKED: ContextVar[_Asked | None] = ContextVar("asked", default=None)


class Outbound:
    """Sends requests to public addresses, and to those that an allow-list adds; checked where each socket is made."""

    def __init__(
        self,
        allow: AllowList,
        *,
        resolver: Resolver | None = None,
        connect_seconds: float = 10.0,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._allow = allow
        self._connect_seconds = connect_seconds
        self._ssl_context = ssl_context
        self._time = aiohttp.ClientTimeout(total=None, sock_connect=connect_seconds, ceil_threshold=_NEVER_ROUND)
        self._session: aiohttp.ClientSession | None = None
        resolver = resolver or system_resolver
        self._lookups = Lookups(resolver, most=_LOOKUPS)
        # Not those of requests: names that confined code makes slow must not hold up the lookups of anybody else.
        self._lookups_of_code = Lookups(resolver, most=_LOOKUPS, most_a_user=_LOOKUPS_A_USER)
        self._closed = False

    def check(self, url: str) -> None:
        """Raise EgressRefused where the URL alone shows that it cannot be reached; names are looked up when sending."""
        try:
            read = URL(url)
            host, port = read.raw_host, read.port
        except ValueError:
            raise EgressRefused("Tools may not reach this URL: it cannot be read as one") from None
        self._check_form(read)
        if not host or port is None:
            raise EgressRefused("Tools may not reach this URL: it names no host")
        if numeric(host):
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
        """The answer's head, its body unread; EgressRefused or UpstreamUnreachable where there is none.

        With `resend`, a request without a body that only reads is sent once more where the upstream closed the
        connection just when it was used again; whether it has seen the first one is not known.
        """
        session = self._session or self._open()
        if url.scheme not in ("http", "https") or "@" in url.raw_authority:
            self._check_form(url)
        asked = _Asked(url.raw_host or "", url.port or 0)
        token = _ASKED.set(asked)
        again = False
        try:
            try:
                response = await exchange(session, _request(session, method, url, headers, body), self._time)
            except aiohttp.ClientConnectorError:
                raise
            except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError):
                # Where nothing was dialled, the upstream closed a pooled connection just when it was used again.
                again = resend and not asked.dialled and body is None and method in _SAFE
                if not again:
                    raise
                response = await exchange(session, _request(session, method, url, headers, None), self._time)
        except FAULTS as error:
            if isinstance(error, aiohttp.InvalidURL):
                self._check_address(asked.host, asked.port)
            # Not as its cause: what aiohttp raises holds the whole URL and the headers.
            fault = sending_fault(error, url, dialled=asked.dialled, connect_seconds=self._connect_seconds)
            fault.did_run = again or fault.did_run
            raise fault from None
        except asyncio.CancelledError:
            if self._cut_short():
                raise self._shut() from None
            raise
        finally:
            _ASKED.reset(token)
        if response.status < 200:
            response.close()
            raise UpstreamFailed(f"{place(url)} answered {response.status} to a request that asked for no such thing")
        return response

    async def connect(self, host: str, port: int, user_id: str) -> socket.socket:
        """A connected, non-blocking socket that the caller closes; EgressRefused or UpstreamUnreachable otherwise.

        No more than a share of all lookups is made for one user, those counted that nobody waits for any longer.
        """
        if self._closed:
            raise self._shut()
        try:
            url = URL.build(scheme="http", host=host, port=port)
        except ValueError:
            raise EgressRefused("Tools may not reach this host: it cannot be read as one") from None
        asked = _Asked(url.raw_host or "", port)
        token = _ASKED.set(asked)
        try:
            found = await self._addresses(asked, user_id)
            return await dial(found, port, make=self._socket, seconds=self._connect_seconds)
        except OSError as error:
            fault = as_of_a_request(error, url, dialled=asked.dialled)
            raise sending_fault(fault, url, dialled=asked.dialled, connect_seconds=self._connect_seconds) from None
        except asyncio.CancelledError:
            if self._cut_short():
                raise self._shut() from None
            raise
        finally:
            _ASKED.reset(token)

    async def close(self) -> None:
        """Close every connection of requests; nothing can be sent or connected to after."""
        self._closed = True
        self._lookups.close()
        self._lookups_of_code.close()
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _addresses(self, asked: _Asked, user_id: str) -> list[str]:
        if numeric(asked.host):
            self._check_address(asked.host, asked.port)
            return [str(literal(asked.host))]
        lookups = partial(self._lookups_of_code, user_id=user_id)
        permitted = PermittedAddresses(self._allow, lookups, self._connect_seconds)
        return [found["host"] for found in await permitted.resolve(asked.host, asked.port)]

    def _cut_short(self) -> bool:
        """Whether it was closing that cancelled, as it does whoever waits for a lookup or a free connection."""
        task = asyncio.current_task()
        return self._closed and task is not None and not task.cancelling()

    def _shut(self) -> Unavailable:
        refusal = Unavailable("Nothing is sent any more: the board is shutting down")
        refusal.did_run = False
        return refusal

    def _check_form(self, url: URL) -> None:
        if url.scheme not in ("http", "https"):
            raise EgressRefused(f"Tools may not reach '{url.scheme[:20]}:' URLs; only http and https are sent")
        if "@" in url.raw_authority:
            raise EgressRefused("Tools may not send a user or password in a URL; put them in auth_config")

    def _check_address(self, host: str, port: int) -> None:
        address = literal(host)
        if address is not None and not self._allow.permits(host, port, address):
            raise refusal(host, address)
        if address is None or (address.version == 4 and str(address) != host):
            raise misspelt(host)

    def _open(self) -> aiohttp.ClientSession:
        if self._closed:
            raise self._shut()
        connector = aiohttp.TCPConnector(
            resolver=PermittedAddresses(self._allow, self._lookups, self._connect_seconds),
            socket_factory=self._socket,
            ssl=self._ssl_context or True,
            limit=2000,
            # Callers share the connections to a host (hosts.py); a limit here would have them wait in the order of
            # their requests, behind a user who makes very many.
            limit_per_host=0,
            ttl_dns_cache=10,
            timeout_ceil_threshold=_NEVER_ROUND,
        )
        connector._factory = partial(Connection, loop=asyncio.get_running_loop())  # type: ignore[assignment]  # a subclass
        self._session = session = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())
        return session

    def _socket(self, info: AddressInfo) -> socket.socket:
        """The guard: a socket for exactly the address that is about to be connected to, if it is permitted."""
        family, kind, protocol, _, target = info
        asked = _ASKED.get()
        try:
            address = ip_address(target[0])
        except ValueError:
            raise Refused(target[0]) from None
        if asked is None or not self._allow.permits(asked.host, target[1], address):
            raise Refused(address)
        asked.dialled = True
        return socket.socket(family, kind, protocol)


def _request(
    session: aiohttp.ClientSession, method: str, url: URL, headers: Mapping[str, str], body: bytes | None
) -> PlainRequest:
    host = url.host_port_subcomponent
    if not host:
        raise aiohttp.InvalidURL(url)
    whole = _HEADERS.copy()
    whole[_HOST] = host
    if headers:
        whole.update(headers)
    return PlainRequest(session, method, url, whole, body)
