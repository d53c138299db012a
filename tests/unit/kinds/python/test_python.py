"""python tools: the jobs for the sandbox, and the results of each way a job can end."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from dirty_equals import IsPartialDict

from pegboard.kinds.base import OpenTool, Output
from pegboard.kinds.libraries import Libraries
from pegboard.kinds.python.executor import PythonExecutor
from pegboard.model.call import Caller, OnProgress, ReadyCall
from pegboard.model.call_errors import ExecutionFailed, Misconfigured, ResultTooLarge, TimedOut, ToolError, Unavailable
from pegboard.model.tool import Kind, Tool
from pegboard.sandbox.sandbox import ConfinedResult, EnvironmentSpec, Sandbox, SandboxJob

NOW = datetime(2026, 1, 2, tzinfo=UTC)
CODE = "def f(a=1): return a"
SECRET = "correct horse battery"


class Script:
    """Replaces the sandbox: every job ends as configured."""

    def __init__(self, *ends: ConfinedResult | Exception) -> None:
        self.ends = list(ends)
        self.jobs: list[tuple[SandboxJob, str, float]] = []

    async def run(
        self, job: SandboxJob, user_id: str, deadline: float, on_progress: OnProgress | None = None
    ) -> ConfinedResult:
        self.jobs.append((job, user_id, deadline))
        ended = self.ends.pop(0)
        if isinstance(ended, Exception):
            raise ended
        return ended


@pytest.fixture
async def executors() -> AsyncIterator[list[PythonExecutor]]:
    """The executors that a test makes, which are closed after it."""
    made: list[PythonExecutor] = []
    yield made
    for executor in made:
        await executor.close()


class Bench:
    """One tool on a scripted sandbox."""

    def __init__(self, made: list[PythonExecutor], *ends: ConfinedResult | Exception, **fields: Any) -> None:
        self.script = Script(*ends)
        self.executor = PythonExecutor(cast("Sandbox", self.script), Libraries(["numpy", "pandas", "nowhere"]))
        made.append(self.executor)
        self.tool = opened(**fields)

    async def run(self, arguments: dict[str, Any] | None = None, seconds: float = 30) -> Output:
        call = ReadyCall("run", self.tool.tool, Caller("ada", "Ada"), arguments or {}, "", time.monotonic() + seconds)
        return cast("Output", await self.executor.prepare(self.tool).run(call))

    async def error(self) -> ToolError:
        with pytest.raises(ToolError) as raised:
            await self.run()
        return raised.value


def opened(max_result_bytes: int | None = None, timeout: float | None = None, **config: Any) -> OpenTool:
    config = {"code": CODE, **config}
    schema = {"type": "object"}
    tool = Tool("id", "owner", "tool", Kind.PYTHON, config, schema, NOW, NOW, timeout=timeout)
    if max_result_bytes is not None:
        tool = Tool("id", "owner", "tool", Kind.PYTHON, config, schema, NOW, NOW, max_result_bytes=max_result_bytes)
    return OpenTool(tool, config, None, frozenset({"a named secret"}))


def ended(
    answer: Any = None, fate: str = "exited", code: int = 0, message: str = "", **streams: bytes
) -> ConfinedResult:
    result = b"" if answer is None else answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    return ConfinedResult(fate, code, message, result, streams.get("stdout", b""), streams.get("stderr", b""))


def failed(message: str = "oh", line: int | None = 3, source: str | None = "x = y") -> dict[str, Any]:
    return {"error": {"type": "ValueError", "message": message, "line": line, "source": source}}


class TestJobs:
    async def test_the_code_its_libraries_and_the_arguments_go_in(
        self, executors: list[PythonExecutor], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(time, "monotonic", lambda: 1000.0)
        config = {"libraries": ["pandas", "Numpy"], "env": {"KEY": SECRET}, "network": True, "timeout": 5}
        bench = Bench(executors, ended({"ok": 1}), **config)
        assert await bench.run({"a": [1]}) == Output(1)
        ((job, user, deadline),) = bench.script.jobs
        assert job.payload == {
            "kind": "python",
            "env": {"KEY": SECRET},
            "code": CODE,
            "entry": "f",
            "arguments": {"a": [1]},
        }
        assert job.environment.modules == ("numpy", "pandas")
        assert {"numpy", "pandas", "dateutil"} <= set(job.environment.allowed)
        assert (job.network, user) == (True, "ada")
        # It is ended before the pipeline's timeout, so that its printed output is stored.
        assert 1004.5 < deadline < 1004.99

    async def test_a_call_has_no_more_time_than_is_left(
        self, executors: list[PythonExecutor], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(time, "monotonic", lambda: 1000.0)
        bench = Bench(executors, ended({"ok": 1}))
        await bench.run(seconds=1)
        ((job, _, deadline),) = bench.script.jobs
        assert deadline < 1001
        assert job.environment == EnvironmentSpec(python=True)

    async def test_the_margin_is_a_part_of_the_time_that_is_left(
        self, executors: list[PythonExecutor], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(time, "monotonic", lambda: 1000.0)
        bench = Bench(executors, ended({"ok": 1}), timeout=30)
        await bench.run(seconds=0.2)
        assert bench.script.jobs[0][2] > 1000.15

    async def test_there_is_room_for_the_result_and_for_an_error(self, executors: list[PythonExecutor]) -> None:
        for most, room in ((1, 64 * 1024), (2**20, 2**20 + 2**18)):
            bench = Bench(executors, ended({"ok": 1}), max_result_bytes=most)
            await bench.run()
            assert bench.script.jobs[0][0].result_bytes == room

    @pytest.mark.parametrize(
        ("config", "words"),
        [
            ({"libraries": ["nowhere"]}, "nowhere is allowed but not installed here: pip install nowhere"),
            ({"libraries": ["scipy"]}, "'scipy' is not allowed on this board"),
            ({"code": "def f(:"}, "cannot run: line 1: invalid syntax"),
            ({"entrypoint": "g"}, "no function 'g'"),
            ({"env": {"A": 1}}, "config.env.A"),
        ],
    )
    async def test_what_cannot_run_here_says_why_and_did_not(
        self, executors: list[PythonExecutor], config: dict[str, Any], words: str
    ) -> None:
        error = await Bench(executors, **config).error()
        assert isinstance(error, Misconfigured)
        assert not error.did_run
        assert words in error.message


class TestEnds:
    async def test_prints_come_beside_the_result(self, executors: list[PythonExecutor]) -> None:
        bench = Bench(executors, ended({"ok": {"b": [None]}}, stdout=b"out \xc3\xa9\xff", stderr=b"err\n"))
        assert await bench.run() == Output({"b": [None]}, "out é\ufffd\nerr\n")

    async def test_a_large_result_comes_through_as_well(self, executors: list[PythonExecutor]) -> None:
        bench = Bench(executors, ended({"ok": ["x" * 1000] * 500}))
        assert (await bench.run()).value == ["x" * 1000] * 500

    @pytest.mark.parametrize(
        ("answer", "kind", "message"),
        [
            (failed(), ExecutionFailed, "ValueError: oh (line 3: x = y)"),
            (failed(message=""), ExecutionFailed, "ValueError (line 3: x = y)"),
            (failed(source=None), ExecutionFailed, "ValueError: oh (line 3)"),
            (failed(line=None), ExecutionFailed, "ValueError: oh"),
            ({"unfit": "$.a is NaN"}, ExecutionFailed, "The tool returned something that is not JSON: $.a is NaN"),
            (
                {"large": 5},
                ResultTooLarge,
                "The tool returned more than the 1,048,576 bytes of JSON that are allowed; ask for less at once",
            ),
        ],
    )
    async def test_what_the_code_says_of_itself_reaches_the_caller(
        self, executors: list[PythonExecutor], answer: Any, kind: type[ToolError], message: str
    ) -> None:
        error = await Bench(executors, ended(answer, stdout=b"before")).error()
        assert type(error) is kind
        assert (error.message, str(error), error.printed) == (message, message, "before")
        assert error.did_run

    @pytest.mark.parametrize("result", [b"{", b"[]", b"7", b"{}", b'{"error":1}', b'{"error":{}}', b'"ok"', b"\xff"])
    async def test_a_result_that_the_code_has_damaged_is_reported(
        self, executors: list[PythonExecutor], result: bytes
    ) -> None:
        error = await Bench(executors, ended(result)).error()
        assert type(error) is ExecutionFailed
        assert "file descriptor" in error.message

    @pytest.mark.parametrize(
        ("end", "kind", "words"),
        [
            (ended(fate="time"), TimedOut, "within 10 s; ask for less at once, or raise the tool's timeout"),
            (ended(fate="memory", message="more than 5 bytes of memory"), ExecutionFailed, "ask for less at once"),
            (ended(fate="cpu", message="more than 11 seconds"), ExecutionFailed, "ask for less at once"),
            (ended(fate="output", message="stdout of more than 5 bytes"), ExecutionFailed, "print less"),
            (ended(b"x" * 2**20, fate="output", message="the result of more"), ResultTooLarge, "the result of more"),
            (ended(fate="signalled", code=11), ExecutionFailed, "SIGSEGV"),
            (ended(code=3), ExecutionFailed, "exit code 3, before its function returned"),
            (ended(code=1, stderr=b"Fatal Python error"), ExecutionFailed, "stderr: Fatal Python error"),
        ],
    )
    async def test_an_end_without_a_result_is_reported_with_what_to_do(
        self, executors: list[PythonExecutor], end: ConfinedResult, kind: type[ToolError], words: str
    ) -> None:
        error = await Bench(executors, end._replace(stdout=b"until then")).error()
        assert type(error) is kind
        assert words in error.message
        assert error.printed.startswith("until then")

    @pytest.mark.parametrize(
        ("fields", "limit"),
        [({}, "timeout"), ({"timeout": 2}, "timeout")],
    )
    async def test_the_limit_that_struck_is_named(
        self, executors: list[PythonExecutor], fields: dict[str, Any], limit: str
    ) -> None:
        error = await Bench(executors, ended(fate="time"), **fields).error()
        assert error.message.endswith(f"or raise the tool's {limit}")

    @pytest.mark.parametrize(
        ("seconds", "waited", "words"),
        [
            (30, 1.0, "within 10 s;"),
            (2, 0.3, "within 2 s;"),
            (2, 1.55, "within 2 s, 1.55 s of which it waited to begin;"),
        ],
    )
    async def test_the_time_that_is_reported_is_the_time_it_had(
        self, executors: list[PythonExecutor], seconds: float, waited: float, words: str
    ) -> None:
        bench = Bench(executors, ended(fate="time")._replace(waited=waited), timeout=10)
        with pytest.raises(TimedOut) as late:
            await bench.run(seconds=seconds)
        assert words in late.value.message

    @pytest.mark.parametrize(
        "answer",
        [
            {"unfit": "x" * 10**6},
            failed("x" * 10**6),
            failed(source="x" * 10**6),
            {"error": {"type": "T" * 10**6, "message": "", "line": "9" * 10**6, "source": None}},
        ],
    )
    async def test_no_message_is_longer_than_a_model_can_bear(
        self, executors: list[PythonExecutor], answer: dict[str, Any]
    ) -> None:
        assert len((await Bench(executors, ended(answer)).error()).message) == 5000

    @pytest.mark.parametrize(
        ("kind", "message", "source", "is_reported"),
        [
            ("PermissionError", "[Errno 1] Operation not permitted", "os.kill(1, 9)", False),
            ("PermissionError", "[Errno 1] Operation not permitted", "os.nice(-5)", False),
            ("PermissionError", "[Errno 1] Operation not permitted", None, False),
            ("PermissionError", "[Errno 1] Operation not permitted", "s = socket.socket()", True),
            ("URLError", "<urlopen error [Errno 1] Operation not permitted>", "page = load(url)", True),
            ("ConnectError", "[Errno 1] Operation not permitted", "page = load(url)", True),
            ("gaierror", "[Errno -3] Temporary failure in name resolution", "look(name)", True),
            ("ValueError", "no socket", "socket", False),
        ],
    )
    async def test_only_code_that_looks_for_a_network_is_informed_how_to_get_one(
        self, executors: list[PythonExecutor], kind: str, message: str, source: str | None, is_reported: bool
    ) -> None:
        answer = {"error": {"type": kind, "message": message, "line": 1, "source": source}}
        assert ("config.network" in (await Bench(executors, ended(answer)).error()).message) is is_reported

    async def test_what_the_sandbox_refuses_is_passed_on(self, executors: list[PythonExecutor]) -> None:
        error = await Bench(executors, Unavailable("no place")).error()
        assert (type(error), error.message, error.printed) == (Unavailable, "no place", "")


class TestSecrets:
    async def test_values_of_env_and_named_secrets_are_masked_wherever_they_come_out(
        self, executors: list[PythonExecutor]
    ) -> None:
        shown = ended({"ok": {SECRET: ["a named secret!"]}}, stdout=SECRET.encode(), stderr=b"a named secret")
        bench = Bench(executors, shown, ended(failed(SECRET, source=f"key = '{SECRET}'")), env={"KEY": SECRET})
        assert await bench.run() == Output({"********": ["********!"]}, "********\n********")
        assert (await bench.error()).message == "ValueError: ******** (line 3: key = '********')"

    async def test_half_of_one_at_the_end_of_prints_that_were_cut_off_is_too(
        self, executors: list[PythonExecutor]
    ) -> None:
        cut = ended(fate="output", message="stdout", stdout=b"key: " + SECRET[:-1].encode(), stderr=b"public")
        error = await Bench(executors, cut, env={"KEY": SECRET, "MODE": "cool"}).error()
        assert error.printed == "key: ********\npublic"

    async def test_code_is_as_it_is_stored(self, executors: list[PythonExecutor]) -> None:
        bench = Bench(executors, ended({"ok": 1}))
        filled = OpenTool(bench.tool.tool, {"code": "def filled(): pass", "env": {"KEY": SECRET}})
        bench.tool = filled
        await bench.run()
        assert bench.script.jobs[0][0].payload == IsPartialDict(code=CODE, env={"KEY": SECRET})
