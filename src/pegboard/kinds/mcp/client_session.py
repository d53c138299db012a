"""One session with one MCP server, over HTTP or with a child process: opening it, calls, progress, and its tool
list. Importing this module loads the SDK.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any, TypeVar

import anyio
import mcp_types as types
from mcp import Client, MCPError
from mcp.client.session import ClientSession, IncomingMessage
from mcp.client.subscriptions import SubscriptionLost
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from pegboard.http_client.guarded_client import GuardedClient
from pegboard.kinds.mcp.capability_stream import PASSED_CAPABILITIES_KEY, CapabilityStream
from pegboard.kinds.mcp.http_transport import McpHttpTransport, RequestFault, explain_transport_error
from pegboard.kinds.mcp.input_requests import describe_input_request
from pegboard.kinds.mcp.mcp_errors import describe_first_error, explain_mcp_error
from pegboard.kinds.mcp.sdk_logs import is_in_session, silence_sdk_logs
from pegboard.kinds.mcp.stdio_transport import McpChildProcess, PacedStream, TransportStreams, open_stdio_transport
from pegboard.kinds.mcp.upstream import CallNotRun, OnUpstreamProgress, PeerRefused, Upstream, UpstreamTool
from pegboard.kinds.mcp.upstream_lists import fetch_entries, fetch_tools
from pegboard.model.call import OnProgress, Progress
from pegboard.model.call_errors import ToolError, UpstreamFailed, UpstreamUnreachable
from pegboard.model.mcp_exchange import McpExchange, McpFailure
from pegboard.telemetry.logs import get_logger
from pegboard.version import __version__

log = get_logger(__name__)

T = TypeVar("T")

# Longer messages are cut.
MAX_MESSAGE_CHARS = 1000


class McpProgress:
    """Forwards the progress of a call while it runs, but nothing after its result.

    Invalid values are dropped: numbers that are not finite, totals that are not positive. Progress never decreases.
    """

    def __init__(self, to: OnProgress) -> None:
        self.to: OnProgress | None = to
        self._max_progress = -math.inf

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        if self.to is None:
            return
        if math.isfinite(progress):
            self._max_progress = max(self._max_progress, progress)
        number = self._max_progress if math.isfinite(self._max_progress) else None
        of = total if total is not None and math.isfinite(total) and total > 0 and number is not None else None
        cut = message[:MAX_MESSAGE_CHARS] if message is not None else None
        if number is None and cut is None:
            return
        try:
            self.to(Progress(number, of, cut))
        except Exception as error:
            # Drop a subscriber that raised; the upstream is not affected.
            self.to = None
            log.warning("progress_listener_failed", error=type(error).__name__)


# An older list is fetched again in the background of the next call.
LIST_MAX_AGE_SECONDS = 60.0
# Minimum interval, however often the server reports changes or unknown tools are called.
MIN_LIST_INTERVAL_SECONDS = 1.0
RELISTEN_SECONDS = 5.0
SESSION_CLOSE_SECONDS = 3.0
INITIALIZE_PHASE = "answer initialize"
# After so many consecutive timed-out calls without any message from the server, the session is closed.
MAX_ABANDONED = 3

_LIST_CHANGES = (
    types.ToolListChangedNotification,
    types.PromptListChangedNotification,
    types.ResourceListChangedNotification,
)
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
        fault: Callable[[Any], RequestFault | None] = lambda _data: None,
        settled: Callable[[], None] = lambda: None,
        read_stderr: Callable[[], str] = lambda: "",
        on_list_change: Callable[[], None] = lambda: None,
    ) -> None:
        self._shown = upstream.display_name
        self._transport = transport
        self._stream: PacedStream | None = None
        self._mode = mode
        self._seconds = seconds
        self._max_bytes = max_bytes
        self._fault = fault
        self._settled = settled
        # Returns the end of the command's standard error, for timeout messages.
        self._read_stderr = read_stderr
        # Called when a list of the server has changed.
        self._on_list_change = on_list_change
        self._phase = INITIALIZE_PHASE
        self._scope: anyio.CancelScope | None = None
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
        exchange: McpExchange | None = None,
    ) -> dict[str, Any]:
        """Call a tool and return its result as in MCP; raise CallNotRun if the upstream did not receive the call.

        Only with an `exchange` whose client can be asked for input, the result may be a request for input.
        """
        sdk, stream = self._sdk, self._stream
        assert sdk is not None
        assert stream is not None
        if time.monotonic() - self._listed_at > LIST_MAX_AGE_SECONDS:
            self._refresh_soon()
        params: dict[str, Any] = {"name": tool, "arguments": dict(arguments)}
        can_ask = exchange is not None and exchange.capabilities is not None and self._is_stateless
        if can_ask and exchange is not None:
            params |= {"_meta": {PASSED_CAPABILITIES_KEY: exchange.capabilities}, **exchange.build_extras()}
        progress = McpProgress(on_progress) if on_progress is not None else None
        mine = is_in_session.set(True)
        received = stream.received
        stream.expected += 1
        self._calls += 1
        try:
            answer: dict[str, Any] = await sdk.send_request(
                types.Request[dict[str, Any], str](method="tools/call", params=params),
                _ANY_RESULT,
                progress_callback=progress,
            )
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
        except asyncio.CancelledError:
            stream.expected = max(0, stream.expected - 1)
            self._abandon(received)
            raise
        finally:
            self._calls -= 1
            if self._is_retired and not self._calls:
                self.end()
            is_in_session.reset(mine)
            if progress is not None:
                progress.to = None
        if answer.get("resultType") == "input_required" and not can_ask:
            raise UpstreamFailed(
                f"{self._shown} asked for input that this board cannot give{describe_input_request(answer)}"
            )
        return answer

    async def request(
        self, method: str, params: Mapping[str, Any], capabilities: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """Send another request and return its result; raise PeerRefused if the server answers with an error."""
        if capabilities is not None and self._is_stateless:
            params = {**params, "_meta": {PASSED_CAPABILITIES_KEY: capabilities}}
        return await self._guard(self._send(method, params), f"answer {method}")

    async def list_entries(self, method: str, member: str) -> list[dict[str, Any]]:
        """Return all pages of a list, empty if the server has no such list."""
        if self._get_capability(method) is None:
            return []
        fetching = fetch_entries(self._send, method, member, self._shown, max_bytes=self._max_bytes)
        return await self._guard(fetching, f"answer {method}")

    @property
    def _is_stateless(self) -> bool:
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

    async def _guard(self, sending: Coroutine[Any, Any, T], phase: str) -> T:
        """Await a request that is not a call, for a limited time; convert its errors."""
        mine = is_in_session.set(True)
        self._calls += 1
        try:
            async with asyncio.timeout(self._seconds):
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
            self._calls -= 1
            if self._is_retired and not self._calls:
                self.end()

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
                    self._sdk = client.session
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
            self._stream = PacedStream(read)
            yield self._stream, CapabilityStream(write)

    async def _keep_open(self, client: Client) -> None:
        async with anyio.create_task_group() as tasks:
            tools = client.server_capabilities.tools
            if client.protocol_version in MODERN_PROTOCOL_VERSIONS and tools is not None and tools.list_changed:
                tasks.start_soon(self._listen, client)
            await self._end.wait()
            tasks.cancel_scope.cancel()

    async def _listen(self, client: Client) -> None:
        """Subscribe to tool changes, which the newer protocol requires; notifications arrive in `_on_message`."""
        while True:
            try:
                async with client.listen(tools_list_changed=True) as changes:
                    async for _ in changes:
                        self._refresh_soon()
                        self._on_list_change()
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
        if isinstance(message, _LIST_CHANGES):
            self._on_list_change()

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
            self._on_list_change()
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


silence_sdk_logs()


def begin(
    upstream: Upstream,
    mode: str,
    *,
    outbound: GuardedClient,
    memory: int,
    max_bytes: int,
    seconds: float,
    on_list_change: Callable[[Upstream], None],
) -> McpSession:
    """Start to open a session in one of the SDK's modes, with a timeout of `seconds`."""
    report_change = partial(on_list_change, upstream)
    if upstream.command is None:
        web = McpHttpTransport(upstream, outbound, max_bytes=max_bytes)
        return McpSession(
            upstream,
            web.open(),
            mode=mode,
            seconds=seconds,
            max_bytes=max_bytes,
            fault=web.requests.fault,
            settled=web.requests.settle,
            on_list_change=report_change,
        )

    def close_session(error: ToolError) -> None:
        session.on_server_closed(error)

    children: list[McpChildProcess] = []
    transport = open_stdio_transport(
        upstream, memory=memory, max_bytes=max_bytes, lost=close_session, started=children.append
    )
    session = McpSession(
        upstream,
        transport,
        mode=mode,
        seconds=seconds,
        max_bytes=max_bytes,
        read_stderr=lambda: "".join(child.read_stderr() for child in children),
        on_list_change=report_change,
    )
    return session
