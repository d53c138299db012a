"""Key rotation while the board is in use, and after a kill."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from pegboard.model.accounts import Secret
from pegboard.model.call_errors import SecretUnreadable
from pegboard.model.ids import new_id
from pegboard.registry.key_rotation import rotate_keys
from pegboard.storage import account_rows
from pegboard.storage.keyring import EnvironmentKeyring, encode_key
from pegboard.storage.vault import Vault
from tests.unit.registry.sealed_board import A_TOOL, NOW, Board, opened


@pytest.fixture
async def board(tmp_path: Path) -> AsyncIterator[Board]:
    async with opened(f"sqlite:///{tmp_path}/board.db", tmp_path / "secret.key") as made:
        yield made


async def test_it_rotates_while_others_write_and_read_and_nothing_is_lost(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url, tmp_path / "secret.key") as board:
        await board.fill(5)
        server = board.vault()
        written = asyncio.Event()
        ended = asyncio.Event()
        last: dict[str, str] = {}

        async def write() -> None:
            async with board.database.read() as conn:
                mine = await account_rows.secrets.page(conn, limit=5)
            for count in itertools.count():
                if ended.is_set():
                    return
                if count < 20:
                    await board.add_tool(server)
                secret = mine[count % len(mine)]
                async with board.database.change() as change:
                    again = replace(secret, sealed=server.seal(f"value {count}", secret.id))
                    await account_rows.secrets.put(change.conn, again, revision=change.revision)
                last[secret.id] = f"value {count}"
                written.set()

        async def read() -> None:
            while not ended.is_set():
                await board.check(server)

        async with asyncio.TaskGroup() as group:
            group.create_task(write())
            group.create_task(read())
            await written.wait()
            for _ in range(2):
                written.clear()
                report = await rotate_keys(board.database, board.vault(), batch=3, grace=0)
                assert (report.finished, report.skipped) == (True, ())
                await written.wait()
            ended.set()
        fresh = board.vault()
        assert await board.check(fresh) == {report.key_id}
        now = {row.id: fresh.open(row.value, row.id) for row in await board.rows() if row.table == "secrets"}
        assert last
        assert {secret_id: now[secret_id] for secret_id in last} == last


async def test_a_change_that_was_under_way_before_the_new_key_is_waited_for(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url, tmp_path / "secret.key") as board:
        server = board.vault()
        row_id = new_id()
        async with board.database.change() as change:
            secret = Secret(row_id, board.owner, "LATE", server.seal("value late", row_id), NOW, NOW)
            rotating = asyncio.create_task(rotate_keys(board.database, board.vault(), grace=0))
            _, waiting = await asyncio.wait([rotating], timeout=0.3)
            assert waiting
            assert len(board.vault().keyring.keys) == 2
            await account_rows.secrets.put(change.conn, secret, revision=change.revision)
        report = await rotating
        assert (report.finished, report.sealed) == (True, 1)
        assert await board.check(board.vault()) == {report.key_id}


_ROTATE = """
import asyncio, sys
from pathlib import Path
from pegboard.registry.key_rotation import rotate_keys as rotate
from pegboard.storage.database import Database
from pegboard.storage.keyring import FileKeyring
from pegboard.storage.vault import Vault

url, key_file, stop_at = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
steps = 0

def on_progress(sealed, seen):
    global steps
    steps += 1
    if steps == stop_at:
        print("here", flush=True)
        sys.stdin.read()

async def main():
    await rotate(Database.create(url), Vault(FileKeyring(key_file)), on_progress=on_progress, grace=0, batch=2)

asyncio.run(main())
"""


def rotate_and_be_killed(board: Board, stop_at: int) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", _ROTATE, board.database.shown_url, str(board.key_file), str(stop_at)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "here\n"
    finally:
        child.kill()
        child.communicate(timeout=30)


# Three passes over three secrets, three tools and three versions.
@pytest.mark.parametrize("stop_at", [1, 5, 9, 27], ids=["first row", "midway", "last row", "before the old key goes"])
async def test_killed_on_the_way_it_continues_where_it_was(board: Board, stop_at: int) -> None:
    await board.fill(3)
    old = board.vault().keyring.primary
    rotate_and_be_killed(board, stop_at)
    begun = board.vault()
    assert [key.id for key in begun.keyring.keys[1:]] == [old.id]
    assert len(await board.check(begun)) == (2 if stop_at < 9 else 1)
    report = await rotate_keys(board.database, begun, grace=0)
    assert report.finished
    assert report.key_id == begun.keyring.primary.id
    assert report.total == 3 * (A_TOOL + 1)
    assert await board.check(board.vault()) == {report.key_id}
    with pytest.raises(SecretUnreadable):
        board.vault().open(Vault(EnvironmentKeyring(encode_key(old.secret))).seal("x", old.id), old.id)
