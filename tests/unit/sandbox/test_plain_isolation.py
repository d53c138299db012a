"""Calls without namespaces: none of their files and processes is left, and file access is still restricted."""

from __future__ import annotations

import os
import secrets
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.sandbox.supervisor_channel import Ended, Refused, Zygote, command, living, make_zygote_spec, zygote

FORK_BOMB = """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
"""
MEMORY_OF_MANY = """
import os, signal
for number in range(12):
    if os.fork() == 0:
        break
taken = bytearray(60 * 2**20)
signal.pause()
"""


class Bare:
    """A zygote without namespaces, and the folder that the server makes for each call."""

    def __init__(self, zygote: Zygote, folder: Path) -> None:
        self.zygote = zygote
        self.folder = folder

    def shell(self, script: str, **changes: Any) -> Ended:
        """How a script ended."""
        return self.run("sh", "-c", script, **changes)

    def run(self, *argv: str, **changes: Any) -> Ended:
        """How a command ended."""
        work = self.new_folder()
        return self.zygote.run(*argv, **{"folder": str(work), "cwd": str(work)} | changes)

    def new_folder(self) -> Path:
        """Create a work folder like the server's."""
        work = self.folder / secrets.token_hex(4)
        work.mkdir()
        if os.geteuid() == 0:
            os.chown(work, 65_534, 65_534)
        return work


@pytest.fixture
def bare(user: str, folder: Path) -> Iterator[Bare]:
    """A zygote without namespaces."""
    with zygote(make_zygote_spec(without=["namespaces"]), user) as started:
        yield Bare(started, folder)


def test_a_command_runs_in_its_folder_which_is_gone_afterwards(bare: Bare) -> None:
    ended = bare.shell("echo x > file; mkdir -p a/b; touch a/b/c; pwd; cat file; echo $HOME $TMPDIR")
    first, second, third = ended.stdout.decode().splitlines()
    assert (ended.fate, second) == ("exited", "x")
    assert first.startswith(str(bare.folder))
    assert third == f"{first} {first}"
    assert not Path(first).exists()


def test_other_files_cannot_be_read_or_written(bare: Bare) -> None:
    (bare.folder / "secret").write_text("x")
    (bare.folder / "secret").chmod(0o666)
    places = [bare.folder / "secret", "/etc/hostname", "/etc/passwd", "/proc/1/environ", f"/proc/{os.getpid()}/environ"]
    ended = bare.shell("; ".join(f"cat {place}; echo >> {place}" for place in places) + f"; ls / {bare.folder} /proc")
    assert ended.stdout == b""
    assert (bare.folder / "secret").read_text() == "x"


def test_the_interpreter_can_be_used_wherever_it_lies(bare: Bare) -> None:
    ended = bare.run(os.path.realpath(sys.executable), "-I", "-S", "-c", "import json, os; print(os.getuid() != 0)")
    assert ended.stdout == b"True\n"


def test_what_a_command_leaves_running_ends_with_it(bare: Bare) -> None:
    marker = f"9{secrets.randbelow(10**8):08}.5"
    ended = bare.shell(f"sleep {marker} & (nohup sleep {marker} >/dev/null 2>&1 &); echo done")
    assert (ended.fate, ended.stdout) == ("exited", b"done\n")
    assert not living(marker)


def test_everything_ends_at_once_when_the_server_hangs_up(bare: Bare) -> None:
    marker = f"9{secrets.randbelow(10**8):08}.5"
    work = bare.new_folder()
    script = f"(sleep {marker} &) ; exec sleep {marker}"
    with bare.zygote.call(command("sh", "-c", script, folder=str(work), cwd=str(work))) as call:
        while len(living(marker)) < 2:
            pass
        call.line.shutdown(1)
        while call.line.recv(65536):
            pass
    assert not living(marker)
    assert not work.exists()


def test_a_command_ends_when_its_supervisor_is_killed(bare: Bare) -> None:
    marker = f"9{secrets.randbelow(10**8):08}.5"
    work = bare.new_folder()
    with bare.zygote.call(command("sleep", marker, folder=str(work), cwd=str(work))):
        while not (found := living(marker)):
            pass
        stat = Path(f"/proc/{found[0]}/stat").read_text()
        os.kill(int(stat.rpartition(")")[2].split()[1]), signal.SIGKILL)
        while living(marker):
            pass


def test_signals_do_not_leave_the_call(bare: Bare) -> None:
    ended = bare.shell(
        f"kill -KILL $PPID {bare.zygote.process.pid} {os.getpid()}; kill -STOP $PPID; kill -KILL -1; echo on"
    )
    assert ended.fate in ("exited", "signalled")
    assert bare.zygote.process.poll() is None
    assert bare.shell("echo well").stdout == b"well\n"


def test_processes_memory_and_time_are_still_bounded(bare: Bare) -> None:
    python = (os.path.realpath(sys.executable), "-I", "-S", "-c")
    assert bare.run(*python, FORK_BOMB, seconds=1.0).fate == "time"
    assert bare.run(*python, MEMORY_OF_MANY).fate == "memory"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has users to give away")
def test_root_gives_each_call_a_user_of_its_own(folder: Path) -> None:
    with zygote(make_zygote_spec(without=["namespaces"]), "root") as started:
        bare = Bare(started, folder)
        first, second = (bare.shell("id -u; touch file && ls -ln file").stdout.split() for _ in range(2))
    assert first[0] != second[0]
    assert int(first[0]) > 2_000_000_000
    assert first[0] in first[1:]


@pytest.mark.parametrize(
    ("change", "why"), [({"folder": None}, "the server has to name one"), ({"network": True}, "the call's network")]
)
def test_what_needs_namespaces_is_refused(bare: Bare, change: dict[str, Any], why: str) -> None:
    ended = bare.shell("echo ran", **change)
    assert (ended.fate, ended.stdout) == ("setup", b"")
    assert why in ended.message


def test_a_folder_of_the_boards_that_would_show_is_a_reason_not_to_start(folder: Path, user: str) -> None:
    (folder / "board").mkdir()
    received = make_zygote_spec((folder, folder, False), masked=[str(folder / "board")], without=["namespaces"])
    with pytest.raises(Refused, match="only namespaces can hide"), zygote(received, user):
        pass
