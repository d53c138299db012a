"""Who may register tools that run commands, and the rules for a command and the parameters of its tool."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.kinds.libraries import Libraries
from pegboard.kinds.shell.checks import find_shell_faults
from pegboard.kinds.shell.config import ShellConfig
from pegboard.model.api_errors import Forbidden, Invalid
from pegboard.model.call import Caller, Role
from pegboard.registry.build_tool import make_empty_tool
from pegboard.registry.registration_policy import RegistrationPolicy
from pegboard.testing import NoSettings, member, memory_board


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    async with memory_board() as fresh:
        yield fresh


def shell(command: str = "true", *names: str, **config: Any) -> dict[str, Any]:
    return {
        "name": "run_it",
        "tool_type": "shell",
        "config": {"command": command, **config},
        "input_schema": {"type": "object", "properties": {name: {} for name in names}},
    }


def faults(command: str, *names: str, **config: Any) -> dict[str, str]:
    definition = shell(command, *names, **config)
    found = find_shell_faults(ShellConfig.model_validate(definition["config"]), definition["input_schema"])
    return {fault.field: fault.message for fault in found}


class TestWho:
    async def test_members_may_not_unless_the_board_says_so(self, board: Pegboard) -> None:
        ada = await member(board)
        with pytest.raises(Forbidden, match=r"Only admins may register shell tools.*PEGBOARD_SHELL_FOR_MEMBERS"):
            await board.add(shell(), caller=ada)
        assert (await board.add(shell())).name == "run_it"
        with pytest.raises(Invalid, match="Only admins"):
            await board.apply([{**shell(), "name": "another"}], caller=ada)

    async def test_if_they_may_folders_and_other_commands_stay_with_admins(self) -> None:
        async with memory_board(shell_for_members=True) as board:
            ada = await member(board)
            tool = await board.add(shell("echo {x}", "x"), caller=ada)
            assert tool.owner_id == ada.user_id
            with pytest.raises(Forbidden, match="with a working_dir"):
                await board.tools.update("run_it", {"config": {"command": "ls", "working_dir": "/srv"}}, ada)
            with pytest.raises(Forbidden, match="mcp tools"):
                await board.add({**shell(), "name": "m", "tool_type": "mcp", "config": {"command": ["a"]}}, caller=ada)
            await board.tools.update("run_it", {"config": {"command": "ls", "working_dir": "/srv"}}, board.admin)

    async def test_a_tool_cannot_be_turned_into_one_either(self, board: Pegboard) -> None:
        ada = await member(board)
        config = {"mock_response": 1}
        await board.add({**shell(), "tool_type": "mock", "config": config}, caller=ada)
        with pytest.raises(Forbidden):
            await board.tools.update("run_it", {"tool_type": "shell", "config": {"command": "true"}}, ada)

    async def test_a_tool_from_when_they_might_can_be_switched_off_and_not_changed_or_put_back(
        self, tmp_path: Path
    ) -> None:
        database = f"sqlite:///{tmp_path}/board.db"
        definition = shell("echo {x}", "x", env={"KEY": "hush"})
        async with Pegboard.open(database, settings=NoSettings(home=tmp_path, shell_for_members=True)) as board:
            ada = await member(board)
            await board.add(definition, caller=ada)
        async with Pegboard.open(database, settings=NoSettings(home=tmp_path)) as board:
            assert not (await board.tools.update("run_it", {"is_active": False}, ada)).is_active
            await board.apply([{**definition, "description": "the same"}], caller=ada)
            for config in ({"command": "ls"}, {**definition["config"], "env": {"KEY": "other"}}):
                with pytest.raises(Forbidden, match="Only admins may register shell tools"):
                    await board.tools.update("run_it", {"config": config}, ada)
            gone = await board.tools.delete("run_it", ada)
            with pytest.raises(Forbidden, match="Only admins may register shell tools"):
                await board.tools.restore(gone.id, ada)
            assert not (await board.tools.restore(gone.id, board.admin)).is_deleted


class TestResults:
    """The limit of a tool's result size is set by the board, and above that only by an admin."""

    RULES = RegistrationPolicy(False, Libraries(()), 5000)

    def refused(self, most: int | None, before: int | None, role: Role = "member") -> bool:
        tool = replace(make_empty_tool("id", "ada", datetime.now(UTC)), max_result_bytes=most)
        try:
            self.RULES.check_registration(tool, Caller("ada", "ada", role), replace(tool, max_result_bytes=before))
        except Forbidden as error:
            assert "more than 5,000" in error.message
            return True
        return False

    def test_members_stay_below_what_the_board_says(self) -> None:
        assert not self.refused(5000, None)
        assert self.refused(5001, None)
        assert self.refused(5001, 6000)
        assert not self.refused(5001, None, "admin")

    def test_what_an_admin_has_set_stays(self) -> None:
        assert not self.refused(6000, 6000)
        assert not self.refused(None, 6000)

    async def test_it_holds_for_tools_of_every_kind(self, board: Pegboard) -> None:
        definition = {**shell(), "tool_type": "mock", "config": {"mock_response": 1}, "max_result_bytes": 2**20 + 1}
        ada = await member(board)
        with pytest.raises(Forbidden, match="Only admins may set a max_result_bytes of more than 1,048,576"):
            await board.add(definition, caller=ada)
        assert (await board.add(definition)).max_result_bytes == 2**20 + 1


class TestCommands:
    async def test_a_placeholder_that_is_no_parameter_is_a_fault_with_the_way_out(self, board: Pegboard) -> None:
        with pytest.raises(Invalid) as refused:
            await board.add(shell("echo {y} {z}", "x", "y"))
        (fault,) = refused.value.faults
        assert fault.field == "config.command"
        assert "{z} is not among the properties of input_schema (they are x, y)" in fault.message
        assert "{{z}}" in fault.message
        assert "there are none" in faults("echo {x}")["config.command"]

    def test_parameters_of_any_name_can_be_filled_in(self) -> None:
        assert faults("echo '{a b}' {c-d} {{e}} {f}", "a b", "c-d", "f") == {}
        assert "is a placeholder" in faults("'{a b}' x", "a b")["config.command"]

    async def test_what_the_config_alone_shows_is_reported_the_config(self, board: Pegboard) -> None:
        with pytest.raises(Invalid, match="config: command: it has a quote that is not closed"):
            await board.add(shell("echo 'a"))

    @pytest.mark.parametrize("name", ["PATH", "LD_PRELOAD", "IFS", "SYMBOL", "a-b", "http_proxy"])
    def test_a_script_has_no_parameter_that_something_else_would_obey(self, name: str) -> None:
        assert "a small letter among them" in faults("true", name, shell=True)[f"input_schema.properties.{name}"]
        assert faults("true", name) == {}

    def test_a_parameter_does_not_stand_for_a_variable_of_the_tools_own(self) -> None:
        found = faults("true", "key", shell=True, env={"key": "x", "OTHER": "y"})
        assert list(found) == ["config.env.key"]

    async def test_a_script_with_sound_parameters_is_taken(self, board: Pegboard) -> None:
        made = await board.add(shell('echo "$symbol"', "symbol", shell=True, env={"KEY": "hush"}))
        assert "hush" not in str(made)
