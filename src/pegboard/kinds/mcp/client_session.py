"""One session with one MCP server, over HTTP or with a child process: opening it, calls, progress, and its tool
list. Importing this module loads the SDK.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any, TypeVar

import anyio
import mcp_types as types
from mcp import Client, MCPError
from mcp.client.session import ClientSession, IncomingMessage
from mcp.client.subscriptions import SubscriptionLost, ToolsListChanged
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from pegboard.kinds.mcp.call_client import CallClient
from pegboard.kinds.mcp.call_progress import MAX_MESSAGE_CHARS, McpProgress
from pegboard.kinds.mcp.capability_stream import PASSED_CAPABILITIES_KEY, CapabilityStream
from pegboard.kinds.mcp.http_transport import RequestFault, explain_transport_error
from pegboard.kinds.mcp.input_requests import describe_input_request
from pegboard.kinds.mcp.mcp_errors import describe_first_error, explain_mcp_error
from pegboard.kinds.mcp.resource_stream import ResourceStream, open_resource_stream
from pegboard.kinds.mcp.sdk_logs import is_in_session
from pegboard.kinds.mcp.server_change import OnChange, ServerChange
from pegboard.kinds.mcp.server_messages import ServerMessages
from pegboard.kinds.mcp.stdio_transport import PacedStream, TransportStreams
from pegboard.kinds.mcp.upstream import CallNotRun, OnUpstreamProgress, PeerRefused, Upstream, UpstreamTool
from pegboard.kinds.mcp.upstream_lists import fetch_entries, fetch_tools
from pegboard.model.call_errors import ToolError, UpstreamFailed, UpstreamUnreachable
from pegboard.model.mcp_exchange import McpFailure
from pegboard.telemetry.logs import get_logger
from pegboard.version import __version__

log = get_logger(__name__)

T = TypeVar("T")

# An older list is fetched again in the background of the next call.
LIST_MAX_AGE_SECONDS = 60.0
# Minimum interval, however often the server reports changes or unknown tools are called.
MIN_LIST_INTERVAL_SECONDS = 1.0
RELISTEN_SECONDS = 5.0
SESSION_CLOSE_SECONDS = 3.0
INITIALIZE_PHASE = "answer initialize"
# After this many consecutive timed-out calls without any message from the server, the session is closed.
MAX_ABANDONED = 3

# The raw result: the SDK has checked its form, and a copy in its own classes would lose unknown fields.
_ANY_RESULT: TypeAdapter[Any] = TypeAdapter(Any)
_CLIENT_INFO = types.Implementation(name="pegboard", version=__version__)


class McpSession:
    """A session that its own task opens, holds and closes; calls may come from any task."""

    def __init__(
        self,
        upstream: Upstream,
        transport: AbstractAsyncContextManager[TransportStreams],
        *,
        mode: str,
        seconds: float,
        max_bytes: int,
        on_change: OnChange = lambda _change: None,
        fault: Callable[[Any], RequestFault | None] = lambda _data: None,
        settled: Callable[[], None] = lambda: None,
        read_stderr: Callable[[], str] = lambda: "",
    ) -> None:
        self._shown = upstream.display_name
        self._transport = transport
        self._stream: PacedStream | None = None
        client = upstream.client
        self._on_change = on_change
        self._messages = ServerMessages(on_change, has_client=client is not None)
        self._declared = client.capabilities if client is not None else {}
        self._log_level: str | None = None
        self._mode = mode
        self._seconds = seconds
        self._max_bytes = max_bytes
        self._fault = fault
        self._settled = settled
        # Returns the end of the command's standard error, for timeout messages.
        self._read_stderr = read_stderr
        self._phase = INITIALIZE_PHASE
        self._scope: anyio.CancelScope | None = None
        self._client: Client | None = None
        self._sdk: ClientSession | None = None
        self._end = asyncio.Event()
        self._list_lock = asyncio.Lock()
        self._refresh_task: asyncio.Task[None] | None = None
        self._abandoned = 0
        self._messages_at_abandon = -1
        self._calls = 0
        self._is_retired = False
        self._listed_at = -math.inf
        self.why: ToolError | None = None
        # True if a change of the tools may have been missed, because the event stream was interrupted.
        self.in_doubt = False
        # True if the server disconnected during initialize, as some do with a newer protocol version.
        self.was_refused = False
        self.tools: Mapping[str, UpstreamTool] = {}
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.task = asyncio.create_task(self._own(), name="pegboard-mcp")

    @property
    def is_over(self) -> bool:
        """True if the session accepts no more calls."""
        return self._is_retired or self._end.is_set()

    async def wait_until_open(self) -> None:
        """Wait until the session is ready; raise the error that prevented it."""
        await asyncio.shield(self._ready)

    def lose(self, error: ToolError) -> None:
        """Record why the upstream is lost, and end the session."""
        self.why = self.why or error
        self.end()

    def retire(self) -> None:
        """Accept no more calls, and end the session after the running ones."""
        self._is_retired = True
        if not self._calls:
            self.end()

    def on_server_closed(self, error: ToolError) -> None:
        """Record that the server ended the session, and why."""
        self.was_refused = self._phase == INITIALIZE_PHASE and not self.is_over
        self.lose(error)

    def end(self) -> None:
        """End the session soon; `task` is done when all its resources are released."""
        self._end.set()
        if self._scope is not None and not self._ready.done():
            self._scope.cancel()

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        on_progress: OnUpstreamProgress | None,
        client: CallClient | None = None,
    ) -> dict[str, Any]:
        """Call a tool and return its result as in MCP; raise CallNotRun if the upstream did not receive the call.

        The result is a request for input only if the `client` can send its request again.
        """
        if time.monotonic() - self._listed_at > LIST_MAX_AGE_SECONDS:
            self._refresh_soon()
        params: dict[str, Any] = {"name": tool, "arguments": dict(arguments)}
        progress = McpProgress(on_progress) if on_progress is not None else None
        mine = is_in_session.set(True)
        self._calls += 1
        try:
            if client is None:
                answer = await self._send_call(params, progress)
                if answer.get("resultType") == "input_required":
                    raise UpstreamFailed(
                        f"{self._shown} asked for input that this board cannot give{describe_input_request(answer)}"
                    )
                return answer
            await self._set_log_level(client)
            with self._messages.attach(client):
                sending = partial(self._send_call, progress=progress)
                return await client.send_until_complete(sending, self._complete_params(params, client))
        except MCPError as error:
            if error.code == types.HEADER_MISMATCH:
                # The tool's parameters have changed since it was listed, and the server rejects the call.
                await self.refresh(time.monotonic())
                raise CallNotRun(explain_mcp_error(error, self._shown)) from None
            raise await self._convert_error(error) from None
        except ValidationError as error:
            raise UpstreamFailed(
                f"{self._shown} answered with an invalid result: {describe_first_error(error)}"
            ) from None
        finally:
            self._end_call()
            is_in_session.reset(mine)
            if progress is not None:
                progress.to = None

    async def request(self, method: str, params: Mapping[str, Any], client: CallClient | None = None) -> dict[str, Any]:
        """Send another request and return its result; raise PeerRefused if the server answers with an error.

        The caller limits the time.
        """
        return await self._guard(self._send_for(client, method, params), f"answer {method}", seconds=None)

    async def _send_for(self, client: CallClient | None, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        if client is None:
            return await self._send(method, params)
        await self._set_log_level(client)
        with self._messages.attach(client):
            return await client.send_until_complete(partial(self._send, method), self._complete_params(params, client))

    def _complete_params(self, params: Mapping[str, Any], client: CallClient) -> Mapping[str, Any]:
        keys = (PASSED_CAPABILITIES_KEY, types.LOG_LEVEL_META_KEY)
        completed: Mapping[str, Any] = client.build_params(params, is_stateless=self.is_stateless, meta_keys=keys)
        return completed

    async def _set_log_level(self, client: CallClient) -> None:
        """Set the level of the client, if the session belongs to it and its server has levels of sessions."""
        level = client.log_level
        if level is None or level == self._log_level or self.is_stateless or self._get_capability("logging") is None:
            return
        self._log_level = level
        try:
            await self._send("logging/setLevel", {"level": level})
        except MCPError as error:
            # If the session is broken, the call reports it.
            log.info("mcp_log_level_refused", upstream=self._shown, code=error.code)

    async def _send_call(self, params: Mapping[str, Any], progress: McpProgress | None) -> dict[str, Any]:
        sdk, stream = self._sdk, self._stream
        assert sdk is not None
        assert stream is not None
        received = stream.received
        stream.expected += 1
        try:
            request = types.Request[dict[str, Any], str](method="tools/call", params=dict(params))
            answer: dict[str, Any] = await sdk.send_request(request, _ANY_RESULT, progress_callback=progress)
        except asyncio.CancelledError:
            stream.expected = max(0, stream.expected - 1)
            self._abandon(received)
            raise
        return answer

    def _end_call(self) -> None:
        self._calls -= 1
        if self._is_retired and not self._calls:
            self.end()

    def report_roots_change(self) -> None:
        """Tell the server that the roots of the client have changed."""
        self._messages.send_soon("notifications/roots/list_changed")

    @property
    def has_resource_subscriptions(self) -> bool:
        """True if the server of a session in an older revision reports changes of its resources."""
        resources = self._get_capability("resources")
        return resources is not None and bool(resources.subscribe)

    @asynccontextmanager
    async def listen_to_resources(self, uris: Sequence[str]) -> AsyncIterator[ResourceStream]:
        """Open a stream for changes of resources, in the newer revision; raise PeerRefused or a ToolError."""
        assert self._client is not None
        async with AsyncExitStack() as stack:
            opening = stack.enter_async_context(open_resource_stream(self._client, uris))
            try:
                stream = await self._guard(opening, "answer subscriptions/listen", seconds=self._seconds)
            except SubscriptionLost:
                raise UpstreamUnreachable(f"{self._shown} ended a subscription before it began") from None
            yield stream

    async def list_entries(self, method: str, member: str) -> list[dict[str, Any]]:
        """Return all pages of a list, empty if the server has no such list."""
        if self._get_capability(method) is None:
            return []
        fetching = fetch_entries(self._send, method, member, self._shown, max_bytes=self._max_bytes)
        try:
            return await self._guard(fetching, f"answer {method}", seconds=self._seconds)
        except PeerRefused as error:
            if error.failure.code == types.METHOD_NOT_FOUND:
                return []  # such as templates of a server that has only resources
            raise

    @property
    def is_stateless(self) -> bool:
        """True if each request has the capabilities of its client."""
        return self._sdk is not None and self._sdk.protocol_version in MODERN_PROTOCOL_VERSIONS

    @property
    def _has_tools(self) -> bool:
        """False if the server declares that it offers other things only; then its tools are not requested."""
        others = ("prompts/list", "resources/list")
        return self._get_capability("tools/list") is not None or not any(map(self._get_capability, others))

    def _get_capability(self, method: str) -> Any:
        assert self._sdk is not None
        return getattr(self._sdk.server_capabilities, method.partition("/")[0], None)

    async def _send(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        assert self._sdk is not None
        request = types.Request[dict[str, Any], str](method=method, params=dict(params))
        result: dict[str, Any] = await self._sdk.send_request(request, _ANY_RESULT)
        return result

    async def _guard(self, sending: Coroutine[Any, Any, T], phase: str, *, seconds: float | None) -> T:
        """Await a request that is not a call, for a limited time; convert its errors."""
        mine = is_in_session.set(True)
        self._calls += 1
        try:
            async with asyncio.timeout(seconds):
                return await sending
        except TimeoutError:
            raise self._make_timeout_error(phase) from None
        except MCPError as error:
            if self._fault(error.error.data) is None and error.code != types.CONNECTION_CLOSED:
                failure = McpFailure(error.code, error.message[:MAX_MESSAGE_CHARS], error.data)
                raise PeerRefused(failure) from None
            raise await self._convert_error(error) from None
        except ValidationError as error:
            raise UpstreamFailed(
                f"{self._shown} did not {phase} as MCP requires: {describe_first_error(error)}"
            ) from None
        finally:
            is_in_session.reset(mine)
            self._end_call()

    async def refresh(self, since: float) -> None:
        """List the tools again unless that happened after `since`; raise CallNotRun if a new session may help."""
        async with self._list_lock:
            if self._listed_at >= since:
                return
            try:
                async with asyncio.timeout(self._seconds):
                    await self._fetch_tools()
            except TimeoutError:
                raise self._make_timeout_error("list its tools") from None
            except MCPError as error:
                raise await self._convert_error(error) from None
            except ValidationError as error:
                raise UpstreamFailed(
                    f"The tools of {self._shown} cannot be read: {describe_first_error(error)}"
                ) from None

    def _make_timeout_error(self, phase: str) -> ToolError:
        return UpstreamUnreachable(f"{self._shown} did not {phase} within {self._seconds:g} s{self._read_stderr()}")

    async def _own(self) -> None:
        is_in_session.set(True)
        try:
            with anyio.CancelScope(deadline=anyio.current_time() + self._seconds) as scope:
                self._scope = scope
                if self.is_over:
                    scope.cancel()
                async with Client(
                    self._open_transport(),
                    mode=self._mode,
                    message_handler=self._on_message,
                    client_info=_CLIENT_INFO,
                    cache=None,
                ) as client:
                    self._client, self._sdk = client, client.session
                    self._phase = "list its tools"
                    await self._fetch_tools()
                    scope.deadline = math.inf
                    self._settled()
                    self._ready.set_result(None)
                    await self._keep_open(client)
                    scope.deadline = anyio.current_time() + SESSION_CLOSE_SECONDS
            if not self._ready.done():
                self.lose(self._make_timeout_error(self._phase))
        except Exception as error:
            self.lose(self._explain_open_error(error))
        finally:
            self._end.set()
            if self._refresh_task is not None:
                self._refresh_task.cancel()
            if not self._ready.done():
                self._ready.set_exception(self.why or UpstreamUnreachable(f"The session with {self._shown} was ended"))
                self._ready.exception()  # retrieve the exception: perhaps no caller waits any more

    @asynccontextmanager
    async def _open_transport(self) -> AsyncIterator[TransportStreams]:
        async with self._transport as (read, write):
            self._stream = PacedStream(read, self._messages.receive)
            self._messages.output = write
            try:
                yield self._stream, CapabilityStream(write, self._declared)
            finally:
                await self._messages.close()

    async def _keep_open(self, client: Client) -> None:
        async with anyio.create_task_group() as tasks:
            if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
                tasks.start_soon(self._listen, client)
            await self._end.wait()
            tasks.cancel_scope.cancel()

    async def _listen(self, client: Client) -> None:
        """Subscribe to changes of lists, as the newer protocol requires; notifications arrive as in the older one."""
        offered = client.server_capabilities
        lists = (offered.tools, offered.prompts, offered.resources)
        tools, prompts, resources = (each is not None and bool(each.list_changed) for each in lists)
        while tools or prompts or resources:
            try:
                async with client.listen(
                    tools_list_changed=tools, prompts_list_changed=prompts, resources_list_changed=resources
                ) as changes:
                    async for change in changes:
                        if isinstance(change, ToolsListChanged):
                            self._refresh_soon()
            except SubscriptionLost:
                pass
            except MCPError as error:
                if self._fault(error.error.data) is None:
                    return  # not supported after all; the list is fetched again every minute
            self.in_doubt = True
            await asyncio.sleep(RELISTEN_SECONDS)

    async def _on_message(self, message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._refresh_soon()

    def _refresh_soon(self) -> None:
        if self._refresh_task is None or self._refresh_task.done():
            self._refresh_task = asyncio.create_task(self._refresh_later(), name="pegboard-mcp-list")

    async def _refresh_later(self) -> None:
        is_in_session.set(True)
        await asyncio.sleep(self._listed_at + MIN_LIST_INTERVAL_SECONDS - time.monotonic())
        try:
            await self.refresh(time.monotonic())
        except Exception as error:
            if not self.is_over:
                why = str(error) if isinstance(error, ToolError | CallNotRun) else type(error).__name__
                log.warning("mcp_tools_not_listed", upstream=self._shown, error=why)

    async def _fetch_tools(self) -> None:
        assert self._sdk is not None
        stream = self._stream
        assert stream is not None
        before, known = time.monotonic(), self.tools.keys()
        if self._has_tools:
            self.tools = await fetch_tools(
                self._sdk, self._shown, max_bytes=self._max_bytes, get_page=lambda: stream.tools_page
            )
        stream.tools_page = None
        if self._listed_at > 0 and self.tools.keys() != known:
            self._on_change(ServerChange("tools"))
        self._listed_at = before
        self.in_doubt = False

    async def _convert_error(self, error: MCPError) -> ToolError | CallNotRun:
        """Convert a protocol error to the error of its call."""
        fault = self._fault(error.error.data)
        if fault is not None:
            if fault.session_unknown:
                self.retire()
            return fault.error if fault.error.did_run else CallNotRun(fault.error)
        if error.code == types.CONNECTION_CLOSED and error.message == "Connection closed":
            self.end()
            if self.why is None:
                # The session task is ending and will set the reason.
                await asyncio.wait({self.task}, timeout=SESSION_CLOSE_SECONDS / 2)
            return self.why or UpstreamUnreachable(f"The session with {self._shown} was ended during the call")
        return explain_mcp_error(error, self._shown)

    def _explain_open_error(self, error: Exception) -> ToolError:
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, MCPError):
            fault = self._fault(error.error.data)
            if fault is not None:
                return fault.error
            if error.code == types.CONNECTION_CLOSED:
                return self.why or UpstreamUnreachable(f"{self._shown} closed the connection")
            return explain_mcp_error(error, self._shown)
        if isinstance(error, ValidationError):
            return UpstreamFailed(f"{self._shown} did not {self._phase} as MCP requires: {describe_first_error(error)}")
        return explain_transport_error(error)

    def _abandon(self, received: int) -> None:
        """End the session if the server has stopped responding, so that the next call opens a new one."""
        stream = self._stream
        assert stream is not None
        self._abandoned = self._abandoned + 1 if stream.received == self._messages_at_abandon else 1
        self._messages_at_abandon = stream.received
        if stream.received == received and self._abandoned >= MAX_ABANDONED and self._calls == 1:
            self.lose(UpstreamUnreachable(f"{self._shown} stopped responding"))
