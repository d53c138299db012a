"""The messages of a call to the server, and that no process outlives its supervisor."""

from __future__ import annotations

import os
import secrets
import signal
import socket
from contextlib import suppress
from pathlib import Path

import pytest

from tests.unit.sandbox.confined_tools import is_pid1
from tests.unit.sandbox.supervisor_channel import Call, Zygote, command, living


def marked() -> str:
    """A number of seconds for `sleep` that no other process uses."""
    return f"9{secrets.randbelow(10**8):08}.5"


def until_gone(call: Call) -> None:
    """Wait until the supervisor has ended; its further messages are ignored."""
    with suppress(ConnectionResetError):
        while call.line.recv(65536):
            pass


def children(pid: int) -> list[int]:
    """Return the existing child processes of this process."""
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def test_a_call_is_reported_to_start_and_then_to_end(calls: Zygote) -> None:
    with calls.call(command("echo", "hello")) as call:
        assert call.frame() == ("S", b"")
        assert call.ended() == ("exited", 0, "", b"", b"hello\n", b"")


def test_output_and_errors_are_kept_apart_and_the_exit_code_is_reported(calls: Zygote) -> None:
    ended = calls.shell("echo out; echo err >&2; exit 7")
    assert (ended.fate, ended.code, ended.stdout, ended.stderr) == ("exited", 7, b"out\n", b"err\n")


def test_a_signal_that_ended_the_command_is_reported(calls: Zygote) -> None:
    ended = calls.shell("kill -SEGV $$")
    assert (ended.fate, ended.code) == ("signalled", signal.SIGSEGV)


@pytest.mark.parametrize("size", [0, 1, 65_536, 3_000_000])
def test_all_of_the_input_arrives(calls: Zygote, size: int) -> None:
    assert calls.run("wc", "-c", stdin="x" * size).stdout.split() == [str(size).encode()]


def test_input_that_no_client_reads_is_no_trouble(calls: Zygote) -> None:
    assert calls.shell("exec 0<&-; echo ok", stdin="x" * 3_000_000).stdout == b"ok\n"


def test_arguments_are_taken_unchanged(calls: Zygote) -> None:
    odd = ["; rm -rf /", "$(id)", "a\nb", "", "-n", "ü", "*"]
    ended = calls.run("printf", "[%s]", *odd)
    assert ended.stdout.decode() == "".join(f"[{text}]" for text in odd)


def test_a_command_that_does_not_exist_says_so(calls: Zygote) -> None:
    ended = calls.run("no-such-command")
    assert (ended.fate, ended.code) == ("exited", 127)
    assert ended.message == "cannot start 'no-such-command': No such file or directory"


@pytest.mark.parametrize(("argv", "why"), [("/etc/passwd", "Permission denied"), ("a\0b", "null")])
def test_a_command_that_cannot_be_executed_says_why(calls: Zygote, argv: str, why: str) -> None:
    ended = calls.run(argv)
    assert (ended.fate, ended.code) == ("exited", 126)
    assert why in ended.message


def test_the_environment_is_the_calls_own_and_nothing_else(calls: Zygote) -> None:
    ended = calls.run("env", env={"KEY": "a=b\nc", "PATH": "/usr/bin:/bin", "LANG": "C"})
    lines = set(ended.stdout.decode().replace("b\nc", "b c").splitlines())
    python = {"PYTHONUNBUFFERED=1", "PYTHONDONTWRITEBYTECODE=1"}
    own = {"HOME=/call", "TMPDIR=/call", "PEGBOARD_PROGRESS_FD=3"}
    assert lines == {"KEY=a=b c", "PATH=/usr/bin:/bin", "LANG=C"} | own | python


@pytest.mark.parametrize("reports", [True, False])
def test_only_the_standard_descriptors_and_the_one_for_reports_are_open(calls: Zygote, reports: bool) -> None:
    # The fifth is the folder itself, being read.
    assert calls.run("ls", "/proc/self/fd", reports=reports).stdout.split() == [b"0", b"1", b"2", b"3", b"4"]


