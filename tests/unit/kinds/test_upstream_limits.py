"""What a circuit breaker counts, how long an attempt may take, and how many run at once."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.http_client.circuit_breaker import CircuitBreaker
from pegboard.kinds.upstream_limits import BreakerAttempt, UserCallLimit, compute_attempt_deadline, get_attempt_seconds
from pegboard.model.call import Caller, ReadyCall
from pegboard.model.call_errors import (
    CircuitOpen,
    Drifted,
    Misconfigured,
    RateLimited,
    TimedOut,
    Unavailable,
    UpstreamFailed,
    UpstreamUnreachable,
)
from pegboard.model.tool import Kind, Retry, Tool
from tests.user_references import KeptUsers

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FAR, PAST = float("inf"), 0.0


class Received(CircuitBreaker):
    """Records its requests."""

    def __init__(self) -> None:
        super().__init__("https://a:443", clock=time.monotonic, failures=5, seconds=30.0)
        self.words: list[str] = []

    def admit(self) -> None:
        self.words.append("admit")

    def record_success(self) -> None:
        self.words.append("succeeded")

    def record_failure(self, code: str = "") -> None:
        self.words.append(f"failed: {code}")

    def record_cancellation(self) -> None:
        self.words.append("abandoned")


@pytest.mark.parametrize(
    ("error", "ends", "word"),
    [
        (None, FAR, "succeeded"),
        (UpstreamUnreachable("gone"), FAR, "failed: upstream_failed"),
        (TimedOut("late"), FAR, "failed: timeout"),
        (UpstreamFailed("404"), FAR, "succeeded"),
        (RateLimited("slow down"), FAR, "succeeded"),
        (Drifted("changed"), FAR, "succeeded"),
        (Misconfigured("no"), FAR, "abandoned"),
        (ValueError("ours"), PAST, "abandoned"),
        (asyncio.CancelledError(), FAR, "abandoned"),
        (asyncio.CancelledError(), PAST, "failed: timeout"),
    ],
)
def test_a_breaker_is_informed_how_it_went(error: BaseException | None, ends: float, word: str) -> None:
    breaker = Received()
    with suppress(BaseException), BreakerAttempt(breaker, ends):
        if error is not None:
            raise error
    assert breaker.words == ["admit", word]


def test_an_answer_may_stand_for_a_failure() -> None:
    breaker = Received()
    with BreakerAttempt(breaker, FAR) as attempt:
        attempt.has_failed = True
    assert breaker.words == ["admit", "failed: upstream_failed"]


def test_no_caller_is_asked_if_the_breaker_is_open() -> None:
    breaker = CircuitBreaker("https://a:443", clock=lambda: 0.0, failures=1, seconds=30.0)
    breaker.record_failure()
    with pytest.raises(CircuitOpen), BreakerAttempt(breaker, FAR):
        raise AssertionError


@pytest.mark.parametrize(
    ("fields", "seconds"),
    [
        ({"config": {"timeout": 3}, "timeout": 9}, 3),
        ({"config": {}, "timeout": 9}, 9),
        ({"config": {}, "timeout": 9, "retry": Retry(max_attempts=3, on=frozenset({"timeout"}))}, 3),
        ({"config": {}, "timeout": 9, "retry": Retry(max_attempts=3, on=frozenset({"transport"}))}, 9),
    ],
)
def test_an_attempt_may_take_its_part_of_the_call_s_time(fields: dict[str, Any], seconds: float) -> None:
    tool = Tool("t", "olga", "it", Kind.HTTP, fields.pop("config"), {}, NOW, NOW, **fields)
    assert get_attempt_seconds(tool, 30) == seconds
    call = ReadyCall("r", tool, Caller("carl", "Carl"), {}, "", time.monotonic() + 1)
    assert compute_attempt_deadline(call, seconds) <= call.deadline


@given(st.lists(st.tuples(st.sampled_from("ab"), st.booleans()), max_size=30))
def test_places_are_counted_for_each_user(steps: list[tuple[str, bool]]) -> None:
    places, users, taken = UserCallLimit(3), KeptUsers("ab"), {"a": 0, "b": 0}
    for owner, takes in steps:
        if takes and taken[owner] == 3:
            with pytest.raises(Unavailable) as refused:
                places.take(users[owner])
            assert not refused.value.did_run
        elif takes:
            places.take(users[owner])
            taken[owner] += 1
        elif taken[owner]:
            places.give_back(users[owner])
            taken[owner] -= 1
    assert not users.forget(but={owner for owner, count in taken.items() if count}), "nothing is kept of former users"
    for owner, count in taken.items():
        for _ in range(3 - count):
            places.take(owner)
        with pytest.raises(Unavailable):
            places.take(owner)
