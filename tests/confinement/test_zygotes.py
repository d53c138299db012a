"""Zygotes and supervisors that are killed from outside at any time."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress

import pytest

from tests.confinement.targets import Target, Tried, children, descendants, list_machine_processes, list_sleepers
from tests.waiting import until

READ = "def f(): return 'answered'"


async def started(mark: str) -> list[int]:
    """Return the running processes, to wait for them."""
    return list_machine_processes(mark)


async def kill_all(board: Target, number: int = signal.SIGKILL) -> list[int]:
    """Send a signal to each zygote and return their pids."""
    found = board.zygotes()
    assert found
    for zygote in found:
        os.kill(zygote, number)
    return found


async def replaced(board: Target, before: list[int]) -> None:
    """Wait until none of these processes exists."""

    async def all_gone() -> bool:
        return not set(before) & set(board.zygotes())

    await until(all_gone)


async def test_a_call_is_answered_although_its_zygote_was_killed_before(board: Target) -> None:
    killed = await kill_all(board)
    # At once, before the board has had a turn to notice.
    tried = await asyncio.gather(
        *(board.python(READ) for _ in range(4)), *(board.shell("echo answered") for _ in range(4))
    )
    assert [one.output for one in tried[:4]] == ["answered"] * 4
    assert [one.output["stdout"] for one in tried[4:]] == ["answered\n"] * 4
    await replaced(board, killed)


async def test_a_call_continues_when_its_zygote_is_killed(board: Target, mark: str) -> None:
    script = f"sleep {mark} & echo $! > pid; wait; echo went on"
    code = "import subprocess\ndef f(mark: str): return subprocess.run(['sleep', mark]).returncode"
    calls = asyncio.gather(board.shell(script), board.python(code, {"mark": mark}))

    async def both_sleep() -> bool:
        return len(list_sleepers(mark)) == 2

    await until(both_sleep)
    await replaced(board, await kill_all(board))
    # Other calls succeed while these run.
    await board.check()
    for pid in list_sleepers(mark):
        os.kill(pid, signal.SIGTERM)
    shell, python = await calls
    assert (shell.output["stdout"], python.output) == ("went on\n", -signal.SIGTERM)


async def test_zygotes_that_are_killed_again_and_again_cost_no_call_more_than_a_clear_refusal(board: Target) -> None:
    calls = [asyncio.create_task(board.shell("sleep 0.05; echo answered")) for _ in range(20)]
    while not all(call.done() for call in calls):
        for zygote in board.zygotes():
            os.kill(zygote, signal.SIGKILL)
        await asyncio.wait(calls, timeout=0.1)
    for call in calls:
        if call.result().code == "succeeded":
            assert call.result().output["stdout"] == "answered\n"
        else:
            call.result().ended("unavailable", "was ended.* twice; try again")
            problem = call.result().result.problem
            assert problem is not None
            assert (problem.did_run, problem.retryable) == (False, True)


async def test_a_waiting_supervisor_can_be_killed_before_a_call(board: Target) -> None:
    for zygote in board.zygotes():
        for waiting in descendants(zygote):
            with suppress(ProcessLookupError):  # it may have ended by itself since it was listed
                os.kill(waiting, signal.SIGKILL)
    assert (await board.python(READ)).output == "answered"
    assert (await board.shell("echo answered")).output["stdout"] == "answered\n"


async def test_a_call_whose_supervisor_is_killed_fails_with_all_its_processes_gone(board: Target, mark: str) -> None:
    call = asyncio.create_task(board.shell(f"setsid sleep {mark} & sleep {mark}"))
    await until(lambda: started(mark))
    (supervisor,) = {
        child
        for zygote in board.zygotes()
        for child in children(zygote)
        if set(list_machine_processes(mark)) & descendants(child)
    }
    os.kill(supervisor, signal.SIGKILL)
    (await call).ended("execution_failed", "killed from outside before it reported a result")

    async def none_left() -> bool:
        return not list_machine_processes(mark)

    await until(none_left)


async def test_a_call_whose_supervisor_is_stopped_ends_in_time(board: Target, mark: str) -> None:
    call = asyncio.create_task(board.shell(f"sleep {mark}", timeout=3.0))
    await until(lambda: started(mark))
    (supervisor,) = {
        child
        for zygote in board.zygotes()
        for child in children(zygote)
        if set(list_machine_processes(mark)) & descendants(child)
    }
    os.kill(supervisor, signal.SIGSTOP)
    (await call).ended("timeout", "did not finish within")
    os.kill(supervisor, signal.SIGCONT)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGSEGV])
async def test_any_other_signal_to_a_zygote_costs_no_call(board: Target, number: int) -> None:
    await kill_all(board, number)
    assert (await board.python(READ)).output == "answered"
    assert (await board.shell("echo answered")).output["stdout"] == "answered\n"


async def test_calls_of_a_zygote_that_is_stopped_end_in_time(board: Target) -> None:
    name = await board.add("python", {"code": READ, "timeout": 1.0})
    stopped = await kill_all(board, signal.SIGSTOP)
    try:
        # A waiting supervisor takes the first call; the stopped zygote cannot start the second.
        for _ in range(2):
            tried = Tried(await board.board.call(name))
            assert tried.code in ("succeeded", "timeout", "unavailable")
    finally:
        for zygote in stopped:
            os.kill(zygote, signal.SIGCONT)
