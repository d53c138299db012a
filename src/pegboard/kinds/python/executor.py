"""Executor of python tools: runs a function in the sandbox, with arguments and result as JSON."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NoReturn

import orjson

from pegboard.kinds.base import OpenTool, Output, Prepared, read_config
from pegboard.kinds.confined_call import compute_call_time, explain_confined_end, mask_partial_secret, shorten_stderr
from pegboard.kinds.libraries import Libraries
from pegboard.kinds.masked_progress import MaskedProgress, StreamMask
from pegboard.kinds.python import KIND
from pegboard.kinds.python.config import PythonConfig
from pegboard.kinds.python.function_source import CodeProblem, PythonCode, read_code
from pegboard.kinds.secret_mask import SecretMask
from pegboard.kinds.upstream_limits import LARGE_ANSWER_BYTES, get_attempt_seconds
from pegboard.model.call import ReadyCall
from pegboard.model.call_errors import ExecutionFailed, Misconfigured, ResultTooLarge, TimedOut, ToolError
from pegboard.model.tool import Tool
from pegboard.sandbox.environment_spec import EnvironmentSpec
from pegboard.sandbox.sandbox import ConfinedResult, Sandbox, SandboxJob

MAX_RESULT_BYTES = 2**20
# Maximum size of an exception and its source line.
_MIN_RESULT_BYTES = 64 * 1024
_READER_THREADS = 2
_MAX_ERROR_CHARS = 5000
# Error messages of code without network access: of name lookups, and of sockets. The latter message has many other
# causes, so the exception or its source line must also be about connections.
_DNS_FAILURES = ("Name or service not known", "name resolution", "Failed to resolve")
_NOT_PERMITTED_MESSAGE = "[Errno 1] Operation not permitted"
_NETWORK_ERROR_TYPES = ("URLError", "gaierror", "Connect")
_NETWORK_WORDS = ("socket", "urlopen", "connect", "http", "requests.")


class PythonExecutor:
    """Runs the code of tools in the sandbox, with the libraries that the board allows."""

    def __init__(self, sandbox: Sandbox, libraries: Libraries, *, max_result_bytes: int = MAX_RESULT_BYTES) -> None:
        self._sandbox = sandbox
        self._libraries = libraries
        self._max_result_bytes = max_result_bytes
        # No thread starts before the first large result.
        self._readers = ThreadPoolExecutor(_READER_THREADS, "pegboard-python")
        self._warm_up_tasks: set[asyncio.Task[None]] = set()

    def prepare(self, tool: OpenTool) -> Prepared:
        """Check the code and build its environment once; raise Misconfigured if it cannot run on this board."""
        # The code as stored: secrets belong in the environment, where no message contains them.
        config = read_config(PythonConfig, {**tool.tool.config, "env": tool.config.get("env", {})})
        try:
            code = read_code(config.code, config.entrypoint)
        except CodeProblem as problem:
            raise Misconfigured(f"The code of '{tool.tool.name}' cannot run: {problem}") from None
        environment = self._environment(config)
        runner = _PythonToolRunner(
            self._sandbox,
            self._readers,
            tool=tool.tool,
            config=config,
            code=code,
            environment=environment,
            secrets=(*config.env.values(), *tool.secrets),
            most=tool.tool.max_result_bytes or self._max_result_bytes,
        )
        return Prepared(runner.run, warm=partial(self._start_warm_up, environment))

    async def close(self) -> None:
        """Cancel warm-ups and shut down the threads; the sandbox belongs to the board."""
        for task in self._warm_up_tasks:
            task.cancel()
        self._readers.shutdown(wait=False, cancel_futures=True)

    def _start_warm_up(self, environment: EnvironmentSpec) -> None:
        task = asyncio.create_task(self._sandbox.warm(environment))
        self._warm_up_tasks.add(task)
        task.add_done_callback(self._warm_up_tasks.discard)

    def _environment(self, config: PythonConfig) -> EnvironmentSpec:
        for name in config.libraries:
            if (problem := self._libraries.problem(name)) is not None:
                raise Misconfigured(f"config.libraries: {problem}")
        if missing := self._libraries.missing(config.libraries):
            verb = "is" if len(missing) == 1 else "are"
            raise Misconfigured(
                f"{', '.join(missing)} {verb} allowed but not installed here: pip install {' '.join(missing)}"
            )
        modules = self._libraries.modules(config.libraries)
        return EnvironmentSpec(python=True, modules=modules.preloaded, allowed=modules.allowed)


class _PythonToolRunner:
    """The code of one tool, ready for any number of calls."""

    __slots__ = (
        "_environment",
        "_limit",
        "_mask",
        "_most",
        "_network",
        "_payload",
        "_pieces",
        "_readers",
        "_sandbox",
        "_seconds",
        "_secrets",
        "_tool",
    )

    def __init__(
        self,
        sandbox: Sandbox,
        readers: ThreadPoolExecutor,
        *,
        tool: Tool,
        config: PythonConfig,
        code: PythonCode,
        environment: EnvironmentSpec,
        secrets: tuple[str, ...],
        most: int,
    ) -> None:
        self._sandbox = sandbox
        self._readers = readers
        self._tool = tool.name
        # The name of the limit that applies first.
        attempt = tool.config.get("timeout")
        self._limit = "config.timeout" if attempt and (not tool.timeout or attempt < tool.timeout) else "timeout"
        self._environment = environment
        self._secrets = secrets
        self._mask = SecretMask(secrets)
        self._pieces = StreamMask(secrets)
        self._most = most
        self._seconds = get_attempt_seconds(tool, KIND.default_timeout)
        self._network = config.network
        self._payload = {"kind": "python", "env": config.env, "code": config.code, "entry": code.entry}

    async def run(self, call: ReadyCall) -> Output:
        """Return the function's result and its printed output; values of its env are masked in both and in errors."""
        payload = {**self._payload, "arguments": call.arguments}
        # The confined process may write numbers slightly longer than they are passed on.
        room = max(self._most + self._most // 4, _MIN_RESULT_BYTES)
        job = SandboxJob(self._environment, payload, self._seconds, room, self._network)
        seconds, ends = compute_call_time(call, self._seconds)
        printed = ""
        passing = None if call.on_progress is None else MaskedProgress(call.on_progress, self._pieces)
        try:
            ended = await self._sandbox.run(job, call.caller.user_id, ends, passing)
            if passing is not None:
                passing.end()
            printed = self._join_output(ended)
            if len(ended.result) > LARGE_ANSWER_BYTES:
                loop = asyncio.get_running_loop()
                value = await loop.run_in_executor(self._readers, self._value, ended, seconds)
            else:
                value = self._value(ended, seconds)
        except ToolError as error:
            error.printed = printed
            raise self._mask.error(error) from None
        return Output(value, printed)

    def _join_output(self, ended: ConfinedResult) -> str:
        """Return stdout followed by stderr."""
        stdout, stderr = (
            self._mask.data(data).decode("utf-8", "replace") if data else "" for data in (ended.stdout, ended.stderr)
        )
        if ended.fate != "exited":
            stdout, stderr = mask_partial_secret(stdout, self._secrets), mask_partial_secret(stderr, self._secrets)
        between = "\n" if stdout and stderr and not stdout.endswith("\n") else ""
        return f"{stdout}{between}{stderr}"

    def _value(self, ended: ConfinedResult, seconds: float) -> Any:
        failure = explain_confined_end(ended, self._tool, seconds)
        if failure is not None:
            raise self._add_advice(failure, ended)
        if not ended.result:
            output = shorten_stderr(ended.stderr, self._mask)
            raise ExecutionFailed(
                f"The code of '{self._tool}' ended its process, with exit code {ended.code}, before its function "
                "returned; let it return a result, or raise an exception"
                + (f". The end of its stderr: {output}" if output else "")
            )
        try:
            answer = orjson.loads(ended.result)
            if "ok" in answer:
                return self._mask.parse_json(answer["ok"], ended.result)
            self._refuse(answer)
        except (ValueError, LookupError, TypeError):
            raise ExecutionFailed(
                f"The code of '{self._tool}' wrote to a file descriptor that is not its own, so that its result cannot "
                "be read; leave descriptors alone that the code has not opened"
            ) from None

    def _refuse(self, answer: dict[str, Any]) -> NoReturn:
        if "large" in answer:
            raise ResultTooLarge(
                f"The tool returned more than the {self._most:,} bytes of JSON that are allowed; ask for less at once"
            )
        if "unfit" in answer:
            message = f"The tool returned something that is not JSON: {answer['unfit']}"
            raise ExecutionFailed(message[:_MAX_ERROR_CHARS])
        error = answer["error"]
        where = f" (line {error['line']}" + (f": {error['source']})" if error["source"] else ")")
        message = f"{error['type']}: {error['message']}" if error["message"] else str(error["type"])
        message = (message + (where if error["line"] is not None else ""))[:_MAX_ERROR_CHARS]
        if not self._network and _needs_network(error):
            message += ". This tool has no network; its owner can give it one with config.network: true"
        raise ExecutionFailed(message)

    def _add_advice(self, failure: ToolError, ended: ConfinedResult) -> ToolError:
        """Return the error with advice."""
        if isinstance(failure, TimedOut):
            advice = f"; ask for less at once, or raise the tool's {self._limit}"
        elif ended.fate == "output" and len(ended.result) >= self._most:
            return ResultTooLarge(failure.message)
        elif ended.fate == "output":
            advice = "; return what is wanted, and print less"
        elif ended.fate in ("memory", "cpu"):
            advice = "; ask for less at once"
        else:
            advice = ". A library crashed, or the code sent itself a signal"
        return failure.reword(failure.message + advice)


def _needs_network(error: dict[str, Any]) -> bool:
    kind, message, source = (str(error[part]) for part in ("type", "message", "source"))
    if any(sign in message for sign in _DNS_FAILURES):
        return True
    return _NOT_PERMITTED_MESSAGE in message and (
        any(sign in kind for sign in _NETWORK_ERROR_TYPES) or any(word in source for word in _NETWORK_WORDS)
    )
