"""The process that calls are forked from: its start, its end, and the separation of calls."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

import pytest

from tests.unit.sandbox.supervisor_channel import Refused, Zygote, command, living, make_zygote_spec, zygote


def test_one_that_is_asked_to_leave_waits_for_its_calls_and_exits(user: str) -> None:
    with (
        zygote(make_zygote_spec(), user) as calls,
        calls.call(command("sh", "-c", "echo on; read line; echo $line")) as call,
    ):
        assert call.frame() == ("S", b"")
        calls.line.close()
        assert call.ended().fate == "exited"
        assert calls.process.wait(30) == 0


def test_one_that_is_killed_leaves_its_calls_running(user: str) -> None:
    with zygote(make_zygote_spec(), user) as calls, calls.call(command("sh", "-c", "sleep 0.5; echo done")) as call:
        assert call.frame() == ("S", b"")
        calls.process.kill()
        assert calls.process.wait(30) == -signal.SIGKILL
        assert call.ended().stdout == b"done\n"


def test_a_call_finds_nothing_that_another_left(calls: Zygote) -> None:
    script = "ls -A /call /tmp /dev/shm; ls /proc > /dev/null; echo x > /call/x; echo x > /tmp/y; echo x > /dev/shm/z"
    first = calls.shell(script)
    assert calls.shell(script).stdout == first.stdout


def test_calls_run_side_by_side_and_do_not_see_each_other(calls: Zygote) -> None:
    script = "echo $0 > /tmp/name; sleep 0.2; cat /tmp/name; ls /proc > /tmp/seen; grep -c '^[0-9]' /tmp/seen"
    under_way = [calls.call(command("sh", "-c", script, str(number))) for number in range(8)]
    for number, call in enumerate(under_way):
        with call:
            # The supervisor, the shell, and the program that looks.
            assert call.ended().stdout.split() == [str(number).encode(), b"3"]


def test_a_call_that_was_taken_and_given_up_leaves_no_process(calls: Zygote) -> None:
    marker = "9081726354.5"
    for _ in range(5):
        with calls.call(command("sleep", marker)):
            pass
    assert calls.run("true").fate == "exited"
    while living(marker):
        pass  # the test's own time limit ends this


def test_no_child_that_has_ended_is_kept(calls: Zygote) -> None:
    for _ in range(3):
        calls.run("true")
    pid = calls.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    assert "Z" not in map(state, children)


def state(process: str) -> str:
    """The state letter of a process; empty if it does not exist."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def test_its_arguments_which_say_where_the_board_is_are_not_to_be_seen(folder: Path, user: str) -> None:
    with zygote(make_zygote_spec(masked=[str(folder)]), user) as calls:
        ended = calls.shell("cat /proc/1/cmdline")
        assert ended.stdout.rstrip(b"\0") == b"pegboard-zygote"


def test_a_library_that_fails_to_import_is_named(folder: Path, user: str) -> None:
    (folder / "broken_library.py").write_text("raise RuntimeError('out of luck')")
    received = make_zygote_spec((folder, folder, False), prefixes=[str(folder)], modules=["json", "broken_library"])
    with pytest.raises(Refused) as refused, zygote(received, user):
        pass
    assert refused.value.args[0] == {
        "failed": "importing broken_library: RuntimeError: out of luck",
        "library": "broken_library",
    }


def test_a_library_is_imported_as_the_tools_user_inside_the_environment(folder: Path, user: str) -> None:
    code = "import os\nassert os.getuid() != 0\nassert not os.path.exists('/var')\nassert not os.access('/', os.W_OK)"
    (folder / "looking_library.py").write_text(code)
    received = make_zygote_spec((folder, folder, False), prefixes=[str(folder)], modules=["looking_library"])
    with zygote(received, user) as calls:
        assert calls.function("def main(): return 1").result == b'{"ok":1}'


def test_a_process_of_no_call_reaches_the_network(user: str) -> None:
    code = """
import socket
try:
    socket.create_connection(("127.0.0.1", {port}), 5)
except OSError as error:
    print(error)
"""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with zygote(make_zygote_spec(without=["seccomp", "landlock"]), user) as calls:
            ended = calls.python(code.format(port=port))
    assert b"unreachable" in ended.stdout or b"refused" in ended.stdout


def status(process: int) -> dict[str, list[str]]:
    """The status of a process from the kernel."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return {name: value.split() for name, _, value in (line.partition(":") for line in lines)}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has a user to change")
@pytest.mark.parametrize("python", [False, True], ids=["commands", "functions"])
def test_root_keeps_no_group_and_no_right_but_to_join_others_in_a_namespace_of_its_own(python: bool) -> None:
    with zygote(make_zygote_spec(python=python), "root") as calls:
        children = Path(f"/proc/{calls.process.pid}/task/{calls.process.pid}/children").read_text().split()
        for process in (calls.process.pid, *map(int, children)):
            fields = status(process)
            assert set(fields["Uid"]) == set(fields["Gid"]) == {"2000000000"}
            assert fields["Groups"] == []
            assert {int(fields[name][0], 16) for name in ("CapPrm", "CapEff")} == {1 << 18 | 1 << 21}
            assert Path(f"/proc/{process}/ns/user").readlink() != Path("/proc/self/ns/user").readlink()
