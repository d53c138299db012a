"""Attempts to read the board's keys and database, other processes and inherited data: none succeeds."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.confinement.targets import Target, table

# Looks through everything below /proc that can be read.
READ_PROC = r"""
import os, re
def f(patterns: list[str]):
    count, found = 0, []
    for folder, folders, files in os.walk("/proc"):
        # Whoever opens a pipe waits for somebody at its other end.
        folders[:] = [name for name in folders if name != "fd" and not os.path.islink(os.path.join(folder, name))]
        for path in (os.path.join(folder, name) for name in files if name not in ("mem", "pagemap")):
            try:
                with open(path, "rb", buffering=0) as file:
                    text = file.read(10**5)
            except OSError:
                continue
            count += 1
            found += [path for pattern in patterns if re.search(pattern.encode(), text)]
    return [count, found]
"""
# Searches the memory of this process for the pattern, which does not match itself.
READ_MEMORY = r"""
import re
def f(patterns: list[str]):
    found = []
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", buffering=0) as memory:
        for line in maps.readlines():
            start, end = (int(number, 16) for number in line.split()[0].split("-"))
            try:
                memory.seek(start)
                data = memory.read(end - start)
            except (OSError, OverflowError, ValueError):
                continue
            found += [n for n, pattern in enumerate(patterns) if re.search(pattern.encode(), data)]
    return found
"""
READ_FILES = r"""
import os
def f(paths: list[str]):
    read = {}
    for path in paths:
        try:
            if os.path.isdir(path):
                read[path] = os.listdir(path)[:20]
            else:
                read[path] = open(path, "rb").read(200).decode("latin-1")
        except OSError:
            pass
    return read
"""
# Other paths of the same files.
WAYS = {
    "as it is": "{}",
    "through the root of pid 1": "/proc/1/root{}",
    "through its own root": "/proc/self/root{}",
    "through a thread's root": "/proc/thread-self/root{}",
    "through the work folder": "/call/../../..{}",
    "through its folder": "/proc/self/cwd/..{}",
    "where the former root was": "/.old{}",
    "through another process's folder": "/proc/1/cwd{}",
    "with two slashes": "/{}",
}
OF_THE_MACHINE = [
    "/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/hostname", "/etc/machine-id", "/etc/resolv.conf",
    "/etc/fstab", "/root", "/root/.ssh", "/root/.bashrc", "/home", "/var", "/var/log", "/var/run", "/var/lib", "/run",
    "/opt", "/srv", "/mnt", "/media", "/boot", "/sys", "/sys/kernel", "/tmp/.X11-unix", "/proc/kcore",
    "/proc/kallsyms", "/proc/net/tcp", "/proc/net/unix", "/proc/mounts.bak", "/proc/keys", "/proc/sys/kernel/hostname",
    "/proc/sysrq-trigger", "/proc/cmdline", "/dev/mem", "/dev/kmem", "/dev/kmsg", "/dev/port", "/dev/vda", "/dev/sda",
    "/dev/tty", "/dev/ptmx", "/dev/console", "/dev/fuse", "/dev/kvm", "/dev/mqueue", "/dev/net/tun", "/dev/loop0",
    "/dev/hugepages", "/proc/1/environ", "/proc/1/mem", "/proc/1/maps", "/proc/1/fd", "/proc/1/cwd/.",
    "/proc/1/root/.", "/proc/1/exe", "/proc/1/auxv", "/proc/1/stack", "/proc/1/task/1/environ", "/proc/1/map_files",
    "/proc/1/io", "/proc/1/syscall", "/proc/1/pagemap", "/proc/1/ns/net",
]  # fmt: skip


@pytest.fixture
def descriptor(tmp_path: Path) -> Iterator[int]:
    """A descriptor of the server that its children would inherit."""
    (tmp_path / "inherited").write_text("inherited")
    number = os.open(tmp_path / "inherited", os.O_RDWR)
    os.set_inheritable(number, True)
    yield number
    os.close(number)


def own_files(board: Target) -> list[str]:
    """Return the board's secrets, and the places where it and its environment could be found."""
    names = ("", "secret.key", "credentials", "pegboard.db", "pegboard.db-wal", "pegboard.toml")
    pids = (os.getpid(), os.getppid(), *board.zygotes())
    others = [f"/proc/{pid}/{name}" for pid in pids for name in ("environ", "cmdline", "mem", "fd", "cwd/.", "root/.")]
    return [*(str(board.home / name) for name in names), *others, __file__, str(Path(__file__).parents[2] / ".git")]


@pytest.mark.parametrize("way", table(WAYS))
async def test_files_of_the_board_cannot_be_read(board: Target, way: str) -> None:
    asked = [way.format(path) for path in own_files(board)]
    assert (await board.python(READ_FILES, {"paths": asked})).output == {}


@pytest.mark.parametrize("way", table(WAYS))
async def test_nor_can_files_of_the_machine(board: Target, way: str) -> None:
    # The thread of pid 1 may be this process if the path continues with another thread id.
    asked = [way.format(path) for path in OF_THE_MACHINE]
    found = (await board.python(READ_FILES, {"paths": asked})).output
    # The path to the interpreter is visible, and nothing beside it.
    assert {path: names for path, names in found.items() if names} == {}


