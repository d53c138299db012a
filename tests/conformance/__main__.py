"""Run the conformance suite of MCP against boards, in both revisions: `make conformance`.

The first board imports its tools from the server in `fixtures.py`: the suite must exit 0. The second one has the
tools of every board only. After each run the server must still answer.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

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
_SESSION_SCENARIOS = (
    *("server-initialize", "ping", "logging-set-level", "tools-call-with-logging", "tools-call-sampling"),
    *("tools-call-elicitation", "elicitation-sep1034-defaults", "elicitation-sep1330-enums"),
    *("resources-subscribe", "resources-unsubscribe", "server-session-lifecycle"),
)
_STATELESS_SCENARIOS = (
    *("sep-2164-resource-not-found", "caching", "server-stateless"),
    *(f"input-required-result-{each}" for each in _INPUT_SCENARIOS),
    *("http-header-validation", "http-custom-header-server-validation"),
)
_COMMON = (*_TOOL_SCENARIOS, *_CATALOG_SCENARIOS, "server-sse-multiple-streams", "dns-rebinding-protection")

# The scenarios that must pass, by revision: all that are scored, and four others.
_WITH_FIXTURES: Mapping[str, tuple[str, ...]] = {
    SESSION: (*_COMMON, *_SESSION_SCENARIOS),
    STATELESS: (*_COMMON, *_STATELESS_SCENARIOS),
}
_ANY_SERVER = ("tools-list", "tools-call-error", "server-sse-multiple-streams", "dns-rebinding-protection")
_WITHOUT_FIXTURES: Mapping[str, tuple[str, ...]] = {
    SESSION: (*_ANY_SERVER, "server-initialize", "ping", "server-session-lifecycle"),
    STATELESS: (*_ANY_SERVER, "server-stateless", "caching", "http-header-validation"),
}
# The checks of a scenario that need a tool of the fixtures.
_NEEDS_FIXTURES = {"server-stateless": "test_missing_capability"}


class Outcome(NamedTuple):
    """What a run of the suite reports: its exit code, its output, and the failed checks of each scenario."""

    code: int
    output: str
    failed: Mapping[str, Mapping[str, str]]


async def main() -> int:
    """Return the exit code: 0 if all required scenarios pass."""
    listing = await _run_suite("list", "--requirements", STATELESS)
    faults = [] if listing.code == 0 else [f"list: {listing.output}"]
    for has_fixtures, required in ((True, _WITH_FIXTURES), (False, _WITHOUT_FIXTURES)):
        async with memory_board(admin_key=KEY) as board, served(board) as url, key_proxy(url, KEY) as proxy:
            if has_fixtures:
                await _import_fixtures(url)
            for revision in (SESSION, STATELESS):
                outcome = await _run_suite(
                    *("server", "--url", f"{proxy}/mcp", "--requirements", revision, "--timeout", "30000")
                )
                faults += _compare(revision, required[revision], outcome, has_fixtures=has_fixtures)
                await _check_alive(url, revision)
    for fault in faults:
        sys.stdout.write(f"{fault}\n")
    return 1 if faults else 0


async def _import_fixtures(url: str) -> None:
    async with client_of(url) as http:
        fixtures = {"command": [sys.executable, "-m", "tests.conformance.fixtures"], "working_dir": str(_ROOT)}
        good(await http.post("/v1/imports/mcp", json=fixtures, timeout=60))


async def _check_alive(url: str, revision: str) -> None:
    async with client_of(url) as http:
        client = RpcClient(http, revision)
        await client.start()
        await client.check_alive()


async def _run_suite(command: str, *options: str) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        output_dir = ("--output-dir", folder) if command == "server" else ()
        process = await asyncio.create_subprocess_exec(
            *(_NODE, _SUITE, command, *options, *output_dir),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            async with asyncio.timeout(_RUN_SECONDS):
                output, _ = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
        return Outcome(process.returncode or 0, output.decode(), _read_failures(Path(folder)))


def _read_failures(folder: Path) -> dict[str, dict[str, str]]:
    """Return the failed checks of each scenario that ran, with their messages."""
    failed = {}
    for file in sorted(folder.glob("server-*/checks.json")):
        checks = json.loads(file.read_text(encoding="utf-8"))
        failed[_strip_time(file.parent.name)] = {
            each["name"]: json.dumps(each) for each in checks if each["status"] == "FAILURE"
        }
    return failed


def _strip_time(folder: str) -> str:
    """Return the scenario of a folder named server-SCENARIO-YYYY-MM-DDTHH-MM-SS-mmmZ."""
    return folder.removeprefix("server-")[: -len("-2026-01-02T03-04-05-678Z")]


def _compare(revision: str, required: tuple[str, ...], outcome: Outcome, *, has_fixtures: bool) -> list[str]:
    name = f"{revision} {'with' if has_fixtures else 'without'} fixtures"
    faults = []
    if has_fixtures and outcome.code != 0:
        faults.append(f"{name}: the suite exits with {outcome.code}\n{outcome.output[-2000:]}")
    for scenario in required:
        if scenario not in outcome.failed:
            faults.append(f"{name}: {scenario} did not run\n{outcome.output[-2000:]}")
            continue
        excused = None if has_fixtures else _NEEDS_FIXTURES.get(scenario)
        found = {check: why for check, why in outcome.failed[scenario].items() if excused is None or excused not in why}
        if found:
            faults.append(f"{name}: {scenario} failed: {', '.join(sorted(found))}")
    passed = [scenario for scenario, checks in outcome.failed.items() if not checks]
    others = sorted(outcome.failed.keys() - set(passed) - set(required)) if has_fixtures else []
    summary = f"{len(passed)} of {len(outcome.failed)} scenarios pass, {len(required)} must"
    sys.stdout.write(f"{name}: {summary}{'; not served: ' + ', '.join(others) if others else ''}\n")
    return faults


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
