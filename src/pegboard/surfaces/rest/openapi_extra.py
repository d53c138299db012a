"""The OpenAPI description of the call route, which is not a FastAPI route."""

from __future__ import annotations

from typing import Any

from pegboard.model.idempotency_key import MAX_IDEMPOTENCY_KEY_LENGTH

_IDEMPOTENCY_KEY: dict[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Makes the call run once: the same key again within a day gets the answer of the first time",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_IDEMPOTENCY_KEY_LENGTH},
}

CALL_PATH: dict[str, Any] = {
    "/v1/tools/{name}/call": {
        "post": {
            "tags": ["calls"],
            "operationId": "call_tool",
            "summary": "Call a tool",
            "description": "The body is the arguments. A tool's failure is an answer, no HTTP error: see `success`.",
            "security": [{"bearer": []}],
            "parameters": [
                {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}},
                {
                    "name": "as",
                    "in": "query",
                    "required": False,
                    "description": "The dialect of the answer; the tool's own result_style if absent",
                    "schema": {"type": "string"},
                },
                _IDEMPOTENCY_KEY,
            ],
            "requestBody": {
                "content": {"application/json": {"schema": {"type": "object", "additionalProperties": True}}}
            },
            "responses": {
                "200": {
                    "description": "How the call ended",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PlainResult"}}},
                },
                **{
                    str(status): {
                        "description": text,
                        "content": {
                            "application/problem+json": {"schema": {"$ref": "#/components/schemas/ProblemBody"}}
                        },
                    }
                    for status, text in (
                        (400, "The body is not JSON"),
                        (401, "No key, or not a good one"),
                        (408, "The body stopped coming"),
                        (413, "The body is too large"),
                        (422, "No such dialect, or no usable key"),
                    )
                },
                "503": {
                    "description": "The call could not be taken or recorded; Retry-After says when to come back",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PlainResult"}}},
                },
            },
        }
    }
}
