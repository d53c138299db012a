"""The channel for progress, from a confined process through its supervisor: bounded, and never blocking."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from pegboard.sandbox.child.fd_channel import ServerChannel
from pegboard.sandbox.child.pipes import MAX_LINE_BYTES, MAX_LINES, MAX_REPORT_BYTES, ReportReader
from tests.unit.sandbox.supervisor_channel import PYTHON, Call, Ended, Zygote, command


def read_frames(call: Call) -> tuple[list[bytes], Ended]:
    """Return the frames with reports, and how the call ended, which is the last message."""
    ended = call.ended()
    return call.reports, ended


def shell(calls: Zygote, script: str, *, reports: bool = True, **changes: Any) -> tuple[list[bytes], Ended]:
    with calls.call(command("sh", "-c", script, reports=reports, **changes)) as call:
        return read_frames(call)


def python(calls: Zygote, code: str, *, reports: bool = True) -> tuple[list[bytes], Ended]:
    values = {"kind": "python", "code": code, "entry": "f", "arguments": {}, "reports": reports}
    with calls.call(command() | values) as call:
        return read_frames(call)


def test_what_a_command_reports_comes_while_it_runs(calls: Zygote) -> None:
    script = "echo 1/2 first >&3; read -r go < /dev/stdin; echo 2/2 >&3; printf last >&3; exit 4"
    frames, ended = shell(calls, script, stdin="go\n")
    assert b"\n".join(frames).split(b"\n") == [b"1/2 first", b"2/2", b"last"]
    assert (ended.fate, ended.code, ended.stdout, ended.stderr) == ("exited", 4, b"", b"")


def test_a_first_report_is_not_held_back_until_the_end(calls: Zygote) -> None:
    with calls.call(command("sh", "-c", "echo here >&$PEGBOARD_PROGRESS_FD; sleep 50", reports=True)) as call:
        assert [call.frame(), call.frame()] == [("S", b""), ("P", b"here")]


def test_without_a_reader_reports_are_dropped_and_block_nothing(calls: Zygote, functions: Zygote) -> None:
    frames, ended = shell(calls, "head -c 3000000 /dev/zero >&3 && echo said", reports=False)
    assert (frames, ended.fate, ended.stdout) == ([], "exited", b"said\n")
    frames, ended = python(
        functions, "def f():\n    report_progress(1)\n    report_partial('x' * 10**6)", reports=False
    )
    assert (frames, ended.result) == ([], b'{"ok":null}')


def test_a_flood_is_thinned_out_and_the_latest_is_reported(calls: Zygote) -> None:
    frames, ended = shell(calls, "seq 1 300000 >&3; echo done", seconds=30.0)
    assert (ended.fate, ended.stdout) == ("exited", b"done\n")
    lines = b"\n".join(frames).split()
    assert lines[-1] == b"300000"
    assert any(frame.startswith(b"\n") for frame in frames), "it is told that some are missing"
    assert [int(line) for line in lines] == sorted(map(int, lines))
    assert len(lines) < 100_000
    assert max(map(len, frames)) <= MAX_REPORT_BYTES
    assert max(frame.count(b"\n") for frame in frames) <= MAX_LINES


def test_a_flood_without_end_does_not_keep_a_call_from_ending(calls: Zygote) -> None:
    frames, ended = shell(calls, "yes '1/2 again' >&3", seconds=1.0)
    assert (ended.fate, set(b"\n".join(frames).split(b"\n")) - {b"1/2 again"[:n] for n in range(10)}) == ("time", set())


def test_a_line_that_never_ends_is_cut_where_it_becomes_too_long(calls: Zygote) -> None:
    frames, ended = shell(calls, "head -c 5000000 /dev/zero | tr '\\0' x >&3; echo ok")
    assert (frames, ended.stdout) == ([b"x" * MAX_LINE_BYTES], b"ok\n")


@pytest.mark.parametrize(
    ("then", "fate"),
    [("kill -SEGV $$", "signalled"), ("exec sleep 60", "time"), ("yes", "output"), ("exec no-such-thing", "exited")],
)
def test_what_was_reported_before_a_bad_end_is_reported(calls: Zygote, then: str, fate: str) -> None:
    frames, ended = shell(calls, f"echo so far >&3; {then}", seconds=2.0)
    assert (frames, ended.fate) == ([b"so far"], fate)


def test_a_server_that_does_not_read_holds_no_one_up(calls: Zygote) -> None:
    script = f"yes '{'y' * 900}' | head -n 100000 >&3; echo done"
    with calls.call(command("sh", "-c", script, seconds=20.0, reports=True)) as call:
        call.line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        assert call.frame() == ("S", b"")
        frames, ended = read_frames(call)
    assert (ended.fate, ended.stdout) == ("exited", b"done\n")
    assert frames


def test_python_code_reports_from_its_threads_and_forks_too(functions: Zygote) -> None:
    code = """
import multiprocessing, threading
def say(n):
    report_progress(n, 4, "é" * 10)
def f():
    say(1)
    thread = threading.Thread(target=say, args=(2,))
    thread.start()
    thread.join()
    child = multiprocessing.get_context("fork").Process(target=say, args=(3,))
    child.start()
    child.join()
    report_partial("x" * 1000)
    return "fine"
"""
    frames, ended = python(functions, code)
    lines = b"\n".join(frames).split(b"\n")
    assert ended.result == b'{"ok":"fine"}'
    message = ("é" * 10).encode()
    assert lines[:3] == [b'{"progress": %d, "total": 4, "message": "%s"}' % (n, message) for n in (1, 2, 3)]
    assert lines[3:] == [b'{"partial": "%s"}' % (b"x" * size) for size in (650, 350)]


def test_neither_result_nor_trouble_nor_orders_can_be_reached_by_a_command(calls: Zygote) -> None:
    script = "import os\nfor fd in range(4, 256):\n  try: os.write(fd, b'x'); print(fd)\n  except OSError: pass"
    with calls.call(command(PYTHON, "-I", "-S", "-c", script, reports=True)) as call:
        _, ended = read_frames(call)
    assert (ended.fate, ended.stdout, ended.result) == ("exited", b"", b"")


@pytest.fixture
def line() -> Iterator[tuple[ServerChannel, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ServerChannel(ours), theirs


def test_lines_wait_for_their_time_and_for_a_server_that_is_behind(line: tuple[ServerChannel, socket.socket]) -> None:
    supervisors, server = line
    read, write = os.pipe()
    reports = ReportReader(read, supervisors)
    sent = 0
    while supervisors.flush_unsent():
        os.write(write, b"%d\n" % sent)
        assert reports.fill()
        reports.send_due(float(sent))
        sent += 1
    for number in range(sent, sent + 500):
        os.write(write, b"%d\n" % number)
        assert reports.fill()
        reports.send_due(float(number))
    os.close(write)
    assert not reports.fill()
    server.setblocking(False)
    got = bytearray()
    now = float(sent + 500)
    while True:
        try:
            got += server.recv(2**16)
        except BlockingIOError:
            if reports.due_at == float("inf"):
                break
            reports.send_due(now)
            now += 1.0
    os.close(read)
    lines = []
    while got:
        size = int.from_bytes(got[1:5], "big")
        assert got[:1] == b"P"
        lines += bytes(got[5 : 5 + size]).split()
        del got[: 5 + size]
    numbers = [int(text) for text in lines]
    assert numbers == sorted(numbers)
    assert numbers[-MAX_LINES:] == list(range(sent + 500 - MAX_LINES, sent + 500))
