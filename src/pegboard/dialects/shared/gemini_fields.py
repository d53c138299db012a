"""Fields of Google's types, which are camelCase on the wire and snake_case in dumps of the Python SDK."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SNAKE_CASE_NAMES = {
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


def get_field(item: Mapping[str, Any], name: str) -> Any:
    """Return a field by its wire name, or by its name in dumps of the Python SDK."""
    value = item.get(name)
    return item.get(_SNAKE_CASE_NAMES[name]) if value is None and name in _SNAKE_CASE_NAMES else value


def get_field_names(name: str) -> tuple[str, str]:
    """Return both names of a field."""
    return name, _SNAKE_CASE_NAMES[name]
