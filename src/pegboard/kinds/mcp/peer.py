"""Prompts, resources and completions of an imported MCP server, in the definitions that its owner accepted."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from pegboard.http_client.circuit_breaker import CircuitBreakers
from pegboard.kinds.base import InjectedConfig, read_config
from pegboard.kinds.mcp.call_client import CallClient
from pegboard.kinds.mcp.config import McpConfig
from pegboard.kinds.mcp.input_requests import check_declared
from pegboard.kinds.mcp.live_lists import convert_failure
from pegboard.kinds.mcp.upstream import PeerRefused, Upstream
from pegboard.kinds.mcp.upstream_monitor import UpstreamMonitor
from pegboard.kinds.secret_mask import SecretMask
from pegboard.model.call_errors import ToolError, UpstreamFailed, UpstreamUnreachable
from pegboard.model.mcp_exchange import McpExchange, McpFailure
from pegboard.model.mcp_peer import EntryKind, PeerFailed
from pegboard.model.registered_upstream import RegisteredUpstream, UpstreamConnection

if TYPE_CHECKING:
    from pegboard.kinds.mcp.client_session import McpSession

# How long a list of the board waits for one server.
LIST_WAIT_SECONDS = 1.0
REQUEST_SECONDS = 30.0
_INVALID_PARAMS = -32602
_RESOURCE_NOT_FOUND = -32002
_WORDS: Mapping[EntryKind, str] = {
    "prompts": "Prompt",
    "resources": "Resource",
    "resourceTemplates": "Resource template",
}


class UpstreamPeer:
    """One server, reached over the sessions that calls of its tools share; credentials are masked."""

    def __init__(
        self, monitor: UpstreamMonitor, registered: RegisteredUpstream, open_config: Callable[[], InjectedConfig]
    ) -> None:
        self.id = registered.id
        self.label = registered.name
        self.is_followed = registered.follow
        self._registered = registered
        self._monitor = monitor
        # Returns the config with decrypted credentials; raises ToolError.
        self._open_config = open_config

    @cached_property
    def _opened(self) -> tuple[Upstream, SecretMask]:
        filled = self._open_config()
        upstream = Upstream.of(read_config(McpConfig, filled.config), filled.auth, self._registered.owner_id)
        self._monitor.pool.check(upstream)
        return upstream, SecretMask(upstream.secrets | filled.secrets)

    @property
    def upstream(self) -> Upstream:
        """The server; raises ToolError if its config cannot be used."""
        return self._opened[0]

    @property
    def mask(self) -> SecretMask:
        """The mask of its credentials; raises ToolError if its config cannot be used."""
        return self._opened[1]

    def has_upstream(self, upstream: Upstream) -> bool:
        """True if it is this server with these credentials."""
        try:
            return self.upstream == upstream
        except ToolError:
            return False

    def describe_connection(self, breakers: CircuitBreakers) -> UpstreamConnection:
        """Return whether the server answers, without asking it."""
        try:
            status = self._monitor.find_status(self)
        except ToolError as error:
            return UpstreamConnection(last_error=error.message)
        connection = self._monitor.pool.connections.get(self.upstream)
        return UpstreamConnection(
            self._monitor.pool.find_session(self.upstream) is not None,
            0 if connection is None else connection.calls,
            "open" if breakers.is_open(self._registered.owner_id, self.upstream.origin) else "closed",
            status.checked_at,
            None if status.failure is None else status.failure.message,
        )

    def refresh_soon(self) -> None:
        """Read the server's lists if that was not done for a while, without waiting."""
        with suppress(ToolError):  # a request reports why the server cannot be asked
            self._monitor.refresh_soon(self)

    async def find_problem(self) -> str | None:
        """Return why the server is unavailable, or None; ask it if its status is old, for a short time."""
        try:
            status = await self._monitor.refresh(self, LIST_WAIT_SECONDS)
        except ToolError as error:
            return error.message
        if status is None:
            return f"{self.label} did not answer within {LIST_WAIT_SECONDS:g} s"
        return None if status.failure is None else status.failure.message

    async def check_entry(self, kind: EntryKind, name: str) -> None:
        """Raise PeerFailed if the server's entry of this name or URI is not the one that its owner accepted."""
        pinned = next((each for each in self._registered.get_entries(kind) if each.name == name), None)
        live = (await self._get_digests(kind)).get(name)
        if pinned is not None and live == pinned.digest:
            return
        # The known list may be older than what the owner accepted.
        await self._monitor.expire(self)
        live = (await self._get_digests(kind)).get(name)
        if pinned is not None and live == pinned.digest:
            return
        what = f"{_WORDS[kind]} '{name[:200]}'"
        if live is None:
            code = _INVALID_PARAMS if kind == "prompts" else _RESOURCE_NOT_FOUND
            raise PeerFailed(McpFailure(code, f"{what} is no longer offered by its server '{self.label}'"))
        if pinned is None:
            raise self._refuse(f"{what} is new on its server '{self.label}', and", "imports it again")
        message = f"{what} was changed by the server that offers it, '{self.label}', and"
        raise self._refuse(message, f"accepts that: pegboard upstreams accept {shlex.quote(self.label)}")

    async def check_unlisted(self, uri: str) -> None:
        """Raise PeerFailed if the server lists a resource of this URI, which its owner has not accepted."""
        if uri in await self._get_digests("resources"):
            await self.check_entry("resources", uri)

    async def request(
        self, method: str, params: Mapping[str, Any], exchange: McpExchange | None = None
    ) -> dict[str, Any]:
        """Return the result of a request; raise PeerFailed."""
        upstream, mask = self._open()
        exchange = exchange or McpExchange()
        client = CallClient(exchange, mask, self.label)

        async def send(session: McpSession) -> dict[str, Any]:
            return await session.request(method, params, client)

        try:
            async with asyncio.timeout(REQUEST_SECONDS) as exchange.timer:
                result = await self._monitor.pool.use(client.select(upstream), send)
        except TimeoutError:
            raise self._fail(f"{self.label} did not answer within {REQUEST_SECONDS:g} s") from None
        except (ToolError, PeerRefused) as error:
            raise PeerFailed(convert_failure(error, mask)) from None
        masked: dict[str, Any] = await _apply_mask(mask, result)
        if result.get("resultType") == "input_required":
            try:
                check_declared(masked, exchange.capabilities or {}, self.label)
            except UpstreamFailed as error:
                raise PeerFailed(convert_failure(error, mask)) from None
            # The state is encrypted for the client, and its server needs it unchanged.
            return {**masked, "requestState": result.get("requestState")}
        return masked

    def watch(self) -> Callable[[], None]:
        """Read its lists as soon as the server reports changes, until the returned function is called."""
        try:
            return self._monitor.watch(self)
        except ToolError:
            return _do_nothing  # requests report why it cannot be asked

    async def subscribe(
        self, uri: str, on_update: Callable[[str], None], exchange: McpExchange | None = None
    ) -> Callable[[], None]:
        """Call `on_update` with the URI after each change of a resource, until the returned function is called.

        Raises PeerFailed.
        """
        upstream, mask = self._open()
        if exchange is not None:
            upstream = CallClient(exchange, mask, self.label).select(upstream)
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                return await self._monitor.resources.subscribe(
                    upstream, uri, lambda changed: on_update(mask.text(changed))
                )
        except TimeoutError:
            raise self._fail(f"{self.label} did not answer within {REQUEST_SECONDS:g} s") from None
        except (ToolError, PeerRefused) as error:
            raise PeerFailed(convert_failure(error, mask)) from None

    async def _get_digests(self, kind: EntryKind) -> Mapping[str, str]:
        """Return the digests of the server's current entries; raise PeerFailed if it does not answer."""
        self._open()
        status = await self._monitor.refresh(self, REQUEST_SECONDS)
        found = None if status is None else status.digests.get(kind)
        if found is not None:
            return found
        failure = None if status is None else status.failures.get(kind)
        raise PeerFailed(failure) if failure else self._fail(f"{self.label} did not list its {kind} in time")

    def _open(self) -> tuple[Upstream, SecretMask]:
        try:
            return self._opened
        except ToolError as error:
            raise self._fail(error.message) from None

    def _fail(self, message: str) -> PeerFailed:
        return PeerFailed(convert_failure(UpstreamUnreachable(message), SecretMask(())))

    def _refuse(self, what: str, way_out: str) -> PeerFailed:
        return PeerFailed(McpFailure(_INVALID_PARAMS, f"{what} is not used until its owner {way_out}"))


async def _apply_mask(mask: SecretMask, value: Any) -> Any:
    if not mask.count_bytes_to_mask(value):
        return value
    return await asyncio.to_thread(partial(mask.mask_value, value))


def _do_nothing() -> None:
    """End nothing: the server is not watched."""
