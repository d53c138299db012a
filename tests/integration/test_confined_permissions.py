"""Permissions to register and to call tools that run code, and their form in files."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio.to_thread
import httpx
import pytest
import yaml
from dirty_equals import IsPartialDict

from pegboard import Pegboard
from pegboard.model.api_errors import Forbidden, Invalid
from pegboard.model.call import Caller
from pegboard.testing import NoSettings, memory_board
from tests.board_surfaces import KEY, served
from tests.integration.confined_board import answer_of, python, shell
from tests.integration.process_trees import server
from tests.surfaces.cli.run_program import Outcome, Program
from tests.surfaces.rest.clients import client, good, new_user, problem

ONLY_ADMINS = "Only admins may register shell tools"
NO_FOLDERS = "Only admins may register shell tools with a working_dir"
ECHO = shell("printf %s {x}", "x")


class OtherUser:
    """A member of a board, through each of its surfaces."""

    def __init__(self, board: Pegboard, user_id: str, rest: httpx.AsyncClient, program: Program) -> None:
        self._board = board
        self.caller = Caller(user_id, "ada")
        self.rest = rest
        self._program = program

    async def run(self, *words: str, stdin: str | None = None) -> Outcome:
        """The output of the command line for the user."""
        return await anyio.to_thread.run_sync(lambda: self._program.run(*words, stdin=stdin))

    async def is_refused(self, definition: dict[str, Any], why: str) -> None:
        """Check that no surface lets the member register this."""
        with pytest.raises(Forbidden, match=why):
            await self._board.add(definition, caller=self.caller)
        with pytest.raises(Invalid, match=why):
            await self._board.apply([definition], caller=self.caller)
        assert why in problem(await self.rest.post("/v1/tools", json=definition), 403)["detail"]
        assert why in problem(await self.rest.post("/v1/apply", json={"tools": [definition]}), 422)["detail"]
        for command in ("tools add", "apply"):
            ran = await self.run(*command.split(), "-", stdin=json.dumps(definition))
            assert ran.code == 1
            assert why in " ".join(ran.err.split())
        assert good(await self.rest.get("/v1/tools", params={"mine": True}))["items"] == []


@asynccontextmanager
async def other_user(**settings: Any) -> AsyncIterator[tuple[Pegboard, OtherUser]]:
    """A board with these settings, and a member."""
    async with (
        memory_board(admin_key=KEY, drain_seconds=2, **settings) as board,
        client(board) as admin,
        served(board) as url,
    ):
        user_id, key = await new_user(admin, "ada")
        async with client(board, key) as rest:
            yield board, OtherUser(board, user_id, rest, Program({"PEGBOARD_URL": url, "PEGBOARD_KEY": key}))


async def test_members_may_register_code_and_no_commands() -> None:
    async with other_user() as (_, ada):
        await ada.is_refused(ECHO, f"{ONLY_ADMINS}, unless the board is set to PEGBOARD_SHELL_FOR_MEMBERS=true")
        good(await ada.rest.post("/v1/tools", json=python("def f(x: str): return x * 2", "hers")), 201)
        assert good(await ada.rest.post("/v1/tools/hers/call", json={"x": "a"}))["result"] == "aa"
        change = {"tool_type": "shell", "config": {"command": "id"}, "input_schema": {"type": "object"}}
        assert ONLY_ADMINS in problem(await ada.rest.patch("/v1/tools/hers", json=change), 403)["detail"]
        assert (await ada.run("call", "hers", "x=b")).done().out.strip() == '"bb"'


async def test_they_may_register_commands_if_the_board_allows_it_but_see_no_folder(folder: Path) -> None:
    async with other_user(shell_for_members=True) as (board, ada):
        for writable in (False, True):
            await ada.is_refused(shell("ls", working_dir=str(folder), writable=writable), NO_FOLDERS)
        good(await ada.rest.post("/v1/tools", json=ECHO), 201)
        assert (await board.call("tool", {"x": "lib"}, caller=ada.caller)).output["stdout"] == "lib"
        assert good(await ada.rest.post("/v1/tools/tool/call", json={"x": "rest"}))["result"]["stdout"] == "rest"
        assert json.loads((await ada.run("call", "tool", "x=cli")).done().out)["stdout"] == "cli"
        change = {"config": {"command": "ls", "working_dir": str(folder)}}
        assert NO_FOLDERS in problem(await ada.rest.patch("/v1/tools/tool", json=change), 403)["detail"]


async def test_a_public_command_of_the_admin_is_there_for_members_to_call(folder: Path) -> None:
    (folder / "data").write_text("of the admin\n")
    async with other_user() as (board, ada):
        await board.add(shell("cat data", working_dir=str(folder), env={"KEY": "hush-hush"}, is_public=True))
        await board.add(shell("cat data", name="private", working_dir=str(folder)))
        answer = await ada.rest.post("/v1/tools/tool/call", json={})
        assert good(answer)["result"] == {"stdout": "of the admin\n", "stderr": "", "exit_code": 0}
        assert (await board.call("tool", caller=ada.caller)).success
        assert (await ada.run("call", "tool")).code == 0
        shown = good(await ada.rest.get("/v1/tools/tool"))
        assert (shown["config"], "data" in json.dumps(shown)) == (None, False)
        problem(await ada.rest.patch("/v1/tools/tool", json={"config": {"command": "id"}}), 403)
        assert good(await ada.rest.post("/v1/tools/private/call", json={}))["error"] == "Tool 'private' not found"
        row = good(await ada.rest.get(f"/v1/executions/{answer.headers['x-execution-id']}"))
        assert row == IsPartialDict(tool_name="tool", kind="shell", status="succeeded", caller="ada")


CODE = """
import os

