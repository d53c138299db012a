"""The plugin in a separate pytest run."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.unit.contract.servers import serving

TESTS = """
import asyncio

from tests.unit.contract.servers import INPUT, TOOL, build_response

QUICK = {"calls": 1, "p95_ms": 10_000}


def test_good(contract_check):
    async def send(envelope):
        return build_response(envelope)

    report = asyncio.run(contract_check(TOOL, send=send, input_schema=INPUT, **QUICK))
    assert report.passed


def test_bad(contract_check):
    async def send(envelope):
        return {**build_response(envelope), "status": "fine"}

    asyncio.run(contract_check(TOOL, {"words": []}, send=send, **QUICK))


def test_over_http(contract_check):
    asyncio.run(contract_check(TOOL, {"words": ["a"]}, **QUICK))
"""


def pytest_of_its_own(folder: Path, *options: str) -> str:
    """Return the output of a pytest run; the plugin is loaded by its entry point if the package has one."""
    by_entry_point = any(point.value == "pegboard.contract.plugin" for point in entry_points(group="pytest11"))
    plugin = () if by_entry_point else ("-p", "pegboard.contract.plugin")
    slow_to_load = ("-p", "no:langsmith_plugin", "-p", "no:schemathesis")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *slow_to_load, *plugin, *options]
    root = str(Path(__file__).parents[3])
    where = ("--rootdir", str(folder), "-c", "/dev/null", "-o", f"pythonpath={root}", "-p", "no:randomly")
    done = subprocess.run([*command, *where], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr


def test_a_tool_that_breaks_the_contract_fails_its_test_with_the_report(tmp_path: Path) -> None:
    (tmp_path / "test_tools.py").write_text(TESTS)
    message = pytest_of_its_own(tmp_path, "-rs")
    assert "1 failed, 1 passed, 1 skipped" in message
    assert "schema: status is one of new, existing, error" in message
    assert "no server to check: give --pegboard-contract URL" in message


async def test_the_option_says_where_envelopes_are_posted_to(tmp_path: Path) -> None:
    import anyio.to_thread

    (tmp_path / "test_tools.py").write_text(TESTS)
    async with serving() as url:
        result = await anyio.to_thread.run_sync(
            lambda: pytest_of_its_own(tmp_path, "-k", "over_http", "--pegboard-contract", url)
        )
    assert "1 passed, 2 deselected" in result


@pytest.mark.parametrize(
    "module", ["httpx", "orjson", "jsonschema_rs", "pydantic", "pegboard.contract.compliance_check"]
)
def test_other_test_runs_load_nothing_of_it(module: str) -> None:
    code = f"import sys, pegboard.contract.plugin; sys.exit({module!r} in sys.modules)"
    subprocess.run([sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}"], check=True)
