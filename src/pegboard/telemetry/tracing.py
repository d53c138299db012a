"""OpenTelemetry spans, if the application has configured the SDK."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pegboard.model.call import ToolCall, ToolResult


class Tracing:
    """Opens a span `execute_tool NAME` around each call, following the GenAI conventions."""

    def __init__(self, tracer: Any, error_status: Any) -> None:
        self._tracer = tracer
        self._error = error_status

    @contextmanager
    def span(self, call: ToolCall, run_id: str) -> Iterator[Callable[[ToolResult], None]]:
        """Open the current span for a call; call the returned function with the result."""
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.name,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": call.id or run_id,
            "pegboard.run_id": run_id,
            "pegboard.surface": call.surface,
        }
        with self._tracer.start_as_current_span(f"execute_tool {call.name}", attributes=attributes) as span:

            def record_end(result: ToolResult) -> None:
                if result.problem is not None:
                    span.set_attribute("error.type", result.problem.code)
                    span.set_status(self._error, result.problem.message)

            yield record_end

    @contextmanager
    def continue_trace(self, carrier: Mapping[str, Any]) -> Iterator[None]:
        """Make the spans within part of the trace that `traceparent` and `tracestate` in the carrier name."""
        from opentelemetry import context, propagate  # noqa: PLC0415 -- an optional companion, not a dependency

        token = context.attach(propagate.extract({key: value for key, value in carrier.items() if type(value) is str}))
        try:
            yield
        finally:
            context.detach(token)


def find_tracing() -> Tracing | None:
    """Return the tracing if this process has configured the OpenTelemetry SDK, else None (no cost per call)."""
    try:
        from opentelemetry import trace  # noqa: PLC0415 -- an optional companion, not a dependency
    except ImportError:
        return None
    provider = trace.get_tracer_provider()
    if type(provider).__module__.startswith("opentelemetry.trace"):
        return None  # the placeholder of the API package: no SDK is configured
    return Tracing(trace.get_tracer("pegboard"), trace.StatusCode.ERROR)
