"""Confined calls that are interrupted by their caller, the board or the machine leave nothing behind."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from pegboard.model.call_errors import ExecutionFailed, Unavailable
from pegboard.sandbox import call_channel
from pegboard.sandbox import zygote_process as zygote_module
from pegboard.sandbox.sandbox import ConfinedResult, Sandbox
from pegboard.sandbox.zygote_process import Zygote
from tests.event_loops import USE_UVLOOP
from tests.unit.sandbox.confined_tools import (
    children_now,
    children_of,
    command,
    descriptors,
    is_process,
    later,
    open_sandbox,
    processes_of,
    script,
    until_idle,
    until_over,
    until_running,
)
from tests.waiting import until


@pytest.fixture(params=USE_UVLOOP)
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """The event loop of tests, and that of the server."""
    return "asyncio", {"use_uvloop": request.param}


@pytest.fixture
def mark() -> str:
    """A number of seconds for `sleep` that no other test uses."""
    return f"{1000 + secrets.randbelow(10**6)}.{secrets.randbelow(10**9):09}"


def parent_of(mark: str) -> int:
    """The process that has started the command of this mark: a shell, or a call's supervisor."""
    (command,) = processes_of(mark, "sleep")
    return int(Path(f"/proc/{command}/stat").read_bytes().rpartition(b")")[2].split()[1])


def zygote_of(box: Sandbox) -> Zygote:
    (zygote,) = box.stats().zygotes
    return zygote


async def test_a_cancelled_call_is_gone_with_all_its_processes_before_its_place_is_given_away(mark: str) -> None:
    async with open_sandbox(children=1) as box:
        task = asyncio.create_task(box.run(script(f"setsid sleep {mark} & sleep {mark}"), "ann", later()))
        await until_running(mark)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with anyio.fail_after(30):
            assert (await box.run(command("true"), "bob", later())).code == 0
        await until_over(mark)
        await until_idle(box)


async def test_a_cancelled_call_keeps_its_place_until_it_is_really_gone(mark: str) -> None:
    async with open_sandbox(children=1) as box:
        task = asyncio.create_task(box.run(command("sleep", mark), "ann", later()))
        await until_running(mark)
        supervisor = parent_of(mark)
        os.kill(supervisor, signal.SIGSTOP)
        task.cancel()
        await asyncio.wait([task])
        with pytest.raises(Unavailable, match="all 1 places"):
            await box.run(command("true"), "bob", later(0.3))
        os.kill(supervisor, signal.SIGCONT)
        assert (await box.run(command("true"), "bob", later())).code == 0


async def test_two_hundred_calls_half_of_them_cancelled_leave_nothing() -> None:
    async with open_sandbox(children=16) as box:
        await box.run(command("true"), "ann", later())
        await until_idle(box)
        processes, opened = children_now(), descriptors()
        waiting = len(children_of(zygote_of(box).pid))
        jobs = [command("true") if number % 2 else command("sleep", "60") for number in range(200)]
        tasks = [asyncio.create_task(box.run(job, f"user {n % 7}", later(60))) for n, job in enumerate(jobs)]
        for number, task in enumerate(tasks):
            if number % 2 == 0:
                # Some wait for a place then, some are being started, and some run.
                asyncio.get_running_loop().call_later(number * 0.005, task.cancel)
        with anyio.fail_after(60):
            ends = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(end) for end in ends] == [asyncio.CancelledError, ConfinedResult] * 100
        await until_idle(box)
        assert children_now() == processes
        assert descriptors() == opened
        assert zygote_of(box).calls == 0

        async def no_call_is_left() -> bool:
            return len(children_of(zygote_of(box).pid)) <= waiting

        await until(no_call_is_left)


async def test_closing_ends_calls_that_run_and_refuses_those_that_wait(mark: str) -> None:
    async with open_sandbox(children=1) as box:
        runs = asyncio.create_task(box.run(command("sleep", mark), "ann", later()))
        await until_running(mark)
        waits = asyncio.create_task(box.run(command("true"), "ann", later()))
        await asyncio.sleep(0)
        await box.close()
        for task, did_run in ((runs, True), (waits, False)):
            with pytest.raises(Unavailable, match="shutting down") as refused:
                await task
            assert refused.value.did_run is did_run
        await until_over(mark)
        with pytest.raises(Unavailable, match="shutting down"):
            await box.run(command("true"), "ann", later())


