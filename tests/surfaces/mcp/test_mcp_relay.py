"""`pegboard mcp` with a URL passes on everything: progress, notifications, cancellation, and headers of arguments."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from pegboard import CallContext, Pegboard
from pegboard.model.call import Caller
from pegboard.model.filters import ExecutionFilter
from pegboard.surfaces.mcp.mcp_sessions import McpSessions, SessionRecord
from tests.board_surfaces import KEY
from tests.surfaces.mcp.test_mcp_clients import MODES, over_stdio
from tests.surfaces.rest.clients import good, mock
from tests.waiting import until

pytestmark = pytest.mark.anyio


def routed(*headers: str) -> dict[str, Any]:
    """Return a tool whose arguments are repeated in these headers."""
    properties = {name.lower(): {"type": "string", "x-mcp-header": name} for name in headers}
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize("mode", MODES)
async def test_progress_and_cancellation_pass_the_relay(board: Pegboard, url: str, mode: str) -> None:
    began = asyncio.Event()

    @board.tool
    async def steps(call: CallContext, wait: bool = False) -> str:
        """Report a step, and wait if the argument says so."""
        call.progress(1, 2, "half")
        began.set()
        if wait:
            await asyncio.Event().wait()
        return "done"

    seen: list[Any] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    async with over_stdio(mode, PEGBOARD_URL=url, PEGBOARD_KEY=KEY) as client:
        result = await client.call_tool("steps", {}, progress_callback=on_progress)
        assert result.content[0].model_dump()["text"] == "done"
        assert seen == [(1, 2, "half")]
        began.clear()
        waiting = asyncio.create_task(client.call_tool("steps", {"wait": True}))
        async with asyncio.timeout(10):
            await began.wait()
        waiting.cancel()

        async def is_idle() -> bool:
            return board.pipeline.running_count == 0

        await until(is_idle)
        rows = (await board.executions(ExecutionFilter())).items
        assert rows[0].code == "cancelled"
        assert not (await client.call_tool("math_eval", {"expression": "1"})).is_error


async def test_arguments_are_repeated_in_headers_also_after_a_change(admin: httpx.AsyncClient, url: str) -> None:
    good(await admin.post("/v1/tools", json=mock("routed", input_schema=routed("Region"))), 201)
    async with over_stdio("auto", PEGBOARD_URL=url, PEGBOARD_KEY=KEY) as client:
        assert not (await client.call_tool("routed", {"region": "süd"})).is_error
        good(await admin.patch("/v1/tools/routed", json={"input_schema": routed("Region", "Zone")}))
        assert not (await client.call_tool("routed", {"region": "a", "zone": "b"})).is_error


async def test_changes_of_the_list_pass_the_relay(admin: httpx.AsyncClient, url: str) -> None:
    async with (
        over_stdio("auto", PEGBOARD_URL=url, PEGBOARD_KEY=KEY) as client,
        client.listen(tools_list_changed=True) as changes,
    ):
        good(await admin.post("/v1/tools", json=mock("added")), 201)
        async with asyncio.timeout(5):
            assert type(await anext(changes)).__name__ == "ToolsListChanged"


async def test_a_session_that_has_ended_is_opened_again(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    created: list[tuple[McpSessions, SessionRecord]] = []
    create = McpSessions.create

    def noted(self: McpSessions, caller: Caller, version: str, capabilities: Mapping[str, Any]) -> SessionRecord:
        session = create(self, caller, version, capabilities)
        created.append((self, session))
        return session

    monkeypatch.setattr(McpSessions, "create", noted)
    async with over_stdio("legacy", PEGBOARD_URL=url, PEGBOARD_KEY=KEY) as client:
        for count in (1, 2, 3):
            assert (await client.call_tool("math_eval", {"expression": "1"})).structured_content == {"result": 1}
            assert len(created) == count
            sessions, session = created[-1]
            sessions.end(session)
    # The relay ended the last session and did not find the other one.
    assert len(created[0][0]) == 0
