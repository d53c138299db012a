"""Internal tools: functions of the process that runs the board."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.to_thread

from pegboard.core.call import CallContext, ReadyCall
from pegboard.core.configs import InternalConfig
from pegboard.core.errors import HandlerNotFound
from pegboard.executors.base import OpenTool, Prepared

# A handler that hangs in a thread holds one of its own places, never another handler's.
THREADS_PER_HANDLER = 32


@dataclass(frozen=True, slots=True)
class Handler:
    """A function that serves calls, and how it wants to be called."""

    function: Callable[..., Any]
    context_parameter: str | None = None
    is_async: bool = True
    # Turns validated JSON into the function's own types, and its result into JSON.
    read: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    write: Callable[[Any], Any] | None = None

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Handler:
        """The function as it stands: parameters as keyword arguments, a CallContext where annotated."""
        return cls(function, context_parameter_of(function), inspect.iscoroutinefunction(inspect.unwrap(function)))


def context_parameter_of(function: Callable[..., Any]) -> str | None:
    """The name of the parameter annotated as CallContext, if there is one."""
    try:
        hints = typing.get_type_hints(function)
    except (NameError, TypeError):
        hints = dict(getattr(function, "__annotations__", {}))
    for name, hint in hints.items():
        if name != "return" and hint in (CallContext, "CallContext"):
            return name
    return None


class InternalExecutor:
    """Calls the handler that the tool names; sync ones in a thread of their own."""

    def __init__(self) -> None:
        self.handlers: dict[str, Handler] = {}

    def prepare(self, tool: OpenTool) -> Prepared:
        """The handler, looked up once; a handler added later is found by the next call."""
        name = InternalConfig.model_validate(tool.config).handler
        handler = self.handlers.get(name)
        if handler is None:
            raise HandlerNotFound(f"Internal handler '{name}' not found")
        return Prepared(_runner(handler))

    async def close(self) -> None:
        """Nothing is held."""


def _runner(handler: Handler) -> Callable[[ReadyCall], Awaitable[Any]]:
    limiter: anyio.CapacityLimiter | None = None

    async def run(call: ReadyCall) -> Any:
        nonlocal limiter
        arguments = call.arguments if handler.read is None else handler.read(call.arguments)
        if handler.context_parameter is not None:
            context = CallContext(call.caller, call.run_id, call.deadline, call.on_progress)
            arguments = {**arguments, handler.context_parameter: context}
        if handler.is_async:
            result = await handler.function(**arguments)
        else:
            limiter = limiter or anyio.CapacityLimiter(THREADS_PER_HANDLER)
            result = await anyio.to_thread.run_sync(
                functools.partial(handler.function, **arguments), abandon_on_cancel=True, limiter=limiter
            )
            if inspect.isawaitable(result):
                result = await result
        return result if handler.write is None else handler.write(result)

    return run
