"""The environment of calls that a zygote is started with."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import pegboard
from pegboard.model.call_errors import Misconfigured
from pegboard.sandbox.environment_spec import EnvironmentSpec, build_zygote_spec, identify_environment
from tests.unit.sandbox.confined_tools import PLAIN, later, open_sandbox, script


def received(environment: EnvironmentSpec, **more: Any) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(build_zygote_spec(environment, **more))
    return read


def binds(environment: EnvironmentSpec) -> dict[str, tuple[str, bool]]:
    return {target: (source, writable) for source, target, writable in received(environment)["binds"]}


def test_the_interpreter_and_its_libraries_are_shown_and_nothing_of_it_is_writable() -> None:
    environment = received(PLAIN)
    shown = [target for _, target, _ in environment["binds"]]
    for path in (sys.base_prefix, sys.prefix, *environment["prefixes"]):
        assert any(Path(path).is_relative_to(place) for place in [*shown, "/usr"]), path
    assert not any(writable for _, _, writable in environment["binds"])
    assert environment["prefixes"] == [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]


def test_outer_folders_come_before_those_inside(tmp_path: Path) -> None:
    targets = [target for _, target, _ in received(EnvironmentSpec(working_dir=str(tmp_path)))["binds"]]
    assert str(tmp_path) in targets
    for number, target in enumerate(targets):
        assert not any(Path(target).is_relative_to(later) for later in targets[number + 1 :])


def test_what_the_environment_is_for_is_reported_unchanged() -> None:
    environment = received(
        EnvironmentSpec(modules=("a", "b"), allowed=("b", "c")), masked=["/srv/../srv/board"], without=("seccomp",)
    )
    assert (environment["modules"], environment["allowed"]) == (["a", "b"], ["b", "c"])
    assert (environment["masked"], environment["without"]) == (["/srv/board"], ["seccomp"])


def test_a_folder_behind_a_link_is_shown_where_it_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    shown = binds(EnvironmentSpec(working_dir=f"{tmp_path}/link/", writable=True))
    assert shown[f"{tmp_path}/link"] == (f"{tmp_path}/real", True)


def test_a_folder_around_programs_or_the_boards_own_files_is_never_writable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # At any depth, and even if mounted read-only: a parent folder could be renamed.
    venv = tmp_path / "real" / "backend" / "venv"
    (venv / "site-packages").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "apart").mkdir()
    monkeypatch.setattr(sys, "prefix", str(venv))
    board = Path(pegboard.__file__).parent
    home = str(tmp_path / "var" / "home")  # does not exist yet
    for around in (
        tmp_path,
        tmp_path / "link",
        tmp_path / "real" / "backend",
        venv,
        board,
        board.parent,
        board / "core",
    ):
        with pytest.raises(Misconfigured, match=r"cannot be writable: it contains '.*', which the board needs"):
            build_zygote_spec(EnvironmentSpec(working_dir=str(around), writable=True))
    for around in (tmp_path / "var", tmp_path / "var" / "home" / "inner"):
        with pytest.raises(Misconfigured, match="cannot be writable"):
            build_zygote_spec(EnvironmentSpec(working_dir=str(around), writable=True), masked=[home])
    assert binds(EnvironmentSpec(working_dir=str(venv)))[str(venv)] == (str(venv), False)
    assert binds(EnvironmentSpec(working_dir=f"{tmp_path}/apart", writable=True))[f"{tmp_path}/apart"][1]


@pytest.mark.parametrize("place", ["/", "/proc", "/dev/shm"])
def test_links_do_not_lead_around_what_is_refused(tmp_path: Path, place: str) -> None:
    (tmp_path / "link").symlink_to(place)
    with pytest.raises(Misconfigured, match="working_dir"):
        build_zygote_spec(EnvironmentSpec(working_dir=str(tmp_path / "link")))


def test_a_folder_that_was_replaced_is_another_environment(tmp_path: Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    environment = EnvironmentSpec(working_dir=str(folder))
    first = identify_environment(environment)
    assert identify_environment(environment) == first
    folder.rename(tmp_path / "there")
    folder.mkdir()
    assert identify_environment(environment) != first
    assert identify_environment(PLAIN) == identify_environment(EnvironmentSpec())


def test_so_is_one_in_which_something_that_is_hidden_was_replaced_or_made(tmp_path: Path) -> None:
    file = tmp_path / "pegboard.toml"
    environment = EnvironmentSpec(working_dir=str(tmp_path), holds=(str(file),))
    before = identify_environment(environment)
    file.write_text("a")
    made = identify_environment(environment)
    assert made != before
    # As an editor saves: the mount over the former file does not hide the new one.
    (tmp_path / "new").write_text("b")
    (tmp_path / "new").replace(file)
    assert identify_environment(environment) not in (before, made)


async def test_a_call_cannot_change_the_interpreter_that_its_folder_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = open_folder(tmp_path / "work")
    venv = open_folder(folder / "venv")
    monkeypatch.setattr(sys, "prefix", str(venv))
    command = "touch here venv/there; mv venv gone"
    async with open_sandbox() as box:
        job = script(command, environment=EnvironmentSpec(working_dir=str(folder), writable=True), cwd=str(folder))
        with pytest.raises(Misconfigured, match="cannot be writable"):
            await box.run(job, "ann", later())
        job = script(command, environment=EnvironmentSpec(working_dir=str(folder)), cwd=str(folder))
        ended = await box.run(job, "ann", later())
    assert ended.stderr.count(b"Read-only file system") == 3
    assert os.listdir(folder) == ["venv"]  # noqa: PTH208


def open_folder(path: Path) -> Path:
    path.mkdir()
    path.chmod(0o777)
    return path
