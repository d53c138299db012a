"""The methods for prompts, resources and completions, which other MCP servers offer through the board."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from pegboard.model.json_text import json_text
from pegboard.model.mcp_peer import EntryKind, McpPeer, PeerFailed
from pegboard.surfaces.mcp.call_result import encode_upstream_members
from pegboard.surfaces.mcp.mcp_request import McpRequest, NoResponse
from pegboard.surfaces.mcp.mcp_server import McpServer
from pegboard.surfaces.mcp.protocol import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    RESOURCE_NOT_FOUND,
    MethodResult,
    ProtocolError,
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
    given = server.states.read(request, target, arguments)
    params = {"name": found.original, "arguments": arguments, **given.build_extras()}
    result = await _send(request, found.owner.peer, "prompts/get", params, given.capabilities)
    if result.get("resultType") == "input_required":
        return server.states.encode(result, request, target, arguments)
    return MethodResult(*encode_upstream_members(result))


async def read_resource(server: McpServer, request: McpRequest) -> MethodResult:
    """Return the contents of a resource."""
    peer, uri, original = await _find_resource(server, request)
    given = server.states.read(request, uri, None)
    try:
        params = {"uri": original, **given.build_extras()}
        result = await _send(request, peer, "resources/read", params, given.capabilities)
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
    """Raise ProtocolError: there is no such resource, or its changes are not reported."""
    await _find_resource(server, request)
    raise ProtocolError(METHOD_NOT_FOUND, "This server does not report changes of the contents of resources")


async def unsubscribe_resource(_server: McpServer, request: McpRequest) -> MethodResult:
    """Return nothing, whether or not there was a subscription."""
    request.read_text("uri")
    return _EMPTY


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
        result = await _watch(request, found.owner.peer.request("completion/complete", params))
    except PeerFailed as error:
        if error.failure.code == METHOD_NOT_FOUND:
            return _NOTHING_TO_COMPLETE
        raise _convert(error) from None
    return MethodResult(*encode_upstream_members(result))


async def _list(server: McpServer, request: McpRequest, kind: EntryKind) -> MethodResult:
    return await _watch(request, server.peers.encode_page(request.caller, kind, request.read_cursor()))


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
    capabilities: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return the result of another server; raise ProtocolError."""
    return await _ask(request, peer.request(method, params, capabilities))


async def _ask(request: McpRequest, work: Coroutine[Any, Any, T]) -> T:
    """Return what another server answers; raise ProtocolError."""
    try:
        return await _watch(request, work)
    except PeerFailed as error:
        raise _convert(error) from None


async def _watch(request: McpRequest, work: Coroutine[Any, Any, T]) -> T:
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


def _convert(error: PeerFailed) -> ProtocolError:
    code, message, data = error.failure
    return ProtocolError(INTERNAL_ERROR if code == METHOD_NOT_FOUND else code, message, data)


def _build_not_found(request: McpRequest, uri: str) -> ProtocolError:
    return ProtocolError(request.revision.resource_not_found, f"Resource '{uri[:200]}' not found", {"uri": uri})


def _rename(content: Any, original: str, uri: str) -> Any:
    return {**content, "uri": uri} if isinstance(content, dict) and content.get("uri") == original else content
