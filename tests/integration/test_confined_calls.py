"""python and shell tools through every surface: registered, called, changed, limited, run again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dirty_equals import IsPartialDict

from tests.board_surfaces import RequestRefused
from tests.integration.confined_board import STORED, ConfinedSurface, python, shell, warm

GREET = """
def helper(text):
    return text.title()


def greet(name: str, times: int = 1):
    \"\"\"Greet somebody.\"\"\"
    print("greeting", name)
    return {"greeting": " ".join([f"Hello {helper(name)}"] * times)}
"""
MEANS = """
import pandas as pd


def means(rows: list[dict]):
    frame = pd.DataFrame(rows)
    return frame.groupby("city").mean()["degrees"]
"""
DEEP = """
def outer(values: list[int]):
    print("so far so good")
    return inner(values)


def inner(values):
    return values[7]


def main(values: list[int]):
    return outer(values)
"""
stored = pytest.mark.parametrize("through", STORED, indirect=True)


def writing(folder: Path) -> dict[str, Any]:
    """Return the fields of a tool whose script writes to this folder."""
    return {"working_dir": str(folder), "writable": True, "shell": True}


def code_of(answer: dict[str, Any]) -> str:
    """Return the error code of a call."""
    assert not answer["success"], answer
    return str(answer["error_details"]["code"])


@stored
async def test_code_alone_is_a_tool_and_its_prints_are_kept_beside_the_result(way: ConfinedSurface) -> None:
    made = await way.create(python(GREET, "greet"))
    properties = made["input_schema"]["properties"]
    assert (properties["name"]["type"], properties["times"]["type"]) == ("string", "integer")
    assert made["input_schema"]["required"] == ["name"]
    assert made["config"] == (await way.show("greet"))["config"] == IsPartialDict(code=GREET)
    answer = await way.call("greet", {"name": "ada", "times": 2})
    assert answer == IsPartialDict(success=True, result={"greeting": "Hello Ada Hello Ada"}, tool_name="greet")
    assert "greeting ada" not in str(answer)
    row = await way.row("greet")
    assert row == IsPartialDict(tool_name="greet", kind="python", status="succeeded", printed="greeting ada\n")
    assert code_of(await way.call("greet", {"times": 2})) == "missing"
    assert code_of(await way.call("greet", {"name": "ada", "times": "many"})) == "invalid_type"
    assert (await way.row("greet"))["printed"] is None


@stored
async def test_a_command_gets_its_arguments_and_answers_with_what_it_wrote(way: ConfinedSurface) -> None:
    await way.create(shell("printf '%s|' {first} --second={second} end", "first", "second"))
    hostile = "; rm -rf / $(id) `id`\n'\" \u20ac {second} *"
    answer = await way.call("tool", {"first": hostile, "second": "-x"})
    assert answer["result"] == {"stdout": f"{hostile}|--second=-x|end|", "stderr": "", "exit_code": 0}
    assert (await way.row("tool")) == IsPartialDict(kind="shell", status="succeeded", printed=None)
    await way.create(shell("cat", "x", name="json", parse="json"))
    assert (await way.call("json", {"x": hostile}))["result"] == {"x": hostile}
    await way.create(shell('printf "%s" "$x"; exit 3', "x", name="script", shell=True, success_exit_codes=[3]))
    assert (await way.call("script", {"x": hostile}))["result"] == {"stdout": hostile, "stderr": "", "exit_code": 3}


@stored
async def test_an_exit_code_outside_of_success_exit_codes_is_a_failed_call(way: ConfinedSurface) -> None:
    await way.create(shell("echo half; echo why >&2; exit 3", shell=True))
    answer = await way.call("tool")
    assert answer == IsPartialDict(
        success=False, error="The command exited with code 3; the end of its stderr: why", tool_name="tool"
    )
    details = {"code": "execution_failed", "exit_code": 3, "stdout": "half\n", "stderr": "why\n"}
    assert answer["error_details"] == IsPartialDict(**details)
    assert await way.row("tool") == IsPartialDict(kind="shell", status="failed", code="execution_failed")
    await way.create(
        shell("exit 1", name="again", shell=True)
        | {"retry": {"max_attempts": 3, "on": ["execution_failed"]}, "fallback": {"value": "instead"}}
    )
    assert await way.call("again") == IsPartialDict(success=True, result="instead", fallback=True)
    assert await way.row("again") == IsPartialDict(attempts=3)


@stored
async def test_an_error_says_what_and_where_and_keeps_the_prints(way: ConfinedSurface) -> None:
    await way.create(python(DEEP))
    answer = await way.call("tool", {"values": [1, 2]})
    assert code_of(answer) == "execution_failed"
    assert answer["error"] == "IndexError: list index out of range (line 8: return values[7])"
    row = await way.row("tool")
    assert row == IsPartialDict(status="failed", code="execution_failed", printed="so far so good\n")
    assert row["error"] == answer["error"]
    await way.create(shell("echo why not >&2; exit 7", name="command", shell=True, parse="json"))
    answer = await way.call("command")
    assert answer["error"] == "The command exited with code 7; the end of its stderr: why not"
    assert (await way.row("command")) == IsPartialDict(status="failed", error=answer["error"])


@stored
async def test_what_takes_too_long_is_ended_and_what_it_printed_until_then_is_kept(way: ConfinedSurface) -> None:
    await warm(way)
    await way.create(python("import time\ndef f():\n    print('begun')\n    time.sleep(3600)", timeout=5))
    await way.create(shell("echo begun >&2; sleep 3600", name="command", shell=True, timeout=5))
    answer = await way.call("tool")
    assert code_of(answer) == "timeout"
    assert answer["error"] == (
        "Tool 'tool' did not finish within 5 s; ask for less at once, or raise the tool's config.timeout"
    )
    assert await way.row("tool") == IsPartialDict(status="failed", code="timeout", printed="begun\n")
    answer = await way.call("command")
    assert code_of(answer) == "timeout"
    assert answer["error"] == "Tool 'command' did not finish within 5 s; the end of its stderr: begun"


async def test_libraries_are_there_if_the_tool_names_them(way: ConfinedSurface) -> None:
    with pytest.raises(RequestRefused, match=r"line 2: 'pandas' is neither .*; add 'pandas' to config\.libraries"):
        await way.create(python(MEANS))
    with pytest.raises(RequestRefused, match=r"config\.libraries\.0: 'sqlalchemy' is not allowed on this board"):
        await way.create(python(MEANS, libraries=["sqlalchemy"]))
    await way.create(python(MEANS, libraries=["pandas"]))
    rows = [{"city": "Lisbon", "degrees": 20}, {"city": "Oslo", "degrees": 3}, {"city": "Lisbon", "degrees": 25}]
    assert (await way.call("tool", {"rows": rows}))["result"] == {"Lisbon": 22.5, "Oslo": 3.0}
    assert "KeyError: 'city'" in (await way.call("tool", {"rows": [{}]}))["error"]


async def test_what_cannot_be_a_tool_is_refused_with_the_line(way: ConfinedSurface) -> None:
    for definition, why in (
        (python("def f(:"), "line 1: invalid syntax"),
        (python("x = 1"), "no function"),
        (python("def f(): pass", entrypoint="g"), "no function 'g'"),
        (shell("echo 'a"), "a quote that is not closed"),
        (shell("echo {who}", "whom"), "{who} is not among the properties of input_schema (they are whom)"),
        (shell("echo {who}", "who", shell=True), '"$who"'),
        (shell("echo", working_dir="relative"), "must be an absolute path"),
        (shell("echo", writable=True), "needs a working_dir"),
    ):
        with pytest.raises(RequestRefused) as refused:
            await way.create(definition)
        assert why in " ".join(refused.value.message.split()), definition
    assert code_of(await way.call("tool")) == "tool_not_found"


@stored
async def test_changed_code_runs_at_once_and_each_version_can_be_run_again(way: ConfinedSurface) -> None:
    kept: dict[str, Any] = {"keep_arguments": True, "keep_result": True}
    await way.create(python("def area(side: int): return side * side", **kept))
    assert (await way.call("tool", {"side": 3}))["result"] == 9
    first = (await way.row("tool"))["id"]
    with pytest.raises(RequestRefused, match=r"config\.code: line 1: "):
        await way.change("tool", {"config": {"code": "def area(side: int) return 1"}})
    assert (await way.call("tool", {"side": 3}))["result"] == 9
    code = "def area(side: int, unit: str = 'm'):\n    print('in', unit)\n    return f'{side * side} {unit}'"
    changed = await way.change("tool", {"config": {"code": code}})
    assert (changed["version"], list(changed["input_schema"]["properties"])) == (2, ["side", "unit"])
    assert (await way.call("tool", {"side": 3, "unit": "cm"}))["result"] == "9 cm"
    assert await way.row("tool") == IsPartialDict(tool_version=2, printed="in cm\n")
    assert [each["version"] for each in await way.versions("tool")] == [2, 1]
    assert await way.replay(first) == (False, "9 m")
    assert await way.row("tool") == IsPartialDict(repeat_of=first, tool_version=2, printed="in m\n")
    assert await way.replay(first, version=1) == (True, 9)
    assert await way.row("tool") == IsPartialDict(repeat_of=first, tool_version=1, printed=None)


@stored
async def test_a_command_with_a_key_runs_once(way: ConfinedSurface, folder: Path) -> None:
    script = 'echo "$line" >> log; wc -l < log; test "$line" != bad || exit 4'
    await way.create(shell(script, "line", parse="json", keep_arguments=True, **writing(folder)))
    first = await way.once("tool", {"line": "one"}, "key-1")
    assert first == IsPartialDict(success=True, result=1)
    again = await way.once("tool", {"line": "one"}, "key-1")
    assert again["result"] == 1
    assert (folder / "log").read_text() == "one\n"
    row = await way.row("tool")
    assert row["repeat_of"] is not None
    assert code_of(await way.once("tool", {"line": "two"}, "key-1")) == "idempotency_conflict"
    failed = [await way.once("tool", {"line": "bad"}, "key-2") for _ in range(2)]
    assert [code_of(each) for each in failed] == ["execution_failed"] * 2
    assert failed[0]["error"] == failed[1]["error"]
    assert (folder / "log").read_text() == "one\nbad\n"
    await way.replay(row["repeat_of"])
    assert (folder / "log").read_text() == "one\nbad\none\n"


async def test_a_folder_that_is_not_writable_is_unchanged(way: ConfinedSurface, folder: Path) -> None:
    (folder / "data").write_text("kept\n")
    await way.create(shell("cat data; echo changed > data; echo $?", shell=True, working_dir=str(folder)))
    answer = await way.call("tool")
    assert answer["result"]["stdout"].splitlines()[0] == "kept"
    assert answer["result"]["stdout"].splitlines()[-1] != "0"
    assert (folder / "data").read_text() == "kept\n"


async def test_what_is_over_the_limit_does_not_run(way: ConfinedSurface, folder: Path) -> None:
    limit = {"max_calls": 2, "period": "hour"}
    await way.create(shell("echo x >> log", rate_limit=limit, **writing(folder)))
    await way.create(python("def f(): return 1", "code", rate_limit=limit))
    for tool in ("tool", "code"):
        answers = [await way.call(tool) for _ in range(3)]
        assert [answer["success"] for answer in answers] == [True, True, False]
        assert code_of(answers[2]) == "rate_limited"
    assert (folder / "log").read_text() == "x\nx\n"


async def test_output_that_breaks_its_schema_is_tried_again_and_then_replaced(
    way: ConfinedSurface, folder: Path
) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 3}}, "required": ["n"]}
    script = "echo x >> log; printf '{\"n\": %s}' $(wc -l < log)"
    three = {"max_attempts": 3, "on": ["contract_violation"]}
    await way.create(shell(script, output_schema=schema, retry=three, parse="json", **writing(folder)))
    assert (await way.call("tool"))["result"] == {"n": 3}
    assert await way.row("tool") == IsPartialDict(attempts=3, status="succeeded")
    code = "import secrets\ndef f():\n    print('tried')\n    return {'n': 1, 'x': secrets.token_hex()}"
    more: dict[str, Any] = {"output_schema": schema, "retry": three}
    await way.create(python(code, "never", **more))
    assert code_of(await way.call("never")) == "contract_violation"
    assert await way.row("never") == IsPartialDict(attempts=3, status="failed", printed="tried\n")
    await way.change("never", {"fallback": {"value": {"n": 0}}})
    assert await way.call("never") == IsPartialDict(success=True, result={"n": 0})
    await way.change("never", {"fallback": {"tool": "tool"}})
    assert (await way.call("never"))["result"] == {"n": 4}


async def test_an_attempt_that_takes_too_long_is_made_again(way: ConfinedSurface, folder: Path) -> None:
    await warm(way, **writing(folder))
    script = "echo x >> log; test $(wc -l < log) -gt 1 || sleep 60"
    often = {"max_attempts": 5, "on": ["timeout"]}
    await way.create(shell(script, timeout=3, retry=often, **writing(folder)))
    await way.change("tool", {"timeout": 40})
    assert (await way.call("tool"))["result"]["exit_code"] == 0
    row = await way.row("tool")
    assert row["status"] == "succeeded"
    # A call that was ended before it wrote its line is repeated as well.
    assert row["attempts"] >= 2
    assert (folder / "log").read_text() == "x\nx\n"
