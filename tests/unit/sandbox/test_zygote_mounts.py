"""Which files of the machine calls see, and which they can change."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.unit.sandbox.supervisor_channel import Refused, Zygote, make_zygote_spec, zygote


def make(path: Path) -> Path:
    """Create a folder that every user can write to."""
    path.mkdir()
    path.chmod(0o777)
    return path


def test_nothing_of_the_machine_is_there_but_programs_and_libraries(calls: Zygote, folder: Path) -> None:
    (folder / "secret").write_text("x")
    gone = [folder / "secret", *map(Path, ("/etc/shadow", "/etc/hostname", "/sys", "/var", "/home", "/run", "/boot"))]
    ended = calls.shell("; ".join(f"ls -d {path}" for path in gone) + "; ls /")
    assert ended.stdout == b""
    assert ended.stderr.count(b"No such file") == len(gone)
    assert ended.stderr.endswith(b"cannot open directory '/': Permission denied\n")


def test_the_system_the_interpreter_and_the_root_cannot_be_changed(calls: Zygote) -> None:
    places = ["/usr", "/etc", "/dev", "/", "/bin", sys.base_prefix, sys.prefix]
    script = "; ".join(f"touch {place}/new && echo wrote {place}" for place in places)
    ended = calls.shell(f"{script}; echo x > /etc/passwd; rm -f /etc/group; mkdir /new; mv /etc /gone")
    assert ended.stdout == b""
    assert calls.shell("cat /etc/group").stdout.startswith(b"root:x:0:")


def test_only_harmless_devices_are_there(calls: Zygote) -> None:
    ended = calls.shell(
        "ls /dev; head -c 4 /dev/urandom | wc -c; head -c 3 /dev/zero | wc -c; echo x > /dev/null && echo ok"
    )
    assert ended.stdout.split() == b"fd full null random shm stderr stdin stdout urandom zero 4 3 ok".split()


def test_devices_can_be_written_to_but_not_changed(calls: Zygote) -> None:
    ended = calls.shell(
        "echo x > /dev/null && touch /dev/null; echo x > /dev/zero; grep ' /dev/null ' /proc/self/mounts"
    )
    assert ended.stdout.split()[3].startswith(b"ro,")
    assert ended.stderr.count(b"ead-only file system") == 1


def test_standard_streams_are_found_under_their_device_names(calls: Zygote) -> None:
    ended = calls.shell("cat /dev/stdin; echo out > /dev/stdout; echo err > /dev/stderr", stdin="in ")
    assert (ended.stdout, ended.stderr) == (b"in out\n", b"err\n")


def test_the_user_has_a_name_and_no_groups_but_its_own(calls: Zygote, user: str) -> None:
    ended = calls.shell("id -un; id -Gn; hostname; echo ~")
    assert ended.stdout == b"tool\ntool\ntool\n/call\n"
    uid = int(calls.shell("id -u").stdout)
    assert uid == 2_000_000_000 if user == "root" else uid > 0


def test_a_folder_that_is_shown_can_be_read_but_not_written(folder: Path, user: str) -> None:
    (folder / "page").write_text("hello")
    with zygote(make_zygote_spec((folder, folder, False)), user) as calls:
        ended = calls.shell(
            f"cat {folder}/page; echo x > {folder}/page; touch {folder}/new; rm {folder}/page", cwd=str(folder)
        )
    assert ended.stdout == b"hello"
    assert ended.stderr.count(b"ead-only file system") == 3
    assert [path.name for path in folder.iterdir()] == ["page"]


@pytest.mark.parametrize("place", ["/etcetera", "/devel/project", "/process"])
def test_a_folder_whose_path_begins_like_one_of_the_systems_can_be_read(folder: Path, user: str, place: str) -> None:
    (folder / "page").write_text("hello")
    with zygote(make_zygote_spec((folder, Path(place), False)), user) as calls:
        assert calls.shell("cat page", cwd=place).stdout == b"hello"


def test_a_writable_folder_keeps_what_a_call_wrote(folder: Path, user: str) -> None:
    with zygote(make_zygote_spec((folder, folder, True)), user) as calls:
        ended = calls.shell("echo kept > page && pwd", cwd=str(folder))
    assert ended.stdout == f"{folder}\n".encode()
    assert (folder / "page").read_text() == "kept\n"


def test_set_user_id_bits_and_devices_mean_nothing_in_a_folder_that_is_shown(folder: Path, user: str) -> None:
    with zygote(make_zygote_spec((folder, folder, True)), user) as calls:
        ended = calls.shell(f"grep ' {folder} ' /proc/self/mounts")
    options = set(ended.stdout.split()[3].decode().split(","))
    assert {"nosuid", "nodev"} <= options


def test_a_folder_named_by_a_link_is_shown_at_the_links_own_path(folder: Path, user: str) -> None:
    real, link = folder / "real", folder / "link"
    real.mkdir()
    (real / "page").write_text("hello")
    link.symlink_to(real)
    with zygote(make_zygote_spec((real, link, False)), user) as calls:
        ended = calls.shell(f"cat {link}/page; ls {folder}")
    assert ended.stdout == b"hellolink\n"


def test_links_out_of_a_folder_that_is_shown_lead_nowhere(folder: Path, user: str) -> None:
    make(folder / "shown")
    (folder / "secret").write_text("x")
    (folder / "shown" / "link").symlink_to(folder / "secret")
    (folder / "shown" / "up").symlink_to("..")
    with zygote(make_zygote_spec((folder / "shown", folder / "shown", True)), user) as calls:
        ended = calls.shell(f"cd {folder}/shown; cat link up/secret ../secret /proc/1/root{folder}/secret")
    assert ended.stdout == b""
    assert ended.stderr.count(b"\n") == 4


def test_what_belongs_to_the_board_is_hidden_wherever_it_would_show(folder: Path, user: str) -> None:
    board = make(make(folder / "work") / "board")
    (board / "key").write_text("secret")
    (folder / "work" / "own").write_text("own")
    link = folder / "link"
    link.symlink_to(board)
    shown = make_zygote_spec(
        (folder / "work", folder / "work", True), (folder / "work", Path("/srv/again"), True), masked=[str(link)]
    )
    with zygote(shown, user) as calls:
        ended = calls.shell(f"cat {folder}/work/own /srv/again/own; ls -A {board} /srv/again/board; touch {board}/x")
    assert ended.stdout == f"ownown/srv/again/board:\n\n{board}:\n".encode()
    assert b"ead-only" in ended.stderr
    assert [path.name for path in board.iterdir()] == ["key"]


def test_a_single_file_of_the_boards_is_hidden_too(folder: Path, user: str) -> None:
    (folder / "data.db").write_text("secret")
    with zygote(make_zygote_spec((folder, folder, False), masked=[str(folder / "data.db")]), user) as calls:
        assert calls.shell(f"cat {folder}/data.db; ls {folder}").stdout == b"data.db\n"


def test_a_folder_inside_the_boards_own_is_refused(folder: Path, user: str) -> None:
    inside = make(make(folder / "board") / "inside")
    received = make_zygote_spec((inside, inside, True), masked=[str(folder / "board")])
    with pytest.raises(Refused, match=f"{inside}.*is inside.*belongs to the board"), zygote(received, user):
        pass


def test_the_interpreter_is_shown_though_it_lies_inside_the_boards_own_folder(folder: Path, user: str) -> None:
    site = folder / "board" / "venv" / "site-packages"
    site.mkdir(parents=True)
    (site / "shelved.py").write_text("x = 1")
    (folder / "board" / "key").write_text("secret")
    binds = ((folder, folder, False), (folder / "board" / "venv", folder / "board" / "venv", False))
    received = make_zygote_spec(*binds, masked=[str(folder / "board")], prefixes=[str(site)], modules=["shelved"])
    code = f"import os, shelved\ndef main():\n    return [shelved.x, os.listdir('{folder}/board')]"
    with zygote(received | {"allowed": ["shelved"]}, user) as calls:
        assert calls.function(code).result == b'{"ok":[1,["venv"]]}'
        assert b"FileNotFoundError" in calls.function(f"def main(): open('{folder}/board/key')").result


def test_a_folder_that_does_not_exist_is_refused_by_name(folder: Path, user: str) -> None:
    gone = folder / "gone"
    with (
        pytest.raises(Refused, match=f"{gone}.*No such file or directory"),
        zygote(make_zygote_spec((gone, gone, False)), user),
    ):
        pass


def test_a_folder_that_the_tools_user_cannot_reach_is_refused_by_name(folder: Path, user: str) -> None:
    folder.chmod(0o755)
    folder.joinpath("own").mkdir(mode=0o700 if os.geteuid() == 0 else 0)
    own = folder / "own"
    with pytest.raises(Refused, match=f"{own}.*cannot be read"), zygote(make_zygote_spec((own, own, False)), user):
        pass
    own.chmod(0o755 if os.geteuid() == 0 else 0o555)
    with pytest.raises(Refused, match=f"{own}.*cannot be written to"), zygote(make_zygote_spec((own, own, True)), user):
        pass


def test_an_environment_leaves_no_mount_on_the_machine(folder: Path, user: str) -> None:
    before = Path("/proc/self/mountinfo").read_text()
    with zygote(make_zygote_spec((folder, folder, True)), user) as calls:
        calls.run("true")
        assert Path("/proc/self/mountinfo").read_text() == before
