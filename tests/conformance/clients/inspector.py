"""The MCP inspector as a command: it lists and calls the tools of a board in both revisions."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

_NODE = Path(sys.executable).with_name("node")
_INSPECTOR = Path(sys.prefix) / "conformance/node_modules/.bin/mcp-inspector"
_SECONDS = 60
_MODERN, _LEGACY = "modern", "legacy"
_ERAS = (_MODERN, _LEGACY)
# The exit code for a call whose result has `isError`.
_FAILED = 5
# The exit code for a 401.
_UNAUTHORISED = 3
# Each tool with its arguments and the exit code: the demo's tools, one of an imported document, and failures.
_CALLS: Sequence[tuple[str, dict[str, Any], int]] = (
    ("echo", {"n": 3}, 0),
    ("get_weather", {"city": "Lisbon"}, 0),
    ("create_ticket", {"title": "A title"}, 0),
    ("rsi_signal", {"prices": [1, 2, 3, 2, 3, 4, 5]}, 0),
    ("form_list", {"id": [3, 4, 5]}, 0),
    ("create_ticket", {"title": "A"}, _FAILED),
    ("math_eval", {"expression": "1/0"}, _FAILED),
    ("none_such", {}, _FAILED),
)


class _Run(NamedTuple):
    code: int
    output: str
    errors: str


async def check_inspector(url: str, key: str, wanted: set[str]) -> list[str]:
    """Return what the inspector did otherwise than expected on the server at `url`, which has the `wanted` tools."""
    faults = []
    for era in _ERAS:
        listed = await _run(url, key, "--protocol-era", era, "--method", "tools/list", "--strict")
        missing = wanted - _read_names(listed.output) if listed.code == 0 else wanted
        if missing:
            faults.append(f"inspector, {era}: tools/list ended with {listed.code}; missing: {sorted(missing)[:5]}")
            faults.append(listed.errors[-2000:])
        for name, arguments, code in _CALLS:
            words = ("--method", "tools/call", "--tool-name", name, "--tool-args-json", json.dumps(arguments))
            called = await _run(url, key, "--protocol-era", era, *words, "--format", "json")
            if called.code != code:
                text = (called.output + called.errors)[-500:]
                faults.append(f"inspector, {era}: {name} ended with {called.code} and not with {code}: {text}")
    wrong = await _run(url, "wrong", "--protocol-era", _MODERN, "--method", "tools/list")
    if wrong.code != _UNAUTHORISED:
        faults.append(f"inspector: a wrong key ended with {wrong.code}: {(wrong.output + wrong.errors)[-500:]}")
    return faults


async def _run(url: str, key: str, *words: str) -> _Run:
    header = ("--header", f"Authorization: Bearer {key}")
    process = await asyncio.create_subprocess_exec(
        _NODE,
        _INSPECTOR,
        *("--cli", url, "--transport", "http", *header, *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(_SECONDS):
            output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode is not None
    return _Run(process.returncode, output.decode(), errors.decode())


def _read_names(output: str) -> set[str]:
    return {tool["name"] for tool in json.loads(output)["tools"]}
