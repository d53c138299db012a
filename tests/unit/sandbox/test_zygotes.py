"""Zygotes, as real processes: started once, bounded in number, replaced when they die, ended when idle."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from pegboard.model.call_errors import Misconfigured, Unavailable
from pegboard.sandbox import zygote_process as zygote_module
from pegboard.sandbox.environment_spec import EnvironmentSpec, build_zygote_spec
from pegboard.sandbox.zygote_pool import ZygotePool
from pegboard.sandbox.zygote_process import Zygote, ZygoteGone
from tests.event_loops import USE_UVLOOP
from tests.unit.sandbox.confined_tools import (
    PLAIN,
    SiteFolder,
    children_now,
    children_of,
    descendants_of,
    descriptors,
    is_process,
    processes_of,
)
from tests.waiting import until


@pytest.fixture(params=USE_UVLOOP)
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """The event loop of tests, and that of the server."""
    return "asyncio", {"use_uvloop": request.param}


@pytest.fixture
def site_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SiteFolder:
    """Libraries of this test."""
    return SiteFolder(tmp_path, monkeypatch)


@asynccontextmanager
async def some(
    most: int = 4, received: Callable[[EnvironmentSpec], str] = build_zygote_spec, **settings: float
) -> AsyncIterator[ZygotePool]:
    """A pool; after it is closed, none of its processes and descriptors may be left."""
    processes, opened = children_now(), descriptors()
    zygotes = ZygotePool(received, most=most, **settings)
    try:
        yield zygotes
    finally:
        with anyio.fail_after(20):
            await zygotes.close()
    assert children_now() == processes
    assert descriptors() == opened


async def until_gone(pid: int) -> None:
    async def look() -> bool:
        return not is_process(pid)

    await until(look)


async def found(look: Callable[[], bool]) -> bool:
    return look()


async def test_a_hundred_calls_of_one_environment_at_once_start_one_process() -> None:
    async with some() as zygotes:
        before = children_now()
        given = await asyncio.gather(*(zygotes.of(PLAIN, "ann") for _ in range(100)))
        assert len({zygote.pid for zygote in given}) == 1
        assert len(children_now() - before) == 1
        assert (await zygotes.of(PLAIN, "ann")).pid == given[0].pid


async def test_each_environment_has_a_zygote_of_its_own_with_its_libraries_loaded(site_folder: SiteFolder) -> None:
    library = site_folder.add("import sys\nsys.stderr.write('loaded\\n')\n")
    async with some() as zygotes:
        plain, other = await asyncio.gather(
            zygotes.of(PLAIN, "ann"), zygotes.of(EnvironmentSpec(python=True, modules=(library,)), "ann")
        )
        assert plain.pid != other.pid
        await until(lambda: found(lambda: b"loaded" in other.output))


async def test_a_call_cancelled_while_its_zygote_starts_does_not_end_the_zygote(
    site_folder: SiteFolder,
) -> None:
    environment = EnvironmentSpec(python=True, modules=(site_folder.add("import time\ntime.sleep(0.2)"),))
    async with some() as zygotes:
        first = asyncio.create_task(zygotes.of(environment, "ann"))
        second = asyncio.create_task(zygotes.of(environment, "ann"))
        await until(lambda: found(lambda: bool(zygotes.zygotes)))
        first.cancel()
        assert (await second).is_ready
        assert first.cancelled()


async def test_a_library_that_is_not_there_or_fails_is_named(site_folder: SiteFolder) -> None:
    broken = site_folder.add("raise RuntimeError('no licence')")
    async with some() as zygotes:
        with pytest.raises(Misconfigured, match="nowhere_to_be_found") as refused:
            await zygotes.of(EnvironmentSpec(python=True, modules=("nowhere_to_be_found",)), "ann")
        assert refused.value.did_run is False
        for _ in range(2):
            with pytest.raises(Misconfigured, match=f"{broken}.*no licence"):
                await zygotes.of(EnvironmentSpec(python=True, modules=(broken,)), "ann")
        await until(lambda: found(lambda: not zygotes.zygotes))


async def test_a_library_that_ends_its_process_is_refused_with_what_it_reported(site_folder: SiteFolder) -> None:
    library = site_folder.add("import os\nprint('x' * 300_000, 'goodbye', flush=True)\nos._exit(3)")
    async with some() as zygotes:
        with pytest.raises(Misconfigured, match=r"exited with status 3; the end of its output: .*goodbye") as refused:
            await zygotes.of(EnvironmentSpec(python=True, modules=(library,)), "ann")
        assert len(refused.value.message) < 1000


async def test_a_zygote_that_never_gets_ready_is_ended_in_time(site_folder: SiteFolder) -> None:
    environment = EnvironmentSpec(python=True, modules=(site_folder.add("while True: pass"),))
    async with some(start_seconds=0.3) as zygotes:
        before = children_now()
        with anyio.fail_after(30), pytest.raises(Misconfigured, match=r"was not ready within 0\.3 seconds"):
            await zygotes.of(environment, "ann")
        await until(lambda: found(lambda: children_now() == before))


@pytest.mark.parametrize("words", ["ready", "[]", "5", '"failed"', '{"failed": 1}'])
async def test_a_zygote_that_says_nonsense_is_not_used(site_folder: SiteFolder, words: str) -> None:
    code = f"import os, time\nos.write(3, {words.encode()!r})\ntime.sleep(60)"
    environment = EnvironmentSpec(python=True, modules=(site_folder.add(code),))
    async with some() as zygotes:
        with anyio.fail_after(30), pytest.raises(Misconfigured, match="sent an invalid message"):
            await zygotes.of(environment, "ann")


async def test_a_zygote_that_is_killed_is_replaced() -> None:
    async with some() as zygotes:
        first = await zygotes.of(PLAIN, "ann")
        below = children_of(first.pid)
        os.kill(first.pid, signal.SIGKILL)
        await first.exited.wait()
        for pid in (first.pid, *below):
            await until_gone(pid)
        second = await zygotes.of(PLAIN, "ann")
        assert second.pid != first.pid


async def test_a_call_that_waits_for_a_killed_zygote_gets_an_error(site_folder: SiteFolder) -> None:
    environment = EnvironmentSpec(python=True, modules=(site_folder.add("import time\ntime.sleep(60)"),))
    async with some() as zygotes:
        waiting = asyncio.create_task(zygotes.of(environment, "ann"))
        await until(lambda: found(lambda: bool(zygotes.zygotes)))
        os.kill(zygotes.zygotes[0].pid, signal.SIGKILL)
        with pytest.raises(ZygoteGone):
            await waiting


async def test_a_call_that_waits_for_a_zygote_with_a_killed_library_gets_an_error(
    site_folder: SiteFolder,
) -> None:
    environment = EnvironmentSpec(python=True, modules=(site_folder.add("import os\nos.kill(os.getpid(), 9)"),))
    async with some() as zygotes:
        with pytest.raises(ZygoteGone):
            await zygotes.of(environment, "ann")


@pytest.mark.parametrize("message", ["", "import os\nos.write(3, b'ready')\n"], ids=["it is killed", "it gives up"])
async def test_a_library_that_never_ends_to_load_ends_with_its_zygote(site_folder: SiteFolder, message: str) -> None:
    environment = EnvironmentSpec(
        python=True, modules=(site_folder.add("print('loading', flush=True)\n" + message + "while True: pass"),)
    )
    async with some() as zygotes:
        waiting = asyncio.create_task(zygotes.of(environment, "ann"))
        await until(lambda: found(lambda: bool(zygotes.zygotes)))
        (zygote,) = zygotes.zygotes
        await until(lambda: found(lambda: b"loading" in zygote.output))
        below = children_of(zygote.pid)
        if not message:
            os.kill(zygote.pid, signal.SIGKILL)
        with pytest.raises((ZygoteGone, Misconfigured)):
            await waiting
        for pid in below:
            await until_gone(pid)


@pytest.mark.parametrize("then", ["", "while True: pass"], ids=["that is ready", "that never is"])
async def test_a_process_that_a_library_has_started_ends_with_its_zygote(
    site_folder: SiteFolder, then: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zygote_module, "ZYGOTE_EXIT_SECONDS", 0.2)
    code = "import subprocess\nstarted = subprocess.Popen(['sleep', '600'])\nprint('started', flush=True)\n"
    environment = EnvironmentSpec(python=True, modules=(site_folder.add(code + then),))
    async with some() as zygotes:
        waiting = asyncio.create_task(zygotes.of(environment, "ann"))
        await until(lambda: found(lambda: bool(zygotes.zygotes)))
        (zygote,) = zygotes.zygotes
        await until(lambda: found(lambda: b"started" in zygote.output))
        if then:
            waiting.cancel()
        await asyncio.wait([waiting])
        below = descendants_of(zygote.pid)
        # The kernel closes descriptors with close-on-exec before it shows the arguments of the new program.
        await until(lambda: found(lambda: bool(processes_of("600", "sleep") & set(below))))
        zygotes.drop(zygote)
        for pid in below:
            await until_gone(pid)


async def test_one_more_than_there_may_be_ends_the_one_unused_for_longest() -> None:
    environments = [EnvironmentSpec(allowed=(str(number),)) for number in range(3)]
    async with some(most=2) as zygotes:
        first, second = await zygotes.of(environments[0], "ann"), await zygotes.of(environments[1], "ann")
        await zygotes.of(environments[0], "ann")
        await zygotes.of(environments[2], "ann")
        await until_gone(second.pid)
        assert (await zygotes.of(environments[0], "ann")).pid == first.pid
        assert len(zygotes.zygotes) == 2


async def test_a_user_who_needs_another_zygote_loses_their_own_idle_one_first() -> None:
    environments = [EnvironmentSpec(allowed=(str(number),)) for number in range(4)]
    async with some(most=2) as zygotes:
        anns = await zygotes.of(environments[0], "ann")
        for environment in environments[1:]:
            bobs = await zygotes.of(environment, "bob")
        assert anns.is_ready
        assert bobs.is_ready


async def test_a_zygote_with_calls_is_ended_only_when_all_have_some() -> None:
    environments = [EnvironmentSpec(allowed=(str(number),)) for number in range(4)]
    async with some(most=2) as zygotes:
        busy, idle = await zygotes.of(environments[0], "ann"), await zygotes.of(environments[1], "ann")
        busy.calls += 1
        third = await zygotes.of(environments[2], "ann")
        await until_gone(idle.pid)
        third.calls += 1
        await zygotes.of(environments[3], "ann")
        assert not busy.is_ready, "the one used longest ago had to go"
        assert third.is_ready
        busy.note_call_ended()
        third.note_call_ended()
        await until_gone(busy.pid)


async def test_zygotes_that_start_are_not_thrown_out_by_others(site_folder: SiteFolder) -> None:
    slow = EnvironmentSpec(python=True, modules=(site_folder.add("import time\ntime.sleep(0.2)"),))
    async with some(most=1) as zygotes:
        before = children_now()
        first = asyncio.create_task(zygotes.of(slow, "ann"))
        await until(lambda: found(lambda: bool(zygotes.zygotes)))
        others = [
            asyncio.create_task(zygotes.of(EnvironmentSpec(allowed=(str(number),)), "ann")) for number in range(5)
        ]
        while not first.done():
            assert len(children_now() - before) == 1
            await asyncio.wait([first], timeout=0.02)
        assert isinstance(first.result(), Zygote)
        with anyio.fail_after(20):
            assert len(await asyncio.gather(*others)) == 5


async def test_an_idle_zygote_is_ended() -> None:
    async with some(idle_seconds=0.2) as zygotes:
        zygote = await zygotes.of(PLAIN, "ann")
        await until_gone(zygote.pid)
        assert not zygotes.zygotes


async def test_a_folder_that_was_replaced_by_another_gets_another_zygote(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir(mode=0o755)
    environment = EnvironmentSpec(working_dir=str(folder))
    async with some() as zygotes:
        first = await zygotes.of(environment, "ann")
        assert (await zygotes.of(environment, "ann")).pid == first.pid
        folder.rename(tmp_path / "old")
        with pytest.raises(Misconfigured, match="No such file"):
            await zygotes.of(environment, "ann")
        folder.mkdir(mode=0o755)
        assert (await zygotes.of(environment, "ann")).pid != first.pid


async def test_warming_starts_a_process_only_if_there_is_room() -> None:
    async with some(most=1) as zygotes:
        zygotes.warm(PLAIN)
        zygotes.warm(PLAIN)
        zygotes.warm(EnvironmentSpec(allowed=("a",)))
        assert len(zygotes.zygotes) == 1
        assert (await zygotes.of(PLAIN, "ann")).is_ready


async def test_closing_ends_zygotes_that_are_ready_or_starting_or_stopped(
    site_folder: SiteFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zygote_module, "ZYGOTE_EXIT_SECONDS", 0.2)
    hangs = EnvironmentSpec(python=True, modules=(site_folder.add("while True: pass"),))
    async with some() as zygotes:
        stopped = await zygotes.of(PLAIN, "ann")
        os.kill(stopped.pid, signal.SIGSTOP)
        waiting = asyncio.create_task(zygotes.of(hangs, "ann"))
        await until(lambda: found(lambda: len(zygotes.zygotes) == 2))
        await zygotes.close()
        assert not is_process(stopped.pid)
        with pytest.raises((ZygoteGone, Unavailable)):
            await waiting
        with pytest.raises(Unavailable, match="shutting down"):
            await zygotes.of(PLAIN, "ann")


async def test_if_no_process_can_be_started_the_call_is_refused_and_nothing_leaks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.executable", "/nonexistent/python")
    async with some() as zygotes:
        with pytest.raises(Unavailable, match="No such file") as refused:
            await zygotes.of(PLAIN, "ann")
        assert refused.value.did_run is False


async def test_an_environment_that_cannot_be_built_is_refused_with_the_step(tmp_path: Path) -> None:
    received = partial(_with_a_bind_of, str(tmp_path / "nothing"))
    async with some(received=received) as zygotes:
        with pytest.raises(Misconfigured, match=r"cannot confine the tool.*nothing"):
            await zygotes.of(PLAIN, "ann")


def _with_a_bind_of(path: str, environment: EnvironmentSpec) -> str:
    return build_zygote_spec(environment).replace('"binds": [', f'"binds": [["{path}", "{path}", false], ')
