"""One session with one MCP server, from the first message to the last."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import mcp_types as types
from mcp import Client, MCPError
from mcp.client._transport import TransportStreams
from mcp.client.session import ClientSession, IncomingMessage
from mcp.client.subscriptions import SubscriptionLost
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from pegboard.core.errors import ToolError, UpstreamFailed, UpstreamUnreachable
from pegboard.core.version import __version__
from pegboard.executors.mcp.failures import asked_for, failure_of, first_fault
from pegboard.executors.mcp.listing import listed
from pegboard.executors.mcp.progress import Telling
from pegboard.executors.mcp.quiet import in_session
from pegboard.executors.mcp.streams import Watched
from pegboard.executors.mcp.upstream import NotRun, OnProgress, Upstream, UpstreamTool
from pegboard.executors.mcp.web import Fault, fault_in
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# A list that is older is fetched again behind the next call.
FRESH_SECONDS = 60.0
# However often a server says that its tools changed, or is asked about one that it does not have.
LISTING_SECONDS = 1.0
LISTENING_SECONDS = 5.0
CLOSING_SECONDS = 3.0
INITIALIZE = "answer initialize"
# So many calls given up in a row without a word from the server, and it is not worth waiting for any more.
MOST_ABANDONED = 3

# The answer as it came: the SDK has checked its form, and a copy in its own classes would only lose what they lack.
_AS_IT_IS: TypeAdapter[Any] = TypeAdapter(Any)
_OURS = types.Implementation(name="pegboard", version=__version__)


class Session:
    """A session that a task of its own opens, holds and leaves; calls go through it from any task."""

    def __init__(
        self,
        upstream: Upstream,
        transport: AbstractAsyncContextManager[TransportStreams],
        *,
        mode: str,
        seconds: float,
        max_bytes: int,
        fault: Callable[[Any], Fault | None] = lambda _data: None,
        settled: Callable[[], None] = lambda: None,
        said: Callable[[], str] = lambda: "",
    ) -> None:
        self._shown = upstream.shown
        self._transport = Watched(transport)
        self._mode = mode
        self._seconds = seconds
        self._max_bytes = max_bytes
        self._fault = fault
        self._settled = settled
        # The end of what a command wrote to standard error, for the message of a timeout.
        self._said = said
        self._phase = INITIALIZE
        self._scope: anyio.CancelScope | None = None
        self._sdk: ClientSession | None = None
        self._end = asyncio.Event()
        self._listing = asyncio.Lock()
        self._refreshing: asyncio.Task[None] | None = None
        self._abandoned = 0
        self._silent_at = -1
        self._calls = 0
        self._retired = False
        self._listed_at = -math.inf
        self.why: ToolError | None = None
        # Whether the tools may have changed without a word, since the server could not be heard for a while.
        self.in_doubt = False
        # Whether the server left as soon as it was greeted, as some do when the greeting is newer than they are.
        self.was_refused = False
        self.tools: Mapping[str, UpstreamTool] = {}
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.task = asyncio.create_task(self._own(), name="pegboard-mcp")

    @property
    def is_over(self) -> bool:
        """Whether no call can go through it any more."""
        return self._retired or self._end.is_set()

    async def opened(self) -> None:
        """Wait until it can be used; raises what kept it from that."""
        await asyncio.shield(self._ready)

    def lose(self, error: ToolError) -> None:
        """Note why the upstream is gone, and let go of the session."""
        self.why = self.why or error
        self.end()

    def retire(self) -> None:
        """Take no more calls, and leave when those that are on their way have ended."""
        self._retired = True
        if not self._calls:
            self.end()

    def hung_up(self, error: ToolError) -> None:
        """Note that the server ended the session, and why."""
        self.was_refused = self._phase == INITIALIZE and not self.is_over
        self.lose(error)

    def end(self) -> None:
        """Leave the session soon; `task` is done when everything of it is gone."""
        self._end.set()
        if self._scope is not None and not self._ready.done():
            self._scope.cancel()

    async def call(self, tool: str, arguments: Mapping[str, Any], on_progress: OnProgress | None) -> dict[str, Any]:
        """The tool's answer as MCP writes it; NotRun where the upstream never saw the call."""
        sdk, stream = self._sdk, self._transport.stream
        assert sdk is not None
        assert stream is not None
        if time.monotonic() - self._listed_at > FRESH_SECONDS:
            self._refresh_soon()
        params = types.CallToolRequestParams(name=tool, arguments=dict(arguments))
        tell = Telling(on_progress) if on_progress is not None else None
        mine = in_session.set(True)
        heard = stream.heard
        stream.expected += 1
        self._calls += 1
        try:
            answer: dict[str, Any] = await sdk.send_request(
                types.CallToolRequest(params=params), _AS_IT_IS, progress_callback=tell
            )
        except MCPError as error:
            if error.code == types.HEADER_MISMATCH:
                # The tool's parameters have changed since it was listed, and the server refuses to guess.
                await self.refresh(time.monotonic())
                raise NotRun(failure_of(error, self._shown)) from None
            raise await self._told(error) from None
        except ValidationError as error:
            raise UpstreamFailed(
                f"{self._shown} answered with something that is no result: {first_fault(error)}"
            ) from None
        except asyncio.CancelledError:
            stream.expected = max(0, stream.expected - 1)
            self._abandon(heard)
            raise
        finally:
            self._calls -= 1
            if self._retired and not self._calls:
                self.end()
            in_session.reset(mine)
            if tell is not None:
                tell.to = None
        if answer.get("resultType") == "input_required":
            raise UpstreamFailed(f"{self._shown} asked for input that this board cannot give{asked_for(answer)}")
        return answer

    async def refresh(self, since: float) -> None:
        """List the tools again, unless that has happened since that moment; NotRun where a new session may help."""
        async with self._listing:
            if self._listed_at >= since:
                return
            try:
                async with asyncio.timeout(self._seconds):
                    await self._list()
            except TimeoutError:
                raise self._late("list its tools") from None
            except MCPError as error:
                raise await self._told(error) from None
            except ValidationError as error:
                raise UpstreamFailed(f"The tools of {self._shown} cannot be read: {first_fault(error)}") from None

    def _late(self, phase: str) -> ToolError:
        return UpstreamUnreachable(f"{self._shown} did not {phase} within {self._seconds:g} s{self._said()}")

    async def _own(self) -> None:
        in_session.set(True)
        try:
            with anyio.CancelScope(deadline=anyio.current_time() + self._seconds) as scope:
                self._scope = scope
                if self.is_over:
                    scope.cancel()
                async with Client(
                    self._transport, mode=self._mode, message_handler=self._on_message, client_info=_OURS, cache=None
                ) as client:
                    self._sdk = client.session
                    self._phase = "list its tools"
                    await self._list()
                    scope.deadline = math.inf
                    self._settled()
                    self._ready.set_result(None)
                    await self._hold(client)
                    scope.deadline = anyio.current_time() + CLOSING_SECONDS
            if not self._ready.done():
                self.lose(self._late(self._phase))
        except Exception as error:
            self.lose(self._unopened(error))
        finally:
            self._end.set()
            if self._refreshing is not None:
                self._refreshing.cancel()
            if not self._ready.done():
                self._ready.set_exception(self.why or UpstreamUnreachable(f"The session with {self._shown} was ended"))
                self._ready.exception()  # nobody may be waiting any more

    async def _hold(self, client: Client) -> None:
        async with anyio.create_task_group() as tasks:
            tools = client.server_capabilities.tools
            if client.protocol_version in MODERN_PROTOCOL_VERSIONS and tools is not None and tools.list_changed:
                tasks.start_soon(self._listen, client)
            await self._end.wait()
            tasks.cancel_scope.cancel()

    async def _listen(self, client: Client) -> None:
        """Hear of changed tools, which in the newer protocol has to be asked for; they come to `_on_message`."""
        while True:
            try:
                async with client.listen(tools_list_changed=True) as changes:
                    async for _ in changes:
                        self._refresh_soon()
            except SubscriptionLost:
                pass
            except MCPError as error:
                if self._fault(error.error.data) is None:
                    return  # it does not offer that after all; the list is fetched again every minute
            self.in_doubt = True
            await asyncio.sleep(LISTENING_SECONDS)

    async def _on_message(self, message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._refresh_soon()

    def _refresh_soon(self) -> None:
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.create_task(self._refresh_later(), name="pegboard-mcp-list")

    async def _refresh_later(self) -> None:
        in_session.set(True)
        await asyncio.sleep(self._listed_at + LISTING_SECONDS - time.monotonic())
        try:
            await self.refresh(time.monotonic())
        except Exception as error:
            if not self.is_over:
                why = str(error) if isinstance(error, ToolError | NotRun) else type(error).__name__
                log.warning("mcp_tools_not_listed", upstream=self._shown, error=why)

    async def _list(self) -> None:
        assert self._sdk is not None
        before = time.monotonic()
        self.tools = await listed(self._sdk, self._shown, max_bytes=self._max_bytes)
        self._listed_at = before
        self.in_doubt = False

    async def _told(self, error: MCPError) -> ToolError | NotRun:
        """What an error of the protocol means for the call that got it."""
        fault = self._fault(error.error.data)
        if fault is not None:
            if fault.session_unknown:
                self.retire()
            return fault.error if fault.error.did_run else NotRun(fault.error)
        if error.code == types.CONNECTION_CLOSED and error.message == "Connection closed":
            self.end()
            if self.why is None:
                # The reason is on its way: the task that owns the session is just leaving it.
                await asyncio.wait({self.task}, timeout=CLOSING_SECONDS / 2)
            return self.why or UpstreamUnreachable(f"The session with {self._shown} was ended during the call")
        return failure_of(error, self._shown)

    def _unopened(self, error: Exception) -> ToolError:
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, MCPError):
            fault = self._fault(error.error.data)
            if fault is not None:
                return fault.error
            if error.code == types.CONNECTION_CLOSED:
                return self.why or UpstreamUnreachable(f"{self._shown} closed the connection")
            return failure_of(error, self._shown)
        if isinstance(error, ValidationError):
            return UpstreamFailed(f"{self._shown} did not {self._phase} as MCP has it: {first_fault(error)}")
        return fault_in(error)

    def _abandon(self, heard: int) -> None:
        """Let go of a server that answers nothing at all, so that the next call gets a new one."""
        stream = self._transport.stream
        assert stream is not None
        self._abandoned = self._abandoned + 1 if stream.heard == self._silent_at else 1
        self._silent_at = stream.heard
        if stream.heard == heard and self._abandoned >= MOST_ABANDONED and self._calls == 1:
            self.lose(UpstreamUnreachable(f"{self._shown} stopped answering"))
