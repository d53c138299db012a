"""Executor of shell tools: runs a command with arguments in its argv, or a script with them in its environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from pathlib import PurePath
from typing import Any

import orjson

from pegboard.kinds.base import OpenTool, Prepared, read_config
from pegboard.kinds.confined_call import compute_call_time, explain_confined_end, shorten_stderr
from pegboard.kinds.exact_json import read_exact_json
from pegboard.kinds.masked_progress import MaskedProgress, StreamMask
from pegboard.kinds.secret_mask import SecretMask
from pegboard.kinds.shell import KIND
from pegboard.kinds.shell.command_template import (
    CommandTemplate,
    build_variables,
    list_caller_variables,
    list_parameters,
)
from pegboard.kinds.shell.config import ShellConfig
from pegboard.kinds.upstream_limits import get_attempt_seconds
from pegboard.model.call import ReadyCall
from pegboard.model.call_errors import CommandEnd, ExecutionFailed, Misconfigured, ToolError
from pegboard.model.tool import Tool
from pegboard.sandbox.child.result_json import MAX_RESULT_DEPTH
from pegboard.sandbox.environment_spec import EnvironmentSpec
from pegboard.sandbox.sandbox import ConfinedResult, Sandbox, SandboxJob

_SHELL_PROGRAM = "/bin/sh"
# The system's programs first; the board's own interpreter is for machines without one.
_SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:" + os.path.join(sys.prefix, "bin")  # noqa: PTH118
_WORK_FOLDER = "."
# How many characters of each stream an error keeps, from the end.
_MAX_KEPT_CHARS = 4096
_TOO_DEEP_MESSAGE = f"is nested more than {MAX_RESULT_DEPTH} levels deep; return something flatter"


class ShellExecutor:
    """Runs commands in the sandbox; `own` are the board's folders, in which no command may work."""

    def __init__(self, sandbox: Sandbox, own: Collection[str] = (), *, can_hide: bool = True) -> None:
        self._sandbox = sandbox
        self._own = tuple(os.path.realpath(path) for path in own)
        # Without namespaces, parts of a visible folder cannot be hidden.
        self._can_hide = can_hide

    def prepare(self, tool: OpenTool) -> Prepared:
        """Parse the command and build its environment once; raise Misconfigured if it cannot run."""
        # The command as stored: a secret that is filled in before splitting would be split too.
        config = read_config(ShellConfig, {**tool.tool.config, "env": tool.config.get("env", {})})
        holds = self._find_board_paths(config.working_dir) if config.working_dir is not None else ()
        # PATH is not secret, and the error for a missing program contains it.
        secrets = (*(value for name, value in config.env.items() if name != "PATH"), *tool.secrets)
        return Prepared(_ShellToolRunner(self._sandbox, tool.tool, config, secrets, holds).run)

    async def close(self) -> None:
        """Do nothing: the sandbox belongs to the board."""

    def _find_board_paths(self, folder: str) -> tuple[str, ...]:
        """Return the board's paths inside that folder, which will be hidden; raise Misconfigured if they cannot be."""
        shown = PurePath(os.path.realpath(folder))
        for own in map(PurePath, self._own):
            if shown.is_relative_to(own):
                raise Misconfigured(
                    f"working_dir '{folder}' is inside '{own}', where the board keeps its database, keys or settings; "
                    "give one of the two a folder of its own"
                )
            if not self._can_hide and own.is_relative_to(shown) and os.path.lexists(own):
                raise Misconfigured(
                    f"working_dir '{folder}' contains '{own}', where the board keeps its database, keys or settings, "
                    "which cannot be hidden without namespaces (PEGBOARD_SANDBOX_WITHOUT); name a folder beside it"
                )
        return tuple(own for own in self._own if PurePath(own).is_relative_to(shown))


