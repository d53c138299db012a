"""shell tools: a command with the call's arguments in its argv, or a script with them in its environment, confined."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from pathlib import PurePath
from typing import Any

import orjson

from pegboard.core.call import ReadyCall
from pegboard.core.commands import Command, callers_variables, parameters_of, variables
from pegboard.core.configs import ShellConfig
from pegboard.core.errors import CommandEnd, ExecutionFailed, Misconfigured, ToolError
from pegboard.core.tool import Tool
from pegboard.executors.attempts import attempt_seconds
from pegboard.executors.base import OpenTool, Prepared
from pegboard.executors.exact_json import read_json
from pegboard.executors.fates import end_of_text, failure_of, time_for
from pegboard.executors.masking import Mask
from pegboard.executors.passing import Passing, PieceMask
from pegboard.executors.reading import read_config
from pegboard.sandbox.houses import House
from pegboard.sandbox.inside.json_values import DEEPEST
from pegboard.sandbox.sandbox import Ended, Job, Sandbox

_SHELL = "/bin/sh"
# What the system has comes first; the board's own interpreter is there for machines that have none.
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:" + os.path.join(sys.prefix, "bin")  # noqa: PTH118
_WORK_FOLDER = "."
# How many characters of each stream an error keeps, counted from the end.
_KEPT_END = 4096
_TOO_DEEP = f"is nested more than {DEEPEST} levels deep; return something flatter"


class ShellExecutor:
    """Runs commands in the sandbox; `own` are the folders of the board, which no command may work in."""

    def __init__(self, sandbox: Sandbox, own: Collection[str] = (), *, can_hide: bool = True) -> None:
        self._sandbox = sandbox
        self._own = tuple(os.path.realpath(path) for path in own)
        # Without namespaces, what lies inside of a folder that is shown cannot be hidden.
        self._can_hide = can_hide

    def prepare(self, tool: OpenTool) -> Prepared:
        """The command read and its surroundings named once; raises Misconfigured where it could never run."""
        # The command as it is stored: a secret that is filled in before it is split would be split with it.
        config = read_config(ShellConfig, {**tool.tool.config, "env": tool.config.get("env", {})})
        holds = self._held_in(config.working_dir) if config.working_dir is not None else ()
        # Where programs are looked for is no secret, and is told where one is not found.
        secrets = (*(value for name, value in config.env.items() if name != "PATH"), *tool.secrets)
        return Prepared(_Runner(self._sandbox, tool.tool, config, secrets, holds).run)

    async def close(self) -> None:
        """Nothing is held: the sandbox belongs to the board."""

    def _held_in(self, folder: str) -> tuple[str, ...]:
        """What of the board's own is in that folder, and will be hidden; raises Misconfigured where it cannot be."""
        shown = PurePath(os.path.realpath(folder))
        for own in map(PurePath, self._own):
            if shown.is_relative_to(own):
                raise Misconfigured(
                    f"working_dir '{folder}' lies in '{own}', where the board keeps its database, keys or settings; "
                    "give one of the two a folder of its own"
                )
            if not self._can_hide and own.is_relative_to(shown) and os.path.lexists(own):
                raise Misconfigured(
                    f"working_dir '{folder}' holds '{own}', where the board keeps its database, keys or settings, "
                    "which cannot be hidden without namespaces (PEGBOARD_SANDBOX_WITHOUT); name a folder beside it"
                )
        return tuple(own for own in self._own if PurePath(own).is_relative_to(shown))


