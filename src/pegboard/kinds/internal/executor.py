"""Executor of internal tools: Python functions of the server process."""

from __future__ import annotations

import asyncio
import functools
import inspect
import typing
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

from pegboard.concurrency.handler_threads import ThreadWorkers
from pegboard.kinds.base import OpenTool, Prepared
from pegboard.kinds.internal.config import InternalConfig
from pegboard.model.call import CallContext, ReadyCall
from pegboard.model.call_errors import ExecutionFailed, HandlerNotFound
from pegboard.model.chain import Chain
from pegboard.progress.thread_safe import ThreadSafeProgress
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# A handler that blocks its threads uses up its own limit, never that of another handler.
THREADS_PER_HANDLER = 32
# How long to wait for a cancelled handler to clean up before it is abandoned.
CANCEL_GRACE_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Handler:
    """A function that serves calls, with the way to call it."""

    function: Callable[..., Any]
    context_parameter: str | None = None
    is_async: bool = True
    # Convert validated JSON to the function's own types, and its result to JSON.
    read: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    write: Callable[[Any], Any] | None = None
    # True if tools of members may use it; other handlers are for tools of admins only.
    for_members: bool = False
    threads: ThreadWorkers = field(
        default_factory=lambda: ThreadWorkers(THREADS_PER_HANDLER), compare=False, repr=False
    )

    @classmethod
    def of(cls, function: Callable[..., Any], *, for_members: bool = False) -> Handler:
        """Wrap the function: arguments are passed by keyword, a parameter annotated as CallContext gets the context."""
        is_async = inspect.iscoroutinefunction(inspect.unwrap(function))
        return cls(function, find_context_parameter(function), is_async, for_members=for_members)


def find_context_parameter(function: Callable[..., Any]) -> str | None:
    """Return the name of the parameter annotated as CallContext, or None."""
    try:
        hints = typing.get_type_hints(function)
    except (NameError, TypeError):
        hints = dict(getattr(function, "__annotations__", {}))
    for name, hint in hints.items():
        if name != "return" and hint in (CallContext, "CallContext"):
            return name
    return None


class InternalExecutor:
    """Calls the handler that the tool names: async handlers in a task, others in a thread."""

    def __init__(self, is_admin: Callable[[str], bool] = lambda _user_id: False) -> None:
        # Functions of `@board.tool` by tool id: the config of a stored tool cannot refer to them.
        self.functions: dict[str, Handler] = {}
        self.handlers: dict[str, Handler] = {}
        self._is_admin = is_admin
        # Runs tools that are chains; set later, because it needs the pipeline, which needs the executors.
        self.run_chain: Callable[[Chain, ReadyCall], Awaitable[Any]] | None = None
        self._abandoned: set[asyncio.Task[Any]] = set()

    def prepare(self, tool: OpenTool) -> Prepared:
        """Look up the handler once; a handler that is added later is found at the next call."""
        config = InternalConfig.model_validate(tool.config)
        if config.chain is not None and self.run_chain is not None:
            return Prepared(functools.partial(self.run_chain, config.chain))
        handler = self.functions.get(tool.tool.id) or self.handlers.get(config.handler)
        if tool.tool.id not in self.functions and not self.may_use_handler(tool.tool.owner_id, config.handler):
            # Checked here too: the tool may be older than this rule or than the handler.
            raise HandlerNotFound(f"Internal handler '{config.handler}' not found among the handlers for members")
        if handler is None:
            raise HandlerNotFound(f"Internal handler '{config.handler}' not found")
        return Prepared(self._runner(handler))

    def may_use_handler(self, owner_id: str, name: str) -> bool:
        """True if a tool of this owner may use this handler: admins may use all, members those for members."""
        handler = self.handlers.get(name)
        return (handler is not None and handler.for_members) or self._is_admin(owner_id)

    def for_members(self) -> list[str]:
        """Return the names of the handlers that tools of members may use."""
        return sorted(name for name, handler in self.handlers.items() if handler.for_members)

    async def close(self) -> None:
        """Cancel abandoned tasks again and let idle threads end."""
        for task in self._abandoned:
            task.cancel()
        for handler in (*self.functions.values(), *self.handlers.values()):
            handler.threads.close()

    def _runner(self, handler: Handler) -> Callable[[ReadyCall], Awaitable[Any]]:
        async def run(call: ReadyCall) -> Any:
            # A copy: changes that a handler makes must not affect the journal, the next attempt or the caller.
            arguments: dict[str, Any] = orjson.loads(orjson.dumps(call.arguments))
            if handler.read is not None:
                arguments = handler.read(arguments)
            progress = None
            if handler.context_parameter is not None:
                progress = ThreadSafeProgress(call.on_progress)
                context = CallContext(call.caller, call.run_id, call.deadline, progress, progress)
                arguments = {**arguments, handler.context_parameter: context}
            try:
                if handler.is_async:
                    result = await self._run_in_task(handler.function(**arguments), call, progress)
                else:
                    result = await handler.threads.run(functools.partial(handler.function, **arguments))
                    if inspect.isawaitable(result):
                        result = await self._run_in_task(result, call, progress)
            except asyncio.CancelledError:
                if progress is not None:
                    progress.cancel()
                raise
            finally:
                if progress is not None:
                    progress.end()
            return result if handler.write is None else handler.write(result)

        return run

    async def _run_in_task(self, work: Awaitable[Any], call: ReadyCall, progress: ThreadSafeProgress | None) -> Any:
        """Return the result of the handler or raise its error; a handler that ignores its cancellation is abandoned."""
        task = asyncio.create_task(_capture_outcome(work))
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            if progress is not None:
                progress.cancel()
            task.cancel()
            self._abandoned.add(task)
            task.add_done_callback(self._abandoned.discard)
            _, ignoring = await asyncio.wait({task}, timeout=CANCEL_GRACE_SECONDS)
            if ignoring:
                log.warning("handler_ignores_cancellation", tool=call.tool.name, run_id=call.run_id)
            raise
        result, error = task.result()
        if isinstance(error, GeneratorExit):
            # If it were raised here, it would look as if this coroutine were being closed.
            raise ExecutionFailed("The tool raised GeneratorExit")
        if error is not None:
            raise error
        return result


async def _capture_outcome(work: Awaitable[Any]) -> tuple[Any, BaseException | None]:
    """Return the result and the error as values: a SystemExit raised by a task would end the event loop."""
    try:
        return await work, None
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        return None, error
