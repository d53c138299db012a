"""Internal tools: functions of the process that runs the board."""

from __future__ import annotations

import asyncio
import functools
import inspect
import typing
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

from pegboard.core.call import CallContext, ReadyCall
from pegboard.core.chains import Chain
from pegboard.core.configs import InternalConfig
from pegboard.core.errors import ExecutionFailed, HandlerNotFound
from pegboard.executors.base import OpenTool, Prepared
from pegboard.executors.hearing import Hearing
from pegboard.executors.threads import Threads
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# A handler that hangs in a thread holds one of its own places, never another handler's.
THREADS_PER_HANDLER = 32
# How long a handler that was cancelled may take to clean up before nobody waits for it any more.
GRACE_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Handler:
    """A function that serves calls, and how it wants to be called."""

    function: Callable[..., Any]
    context_parameter: str | None = None
    is_async: bool = True
    # Turns validated JSON into the function's own types, and its result into JSON.
    read: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    write: Callable[[Any], Any] | None = None
    # Whether tools of members may name it; others are for the tools of admins.
    for_members: bool = False
    threads: Threads = field(default_factory=lambda: Threads(THREADS_PER_HANDLER), compare=False, repr=False)

    @classmethod
    def of(cls, function: Callable[..., Any], *, for_members: bool = False) -> Handler:
        """The function as it stands: parameters as keyword arguments, a CallContext where annotated."""
        is_async = inspect.iscoroutinefunction(inspect.unwrap(function))
        return cls(function, context_parameter_of(function), is_async, for_members=for_members)


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
    """Calls the handler that the tool names: async ones in a task, the others in a thread of their own."""

    def __init__(self, is_admin: Callable[[str], bool] = lambda _user_id: False) -> None:
        # Functions of `@board.tool` by the id of their tool: no config of a stored tool can name them.
        self.functions: dict[str, Handler] = {}
        self.handlers: dict[str, Handler] = {}
        self._is_admin = is_admin
        # What runs tools that are chains; it calls tools, and so is made after those who run them.
        self.run_chain: Callable[[Chain, ReadyCall], Awaitable[Any]] | None = None
        self._abandoned: set[asyncio.Task[Any]] = set()

    def prepare(self, tool: OpenTool) -> Prepared:
        """The handler, looked up once; a handler added later is found by the next call."""
        config = InternalConfig.model_validate(tool.config)
        if config.chain is not None and self.run_chain is not None:
            return Prepared(functools.partial(self.run_chain, config.chain))
        handler = self.functions.get(tool.tool.id) or self.handlers.get(config.handler)
        if tool.tool.id not in self.functions and not self.may_name(tool.tool.owner_id, config.handler):
            # Checked here too: the tool may be older than the rule, or than the handler.
            raise HandlerNotFound(f"Internal handler '{config.handler}' not found among the handlers for members")
        if handler is None:
            raise HandlerNotFound(f"Internal handler '{config.handler}' not found")
        return Prepared(self._runner(handler))

    def may_name(self, owner_id: str, name: str) -> bool:
        """Whether a tool of this owner may name this handler: an admin's any, a member's those for members."""
        handler = self.handlers.get(name)
        return (handler is not None and handler.for_members) or self._is_admin(owner_id)

    def for_members(self) -> list[str]:
        """The names of the handlers that tools of members may name."""
        return sorted(name for name, handler in self.handlers.items() if handler.for_members)

    async def close(self) -> None:
        """Cancel once more what did not heed it, and let idle threads end."""
        for task in self._abandoned:
            task.cancel()
        for handler in (*self.functions.values(), *self.handlers.values()):
            handler.threads.close()

    def _runner(self, handler: Handler) -> Callable[[ReadyCall], Awaitable[Any]]:
        async def run(call: ReadyCall) -> Any:
            # A copy: what a handler does to its arguments must not reach the journal, the next attempt or the caller.
            arguments: dict[str, Any] = orjson.loads(orjson.dumps(call.arguments))
            if handler.read is not None:
                arguments = handler.read(arguments)
            hearing = None
            if handler.context_parameter is not None:
                hearing = Hearing(call.on_progress)
                context = CallContext(call.caller, call.run_id, call.deadline, hearing, hearing)
                arguments = {**arguments, handler.context_parameter: context}
            try:
                if handler.is_async:
                    result = await self._in_task(handler.function(**arguments), call, hearing)
                else:
                    result = await handler.threads.run(functools.partial(handler.function, **arguments))
                    if inspect.isawaitable(result):
                        result = await self._in_task(result, call, hearing)
            except asyncio.CancelledError:
                if hearing is not None:
                    hearing.cancel()
                raise
            finally:
                if hearing is not None:
                    hearing.end()
            return result if handler.write is None else handler.write(result)

        return run

    async def _in_task(self, work: Awaitable[Any], call: ReadyCall, hearing: Hearing | None) -> Any:
        """What the handler returns or raises; one that ignores its cancellation is left to itself."""
        task = asyncio.create_task(_outcome(work))
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            if hearing is not None:
                hearing.cancel()
            task.cancel()
            self._abandoned.add(task)
            task.add_done_callback(self._abandoned.discard)
            _, ignoring = await asyncio.wait({task}, timeout=GRACE_SECONDS)
            if ignoring:
                log.warning("handler_ignores_cancellation", tool=call.tool.name, run_id=call.run_id)
            raise
        result, error = task.result()
        if isinstance(error, GeneratorExit):
            # Raised on, it would read as if this very coroutine were being closed.
            raise ExecutionFailed("The tool raised GeneratorExit")
        if error is not None:
            raise error
        return result


async def _outcome(work: Awaitable[Any]) -> tuple[Any, BaseException | None]:
    """Result and error as values: SystemExit raised out of a task would end the event loop."""
    try:
        return await work, None
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        return None, error