class _Runner:
    """One tool's command, ready for any number of calls."""

    __slots__ = (
        "_config",
        "_cwd",
        "_env",
        "_fill",
        "_house",
        "_mask",
        "_pieces",
        "_sandbox",
        "_seconds",
        "_tool",
        "_variables",
    )

    def __init__(
        self, sandbox: Sandbox, tool: Tool, config: ShellConfig, secrets: tuple[str, ...], holds: tuple[str, ...]
    ) -> None:
        self._sandbox = sandbox
        self._tool = tool.name
        self._config = config
        self._mask = Mask(secrets)
        self._pieces = PieceMask(secrets)
        self._seconds = attempt_seconds(tool)
        folder = config.working_dir
        real = None if folder is None else os.path.realpath(folder)
        self._house = House(working_dir=folder, writable=config.writable, real=real, holds=holds)
        self._cwd = config.working_dir or _WORK_FOLDER
        self._env = {"PATH": _PATH, **config.env}
        names = parameters_of(tool.input_schema)
        self._variables = callers_variables(names, config.env) if config.shell else ()
        self._fill = None if config.shell else Command.read(config.command, names).fill

    async def run(self, call: ReadyCall) -> Any:
        """What the command wrote and its exit code, or the JSON that it wrote; no value of its env is in there."""
        arguments = call.arguments
        argv = [_SHELL, "-c", self._config.command] if self._fill is None else self._fill(arguments)
        env = {**self._env, **variables(arguments, self._variables)} if self._variables else self._env
        payload = {
            "kind": "exec",
            "env": env,
            "argv": argv,
            "cwd": self._cwd,
            "stdin": orjson.dumps(arguments).decode(),
        }
        job = Job(self._house, payload, self._seconds, result_bytes=0, network=self._config.network)
        seconds, ends = time_for(call, self._seconds)
        passing = None if call.on_progress is None else Passing(call.on_progress, self._pieces)
        try:
            ended = await self._sandbox.run(job, call.caller.user_id, ends, passing)
            if passing is not None:
                passing.end()
            return self._result(ended, argv[0], seconds)
        except ToolError as error:
            raise self._mask.error(error) from None

    def _result(self, ended: Ended, program: str, seconds: float) -> Any:
        if ended.fate == "exited" and ended.message:
            raise self._not_started(ended, program)
        failure = failure_of(ended, self._tool, seconds)
        if failure is not None:
            # What was cut off where it became too much may end in the middle of a secret.
            raise _saying(failure, b"" if ended.fate == "output" else ended.stderr, self._mask)
        if ended.code not in self._config.success_exit_codes:
            raise self._failed(ended)
        if self._config.parse == "json":
            return self._parsed(ended)
        return {"stdout": self._text(ended.stdout), "stderr": self._text(ended.stderr), "exit_code": ended.code}

    def _text(self, data: bytes) -> str:
        return self._mask.data(data).decode("utf-8", "replace")

    def _failed(self, ended: Ended) -> ToolError:
        """The failure of a command whose exit code is not one of success."""
        end = CommandEnd(ended.code, _cut_start(self._text(ended.stdout)), _cut_start(self._text(ended.stderr)))
        failure = ExecutionFailed(f"The command exited with code {ended.code}")
        failure.command = end
        if ended.stderr.strip():
            return _saying(failure, ended.stderr, self._mask)
        return _saying(failure, ended.stdout, self._mask, "stdout")

    def _parsed(self, ended: Ended) -> Any:
        try:
            value = read_json(ended.stdout)
        except (ValueError, RecursionError) as error:
            if not ended.stdout.strip():
                what = "wrote nothing to stdout"
            elif isinstance(error, RecursionError) or "depth limit" in str(error):
                what = f"its stdout {_TOO_DEEP}"
            else:
                what = f"its stdout is no JSON ({error})"
        else:
            if not _is_deep(value, ended.stdout):
                return self._mask.parsed(value, ended.stdout)
            what = f"its stdout {_TOO_DEEP}"
        failure = ExecutionFailed(f"The command exited with code {ended.code}, but {what}; the tool says parse: json")
        raise _saying(failure, ended.stderr, self._mask)

    def _not_started(self, ended: Ended, program: str) -> Misconfigured:
        folder = self._config.working_dir or "an empty work folder, as the tool has no working_dir"
        where = f"as seen from {folder}" if "/" in program else f"looked for in {self._env['PATH']}"
        return Misconfigured(
            f"Command '{program}' was not run: {ended.message} ({where}). A command sees the system's programs and "
            "libraries, the board's own interpreter and the tool's working_dir, nothing else of this machine"
        )


def _is_deep(value: Any, source: bytes) -> bool:
    """Whether the JSON value that was read from `source` is nested more deeply than what python tools may return."""
    if source.count(b"[") + source.count(b"{") <= DEEPEST:
        return False
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(DEEPEST):
        within = (item for outer in level for item in (outer.values() if isinstance(outer, dict) else outer))
        level = [item for item in within if isinstance(item, dict | list)]
    return bool(level)


def _cut_start(text: str) -> str:
    return text if len(text) <= _KEPT_END else "…" + text[-_KEPT_END:]


def _saying(error: ToolError, written: bytes, mask: Mask, stream: str = "stderr") -> ToolError:
    """The error, with the end of what the command wrote to this stream."""
    if text := end_of_text(written, mask):
        error.message = f"{error.message}; the end of its {stream}: {text}"
        error.args = (error.message,)
    return error
