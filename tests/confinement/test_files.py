"""Attacks with links and folders of the machine: a call changes only the files that it may change."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.confinement.targets import Target, listed, table, target

# In a writable folder of the machine; nothing beside it may be reachable by any path.
ESCAPES = {
    "a way up": "cat ../beside/secret; echo evil > ../beside/new; ls ..; ls ../beside",
    "a link to a file": "ln -s {beside}/secret link; cat link; echo evil > link; rm -f link",
    "a link to a folder": "ln -s {beside} link; ls link/; cat link/secret; echo evil > link/new; rm link",
    "a link to the root": "ln -s / link; ls link/; cat link{beside}/secret; echo evil > link{beside}/new; rm link",
    "a link upwards": "ln -s ../../../../../../.. link; cat link{beside}/secret; echo evil > link{beside}/new; rm link",
    "a link through proc": "ln -s /proc/1/root link; cat link{beside}/secret; echo evil > link{beside}/new; rm link",
    "a link in the work folder": "cd /call; ln -s {beside} link; cat link/secret; echo evil > link/new; cp -r link/. .",
    "a hard link": "ln {beside}/secret hard; ln -P ../beside/secret hard; cat hard",
    "a hard link of the system's": "ln /usr/bin/env hard; ln /etc/passwd hard; ln /bin/sh hard; ls hard",
    "a hard link to the work folder": "echo x > /call/x; ln /call/x hard; ln own /call/hard; ls hard /call/hard",
    "moving what is beside": "mv {beside}/secret .; mv ../beside .; mv {beside} here; ls here secret beside",
    "moving itself": (
        "mv ../shown ../moved; mv {folder} {beside}/in; rmdir {folder}; rm -rf {folder} 2>&1 | grep -v removed >&2"
    ),
    "removing what is beside": "rm -rf {beside} ../beside ../*; rm -rf --no-preserve-root /; :",
    "a link that is opened again": "exec 3< .; cat /proc/self/fd/3/../beside/secret; ls /proc/self/fd/3/..",
    "an archive": (
        "ln -s {beside} sub; tar cf /call/a.tar sub; rm sub; mkdir sub; echo evil > sub/new; "
        "tar rf /call/a.tar sub/new; rm -r sub; tar xPf /call/a.tar; cat sub/secret; rm -rf sub"
    ),
    "a copy": "cp -r {beside} .; cp {beside}/secret .; ls beside; cat secret",
    "a race": (
        "ln -s {beside} a; mkdir b; (while :; do mv -T a c; mv -T b a; mv -T a b; mv -T c a; "
        "done) & for i in 1 2 3 4 5 6 7 8 9; do cat a/secret; echo evil > a/new; done; kill $!; "
        "wait; rm -rf a b c"
    ),
}
UNDOABLE = {
    "lending its user": "chmod u+s mine",
    "lending its group": "chmod g+s mine",
    "lending both, as a number": "chmod 6755 mine",
    "a copy that lends its user": "install -m 4755 mine lent",
    "a folder that lends its group": "mkdir d && chmod 2777 d",
    "a device": "mknod device c 1 3",
    "a disk": "mknod device b 254 0",
    "a socket": "python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('socket')\"",
    "rights of a file": "setcap cap_setuid+ep mine",
    "rights of a file, by hand": (
        "python3 -c \"import os; os.setxattr('mine', 'security.capability', b'\\\\1\\\\0\\\\0\\\\2' + bytes(16))\""
    ),
    "another owner": "chown 0:0 mine",
    "a file that cannot be removed": "chattr +i mine",
}
CHANGES = [
    "echo x > new", "echo x >> own", "rm -f own", "mkdir d", "mv own other", "ln -s own link", "ln own hard",
    "touch own", "chmod 755 own", "mkfifo pipe", "truncate -s 0 own", "chmod 777 .", "mount -o remount,rw .",
]  # fmt: skip


@pytest.fixture
def secret_folder(folder: Path) -> Path:
    """A folder beside the mounted one that contains a secret and that any user can write to."""
    made = folder.parent / "beside"
    made.mkdir()
    made.chmod(0o777)
    (made / "secret").write_text("secret beside")
    (made / "secret").chmod(0o666)
    (folder / "own").write_text("own")
    (folder / "own").chmod(0o666)
    return made


def read_folder(folder: Path) -> dict[str, str]:
    """Return the contents of a folder."""
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def state(folder: Path) -> list[tuple[int, int, int]]:
    """Return the names, types and modes of a folder and its contents, as seen from outside."""
    seen = [path.stat() for path in (folder, *sorted(folder.iterdir()))]
    return [(one.st_mode, one.st_mtime_ns, one.st_nlink) for one in seen]


def list_special_entries(folder: Path) -> list[Path]:
    """Return the entries of a folder that are neither file nor folder, or are setuid or setgid."""
    every = list(folder.rglob("*"))
    odd = [path for path in every if not (path.is_file() or path.is_dir()) or path.stat().st_mode & 0o6000]
    return odd + [path for path in every if os.listxattr(path)]


@pytest.mark.parametrize("script", table(ESCAPES))
async def test_nothing_beside_a_folder_is_reached_from_within(
    board: Target, folder: Path, secret_folder: Path, script: str
) -> None:
    tried = await board.shell(
        script.format(folder=folder, beside=secret_folder), working_dir=str(folder), writable=True
    )
    assert "secret beside" not in str(tried.result.output_json), tried.output
    assert read_folder(secret_folder) == {"secret": "secret beside"}
    assert listed(folder.parent) == ["beside", "shown"]


@pytest.mark.parametrize("script", table(UNDOABLE))
async def test_nothing_is_left_in_a_folder_that_would_lend_rights(
    board: Target, folder: Path, secret_folder: Path, script: str
) -> None:
    script = f"cp own mine && chmod 755 mine || exit 0; {script}"
    tried = await board.shell(script, working_dir=str(folder), writable=True)
    assert tried.output["exit_code"] != 0
    assert list_special_entries(folder) == []
    assert {"mine", "own"} <= set(listed(folder))


@pytest.mark.parametrize("script", CHANGES)
async def test_a_folder_that_may_not_be_written_to_is_unchanged(
    board: Target, folder: Path, secret_folder: Path, script: str
) -> None:
    before = state(folder)
    tried = await board.shell(f'test "$(cat own)" = own && {script}', working_dir=str(folder))
    assert tried.output["exit_code"] != 0
    assert (read_folder(folder), state(folder)) == ({"own": "own"}, before)


async def test_a_call_can_do_in_its_folder_what_it_is_for(board: Target, folder: Path, secret_folder: Path) -> None:
    script = "echo new > new; mkdir d; mv new d; ln -s own link; ln own hard; mkfifo pipe; cat link; rm pipe"
    tried = await board.shell(script, working_dir=str(folder), writable=True)
    assert tried.output == {"stdout": "own", "stderr": "", "exit_code": 0}
    assert read_folder(folder) == {"own": "own", "link": "own", "hard": "own", "d/new": "new\n"}


@pytest.mark.parametrize(
    ("what", "words"),
    table(
        {
            "the board's own": ("home", "where the board keeps its database, keys or settings"),
            "a link to it": ("link", "where the board keeps its database, keys or settings"),
            "nothing": ("nothing", "cannot be used: No such file or directory"),
            "a file": ("file", "is not a folder"),
            "a link to the root": ("root", "whole file system"),
            "a link to processes": ("processes", "that each call has for itself"),
            "a link without end": ("round", "cannot be used: Too many levels of symbolic links"),
        }
    ),
)
async def test_a_folder_that_no_command_may_work_in_is_named(
    board: Target, folder: Path, what: str, words: str
) -> None:
    links: dict[str, str | Path] = {
        "home": board.home,
        "link": board.home,
        "root": "/",
        "processes": "/proc",
        "round": folder / "round",
    }
    if what in links:
        (folder / what).symlink_to(links[what])
    (folder / "file").write_text("text")
    shown = board.home if what == "home" else folder / what
    (await board.shell("ls -la; cat *", working_dir=str(shown))).ended("misconfigured", words)


async def test_a_folder_that_was_exchanged_for_the_boards_own_is_not_shown(board: Target, folder: Path) -> None:
    shown = folder / "shown"
    shown.mkdir()
    name = await board.add("shell", {"command": "ls -A", "working_dir": str(shown)})
    assert (await board.call(name)).output["stdout"] == ""
    shown.rmdir()
    shown.symlink_to(board.home)
    exchanged = await board.call(name)
    assert exchanged.code == "misconfigured" or exchanged.output["stdout"] == ""


async def test_a_folder_that_a_tool_exchanged_for_another_is_not_shown(
    board: Target, folder: Path, secret_folder: Path
) -> None:
    within = folder / "within"
    within.mkdir()
    within.chmod(0o777)
    reader = await board.add("shell", {"command": "cat secret", "working_dir": str(within)})
    exchange = await board.shell(
        f"rmdir within && ln -s {secret_folder} within", working_dir=str(folder), writable=True
    )
    assert exchange.output["exit_code"] == 0
    read = await board.call(reader)
    assert read.code == "misconfigured" or read.output["stdout"] == ""


async def test_what_is_the_boards_own_is_hidden_within_a_folder(folder: Path) -> None:
    (folder / "own").write_text("own")
    (folder / "link").symlink_to("home/secret.key")
    config: dict[str, Any] = {"working_dir": str(folder)}
    async with target(folder / "home") as board:
        listing = "ls -A; ls -A home; cat home/secret.key link home/credentials home/pegboard.db; cat own"
        tried = await board.shell(listing, **config)
        assert tried.output["stdout"].split() == ["home", "link", "own", "own"]
        writing = "echo evil > home/new; rm -rf home/*; mv home other; rmdir home; rm -rf home; umount home; ls -A home"
        written = await board.shell(writing, **config, writable=True)
        assert written.code == "misconfigured" or written.output["stdout"] == ""
        await board.check()
