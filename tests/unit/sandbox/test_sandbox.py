"""Jobs run confined, as real processes: their results, and which jobs are refused."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from pegboard.model.call_errors import InternalError, Misconfigured, Unavailable
from pegboard.sandbox import sandbox as module
from pegboard.sandbox.limits import SandboxLimits
from pegboard.sandbox.sandbox import EnvironmentSpec, SandboxJob
from pegboard.sandbox.zygote_process import Zygote
from tests.event_loops import USE_UVLOOP
from tests.unit.http_client.upstreams import answer, serve_responses
from tests.unit.sandbox.confined_tools import children_now, command, later, listed, open_sandbox, script, until_running
from tests.waiting import until


@pytest.fixture(params=USE_UVLOOP)
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """The event loop of tests, and that of the server."""
    return "asyncio", {"use_uvloop": request.param}


async def test_a_command_gives_what_it_wrote_and_its_status() -> None:
    async with open_sandbox() as box:
        ended = await box.run(script("cat; echo out; echo err >&2; exit 3", stdin="in, "), "ann", later())
    assert (ended.fate, ended.code) == ("exited", 3)
    assert (ended.stdout, ended.stderr) == (b"in, out\n", b"err\n")


async def test_a_command_starts_in_its_work_folder_or_where_it_was_instructed_to() -> None:
    async with open_sandbox() as box:
        for cwd, seen in ((".", b"/call"), ("/usr/bin", b"/usr/bin")):
            assert (await box.run(script("pwd", cwd=cwd), "ann", later())).stdout.strip() == seen
        assert (await box.run(script("touch new && ls"), "ann", later())).stdout == b"new\n"


async def test_a_job_of_megabytes_and_as_much_output_pass() -> None:
    text = "x" * 3_000_000
    async with open_sandbox(
        limits=SandboxLimits(output=2**22, memory=512 * 2**20, processes=64, disk=256 * 2**20)
    ) as box:
        ended = await box.run(script("tee /dev/stderr", stdin=text), "ann", later())
    assert len(ended.stdout) == len(ended.stderr) == len(text)


async def test_numbers_and_texts_that_plain_json_cannot_carry_do_arrive() -> None:
    async with open_sandbox() as box:
        code = "def f(big, half):\n    return [str(big), ascii(half)]"
        values = {"kind": "python", "code": code, "entry": "f", "arguments": {"big": 10**40, "half": "\ud800"}}
        environment = EnvironmentSpec(python=True)
        ended = await box.run(SandboxJob(environment, {"env": {}, "cwd": ".", **values}, 20.0, 2**20), "ann", later())
    assert json.loads(ended.result) == {"ok": [str(10**40), ascii("\ud800")]}


async def test_a_hundred_first_calls_at_once_start_one_zygote() -> None:
    async with open_sandbox(children=100) as box:
        before = children_now()
        ended = await asyncio.gather(*(box.run(command("true"), f"user {n}", later()) for n in range(100)))
        assert [one.code for one in ended] == [0] * 100
        assert len(children_now() - before) == 1


async def test_a_call_has_what_is_left_until_its_deadline_and_no_more() -> None:
    async with open_sandbox() as box:
        await box.run(command("true"), "ann", later())
        ended = await box.run(command("sleep", "3600", seconds=3600.0), "ann", later(10.0))
    assert ended.fate == "time"


async def test_a_call_without_slot_at_its_deadline_is_refused_without_having_run() -> None:
    async with open_sandbox(children=1) as box:
        holds = asyncio.create_task(box.run(command("sleep", "61.25"), "ann", later()))
        await until_running("61.25")
        with pytest.raises(Unavailable, match="all 1 places") as refused:
            await box.run(command("true"), "bob", later(0.05))
        assert refused.value.did_run is False
        holds.cancel()
        # A cancelled call gives its slot to the next.
        assert (await box.run(command("true"), "bob", later())).code == 0


@pytest.mark.parametrize(
    ("folder", "why"),
    [
        ("/nonexistent/folder", "No such file"),
        ("/etc/hostname", "not a folder"),
        ("/", "whole file system"),
        ("/proc", "for itself"),
        ("/dev/shm", "for itself"),
        ("/tmp/../proc/self", "for itself"),
        ("etc", "No such file|absolute"),
        ("/a\0b", "null byte"),
    ],
)
async def test_a_working_dir_that_cannot_be_shown_is_refused(folder: str, why: str) -> None:
    async with open_sandbox() as box:
        with pytest.raises(Misconfigured, match=why) as refused:
            await box.run(command("true", environment=EnvironmentSpec(working_dir=folder)), "ann", later())
        assert refused.value.did_run is False
        assert box.stats().running == 0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that every user may use, with a file in it."""
    made = tmp_path / "here"
    made.mkdir()
    made.chmod(0o777)
    (made / "file").write_text("seen")
    return made


