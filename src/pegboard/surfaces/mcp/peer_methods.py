"""The methods for prompts, resources and completions, which other MCP servers offer through the board."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from functools import partial
from typing import Any, TypeVar

from pegboard.model.json_text import json_text
from pegboard.model.mcp_exchange import McpExchange
from pegboard.model.mcp_peer import EntryKind, McpPeer, PeerFailed
from pegboard.surfaces.mcp.call_result import encode_upstream_members
from pegboard.surfaces.mcp.client_exchange import build_exchange
from pegboard.surfaces.mcp.json_rpc import encode_notification
from pegboard.surfaces.mcp.mcp_request import McpRequest, NoResponse
from pegboard.surfaces.mcp.mcp_server import McpServer
from pegboard.surfaces.mcp.mcp_sessions import SessionRecord
from pegboard.surfaces.mcp.protocol import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    RESOURCE_NOT_FOUND,
    MethodResult,
    ProtocolError,
)
from pegboard.surfaces.mcp.resource_updates import (
    MAX_SUBSCRIPTIONS,
    RESOURCE_UPDATED,
    ResourceUpdates,
    build_too_many_subscriptions,
)

T = TypeVar("T")

_EMPTY = MethodResult(b"")
_NOTHING_TO_COMPLETE = MethodResult(b'"completion":{"values":[],"total":0,"hasMore":false}')


async def list_prompts(server: McpServer, request: McpRequest) -> MethodResult:
    """Return a page of the prompts of this caller."""
    return await _list(server, request, "prompts")


async def list_resources(server: McpServer, request: McpRequest) -> MethodResult:
    """Return a page of the resources of this caller."""
    return await _list(server, request, "resources")


async def list_resource_templates(server: McpServer, request: McpRequest) -> MethodResult:
    """Return a page of the resource templates of this caller."""
    return await _list(server, request, "resourceTemplates")


async def get_prompt(server: McpServer, request: McpRequest) -> MethodResult:
    """Return the messages of a prompt."""
    name, arguments = request.read_text("name"), request.read_object("arguments")
    found = server.peers.find_prompt(request.caller, name)
    if found is None:
        raise ProtocolError(INVALID_PARAMS, f"Prompt '{name[:200]}' not found")
    await _ask(request, found.owner.peer.check_entry("prompts", found.original))
    target = json_text([found.owner.label, found.original])
    exchange = build_exchange(request, server.states.read(request, target, arguments))
    params = {"name": found.original, "arguments": arguments}
    result = await _send(request, found.owner.peer, "prompts/get", params, exchange)
    if result.get("resultType") == "input_required":
        return server.states.encode(result, request, target, arguments)
    return MethodResult(*encode_upstream_members(result))


async def read_resource(server: McpServer, request: McpRequest) -> MethodResult:
    """Return the contents of a resource."""
    peer, uri, original = await _find_resource(server, request)
    exchange = build_exchange(request, server.states.read(request, uri, None))
    try:
        result = await _send(request, peer, "resources/read", {"uri": original}, exchange)
    except ProtocolError as error:
        if error.code in (INVALID_PARAMS, RESOURCE_NOT_FOUND):
            raise _build_not_found(request, uri) from None
        raise
    if result.get("resultType") == "input_required":
        return server.states.encode(result, request, uri, None)
    contents = result.get("contents")
    if original != uri and isinstance(contents, list):
        result["contents"] = [_rename(each, original, uri) for each in contents]
    return MethodResult(*encode_upstream_members(result))


async def subscribe_resource(server: McpServer, request: McpRequest) -> MethodResult:
    """Notify the client of the session of changes of a resource."""
    session = request.session
    assert session is not None
    peer, uri, original = await _find_resource(server, request)
    if session.updates is None:
        session.updates = ResourceUpdates(server.peers, request.caller, partial(_send_update, session))
    try:
        await watch_request(request, session.updates.add(peer, uri, original, build_exchange(request)))
    except PeerFailed as error:
        raise _convert_refusal(error) from None
    return _EMPTY


async def unsubscribe_resource(_server: McpServer, request: McpRequest) -> MethodResult:
    """Return nothing, whether or not there was a subscription."""
    uri = request.read_text("uri")
    if request.session is not None and request.session.updates is not None:
        request.session.updates.remove(uri)
    return _EMPTY


async def subscribe_resources(server: McpServer, request: McpRequest, updates: ResourceUpdates, uris: Any) -> list[str]:
    """Add the resources that can be subscribed to, and return their URIs; raise ProtocolError if `uris` is no list."""
    if not isinstance(uris, list) or not all(isinstance(uri, str) for uri in uris):
        raise ProtocolError(INVALID_PARAMS, "'resourceSubscriptions' must be an array of URIs")
    wanted = list(dict.fromkeys(uris))
    if len(wanted) > MAX_SUBSCRIPTIONS:
        raise build_too_many_subscriptions()

    async def add(uri: str) -> bool:
        try:
            found = await server.peers.find_resource(request.caller, uri)
            if found is None:
                return False
            await updates.add(found[0].peer, uri, found[1])
        except PeerFailed:
            return False
        return True

    accepted = await asyncio.gather(*map(add, wanted))
    return [uri for uri, is_accepted in zip(wanted, accepted, strict=True) if is_accepted]


async def complete(server: McpServer, request: McpRequest) -> MethodResult:
    """Return values for an argument of a prompt or of a resource template."""
    ref, argument = request.read_object("ref"), request.read_object("argument")
    field = {"ref/prompt": "name", "ref/resource": "uri"}.get(str(ref.get("type")))
    name = None if field is None else ref.get(field)
    if field is None or not isinstance(name, str):
        raise ProtocolError(INVALID_PARAMS, "'ref' must be {type: ref/prompt, name} or {type: ref/resource, uri}")
    if not isinstance(argument.get("name"), str) or not isinstance(argument.get("value"), str):
        raise ProtocolError(INVALID_PARAMS, "'argument' must be {name, value}, both strings")
    find = server.peers.find_prompt if field == "name" else server.peers.find_template
    found = find(request.caller, name)
    if found is None:
        what = "Prompt" if field == "name" else "Resource"
        raise ProtocolError(INVALID_PARAMS, f"{what} '{name[:200]}' not found")
    params: dict[str, Any] = {"ref": {**ref, field: found.original}, "argument": argument}
    if context := request.read_object("context"):
        params["context"] = context
    try:
        result = await watch_request(request, found.owner.peer.request("completion/complete", params))
    except PeerFailed as error:
        if error.failure.code == METHOD_NOT_FOUND:
            return _NOTHING_TO_COMPLETE
        raise _convert(error) from None
    return MethodResult(*encode_upstream_members(result))


async def _list(server: McpServer, request: McpRequest, kind: EntryKind) -> MethodResult:
    return await watch_request(request, server.peers.encode_page(request.caller, kind, request.read_cursor()))


async def _find_resource(server: McpServer, request: McpRequest) -> tuple[McpPeer, str, str]:
    """Return the server of a resource, the URI of the client, and the URI of the server; raise ProtocolError."""
    uri = request.read_text("uri")
    try:
        found = await _ask(request, server.peers.find_resource(request.caller, uri))
    except ProtocolError as error:
        if error.code == RESOURCE_NOT_FOUND:
            raise _build_not_found(request, uri) from None
        raise
    if found is None:
        raise _build_not_found(request, uri)
    return found[0].peer, uri, found[1]


async def _send(
    request: McpRequest,
    peer: McpPeer,
    method: str,
    params: Mapping[str, Any],
    exchange: McpExchange,
) -> dict[str, Any]:
    """Return the result of another server; raise ProtocolError."""
    return await _ask(request, peer.request(method, params, exchange))


async def _ask(request: McpRequest, work: Coroutine[Any, Any, T]) -> T:
    """Send a request to another server and return the response; raise ProtocolError."""
    try:
        return await watch_request(request, work)
    except PeerFailed as error:
        raise _convert(error) from None


async def watch_request(request: McpRequest, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`; raise NoResponse if the client disconnects first, which cancels it."""
    if request.watch is None:
        return await work

    async def wrap() -> tuple[T]:
        return (await work,)

    result = await request.watch(wrap())
    if result is None:
        work.close()
        raise NoResponse
    return result[0]


def _send_update(session: SessionRecord, uri: str) -> None:
    if session.notify is not None:
        session.notify(encode_notification(RESOURCE_UPDATED, {"uri": uri}))


def _convert_refusal(error: PeerFailed) -> ProtocolError:
    """Return the error of a subscription; a server without subscriptions has no such method."""
    return ProtocolError(*error.failure)


def _convert(error: PeerFailed) -> ProtocolError:
    code, message, data = error.failure
    return ProtocolError(INTERNAL_ERROR if code == METHOD_NOT_FOUND else code, message, data)


def _build_not_found(request: McpRequest, uri: str) -> ProtocolError:
    return ProtocolError(request.revision.resource_not_found, f"Resource '{uri[:200]}' not found", {"uri": uri})


def _rename(content: Any, original: str, uri: str) -> Any:
    return {**content, "uri": uri} if isinstance(content, dict) and content.get("uri") == original else content
