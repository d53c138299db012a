"""shell tools in a real sandbox: the input of commands, and the results."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pegboard.http_client.address_policy import AllowList
from pegboard.http_client.guarded_client import GuardedClient
from pegboard.kinds.base import OpenTool
from pegboard.kinds.shell.executor import ShellExecutor
from pegboard.model.call import Caller, ReadyCall
from pegboard.model.call_errors import CommandEnd, ExecutionFailed, InvalidArguments, Misconfigured, TimedOut, ToolError
from pegboard.model.tool import Kind, Tool
from pegboard.sandbox.limits import SandboxLimits
from pegboard.sandbox.sandbox import Sandbox

NOW = datetime(2026, 1, 2, tzinfo=UTC)
HOSTILE = ["; rm -rf /", "$(id)", "`id`", "a b", "a\nb", "'", '"', "\\", "*", "{x}", "| cat", "&", "", "\u20ac"]


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    """A sandbox with small limits."""
    outbound = GuardedClient(AllowList.read(""), connect_seconds=10)
    limits = SandboxLimits(memory=128 * 2**20, processes=16, disk=2**20, output=2**16)
    made = Sandbox(limits, children=2, zygotes=2, without=(), masked=(), outbound=outbound)
    yield made
    await made.close()
    await outbound.close()


@pytest.fixture
def shell(sandbox: Sandbox) -> ShellExecutor:
    """An executor of shell tools on this sandbox."""
    return ShellExecutor(sandbox)


def opened(command: str, *names: str, **config: Any) -> OpenTool:
    config = {"command": command, **config}
    schema = {"type": "object", "properties": {name: {} for name in names}}
    return OpenTool(Tool("id", "owner", "tool", Kind.SHELL, config, schema, NOW, NOW), config)


async def run(
    shell: ShellExecutor, tool: OpenTool, arguments: dict[str, Any] | None = None, seconds: float = 30
) -> Any:
    call = ReadyCall("run", tool.tool, Caller("ada", "Ada"), arguments or {}, "", time.monotonic() + seconds)
    return await shell.prepare(tool).run(call)


async def refused(
    shell: ShellExecutor, tool: OpenTool, arguments: dict[str, Any] | None = None, seconds: float = 30
) -> ToolError:
    with pytest.raises(ToolError) as error:
        await run(shell, tool, arguments, seconds)
    return error.value


def open_to_tools(folder: Path) -> None:
    """Make a folder accessible to tools, which run as another user if the tests run as root."""
    folder.chmod(0o777)


class TestResults:
    async def test_what_was_written_and_how_it_exited(self, shell: ShellExecutor) -> None:
        script = "printf 'out\\377'; printf 'err\\376' >&2; exit 3"
        assert await run(shell, opened(script, shell=True, success_exit_codes=[0, 3])) == {
            "stdout": "out\ufffd",
            "stderr": "err\ufffd",
            "exit_code": 3,
        }

    @pytest.mark.parametrize("codes", [{}, {"success_exit_codes": [0, 1]}, {"success_exit_codes": [255]}])
    async def test_any_other_exit_code_is_a_failure(self, shell: ShellExecutor, codes: dict[str, Any]) -> None:
        error = await refused(shell, opened("echo half; echo why >&2; exit 3", shell=True, **codes))
        assert isinstance(error, ExecutionFailed)
        assert error.message == "The command exited with code 3; the end of its stderr: why"
        assert error.problem.command == CommandEnd(3, "half\n", "why\n")

    async def test_exit_code_0_can_be_a_failure(self, shell: ShellExecutor) -> None:
        error = await refused(shell, opened("echo none", success_exit_codes=[1]))
        assert error.message == "The command exited with code 0; the end of its stdout: none"

    async def test_a_failure_keeps_the_ends_of_both_streams_without_secrets(self, shell: ShellExecutor) -> None:
        script = "yes | head -c 20000; yes n | head -c 20000 >&2; echo $TOKEN; echo $TOKEN >&2; exit 9"
        tool = opened(script, shell=True, env={"TOKEN": "a-long-token"})
        error = await refused(shell, tool)
        assert error.command is not None
        assert error.command.exit_code == 9
        for text in (error.command.stdout, error.command.stderr):
            assert len(text) <= 4097
            assert text.endswith("********\n")
        assert "a-long-token" not in error.message

    async def test_json_is_parsed_with_every_digit(self, shell: ShellExecutor) -> None:
        tool = opened("cat", "a", parse="json")
        assert await run(shell, tool, {"a": [1.5, None, {"b": "\u20ac"}]}) == {"a": [1.5, None, {"b": "\u20ac"}]}
        large = opened("printf '[%s, %s, 1]' {a} {b}", "a", "b", parse="json")
        found = await run(shell, large, {"a": str(2**64 - 1), "b": "9" * 5000})
        assert found == [2**64 - 1, "9" * 5000, 1]

    async def test_json_as_deep_as_a_python_tool_may_return_passes(self, shell: ShellExecutor) -> None:
        text = '{"a":' * 32 + "[" * 32 + "]" * 32 + "}" * 32
        tool = opened(f"printf '%s' '{text}'", shell=True, parse="json")
        assert json.dumps(await run(shell, tool), separators=(",", ":")) == text

    @pytest.mark.parametrize(
        ("script", "says"),
        [
            ("echo '{\"a\"'; echo why >&2", ["exited with code 0", "not JSON", "the end of its stderr: why"]),
            ("true", ["exited with code 0", "wrote nothing to stdout"]),
            ("echo '[1]'; echo why >&2; exit 4", ["exited with code 4", "the end of its stderr: why"]),
            ("echo NaN", ["not JSON"]),
            (f"printf '{'[' * 65}{']' * 65}'", ["is nested more than 64 levels deep; return something flatter"]),
            (f"printf '{'[' * 5000}{']' * 5000}'", ["is nested more than 64 levels deep; return something flatter"]),
        ],
    )
    async def test_output_other_than_json_is_a_failure_if_json_is_declared(
        self, shell: ShellExecutor, script: str, says: list[str]
    ) -> None:
        error = await refused(shell, opened(script, shell=True, parse="json"))
        assert isinstance(error, ExecutionFailed)
        assert all(each in error.message for each in says)

    async def test_of_a_long_complaint_the_end_is_shown(self, shell: ShellExecutor) -> None:
        script = "i=0; while [ $i -lt 500 ]; do echo line $i >&2; i=$((i+1)); done; exit 1"
        error = await refused(shell, opened(script, shell=True, parse="json"))
        assert error.message.endswith("line 498 line 499")
        assert len(error.message) < 800


class TestArguments:
    async def test_whatever_they_are_a_command_gets_them_whole(self, shell: ShellExecutor) -> None:
        tool = opened("printf '%s\\0' {x} --y={y} end", "x", "y")
        result = await run(shell, tool, {"x": HOSTILE, "y": "-a; b"})
        assert result["stdout"].split("\0") == [*HOSTILE, "--y=-a; b", "end", ""]

    async def test_all_of_them_are_json_on_standard_input(self, shell: ShellExecutor) -> None:
        arguments = {"x": HOSTILE, "n": 2**64 - 1, "deep": {"a": [None, True]}}
        result = await run(shell, opened("cat"), arguments)
        assert json.loads(result["stdout"]) == arguments

    async def test_a_command_need_not_read_them(self, shell: ShellExecutor) -> None:
        result = await run(shell, opened("true", "x"), {"x": "a" * 500_000})
        assert result["exit_code"] == 0

    async def test_a_script_has_them_as_variables_that_are_never_run(self, shell: ShellExecutor) -> None:
        script = 'printf "%s\\0" "$x" "$y" "${z-unset}" "${other-unset}" "$PATH"'
        tool = opened(script, "x", "y", "z", "PATH", shell=True, env={"PATH": "/usr/bin:/bin"})
        for text in HOSTILE:
            result = await run(shell, tool, {"x": text, "y": [text], "z": None, "other": "1", "PATH": "/evil"})
            found = result["stdout"].split("\0")
            assert found == [text, json.dumps([text], ensure_ascii=False), "unset", "unset", "/usr/bin:/bin", ""]

    @pytest.mark.parametrize("value", ["-rf", "a\0b", "a" * 200_000])
    async def test_what_cannot_stand_in_a_command_is_refused_before_it_runs(
        self, shell: ShellExecutor, value: str
    ) -> None:
        error = await refused(shell, opened("echo {x}", "x"), {"x": value})
        assert isinstance(error, InvalidArguments)
        assert error.problem.did_run is False


class TestFailures:
    async def test_a_command_that_is_not_there_is_named_with_where_it_was_searched_for(
        self, shell: ShellExecutor, tmp_path: Path
    ) -> None:
        error = await refused(shell, opened("no-such-program {x}", "x", env={"PATH": "/usr/bin:/opt/none"}))
        assert isinstance(error, Misconfigured)
        assert "'no-such-program'" in error.message
        assert "looked for in /usr/bin:/opt/none" in error.message
        open_to_tools(tmp_path)
        failure = await refused(shell, opened("./no-such-program", working_dir=str(tmp_path)))
        assert f"as seen from {tmp_path}" in failure.message

    async def test_one_that_cannot_be_started_is_reported_with_the_reason(
        self, shell: ShellExecutor, tmp_path: Path
    ) -> None:
        open_to_tools(tmp_path)
        (tmp_path / "plain").write_text("text")
        error = await refused(shell, opened("./plain", working_dir=str(tmp_path)))
        assert isinstance(error, Misconfigured)
        assert "Permission denied" in error.message

    async def test_one_that_takes_too_long_is_ended_in_time(self, shell: ShellExecutor) -> None:
        await run(shell, opened("true"))  # the start of the zygote is not measured
        tool = opened("echo waiting >&2; sleep 3600", shell=True, timeout=2)
        error = await refused(shell, tool)
        assert isinstance(error, TimedOut)
        assert error.message == "Tool 'tool' did not finish within 2 s; the end of its stderr: waiting"

    async def test_too_much_output_and_signals_are_reported(self, shell: ShellExecutor) -> None:
        error = await refused(shell, opened("yes"))
        assert isinstance(error, ExecutionFailed)
        assert error.message.startswith("Tool 'tool' was ended: stdout ")
        assert error.message.endswith("65536 bytes")
        killed = await refused(shell, opened("kill -SEGV $$", shell=True))
        assert killed.message == "Tool 'tool' was ended by SIGSEGV"

    async def test_too_much_memory_is_reported(self, shell: ShellExecutor) -> None:
        # Each of them alone is below the limit.
        script = "for i in 1 2 3; do (head -c 90000000 /dev/zero; sleep 30) | tail -c 90000000 & done; wait"
        error = await refused(shell, opened(script, shell=True))
        assert isinstance(error, ExecutionFailed)
        assert error.message.startswith("Tool 'tool' was ended: ")
        assert "134217728 bytes of memory" in error.message


class TestSecrets:
    ENV = {"KEY": "hush-hush/1", "BOTH": "more-hush"}

    async def test_values_of_env_reach_the_command_and_no_other_user(self, shell: ShellExecutor) -> None:
        script = 'test "$KEY" = "hush-hush/1" && echo same $KEY; echo "$BOTH" >&2'
        result = await run(shell, opened(script, shell=True, env=self.ENV))
        assert result == {"stdout": "same ********\n", "stderr": "********\n", "exit_code": 0}

    async def test_they_are_masked_in_json_and_in_errors(self, shell: ShellExecutor) -> None:
        tool = opened('echo "[\\"$KEY\\", \\"hush\\"]"', shell=True, env=self.ENV, parse="json")
        assert await run(shell, tool) == ["********", "hush"]
        error = await refused(shell, opened('echo "$KEY" >&2; exit 1', shell=True, env=self.ENV, parse="json"))
        assert error.message == "The command exited with code 1; the end of its stderr: ********"

    async def test_the_boards_own_environment_is_not_there(
        self, shell: ShellExecutor, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PEGBOARD_SECRET_KEY", "hush-of-the-board")
        result = await run(shell, opened("env", env={"MINE": "1"}))
        names = {line.partition("=")[0] for line in result["stdout"].splitlines()}
        assert "MINE" in names
        python = {"PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}
        assert names <= {"MINE", "PATH", "HOME", "TMPDIR", "LANG", "PEGBOARD_PROGRESS_FD"} | python

    async def test_a_secret_is_never_split_with_the_command(self, shell: ShellExecutor) -> None:
        stored = opened("echo {{secret:NAME}}")
        filled = OpenTool(stored.tool, {"command": "echo a; reboot"}, secrets=frozenset({"a; reboot"}))
        with pytest.raises(Misconfigured, match="only within env"):
            shell.prepare(filled)


class TestFolders:
    async def test_without_a_folder_each_call_has_an_empty_one(self, shell: ShellExecutor) -> None:
        tool = opened("ls -A; pwd; echo mine > file; cat file", shell=True)
        first = await run(shell, tool)
        assert first["stdout"].endswith("mine\n")
        assert await run(shell, tool) == first

    async def test_a_folder_is_shown_unchanged_and_written_only_if_the_tool_says_so(
        self, shell: ShellExecutor, tmp_path: Path
    ) -> None:
        open_to_tools(tmp_path)
        (tmp_path / "data.csv").write_text("1,2")
        result = await run(shell, opened("cat data.csv", working_dir=str(tmp_path)))
        assert result["stdout"] == "1,2"
        script = "echo new > made; echo $?"
        await run(shell, opened(script, shell=True, working_dir=str(tmp_path)))
        assert not (tmp_path / "made").exists()
        await run(shell, opened(script, shell=True, working_dir=str(tmp_path), writable=True))
        assert (tmp_path / "made").read_text() == "new\n"

    async def test_it_may_be_the_machines_own_temporary_folder(self, shell: ShellExecutor) -> None:
        with tempfile.NamedTemporaryFile("w", dir="/tmp", suffix=".csv") as file:
            file.write("1,2")
            file.flush()
            os.fchmod(file.fileno(), 0o644)
            script = f"cat {Path(file.name).name}; echo mine > $TMPDIR/mine; cat $TMPDIR/mine; pwd"
            result = await run(shell, opened(script, shell=True, working_dir="/tmp"))
        assert result == {"stdout": "1,2mine\n/tmp\n", "stderr": "", "exit_code": 0}

    @pytest.mark.parametrize("place", ["home", "home/inner", "link", "link/inner"])
    async def test_a_folder_within_the_boards_own_is_refused(
        self, sandbox: Sandbox, tmp_path: Path, place: str
    ) -> None:
        (tmp_path / "home" / "inner").mkdir(parents=True)
        (tmp_path / "link").symlink_to(tmp_path / "home")
        shell = ShellExecutor(sandbox, [str(tmp_path / "home")])
        with pytest.raises(Misconfigured, match="where the board keeps its database"):
            shell.prepare(opened("ls", working_dir=str(tmp_path / place)))

    async def test_a_folder_around_it_only_if_it_can_be_hidden(self, sandbox: Sandbox, tmp_path: Path) -> None:
        (tmp_path / "home").mkdir()
        own = [str(tmp_path / "home"), str(tmp_path / "not-there")]
        tool = opened("ls", working_dir=str(tmp_path))
        ShellExecutor(sandbox, own).prepare(tool)
        with pytest.raises(Misconfigured, match="cannot be hidden without namespaces"):
            ShellExecutor(sandbox, own, can_hide=False).prepare(tool)
        ShellExecutor(sandbox, own[1:], can_hide=False).prepare(tool)

    async def test_one_that_is_gone_is_reported_when_it_is_needed(self, shell: ShellExecutor, tmp_path: Path) -> None:
        error = await refused(shell, opened("ls", working_dir=str(tmp_path / "gone")))
        assert isinstance(error, Misconfigured)
        assert f"'{tmp_path}/gone'" in error.message


class TestNetwork:
    async def test_there_is_none_but_through_the_guard(self, shell: ShellExecutor) -> None:
        script = 'test -z "$http_proxy" && echo none'
        assert (await run(shell, opened(script, shell=True)))["stdout"] == "none\n"
        proxied = await run(shell, opened('echo "$http_proxy" "$HTTPS_PROXY"', shell=True, network=True))
        assert proxied["stdout"].count("http://127.0.0.1:") == 2
