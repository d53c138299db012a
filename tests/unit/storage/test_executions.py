"""The journal in the database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pegboard.model.call import Execution
from pegboard.model.filters import ExecutionFilter
from pegboard.model.ids import MAX_CLOCK_LEAD, make_lowest_id, new_id
from pegboard.storage import execution_rows
from pegboard.storage.database import Database
from tests.unit.storage.insert_rows import insert_rows
from tests.unit.storage.sample_rows import NOW, an_execution


def everything() -> Execution:
    """An execution with every field set."""
    return an_execution(
        tool_name="weather",
        status="failed",
        finished_at=NOW + timedelta(seconds=2),
        elapsed_ms=2000.25,
        surface="mcp",
        dialect="mcp",
        attempts=3,
        tool_id=new_id(),
        tool_version=7,
        kind="http",
        key_id=new_id(),
        agent_id=new_id(),
        request_id="req-1",
        code="timeout",
        error="it took too long ☂",
        arguments_digest="abc",
        arguments={"z": 1, "a": [None, 2**70, 1.5, "☂"]},
        row_id="42",
        chain_id=new_id(),
        thread_id="thread",
        repeat_of=new_id(),
        result={"z": "☂", "a": [1.5, None]},
        printed="line 1\nline 2 ☂\n",
        tries=[{"attempt": 1, "code": "timeout", "error": "☂", "elapsed_ms": 1.5}],
    )


async def test_every_field_of_an_execution_returns(database: Database) -> None:
    full, plain = everything(), an_execution()
    shared = {name for name in Execution._fields if getattr(full, name) == getattr(plain, name)}
    assert shared == {"started_at", "caller"}
    await insert_rows(database, full, plain)
    async with database.read() as conn:
        found = await execution_rows.get_execution(conn, full.id)
        assert found == full
        assert await execution_rows.get_execution(conn, plain.id) == plain
        assert await execution_rows.get_execution(conn, new_id()) is None
        assert await execution_rows.get_execution(conn, "nonsense") is None
    assert found is not None
    assert list(found.arguments) == ["z", "a"]


@pytest.mark.parametrize(
    "fields",
    [
        {"tool_name": "x" * 100_000},
        {"tool_name": "☂" * 10_000, "caller_id": "☂" * 10_000, "tool_id": "☂" * 10_000},
        {"error": "a\0b"},
        {"printed": "a\0b\ud800"},
        {"tool_name": "\ud800", "request_id": "\udfff\0"},
        {"arguments": {"a": "\0\ud800"}},
        {"arguments": {"a": float("nan")}},
        {"arguments": {"a": {1, 2}}},
        {"arguments": {"a": 10**400}},
    ],
    ids=["long", "long and wide", "nul", "printed", "surrogate", "arguments no text can be", "nan", "no json", "huge"],
)
async def test_nothing_a_caller_sends_keeps_a_call_out_of_the_journal(
    database: Database, fields: dict[str, Any]
) -> None:
    await insert_rows(database, an_execution(), an_execution(**fields))
    async with database.read() as conn:
        assert len(await execution_rows.list_executions(conn, ExecutionFilter(), limit=10)) == 2


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(error="half \ud800 a pair", value=None)
@given(error=st.text(alphabet=st.characters()), value=st.recursive(st.none() | st.text() | st.integers(), st.lists))
async def test_any_text_and_any_json_can_be_recorded(database: Database, error: str, value: Any) -> None:
    made = an_execution(error=error, arguments={"value": value})
    await insert_rows(database, made)
    async with database.read() as conn:
        found = await execution_rows.get_execution(conn, made.id)
    assert found is not None
    assert found.error == error.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    assert found.arguments == made.arguments


async def test_pages_come_newest_first_and_hold_every_execution_once(database: Database) -> None:
    made = [an_execution() for _ in range(7)]
    await insert_rows(database, *made)
    found: list[Execution] = []
    async with database.read() as conn:
        while page := await execution_rows.list_executions(
            conn, ExecutionFilter(), before=found[-1].id if found else None, limit=3
        ):
            found += page
    assert found == made[::-1]


def id_at(moment: datetime) -> str:
    """An id made at that moment."""
    return make_lowest_id(moment)[:24] + new_id()[24:]


def start_execution(moment: datetime, **fields: Any) -> Execution:
    """Return an execution that began at this time, with an id of this time."""
    return an_execution(id=id_at(moment), started_at=moment, **fields)


async def test_a_filter_leaves_only_what_it_says(database: Database) -> None:
    ada, tool = new_id(), new_id()
    hour = timedelta(hours=1)
    first = start_execution(NOW, caller_id=ada, tool_id=tool, tool_name="Add")
    second = start_execution(NOW + hour, status="failed", code="timeout", tool_name="add")
    third = start_execution(NOW + 2 * hour, caller_id=ada, status="refused", code="tool_not_found")
    await insert_rows(database, first, second, third)

    async def found(**wanted: Any) -> list[Execution]:
        async with database.read() as conn:
            return await execution_rows.list_executions(conn, ExecutionFilter(**wanted), limit=10)

    assert await found() == [third, second, first]
    assert await found(caller_id=ada) == [third, first]
    assert await found(caller_id=ada, status="refused") == [third]
    assert await found(caller_id=ada, status="succeeded") == [first]
    assert await found(tool="Add") == [first]
    assert await found(tool="add") == [third, second]
    assert await found(tool=tool) == []
    assert await found(tool_id=tool) == [first]
    assert await found(tool_id=tool.upper()) == [first]
    assert await found(tool_id=tool, tool="Add", caller_id=ada) == [first]
    assert await found(tool_id=tool, tool="add") == []
    assert await found(tool_id=new_id(), tool="Add") == []
    assert await found(tool="add", status="refused") == [third]
    assert await found(tool="add", status="in_doubt") == []
    assert await found(tool="Add", status="failed") == []
    assert await found(tool="add", caller_id=ada, status="refused") == [third]
    assert await found(tool="add", caller_id=ada, status="failed") == []
    assert await found(tool="add", status="failed", code="timeout") == [second]
    assert await found(caller_id=ada, status="refused", code="timeout") == []
    assert await found(tool="nothing\0") == []
    assert await found(status="failed") == [second]
    assert await found(status="succeeded") == [first]
    assert await found(code="tool_not_found") == [third]
    assert await found(code="timeout", status="failed") == [second]
    assert await found(code="timeout", status="refused") == []
    assert await found(since=NOW + hour) == [third, second]
    assert await found(until=NOW + hour) == [first]
    assert await found(since=NOW + hour, until=NOW + 2 * hour, status="failed") == [second]
    assert await found(since=NOW + 2 * hour, until=NOW) == []


ENDS = [("succeeded", None), ("failed", "timeout"), ("failed", "custom"), ("refused", "timeout")]
WANTED = st.fixed_dictionaries(
    {},
    optional={
        "tool": st.sampled_from(["add", "Add", "other"]),
        "tool_id": st.sampled_from(["1", "2"]),
        "caller_id": st.sampled_from(["ada", "ben"]),
        "status": st.sampled_from(["succeeded", "failed", "refused", "in_doubt"]),
        "code": st.sampled_from(["timeout", "custom", "none"]),
    },
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(made=st.lists(st.sampled_from(ENDS), min_size=20, max_size=40), some=st.lists(WANTED, min_size=30, max_size=60))
async def test_any_filters_together_leave_what_all_of_them_say_page_by_page(
    database: Database, made: list[tuple[str, str | None]], some: list[dict[str, str]]
) -> None:
    rows = []
    for number, (status, code) in enumerate(made):
        whose = {"tool_name": ("add", "Add", "other")[number % 3], "caller_id": ("ada", "ben")[number % 5 % 2]}
        rows.append(an_execution(status=status, code=code, tool_id=str(number % 2 + 1), **whose))
    async with database.write() as conn:
        await conn.exec_driver_sql("DELETE FROM executions")
    await insert_rows(database, *rows)
    async with database.read() as conn:
        for wanted in some:
            alike = {{"tool": "tool_name"}.get(name, name): value for name, value in wanted.items()}
            found: list[Execution] = []
            asked = ExecutionFilter(**wanted)  # type: ignore[arg-type]
            while page := await execution_rows.list_executions(
                conn, asked, before=found[-1].id if found else None, limit=3
            ):
                found += page
            message = [row for row in rows if all(getattr(row, name) == value for name, value in alike.items())]
            assert found == message[::-1], wanted


async def test_a_caller_with_an_endless_name_finds_their_calls(database: Database) -> None:
    mine = an_execution(caller_id="☂" * 1000)
    await insert_rows(database, mine, an_execution())
    async with database.read() as conn:
        (found,) = await execution_rows.list_executions(conn, ExecutionFilter(caller_id="☂" * 1000), limit=10)
    assert found.id == mine.id


async def test_time_is_reported_by_the_moment_and_not_by_the_id_which_may_be_a_second_ahead(database: Database) -> None:
    early = an_execution(id=id_at(NOW + MAX_CLOCK_LEAD), started_at=NOW - timedelta(microseconds=1))
    on_time = an_execution(id=id_at(NOW + MAX_CLOCK_LEAD), started_at=NOW)
    late = start_execution(NOW + 2 * MAX_CLOCK_LEAD)
    await insert_rows(database, early, on_time, late)
    async with database.read() as conn:
        until = await execution_rows.list_executions(conn, ExecutionFilter(until=NOW), limit=10)
        since = await execution_rows.list_executions(conn, ExecutionFilter(since=NOW), limit=10)
    assert [one.id for one in until] == [early.id]
    assert [one.id for one in since] == [late.id, on_time.id]


async def test_pages_of_a_span_end_where_it_begins(database: Database) -> None:
    made = [start_execution(NOW + number * timedelta(minutes=1)) for number in range(10)]
    await insert_rows(database, *made)
    wanted = ExecutionFilter(since=made[2].started_at, until=made[8].started_at)
    found: list[Execution] = []
    async with database.read() as conn:
        while page := await execution_rows.list_executions(
            conn, wanted, before=found[-1].id.upper() if found else None, limit=2
        ):
            found += page
    assert found == made[2:8][::-1]


@pytest.mark.parametrize("moment", [datetime.min, datetime(1969, 12, 31), datetime.max], ids=["min", "1969", "max"])
async def test_any_moment_can_be_asked_for(database: Database, moment: datetime) -> None:
    only = start_execution(NOW)
    await insert_rows(database, only)
    asked = moment.replace(tzinfo=UTC)
    async with database.read() as conn:
        since = await execution_rows.list_executions(conn, ExecutionFilter(since=asked), limit=10)
        until = await execution_rows.list_executions(conn, ExecutionFilter(until=asked), limit=10)
    assert (since, until) == (([], [only]) if asked > NOW else ([only], []))