def test_signals_have_their_usual_meaning(calls: Zygote) -> None:
    ended = calls.shell("yes | head -1; grep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status")
    assert ended.stdout.split()[0] == b"y"
    assert ended.stderr == b""
    ignored = dict(line.split(b":\t") for line in ended.stdout.splitlines()[1:])
    # Two belong to the C library, and stay as the server's parent process left them.
    of_the_library = 0b11 << 31
    assert int(ignored[b"SigIgn"], 16) & ~of_the_library == int(ignored[b"SigBlk"], 16) == 0


def test_a_command_that_takes_too_long_ends_with_what_it_had_reported(calls: Zygote) -> None:
    ended = calls.shell("echo before; echo oops >&2; exec sleep 3600", seconds=1.5)
    assert (ended.fate, ended.stdout, ended.stderr) == ("time", b"before\n", b"oops\n")
    assert ended.message == "longer than 1.5 seconds"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_flood_of_output_ends_the_call_with_what_is_allowed(calls: Zygote, stream: str) -> None:
    ended = calls.shell("yes" if stream == "stdout" else "yes >&2", limits={"output": 100_000})
    assert (ended.fate, ended.message) == ("output", f"{stream} of more than 100000 bytes")
    assert len(getattr(ended, stream)) == 100_000


def test_output_of_just_the_size_allowed_is_kept_whole(calls: Zygote) -> None:
    script = "head -c 100000 /dev/zero; head -c 100000 /dev/zero >&2"
    ended = calls.shell(script, limits={"output": 100_000})
    assert (ended.fate, len(ended.stdout), len(ended.stderr)) == ("exited", 100_000, 100_000)
    assert calls.shell(script, limits={"output": 99_999}).fate == "output"


def test_what_a_command_leaves_running_ends_with_it(calls: Zygote) -> None:
    marker = marked()
    ended = calls.shell(f"sleep {marker} & (nohup sleep {marker} >/dev/null 2>&1 &); echo done")
    assert (ended.fate, ended.stdout) == ("exited", b"done\n")
    assert not living(marker)


@pytest.mark.parametrize("how", [socket.SHUT_WR, socket.SHUT_RDWR])
def test_everything_ends_at_once_when_the_server_hangs_up(calls: Zygote, how: int) -> None:
    marker = marked()
    with calls.call(command("sh", "-c", f"sleep {marker} & (sleep {marker} &) ; echo; exec sleep {marker}")) as call:
        assert call.frame() == ("S", b"")
        while len(living(marker)) < 3:
            pass
        call.line.shutdown(how)
        if how == socket.SHUT_WR:
            until_gone(call)
            assert not living(marker)
    while living(marker):
        pass


def test_a_server_that_says_more_than_it_should_is_not_listened_to(calls: Zygote) -> None:
    with calls.call(command("sleep", marked())) as call:
        assert call.frame() == ("S", b"")
        call.line.sendall(b"x")
        until_gone(call)


def is_ended(pid: int) -> bool:
    """Return True if the process has ended, whether or not its parent knows that."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_a_call_whose_process_was_killed_before_it_came_is_the_servers_to_begin_again(calls: Zygote) -> None:
    spares: list[int] = []
    while len(spares) != 1 or len(children(calls.process.pid)) != 1:
        # The killed process must be the waiting one, not the rest of an earlier call.
        spares = [pid for one in children(calls.process.pid) for pid in children(one) if not is_pid1(pid)]
    os.kill(spares[0], signal.SIGKILL)
    while not is_ended(spares[0]):
        pass
    with calls.call(command("true")) as call, pytest.raises(EOFError):
        call.frame()
    assert calls.run("true").fate == "exited"


def test_a_job_that_makes_no_sense_is_refused_with_the_reason(calls: Zygote) -> None:
    with calls.call(command("true") | {"kind": "magic"}) as call:
        ended = call.ended()
    assert ended.fate == "setup"
    assert "reading the job" in ended.message
    assert "magic" in ended.message


def test_the_end_of_orphans_is_not_mistaken_for_the_commands(calls: Zygote) -> None:
    ended = calls.shell("for i in 1 2 3 4 5; do (sleep 0.0$i & exit 9); done; sleep 0.3; exit 4")
    assert (ended.fate, ended.code) == ("exited", 4)
