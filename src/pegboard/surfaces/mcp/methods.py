"""Every method that the server handles: its handler, and the revisions that have it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

import orjson

from pegboard.model.api_errors import Refusal
from pegboard.model.call import Progress, ToolCall
from pegboard.model.ids import new_id
from pegboard.model.mcp_exchange import LOG_LEVELS, McpExchange
from pegboard.progress.throttle import ProgressThrottle
from pegboard.surfaces.mcp.call_result import encode_execution_meta, encode_tool_result
from pegboard.surfaces.mcp.client_exchange import build_exchange
from pegboard.surfaces.mcp.entry_list_changes import PROMPTS_CHANGED, RESOURCES_CHANGED
from pegboard.surfaces.mcp.json_rpc import encode_id, encode_notification
from pegboard.surfaces.mcp.list_changes import TOOLS_CHANGED
from pegboard.surfaces.mcp.mcp_request import McpRequest, NoResponse, Notify
from pegboard.surfaces.mcp.mcp_server import McpServer
from pegboard.surfaces.mcp.mcp_sessions import build_too_many_error
from pegboard.surfaces.mcp.peer_methods import (
    complete,
    get_prompt,
    list_prompts,
    list_resource_templates,
    list_resources,
    read_resource,
    subscribe_resource,
    subscribe_resources,
    unsubscribe_resource,
    watch_request,
)
from pegboard.surfaces.mcp.protocol import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    SERVER_CAPABILITIES,
    SESSION_VERSIONS,
    STATELESS_VERSION,
    SUBSCRIPTION_KEY,
    MethodResult,
    ProtocolError,
)
from pegboard.surfaces.mcp.request_state import GivenInput, get_capabilities
from pegboard.surfaces.mcp.resource_updates import RESOURCE_UPDATED, ResourceUpdates

CANCELLED_BY_CLIENT = "Cancelled by the client"
_EMPTY = MethodResult(b"")
# Updates within this interval are merged; clients are programs, which may use each of them.
_PROGRESS_PAUSE_SECONDS = 0.02
_FLAG_OF = {
    TOOLS_CHANGED: "toolsListChanged",
    PROMPTS_CHANGED: "promptsListChanged",
    RESOURCES_CHANGED: "resourcesListChanged",
}
_SUBSCRIPTION_META = b'"' + SUBSCRIPTION_KEY.encode() + b'":'
_DISCOVERED = orjson.dumps({
    "supportedVersions": [STATELESS_VERSION, *SESSION_VERSIONS], "capabilities": SERVER_CAPABILITIES,
})[1:-1]  # fmt: skip

Handler = Callable[[McpServer, McpRequest], Awaitable[MethodResult]]


class Method(NamedTuple):
    """A method: how it is handled, whether each revision has it, and whether clients may cache its result."""

    handle: Handler
    in_session: bool = True
    in_stateless: bool = True
    is_cacheable: bool = False


async def discover(_server: McpServer, _request: McpRequest) -> MethodResult:
    """Return the versions and capabilities of this server."""
    return MethodResult(_DISCOVERED)


async def ping(_server: McpServer, _request: McpRequest) -> MethodResult:
    """Return nothing."""
    return _EMPTY


async def set_log_level(_server: McpServer, request: McpRequest) -> MethodResult:
    """Set the least level of the log messages that this client gets."""
    level = request.params.get("level")
    if level not in LOG_LEVELS:
        raise ProtocolError(INVALID_PARAMS, f"'level' must be one of {', '.join(LOG_LEVELS)}")
    if request.session is not None:
        request.session.set_log_level(level)
    return _EMPTY


async def list_tools(server: McpServer, request: McpRequest) -> MethodResult:
    """Return a page of the tools of this caller."""
    server.peers.follow_servers(request.caller)
    return MethodResult(server.lists.encode_page(request.caller, request.revision, request.read_cursor()))


async def call_tool(server: McpServer, request: McpRequest) -> MethodResult:
    """Run a call; its failure is a result."""
    name = request.read_text("name")
    arguments = request.read_object("arguments")
    exchange = _read_exchange(server, request, name, arguments)
    run_id = new_id()
    progress = start_progress(request) if "_meta" in request.params else None
    call = ToolCall(
        name,
        arguments,
        surface="console" if request.caller.is_session else "mcp",
        dialect="mcp",
        request_id=request.http_request_id,
        on_progress=progress,
        key=request.idempotency_key,
        exchange=exchange,
    )
    running = request.running
    if running is not None:
        running[request.id] = partial(server.calls.cancel, run_id, CANCELLED_BY_CLIENT)
    try:
        if server.tracing is None:
            result = await server.calls.call(call, request.caller, request.watch, run_id)
        else:
            with server.tracing.continue_trace(request.meta):
                result = await server.calls.call(call, request.caller, request.watch, run_id)
    except Refusal as error:
        raise ProtocolError(INVALID_PARAMS, error.message) from None
    finally:
        if progress is not None:
            progress.end()
        was_cancelled = running is not None and running.pop(request.id, None) is None
    if result is None or was_cancelled:
        raise NoResponse
    if exchange.input_required is not None and result.problem is not None:
        asked = server.states.encode(exchange.input_required, request, _find_target(server, name), arguments)
        return asked._replace(meta=encode_execution_meta(result))
    if exchange.failure is not None and result.problem is not None:
        raise ProtocolError(*exchange.failure)
    return encode_tool_result(result, request.revision, server.snapshot, exchange)


def _read_exchange(server: McpServer, request: McpRequest, name: str, arguments: dict[str, Any]) -> McpExchange:
    """Return the exchange of the request with the tool's server; raise ProtocolError if its state is not valid."""
    if not request.revision.is_stateless:
        return build_exchange(request)
    if "requestState" in request.params or "inputResponses" in request.params:
        return build_exchange(request, server.states.read(request, _find_target(server, name), arguments))
    return build_exchange(request, GivenInput(get_capabilities(request)))


