"""The page on security names, for each promise, a test that exists."""

from __future__ import annotations

import ast
import re
from datetime import timedelta
from pathlib import Path

import pytest

from pegboard import dialect_calls
from pegboard.concurrency import fair_queue
from pegboard.dialects import call_assembler
from pegboard.journal import idempotency, writer
from pegboard.json_schema import validation_cost
from pegboard.kinds import upstream_limits
from pegboard.stages import large_reads, run
from pegboard.surfaces.rest import baseline_routes, connection_limits
from pegboard.testing import NoSettings
from tests.docs.pages import ROOT, codes_in, rows_of, section, text_of

PAGE = "docs/security.md"
_REFERENCE = re.compile(r"tests/[\w/.]*[\w](?:::\w+)*")


def references() -> list[str]:
    """Return each path of a test on the page, and the name of the test if there is one."""
    return sorted(set(_REFERENCE.findall(text_of(PAGE))))


def defined_in(file: Path) -> set[str]:
    """The names of the functions, methods and classes of a file."""
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}


@pytest.mark.parametrize("reference", references())
def test_every_test_that_the_page_names_exists(reference: str) -> None:
    path, *names = reference.split("::")
    file = ROOT / path
    assert file.is_file() and file.name.startswith("test_"), f"{PAGE} names {reference}"
    defined = defined_in(file)
    assert any(name.startswith("test_") for name in defined), f"{path} holds no test"
    assert not set(names) - defined, f"{PAGE} names {reference}"


@pytest.mark.parametrize("heading", ["What is defended", "What a call cannot do"])
def test_every_promise_names_a_test(heading: str) -> None:
    rows = rows_of(section(PAGE, heading))
    assert len(rows) > 10
    for row in rows:
        assert [code for code in codes_in(row[-1]) if code.startswith("tests/")], f"{row[0]} names no test"


def test_the_numbers_on_the_page_are_those_of_the_code() -> None:
    settings, mib = NoSettings(), 2**20
    numbers = [
        f"at most {connection_limits.MAX_HEAD_BYTES // 1024} KiB and {connection_limits.MAX_HEAD_FIELDS} fields",
        f"complete within {connection_limits.HEAD_TIMEOUT_SECONDS:.0f} seconds",
        f"The body of a request is at most {settings.max_body_bytes // mib} MiB",
        f"`/v1/imports/openapi` {settings.max_import_bytes // mib} MiB",
        f"`/v1/baseline/resolve` {baseline_routes.MAX_BODY_BYTES // mib} MiB",
        f"JSON bodies above {large_reads.LARGE_BYTES // 1024} KiB",
        f"A payload above {large_reads.LARGE_BYTES // 1024} KiB",
        f"at most {dialect_calls.MAX_PAYLOAD_CALLS} calls without an answer and "
        f"{call_assembler.MAX_CALLS:,} calls in all",
        f"A user may have {large_reads.MAX_WAITING} waiting",
        f"at most {validation_cost.MAX_CHECKS:,} checks",
        f"at most {upstream_limits.MAX_CALLS_PER_USER} calls of http tools, and "
        f"{upstream_limits.MAX_CALLS_PER_USER} of mcp tools",
        f"kept for {idempotency.ANSWER_LIFETIME // timedelta(hours=1)} hours",
        f"kept, up to {run.MAX_KEPT_PRINTED_BYTES // 1024} KiB a call",
        f"{settings.sandbox_memory // mib} MiB a process",
        f"the folder holds {settings.sandbox_disk // mib} MiB",
        f"{settings.sandbox_processes} processes and threads a call",
        f"a queue of {fair_queue.MAX_WAITING_CALLS:,} a user",
    ]
    text = text_of(PAGE)
    assert [number for number in numbers if number not in text] == []
    assert (writer.EXPIRE_INTERVAL_SECONDS, "removed within ten minutes" in text) == (600, True)
