"""Work folders of calls without their own file system."""

from __future__ import annotations

import asyncio
import os
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pegboard.sandbox import work_folder
from tests.unit.sandbox.confined_tools import later, listed, open_sandbox, script, until_idle, until_over, until_running


@pytest.fixture
def mark() -> str:
    """A number of seconds for `sleep` that no other test uses."""
    return f"{1000 + secrets.randbelow(10**6)}.{secrets.randbelow(10**9):09}"


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The parent of the work folders, which other users can enter but not list."""
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o711)
        monkeypatch.setattr(tempfile, "tempdir", made)
        yield Path(made)


async def test_calls_without_a_file_system_of_their_own_leave_no_folder(temporary: Path, mark: str) -> None:
    async with open_sandbox(without=("namespaces",)) as box:
        job = script("pwd; mkdir -p a/b/c && touch a/b/c/d && chmod 0 a/b && chmod 0 a")
        ended = await box.run(job, "ann", later())
        assert (ended.code, ended.stderr) == (0, b"")
        assert Path(ended.stdout.decode().strip()).parent == temporary
        task = asyncio.create_task(box.run(script(f"touch x; sleep {mark}"), "ann", later()))
        await until_running(mark)
        task.cancel()
        await asyncio.wait([task])
        await until_over(mark)
        await until_idle(box)
    assert listed(temporary) == []


def test_a_folder_is_removed_however_deep_and_wherever_its_links_lead(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("stays")
    top = tmp_path / "top"
    top.mkdir()
    (top / "link").symlink_to(kept)
    (top / "gone").symlink_to("nowhere")
    os.mkfifo(top / "pipe")
    os.link(kept / "file", top / "hard")
    here = os.open(top, os.O_RDONLY)
    for _ in range(1100):  # deeper than any path, and than any stack
        os.mkdir("deeper", dir_fd=here)
        below = os.open("deeper", os.O_RDONLY, dir_fd=here)
        os.symlink("/", "root", dir_fd=below)
        os.close(here)
        here = below
    os.close(here)
    work_folder.remove_work_folder(str(top))
    assert not top.exists()
    assert (kept / "file").read_text() == "stays"
    work_folder.remove_work_folder(str(top))


def test_a_folder_that_something_keeps_writing_to_is_left_at_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    top = tmp_path / "top"
    top.mkdir()
    unlink = os.unlink

    def restless(name: str, *, dir_fd: int) -> None:
        unlink(name, dir_fd=dir_fd)
        (top / secrets.token_hex(4)).touch()

    (top / "first").touch()
    monkeypatch.setattr(os, "unlink", restless)
    monkeypatch.setattr(work_folder, "MAX_ROUNDS", 20)
    work_folder.remove_work_folder(str(top))
    assert "something keeps writing to it" in caplog.text
