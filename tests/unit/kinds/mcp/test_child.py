"""The process that supervises a command ends all of its processes, whatever way it ends itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pegboard.kinds.mcp import child_process
from tests.mcp_servers.processes import descendants, is_running, matching
from tests.mcp_servers.run_servers import FOLDER

MEMORY = 2**28


def launch(*command: str, board: int | None = None) -> subprocess.Popen[str]:
    start = [sys.executable, "-I", "-S", child_process.__file__, str(board or os.getpid()), str(MEMORY), "--"]
    return subprocess.Popen(
        [*start, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@contextmanager
def launched(*command: str, board: int | None = None) -> Iterator[subprocess.Popen[str]]:
    with launch(*command, board=board) as process:
        try:
            yield process
        finally:
            process.kill()


def eventually(look: Callable[[], object], seconds: float = 30.0) -> None:
    give_up = time.monotonic() + seconds
    while not look():
        assert time.monotonic() < give_up, "it did not happen in time"
        time.sleep(0.01)


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


@pytest.mark.parametrize(
    ("code", "status"), [("", 0), ("raise SystemExit(3)", 3), ("import os; os.kill(os.getpid(), 9)", 137)]
)
def test_its_status_is_that_of_the_command(code: str, status: int) -> None:
    with launched(*python(code)) as process:
        assert process.wait(10) == status


def test_the_command_has_its_streams() -> None:
    with launched(*python("import sys; print(input()); sys.exit('oh')")) as process:
        out, error = process.communicate("hello\n", timeout=10)
    assert (out, error, process.returncode) == ("hello\n", "oh\n", 1)


def test_a_command_that_is_not_there_is_named() -> None:
    with launched("no-such-program", "--token", "s3cr3t") as process:
        _, error = process.communicate(timeout=10)
    assert error == "cannot start 'no-such-program': No such file or directory\n"
    assert process.returncode == child_process.EXIT_CANNOT_START


def test_the_command_cannot_take_more_memory_than_it_may() -> None:
    with launched(*python(f"bytearray({MEMORY})")) as process:
        _, error = process.communicate(timeout=10)
    assert "MemoryError" in error


def test_the_command_minds_closed_pipes_and_signals_as_usual() -> None:
    asks = "import signal; print(signal.getsignal(signal.SIGTERM), signal.pthread_sigmask(0, []))"
    with launched(*python(asks)) as process:
        out, _ = process.communicate(timeout=10)
    assert out == "0 set()\n"
    with launched("sh", "-c", "trap '' TERM; yes | head -1; echo ${PIPESTATUS:-done}") as process:
        out, _ = process.communicate(timeout=10)
    assert out == "y\ndone\n"


def left_behind(file: Path) -> int:
    eventually(lambda: file.exists() and file.read_text())
    return int(file.read_text())


def test_what_a_command_left_running_ends_with_it(tmp_path: Path) -> None:
    file = tmp_path / "daemon"
    with launched(sys.executable, str(FOLDER / "faulty_server.py"), "daemon", str(file)) as process:
        daemon = left_behind(file)
        assert is_running(daemon)
        assert process.stdin is not None
        process.stdin.close()  # at which the command exits, and the daemon does not
        assert process.wait(10) == 0
        assert not is_running(daemon)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_asked_to_stop_it_ends_everything_that_does_not_heed_that(tmp_path: Path, number: int) -> None:
    file = tmp_path / "daemon"
    code = (
        "trap '' TERM INT HUP; "
        + f"{sys.executable} {FOLDER / 'faulty_server.py'} daemon {file} & while :; do sleep 1; done"
    )
    with launched("sh", "-c", code) as process:
        daemon = left_behind(file)
        others = descendants(process.pid)
        assert len(others) >= 3
        process.send_signal(number)
        assert process.wait(10) == 128 + signal.SIGKILL
        assert not {pid for pid in (*others, daemon) if is_running(pid)}


def test_asked_to_stop_it_lets_the_command_end_by_itself() -> None:
    code = (
        "import signal, sys, time; signal.signal(15, lambda *_: sys.exit(5)); print('up', flush=True); time.sleep(60)"
    )
    with launched(*python(code)) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        process.terminate()
        assert process.wait(10) == 5


def test_a_command_that_keeps_starting_others_is_ended_with_all_of_them() -> None:
    word = f"61.{os.getpid()}"
    with launched("sh", "-c", f"while :; do setsid sleep {word} & sleep 0.005; done") as process:
        eventually(lambda: len(matching(word)) > 20)
        process.terminate()
        process.wait(10)
        assert not matching(word)


def test_without_the_board_that_started_it_the_command_is_not_even_started() -> None:
    with launched(*python("print('ran')"), board=1) as process:
        out, _ = process.communicate(timeout=10)
    assert out == ""


def test_nothing_is_left_of_the_servers_of_a_board_that_was_killed(tmp_path: Path) -> None:
    file = tmp_path / "daemon"
    command = [
        sys.executable,
        "-m",
        "tests.mcp_servers.board_process",
        str(file),
        "plain",
        "stubborn",
        "daemon",
        "hang-call",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=FOLDER.parents[1]) as board:
        try:
            assert board.stdout is not None
            assert board.stdout.readline() == "running\n"
            servers = descendants(board.pid) | {left_behind(file)}
            assert len(servers) >= 9
        finally:
            board.kill()
    eventually(lambda: not {pid for pid in servers if is_running(pid)})
