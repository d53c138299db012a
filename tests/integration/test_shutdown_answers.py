"""A server asked to stop while a call runs longer than it waits: the caller and the journal are informed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from pegboard import Pegboard
from pegboard.testing import NoSettings, calls_of
from tests.board_surfaces import KEY
from tests.fork_server import forked_command
from tests.surfaces.cli.run_program import Program
from tests.surfaces.rest.clients import bearer, good

HANDLER = """
import asyncio


async def hang() -> None:
    print("hanging", flush=True)
    await asyncio.sleep(3600)
"""
TOOL = {"name": "hang", "tool_type": "internal", "config": {"handler": "hang"}, "timeout": 600}
WAIT = 30


@contextmanager
def server(
    home: Path, packages: Path, *options: str, drain: int = 1, real: bool = False
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server that waits this many seconds for running calls, with a handler that hangs; and its address."""
    words = ("pegboard", "serve", "--port", "0", *options)
    packages.mkdir()
    (packages / "hanging_tools.py").write_text(HANDLER)
    info = packages / "hanging_tools-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hanging-tools\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[pegboard.handlers]\nhang = hanging_tools:hang\n")
    program = Program(
        {
            "PEGBOARD_HOME": str(home),
            "PEGBOARD_ADMIN_KEY": KEY,
            "PEGBOARD_DRAIN_SECONDS": str(drain),
            "PYTHONPATH": os.pathsep.join([str(packages), *filter(None, [os.environ.get("PYTHONPATH")])]),
            "PYTHONUNBUFFERED": "1",
        }
    )
    with subprocess.Popen(
        (sys.executable, "-m", *words) if real else forked_command(*words),
        env=program.full_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    ) as process:
        stop = threading.Timer(WAIT, process.kill)
        stop.start()
        try:
            yield process, read_line_after(process, "serving at ").split()[0]
        finally:
            stop.cancel()
            process.kill()


def read_line_after(process: subprocess.Popen[str], words: str) -> str:
    """Return the text after these words in the next line of its output that contains them."""
    assert process.stdout is not None
    for line in process.stdout:
        _, found, rest = line.partition(words)
        if found:
            return rest
    raise AssertionError(f"it ended without saying '{words}'")


async def read_rows(home: Path) -> list[tuple[str, str, str | None, str | None]]:
    """The rows of the journal in this folder."""
    async with Pegboard.open(settings=NoSettings(home=home)) as board:
        return [(row.tool_name, row.status, row.code, row.error) for row in await calls_of(board)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_waiting_caller_is_asked_to_try_again_and_the_row_is_cancelled(
    tmp_path: Path, number: signal.Signals
) -> None:
    home = tmp_path / "home"
    with (
        server(home, tmp_path / "packages") as (process, url),
        httpx.Client(base_url=url, headers=bearer(KEY), timeout=WAIT) as client,
        ThreadPoolExecutor(2) as threads,
    ):
        good(client.post("/v1/tools", json={**TOOL, "input_schema": {"type": "object"}}), 201)
        one = threads.submit(client.post, "/v1/tools/hang/call", json={})
        read_line_after(process, "hanging")
        many = threads.submit(client.post, "/v1/calls", json=[{"name": "hang", "arguments": {}}])
        read_line_after(process, "hanging")
        process.send_signal(number)
        answers = [one.result(WAIT), many.result(WAIT)]
        assert process.wait(WAIT) == 0
    for answer in answers:
        assert answer.status_code == 503, answer.text
        assert int(answer.headers["retry-after"]) >= 1
        assert answer.headers["content-type"] == "application/problem+json"
        assert "shut down before the call had ended" in answer.json()["detail"]
    assert asyncio.run(read_rows(home)) == [("hang", "failed", "cancelled", "The server was stopped")] * 2


def test_a_second_interrupt_cancels_running_calls_and_records_them(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with (
        server(home, tmp_path / "packages", drain=30) as (process, url),
        httpx.Client(base_url=url, headers=bearer(KEY), timeout=WAIT) as client,
        ThreadPoolExecutor(1) as threads,
    ):
        good(client.post("/v1/tools", json={**TOOL, "input_schema": {"type": "object"}}), 201)
        one = threads.submit(client.post, "/v1/tools/hang/call", json={})
        read_line_after(process, "hanging")
        process.send_signal(signal.SIGINT)
        assert read_line_after(process, "Waiting for 1 call, ").strip() == "at most 30 s; Ctrl-C again stops at once"
        process.send_signal(signal.SIGINT)
        answer = one.result(WAIT)
        assert process.wait(WAIT) == 0
    assert answer.status_code == 503, answer.text
    assert asyncio.run(read_rows(home)) == [("hang", "failed", "cancelled", "The server was stopped")]


def test_without_running_calls_nothing_is_waited_for(tmp_path: Path) -> None:
    with server(tmp_path / "home", tmp_path / "packages", drain=30, real=True) as (process, _url):
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        assert "Waiting" not in process.stdout.read()
        assert process.wait(WAIT) == 0
