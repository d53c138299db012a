"""What a server sends beside its responses: requests for input and log messages of the running calls of one client,
and changes of resources and lists. Importing this loads the SDK.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import anyio
from anyio.abc import ObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from pegboard.kinds.mcp.call_client import CallClient
from pegboard.kinds.mcp.input_requests import CAPABILITY_OF
from pegboard.kinds.mcp.server_change import OnChange, ServerChange
from pegboard.model.call_errors import ToolError
from pegboard.model.mcp_exchange import ClientRefused, McpFailure

# Requests of one session that wait for an answer.
MAX_WAITING_REQUESTS = 20
# How long a request waits for a call that it may belong to: servers send some when the session has been opened.
CALL_WAIT_SECONDS = 5.0
CHANGES = {
    "notifications/tools/list_changed": "tools",
    "notifications/resources/updated": "resource",
    "notifications/resources/list_changed": "resources",
    "notifications/prompts/list_changed": "prompts",
}


class ServerMessages:
    """Handles the messages of one session that are not responses."""

    def __init__(self, on_change: OnChange, *, has_client: bool) -> None:
        self._on_change = on_change
        # True if the session belongs to one client, which may be asked for input and gets log messages.
        self._has_client = has_client
        self._calls: list[CallClient] = []
        self._has_call = asyncio.Event()
        self._answering: dict[RequestId, asyncio.Task[None]] = {}
        # The calls of which each unanswered request may be part.
        self._possible: dict[RequestId, set[CallClient]] = {}
        self._sending: asyncio.Task[None] | None = None
        self.output: ObjectSendStream[SessionMessage] | None = None

    @contextmanager
    def attach(self, client: CallClient | None) -> Iterator[None]:
        """Pass the requests and log messages of a call to its client while it runs."""
        if client is None or not self._has_client:
            yield
            return
        self._calls.append(client)
        self._has_call.set()
        try:
            yield
        finally:
            self._calls.remove(client)
            if not self._calls:
                self._has_call.clear()
            for key, possible in tuple(self._possible.items()):
                possible.discard(client)
                if not possible:
                    self._answering[key].cancel()

    def receive(self, message: Any) -> bool:
        """Handle a message; return False if the SDK has to handle it."""
        if isinstance(message, JSONRPCRequest):
            if not self._has_client or message.method not in CAPABILITY_OF:
                return False
            self._begin_answer(message)
            return True
        if not isinstance(message, JSONRPCNotification):
            return False
        params = message.params or {}
        if message.method == "notifications/message":
            if self._calls:
                self._calls[-1].log(params)
            return True
        if message.method == "notifications/cancelled":
            key = params.get("requestId")
            task = self._answering.get(key) if isinstance(key, str | int) else None
            if task is not None:
                task.cancel()
            return task is not None
        what = CHANGES.get(message.method)
        if what is not None:
            uri = params.get("uri")
            self._on_change(ServerChange(what, uri if isinstance(uri, str) else ""))
        return False

    def send_soon(self, method: str) -> None:
        """Send a notification to the server, unless the last one is still being sent."""
        if self._sending is None or self._sending.done():
            message = JSONRPCNotification(jsonrpc="2.0", method=method)
            self._sending = asyncio.create_task(self._send(message), name="pegboard-mcp-notify")

    async def close(self) -> None:
        """Cancel all requests to the client."""
        tasks = [*self._answering.values(), *([self._sending] if self._sending is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin_answer(self, request: JSONRPCRequest) -> None:
        if request.id in self._answering:
            return
        if len(self._answering) >= 2 * MAX_WAITING_REQUESTS:
            return  # the server does not read the response
        is_full = len(self._answering) >= MAX_WAITING_REQUESTS
        task = asyncio.create_task(self._answer(request, is_full=is_full), name="pegboard-mcp-input")
        self._answering[request.id] = task
        task.add_done_callback(lambda _task: self._forget(request.id))

    def _forget(self, key: RequestId) -> None:
        self._answering.pop(key, None)
        self._possible.pop(key, None)

    async def _answer(self, request: JSONRPCRequest, *, is_full: bool) -> None:
        try:
            if is_full:
                raise _refuse(f"At most {MAX_WAITING_REQUESTS} requests may wait for an answer")
            result = await self._ask(request.id, request.method, request.params or {})
            await self._send(JSONRPCResponse(jsonrpc="2.0", id=request.id, result=result))
        except (ClientRefused, ToolError) as error:
            # A ToolError if the answer cannot be sent, because it is not valid Unicode.
            refusal = error if isinstance(error, ClientRefused) else _refuse(error.message)
            code, message, data = refusal.failure
            failure = ErrorData(code=code, message=message, data=data)
            await self._send(JSONRPCError(jsonrpc="2.0", id=request.id, error=failure))

    async def _send(self, message: JSONRPCMessage) -> None:
        if self.output is not None:
            # If the session has ended, its calls report that.
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await self.output.send(SessionMessage(message))

    async def _ask(self, key: RequestId, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        try:
            async with asyncio.timeout(CALL_WAIT_SECONDS):
                await self._has_call.wait()
        except TimeoutError:
            raise _refuse("No call is running that this request can be part of") from None
        # A session does not say to which call a request belongs: it is cancelled when all these have ended.
        possible = self._possible[key] = set(self._calls)
        with ExitStack() as stack:
            for client in tuple(possible):
                stack.enter_context(client.stop_clock())
            return await min(self._calls, key=lambda client: client.request_count).ask(method, params)


def _refuse(message: str) -> ClientRefused:
    return ClientRefused(McpFailure(INTERNAL_ERROR, message))
