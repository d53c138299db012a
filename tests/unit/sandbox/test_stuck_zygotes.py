"""Zygotes that hang, and calls whose start was not seen: it is reported correctly whether they ran."""

from __future__ import annotations

import asyncio
import math
import os
import resource
import secrets
import signal
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from pegboard.model.call_errors import TimedOut, Unavailable
from pegboard.sandbox import call_channel, zygote_process
from pegboard.sandbox import sandbox as module
from pegboard.sandbox.environment_spec import build_zygote_spec
from pegboard.sandbox.sandbox import EnvironmentSpec, Sandbox
from pegboard.sandbox.zygote_pool import ZygotePool
from pegboard.sandbox.zygote_process import Zygote, ZygoteGone
from tests.event_loops import USE_UVLOOP
from tests.unit.sandbox.confined_tools import command, later, open_sandbox, script, until_idle, until_running
from tests.waiting import until


@pytest.fixture(params=USE_UVLOOP)
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """The event loop of tests, and that of the server."""
    return "asyncio", {"use_uvloop": request.param}


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a process that is asked to exit little time."""
    monkeypatch.setattr(call_channel, "CALL_EXIT_SECONDS", 0.2)
    monkeypatch.setattr(zygote_process, "ZYGOTE_EXIT_SECONDS", 0.2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that every user may write to."""
    tmp_path.chmod(0o777)
    return tmp_path


def zygote_of(box: Sandbox) -> Zygote:
    (found,) = box.stats().zygotes
    return found


async def stopped(box: Sandbox) -> Zygote:
    """The zygote of a box that has run a call, which hangs now."""
    await box.run(command("true"), "ann", later())
    await until_idle(box)
    found = zygote_of(box)
    os.kill(found.pid, signal.SIGSTOP)
    return found


async def test_a_call_that_ran_unnoticed_until_the_board_closes_is_not_reported_not_to_have(folder: Path) -> None:
    mark = f"{1000 + secrets.randbelow(10**6)}.{secrets.randbelow(10**9):09}"
    environment = EnvironmentSpec(working_dir=str(folder), writable=True)
    async with open_sandbox() as box:
        await box.run(command("true", environment=environment), "ann", later())
        job = script(f"touch ran; exec sleep {mark}", environment=environment, cwd=str(folder))
        task = asyncio.create_task(box.run(job, "ann", later()))
        await asyncio.sleep(0)
        deadline = time.monotonic() + 60
        while not (folder / "ran").exists() and time.monotonic() < deadline:
            os.sched_yield()  # the loop has no turn
        await box.close()
        with pytest.raises(Unavailable, match="shutting down") as refused:
            await task
    assert (folder / "ran").exists()
    assert refused.value.did_run is True


async def test_a_call_in_the_hands_of_a_zygote_that_hangs_did_not_run_and_never_will(folder: Path) -> None:
    environment = EnvironmentSpec(working_dir=str(folder), writable=True)
    async with open_sandbox() as box:
        await box.run(command("true", environment=environment), "ann", later())
        await until_idle(box)
        hangs = zygote_of(box)
        os.kill(hangs.pid, signal.SIGSTOP)
        job = command("touch", "ran", environment=environment, cwd=str(folder))
        with pytest.raises(Unavailable, match="not begun by its deadline") as refused:
            await box.run(job, "ann", later(0.1))
        assert refused.value.did_run is False
        os.kill(hangs.pid, signal.SIGCONT)
        # All earlier requests are done by then.
        assert (await box.run(command("ls", environment=environment, cwd=str(folder)), "ann", later())).stdout == b""


async def test_a_zygote_that_hangs_is_replaced_and_the_call_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_sandbox() as box:
        hangs = await stopped(box)
        # Enough for its replacement to begin the call, also on a busy machine.
        monkeypatch.setattr(module, "ZYGOTE_SILENCE_SECONDS", 2.0)
        with anyio.fail_after(30):
            assert (await box.run(command("true"), "ann", later())).code == 0
        assert zygote_of(box) is not hangs


