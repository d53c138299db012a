"""A wheel has the same bytes wherever and whenever it is built."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

PROJECT = Path(__file__).parents[2]
# What a build reads. The packages of npm are linked instead of installed again.
PARTS = ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "src", "console")
BUILT = shutil.ignore_patterns("static", "node_modules", "__pycache__")
# Building the console takes a quarter of a minute on a quiet machine.
pytestmark = pytest.mark.timeout(600)


def build_wheel(source: Path, target: Path) -> Path:
    """Return the wheel that is built in this folder."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    options = ["--no-deps", "--no-build-isolation", "--wheel-dir", str(target)]
    subprocess.run([*pip, "wheel", *options, str(source)], check=True)
    (wheel,) = target.glob("pegboard-*.whl")
    return wheel


def copy_project(target: Path) -> Path:
    """Return a copy of the source without anything that was built from it."""
    target.mkdir()
    for name in PARTS:
        if (PROJECT / name).is_dir():
            shutil.copytree(PROJECT / name, target / name, ignore=BUILT)
        else:
            shutil.copy2(PROJECT / name, target)
    # Hard links, because Node would find out where a symbolic link leads.
    packages = Path("console", "node_modules")
    shutil.copytree(PROJECT / packages, target / packages, symlinks=True, copy_function=os.link)
    return target


def test_two_builds_in_different_folders_are_byte_identical(tmp_path: Path) -> None:
    first = build_wheel(PROJECT, tmp_path / "first")
    copy = copy_project(tmp_path / "a-folder-with-another-name")
    static = copy / "src" / "pegboard" / "surfaces" / "console" / "static"
    assert not static.exists()
    second = build_wheel(copy, tmp_path / "second")
    assert (static / "index.html").is_file()
    with ZipFile(first) as one, ZipFile(second) as other:
        assert one.namelist() == other.namelist()
        assert [name for name in one.namelist() if one.read(name) != other.read(name)] == []
    assert first.read_bytes() == second.read_bytes()
