"""An MCP server that violates the protocol in many ways: `faulty_server.py HOW [FILE]`."""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

how = sys.argv[1]
file = Path(sys.argv[2]) if len(sys.argv) > 2 else None
ECHO: dict[str, Any] = {"name": "echo", "description": "Say it again.", "inputSchema": {"type": "object"}}
SCHEMA = {"type": "object", "properties": {}}
listings = itertools.count(1)


def write(message: dict[str, Any]) -> None:
    """Send a message."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(request: dict[str, Any], result: Any) -> None:
    """Answer a request."""
    write({"id": request["id"], "result": result})


def forever() -> None:
    """Ignore all input from now on."""
    while True:
        time.sleep(3600)


def daemon() -> None:
    """Start a process that has left the process group and keeps our output open."""
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    assert file is not None
    file.write_text(f"{os.getpid()}")
    forever()


def tools(request: dict[str, Any]) -> None:
    """Answer tools/list."""
    number = next(listings)
    match how:
        case "hang-list":
            forever()
        case "many":
            answer(request, {"tools": [{**ECHO, "name": f"echo{number}"} for number in range(10_001)]})
        case "pages":
            answer(request, {"tools": [{**ECHO, "name": f"echo{number}"}], "nextCursor": f"{number}"})
        case "liar":
            answer(request, {"tools": [{"name": "echo", "inputSchema": "anything"}]})
        case "changing":
            answer(request, {"tools": [{**ECHO, "description": f"Version {number}."}]})
        case "steps" if file is not None:
            answer(request, {"tools": [{**ECHO, "description": file.read_text()}]})
        case "asks":
            answer(request, {"tools": [ECHO], "resultType": "complete", "ttlMs": 0, "cacheScope": "public"})
        case _:
            answer(request, {"tools": [ECHO]})
    if how == "deaf":
        forever()


def flood() -> None:
    """Send notifications without end."""
    line = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}})
    while True:
        sys.stdout.write((line + "\n") * 100)


def call(request: dict[str, Any]) -> None:
    """Answer tools/call."""
    text = request["params"]["arguments"].get("text", "")
    match how:
        case "hang-call":
            forever()
        case "exit-on-call":
            sys.stderr.write("out of luck\n")
            sys.stderr.flush()
            os._exit(7)
        case "endless-line":
            while True:
                sys.stdout.write("x" * 65536)
        case "huge":
            text = "x" * int(text)
        case "garbage":
            sys.stdout.write("Listening…\n\n{\n[1, 2\n\x00\xff\n" + "[" * 100_000 + "\n" + '{"jsonrpc": "2.0"}\n')
        case "flood":
            threading.Thread(target=flood, daemon=True).start()
            time.sleep(0.3)
        case "stray":
            for number in range(5000):
                write({"id": f"nobody-{number}", "result": {}})
        case "stderr":
            sys.stderr.write("y" * 2_000_000)
        case "broken":
            first, last = '{"jsonrpc": "2.0", "id": %d, "result": [}', '{"result": [}, "jsonrpc":"2.0","id":%d}'
            sys.stdout.write((first if text == "first" else last) % request["id"] + "\n")
            sys.stdout.flush()
            return None
        case "nonsense":
            return answer(request, {"content": "a string"})
        case "environment":
            text = json.dumps(dict(os.environ))
        case "folder":
            text = str(Path.cwd())
        case "asks":
            asked = {"method": "elicitation/create", "params": {"message": "Which one?", "requestedSchema": SCHEMA}}
            return answer(request, {"resultType": "input_required", "inputRequests": {"1": asked}})
        case "error":
            return write({"id": request["id"], "error": json.loads(text)})
        case "samples":
            write({"id": "s1", "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}})
            text = sys.stdin.readline()
        case "fickle" if int(text) % 4 == 1:
            os._exit(1)
        case "fickle" if int(text) % 4 == 2:
            return None
        case "memory":
            text = str(len(bytearray(int(text))))
    return answer(request, {"content": [{"type": "text", "text": text}]})


def serve() -> None:
    """Answer the requests in the order of arrival."""
    modern = how in ("asks",)
    for line in iter(sys.stdin.readline, ""):
        message = json.loads(line)
        if file is not None and how == "notes":
            with file.open("a") as notes:
                notes.write(line)
        method = message.get("method")
        if method == "server/discover":
            if how == "exit-on-discover":
                sys.exit("expected initialize")
            if modern:
                answer(
                    message,
                    {
                        "resultType": "complete",
                        "supportedVersions": ["2026-07-28"],
                        "capabilities": {"tools": {}},
                        "ttlMs": 0,
                        "cacheScope": "public",
                    },
                )
            else:
                write({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
        elif method == "initialize":
            version = message["params"]["protocolVersion"]
            info = {"name": "odd", "version": "1"}
            answer(message, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info})
        elif method == "tools/list":
            tools(message)
        elif method == "tools/call":
            call(message)


if how == "hang":
    forever()
if how == "exit-at-once":
    sys.stderr.write(f"no key for {os.environ.get('SERVICE_KEY')}\n")
    sys.exit(3)
if how == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if how == "daemon":
    daemon()
serve()
if how == "stubborn":
    forever()
