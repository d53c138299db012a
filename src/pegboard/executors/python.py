"""python tools: a function that runs confined, its arguments going in and its result coming out as JSON."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NoReturn

import orjson

from pegboard.core.call import ReadyCall
from pegboard.core.configs import PythonConfig
from pegboard.core.errors import ExecutionFailed, Misconfigured, ResultTooLarge, TimedOut, ToolError
from pegboard.core.python_code import CodeProblem, PythonCode, read_code
from pegboard.core.tool import Tool
from pegboard.executors.attempts import LARGE_ANSWER, attempt_seconds
from pegboard.executors.base import OpenTool, Output, Prepared
from pegboard.executors.fates import end_of_text, failure_of, time_for, without_half
from pegboard.executors.masking import Mask
from pegboard.executors.passing import Passing, PieceMask
from pegboard.executors.reading import read_config
from pegboard.sandbox.houses import House
from pegboard.sandbox.libraries import Libraries
from pegboard.sandbox.sandbox import Ended, Job, Sandbox

MAX_RESULT_BYTES = 2**20
# What an exception and the line it came from take at most.
_LEAST_RESULT = 64 * 1024
_READERS = 2
_LONGEST_ERROR = 5000
# What code that tries to reach another machine is told where it may not: of a name that is looked up, and of a socket,
# which is told in the same words as much else, so that the exception or its line must be one about connections.
_NO_NAME = ("Name or service not known", "name resolution", "Failed to resolve")
_NOT_PERMITTED = "[Errno 1] Operation not permitted"
_CONNECTING_TYPES = ("URLError", "gaierror", "Connect")
_CONNECTING_WORDS = ("socket", "urlopen", "connect", "http", "requests.")


class PythonExecutor:
    """Runs the code of tools in the sandbox, with those of its libraries that the board allows."""

    def __init__(self, sandbox: Sandbox, libraries: Libraries, *, max_result_bytes: int = MAX_RESULT_BYTES) -> None:
        self._sandbox = sandbox
        self._libraries = libraries
        self._max_result_bytes = max_result_bytes
        # None starts before a large result comes.
        self._readers = ThreadPoolExecutor(_READERS, "pegboard-python")
        self._warming: set[asyncio.Task[None]] = set()

    def prepare(self, tool: OpenTool) -> Prepared:
        """The code checked and its surroundings named once; raises Misconfigured where it cannot run on this board."""
        # The code as it is stored: secrets are for the environment, where they are not part of any message.
        config = read_config(PythonConfig, {**tool.tool.config, "env": tool.config.get("env", {})})
        try:
            code = read_code(config.code, config.entrypoint)
        except CodeProblem as problem:
            raise Misconfigured(f"The code of '{tool.tool.name}' cannot run: {problem}") from None
        house = self._house(config)
        runner = _Runner(
            self._sandbox,
            self._readers,
            tool=tool.tool,
            config=config,
            code=code,
            house=house,
            secrets=(*config.env.values(), *tool.secrets),
            most=tool.tool.max_result_bytes or self._max_result_bytes,
        )
        return Prepared(runner.run, warm=partial(self._warm, house))

    async def close(self) -> None:
        """Let go of the threads; the sandbox belongs to the board."""
        for task in self._warming:
            task.cancel()
        self._readers.shutdown(wait=False, cancel_futures=True)

    def _warm(self, house: House) -> None:
        task = asyncio.create_task(self._sandbox.warm(house))
        self._warming.add(task)
        task.add_done_callback(self._warming.discard)

    def _house(self, config: PythonConfig) -> House:
        for name in config.libraries:
            if (problem := self._libraries.problem(name)) is not None:
                raise Misconfigured(f"config.libraries: {problem}")
        if missing := self._libraries.missing(config.libraries):
            verb = "is" if len(missing) == 1 else "are"
            raise Misconfigured(
                f"{', '.join(missing)} {verb} allowed but not installed here: pip install {' '.join(missing)}"
            )
        modules = self._libraries.modules(config.libraries)
        return House(python=True, modules=modules.beforehand, allowed=modules.allowed)


class _Runner:
    """One tool's code, ready for any number of calls."""

    __slots__ = (
        "_house",
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
        house: House,
        secrets: tuple[str, ...],
        most: int,
    ) -> None:
        self._sandbox = sandbox
        self._readers = readers
        self._tool = tool.name
        # The limit that strikes first.
        attempt = tool.config.get("timeout")
        self._limit = "config.timeout" if attempt and (not tool.timeout or attempt < tool.timeout) else "timeout"
        self._house = house
        self._secrets = secrets
        self._mask = Mask(secrets)
        self._pieces = PieceMask(secrets)
        self._most = most
        self._seconds = attempt_seconds(tool)
        self._network = config.network
        self._payload = {"kind": "python", "env": config.env, "code": config.code, "entry": code.entry}

    async def run(self, call: ReadyCall) -> Output:
        """What the function returned and what it printed; no value of its env is in there, nor in an error."""
        payload = {**self._payload, "arguments": call.arguments}
        # Numbers may be written a little longer there than they are sent on.
        room = max(self._most + self._most // 4, _LEAST_RESULT)
        job = Job(self._house, payload, self._seconds, room, self._network)
        seconds, ends = time_for(call, self._seconds)
        printed = ""
        passing = None if call.on_progress is None else Passing(call.on_progress, self._pieces)
        try:
            ended = await self._sandbox.run(job, call.caller.user_id, ends, passing)
            if passing is not None:
                passing.end()
            printed = self._printed(ended)
            if len(ended.result) > LARGE_ANSWER:
                loop = asyncio.get_running_loop()
                value = await loop.run_in_executor(self._readers, self._value, ended, seconds)
            else:
                value = self._value(ended, seconds)
        except ToolError as error:
            error.printed = printed
            raise self._mask.error(error) from None
        return Output(value, printed)

    def _printed(self, ended: Ended) -> str:
        """What went to stdout, then what went to stderr."""
        stdout, stderr = (
            self._mask.data(data).decode("utf-8", "replace") if data else "" for data in (ended.stdout, ended.stderr)
        )
        if ended.fate != "exited":
            stdout, stderr = without_half(stdout, self._secrets), without_half(stderr, self._secrets)
        between = "\n" if stdout and stderr and not stdout.endswith("\n") else ""
        return f"{stdout}{between}{stderr}"

    def _value(self, ended: Ended, seconds: float) -> Any:
        failure = failure_of(ended, self._tool, seconds)
        if failure is not None:
            raise self._advised(failure, ended)
        if not ended.result:
            said = end_of_text(ended.stderr, self._mask)
            raise ExecutionFailed(
                f"The code of '{self._tool}' ended its process, with exit code {ended.code}, before its function "
                "returned; let it return a result, or raise an exception"
                + (f". The end of its stderr: {said}" if said else "")
            )
        try:
            answer = orjson.loads(ended.result)
            if "ok" in answer:
                return self._mask.parsed(answer["ok"], ended.result)
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
            told = f"The tool returned something that is not JSON: {answer['unfit']}"
            raise ExecutionFailed(told[:_LONGEST_ERROR])
        error = answer["error"]
        where = f" (line {error['line']}" + (f": {error['source']})" if error["source"] else ")")
        said = f"{error['type']}: {error['message']}" if error["message"] else str(error["type"])
        told = (said + (where if error["line"] is not None else ""))[:_LONGEST_ERROR]
        if not self._network and _needs_network(error):
            told += ". This tool has no network; its owner can give it one with config.network: true"
        raise ExecutionFailed(told)

    def _advised(self, failure: ToolError, ended: Ended) -> ToolError:
        """The failure, with what to do about it."""
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
        failure.message += advice
        failure.args = (failure.message,)
        return failure


def _needs_network(error: dict[str, Any]) -> bool:
    kind, message, source = (str(error[part]) for part in ("type", "message", "source"))
    if any(sign in message for sign in _NO_NAME):
        return True
    return _NOT_PERMITTED in message and (
        any(sign in kind for sign in _CONNECTING_TYPES) or any(word in source for word in _CONNECTING_WORDS)
    )
