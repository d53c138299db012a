"""A process stops calling an upstream that fails repeatedly, for a while."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from pegboard.http_client.circuit_breaker import CircuitBreakers
from pegboard.model.call_errors import (
    CircuitOpen,
    EgressRefused,
    TimedOut,
    ToolError,
    UpstreamFailed,
    UpstreamUnreachable,
)
from pegboard.model.tool import Retry
from tests.unit.kinds.http.call_http_tools import HttpCalls, http_calls, open_tool, run
from tests.upstreams import (
    Behaviour,
    Upstream,
    answer,
    broken_gzip,
    by_path,
    echo,
    endless,
    endless_error,
    hang,
    redirect,
    reset,
    upstream,
)
from tests.waiting import until


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def caller(clock: Clock) -> AsyncIterator[HttpCalls]:
    async with http_calls(breakers=CircuitBreakers(clock=clock)) as made:
        yield made


@pytest.fixture
async def served() -> AsyncIterator[Upstream]:
    async with upstream() as made:
        yield made


async def fail(caller: HttpCalls, url: str, times: int = 5, **more: Any) -> None:
    for _ in range(times):
        with pytest.raises(ToolError) as caught:
            await caller.get(url, **more)
        assert not isinstance(caught.value, CircuitOpen)


async def is_open(caller: HttpCalls, url: str, **more: Any) -> bool:
    try:
        await caller.get(url, **more)
    except CircuitOpen:
        return True
    except ToolError:
        pass
    return False


async def test_it_opens_says_so_tries_once_and_closes(caller: HttpCalls, served: Upstream, clock: Clock) -> None:
    served.behaviour = answer(500)
    await fail(caller, f"{served.url}/x?secret=1")
    with pytest.raises(CircuitOpen) as caught:
        await caller.get(f"{served.url}/x?secret=1")
    assert caught.value.retry_after_ms == 30_000
    assert served.url in caught.value.message
    assert "30 s" in caught.value.message
    assert "secret" not in caught.value.message
    assert len(served.received) == 5, "nobody is asked while it is open"
    clock.now += 30
    with pytest.raises(UpstreamFailed, match="500"):
        await caller.get(served.url)
    assert await is_open(caller, served.url), "the probe failed"
    clock.now += 30
    served.behaviour = echo
    await caller.get(served.url)
    await caller.get(served.url)


async def test_only_one_call_tries_and_one_that_is_cancelled_gives_its_place_back(
    caller: HttpCalls, served: Upstream, clock: Clock
) -> None:
    served.behaviour = answer(503)
    await fail(caller, served.url)
    clock.now += 30
    served.behaviour = hang
    probe = asyncio.ensure_future(caller.get(served.url))

    async def arrived() -> bool:
        return len(served.received) == 6

    await until(arrived)
    assert await is_open(caller, served.url)
    probe.cancel()
    with pytest.raises(asyncio.CancelledError):
        await probe
    served.behaviour = echo
    await caller.get(served.url)


async def test_what_one_caller_provokes_shuts_no_other_user_out(caller: HttpCalls, served: Upstream) -> None:
    served.behaviour = by_path(bad=answer(500), other=echo)
    await fail(caller, f"{served.url}/bad", owner="olga", user="carl")
    assert await is_open(caller, served.url, owner="olga", user="carl")
    await caller.get(served.url, owner="olga", user="olga")


async def test_another_origin_is_not_concerned(caller: HttpCalls, served: Upstream) -> None:
    served.behaviour = reset
    await fail(caller, served.url)
    async with upstream() as other:
        await caller.get(other.url)
    assert await is_open(caller, f"{served.url}/other/path")


@pytest.mark.parametrize(
    "behaviour",
    [
        answer(400),
        answer(404),
        answer(429),
        answer(200, "{", Content_Type="application/json"),
        answer(302),
        redirect("/"),
        redirect("http://10.0.0.1/"),
        broken_gzip,
        endless,
    ],
    ids=["400", "404", "429", "broken json", "no location", "loop", "refused", "broken gzip", "too much"],
)
async def test_the_circuit_of_an_upstream_that_answers_never_opens(
    caller: HttpCalls, served: Upstream, behaviour: Behaviour
) -> None:
    served.behaviour = behaviour
    await fail(caller, served.url, 7)
    served.behaviour = echo
    await caller.get(served.url)


async def test_an_answer_in_between_starts_the_count_again(caller: HttpCalls, served: Upstream) -> None:
    served.behaviour = by_path(bad=answer(500), other=echo)
    for _ in range(3):
        await fail(caller, f"{served.url}/bad", 4)
        await caller.get(f"{served.url}/good")


async def test_timeouts_count_and_callers_who_leave_do_not(caller: HttpCalls, served: Upstream) -> None:
    served.behaviour = hang
    tool = open_tool({"url": served.url}, timeout=30)
    prepared = caller.executor.prepare(tool)
    for count in range(7):
        leaving = asyncio.ensure_future(run(prepared, tool.tool))

        async def arrived(count: int = count) -> bool:
            return len(served.received) > count

        await until(arrived)
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
    for _ in range(5):
        with pytest.raises(TimedOut):
            await caller.get(served.url, timeout=0.05)
    assert await is_open(caller, served.url)


async def test_an_attempts_own_time_counts_as_the_upstreams(caller: HttpCalls, served: Upstream) -> None:
    served.behaviour = hang
    tool = open_tool({"url": served.url}, timeout=0.2, retry=Retry(max_attempts=4, on=frozenset({"timeout"})))
    prepared = caller.executor.prepare(tool)
    for _ in range(5):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await run(prepared, tool.tool)
    assert await is_open(caller, served.url)


async def test_a_dead_end_of_a_redirect_is_its_own_fault(caller: HttpCalls, served: Upstream) -> None:
    async with upstream(reset) as dead:
        served.behaviour = by_path(away=redirect(dead.url), other=echo)
        await fail(caller, f"{served.url}/away")
        assert await is_open(caller, f"{served.url}/away"), "where it leads is left alone"
        assert len(dead.received) == 5
        await caller.get(f"{served.url}/here")


async def test_a_name_that_is_refused_here_does_not_count(served: Upstream) -> None:
    answers = [["10.0.0.1"]] * 7 + [["127.0.0.1"]]

    async def resolve(_host: str, _port: int) -> list[str]:
        return answers.pop(0)

    async with http_calls(resolver=resolve) as caller:
        url = f"http://rebound.example:{served.port}/"
        for _ in range(7):
            with pytest.raises(EgressRefused):
                await caller.get(url)
        await caller.get(url)


async def test_the_circuit_of_a_closed_port_opens(caller: HttpCalls) -> None:
    async with upstream() as gone:
        pass
    for _ in range(5):
        with pytest.raises(UpstreamUnreachable):
            await caller.get(gone.url)
    with pytest.raises(CircuitOpen):
        await caller.get(gone.url)


async def test_a_status_with_a_body_that_never_ends_still_counts(caller: HttpCalls, served: Upstream) -> None:
    served.behaviour = endless_error
    await fail(caller, served.url)
    assert await is_open(caller, served.url)
