"""The tools, prompts and resources of scenarios of the conformance suite: an MCP server on stdio.

The description of each scenario in the suite defines its tool.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from tests.conformance import session_fixtures
from tests.conformance.catalog_fixtures import (
    PNG,
    complete,
    get_prompt,
    list_prompts,
    list_resources,
    list_templates,
    read_resource,
    subscribe,
)
from tests.conformance.input_fixtures import TOOLS, ask

# A WAV file without samples.
_WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
_STEP_SECONDS = 0.05
_NO_ARGUMENTS: Mapping[str, Any] = {"type": "object", "properties": {}}

TEXT = {"type": "text", "text": "This is a simple text response for testing."}
IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": _WAV, "mimeType": "audio/wav"}
CONTENT: Mapping[str, list[dict[str, Any]]] = {
    "test_simple_text": [TEXT],
    "test_image_content": [IMAGE],
    "test_audio_content": [AUDIO],
    "test_embedded_resource": [
        {
            "type": "resource",
            "resource": {
                "uri": "test://embedded-resource",
                "mimeType": "text/plain",
                "text": "This is an embedded resource content.",
            },
        }
    ],
    "test_multiple_content_types": [
        {"type": "text", "text": "Multiple content types test:"},
        IMAGE,
        {
            "type": "resource",
            "resource": {
                "uri": "test://mixed-content-resource",
                "mimeType": "application/json",
                "text": '{"test":"data","value":123}',
            },
        },
    ],
}
SCHEMAS: Mapping[str, Mapping[str, Any]] = {
    **dict.fromkeys((*CONTENT, "test_error_handling", "test_tool_with_progress", *TOOLS), _NO_ARGUMENTS),
    **session_fixtures.SCHEMAS,
    "test_x_mcp_header": {
        "type": "object",
        "properties": {"region": {"type": "string", "default": "<none>", "x-mcp-header": "Region"}},
    },
    "json_schema_2020_12_tool": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
}


async def list_tools(_context: ServerRequestContext[Any], _params: Any) -> types.ListToolsResult:
    """Return all tools."""
    tools = [
        types.Tool(name=name, description=f"Fixture {name}", input_schema=dict(schema))
        for name, schema in SCHEMAS.items()
    ]
    return types.ListToolsResult(tools=tools)


async def call_tool(
    context: ServerRequestContext[Any], params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    """Return the content of the tool, or what it needs of the client."""
    if params.name in TOOLS:
        answer = ask(params)
        if isinstance(answer, types.InputRequiredResult):
            return answer
        return types.CallToolResult.model_validate({"content": [{"type": "text", "text": answer}]})
    if params.name in session_fixtures.SCHEMAS:
        text = await session_fixtures.run(context, params)
        return types.CallToolResult.model_validate({"content": [{"type": "text", "text": text}]})
    if params.name == "test_error_handling":
        message = {"type": "text", "text": "This tool intentionally returns an error for testing"}
        return types.CallToolResult.model_validate({"content": [message], "isError": True})
    if params.name == "test_tool_with_progress":
        for step in (0, 50, 100):
            await context.session.report_progress(step, 100)
            await asyncio.sleep(_STEP_SECONDS)
    return types.CallToolResult.model_validate({"content": CONTENT.get(params.name, [TEXT])})


async def main() -> None:
    """Serve until the end of the input."""
    server: Server[Any] = Server(
        "fixtures",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
        on_subscribe_resource=subscribe,
        on_unsubscribe_resource=subscribe,
    )
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main())
