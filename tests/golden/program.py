"""The command line program, found by the entry point of the project, and run within this process."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

ROOT = Path(__file__).parents[2]
WIDTH = 80


@cache
def load_command() -> Any:
    """The command beside the function that the `pegboard` script runs."""
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    return get_command(import_module(scripts["pegboard"].partition(":")[0]).app)


def run_program(*words: str, **environment: str) -> tuple[int, str, str]:
    """Return the exit code, stdout and stderr of one run, without the settings of this machine."""
    out, err = StringIO(), StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        for name in [name for name in os.environ if name.startswith("PEGBOARD_")]:
            patch.delenv(name)
        for name, value in environment.items():
            patch.setenv(name, value)
        with pytest.raises(SystemExit) as ended:
            load_command().main(list(words), prog_name="pegboard")
    return int(ended.value.code or 0), out.getvalue(), err.getvalue()


def read_help() -> Iterator[tuple[str, str]]:
    """Return the output of `--help` for every command and group, the program itself first, each after its name."""
    return _read_help(load_command(), "pegboard", None)


def _read_help(command: Any, name: str, parent: Any) -> Iterator[tuple[str, str]]:
    context = command.make_context(name, [], parent, resilient_parsing=True, terminal_width=WIDTH)
    yield context.command_path, context.get_help()
    if hasattr(command, "list_commands"):
        for inner in command.list_commands(context):
            yield from _read_help(command.get_command(context, inner), inner, context)
