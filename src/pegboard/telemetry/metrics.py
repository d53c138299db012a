"""Prometheus metrics of one board."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """Calls, durations, errors by kind and code, and calls in flight."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._in_flight = Gauge("pegboard_calls_in_flight", "Calls running now", registry=self._registry)
        self._calls = Counter(
            "pegboard_calls",
            "Calls answered, by kind of tool and outcome",
            ["kind", "outcome"],
            registry=self._registry,
        )
        self._errors = Counter(
            "pegboard_call_errors",
            "Calls that failed, by kind of tool and code",
            ["kind", "code"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "pegboard_call_duration_seconds",
            "How long calls took, without the wait for the journal",
            ["kind"],
            buckets=_BUCKETS,
            registry=self._registry,
        )
        # Looking a labelled child up takes longer than counting with it; there are few kinds.
        self._of_kind: dict[str, tuple[Counter, Counter, Histogram]] = {}

    def watch_in_flight(self, count: Callable[[], int]) -> None:
        """Ask this, when metrics are read, how many calls are running."""
        self._in_flight.set_function(count)

    def finished(self, kind: str, code: str, elapsed_ms: float) -> None:
        """Count one call; `code` is empty for one that succeeded."""
        children = self._of_kind.get(kind)
        if children is None:
            children = self._of_kind[kind] = (
                self._calls.labels(kind, "success"),
                self._calls.labels(kind, "error"),
                self._seconds.labels(kind),
            )
        succeeded, failed, seconds = children
        if code:
            failed.inc()
            self._errors.labels(kind, code).inc()
        else:
            succeeded.inc()
        seconds.observe(elapsed_ms / 1000)

    def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self._registry)
