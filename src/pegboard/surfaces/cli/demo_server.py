"""The MCP server of `pegboard demo traffic`, on standard input and output: `demo_server.py FILE`.

Its tools have the later definitions if FILE exists, so that the board finds them changed. It uses the standard library
only, because the server of the board starts it in an environment of its own.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_PROTOCOL_VERSION = "2025-11-25"
_METHOD_NOT_FOUND = -32601
_STOCK = {"LAMP-2": 14, "DESK-1": 3, "CHAIR-7": 0}
_PACK_STEPS = 4
_PACK_STEP_SECONDS = 0.02
_SKU = {"type": "string", "description": "Number of the article, e.g. LAMP-2"}

Message = dict[str, Any]


def main(changed: Path) -> None:
    """Answer requests until the end of the input."""
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request and "method" in request:
            for message in answer_request(request, is_changed=changed.exists()):
                sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
                sys.stdout.flush()


def answer_request(request: Message, *, is_changed: bool) -> Iterator[Message]:
    """Yield the notifications and the response for one request."""
    params = request.get("params") or {}
    result: Message
    match request["method"]:
        case "initialize":
            server = {"name": "warehouse", "version": "2" if is_changed else "1"}
            result = {"protocolVersion": _PROTOCOL_VERSION, "capabilities": {"tools": {}}, "serverInfo": server}
        case "tools/list":
            result = {"tools": list_tools(is_changed=is_changed)}
        case "tools/call":
            if params["name"] == "pack":
                yield from _report_packing(params)
            result = call_tool(params["name"], params.get("arguments") or {})
        case "ping":
            result = {}
        case method:
            yield {"id": request["id"], "error": {"code": _METHOD_NOT_FOUND, "message": f"Unknown method: {method}"}}
            return
    yield {"id": request["id"], "result": result}


def list_tools(*, is_changed: bool) -> list[Message]:
    """Return the tools; the price tool has one more required argument after the change."""
    price = {"sku": _SKU, "currency": {"type": "string", "description": "Three letters, e.g. EUR"}}
    given = ("sku", "currency") if is_changed else ("sku",)
    return [
        _build_tool("stock", "How many pieces of an article are in the warehouse.", {"sku": _SKU}, read_only=True),
        _build_tool(
            "price",
            "The price of an article in the given currency." if is_changed else "The price of an article in euros.",
            {name: price[name] for name in given},
            read_only=True,
        ),
        _build_tool("pack", "Pack an order. Reports its progress.", {"order": {"type": "string"}}, read_only=False),
        _build_tool(
            "carrier_cost", "What a carrier asks for a parcel.", {"country": {"type": "string"}}, read_only=True
        ),
    ]


def call_tool(name: str, arguments: Message) -> Message:
    """Return the result of one call."""
    sku = arguments.get("sku")
    if name in ("stock", "price") and sku not in _STOCK:
        return _build_result(f"There is no article '{sku}'", is_error=True)
    if name == "carrier_cost":
        return _build_result("The carrier does not answer", is_error=True)
    results: Message = {
        "stock": {"sku": sku, "pieces": _STOCK.get(str(sku))},
        "price": {"sku": sku, "price": 79.5},
        "pack": {"order": arguments.get("order"), "parcels": 1},
    }
    return _build_result(json.dumps(results[name]), is_error=False)


def _report_packing(params: Message) -> Iterator[Message]:
    token = (params.get("_meta") or {}).get("progressToken")
    for step in range(1, _PACK_STEPS + 1):
        time.sleep(_PACK_STEP_SECONDS)
        if token is not None:
            progress = {"progressToken": token, "progress": step, "total": _PACK_STEPS, "message": "Packing"}
            yield {"method": "notifications/progress", "params": progress}


def _build_tool(name: str, description: str, properties: Message, *, read_only: bool) -> Message:
    return {
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": list(properties)},
        "annotations": {"readOnlyHint": read_only},
    }


def _build_result(text: str, *, is_error: bool) -> Message:
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
