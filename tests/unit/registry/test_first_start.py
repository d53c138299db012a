"""What a board creates when it starts, the first time and later."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from sqlalchemy import text

from pegboard import Pegboard
from pegboard.model.api_errors import Unauthorised
from pegboard.registry.first_start import write_private_file
from pegboard.registry.shipped_tools import SHIPPED_IDS
from pegboard.storage.keyring import KeyringError
from pegboard.testing import NoSettings
from tests.board_surfaces import KEY
from tests.surfaces.rest.clients import mock

SECRET = base64.b64encode(b"k" * 32).decode()


def settings(home: Path, **more: object) -> NoSettings:
    return NoSettings(home=home, **more)  # type: ignore[arg-type]


async def test_a_first_start_makes_an_admin_a_key_and_keeps_it_where_only_the_user_can_read(
    database_url: str, tmp_path: Path
) -> None:
    home = tmp_path / "deep" / "home"
    async with Pegboard.open(database_url, settings=settings(home)) as board:
        assert board.new_key is not None
        assert board.snapshot.holder(board.new_key).is_admin
        assert (home / "credentials").read_text() == f"{board.new_key}\n"
        key = board.new_key
    for private in ("credentials", "secret.key"):
        assert (home / private).stat().st_mode & 0o777 == 0o600
    assert home.stat().st_mode & 0o777 == 0o700
    async with Pegboard.open(database_url, settings=settings(home)) as board:
        assert board.new_key is None
        assert board.snapshot.holder(key).is_admin


async def test_a_key_from_the_settings_is_the_admins_until_another_takes_its_place(
    database_url: str, tmp_path: Path
) -> None:
    async with Pegboard.open(database_url, settings=settings(tmp_path, admin_key=KEY)) as board:
        assert board.new_key is None
        assert board.snapshot.holder(KEY).is_admin
        assert (tmp_path / "credentials").read_text() == f"{KEY}\n"
    other = "another-key-for-tests-9876543210"
    async with Pegboard.open(database_url, settings=settings(tmp_path, admin_key=other)) as board:
        assert board.snapshot.holder(other).is_admin
        with pytest.raises(Unauthorised, match="revoked"):
            board.snapshot.holder(KEY)
    async with Pegboard.open(database_url, settings=settings(tmp_path, admin_key=KEY)) as board:
        assert board.snapshot.holder(KEY).is_admin
        with pytest.raises(Unauthorised, match="revoked"):
            board.snapshot.holder(other)


async def test_a_key_made_by_hand_outlives_changes_of_the_settings(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/board.db"
    async with Pegboard.open(url, settings=settings(tmp_path, admin_key=KEY)) as board:
        made = await board.people.create_key(board.admin.user_id, board.admin, name="by hand")
    async with Pegboard.open(url, settings=settings(tmp_path, admin_key=KEY + "-new")) as board:
        assert board.snapshot.holder(made.key).is_admin


async def test_every_board_has_the_shipped_tools_public_and_brings_them_up_to_date(
    database_url: str, tmp_path: Path
) -> None:
    async with Pegboard.open(database_url, settings=settings(tmp_path)) as board:
        found = [
            tool for tool in (compiled.tool for compiled in board.snapshot.iterate_tools()) if tool.id in SHIPPED_IDS
        ]
        assert {tool.name for tool in found} >= {"echo", "math_eval", "calculate_rsi", "current_time", "json_query"}
        assert all(tool.is_public for tool in found)
        assert {tool.name for tool in found if not tool.read_only} == {"record_findings", "resolve_findings"}
        await board.tools.update("echo", {"is_active": False, "tags": ["mine"]}, board.admin)
        await board.tools.delete("math_eval", board.admin)
        async with board.database.change() as change:
            stale = "UPDATE tools SET description = 'of an older release' WHERE name = 'echo'"
            await change.conn.execute(text(stale))
    async with Pegboard.open(database_url, settings=settings(tmp_path)) as board:
        echo = await board.tools.get("echo", board.admin)
        assert echo.description != "of an older release"
        assert (echo.is_active, echo.tags) == (False, ("mine",)), "what was adjusted stays"
        assert board.snapshot.find("math_eval") is None, "what was removed stays removed"
        version = echo.version
    async with Pegboard.open(database_url, settings=settings(tmp_path)) as board:
        assert (await board.tools.get("echo", board.admin)).version == version


async def test_a_tool_that_has_the_name_of_a_shipped_one_keeps_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    url = f"sqlite:///{tmp_path}/board.db"
    async with Pegboard.open(url, settings=settings(tmp_path)) as board:
        await board.add(mock("old_echo"))
        async with board.database.change() as change:
            await change.conn.execute(text("DELETE FROM tool_versions"))
            await change.conn.execute(text("DELETE FROM tools WHERE name = 'echo'"))
            await change.conn.execute(text("UPDATE tools SET name = 'echo' WHERE name = 'old_echo'"))
    async with Pegboard.open(url, settings=settings(tmp_path)) as board:
        assert (await board.call("echo")).output == 1
    assert "shipped_tool_not_hung tool=echo" in caplog.text


async def test_keys_from_the_environment_keep_digests_the_same_over_starts(database_url: str, tmp_path: Path) -> None:
    digests = []
    for _ in range(2):
        async with Pegboard.open(database_url, settings=settings(tmp_path, secret_key=SECRET)) as board:
            result = await board.call("echo", {"a": 1})
            digests.append((await board.execution(result.run_id)).arguments_digest)
    assert digests[0] == digests[1]
    assert not (tmp_path / "secret.key").exists()


async def test_a_bad_key_in_the_environment_stops_the_start_and_is_not_shown(tmp_path: Path) -> None:
    for bad in ("hush-hush", SECRET[:-8] + "====", f"{SECRET},{SECRET}"):
        with pytest.raises(KeyringError, match="PEGBOARD_SECRET_KEY") as refused:
            async with Pegboard.open("memory", settings=settings(tmp_path, secret_key=bad)):
                pass
        assert bad not in str(refused.value)


async def test_a_key_file_that_others_may_read_stops_the_start(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/board.db"
    async with Pegboard.open(url, settings=settings(tmp_path)):
        pass
    (tmp_path / "secret.key").chmod(0o644)
    with pytest.raises(KeyringError, match="chmod 600"):
        async with Pegboard.open(url, settings=settings(tmp_path)):
            pass


async def test_a_board_in_memory_touches_no_file(tmp_path: Path) -> None:
    home = tmp_path / "never"
    async with Pegboard.open("memory", settings=settings(home)) as board:
        assert (await board.call("echo")).success
    assert not home.exists()


def test_a_private_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    write_private_file(path, "one")
    path.chmod(0o644)
    write_private_file(path, "two")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("two", 0o600)
    assert [each.name for each in path.parent.iterdir()] == ["file"]
