"""The tools that send requests and log messages while they run, which the revisions with sessions allow."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.message import ServerMessageMetadata

_STEP_SECONDS = 0.05
_STRING = {"type": "string"}
_LOGGED = ("Tool execution started", "Tool processing data", "Tool execution completed")


def _titled(**titles: str) -> list[dict[str, str]]:
    return [{"const": value, "title": title} for value, title in titles.items()]


_DEFAULTS: Mapping[str, Any] = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
_OPTIONS = ["option1", "option2", "option3"]
_ENUMS: Mapping[str, Any] = {
    "untitledSingle": {"type": "string", "enum": _OPTIONS},
    "titledSingle": {
        "type": "string",
        "oneOf": _titled(value1="First Option", value2="Second Option", value3="Third Option"),
    },
    "legacyEnum": {
        "type": "string",
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["Option One", "Option Two", "Option Three"],
    },
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _OPTIONS}},
    "titledMulti": {
        "type": "array",
        "items": {"anyOf": _titled(value1="First Choice", value2="Second Choice", value3="Third Choice")},
    },
}
_USER: Mapping[str, Any] = {
    "username": {"type": "string", "description": "User's response"},
    "email": {"type": "string", "description": "User's email address"},
}
SCHEMAS: Mapping[str, Mapping[str, Any]] = {
    "test_tool_with_logging": {"type": "object", "properties": {}},
    "test_sampling": {"type": "object", "properties": {"prompt": _STRING}, "required": ["prompt"]},
    "test_elicitation": {"type": "object", "properties": {"message": _STRING}, "required": ["message"]},
    "test_elicitation_sep1034_defaults": {"type": "object", "properties": {}},
    "test_elicitation_sep1330_enums": {"type": "object", "properties": {}},
}


async def run(context: ServerRequestContext[Any], params: types.CallToolRequestParams) -> str:
    """Return the text of one of these tools."""
    arguments = params.arguments or {}
    match params.name:
        case "test_tool_with_logging":
            for data in _LOGGED:
                message = types.LoggingMessageNotificationParams(level="info", data=data)
                notification = types.LoggingMessageNotification(params=message)
                await context.session.send_notification(notification, context.request_id)
                await asyncio.sleep(_STEP_SECONDS)
            return "Logged."
        case "test_sampling":
            content = types.TextContent(text=arguments["prompt"])
            asked = types.CreateMessageRequestParams(
                messages=[types.SamplingMessage(role="user", content=content)], max_tokens=100
            )
            metadata = ServerMessageMetadata(related_request_id=context.request_id)
            request = types.CreateMessageRequest(params=asked)
            sampled = await context.session.send_request(request, types.CreateMessageResult, metadata=metadata)
            return f"LLM response: {sampled.content.text if sampled.content.type == 'text' else sampled.content}"
        case "test_elicitation":
            answer = await _elicit(context, arguments["message"], _USER, list(_USER))
            return f"User response: {answer}"
        case "test_elicitation_sep1034_defaults":
            return f"Elicitation completed: {await _elicit(context, 'Please check the defaults', _DEFAULTS, [])}"
        case _:
            return f"Elicitation completed: {await _elicit(context, 'Please choose', _ENUMS, [])}"


async def _elicit(
    context: ServerRequestContext[Any], message: str, properties: Mapping[str, Any], required: list[str]
) -> str:
    schema: dict[str, Any] = {"type": "object", "properties": dict(properties)}
    if required:
        schema["required"] = required
    answer = await context.session.elicit_form(message, schema, context.request_id)
    return f"action={answer.action}, content={answer.content}"