class _ShellToolRunner:
    """The command of one tool, ready for any number of calls."""

    __slots__ = (
        "_caller_variables",
        "_config",
        "_cwd",
        "_env",
        "_environment",
        "_fill_command",
        "_mask",
        "_pieces",
        "_sandbox",
        "_seconds",
        "_tool",
    )

    def __init__(
        self, sandbox: Sandbox, tool: Tool, config: ShellConfig, secrets: tuple[str, ...], holds: tuple[str, ...]
    ) -> None:
        self._sandbox = sandbox
        self._tool = tool.name
        self._config = config
        self._mask = SecretMask(secrets)
        self._pieces = StreamMask(secrets)
        self._seconds = get_attempt_seconds(tool, KIND.default_timeout)
        folder = config.working_dir
        real = None if folder is None else os.path.realpath(folder)
        self._environment = EnvironmentSpec(working_dir=folder, writable=config.writable, real=real, holds=holds)
        self._cwd = config.working_dir or _WORK_FOLDER
        self._env = {"PATH": _SEARCH_PATH, **config.env}
        names = list_parameters(tool.input_schema)
        self._caller_variables = list_caller_variables(names, config.env) if config.shell else ()
        self._fill_command = None if config.shell else CommandTemplate.read(config.command, names).fill

    async def run(self, call: ReadyCall) -> Any:
        """Return the command's output and exit code, or its JSON output; values of its env are masked."""
        arguments = call.arguments
        argv = (
            [_SHELL_PROGRAM, "-c", self._config.command]
            if self._fill_command is None
            else self._fill_command(arguments)
        )
        env = (
            {**self._env, **build_variables(arguments, self._caller_variables)} if self._caller_variables else self._env
        )
        payload = {
            "kind": "exec",
            "env": env,
            "argv": argv,
            "cwd": self._cwd,
            "stdin": orjson.dumps(arguments).decode(),
        }
        job = SandboxJob(self._environment, payload, self._seconds, result_bytes=0, network=self._config.network)
        seconds, ends = compute_call_time(call, self._seconds)
        passing = None if call.on_progress is None else MaskedProgress(call.on_progress, self._pieces)
        try:
            ended = await self._sandbox.run(job, call.caller.user_id, ends, passing)
            if passing is not None:
                passing.end()
            return self._result(ended, argv[0], seconds)
        except ToolError as error:
            raise self._mask.error(error) from None

    def _result(self, ended: ConfinedResult, program: str, seconds: float) -> Any:
        if ended.fate == "exited" and ended.message:
            raise self._make_start_error(ended, program)
        failure = explain_confined_end(ended, self._tool, seconds)
        if failure is not None:
            # Output that was cut at its limit may end in the middle of a secret.
            raise _add_stream_end(failure, b"" if ended.fate == "output" else ended.stderr, self._mask)
        if ended.code not in self._config.success_exit_codes:
            raise self._build_exit_error(ended)
        if self._config.parse == "json":
            return self._parse_json_output(ended)
        return {"stdout": self._text(ended.stdout), "stderr": self._text(ended.stderr), "exit_code": ended.code}

    def _text(self, data: bytes) -> str:
        return self._mask.data(data).decode("utf-8", "replace")

    def _build_exit_error(self, ended: ConfinedResult) -> ToolError:
        """Return the error for an exit code that does not mean success."""
        end = CommandEnd(ended.code, _keep_end(self._text(ended.stdout)), _keep_end(self._text(ended.stderr)))
        failure = ExecutionFailed(f"The command exited with code {ended.code}")
        failure.command = end
        if ended.stderr.strip():
            return _add_stream_end(failure, ended.stderr, self._mask)
        return _add_stream_end(failure, ended.stdout, self._mask, "stdout")

    def _parse_json_output(self, ended: ConfinedResult) -> Any:
        try:
            value = read_exact_json(ended.stdout)
        except (ValueError, RecursionError) as error:
            if not ended.stdout.strip():
                what = "wrote nothing to stdout"
            elif isinstance(error, RecursionError) or "depth limit" in str(error):
                what = f"its stdout {_TOO_DEEP_MESSAGE}"
            else:
                what = f"its stdout is not JSON ({error})"
        else:
            if not _is_too_deep(value, ended.stdout):
                return self._mask.parse_json(value, ended.stdout)
            what = f"its stdout {_TOO_DEEP_MESSAGE}"
        failure = ExecutionFailed(f"The command exited with code {ended.code}, but {what}; the tool has parse: json")
        raise _add_stream_end(failure, ended.stderr, self._mask)

    def _make_start_error(self, ended: ConfinedResult, program: str) -> Misconfigured:
        folder = self._config.working_dir or "an empty work folder, as the tool has no working_dir"
        where = f"as seen from {folder}" if "/" in program else f"looked for in {self._env['PATH']}"
        return Misconfigured(
            f"Command '{program}' was not run: {ended.message} ({where}). A command sees the system's programs and "
            "libraries, the board's own interpreter and the tool's working_dir, nothing else of this machine"
        )


def _is_too_deep(value: Any, source: bytes) -> bool:
    """True if the JSON value, parsed from `source`, is nested more deeply than python tools may return."""
    if source.count(b"[") + source.count(b"{") <= MAX_RESULT_DEPTH:
        return False
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_RESULT_DEPTH):
        within = (item for outer in level for item in (outer.values() if isinstance(outer, dict) else outer))
        level = [item for item in within if isinstance(item, dict | list)]
    return bool(level)


def _keep_end(text: str) -> str:
    return text if len(text) <= _MAX_KEPT_CHARS else "…" + text[-_MAX_KEPT_CHARS:]


def _add_stream_end(error: ToolError, written: bytes, mask: SecretMask, stream: str = "stderr") -> ToolError:
    """Append the end of this stream to the error's message and return the error."""
    text = shorten_stderr(written, mask)
    return error.reword(f"{error.message}; the end of its {stream}: {text}") if text else error
