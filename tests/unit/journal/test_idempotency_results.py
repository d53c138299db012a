"""The record of an idempotency key: the encrypted answer, for a day, up to a size."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard import ToolResult
from pegboard.journal import writer as writer_module
from pegboard.journal.idempotency import MAX_ANSWER_BYTES
from pegboard.journal.journal import StoredAnswer
from pegboard.model.call import ReadyCall
from pegboard.model.call_errors import AnswerNotKept, ErrorType, FieldProblem, InDoubt, Problem
from pegboard.storage.database import Database
from pegboard.storage.keyring import EnvironmentKeyring, encode_key
from pegboard.storage.vault import Vault
from pegboard.testing import calls_of, memory_board
from tests.unit.journal.standalone_journals import ACTIVE, StandaloneJournal, a_call, kill, opened, row_of, start
from tests.unit.journal.two_boards import Boards, CountingTool, board_on, code, intents, is_repeat, stored, two_boards
from tests.waiting import until

SECRET = "hush-4711-hush"
LARGE = "x" * (MAX_ANSWER_BYTES + 1)


@pytest.fixture
async def boards(database_url: str, tmp_path: Path) -> AsyncIterator[Boards]:
    async with two_boards(database_url, tmp_path / "home") as both:
        yield both


async def make_first_call(standalone: StandaloneJournal, call: ReadyCall, output: bytes = b"1") -> None:
    """Make a call that no one made before."""
    assert await standalone.begin(call) is None
    await standalone.journal.record(
        row_of(call), ToolResult(call.tool.name, True, output, run_id=call.run_id, attempts=1)
    )


class TestSealed:
    async def test_neither_answer_nor_key_can_be_read_in_the_database(self, boards: Boards, database_url: str) -> None:
        @boards[0].tool
        async def tell() -> dict[str, str]:
            return {"told": SECRET}

        @boards[0].tool
        async def fail() -> None:
            raise ValueError(SECRET.upper())

        key = "a-key-of-4712"
        first = await boards[0].call("tell", key=key)
        await boards[0].call("fail", key=key)
        held = await stored(database_url)
        assert "pb1:" in held, "nothing is kept"
        assert SECRET not in held
        assert key not in held
        # The failure is the row's own error, as without a key; under the key it is encrypted as well.
        assert SECRET.upper() in held
        async with boards[0].database.read() as conn:
            kept = str((await conn.exec_driver_sql("SELECT * FROM intents")).all())
        assert SECRET.upper() not in kept
        assert kept.count("pb1:") == 2
        assert first.output == {"told": SECRET}

    async def test_an_answer_opens_for_its_own_call_only(self, boards: Boards) -> None:
        note = CountingTool(boards[0])
        for key, n in (("one", 1), ("two", 2)):
            await boards[0].call("note", {"n": n}, key=key)
        async with boards[0].database.write() as conn:
            answers = (await conn.exec_driver_sql("SELECT answer FROM intents ORDER BY id")).scalars().all()
            await conn.exec_driver_sql(f"UPDATE intents SET answer = '{answers[0]}'")
        assert (await boards[0].call("note", {"n": 1}, key="one")).output == {"n": 1, "run": 1}
        assert code(await boards[0].call("note", {"n": 2}, key="two")) == "answer_not_kept"
        assert note.ran == [1, 2]


class TestRotation:
    async def test_answers_stay_readable_when_the_keys_are_changed(self, database_url: str, tmp_path: Path) -> None:
        note = CountingTool()
        async with two_boards(database_url, tmp_path / "home") as (one, other):
            note.register(one)
            note.register(other)
            first = await one.call("note", key="k")
            report = await one.rotate_secrets()
            assert (report.finished, report.skipped) == (True, ())
            assert is_repeat(await one.call("note", key="k"), first)
            assert is_repeat(await other.call("note", key="k"), first)
            second = await other.call("note", key="after")
        async with board_on(database_url, tmp_path / "home") as later:
            note.register(later)
            assert is_repeat(await later.call("note", key="k"), first)
            assert is_repeat(await later.call("note", key="after"), second)
            assert f"pb1:{report.key_id}:" in await stored(database_url)
        assert len(note.ran) == 2

    async def test_answers_under_a_new_key_are_no_change_of_the_board(self, boards: Boards) -> None:
        CountingTool(boards[0])
        for place in range(5):
            await boards[0].call("note", key=f"k{place}")
        before = await revision(boards[0].database)
        report = await boards[0].rotate_secrets()
        others = report.sealed - 5
        # One more for all of them: after it, no process encrypts with the old key.
        assert await revision(boards[0].database) == before + others + 1

    async def test_without_their_key_they_are_gone_and_nothing_runs_again(
        self, database: Database, tmp_path: Path
    ) -> None:
        root = bytes(32)
        old, new = [Vault(EnvironmentKeyring(encode_key(bytes([n]) * 32)), root=root) for n in (1, 2)]
        async with opened(database, tmp_path / "spools", vault=old) as standalone:
            await make_first_call(standalone, a_call(ACTIVE, key="k"))
        async with opened(database, tmp_path / "spools", vault=new) as standalone:
            with pytest.raises(AnswerNotKept, match="no longer readable"):
                await standalone.begin(a_call(ACTIVE, key="k"))


class TestSize:
    async def test_an_answer_that_is_too_large_is_not_kept_and_the_repeat_is_informed_where_to_look(
        self, boards: Boards
    ) -> None:
        ran = []
        for board in boards:

            @board.tool
            async def much() -> str:
                ran.append(1)
                return LARGE

        first = await boards[0].call("much", key="k")
        assert first.output == LARGE
        for board in boards:
            again = await board.call("much", key="k")
            assert again.problem is not None
            assert again.problem.code == "answer_not_kept"
            assert first.run_id in again.problem.message
            assert not again.problem.retryable
        assert len(ran) == 1
        assert [row.status for row in await calls_of(boards[0])] == ["succeeded", "refused", "refused"]

    async def test_one_that_just_fits_is_kept(self, database: Database, tmp_path: Path) -> None:
        size = len(StoredAnswer.of(ToolResult("active", True, b"", attempts=1)).encode())
        for room in (0, 1):
            async with opened(database, tmp_path / f"spools{room}", max_answer=size + 10 - room) as standalone:
                await make_first_call(standalone, a_call(ACTIVE, key=f"k{room}"), b"1" * 10)
                if room:
                    with pytest.raises(AnswerNotKept):
                        await standalone.begin(a_call(ACTIVE, key=f"k{room}"))
                else:
                    assert await standalone.begin(a_call(ACTIVE, key=f"k{room}")) is not None


class TestTime:
    async def test_after_its_time_a_key_is_free_again(self, database: Database, tmp_path: Path) -> None:
        async with opened(database, tmp_path / "spools", kept_for=timedelta(0)) as standalone:
            for _ in range(3):
                await make_first_call(standalone, a_call(ACTIVE, key="k"))
            await make_first_call(standalone, a_call(ACTIVE, key="k", digest="other arguments"))
            assert await intents(database) == [("done", True)]

    async def test_until_then_it_is_not(self, database: Database, tmp_path: Path) -> None:
        async with opened(database, tmp_path / "spools", kept_for=timedelta(minutes=1)) as standalone:
            await make_first_call(standalone, a_call(ACTIVE, key="k"))
            assert await standalone.begin(a_call(ACTIVE, key="k")) is not None

    async def test_a_call_that_still_runs_then_is_waited_for(self, database: Database, tmp_path: Path) -> None:
        async with (
            opened(database, tmp_path / "a", kept_for=timedelta(0)) as one,
            opened(database, tmp_path / "b") as other,
        ):
            first = a_call(ACTIVE, key="k")
            assert await one.begin(first) is None
            waiting = asyncio.create_task(other.begin(a_call(ACTIVE, key="k")))
            done, _ = await asyncio.wait({waiting}, timeout=0.3)
            assert not done
            await one.record(row_of(first))
            with anyio.fail_after(30):
                assert await waiting is None, "it ran, its time is over, and the key is free"

    async def test_what_is_over_is_removed_now_and_then_and_nothing_else(
        self, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with opened(database, tmp_path / "spools") as lasting:
            await make_first_call(lasting, a_call(ACTIVE, key="lasts"))
            assert await lasting.begin(a_call(ACTIVE, key="runs")) is None
            async with opened(database, tmp_path / "spools", kept_for=timedelta(0)) as standalone:
                await make_first_call(standalone, a_call(ACTIVE, key="over"))
                assert await standalone.begin(a_call(ACTIVE, key="runs too")) is None
                assert len(await intents(database)) == 4
                monkeypatch.setattr(writer_module, "EXPIRE_INTERVAL_SECONDS", 0.0)
                await standalone.tended()
                assert sorted(await intents(database)) == [("done", True), ("open", True), ("open", True)]

    async def test_what_is_in_doubt_is_never_over(
        self, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        dead = start(database, tmp_path / "spools", kept_for=timedelta(0))
        assert await dead.begin(a_call(ACTIVE, key="k")) is None
        await dead.die()
        async with opened(database, tmp_path / "spools", kept_for=timedelta(0)) as standalone:
            await until(lambda: in_doubt(database))
            monkeypatch.setattr(writer_module, "EXPIRE_INTERVAL_SECONDS", 0.0)
            await standalone.tended()
            for _ in range(2):
                with pytest.raises(InDoubt, match="not known"):
                    await standalone.begin(a_call(ACTIVE, key="k"))


async def revision(database: Database) -> int:
    async with database.read() as conn:
        return int((await conn.exec_driver_sql("SELECT revision FROM board_state")).scalar_one())


async def in_doubt(database: Database) -> bool:
    return await intents(database) == [("in_doubt", True)]


async def test_a_key_holds_after_a_restart_for_functions_too(database_url: str, tmp_path: Path) -> None:
    note = CountingTool()
    results = []
    for ends in ("well", "by a kill", "well"):
        async with board_on(database_url, tmp_path / "home") as board:
            note.register(board)
            results.append(await board.call("note", key="k"))
            if ends == "by a kill":
                await kill(board)
    assert all(is_repeat(again, results[0]) for again in results[1:])
    assert len(note.ran) == 1


async def test_on_a_board_in_memory_keys_work_as_well() -> None:
    async with memory_board() as board:
        note = CountingTool(board)
        first = await board.call("note", key="k")
        assert is_repeat(await board.call("note", key="k"), first)
        assert len(note.ran) == 1


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
FIELDS = st.builds(FieldProblem, TEXTS, TEXTS, st.none() | TEXTS, st.none() | TEXTS, st.none() | TEXTS)
PROBLEMS = st.builds(
    Problem,
    st.sampled_from(ErrorType),
    TEXTS,
    TEXTS,
    st.booleans(),
    st.none() | st.integers(0, 2**40),
    st.lists(FIELDS).map(tuple),
)


@given(
    st.builds(
        StoredAnswer,
        st.booleans(),
        st.binary(),
        st.none() | PROBLEMS,
        st.floats(0, 1e9),
        st.integers(0, 100),
        st.booleans(),
        st.sampled_from(["plain", "detailed"]),
    )
)
def test_an_answer_is_unpacked_as_it_was_packed(answer: StoredAnswer) -> None:
    assert StoredAnswer.unpack(answer.encode()) == answer