async def test_a_zygote_that_hangs_is_replaced_although_each_call_has_less_time_than_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with open_sandbox() as box:
        hangs = await stopped(box)
        monkeypatch.setattr(module, "ZYGOTE_SILENCE_SECONDS", 0.2)

        async def replaced() -> bool:
            with pytest.raises(Unavailable, match="not begun by its deadline"):
                await box.run(command("true"), "ann", later(0.05))
            return hangs not in box.stats().zygotes

        await until(replaced)


async def test_a_zygote_that_is_slow_and_begins_calls_is_not_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ZYGOTE_SILENCE_SECONDS", 0.02)
    news: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    looks = iter([False, False, False, True])

    class Slow:
        """A zygote that begins this call only after another one."""

        @property
        def silent_since(self) -> float:
            if next(looks):
                news.set_result(None)
            return time.monotonic()

    await module.wait_for_event(news, Slow(), math.inf)  # type: ignore[arg-type]  # all it looks at
    assert list(looks) == []


async def test_a_call_that_does_not_end_when_it_should_is_known_to_have_run(monkeypatch: pytest.MonkeyPatch) -> None:
    mark = f"{1000 + secrets.randbelow(10**6)}.{secrets.randbelow(10**9):09}"
    async with open_sandbox() as box:
        monkeypatch.setattr(module, "END_GRACE_SECONDS", -19.0)
        task = asyncio.create_task(box.run(command("sleep", mark, seconds=20.0), "ann", later()))
        await until_running(mark)
        with pytest.raises(TimedOut) as late:
            await task
        assert late.value.did_run is True


@pytest.fixture
def _few_descriptors() -> Iterator[None]:
    """Set a limit of file descriptors so low that all of them can be used."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 512), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("_few_descriptors")
@pytest.mark.parametrize("free", range(6))
async def test_without_descriptors_no_zygote_starts_and_the_call_did_not_run(free: int) -> None:
    zygotes = ZygotePool(lambda _: "{}", most=1)
    taken: list[int] = []
    try:
        while True:
            taken.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        pass
    before = len(taken)
    for _ in range(free):
        os.close(taken.pop())
    try:
        with pytest.raises(Unavailable, match="can be started: Too many open files") as refused:
            await zygotes.of(EnvironmentSpec(), "ann")
        assert refused.value.did_run is False
        for _ in range(free):
            taken.append(os.open("/dev/null", os.O_RDONLY))
        assert len(taken) == before, "none of them leaked"
    finally:
        for descriptor in taken:
            os.close(descriptor)
        await zygotes.close()


async def test_a_zygote_that_ends_although_it_is_needed_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    async with open_sandbox() as box:
        await box.run(command("true"), "ann", later())
        ends = zygote_of(box)
        os.kill(ends.pid, signal.SIGTERM)
        await ends.exited.wait()
    (received,) = [record.getMessage() for record in caplog.records if "zygote_exited" in record.getMessage()]
    assert str(-signal.SIGTERM) in received


async def test_what_a_zygote_says_later_is_logged_and_not_without_end(caplog: pytest.LogCaptureFixture) -> None:
    async with open_sandbox() as box:
        await box.run(command("true"), "ann", later())
        mouth = os.open(f"/proc/{zygote_of(box).pid}/fd/1", os.O_WRONLY)
        for number in range(1, 31):
            os.write(mouth, b"Traceback: something broke\n")
            await until(partial(_reported, box, number))
        os.close(mouth)
    found = [record for record in caplog.records if "zygote_said" in record.getMessage()]
    assert len(found) == 20
    assert "something broke" in found[0].getMessage()


async def _reported(box: Sandbox, times: int) -> bool:
    return zygote_of(box).output.count(b"broke") >= times


async def test_a_call_that_waits_for_a_leaving_zygote_does_not_report_a_broken_environment() -> None:
    zygotes = ZygotePool(build_zygote_spec, most=1)
    waiting = asyncio.create_task(zygotes.of(EnvironmentSpec(), "ann"))
    await asyncio.sleep(0)
    (starting,) = zygotes.zygotes
    os.kill(starting.pid, signal.SIGTERM)
    with pytest.raises(ZygoteGone):
        await waiting
    await zygotes.close()
