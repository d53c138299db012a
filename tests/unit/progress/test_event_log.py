"""The event log that all readers share."""

from __future__ import annotations

import asyncio
import weakref

import anyio
import orjson
from hypothesis import given
from hypothesis import strategies as st

from pegboard.progress.event_log import BATCH_BYTES, EventLog, LogEvent, encode_event_json

MOST, MOST_BYTES = 5, 400
received = st.lists(st.tuples(st.booleans(), st.integers(0, 200)), max_size=60)


def filled(happened: list[tuple[bool, int]]) -> EventLog:
    log = EventLog(most=MOST, most_bytes=MOST_BYTES)
    for passes, length in happened:
        log.add("a" if passes else "b", b'"%s"' % (b"x" * length), passes=passes)
    return log


def read(log: EventLog, number: int, most_bytes: int = BATCH_BYTES) -> list[LogEvent]:
    """Return all events after a number, read in chunks of that size."""
    found: list[LogEvent] = []
    while batch := log.after(number, most_bytes):
        found += batch
        number = batch[-1].number
    return found


@given(received)
def test_numbers_ascend_and_what_stays_is_never_lost(happened: list[tuple[bool, int]]) -> None:
    log = filled(happened)
    numbers = [event.number for event in read(log, 0)]
    assert numbers == sorted(set(numbers))
    staying = {place + 1 for place, (passes, _) in enumerate(happened) if not passes}
    assert staying <= set(numbers)
    assert log.last == len(happened)
    assert log.first == (numbers[0] if numbers else log.last + 1)


@given(received)
def test_of_what_passes_the_last_is_kept_and_no_more_than_there_is_room_for(happened: list[tuple[bool, int]]) -> None:
    log = filled(happened)
    passing = [event for event in read(log, 0) if event.name == "a"]
    every = [place + 1 for place, (passes, _) in enumerate(happened) if passes]
    assert [event.number for event in passing] == every[len(every) - len(passing) :]
    assert bool(passing) == bool(every)
    assert len(passing) <= MOST
    assert len(passing) <= 1 or sum(len(event.frame) for event in passing) <= MOST_BYTES
    assert log.size == sum(len(event.frame) for event in read(log, 0))


@given(received, st.integers(0, 70), st.integers(1, 1000))
def test_readers_at_any_pace_and_from_anywhere_see_the_same_order(
    happened: list[tuple[bool, int]], start: int, pace: int
) -> None:
    log = filled(happened)
    assert read(log, start, pace) == [event for event in read(log, 0) if event.number > start]


@given(received, st.lists(st.integers(0, 3), min_size=1, max_size=60))
def test_a_reader_who_comes_by_now_and_then_misses_only_what_passed(
    happened: list[tuple[bool, int]], when: list[int]
) -> None:
    log = EventLog(most=MOST, most_bytes=MOST_BYTES)
    seen: list[int] = []
    for place, (passes, length) in enumerate(happened):
        log.add("a" if passes else "b", b'"%s"' % (b"x" * length), passes=passes)
        if not when[place % len(when)]:
            seen += [event.number for event in read(log, seen[-1] if seen else 0, 100)]
    seen += [event.number for event in read(log, seen[-1] if seen else 0)]
    assert seen == sorted(set(seen))
    assert {place + 1 for place, (passes, _) in enumerate(happened) if not passes} <= set(seen)


def test_a_reader_holds_no_more_than_a_batch() -> None:
    log = EventLog(most=1000, most_bytes=2**30)
    for _ in range(100):
        log.add("a", b'"%s"' % (b"x" * 10_000), passes=True)
    batch = log.after(0)
    assert 0 < sum(len(event.frame) for event in batch) <= BATCH_BYTES
    log.add("a", b'"%s"' % (b"x" * 2 * BATCH_BYTES), passes=True)
    assert [event.number for event in log.after(100)] == [101]


def test_an_event_says_what_it_was_given_on_one_line() -> None:
    log = EventLog(most=1, most_bytes=1)
    log.add("b", b'{\n"a":\r\n1}')
    (event,) = log.after(0)
    assert event.frame == b'id: 1\nevent: b\ndata: { "a":  1}\n\n'
    assert event.data == {"a": 1}


async def test_all_readers_are_notified_to_the_end() -> None:
    log = EventLog(most=MOST, most_bytes=MOST_BYTES)
    seen: list[list[int]] = [[] for _ in range(20)]

    async def reader(mine: list[int]) -> None:
        async for batch in log.batches():
            mine += [event.number for event in batch]

    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            for mine in seen:
                group.start_soon(reader, mine)
            for _ in range(10):
                log.add("b", b"1")
                await anyio.wait_all_tasks_blocked()
            log.close()
            log.add("b", b"1")
    assert seen == [list(range(1, 11))] * 20


async def test_with_a_pause_readers_hear_of_news_together() -> None:
    log = EventLog(most=1000, most_bytes=2**20, pause=0.01)
    for _ in range(10):
        log.add("a", b"1", passes=True)
    assert (log.last, log.announced, log.after(0)) == (10, 0, [])
    with anyio.fail_after(10):
        await log.wait_for_more(0)
    assert (log.announced, len(log.after(0))) == (10, 10)
    log.add("a", b"1", passes=True)
    assert not log.after(10)
    log.close()
    assert [event.number for event in log.after(10)] == [11]
    gone = weakref.ref(log)
    del log
    assert gone() is None, "no timer refers to it"


async def test_closing_ends_those_who_wait() -> None:
    log = EventLog(most=1, most_bytes=1)
    waiting = asyncio.create_task(log.wait_for_more(0))
    await anyio.wait_all_tasks_blocked()
    log.close()
    with anyio.fail_after(10):
        await waiting


def test_what_no_json_holds_is_written_as_the_nearest_that_can() -> None:
    assert orjson.loads(encode_event_json({"a": "\ud800"})) == {"a": "?"}
    assert encode_event_json({"a": 2**70}) == b'{"a": %d}' % 2**70
    assert encode_event_json({"a": object}) == b'{"a":"<class \'object\'>"}'
