"""Run the conformance suite of MCP against a board, in both revisions: `make conformance`.

The board imports its tools from the server in `fixtures.py`. The scenarios that need log messages or a request
for input are only listed. After all of them the server must still answer.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pegboard.testing import memory_board
from tests.board_surfaces import KEY, served
from tests.conformance.key_proxy import key_proxy
from tests.surfaces.mcp.rpc import SESSION, STATELESS, RpcClient, client_of
from tests.surfaces.rest.clients import good

_NODE = Path(sys.executable).with_name("node")
_SUITE = Path(sys.prefix) / "conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js"
_ROOT = Path(__file__).parents[2]
_RUN_SECONDS = 600
_TOOL_SCENARIOS = (
    *("tools-list", "tools-call-simple-text", "tools-call-image", "tools-call-audio", "tools-call-embedded-resource"),
    *("tools-call-mixed-content", "tools-call-error", "tools-call-with-progress", "json-schema-2020-12"),
)
_CATALOG_SCENARIOS = (
    *("resources-list", "resources-read-text", "resources-read-binary", "resources-templates-read", "prompts-list"),
    *("prompts-get-simple", "prompts-get-with-args", "prompts-get-embedded-resource", "prompts-get-with-image"),
    "completion-complete",
)
_INPUT_SCENARIOS = (
    *("basic-elicitation", "basic-sampling", "basic-list-roots", "request-state", "multiple-input-requests"),
    *("multi-round", "missing-input-response", "non-tool-request", "result-type", "unsupported-methods"),
    *("tampered-state", "capability-check", "ignore-extra-params", "validate-input"),
)
# The scenarios that must pass, with the checks of them that need more than tools.
_REQUIRED: Mapping[str, Mapping[str, frozenset[str]]] = {
    SESSION: dict.fromkeys(
        (
            *_TOOL_SCENARIOS,
            *("server-initialize", "ping", "logging-set-level", *_CATALOG_SCENARIOS),
            *("server-sse-multiple-streams", "dns-rebinding-protection", "server-session-lifecycle"),
        ),
        frozenset(),
    ),
    STATELESS: {
        **dict.fromkeys(
            (
                *_TOOL_SCENARIOS,
                *(*_CATALOG_SCENARIOS, "sep-2164-resource-not-found", "caching"),
                *("server-stateless", "server-sse-multiple-streams", "dns-rebinding-protection"),
                *(f"input-required-result-{each}" for each in _INPUT_SCENARIOS),
                *("http-header-validation", "http-custom-header-server-validation"),
            ),
            frozenset(),
        ),
    },
}


async def main() -> int:
    """Return the exit code: 0 if all required scenarios pass."""
    faults = []
    async with memory_board(admin_key=KEY) as board, served(board) as url, key_proxy(url, KEY) as proxy:
        async with client_of(url) as http:
            fixtures = {"command": [sys.executable, "-m", "tests.conformance.fixtures"], "working_dir": str(_ROOT)}
            good(await http.post("/v1/imports/mcp", json=fixtures, timeout=60))
        for revision in (SESSION, STATELESS):
            with tempfile.TemporaryDirectory() as folder:
                log = await _run_suite(f"{proxy}/mcp", revision, folder)
                failed = _read_failures(Path(folder))
            faults += _compare(revision, failed, log)
            async with client_of(url) as http:
                client = RpcClient(http, revision)
                await client.start()
                await client.check_alive()
    for fault in faults:
        sys.stdout.write(f"{fault}\n")
    return 1 if faults else 0


async def _run_suite(url: str, revision: str, folder: str) -> str:
    """Run all scenarios of a revision and return the output; its exit code also counts those that are not served."""
    process = await asyncio.create_subprocess_exec(
        *(_NODE, _SUITE, "server", "--url", url, "--requirements", revision),
        *("--output-dir", folder, "--timeout", "30000"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(_RUN_SECONDS):
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    return output.decode()


def _read_failures(folder: Path) -> dict[str, set[str]]:
    """Return the failed checks of each scenario that ran."""
    failed = {}
    for file in sorted(folder.glob("server-*/checks.json")):
        checks = json.loads(file.read_text(encoding="utf-8"))
        failed[_strip_time(file.parent.name)] = {each["name"] for each in checks if each["status"] == "FAILURE"}
    return failed


def _strip_time(folder: str) -> str:
    """Return the scenario of a folder named server-SCENARIO-YYYY-MM-DDTHH-MM-SS-mmmZ."""
    return folder.removeprefix("server-")[: -len("-2026-01-02T03-04-05-678Z")]


def _compare(revision: str, failed: Mapping[str, set[str]], log: str) -> list[str]:
    faults = []
    for scenario, allowed in _REQUIRED[revision].items():
        if scenario not in failed:
            faults.append(f"{revision}: {scenario} did not run\n{log[-2000:]}")
        elif found := failed[scenario] - allowed:
            faults.append(f"{revision}: {scenario} failed: {', '.join(sorted(found))}")
    passed = sorted(name for name, checks in failed.items() if not checks)
    others = sorted(failed.keys() - set(passed) - _REQUIRED[revision].keys())
    summary = f"{len(passed)} of {len(failed)} scenarios pass; not served: {', '.join(others)}"
    sys.stdout.write(f"{revision}: {summary}\n")
    return faults


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