async def test_commands_read_none_of_them_either(board: Target) -> None:
    paths = " ".join(f"'{path}'" for path in (*own_files(board), *OF_THE_MACHINE))
    for program in ("cat", "head -c 20", "tail -c 20", "dd count=1 if="):
        tried = await board.shell(
            f"for path in {paths}; do {program}{'' if program.endswith('=') else ' '}$path; "
            "done 2>/dev/null | tr -d '\\0'"
        )
        assert tried.output["stdout"] == "", program


async def test_users_of_the_machine_are_not_known(board: Target) -> None:
    tried = await board.shell("cut -d: -f1 /etc/passwd /etc/group; id -un; hostname; cat /etc/hosts | wc -l")
    assert tried.output["stdout"].split() == ["root", "tool", "root", "tool", "tool", "tool", "2"]


async def test_the_environment_of_the_server_is_nowhere(board: Target) -> None:
    asked = (
        "import os\ndef f(): return [dict(os.environ), open('/proc/self/environ').read(), "
        "open('/proc/self/cmdline').read()]"
    )
    code, script = await board.python(asked), await board.shell("env; cat /proc/self/environ /proc/$PPID/cmdline; set")
    received = json.dumps([code.output, script.output])
    assert not board.leaked(received)
    assert not re.search(r"PEGBOARD_(?!PROGRESS_FD='?3)|CONFINEMENT|PYTEST|marker|XDG_|SSH_|USER=", received), received
    assert str(board.home) not in received
    names = {"HOME", "TMPDIR", "PATH", "LANG", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}
    assert set(code.output[0]) == names


def link_of(path: str) -> str:
    """Return the target of a link."""
    return str(Path(path).readlink())


def patterns(*texts: str) -> list[str]:
    """Regular expressions for these, which do not fit themselves."""
    return [f"[{re.escape(text[0])}]{re.escape(text[1:])}" for text in texts]


async def test_nothing_in_proc_gives_anything_away(board: Target) -> None:
    wanted = patterns(*board.secrets.values(), str(board.home))
    count, found = (await board.python(READ_PROC, {"patterns": wanted})).output
    assert (count > 50, found) == (True, [])


async def test_nothing_is_left_in_the_memory_that_calls_inherit(board: Target) -> None:
    wanted = patterns(*board.secrets.values())
    # The search works: it finds the tool's own code.
    own = (await board.python(READ_MEMORY, {"patterns": [*wanted, *patterns("def f(patterns")]})).output
    assert set(own) == {len(wanted)}


async def test_no_descriptor_is_inherited(board: Target, descriptor: int) -> None:
    code = (
        "import os\n"
        "def f(): return sorted(f'{n} {os.readlink(f\"/proc/self/fd/{n}\")}'.split(':')[0] for n "
        "in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{n}'))"
    )
    assert (await board.python(code)).output == ["0 pipe", "1 pipe", "2 pipe", "3 pipe"]
    # Through no pipe of the shell's own, which would be listed too.
    listing = await board.shell("for n in /proc/$$/fd/*; do readlink $n; done; true")
    found = [line.partition(":")[0] for line in listing.output["stdout"].split()]
    # The reports of a command are dropped, because there is no reader.
    assert found == ["pipe", "pipe", "pipe", "/dev/null"]
    after = await board.python(f"import os\ndef f(): return os.pread({descriptor}, 9, 0).decode()")
    after.ended("execution_failed", "Bad file descriptor|Illegal seek")


async def test_only_processes_of_the_call_are_to_be_seen(board: Target) -> None:
    code = (
        "import glob\ndef f(): return [open(path).read().strip('\\0') for path in "
        "sorted(glob.glob('/proc/[0-9]*/cmdline'))]"
    )
    seen = (await board.python(code)).output
    assert seen == ["pegboard-zygote", "pegboard-template"], "the first process and itself"
    pids = (await board.shell("ls -d /proc/[0-9]* | cut -d/ -f3; ls /proc | grep -v '^[0-9]'")).output["stdout"].split()
    assert set(pids[-2:]) == {"self", "thread-self"}
    assert all(int(pid) < 20 for pid in pids[:-2])


async def test_mounts_name_no_folder_of_the_board(board: Target) -> None:
    tried = await board.shell("cat /proc/self/mountinfo /proc/self/mounts /proc/self/mountstats")
    assert str(board.home) not in tried.output["stdout"]
    assert not board.leaked(tried.output["stdout"])
    assert " - proc proc" in tried.output["stdout"]


async def test_no_namespace_is_the_servers(board: Target) -> None:
    kinds = ["ipc", "mnt", "net", "pid", "user", "uts"]
    tried = await board.python(
        "import os\ndef f(kinds: list[str]): return [os.readlink(f'/proc/self/ns/{kind}') for kind in kinds]",
        {"kinds": kinds},
    )
    assert not set(tried.output) & {link_of(f"/proc/self/ns/{kind}") for kind in kinds}


async def test_the_program_that_runs_is_the_interpreter_and_not_the_servers_code(board: Target) -> None:
    tried = await board.python(
        "import sys\n"
        "def f(): return [sorted(name for name in sys.modules if name.partition('.')[0] in "
        "('pegboard', 'sqlalchemy', 'fastapi', 'cryptography')), sys.argv, sys.orig_argv]"
    )
    assert tried.output == [[], ["<tool>"], ["<tool>"]]
    assert "sqlalchemy" in sys.modules, "where the board is"
