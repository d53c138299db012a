"""Circuit breakers for upstreams that keep failing."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from pegboard.http_client.circuit_breaker import CircuitBreaker, CircuitBreakers
from pegboard.model.call_errors import CircuitOpen


class Clock:
    """A clock that moves on request."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """The breaker's time."""
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> CircuitBreaker:
    """A new circuit breaker."""
    return CircuitBreakers(clock).of("user", "https://api.example:443")


def fail(breaker: CircuitBreaker, times: int) -> None:
    for _ in range(times):
        breaker.admit()
        breaker.record_failure()


def is_open(breaker: CircuitBreaker) -> bool:
    try:
        breaker.admit()
    except CircuitOpen:
        return True
    return False


def test_calls_go_through_until_five_in_a_row_failed(breaker: CircuitBreaker) -> None:
    fail(breaker, 5)
    with pytest.raises(CircuitOpen):
        breaker.admit()


def test_a_success_in_between_starts_the_count_again(breaker: CircuitBreaker) -> None:
    fail(breaker, 4)
    breaker.admit()
    breaker.record_success()
    fail(breaker, 4)
    assert not is_open(breaker)


def test_the_refusal_names_the_upstream_and_how_long(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker, 5)
    clock.now += 10.5
    with pytest.raises(CircuitOpen, match=r"https://api\.example:443 failed 5 times in a row") as caught:
        breaker.admit()
    assert "Try again in 20 s" in caught.value.message
    assert caught.value.retry_after_ms == 19_500
    assert caught.value.retryable


def test_after_its_time_one_call_may_try(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker, 5)
    clock.now += 30
    breaker.admit()
    with pytest.raises(CircuitOpen, match="another call is trying it just now") as caught:
        breaker.admit()
    assert caught.value.retry_after_ms == 1000


def test_a_probe_that_succeeds_allows_all_calls(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker, 5)
    clock.now += 30
    breaker.admit()
    breaker.record_success()
    fail(breaker, 4)
    assert not is_open(breaker)


def test_a_probe_that_fails_refuses_all_calls_for_the_same_time_again(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker, 5)
    clock.now += 30
    fail(breaker, 1)
    clock.now += 29.9
    assert is_open(breaker)
    clock.now += 0.1
    assert not is_open(breaker)


def test_a_probe_that_is_cancelled_gives_its_place_back(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker, 5)
    clock.now += 30
    breaker.admit()
    breaker.record_cancellation()
    breaker.admit()
    assert is_open(breaker)


def test_a_probe_without_an_outcome_holds_its_place_for_a_limited_time(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker, 5)
    clock.now += 30
    breaker.admit()
    clock.now += 29
    assert is_open(breaker)
    clock.now += 1
    assert not is_open(breaker)


def test_a_cancelled_call_that_was_no_probe_opens_nothing(breaker: CircuitBreaker) -> None:
    breaker.admit()
    fail(breaker, 5)
    breaker.record_cancellation()
    assert is_open(breaker)


def test_an_answer_that_comes_late_counts(breaker: CircuitBreaker) -> None:
    breaker.admit()
    fail(breaker, 5)
    breaker.record_success()
    assert not is_open(breaker)


def test_one_users_failures_do_not_shut_out_another(clock: Clock) -> None:
    breakers = CircuitBreakers(clock)
    fail(breakers.of("ann", "https://a:443"), 5)
    assert is_open(breakers.of("ann", "https://a:443"))
    assert not is_open(breakers.of("ben", "https://a:443"))
    assert not is_open(breakers.of("ann", "https://b:443"))


def test_the_one_unused_for_longest_makes_room(clock: Clock) -> None:
    breakers = CircuitBreakers(clock, most=2)
    first, second = breakers.of("ann", "a"), breakers.of("ann", "b")
    assert breakers.of("ann", "a") is first
    breakers.of("ann", "c")
    assert breakers.of("ann", "a") is first
    assert breakers.of("ann", "b") is not second


class AnyCourse(RuleBasedStateMachine):
    """With events in any order, a failing upstream is never called by two calls at once."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.breaker = CircuitBreaker("x", clock=self.clock, failures=2, seconds=10.0)
        self.failures = 0
        self.running: list[float] = []

    @rule()
    def call(self) -> None:
        if not is_open(self.breaker):
            if self.failures >= 2:
                assert not [began for began in self.running if self.clock.now - began < 10]
            self.running.append(self.clock.now)

    @rule()
    def succeed(self) -> None:
        if self.running:
            self.running.clear()
            self.failures = 0
            self.breaker.record_success()

    @rule()
    def fail(self) -> None:
        if self.running:
            self.running.pop()
            self.failures += 1
            self.breaker.record_failure()

    @rule()
    def cancel(self) -> None:
        if len(self.running) == 1:
            self.running.pop()
            self.breaker.record_cancellation()

    @rule(seconds=st.floats(0, 12))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @rule()
    def rest(self) -> None:
        self.clock.now += 10
        assert not is_open(self.breaker), "still shut after its time"
        self.running.append(self.clock.now)


TestAnyCourse = AnyCourse.TestCase


def test_the_state_is_read_without_a_call(clock: Clock) -> None:
    breakers = CircuitBreakers(clock)
    assert not breakers.is_open("user", "origin")
    fail(breakers.of("user", "origin"), 5)
    assert breakers.is_open("user", "origin")
    assert not breakers.is_open("other", "origin")
    clock.now += 31
    assert not breakers.is_open("user", "origin")
