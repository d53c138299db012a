"""Spans exist only if the application has configured OpenTelemetry; each case in a separate process."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

CALLING = """
import asyncio, json, sys
from pegboard.testing import memory_board

seen = []
if sys.argv[1] == "sdk":
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
elif sys.argv[1] == "absent":
    sys.modules["opentelemetry"] = None


async def main():
    async with memory_board() as board:
        traced = board.pipeline._tracing is not None
        inner = []

        @board.tool
        async def nested(n: int) -> int:
            "Makes a span of its own."
            if traced:
                from opentelemetry import trace

                inner.append(format(trace.get_current_span().get_span_context().span_id, "016x"))
            return n

        await board.call("nested", {"n": 1})
        await board.call("nonesuch")
        await board.run({"name": "math_eval", "arguments": {"expression": "1/0"}, "id": "call-1"})
        spans = []
        if sys.argv[1] == "sdk":
            for span in exporter.get_finished_spans():
                spans.append({
                    "name": span.name,
                    "id": format(span.context.span_id, "016x"),
                    "attributes": dict(span.attributes),
                    "status": span.status.status_code.name,
                    "described": span.status.description,
                })
        print(json.dumps({"traced": traced, "spans": spans, "inner": inner}))


asyncio.run(main())
"""


def received(mode: str) -> dict[str, Any]:
    ended = subprocess.run(
        [sys.executable, "-c", CALLING, mode], capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def test_each_call_is_a_span_after_the_genai_conventions() -> None:
    found = received("sdk")
    assert found["traced"]
    spans = {span["name"]: span for span in found["spans"]}
    assert set(spans) == {"execute_tool nested", "execute_tool nonesuch", "execute_tool math_eval"}
    good = spans["execute_tool nested"]
    assert good["attributes"]["gen_ai.operation.name"] == "execute_tool"
    assert good["attributes"]["gen_ai.tool.name"] == "nested"
    assert good["attributes"]["gen_ai.tool.call.id"] == good["attributes"]["pegboard.run_id"]
    assert good["status"] == "UNSET"
    assert found["inner"] == [good["id"]], "the handler runs inside its call's span"
    failed = spans["execute_tool math_eval"]
    assert (failed["status"], failed["attributes"]["error.type"]) == ("ERROR", "execution_failed")
    assert failed["attributes"]["gen_ai.tool.call.id"] == "call-1"
    assert spans["execute_tool nonesuch"]["attributes"]["error.type"] == "tool_not_found"
    assert spans["execute_tool nonesuch"]["described"] == "Tool 'nonesuch' not found"


def test_without_the_sdk_or_the_package_there_are_none() -> None:
    for mode in ("api only", "absent"):
        assert received(mode) == {"traced": False, "spans": [], "inner": []}


CALLING_OVER_MCP = """
import asyncio, json

import httpx
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)

from pegboard.surfaces.rest.app import create_app
from pegboard.testing import memory_board

KEY = "a-key-for-tests-0123456789"
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


async def main():
    async with memory_board(admin_key=KEY) as board:
        transport = httpx.ASGITransport(create_app(board))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            for more in ({"traceparent": PARENT}, {"traceparent": "odd"}, {"traceparent": 5}, {}):
                meta = {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {},
                    **more,
                }
                params = {"name": "math_eval", "arguments": {"expression": "1"}, "_meta": meta}
                headers = {
                    "Authorization": f"Bearer {KEY}",
                    "MCP-Protocol-Version": "2026-07-28",
                    "Mcp-Method": "tools/call",
                    "Mcp-Name": "math_eval",
                }
                message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
                reply = await http.post("/mcp", json=message, headers=headers)
                assert reply.json()["result"]["isError"] is False, reply.text
    parents = [span.parent and format(span.parent.span_id, "016x") for span in exporter.get_finished_spans()]
    print(json.dumps(parents))


asyncio.run(main())
"""


def test_a_call_over_mcp_continues_the_trace_of_its_client() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CALLING_OVER_MCP], capture_output=True, text=True, check=True, timeout=60
    )
    assert json.loads(done.stdout) == ["b7ad6b7169203331", None, None, None]
