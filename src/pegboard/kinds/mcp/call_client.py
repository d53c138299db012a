"""The MCP client of one running request, as the server that answers it reaches it: for input, and with log messages."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from pegboard.kinds.mcp.input_requests import describe_input_request, is_declared
from pegboard.kinds.mcp.upstream import Upstream
from pegboard.kinds.secret_mask import SecretMask
from pegboard.kinds.upstream_limits import LARGE_ANSWER_BYTES
from pegboard.model.call_errors import UpstreamFailed
from pegboard.model.json_text import json_text
from pegboard.model.mcp_exchange import LOG_LEVELS, ClientRefused, McpExchange, McpFailure

# How long all requests for input of one call may take together; its timeout is paused for this time.
INPUT_SECONDS = 600.0
# Requests for input of one call.
MAX_INPUT_REQUESTS = 100
# The data of a longer log message is left out.
MAX_LOG_CHARS = 64 * 1024
_INVALID_REQUEST = -32600

SendRequest = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]


class CallClient:
    """The client of one attempt of a call; credentials of the tool are masked in all messages to it."""

    __slots__ = ("_asking", "_exchange", "_mask", "_requests", "_seconds_left", "_shown", "_stopped_at", "on_wait")

    def __init__(self, exchange: McpExchange, mask: SecretMask, shown: str) -> None:
        self._exchange = exchange
        self._mask = mask
        self._shown = shown
        # Gets the seconds by which the end of the attempt is put off.
        self.on_wait: Callable[[float], None] | None = None
        # Requests for input so far, those without an answer, and the time that the attempt had left before them.
        self._requests = 0
        self._asking = 0
        self._stopped_at = 0.0
        self._seconds_left: float | None = None

    @property
    def request_count(self) -> int:
        """How often the client was asked for input."""
        return self._requests

    @property
    def log_level(self) -> str | None:
        """The least level of the log messages that the client gets; None if it gets none."""
        return None if self._exchange.on_log is None else self._exchange.log_level

    @property
    def is_asked_by_result(self) -> bool:
        """True if the result of its request may be a request for input, after which it sends the request again."""
        return self._exchange.capabilities is not None

    @property
    def capabilities(self) -> Mapping[str, Any] | None:
        """The capabilities that the client declared; None if it cannot be asked for input."""
        exchange = self._exchange
        if exchange.capabilities is not None:
            return exchange.capabilities
        return exchange.client.capabilities if exchange.client is not None and exchange.ask is not None else None

    def select(self, upstream: Upstream) -> Upstream:
        """Return the upstream whose session the request uses: the shared one, or one of this client."""
        client = self._exchange.client
        return upstream if client is None else replace(upstream, client=client)

    def build_params(self, params: Mapping[str, Any], *, is_stateless: bool, meta_keys: tuple[str, str]) -> Any:
        """Return the params with the client's input; `meta_keys` are those for its capabilities and its log level."""
        if not is_stateless:
            return params
        given = (self.capabilities, self.log_level)
        meta = {key: value for key, value in zip(meta_keys, given, strict=True) if value is not None}
        return {**params, **({"_meta": meta} if meta else {}), **self._exchange.build_extras()}

    async def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the client's answer to a request for input; raise ClientRefused. The call's timeout is paused."""
        ask = self._exchange.ask
        if ask is None or not is_declared(method, self.capabilities or {}):
            raise _refuse(f"The client did not declare that it can answer {method[:100]}")
        self._requests += 1
        if self._requests > MAX_INPUT_REQUESTS:
            raise _refuse(f"A call may ask for input at most {MAX_INPUT_REQUESTS} times")
        masked = await self._apply_mask(params)
        with self.stop_clock():
            try:
                async with asyncio.timeout(self._compute_seconds_left()):
                    return await ask(method, masked)
            except TimeoutError:
                raise _refuse(f"The client did not answer within {INPUT_SECONDS:g} s") from None

    async def send_until_complete(self, send: SendRequest, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result of a request; ask the client and send it again as long as the server asks for input."""
        result = await send(params)
        while result.get("resultType") == "input_required" and not self.is_asked_by_result:
            result = await send({**params, **await self._collect_input(result)})
        return result

    def log(self, params: Mapping[str, Any]) -> None:
        """Send a log message to the client, if its level is high enough."""
        on_log, least, level = self._exchange.on_log, self._exchange.log_level, params.get("level")
        if on_log is None or least is None or level not in LOG_LEVELS:
            return
        if LOG_LEVELS.index(level) < LOG_LEVELS.index(least):
            return
        size = len(json_text(params))
        if size > MAX_LOG_CHARS:
            params = {"level": level, "data": f"[{size:,} characters left out]"}
        on_log(self._mask.mask_value(params))

    async def _collect_input(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Return the members that complete a request: the answers of the client, and the state of the server."""
        if self._exchange.ask is None:
            raise UpstreamFailed(
                f"{self._shown} asked for input that this board cannot give{describe_input_request(result)}"
            )
        answers: dict[str, Any] = {}
        for key, request in (result.get("inputRequests") or {}).items():
            try:
                answers[key] = await self.ask(str(request.get("method")), request.get("params") or {})
            except ClientRefused as refused:
                raise UpstreamFailed(f"{self._shown} asked for input: {refused.failure.message}") from None
        if not answers and self._requests >= MAX_INPUT_REQUESTS:
            raise UpstreamFailed(f"{self._shown} asked for input without end")
        self._requests += not answers
        state = result.get("requestState")
        return {"inputResponses": answers, **({"requestState": state} if isinstance(state, str) else {})}

    def _compute_seconds_left(self) -> float:
        """Return how long the client may still be asked."""
        now = asyncio.get_running_loop().time()
        return max(0.0, INPUT_SECONDS - self._exchange.input_seconds - (now - self._stopped_at))

    async def _apply_mask(self, params: Mapping[str, Any]) -> Any:
        size = self._mask.count_bytes_to_mask(params)
        if size > LARGE_ANSWER_BYTES:
            return await asyncio.to_thread(self._mask.mask_value, params)
        return self._mask.mask_value(params) if size else params

    @contextmanager
    def stop_clock(self) -> Iterator[None]:
        """Pause the timeout of the call."""
        loop = asyncio.get_running_loop()
        timer = self._exchange.timer
        if self._asking == 0:
            self._stopped_at = loop.time()
            ends = None if timer is None else timer.when()
            self._seconds_left = None if ends is None else ends - self._stopped_at
            self._put_off(timer, None, INPUT_SECONDS)
        self._asking += 1
        try:
            yield
        finally:
            self._asking -= 1
            if self._asking == 0:
                now = loop.time()
                waited = now - self._stopped_at
                self._exchange.input_seconds += waited
                left = self._seconds_left
                self._put_off(timer, None if left is None else now + left, waited - INPUT_SECONDS)

    def _put_off(self, timer: asyncio.Timeout | None, ends: float | None, seconds: float) -> None:
        if timer is not None:
            with suppress(RuntimeError):  # the attempt has ended
                timer.reschedule(ends)
        if self.on_wait is not None:
            self.on_wait(seconds)


def _refuse(message: str) -> ClientRefused:
    return ClientRefused(McpFailure(_INVALID_REQUEST, message))
