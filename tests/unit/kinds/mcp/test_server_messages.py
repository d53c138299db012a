"""Requests of a server that does not read the responses."""

from __future__ import annotations

import asyncio

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest

from pegboard.kinds.mcp.server_messages import MAX_WAITING_REQUESTS, ServerMessages


async def test_a_server_that_reads_no_answers_leaves_a_bounded_number_of_requests() -> None:
    messages = ServerMessages(lambda _change: None, has_client=True)
    messages.output, unread = anyio.create_memory_object_stream[SessionMessage](0)
    for number in range(1000):
        assert messages.receive(JSONRPCRequest(jsonrpc="2.0", id=number, method="roots/list"))
    tasks = [task for task in asyncio.all_tasks() if task.get_name() == "pegboard-mcp-input"]
    assert len(tasks) == 2 * MAX_WAITING_REQUESTS
    await messages.close()
    assert all(task.done() for task in tasks)
    unread.close()
    await messages.output.aclose()
