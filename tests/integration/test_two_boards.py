"""Two boards on one database, like two processes: each sees a change of the other within a second."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import text

from pegboard import Pegboard
from pegboard.model.api_errors import Unauthorised
from pegboard.model.filters import ExecutionFilter
from pegboard.storage.database import Database
from pegboard.testing import NoSettings
from tests.board_surfaces import KEY
from tests.fork_server import forked_command
from tests.surfaces.rest.clients import mock
from tests.waiting import until

# "Within a second", and a little for a busy machine that runs other tests too.
SOON = 2.5


@pytest.fixture
async def boards(database_url: str, tmp_path: Path) -> AsyncIterator[tuple[Pegboard, Pegboard]]:
    """Two boards with the same database and home."""
    settings = NoSettings(home=tmp_path / "home", admin_key=KEY)
    async with (
        Pegboard.open(database_url, settings=settings) as one,
        Pegboard.open(database_url, settings=settings) as other,
    ):
        yield one, other


async def test_every_kind_of_change_is_seen_by_the_others_calls(boards: tuple[Pegboard, Pegboard]) -> None:
    one, other = boards

    async def sees(what: Callable[[], Awaitable[Any]]) -> None:
        await until(what, SOON)

    async def answers(expected: Any) -> bool:
        result = await other.call("quote")
        return bool((result.output if result.success else result.problem and result.problem.code) == expected)

    await one.add(mock(config={"mock_response": "new"}))
    await sees(lambda: answers("new"))
    await one.tools.update("quote", {"config": {"mock_response": "changed"}}, one.admin)
    await sees(lambda: answers("changed"))
    await one.tools.update("quote", {"is_active": False}, one.admin)
    await sees(lambda: answers("tool_inactive"))
    await one.tools.update("quote", {"is_active": True, "config": {"mock_response": "{{secret:S}}"}}, one.admin)
    await sees(lambda: answers("secret_unreadable"))
    await one.secrets.put("S", "told", one.admin)
    await sees(lambda: answers("told"))
    tool = await one.tools.delete("quote", one.admin)
    await sees(lambda: answers("tool_not_found"))
    await one.tools.restore(tool.id, one.admin)
    await sees(lambda: answers("told"))


async def test_users_keys_and_agents_are_seen_too(boards: tuple[Pegboard, Pegboard]) -> None:
    one, other = boards
    user = await one.people.create_user("ada", "member", one.admin)
    key = await one.people.create_key(user.id, one.admin)

    async def known() -> bool:
        try:
            return other.snapshot.holder(key.key).name == "ada"
        except Unauthorised:
            return False

    async def unknown() -> bool:
        return not await known()

    await until(known, SOON)
    await one.people.revoke_key(user.id, key.row.id, one.admin)
    await until(unknown, SOON)
    agent = await one.people.create_agent("helper", ["echo"], one.admin, None)

    async def is_visible() -> bool:
        return other.snapshot.agent(agent.id) is not None

    await until(is_visible, SOON)


async def test_calls_through_both_are_in_one_journal(boards: tuple[Pegboard, Pegboard]) -> None:
    one, _ = boards
    results = await asyncio.gather(*(board.call("echo", {"n": n}) for board in boards for n in range(20)))
    assert all(result.success for result in results)
    rows = (await one.executions(ExecutionFilter(tool="echo"), limit=100)).items
    assert {row.id for row in rows} == {result.run_id for result in results}
    assert len(rows) == 40


async def test_of_two_concurrent_registrations_of_a_name_one_succeeds(boards: tuple[Pegboard, Pegboard]) -> None:
    ended = await asyncio.gather(
        *(board.add(mock(name)) for board, name in zip(boards, ("quote", "QUOTE"), strict=True)), return_exceptions=True
    )
    (lost,) = [error for error in ended if isinstance(error, BaseException)]
    assert "exists already" in str(lost)


async def test_a_first_start_in_several_processes_at_once_makes_one_admin_and_one_key(
    database_url: str, tmp_path: Path
) -> None:
    home = tmp_path / "home"

    async def start() -> dict[str, Any]:
        with anyio.fail_after(60):
            ended = await anyio.run_process(forked_command("tests.integration.starting_board", database_url, str(home)))
        output: dict[str, Any] = json.loads(ended.stdout)
        return output

    started = await asyncio.gather(*(start() for _ in range(3)))
    (key,) = [output["key"] for output in started if output["key"] is not None]
    assert len({output["admin"] for output in started}) == 1
    assert len({output["digest"] for output in started}) == 1
    assert (home / "credentials").read_text() == f"{key}\n"
    assert (home / "credentials").stat().st_mode & 0o777 == 0o600
    database = Database.create(database_url)
    async with database.read() as conn:
        for table, count in (("users", 1), ("api_keys", 1)):
            assert (await conn.execute(text(f"SELECT count(*) FROM {table}"))).scalar_one() == count
        names = (await conn.execute(text("SELECT name FROM tools"))).scalars().all()
    await database.close()
    assert len(names) == len(set(names))
    async with Pegboard.open(database_url, settings=NoSettings(home=home)) as board:
        assert board.new_key is None
        assert board.snapshot.holder(key).is_admin