@pytest.mark.parametrize("writable", [False, True])
async def test_a_working_dir_is_seen_and_is_written_to_only_if_it_may(folder: Path, writable: bool) -> None:
    environment = EnvironmentSpec(working_dir=str(folder), writable=writable)
    async with open_sandbox() as box:
        ended = await box.run(script("cat file; touch new", environment=environment, cwd=str(folder)), "ann", later())
    assert ended.stdout == b"seen", ended.stderr
    assert (ended.code == 0) is writable
    assert listed(folder) == (["file", "new"] if writable else ["file"])


async def test_network_without_namespaces_is_refused() -> None:
    async with open_sandbox(without=("namespaces",)) as box:
        with pytest.raises(Misconfigured, match="network: true needs namespaces"):
            await box.run(command("true", network=True), "ann", later())


async def test_a_call_with_network_reaches_what_the_guard_allows_and_nothing_else() -> None:
    code = """
import sys, urllib.error, urllib.request
for url in sys.argv[1:]:
    try:
        print(urllib.request.urlopen(url).read().decode())
    except urllib.error.HTTPError as error:
        print(error.code)
"""
    async with serve_responses(answer(b"hello")) as up, open_sandbox(allow=f"127.0.0.1:{up.port}") as box:
        urls = [f"http://127.0.0.1:{up.port}/", "http://127.0.0.2:1/"]
        ended = await box.run(command(sys.executable, "-c", code, *urls, network=True), "ann", later())
        assert (ended.stdout, ended.stderr) == (b"hello\n403\n", b"")
        await until(lambda: _none_left(box))


async def _none_left(box: module.Sandbox) -> bool:
    return box.stats().chores == box.stats().open == 0


async def test_a_step_that_fails_is_the_set_ups_fault_and_nothing_ran() -> None:
    async with open_sandbox() as box:
        job = SandboxJob(EnvironmentSpec(), {"kind": "exec", "argv": ["true"]}, 5.0, 1000)
        with pytest.raises(Misconfigured, match="could not be confined, so it did not run") as refused:
            await box.run(job, "ann", later())
        assert refused.value.did_run is False


async def test_nonsense_from_the_other_end_is_a_fault_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    async def babble(self: Zygote, theirs: socket.socket, *, network: bool) -> None:
        theirs.send(b"HTTP/1.1 200 OK")
        self.calls += 1

    monkeypatch.setattr(Zygote, "begin", babble)
    async with open_sandbox() as box:
        with pytest.raises(InternalError):
            await box.run(command("true"), "ann", later())


async def test_warming_makes_the_first_call_find_its_zygote() -> None:
    async with open_sandbox() as box:
        before = children_now()
        await box.warm(EnvironmentSpec())
        (warm,) = children_now() - before
        await box.warm(EnvironmentSpec(working_dir="/nonexistent/folder"))
        assert (await box.run(command("true"), "ann", later())).code == 0
        assert children_now() - before == {warm}


async def test_a_zygote_that_is_not_ready_by_the_deadline_is_still_there_for_the_next_call() -> None:
    async with open_sandbox() as box:
        with (
            anyio.fail_after(30),
            pytest.raises(Unavailable, match="were not loaded by the call's deadline") as refused,
        ):
            await box.run(command("true"), "ann", later(0.001))
        assert refused.value.did_run is False
        before = children_now()
        assert (await box.run(command("true"), "ann", later())).code == 0
        assert children_now() == before
