"""Code and commands that could never run, or must not: refused when they are registered, in words that help."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pegboard.model.api_errors import Forbidden, Invalid
from pegboard.testing import member
from tests.confinement.targets import Target, listed, table

CODE = {
    "a syntax error": ("def f(:\n    pass", r"config\.code: line 1: invalid syntax"),
    "a syntax error further down": ("x = 1\ndef f():\n    return = 2", r"line 3: "),
    "an indentation error": ("def f():\nreturn 1", r"line 2: expected an indented block"),
    "a quote that is not closed": ("def f():\n    return 'abc", r"line 2: unterminated string"),
    "a brace that is not closed": ("def f():\n    return {", r"line 2: '\{' was never closed"),
    "NUL": ("def f():\n    return '\0'", "the character NUL"),
    "half of a surrogate pair": ("def f():\n    return '\ud800'", "half of a surrogate pair"),
    "await outside of async": ("def f():\n    await f()", r"'await' outside async function"),
    "return outside of a function": ("def f(): pass\nreturn 1", r"line 2: 'return' outside function"),
    "parentheses without end": ("def f(): return " + "(" * 5000 + ")" * 5000, "too many nested parentheses"),
    "minuses without end": ("def f(): return " + "-" * 60_000 + "1", "nested too deeply"),
    "calls without end": ("def f(): return " + "f(" * 150 + ")" * 150 + "." + "x." * 25_000 + "x", "nested too deeply"),
    "more than fits": ("x = '" + "a" * 2**20 + "'\ndef f(): pass", "larger than \\d+ KiB"),
    "a tower of finally": (
        "def f():\n"
        + "".join(f"{' ' * n}try:\n{' ' * n} pass\n{' ' * n}finally:\n" for n in range(1, 60))
        + " " * 60
        + "f()",
        "would copy them thousands of times",
    ),
    "no function": ("x = 1", "no function at the top level"),
    "a function within another": ("if True:\n    def f(): pass", "no function at the top level"),
    "a parameter by position only": ("def f(a, /): pass", "by position only"),
    "a secret in the code": ("def f(): return '{{secret:HIDDEN}}'", "filled in only within env"),
    "an import that is not allowed": ("import sqlalchemy\ndef f(): pass", r"line 1: 'sqlalchemy' is neither in the"),
    "one of the board": ("from pegboard.settings import Settings\ndef f(): pass", r"line 1: 'pegboard' is neither"),
    "one within a function": ("def f():\n    import aiohttp", r"line 2: 'aiohttp' is neither"),
    "a relative one": ("from . import x\ndef f(): pass", "line 1: a relative import"),
    "a library that was not named": ("import numpy\ndef f(): pass", r"add 'numpy' to config\.libraries"),
}
PYTHON: dict[str, tuple[dict[str, Any], str]] = {
    "a library that is not allowed": (
        {"libraries": ["sqlalchemy"]},
        "is not allowed on this board; allowed are: numpy",
    ),
    "a library by its path": ({"libraries": ["../../etc"]}, "is not allowed on this board"),
    "a library with options": ({"libraries": ["numpy --index-url x"]}, "write 'numpy'"),
    "an entry that is not there": ({"entrypoint": "__import__"}, "no function '__import__' in the code; there are: f"),
    "a variable without a name": ({"env": {"": "x"}}, "is not a valid variable name"),
    "a variable of two": ({"env": {"A=1\nB": "x"}}, "is not a valid variable name"),
    "NUL in a variable": ({"env": {"A": "x\0y"}}, "the character NUL"),
    "no time": ({"timeout": 0}, "greater than 0"),
    "time without end": ({"timeout": float("inf")}, "NaN and infinities"),
    "time that is no number": ({"timeout": float("nan")}, "NaN and infinities"),
    "something else": ({"privileged": True}, "unknown key"),
}
SHELL: dict[str, tuple[dict[str, Any], str]] = {
    "a quote that is not closed": ({"command": "echo 'a"}, "a quote that is not closed"),
    "a backslash at the end": ({"command": "echo \\"}, "a backslash at its end"),
    "nothing": ({"command": "   "}, "names no program"),
    "NUL": ({"command": "echo a\0b"}, "the character NUL"),
    "a program of the caller's": ({"command": "{x} -c id"}, "is a placeholder"),
    "a program that the caller completes": ({"command": "/usr/bin/{x}"}, "is a placeholder"),
    "a value in a script": ({"command": "sh -c 'echo {x}'"}, "would be run as code"),
    "a value in a script of another shell": ({"command": "/bin/bash -ec 'echo {x}'"}, "would be run as code"),
    "a placeholder in shell": ({"command": "echo {x}", "shell": True}, "nothing is filled in"),
    "a parameter that is not there": ({"command": "echo {y}"}, "not among the properties"),
    "the whole file system": ({"command": "ls", "working_dir": "/"}, "whole file system"),
    "the whole file system, otherwise": ({"command": "ls", "working_dir": "//."}, "whole file system"),
    "processes": ({"command": "ls", "working_dir": "/proc/self/root"}, "cannot be '/proc/self/root'"),
    "devices": ({"command": "ls", "working_dir": "/dev"}, "cannot be '/dev'"),
    "the machine": ({"command": "ls", "working_dir": "/sys/kernel"}, "cannot be '/sys/kernel'"),
    "a way up": ({"command": "ls", "working_dir": "/usr/../proc"}, r"without '\.\.'"),
    "a relative folder": ({"command": "ls", "working_dir": "tmp"}, "absolute path"),
    "a secret in the command": ({"command": "echo {{secret:HIDDEN}}"}, "filled in only within env"),
    "a secret in the folder": ({"command": "ls", "working_dir": "/{{secret:HIDDEN}}"}, "filled in only within env"),
    "writable without a folder": ({"command": "ls", "writable": True}, "needs a working_dir"),
}


async def assert_refused(
    board: Target, kind: str, config: dict[str, Any], words: str, properties: tuple[str, ...] = ()
) -> None:
    """Assert that the tool cannot be registered, and that the error has the reason."""
    with pytest.raises(Invalid) as refusal:
        await board.add(kind, config, properties)
    assert re.search(words, refusal.value.message), refusal.value.message
    assert not board.leaked(refusal.value.message)


@pytest.mark.parametrize(("code", "words"), table(CODE))
async def test_code_is_refused(board: Target, code: str, words: str) -> None:
    await assert_refused(board, "python", {"code": code}, words)


@pytest.mark.parametrize(("config", "words"), table(PYTHON))
async def test_what_goes_with_code_is_refused(board: Target, config: dict[str, Any], words: str) -> None:
    await assert_refused(board, "python", {"code": "def f(): pass", **config}, words)


@pytest.mark.parametrize(("config", "words"), table(SHELL))
async def test_a_command_is_refused(board: Target, config: dict[str, Any], words: str) -> None:
    await assert_refused(board, "shell", config, words, ("x",))


@pytest.mark.parametrize("name", ["PATH", "LD_PRELOAD", "IFS", "BASH_ENV", "http_proxy", "a-b", "1a", "a=b"])
async def test_a_variable_that_programs_obey_is_no_parameter_of_a_script(board: Target, name: str) -> None:
    await assert_refused(
        board, "shell", {"command": "env", "shell": True}, "environment variable of its own name", (name,)
    )


async def test_a_caller_who_is_no_admin_registers_no_command(board: Target) -> None:
    ada = await member(board.board, "ada")
    definition = {"name": "mine", "tool_type": "shell", "config": {"command": "id"}, "input_schema": {"type": "object"}}
    with pytest.raises(Forbidden, match="Only admins may register shell tools"):
        await board.board.add(definition, caller=ada)


async def test_code_never_runs_in_the_process_that_registers_it(board: Target, folder: Path) -> None:
    touches = f"__import__('pathlib').Path({str(folder / 'ran')!r}).touch()"
    name = await board.add(
        "python", {"code": f"{touches}\n@({touches})\ndef f(a={touches}, *, b: ({touches}) = 1): pass"}
    )
    assert listed(folder) == []
    (await board.call(name)).ended("execution_failed", "FileNotFoundError|PermissionError|Read-only")
    assert listed(folder) == []


async def test_an_import_that_code_hides_is_refused_when_it_runs(board: Target) -> None:
    for attempt in ("__import__('pegboard')", "importlib.import_module('pegboard.board')", "exec('import sqlalchemy')"):
        tried = await board.python(f"import importlib\ndef f():\n    {attempt}")
        tried.ended("execution_failed", "ModuleNotFoundError: No module named '(pegboard|sqlalchemy)")
