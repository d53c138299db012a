"""Fields of Google's types, which go by one name on the wire and by another in what the Python SDK dumps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SNAKE = {
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "functionCalls": "function_calls",
    "functionResponses": "function_responses",
    "thoughtSignature": "thought_signature",
    "executableCode": "executable_code",
    "codeExecutionResult": "code_execution_result",
    "toolCall": "tool_call",
    "toolCallCancellation": "tool_call_cancellation",
    "toolResponse": "tool_response",
    "toolType": "tool_type",
    "partialArgs": "partial_args",
    "willContinue": "will_continue",
    "jsonPath": "json_path",
    "stringValue": "string_value",
    "numberValue": "number_value",
    "boolValue": "bool_value",
    "nullValue": "null_value",
    "serverContent": "server_content",
    "modelTurn": "model_turn",
    "finishReason": "finish_reason",
    "longRunningToolIds": "long_running_tool_ids",
    "invocationId": "invocation_id",
}


def field(item: Mapping[str, Any], name: str) -> Any:
    """A field by its name on the wire, or by the one that the Python SDK dumps it under."""
    value = item.get(name)
    return item.get(_SNAKE[name]) if value is None and name in _SNAKE else value


def names_of(name: str) -> tuple[str, str]:
    """Both names of a field."""
    return name, _SNAKE[name]
