"""Values that a shell would run, or that look like options: each is passed unchanged, or refused with its name."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.confinement.targets import Target, listed, table

VALUES = {
    "a second command": "; rm -rf . ; touch evil",
    "a second command in any case": "x || touch evil",
    "a command beside": "& touch evil &",
    "a pipe": "| touch evil",
    "a substitution": "$(touch evil)",
    "an old substitution": "`touch evil`",
    "a variable": "$HOME ${PATH} $((1+1)) $0 $$ $@",
    "quotes that are closed": "'; touch evil; '",
    "double quotes that are closed": '"; touch evil; "',
    "both quotes": "'\"'\"'; touch evil #",
    "a backslash": "\\",
    "backslashes": "\\\\n\\x41\\",
    "a new line": "a\ntouch evil\n",
    "a carriage return": "a\r\ntouch evil\r\n",
    "only a new line": "\n",
    "a redirection": "> evil",
    "a redirection from a file": "< /etc/passwd",
    "here": "<<EOF\ntouch evil\nEOF",
    "a glob": "*",
    "globs": "/* ~ ~root [a-z]* ?????? {a,b} !(x)",
    "a home": "~/evil",
    "history": "!! !$ ^a^b",
    "a comment": "# touch evil",
    "an assignment": "PATH=/tmp",
    "a format": "%s%n%x%1$s",
    "a placeholder": "{x} {{x}} {other} {0}",
    "a secret": "{{secret:HIDDEN}}",
    "nothing": "",
    "a space": " ",
    "spaces": "  a   b  ",
    "a tab": "a\tb",
    "control characters": "\x01\x07\x08\x1b[2J\x7f",
    "letters from afar": "\u202e\u0000".replace("\0", "") + "\u2028 \U0001f600 e\u0301 \ufeff",
    "a url": "file:///etc/passwd",
    "a way up": "../../../../etc/passwd",
    "JSON": '{"x": "\\u0000"}',
}
REFUSED: dict[str, tuple[Any, str, str]] = {
    "NUL": ("a\0b", "invalid_string", "holds the character NUL"),
    "NUL within a list": (["a", "b\0"], "invalid_string", "holds the character NUL"),
    "an option": ("-rf", "invalid_string", "begins with a dash"),
    "a long option": ("--output=evil", "invalid_string", "begins with a dash"),
    "a dash": ("-", "invalid_string", "begins with a dash"),
    "options by a list": (["ok", "--exec=evil"], "invalid_string", "begins with a dash"),
    "a number that is an option": (-1, "invalid_string", "begins with a dash"),
    "something longer": ("a" * 200_000, "too_big", "is longer than 131,071 bytes"),
    "something longer of many bytes": ("\u20ac" * 50_000, "too_big", "is longer than 131,071 bytes"),
    "too many": (["a" * 1000] * 1040, "too_big|malformed_arguments", "more than 1,048,576 bytes|larger than|bytes"),
}


@pytest.mark.parametrize("value", table(VALUES))
async def test_a_value_arrives_unchanged(board: Target, folder: Path, value: str) -> None:
    (folder / "kept").write_text("kept")
    config: dict[str, Any] = {"working_dir": str(folder), "writable": True}
    many = await board.command(
        "printf %s\\\\0 {x} --x={x} pre{x}post {y} end", {"x": value, "y": [value, value]}, **config
    )
    assert many.output["stdout"].split("\0") == [value, f"--x={value}", f"pre{value}post", value, value, "end", ""]
    assert listed(folder) == ["kept"]


@pytest.mark.parametrize("value", table(VALUES))
async def test_a_value_is_a_variable_of_a_script_and_never_its_code(board: Target, folder: Path, value: str) -> None:
    (folder / "kept").write_text("kept")
    script = "printf '%s\\0' \"$x\"; cat"
    tried = await board.shell(script, {"x": value}, working_dir=str(folder), writable=True)
    received, _, stdin = tried.output["stdout"].partition("\0")
    assert (received, json.loads(stdin)) == (value, {"x": value})
    assert listed(folder) == ["kept"]


@pytest.mark.parametrize(("value", "code", "words"), table(REFUSED))
async def test_a_value_that_cannot_stand_in_a_command_is_refused(
    board: Target, value: Any, code: str, words: str
) -> None:
    tried = await board.command("echo {x}", {"x": value})
    assert tried.code in code.split("|"), tried.message
    tried.ended(tried.code, words)
    assert tried.result.problem is not None
    assert tried.result.problem.did_run is False or tried.code == "malformed_arguments"


@pytest.mark.parametrize("value", ["a" * 130_000, "\u20ac" * 43_000])
async def test_a_long_value_arrives_whole(board: Target, value: str) -> None:
    digest = hashlib.sha256(value.encode()).hexdigest()
    command = await board.command("sh -c 'printf %s \"$1\" | sha256sum' sh {x}", {"x": value})
    script = await board.shell('printf %s "$x" | sha256sum', {"x": value})
    assert [tried.output["stdout"] for tried in (command, script)] == [f"{digest}  -\n"] * 2


async def test_after_two_dashes_a_value_may_have_its_own(board: Target) -> None:
    tried = await board.command("printf -- %s\\\\n {x}", {"x": ["-rf", "--help"]})
    assert tried.output["stdout"] == "-rf\n--help\n"


async def test_what_is_no_text_becomes_json(board: Target) -> None:
    given = {"a": {"b": ["; id"]}, "c": True, "d": 1.5, "e": None}
    tried = await board.command("printf %s\\\\n {a} {c} {d} {e} end", given)
    assert tried.output["stdout"].split("\n") == ['{"b":["; id"]}', "true", "1.5", "end", ""]


async def test_arguments_of_code_are_values_too(board: Target) -> None:
    values = [value for value in VALUES.values() if len(value) < 5000]
    tried = await board.python("def f(x: list, **more): return x", {"x": values})
    assert tried.output == values


async def test_an_argument_by_any_name_is_only_that(board: Target) -> None:
    names = ["__class__", "self", "job", "code", "entry", "limits", "seconds", "folder", "a b", "; id"]
    code = "def f(**given): return sorted(given)"
    definition = {"type": "object", "additionalProperties": True}
    await board.board.add({"name": "any", "tool_type": "python", "config": {"code": code}, "input_schema": definition})
    tried = await board.call("any", dict.fromkeys(names, 1))
    assert tried.output == sorted(names)