async def test_closing_ends_calls_of_a_zygote_that_is_stopped(mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_channel, "CALL_EXIT_SECONDS", 0.2)
    monkeypatch.setattr(zygote_module, "ZYGOTE_EXIT_SECONDS", 0.2)
    async with open_sandbox() as box:
        runs = asyncio.create_task(box.run(command("sleep", mark), "ann", later()))
        await until_running(mark)
        os.kill(zygote_of(box).pid, signal.SIGSTOP)
        stuck = asyncio.create_task(box.run(command("true"), "ann", later()))
        with anyio.fail_after(60):
            await box.close()
        for task in (runs, stuck):
            with pytest.raises(Unavailable):
                await task
        await until_over(mark)


@pytest.mark.parametrize("state", ["dead", "dying"])
async def test_a_zygote_that_died_unnoticed_is_replaced_and_the_call_runs(state: str) -> None:
    async with open_sandbox() as box:
        await box.run(command("true"), "ann", later())
        killed = zygote_of(box).pid
        os.kill(killed, signal.SIGKILL)  # the loop has no turn to see it before the call
        if state == "dead":
            os.waitid(os.P_PID, killed, os.WEXITED | os.WNOWAIT)  # noqa: ASYNC222 -- it must not have a turn
        assert (await box.run(command("true"), "ann", later())).code == 0
        assert zygote_of(box).pid != killed


async def test_a_call_continues_when_its_zygote_dies(mark: str) -> None:
    async with open_sandbox() as box:
        waits = script(f"trap 'echo went on; exit 0' USR1; sleep {mark} & wait")
        task = asyncio.create_task(box.run(waits, "ann", later()))
        await until_running(mark)
        zygote = zygote_of(box)
        os.kill(zygote.pid, signal.SIGKILL)
        await zygote.exited.wait()
        os.kill(parent_of(mark), signal.SIGUSR1)
        assert (await task).stdout == b"went on\n"


async def test_a_zygote_that_dies_with_the_call_in_its_hands_is_replaced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    begin, deaths = Zygote.begin, [True, False]

    async def dies(self: Zygote, theirs: socket.socket, *, network: bool) -> None:
        # The stopped process has received the call and not begun it.
        os.kill(self.pid, signal.SIGSTOP)
        await begin(self, theirs, network=network)
        os.kill(self.pid, signal.SIGKILL if deaths.pop(0) else signal.SIGCONT)

    monkeypatch.setattr(Zygote, "begin", dies)
    async with open_sandbox() as box:
        assert (await box.run(command("true"), "ann", later())).code == 0
        deaths += [True, True]
        with pytest.raises(Unavailable, match="twice") as refused:
            await box.run(command("true"), "ann", later())
        assert refused.value.did_run is False
        await until_idle(box)


async def test_a_call_whose_supervisor_is_killed_fails_with_all_its_processes_gone(mark: str) -> None:
    async with open_sandbox() as box:
        task = asyncio.create_task(box.run(command("sleep", mark), "ann", later()))
        await until_running(mark)
        supervisor = parent_of(mark)
        os.kill(supervisor, signal.SIGKILL)
        with pytest.raises(ExecutionFailed, match="killed from outside"):
            await task
        await until_over(mark)


async def test_nothing_is_left_of_a_server_that_is_killed(mark: str) -> None:
    code = """
import asyncio, sys
from tests.unit.sandbox.confined_tools import open_sandbox, command, later

async def serve():
    async with open_sandbox() as box:
        await box.run(command("sleep", sys.argv[1]), "ann", later())

asyncio.run(serve())
"""
    server = await asyncio.create_subprocess_exec(sys.executable, "-c", code, mark)
    family: list[int] = []
    try:
        await until_running(mark)
        todo = [server.pid]
        while todo:
            family += (below := children_of(todo.pop()))
            todo += below
    finally:
        server.kill()
        await server.wait()
    assert len(family) >= 3, "the zygote, supervisors and the command"

    async def all_are_gone() -> bool:
        return not any(is_process(pid) for pid in family)

    await until(all_are_gone)
