"""Commands that violate MCP: each call ends in time with a clear error, and the next one works."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification

from pegboard.http_client.guarded_client import GuardedClient
from pegboard.kinds.mcp.session_pool import McpSessionPool
from pegboard.kinds.mcp.stdio_transport import open_stdio_transport
from pegboard.kinds.mcp.tool_result import read_output
from pegboard.kinds.mcp.upstream import ProtocolFailed, Upstream
from pegboard.model.call_errors import InvalidArguments, Misconfigured, ToolError, UpstreamFailed, UpstreamUnreachable
from tests.mcp_servers.processes import descendants, is_running
from tests.mcp_servers.run_servers import odd
from tests.waiting import until


async def call_echo(upstreams: McpSessionPool, upstream: Upstream, text: str = "hi") -> Any:
    return read_output(await upstreams.call(upstream, "echo", {"text": text}))


async def get_call_error(upstreams: McpSessionPool, upstream: Upstream, text: str = "hi") -> ToolError:
    with pytest.raises(ToolError) as error:
        await call_echo(upstreams, upstream, text)
    return error.value


def memory() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.mark.parametrize(
    ("how", "phase"), [("hang", "did not answer initialize within"), ("hang-list", "did not list its tools within")]
)
async def test_a_server_that_hangs_while_it_starts_is_given_up(how: str, phase: str, hasty: McpSessionPool) -> None:
    before = descendants()
    with anyio.fail_after(30):
        error = await get_call_error(hasty, odd(how))
    assert isinstance(error, UpstreamUnreachable)
    assert phase in error.message

    async def gone() -> bool:
        return descendants() <= before

    await until(gone)


async def test_what_a_server_that_hangs_wrote_is_reported_without_its_secrets(outbound: GuardedClient) -> None:
    script = 'echo "npm: waiting for the proxy with $SERVICE_KEY" >&2; exec sleep 600'
    hung = Upstream(None, ("sh", "-c", script), env=(("SERVICE_KEY", "hush-hush-key"),))
    made = McpSessionPool(outbound, children=4, child_memory=2**30, max_bytes=2**20, connect_seconds=3)
    try:
        error = await get_call_error(made, hung)
    finally:
        await made.close()
    assert error.message.endswith("within 3 s; the end of its stderr: npm: waiting for the proxy with ********")


async def test_a_call_that_hangs_ends_when_its_time_is_up(upstreams: McpSessionPool) -> None:
    await upstreams.tools(odd("hang-call"))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await call_echo(upstreams, odd("hang-call"))


async def test_a_server_that_answers_nothing_any_more_is_replaced(upstreams: McpSessionPool, tmp_path: Path) -> None:
    hanging = odd("hang-call")
    await upstreams.tools(hanging)
    first = upstreams.connections[hanging].session
    for _ in range(3):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await call_echo(upstreams, hanging)
    assert upstreams.connections[hanging].session is None
    await upstreams.tools(hanging)
    assert upstreams.connections[hanging].session not in (None, first)


async def test_a_server_that_reads_nothing_cannot_hold_anyone_up(upstreams: McpSessionPool) -> None:
    stalled = odd("deaf")
    await upstreams.tools(stalled)

    async def much() -> str:
        try:
            async with asyncio.timeout(0.5):
                return str(await call_echo(upstreams, stalled, "x" * 2**20))
        except (TimeoutError, UpstreamFailed) as error:
            return str(error)

    ends = await asyncio.gather(*(much() for _ in range(4)))
    # A call that arrives after the end of the session gets a new session, and times out there.
    assert sum("does not read what it is sent" in end for end in ends) >= 3


async def test_a_server_that_ends_at_once_says_why_and_keeps_its_secrets(upstreams: McpSessionPool) -> None:
    error = await get_call_error(upstreams, odd("exit-at-once", env={"SERVICE_KEY": "sk-12345678"}))
    assert isinstance(error, UpstreamUnreachable)
    assert error.message.endswith("faulty_server.py' exited with status 3; the end of its stderr: no key for ********")


async def test_a_program_that_is_not_there_is_named(upstreams: McpSessionPool) -> None:
    error = await get_call_error(upstreams, Upstream(None, ("no-such-server", "--token", "s3cr3t")))
    assert "cannot start 'no-such-server': No such file or directory" in error.message
    assert "s3cr3t" not in error.message


async def test_what_is_sent_to_a_program_that_is_gone_names_why_it_went() -> None:
    lost: list[ToolError] = []
    gone = Upstream(None, ("no-such-server",))
    async with open_stdio_transport(gone, memory=2**30, max_bytes=2**20, lost=lost.append) as (lines, into):
        with pytest.raises(anyio.EndOfStream):
            await lines.receive()
        with pytest.raises(anyio.BrokenResourceError):
            await into.send(SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="notifications/initialized")))
    assert [error.message for error in lost] == [
        "The MCP server 'no-such-server' exited with status 127; "
        "the end of its stderr: cannot start 'no-such-server': No such file or directory"
    ] * 2


async def test_a_server_that_exits_in_the_middle_fails_the_call_at_once(upstreams: McpSessionPool) -> None:
    with anyio.fail_after(30):
        error = await get_call_error(upstreams, odd("exit-on-call"))
    assert isinstance(error, UpstreamUnreachable)
    assert "exited with status 7; the end of its stderr: out of luck" in error.message


async def test_a_server_ends_with_its_supervisor(upstreams: McpSessionPool) -> None:
    before = descendants()
    await upstreams.tools(odd("hang-call"))
    call = asyncio.create_task(get_call_error(upstreams, odd("hang-call")))
    await asyncio.sleep(0)
    children = descendants() - before
    launcher = min(children)
    os.kill(launcher, signal.SIGKILL)
    with anyio.fail_after(30):
        assert isinstance(await call, UpstreamUnreachable)

    async def gone() -> bool:
        return not any(map(is_running, children))

    await until(gone)
    await upstreams.tools(odd("hang-call"))


async def test_a_server_that_cannot_be_greeted_in_the_newer_way_is_greeted_in_the_older(
    upstreams: McpSessionPool,
) -> None:
    assert await call_echo(upstreams, odd("exit-on-discover")) == "hi"


async def test_a_line_without_end_is_not_kept(upstreams: McpSessionPool) -> None:
    await upstreams.tools(odd("endless-line"))
    before = memory()
    with anyio.fail_after(30):
        error = await get_call_error(upstreams, odd("endless-line"))
    assert isinstance(error, UpstreamFailed)
    assert "wrote a line of more than 1048576 bytes" in error.message
    assert memory() - before < 32 * 2**20


async def test_an_answer_may_be_as_large_as_the_limit_and_no_larger(upstreams: McpSessionPool) -> None:
    assert len(await call_echo(upstreams, odd("huge"), str(2**20 - 1000))) == 2**20 - 1000
    assert "more than 1048576 bytes" in (await get_call_error(upstreams, odd("huge"), str(2**20))).message
    assert await call_echo(upstreams, odd("huge"), "3") == "xxx"


@pytest.mark.parametrize("how", ["garbage", "stderr"])
async def test_what_is_no_message_is_passed_over(how: str, upstreams: McpSessionPool) -> None:
    with anyio.fail_after(30):
        assert [await call_echo(upstreams, odd(how), text) for text in "abc"] == ["a", "b", "c"]


@pytest.mark.parametrize("text", ["first", "last"])
async def test_an_answer_that_cannot_be_read_ends_its_call_at_once(text: str, upstreams: McpSessionPool) -> None:
    with anyio.fail_after(30):
        error = await get_call_error(upstreams, odd("broken"), text)
    assert isinstance(error, UpstreamFailed)
    assert "an answer that is not valid JSON" in error.message


async def test_text_that_is_not_unicode_is_refused_and_the_session_continues(upstreams: McpSessionPool) -> None:
    error = await get_call_error(upstreams, odd("plain"), "half \ud800")
    assert isinstance(error, InvalidArguments)
    assert await call_echo(upstreams, odd("plain")) == "hi"


@pytest.mark.parametrize("how", ["flood", "stray"])
async def test_a_flood_of_messages_hurts_no_other_user(how: str, upstreams: McpSessionPool) -> None:
    await upstreams.tools(odd(how))
    await call_echo(upstreams, odd("plain"))
    before = memory()
    flooded = asyncio.create_task(call_echo(upstreams, odd(how)))
    with anyio.fail_after(60):
        for _ in range(100):
            assert await call_echo(upstreams, odd("plain")) == "hi"
    assert memory() - before < 32 * 2**20
    flooded.cancel()
    await asyncio.wait({flooded})


async def test_an_answer_that_is_none_is_reported(upstreams: McpSessionPool) -> None:
    error = await get_call_error(upstreams, odd("nonsense"))
    assert isinstance(error, UpstreamFailed)
    assert "an invalid result: content: must be an array" in error.message


async def test_a_server_that_wants_input_gets_none(upstreams: McpSessionPool) -> None:
    error = await get_call_error(upstreams, odd("asks"))
    assert isinstance(error, UpstreamFailed)
    assert "asked for input that this board cannot give: Which one?" in error.message


async def test_a_server_that_wants_a_model_is_declined(upstreams: McpSessionPool) -> None:
    declined = json.loads(await call_echo(upstreams, odd("samples")))
    assert declined["error"]["message"] == "Sampling not supported"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ({"code": -32602, "message": "text is\n too long"}, "refused the arguments: text is too long"),
        ({"code": -32601, "message": "tools/call"}, "offers no tools: tools/call"),
        ({"code": -32603, "message": "boom", "data": {"a": 1}}, "answered with error -32603: boom"),
        ({"code": -32000, "message": "database locked"}, "answered with error -32000: database locked"),
        ({"code": -32042, "message": "sign in"}, "asked for input that this board cannot give: sign in"),
        ({"code": -32020, "message": "header differs"}, "answered with error -32020: header differs"),
        ({"code": 0, "message": "x" * 5000}, "answered with error 0: " + "x" * 1000),
    ],
)
async def test_errors_of_the_protocol_are_failures_with_their_message(
    error: dict[str, Any], message: str, upstreams: McpSessionPool
) -> None:
    failed = await get_call_error(upstreams, odd("error"), json.dumps(error))
    assert type(failed) is (ProtocolFailed if error["code"] == -32042 else UpstreamFailed)
    assert failed.message.endswith(f"faulty_server.py' {message}")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("many", "lists too many tools"),
        ("pages", "lists its tools on more than 100 pages"),
        ("liar", "did not list its tools as MCP requires: tools.0.inputSchema"),
    ],
)
async def test_a_list_of_tools_that_makes_no_sense_is_refused(
    how: str, message: str, upstreams: McpSessionPool
) -> None:
    with pytest.raises(UpstreamFailed, match=message):
        await upstreams.tools(odd(how))


async def test_nothing_of_the_board_s_environment_is_inherited(
    upstreams: McpSessionPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PEGBOARD_SECRET_KEY", "the board's own")
    found = json.loads(await call_echo(upstreams, odd("environment", env={"MINE": "1", "PATH": "/bin"})))
    assert found["MINE"] == "1"
    assert found["PATH"] == "/bin"
    assert set(found) - {"MINE", "LC_CTYPE"} <= {"PATH", "HOME", "LANG", "LC_ALL", "LOGNAME", "USER", "SHELL"} | {
        "TERM",
        "TMPDIR",
        "TZ",
    }


async def test_a_command_runs_in_its_folder(upstreams: McpSessionPool, tmp_path: Path) -> None:
    assert await call_echo(upstreams, odd("folder", working_dir=str(tmp_path))) == str(tmp_path)
    with pytest.raises(Misconfigured, match="working_dir '/no/such' of the MCP server"):
        await upstreams.tools(odd("folder", working_dir="/no/such"))


async def test_a_command_gets_no_more_memory_than_it_may(upstreams: McpSessionPool) -> None:
    assert await call_echo(upstreams, odd("memory"), str(2**28)) == str(2**28)
    error = await get_call_error(upstreams, odd("memory"), str(2**31))
    assert "MemoryError" in error.message
    assert await call_echo(upstreams, odd("memory"), "1") == "1"


async def test_closing_ends_even_a_server_that_heeds_nothing(upstreams: McpSessionPool, tmp_path: Path) -> None:
    before = descendants()
    file = tmp_path / "daemon"
    assert await call_echo(upstreams, odd("stubborn")) == "hi"
    assert await call_echo(upstreams, odd("daemon", file)) == "hi"

    async def written() -> int:
        return int(file.read_text() or 0) if file.exists() else 0

    daemon = await until(written)
    with anyio.fail_after(30):
        await upstreams.close()
    assert descendants() <= before
    assert not is_running(daemon)
