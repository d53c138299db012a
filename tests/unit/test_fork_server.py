"""The process that commands of tests are forked from."""

from __future__ import annotations

import socket
import subprocess
import time

from tests.fork_server import forked_command


def test_the_process_stays_alive_when_commands_are_killed_at_any_moment() -> None:
    command = forked_command("json.tool")
    for milliseconds in range(30):
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as killed:
            time.sleep(milliseconds / 1000)
            killed.kill()
    ended = subprocess.run(command, input=b"[1]", capture_output=True, check=False)
    assert (ended.returncode, ended.stdout.split(), ended.stderr) == (0, [b"[", b"1", b"]"], b"")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.connect("\0" + command[3])


def test_a_command_runs_without_the_process_too() -> None:
    *start, _, module = forked_command("json.tool")
    ended = subprocess.run([*start, "no-process", module], input=b"[", capture_output=True, check=False)
    assert ended.returncode == 1
    assert b"Expecting value" in ended.stderr
