"""JSON-RPC messages: parse one, and encode responses and notifications."""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson

from pegboard.json_schema.read_arguments import parse_json
from pegboard.model.call_errors import MalformedArguments
from pegboard.surfaces.mcp.protocol import INVALID_REQUEST, PARSE_ERROR, ProtocolError

RequestId = str | int

# The parser's own limit is higher. Deeper messages are refused as a whole; the arguments of a call have a lower limit.
_TOO_DEEP_TEXT = "nested too deeply"

# Longer integers are not read exactly (parse_json), so that they could not be returned unchanged.
_MAX_ID = 10**100


class RpcMessage(NamedTuple):
    """A request, a notification (no id), or a response to a request of ours (no method)."""

    id: RequestId | None
    method: str | None
    params: dict[str, Any]
    # The whole message of a response.
    answer: dict[str, Any] | None = None


class InvalidMessage(ProtocolError):
    """The message is JSON, but not one JSON-RPC message; `id` is its id if it has a valid one."""

    def __init__(self, message: str, id: RequestId | None = None) -> None:
        super().__init__(INVALID_REQUEST, message)
        self.id = id


def parse_body(body: bytes) -> Any:
    """Return the value of the JSON text; raise ProtocolError if it is not JSON or nested too deeply."""
    try:
        return parse_json(body)
    except MalformedArguments as error:
        code = INVALID_REQUEST if _TOO_DEEP_TEXT in error.message else PARSE_ERROR
        raise ProtocolError(code, error.message, status=400) from None


def read_message(value: Any) -> RpcMessage:
    """Return the message; raise InvalidMessage if the value is not one JSON-RPC message."""
    if type(value) is not dict:
        what = "a batch; send one message per request" if isinstance(value, list) else "not an object"
        raise InvalidMessage(f"The body must be one JSON-RPC message, and is {what}")
    identity = value.get("id")
    is_identified = isinstance(identity, str) or (type(identity) is int and abs(identity) < _MAX_ID)
    known_id = identity if is_identified else None
    if value.get("jsonrpc") != "2.0":
        raise InvalidMessage("'jsonrpc' must be \"2.0\"", known_id)
    if "id" in value and not is_identified:
        raise InvalidMessage("'id' must be a string or an integer of at most 100 digits")
    method = value.get("method")
    if method is None and "method" not in value and is_identified and ("result" in value or "error" in value):
        return RpcMessage(known_id, None, {}, value)
    if not isinstance(method, str):
        raise InvalidMessage("'method' must be a string", known_id)
    params = value.get("params")
    if params is None:
        params = {}
    elif type(params) is not dict:
        raise InvalidMessage("'params' must be an object", known_id)
    return RpcMessage(known_id, method, params)


def encode_id(identity: RequestId | None) -> bytes:
    """Return the id as JSON; an integer may have any number of digits."""
    return b"%d" % identity if isinstance(identity, int) else orjson.dumps(identity)


def encode_result(identity: RequestId, result: bytes) -> bytes:
    """Return the response with this result."""
    return b'{"jsonrpc":"2.0","id":' + encode_id(identity) + b',"result":' + result + b"}"


def encode_error(identity: RequestId | None, error: ProtocolError) -> bytes:
    """Return the response with this error."""
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return b'{"jsonrpc":"2.0","id":' + encode_id(identity) + b',"error":' + orjson.dumps(body) + b"}"


def encode_notification(method: str, params: dict[str, Any]) -> bytes:
    """Return a notification; without `params` if they are empty."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if params:
        message["params"] = params
    return orjson.dumps(message)
