"""The settings of python and shell tools, and their effects."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pegboard import Pegboard, Settings
from pegboard.settings import InvalidSettings, split_comma_list
from pegboard.testing import NoSettings
from pegboard.wiring import list_private_paths


def test_lists_are_words_between_commas() -> None:
    assert split_comma_list(" a, b,,c ,") == ("a", "b", "c")
    assert split_comma_list("") == ()
    assert split_comma_list(NoSettings().python_libraries)[:2] == ("numpy", "pandas")


def test_few_more_calls_run_at_once_than_there_are_processors() -> None:
    assert NoSettings().sandbox_children == len(os.sched_getaffinity(0)) + 2


def test_nothing_is_done_without_unless_it_is_named() -> None:
    assert split_comma_list(NoSettings().sandbox_without) == ()
    assert split_comma_list(NoSettings(sandbox_without="seccomp, landlock").sandbox_without) == ("seccomp", "landlock")


def test_what_could_be_done_without_is_reported_where_something_else_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEGBOARD_SANDBOX_WITHOUT", "namespaces,cgroups")
    with pytest.raises(InvalidSettings, match=r"'cgroups' is not a kernel feature.*landlock, namespaces, seccomp"):
        Settings()


@pytest.mark.parametrize(
    ("name", "value"),
    [("children", 0), ("zygotes", 0), ("memory", 2**20), ("processes", 0), ("disk", 0), ("output", 1)],
)
def test_bounds_that_no_call_could_live_with_are_refused(name: str, value: int) -> None:
    given: dict[str, Any] = {f"sandbox_{name}": value}
    with pytest.raises(InvalidSettings, match=f"sandbox_{name}: must be at least [0-9]+, but received {value}"):
        NoSettings(**given)


@pytest.fixture
async def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Pegboard]:
    """A board whose database is not in its home."""
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "pegboard.toml").write_text('admin_key = "hush-hush-hush-hush"')
    monkeypatch.chdir(tmp_path / "here")
    settings = NoSettings(home=tmp_path / "home", sandbox_without="seccomp", python_libraries="orjson,PyYAML")
    async with Pegboard.open(f"sqlite:///{tmp_path}/data/board.db", settings=settings) as opened:
        yield opened


async def test_no_tool_sees_home_the_database_or_the_files_with_settings(board: Pegboard, tmp_path: Path) -> None:
    own = list_private_paths(board.settings, board.database)
    assert {f"{tmp_path}/home", f"{tmp_path}/data", f"{tmp_path}/here/pegboard.toml"} <= set(own)
    assert board.confinement.own == own
    assert all(Path(place).is_absolute() for place in own)


async def test_no_tool_sees_the_file_of_tables(board: Pegboard, tmp_path: Path) -> None:
    settings = board.settings.model_copy(update={"tables": tmp_path / "tables.yaml"})
    assert f"{tmp_path}/tables.yaml" in list_private_paths(settings, board.database)


async def test_the_board_hands_on_what_it_is_set_to(board: Pegboard) -> None:
    assert board.confinement.without == ("seccomp",)
    assert board.confinement.can_hide
    assert board.confinement.libraries.allowed == ("orjson", "pyyaml")


async def test_they_are_hidden_even_inside_of_a_folder_that_a_tool_is_shown(board: Pegboard, tmp_path: Path) -> None:
    (tmp_path / "beside").write_text("to be seen")
    for folder in (tmp_path, tmp_path / "here"):
        folder.chmod(0o755)
    config = {"command": "cat beside; find . -type f -size +0", "working_dir": str(tmp_path), "shell": True}
    await board.add({"name": "look", "tool_type": "shell", "config": config, "input_schema": {"type": "object"}})
    result = await board.call("look")
    assert result.success, result.problem
    assert result.output == {"stdout": "to be seen./beside\n", "stderr": "", "exit_code": 0}
