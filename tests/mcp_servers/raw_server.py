"""An MCP server that returns what its file has, unchanged: `raw_server.py FILE`, where FILE maps methods to results.

The result of `tools/call` and similar methods is found by `METHOD NAME`; `error` in its place is a JSON-RPC error. The
methods in `notify` of a result are sent as notifications after it. A capability that is null is not declared, and the
methods in `hangs` get no response.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

VERSION = "2025-11-25"


def answer(request: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """Return the response to a request."""
    params = request.get("params") or {}
    name = params.get("name") or params.get("uri")
    result = found.get(f"{request['method']} {name}", found.get(request["method"]))
    if request["method"] == "initialize":
        declared = {"tools": {}, **found.get("capabilities", {})}
        capabilities = {name: value for name, value in declared.items() if value is not None}
        result = {
            "protocolVersion": VERSION,
            "capabilities": capabilities,
            "serverInfo": {"name": "raw", "version": "1"},
        }
    if result is None:
        return {"error": {"code": -32601, "message": f"no {request['method']}"}}
    return {"error": result["error"]} if "error" in result else {"result": result}


def main(file: Path) -> None:
    """Answer requests until the end of the input."""
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request and "method" in request:
            found = json.loads(file.read_text(encoding="utf-8"))
            if request["method"] in found.get("hangs", ()):
                continue
            answered = answer(request, found)
            notified = answered.get("result", {}).get("notify", [])
            for message in ({"id": request["id"], **answered}, *({"method": method} for method in notified)):
                sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