def price(amount: float, currency: str = "EUR"):
    '''Say a price: "so much".'''
    return f"{amount:.2f} {currency} {len(os.environ['KEY'])}"
"""
TOOLS = [
    python(CODE, "price", env={"KEY": "{{secret:KEY}}", "OTHER": "hush-hush"}, timeout=5, keep_result=True),
    shell('printf "%s %s" "$x" "$KEY" | wc -c', "x", name="count", shell=True, parse="json", env={"KEY": "hush-hush"}),
    shell("grep -c '^{x}' --  -", "x", name="grep", description="'{x}': it's\n  two lines", timeout=5),
]


async def at(board: Pegboard, *words: str, stdin: str | None = None) -> Outcome:
    """The output of the command line for the admin."""
    async with served(board) as url:
        program = Program({"PEGBOARD_URL": url, "PEGBOARD_KEY": KEY})
        return await anyio.to_thread.run_sync(lambda: program.run(*words, stdin=stdin))


@pytest.mark.parametrize("form", ["yaml", "json"])
@pytest.mark.parametrize("through", ["library", "library on postgresql"], indirect=True)
async def test_what_was_exported_applies_unchanged_and_changes_where_it_was_edited(
    board: Pegboard, form: str, tmp_path: Path
) -> None:
    await board.secrets.put("KEY", "1234567", board.admin)
    for definition in TOOLS:
        await board.add(definition)
    file = tmp_path / f"tools.{form}"
    (await at(board, "export", str(file))).done()
    text = file.read_text()
    assert ("hush" in text, "{{secret:KEY}}" in text) == (False, True)
    names = ["count", "grep", "price"]
    done = (await at(board, "apply", str(file), "--json")).done().json
    assert done == {"created": [], "updated": {}, "unchanged": names, "deleted": []}
    read = yaml.safe_load(text)["tools"]
    assert [tool["config"].get("code", tool["config"].get("command")) for tool in read] == [
        TOOLS[1]["config"]["command"],
        TOOLS[2]["config"]["command"],
        CODE,
    ]
    file.write_text(text.replace(":.2f}", ":.3f}"))
    assert (await at(board, "apply", str(file), "--json")).done().json["updated"] == {"price": ["config"]}
    assert answer_of(await board.call("price", {"amount": 1})) == "1.000 EUR 7"
    # The masked values of the file are unchanged.
    assert answer_of(await board.call("count", {"x": "ab"})) == len("ab hush-hush")


async def test_files_make_a_board_whose_code_runs_and_one_fault_keeps_all_of_them_away(tmp_path: Path) -> None:
    async with Pegboard.open(settings=NoSettings(home=tmp_path / "home", admin_key=KEY)) as board:
        files = [str(tmp_path / f"{place}.yaml") for place in range(len(TOOLS) + 1)]
        bad = python("import pandas\ndef f(): pass", "bad")
        for place, definition in enumerate((*TOOLS, bad)):
            (tmp_path / f"{place}.yaml").write_text(yaml.safe_dump(definition))
        ran = await at(board, "apply", *files)
        assert ran.code == 1
        assert f"{files[-1]}:1 'bad'" in ran.err
        assert "add 'pandas' to config.libraries" in ran.err
        assert (await at(board, "export", "--json")).done().json == {"tools": []}
        (await at(board, "apply", *files[:-1])).done()
        await board.secrets.put("KEY", "123", board.admin)
        assert answer_of(await board.call("price", {"amount": 2, "currency": "JPY"})) == "2.00 JPY 3"
        assert answer_of(await board.call("count", {"x": "a"})) == len("a hush-hush")


def test_the_doctor_says_how_tools_are_confined_on_this_machine(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with server(home, f"sqlite:///{home}/pegboard.db", tmp_path / "log") as running:
        environment = {"PEGBOARD_HOME": str(home), "PEGBOARD_URL": running.url, "PEGBOARD_ADMIN_KEY": KEY}
        ran = Program({**environment, "PEGBOARD_KEY": KEY}).start("doctor")
    lines = {" ".join(line.split()) for line in ran.out.splitlines()}
    assert ran.code == 0, ran.out
    found = [line for line in lines if "sandbox" in line or "python libraries" in line]
    assert len(found) >= 4
    assert all(any(f"sandbox {ability}" in line for line in found) for ability in ("landlock", "namespaces", "seccomp"))
    assert any("numpy, pandas" in line for line in found)
    assert '"event": "sandbox_ready"' in (tmp_path / "log").read_text()
