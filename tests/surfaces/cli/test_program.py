"""The program as a whole: help, start-up, completion, and the board without a server."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from pegboard import __version__
from pegboard.surfaces.cli.main import app
from tests.surfaces.cli.run_program import SECONDS, Program


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS = dict(commands(get_command(app)))


@pytest.fixture
def local(tmp_path: Path) -> Program:
    """The program of a user without a server."""
    return Program({"PEGBOARD_HOME": str(tmp_path / "home"), "PEGBOARD_URL": "http://127.0.0.1:1"})


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_says_in_one_line_what_it_does(path: tuple[str, ...]) -> None:
    message = (COMMANDS[path].load().help or "").splitlines()[0]
    assert COMMANDS[path].help == message  # in the help of the group, which does not load the command
    assert message.endswith((".", ";")) or "; " in message
    assert len(message) < 100
    ran = Program().run(*path, "--help").done()
    assert message.split(";")[0][:40] in " ".join(ran.out.split())


@pytest.mark.parametrize("path", [path for path in COMMANDS if path[-1] != "serve"], ids=" ".join)
def test_every_command_takes_the_common_options_after_its_name(path: tuple[str, ...]) -> None:
    shown = Program().run(*path, "--help").done().out
    assert all(option in shown for option in ("--json", "--local", "--url", "--key"))


def test_call_and_apply_show_an_example() -> None:
    assert "pegboard call get_weather city=Lisbon days=3" in Program().run("call", "--help").done().out
    assert "pegboard apply tools/" in Program().run("apply", "-h").done().out


def test_the_version_is_printed() -> None:
    assert Program().launch("--version").done().out == f"pegboard {__version__}\n"


@pytest.mark.parametrize(
    "words", [["nonesuch"], ["call"], ["tools", "list", "--colour"], ["tools", "list", "--limit", "x"]]
)
def test_what_was_typed_wrong_exits_2(words: list[str]) -> None:
    ran = Program().run(*words)
    assert ran.code == 2
    assert "Usage: pegboard" in ran.err


HEAVY = {"httpx", "rich", "sqlalchemy", "fastapi", "pydantic", "yaml", "uvicorn", "cryptography"}


def loaded(*words: str) -> set[str]:
    """Return the modules that the program has imported when it ends."""
    code = (
        "import sys\nfrom pegboard.surfaces.cli.main import main\n"
        "try:\n    main()\nfinally:\n    print(*sys.modules, file=sys.stderr)"
    )
    environment = Program({"PEGBOARD_URL": "http://127.0.0.1:1", "PEGBOARD_KEY": "a-key-0123456789"}).full_environment()
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return set(done.stderr.split())


@pytest.mark.parametrize("words", [["--help"], ["tools", "--help"], ["mock", "--help"], ["serve", "--help"]])
def test_help_loads_no_command_but_its_own(words: list[str]) -> None:
    modules = loaded(*words)
    assert not modules & HEAVY
    commands = {name for name in modules if re.fullmatch(r"pegboard\.surfaces\.cli\.\w+_commands?", name)}
    assert commands == ({"pegboard.surfaces.cli.maintenance_commands"} if words[0] == "serve" else set())


@pytest.mark.parametrize("words", [["call", "math_eval", "expression=1"], ["tools", "list"], ["users", "list"]])
def test_a_command_loads_what_its_request_needs_and_no_more(words: list[str]) -> None:
    assert loaded(*words) & HEAVY == {"httpx"}


def complete(program: Program, words: str, *, place: int, **more: str) -> list[str]:
    environment = {"_PEGBOARD_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(place)}
    ran = program.start(**environment, **more)
    assert ran.err == ""
    return ran.out.split()


def completed(program: Program, words: str, *, place: int) -> list[str]:
    """Return the completions; repeat if a busy board exceeds the limit of one second."""
    return next((found for _ in range(10) if (found := complete(program, words, place=place))), [])


def test_names_of_tools_complete(admin: Program) -> None:
    assert completed(admin, "pegboard call ma", place=2) == ["math_eval"]
    assert {"echo", "math_eval"} <= set(completed(admin, "pegboard tools show ", place=3))
    assert complete(admin, "pegboard tools ver", place=2) == ["versions"]


def test_completion_is_silent_without_a_board(local: Program) -> None:
    assert complete(local, "pegboard call ma", place=2) == []
    assert complete(local, "pegboard call ma", place=2, PEGBOARD_KEY="a-key-0123456789") == []
    assert complete(local, "pegboard --local call ma", place=3) == []
    assert not Path(local.environment["PEGBOARD_HOME"]).exists()


def test_a_shell_gets_its_completion_script() -> None:
    named = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    assert "_PEGBOARD_COMPLETE" in Program().launch("--show-completion", "bash", **named).done().out


def test_the_store_itself_is_opened_without_a_server(local: Program) -> None:
    first = local.launch("--local", "call", "math_eval", "expression=6*7")
    assert first.done().json == {"result": 42}
    assert "A new board was set up" in first.err
    credentials = Path(local.environment["PEGBOARD_HOME"], "credentials")
    assert credentials.stat().st_mode & 0o777 == 0o600
    listed = local.start("audit", "list", "--local", "--json").done()
    assert [item["surface"] for item in listed.json["items"]] == ["cli"]
    assert listed.err == ""
    assert local.start("whoami", "--local").done().out.startswith("admin (admin)")


def test_without_a_server_mistakes_are_reported_as_with_one(local: Program) -> None:
    ran = local.start("--local", "call", "nonesuch")
    assert (ran.code, ran.out) == (1, "")
    assert "Tool 'nonesuch' not found" in ran.err
    ran = local.start("--local", "tools", "show", "nonesuch")
    assert (ran.code, ran.err) == (1, "Error: Tool 'nonesuch' not found\n")


def test_a_store_that_cannot_be_opened_exits_3(local: Program) -> None:
    ran = local.start("--local", "whoami", PEGBOARD_DATABASE_URL="postgresql://x@127.0.0.1:1/board")
    assert ran.code == 3
    assert "The board cannot be opened" in ran.err
    assert "Traceback" not in ran.err