def _find_target(server: McpServer, name: str) -> str:
    """Return the identity of the tool in the state of a continued request."""
    compiled = server.snapshot.find(name)
    return name if compiled is None else compiled.tool.id


async def listen(server: McpServer, request: McpRequest) -> MethodResult:
    """Send a notification for each change that the client asked for, until it disconnects or the server stops."""
    wanted = request.params.get("notifications")
    if type(wanted) is not dict:
        raise ProtocolError(INVALID_PARAMS, "'notifications' in the params must be an object")
    honoured: dict[str, Any] = {flag: True for flag in _FLAG_OF.values() if wanted.get(flag) is True}
    if len(server.changes) >= server.most_streams:
        raise build_too_many_error(f"streams (PEGBOARD_MCP_SESSIONS is {server.most_streams:,})")
    meta = {"_meta": {SUBSCRIPTION_KEY: request.id}}
    over = asyncio.Event()

    def report(method: str) -> None:
        if _FLAG_OF[method] in honoured:
            request.notify(encode_notification(method, meta))

    def report_update(uri: str) -> None:
        request.notify(encode_notification(RESOURCE_UPDATED, {"uri": uri, **meta}))

    has_entries = not honoured.keys().isdisjoint(("promptsListChanged", "resourcesListChanged"))
    with ExitStack() as stack:
        if "resourceSubscriptions" in wanted:
            updates = ResourceUpdates(server.peers, request.caller, report_update)
            stack.callback(updates.close)
            adding = subscribe_resources(server, request, updates, wanted["resourceSubscriptions"])
            honoured["resourceSubscriptions"] = await watch_request(request, adding)
        stack.enter_context(
            server.changes.watch(request.caller, report, over.set, request.is_allowed, has_entries=has_entries)
        )
        acknowledged = {"notifications": honoured, **meta}
        request.notify(encode_notification("notifications/subscriptions/acknowledged", acknowledged))
        if request.running is not None:
            request.running[request.id] = over.set
        if request.watch is None:
            await over.wait()
        elif await request.watch(over.wait()) is None:
            raise NoResponse
    if request.running is not None and request.running.pop(request.id, None) is None:
        raise NoResponse  # the client has cancelled it
    return MethodResult(b"", _SUBSCRIPTION_META + encode_id(request.id))


METHODS: Mapping[str, Method] = {
    "tools/call": Method(call_tool),
    "tools/list": Method(list_tools, is_cacheable=True),
    "prompts/list": Method(list_prompts, is_cacheable=True),
    "prompts/get": Method(get_prompt),
    "resources/list": Method(list_resources, is_cacheable=True),
    "resources/templates/list": Method(list_resource_templates, is_cacheable=True),
    "resources/read": Method(read_resource, is_cacheable=True),
    "completion/complete": Method(complete),
    "server/discover": Method(discover, in_session=False, is_cacheable=True),
    "subscriptions/listen": Method(listen, in_session=False),
    "ping": Method(ping, in_stateless=False),
    "logging/setLevel": Method(set_log_level, in_stateless=False),
    "resources/subscribe": Method(subscribe_resource, in_stateless=False),
    "resources/unsubscribe": Method(unsubscribe_resource, in_stateless=False),
}


async def handle_request(server: McpServer, request: McpRequest) -> bytes:
    """Return the result of a request as JSON; raise ProtocolError, or NoResponse if none is to be sent."""
    method = METHODS.get(request.method)
    if method is None or not (method.in_stateless if request.revision.is_stateless else method.in_session):
        raise ProtocolError(METHOD_NOT_FOUND, f"Method '{request.method[:200]}' not found")
    result = await method.handle(server, request)
    return request.revision.encode_result(result, server.cache_members if method.is_cacheable else b"")


def start_progress(request: McpRequest) -> ProgressThrottle | None:
    """Return a listener for the progress of a call, or None if the request has no valid progress token."""
    token = request.meta.get("progressToken")
    if isinstance(token, bool) or not isinstance(token, str | int):
        return None
    return ProgressThrottle(_ProgressSender(token, request.notify), _PROGRESS_PAUSE_SECONDS)


class _ProgressSender:
    """Sends progress with a number that only increases, as the protocol requires."""

    __slots__ = ("_last", "_notify", "_token")

    def __init__(self, token: str | int, notify: Notify) -> None:
        self._token = token
        self._notify = notify
        self._last = -1.0

    def __call__(self, progress: Progress) -> None:
        number = progress.progress or 0.0
        if number <= self._last:
            if progress.total is not None or not (progress.partial or progress.message):
                return
            # A tool that reports text without numbers: count its reports.
            number = self._last + 1
        self._last = number
        params: dict[str, Any] = {"progressToken": self._token, "progress": number}
        if progress.total is not None:
            params["total"] = progress.total
        text = progress.partial or progress.message
        if text:
            params["message"] = text
        self._notify(encode_notification("notifications/progress", params))
