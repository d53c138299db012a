"""The limit stage: which bucket is used, and the content of a refusal."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.model.call import Caller
from pegboard.model.call_errors import RateLimited
from pegboard.model.tool import Kind, RateLimit, Tool
from pegboard.stages.rate_limit import Limiter, MemoryLimiter, check_rate_limit
from tests.unit.stages.limits import WIDE, Clock, limits, run_without_waiting, starts


def tool(rate: RateLimit | None, name: str = "search", id: str = "tool-1") -> Tool:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return Tool(id, "owner", name, Kind.BUILTIN, {}, {}, now, now, rate_limit=rate)


ANN = Caller("ann", "Ann", key_id="ann-key")
BEN = Caller("ben", "Ben", key_id="ben-key")


def refusal(limiter: Limiter, of: Tool, caller: Caller, flood: RateLimit | None = None) -> RateLimited | None:
    try:
        run_without_waiting(check_rate_limit(limiter, of, caller, flood))
    except RateLimited as error:
        return error
    return None


def test_the_refusal_names_the_tool_its_limit_and_when_to_return() -> None:
    limited = tool(RateLimit(max_calls=100, period="hour", burst=1))
    limiter = MemoryLimiter(Clock())
    assert refusal(limiter, limited, ANN) is None
    error = refusal(limiter, limited, ANN)
    assert error is not None
    assert error.message == "Rate limit of 'search' reached: 100 calls per hour; try again in 36 s"
    assert error.retry_after_ms == 36_000
    assert error.retryable


def test_a_short_wait_is_reported_in_milliseconds_rounded_up() -> None:
    limited = tool(RateLimit(max_calls=3, period="second", burst=1))
    limiter = MemoryLimiter(Clock())
    refusal(limiter, limited, ANN)
    error = refusal(limiter, limited, ANN)
    assert error is not None
    assert error.message == "Rate limit of 'search' reached: 3 calls per second; try again in 334 ms"
    assert error.retry_after_ms == 334


def test_a_limit_of_one_call_reads_well() -> None:
    limited = tool(RateLimit(max_calls=1, period="minute"))
    limiter = MemoryLimiter(Clock())
    refusal(limiter, limited, ANN)
    error = refusal(limiter, limited, ANN)
    assert error is not None
    assert error.message == "Rate limit of 'search' reached: 1 call per minute; try again in 60 s"


@given(limits, starts, st.floats(0, 1))
def test_coming_back_after_the_reported_wait_is_never_too_early(rate: RateLimit, start: float, pause: float) -> None:
    clock = Clock(start)
    limiter = MemoryLimiter(clock)
    for _ in range(rate.capacity if rate.capacity < 20 else 0):
        refusal(limiter, tool(rate), ANN)
    clock.now += pause
    error = refusal(limiter, tool(rate), ANN)
    if error is not None:
        assert error.retry_after_ms is not None
        assert error.retry_after_ms >= 1
        clock.now += error.retry_after_ms / 1000
        assert refusal(limiter, tool(rate), ANN) is None


def test_callers_have_a_bucket_each() -> None:
    limited = tool(RateLimit(max_calls=1, period="hour"))
    limiter = MemoryLimiter(Clock())
    assert refusal(limiter, limited, ANN) is None
    assert refusal(limiter, limited, BEN) is None
    assert refusal(limiter, limited, ANN) is not None


def test_a_limit_of_the_whole_tool_is_shared_by_all_callers() -> None:
    limited = tool(RateLimit(max_calls=1, period="hour", scope="tool"))
    limiter = MemoryLimiter(Clock())
    assert refusal(limiter, limited, ANN) is None
    assert refusal(limiter, limited, BEN) is not None


def test_tools_have_a_bucket_each() -> None:
    rate = RateLimit(max_calls=1, period="hour")
    limiter = MemoryLimiter(Clock())
    assert refusal(limiter, tool(rate), ANN) is None
    assert refusal(limiter, tool(rate, "other", "tool-2"), ANN) is None


def test_a_key_that_floods_is_refused_whatever_tools_it_calls() -> None:
    flood = RateLimit(max_calls=2, period="minute")
    limiter = MemoryLimiter(Clock())
    assert refusal(limiter, tool(None), ANN, flood) is None
    assert refusal(limiter, tool(WIDE, "other", "tool-2"), ANN, flood) is None
    for called in (tool(None), tool(WIDE, "other", "tool-2")):
        error = refusal(limiter, called, ANN, flood)
        assert error is not None
        assert error.message == "Rate limit of this key reached: 2 calls per minute; try again in 30 s"
    assert refusal(limiter, tool(None), BEN, flood) is None


def test_a_call_the_tool_refuses_takes_nothing_from_the_key() -> None:
    flood = RateLimit(max_calls=3, period="hour")
    limited = tool(RateLimit(max_calls=1, period="hour"))
    limiter = MemoryLimiter(Clock())
    refusal(limiter, limited, ANN, flood)
    for _ in range(10):
        error = refusal(limiter, limited, ANN, flood)
        assert error is not None
        assert "'search'" in error.message
    assert [refusal(limiter, tool(None), ANN, flood) is None for _ in range(3)] == [True, True, False]


@pytest.mark.parametrize(
    ("tool_period", "key_period", "received"),
    [
        ("minute", "hour", "Rate limit of this key reached: 1 call per hour; try again in 3600 s"),
        ("hour", "minute", "Rate limit of 'search' reached: 1 call per hour; try again in 3600 s"),
    ],
)
def test_of_two_refusals_the_longer_wait_is_reported(
    tool_period: Literal["minute", "hour"], key_period: Literal["minute", "hour"], received: str
) -> None:
    flood = RateLimit(max_calls=1, period=key_period)
    limited = tool(RateLimit(max_calls=1, period=tool_period))
    limiter = MemoryLimiter(Clock())
    refusal(limiter, limited, ANN, flood)
    error = refusal(limiter, limited, ANN, flood)
    assert error is not None
    assert error.message == received


def test_a_caller_without_a_key_has_a_flood_bucket_too() -> None:
    flood = RateLimit(max_calls=1, period="hour")
    limiter = MemoryLimiter(Clock())
    anonymous = Caller("ann", "Ann")
    assert refusal(limiter, tool(None), anonymous, flood) is None
    assert refusal(limiter, tool(None), anonymous, flood) is not None


def test_without_any_limit_nothing_is_counted() -> None:
    limiter = MemoryLimiter(Clock())
    assert refusal(limiter, tool(None), ANN) is None
    assert len(limiter) == 0
