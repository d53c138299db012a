"""Prometheus metrics of one board."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

_BUCKETS_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_BUCKETS_MS = tuple(seconds * 1000 for seconds in _BUCKETS_SECONDS)


class _DurationHistogram:
    """A histogram of call durations."""

    __slots__ = ("counts", "sum_ms")

    def __init__(self) -> None:
        self.counts = [0] * (len(_BUCKETS_SECONDS) + 1)
        self.sum_ms = 0.0


class Metrics:
    """Calls, durations, errors by kind and code, and calls in flight.

    A call only increments our own counters; they are converted to Prometheus metrics when they are read.
    """

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(self)
        self._in_flight: Callable[[], int] = int
        self._outcomes: dict[tuple[str, str], int] = {}
        self._durations: dict[str, _DurationHistogram] = {}
        self._violations: dict[str, int] = {}

    def watch_in_flight(self, count: Callable[[], int]) -> None:
        """Set the function that returns the number of running calls."""
        self._in_flight = count

    def count_call(self, kind: str, code: str, elapsed_ms: float) -> None:
        """Count one call; `code` is empty if it succeeded."""
        key = (kind, code)
        self._outcomes[key] = self._outcomes.get(key, 0) + 1
        durations = self._durations.get(kind)
        if durations is None:
            durations = self._durations[kind] = _DurationHistogram()
        durations.counts[bisect_left(_BUCKETS_MS, elapsed_ms)] += 1
        durations.sum_ms += elapsed_ms

    def count_violations(self, kind: str, times: int) -> None:
        """Count contract violations of the attempts of one call.

        By kind and not by tool: metrics can be read without a key, and the names of private tools are private.
        """
        self._violations[kind] = self._violations.get(kind, 0) + times

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics for Prometheus."""
        yield GaugeMetricFamily("pegboard_calls_in_flight", "Calls running now", self._in_flight())
        calls = CounterMetricFamily(
            "pegboard_calls", "Calls answered, by kind of tool and outcome", labels=["kind", "outcome"]
        )
        errors = CounterMetricFamily(
            "pegboard_call_errors", "Calls that failed, by kind of tool and code", labels=["kind", "code"]
        )
        seconds = HistogramMetricFamily(
            "pegboard_call_duration_seconds", "How long calls took, without the wait for the journal", labels=["kind"]
        )
        for kind, durations in self._durations.items():
            of_kind = {code: count for (each, code), count in self._outcomes.items() if each == kind}
            succeeded = of_kind.pop("", 0)
            calls.add_metric([kind, "success"], succeeded)
            calls.add_metric([kind, "error"], sum(of_kind.values()))
            for code, count in of_kind.items():
                errors.add_metric([kind, code], count)
            seconds.add_metric([kind], _accumulate_buckets(durations.counts), durations.sum_ms / 1000)
        violations = CounterMetricFamily(
            "pegboard_contract_violations", "Outputs that broke their tool's output_schema, by kind", labels=["kind"]
        )
        for kind, count in self._violations.items():
            violations.add_metric([kind], count)
        yield from (calls, errors, seconds, violations)

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self._registry)


def _accumulate_buckets(counts: list[int]) -> list[tuple[str, float]]:
    total = 0
    buckets: list[tuple[str, float]] = []
    for bound, count in zip((*map(float, _BUCKETS_SECONDS), float("inf")), counts, strict=True):
        total += count
        buckets.append(("+Inf" if bound == float("inf") else str(bound), total))
    return buckets
