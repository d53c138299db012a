"""Requests of the server to the client of a session, and the responses that the client sends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from pegboard.model.json_text import json_text
from pegboard.model.mcp_exchange import ClientRefused, McpFailure
from pegboard.surfaces.mcp.json_rpc import RpcMessage, encode_notification
from pegboard.surfaces.mcp.protocol import INTERNAL_ERROR, INVALID_REQUEST

# Requests of one session that wait for a response.
MAX_WAITING_RESPONSES = 100
_MAX_MESSAGE_CHARS = 1000

# Sends a request, as JSON; returns False if the client cannot get it.
SendToClient = Callable[[bytes], bool]


class ClientRequests:
    """The requests of one session that wait for a response."""

    __slots__ = ("_count", "_waiting")

    def __init__(self) -> None:
        self._count = 0
        self._waiting: dict[str, asyncio.Future[Mapping[str, Any]]] = {}

    async def ask(
        self, send: SendToClient, notify: Callable[[bytes], None], method: str, params: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the result that the client sends; raise ClientRefused.

        If this is cancelled, the client gets `notifications/cancelled`.
        """
        if len(self._waiting) >= MAX_WAITING_RESPONSES:
            raise refuse_input(f"The client has {MAX_WAITING_RESPONSES} requests to answer already")
        self._count += 1
        identity = f"pegboard-{self._count}"
        message = {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}
        waiting = self._waiting[identity] = asyncio.get_running_loop().create_future()
        try:
            if not send(json_text(message).encode()):
                raise refuse_input("The client accepts no event stream, so that it cannot be asked for input")
            answer = await waiting
        except asyncio.CancelledError:
            notify(encode_notification("notifications/cancelled", {"requestId": identity}))
            raise
        finally:
            del self._waiting[identity]
        return _read_answer(answer)

    def receive(self, message: RpcMessage) -> bool:
        """Take a response; return False if it answers no request that waits."""
        waiting = self._waiting.get(message.id) if isinstance(message.id, str) else None
        if waiting is None or waiting.done():
            return False
        waiting.set_result(message.answer or {})
        return True

    def close(self) -> None:
        """Refuse all requests: the session has ended."""
        error = {"code": INTERNAL_ERROR, "message": "The session of the client has ended"}
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_result({"error": error})


def refuse_input(message: str) -> ClientRefused:
    """Return the error for a request that the client does not get or answer."""
    return ClientRefused(McpFailure(INTERNAL_ERROR, message))


def _read_answer(answer: Mapping[str, Any]) -> dict[str, Any]:
    error, result = answer.get("error"), answer.get("result")
    if isinstance(error, dict):
        code, message = error.get("code"), error.get("message")
        if type(code) is not int or abs(code) >= 2**31:
            code = INVALID_REQUEST
        text = message[:_MAX_MESSAGE_CHARS] if isinstance(message, str) else "The client refused the request"
        raise ClientRefused(McpFailure(code, text, error.get("data")))
    if not isinstance(result, dict):
        raise refuse_input("The client answered without a result")
    return result
