"""An MCP server that also sends requests and notifications: `requesting_server.py legacy|modern|both`, on stdio.

It asks its client for input, writes log messages, and reports changes of its resources and lists.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

import mcp_types as types
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.subscriptions import PromptsListChanged, ResourcesListChanged, ResourceUpdated
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

Context = ServerRequestContext[Any]
_STRING = {"type": "string"}
_TOOLS: Mapping[str, Mapping[str, Any]] = {
    "ask": {"message": _STRING, "times": {"type": "integer"}},
    "flood": {"times": {"type": "integer"}},
    "sample": {},
    "roots": {},
    "log": {"level": _STRING, "text": _STRING},
    "touch": {"uri": _STRING},
    "grow": {},
    "stop": {},
    "pid": {},
    "count_roots_changes": {},
}
roots_changes: list[str] = []
bus = InMemorySubscriptionBus()
prompts = ["first"]
subscribed: set[str] = set()


async def list_tools(_context: Context, _params: Any) -> types.ListToolsResult:
    """Return the tools."""
    tools = [
        types.Tool(name=name, description=name, input_schema={"type": "object", "properties": dict(properties)})
        for name, properties in _TOOLS.items()
    ]
    return types.ListToolsResult(tools=tools)


def build_question(message: str) -> types.ElicitRequest:
    """Return the request for a name."""
    schema: dict[str, Any] = {"type": "object", "properties": {"name": _STRING}}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


async def ask(context: Context, params: types.CallToolRequestParams) -> types.InputRequiredResult | str:
    """Ask the client for a name, in the way of the revision."""
    arguments = params.arguments or {}
    message, times = arguments.get("message", "Who?"), arguments.get("times", 1)
    if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        metadata = ServerMessageMetadata(related_request_id=context.request_id)
        answers = [
            await context.session.send_request(build_question(message), types.ElicitResult, metadata=metadata)
            for _ in range(times)
        ]
        return json.dumps([answer.content or answer.action for answer in answers])
    done = json.loads(params.request_state or "[]")
    for answer in (params.input_responses or {}).values():
        done.append(answer.model_dump()["content"])
    if len(done) >= times:
        return json.dumps(done)
    asked = {"who": build_question(message).model_dump(by_alias=True, mode="json", exclude_none=True)}
    state = {"inputRequests": asked, "requestState": json.dumps(done), "resultType": "input_required"}
    return types.InputRequiredResult.model_validate(state)


async def notify_client(context: Context, notification: types.ServerNotification, event: Any) -> None:
    """Report a change, as the revision requires."""
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        await bus.publish(event)
    else:
        await context.session.send_notification(notification)


async def run(context: Context, params: types.CallToolRequestParams) -> types.InputRequiredResult | str:
    """Return the text of a tool."""
    arguments = params.arguments or {}
    metadata = ServerMessageMetadata(related_request_id=context.request_id)
    match params.name:
        case "ask":
            return await ask(context, params)
        case "flood":
            asking = [
                context.session.send_request(build_question("Who?"), types.ElicitResult, metadata=metadata)
                for _ in range(arguments["times"])
            ]
            answers = await asyncio.gather(*asking, return_exceptions=True)
            return str(sum(isinstance(answer, MCPError) for answer in answers))
        case "sample":
            content = types.TextContent(text="Say hello")
            message = types.SamplingMessage(role="user", content=content)
            sampling = types.CreateMessageRequestParams(messages=[message], max_tokens=5)
            sampled = await context.session.send_request(
                types.CreateMessageRequest(params=sampling), types.CreateMessageResult, metadata=metadata
            )
            return str(sampled.model)
        case "roots":
            # Without the id of the call: over HTTP it is sent on the stream of the session.
            listed = await context.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
            return json.dumps([str(root.uri) for root in listed.roots])
        case "log":
            logged = types.LoggingMessageNotificationParams(level=arguments["level"], data=arguments["text"])
            await context.session.send_notification(types.LoggingMessageNotification(params=logged), context.request_id)
            return "logged"
        case "touch":
            uri = arguments["uri"]
            updated = types.ResourceUpdatedNotification(params=types.ResourceUpdatedNotificationParams(uri=uri))
            await notify_client(context, updated, ResourceUpdated(uri=uri))
            return json.dumps(sorted(subscribed))
        case "grow":
            prompts.append(f"prompt{len(prompts)}")
            await notify_client(context, types.PromptListChangedNotification(), PromptsListChanged())
            await notify_client(context, types.ResourceListChangedNotification(), ResourcesListChanged())
            return "grown"
        case "count_roots_changes":
            return str(len(roots_changes))
        case "stop":
            os._exit(3)
    return str(os.getpid())


async def call_tool(
    context: Context, params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    """Call a tool."""
    answer = await run(context, params)
    if isinstance(answer, types.InputRequiredResult):
        return answer
    return types.CallToolResult(content=[types.TextContent(text=answer)])


async def list_prompts(_context: Context, _params: Any) -> types.ListPromptsResult:
    """Return the prompts."""
    return types.ListPromptsResult(prompts=[types.Prompt(name=name) for name in prompts])


async def get_prompt(
    context: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    """Return a prompt with the name of the user."""
    given = types.CallToolRequestParams(
        name="ask", input_responses=params.input_responses, request_state=params.request_state
    )
    answer = await ask(context, given)
    if isinstance(answer, types.InputRequiredResult):
        return answer
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=types.TextContent(text=answer))])


async def list_resources(_context: Context, _params: Any) -> types.ListResourcesResult:
    """Return as many resources as there are prompts."""
    uris = [f"note://{number}" for number in range(len(prompts))]
    return types.ListResourcesResult(resources=[types.Resource(uri=uri, name=uri) for uri in uris])


async def read_resource(_context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    """Return a note."""
    content = {"uri": str(params.uri), "text": "note"}
    return types.ReadResourceResult.model_validate({"contents": [content]})


async def subscribe(_context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
    """Note a subscription."""
    subscribed.add(str(params.uri))
    return types.EmptyResult()


async def unsubscribe(_context: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
    """Forget a subscription."""
    subscribed.discard(str(params.uri))
    return types.EmptyResult()


async def note_roots_change(context: Context, _params: Any) -> None:
    """Note that the roots of the client have changed."""
    roots_changes.append(context.method)


def filter_input(keep: Callable[[dict[str, Any]], bool]) -> None:
    """Answer requests that the server does not know, as a server of one revision does, and pass on the others."""
    source, output = sys.stdin.buffer, os.dup(1)
    read, write = os.pipe()
    sys.stdin = os.fdopen(read)

    def pass_on() -> None:
        with os.fdopen(write, "wb", buffering=0) as wire:
            for line in source:
                message = json.loads(line)
                if keep(message):
                    wire.write(line)
                elif "id" in message:
                    error = {"code": -32601, "message": "Method not found"}
                    answer = {"jsonrpc": "2.0", "id": message["id"], "error": error}
                    os.write(output, json.dumps(answer).encode() + b"\n")

    threading.Thread(target=pass_on, daemon=True).start()


async def main() -> None:
    """Serve until the end of the input."""
    server: Server[Any] = Server(
        "lively",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
        on_subscribe_resource=subscribe,
        on_unsubscribe_resource=unsubscribe,
        on_subscriptions_listen=ListenHandler(bus),
    )
    server.add_notification_handler("notifications/roots/list_changed", types.NotificationParams, note_roots_change)
    async with stdio_server() as (reader, writer):
        changes = NotificationOptions(prompts_changed=True, resources_changed=True)
        await server.run(reader, writer, server.create_initialization_options(changes))


if __name__ == "__main__":
    if sys.argv[1] == "legacy":
        filter_input(lambda message: message.get("method") != "server/discover")
    elif sys.argv[1] == "modern":
        filter_input(lambda message: message.get("method") != "initialize")
    asyncio.run(main())
