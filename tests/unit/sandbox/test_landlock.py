"""The files and ports that a confined process can reach, on the kernel: every row is a process that tries one thing."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pegboard.sandbox.child import landlock
from tests.unit.sandbox.confined import Forker, forker

SYSTEM = [path for path in ("/usr", "/bin", "/lib", "/lib64", "/proc", "/dev") if Path(path).exists()]

FILES = {
    "reading": ("open(R + '/file').read()", "kept"),
    "listing": ("sorted(os.listdir(R))", ["file", "script"]),
    "executing": ("subprocess.run([R + '/script'], capture_output=True, text=True).stdout", "ran\n"),
    "writing what is only readable": ("open(R + '/file', 'a')", "EACCES"),
    "truncating what is only readable": ("os.truncate(R + '/file', 0)", "EACCES"),
    "making a file where reading is all": ("open(R + '/new', 'w')", "EACCES"),
    "making a folder where reading is all": ("os.mkdir(R + '/new')", "EACCES"),
    "removing what is only readable": ("os.remove(R + '/file')", "EACCES"),
    "linking what is only readable": ("os.link(R + '/file', W + '/file')", "EXDEV"),
    "moving what is only readable": ("os.rename(R + '/file', W + '/file')", "EACCES"),
    "writing": ("open(W + '/new', 'w').write('x')", 1),
    "reading what was written": ("[open(W + '/new', 'w').write('x'), open(W + '/new').read()][1]", "x"),
    "truncating": ("[open(W + '/new', 'w').write('xyz'), os.truncate(W + '/new', 1), open(W + '/new').read()][2]", "x"),
    "making folders": ("os.makedirs(W + '/a/b/c')", None),
    "removing": ("[os.mkdir(W + '/a'), os.rmdir(W + '/a'), os.listdir(W)][2]", []),
    "moving between folders": ("[os.mkdir(W + '/a'), open(W + '/f', 'w'), os.rename(W + '/f', W + '/a/f')][2]", None),
    "linking between folders": ("[os.mkdir(W + '/a'), open(W + '/f', 'w'), os.link(W + '/f', W + '/a/f')][2]", None),
    "making a pipe": ("os.mkfifo(W + '/pipe')", None),
    "making a device": ("os.mknod(W + '/null', stat.S_IFCHR | 0o600, os.makedev(1, 3))", "EACCES"),
    "making a disk": ("os.mknod(W + '/disk', stat.S_IFBLK | 0o600, os.makedev(7, 0))", "EACCES"),
    "making a socket": ("socket.socket(socket.AF_UNIX).bind(W + '/socket')", "EACCES"),
    "reading elsewhere": ("open(O + '/secret').read()", "EACCES"),
    "listing elsewhere": ("os.listdir(O)", "EACCES"),
    "writing elsewhere": ("open(O + '/secret', 'w')", "EACCES"),
    "truncating elsewhere": ("os.truncate(O + '/secret', 0)", "EACCES"),
    "making a file elsewhere": ("open(O + '/new', 'w')", "EACCES"),
    "removing elsewhere": ("os.remove(O + '/secret')", "EACCES"),
    "executing elsewhere": ("os.execv(O + '/script', ['script'])", "EACCES"),
    "by a symbolic link": ("[os.symlink(O + '/secret', W + '/link'), open(W + '/link').read()]", "EACCES"),
    "by a hard link": ("os.link(O + '/secret', W + '/link')", "EXDEV"),
    "by the way up": ("open(W + '/../outside/secret').read()", "EACCES"),
    "by the root of a process": ("open('/proc/self/root' + O + '/secret').read()", "EACCES"),
    "by taking it in": ("os.rename(O + '/secret', W + '/secret')", "EACCES"),
    "giving away": ("[open(W + '/f', 'w'), os.rename(W + '/f', O + '/f')]", "EACCES"),
    "a list of the whole tree": ("os.listdir('/')", "EACCES"),
    "a file granted for itself": ("open(F, 'r+').write('more')", 4),
    "what lies beside such a file": ("os.listdir(os.path.dirname(F))", "EACCES"),
    "a device granted for itself": ("open('/dev/null', 'w').write('x')", 1),
    "the functions of a device": ("fcntl.ioctl(os.open('/dev/null', os.O_RDWR), 0x5401, b'x' * 60)", "EACCES"),
    "a stream by its name": ("[os.write(pipe[1], b'x'), len(open(f'/proc/self/fd/{pipe[0]}', 'rb').read1(9))][1]", 1),
    "no descriptor is left open": ("len(os.listdir('/proc/self/fd')) - held", 0),
}  # fmt: skip

OTHERS = {
    "a signal to another": ("os.kill(os.getppid(), 0)", None, "EPERM"),
    "a signal to itself": ("os.kill(os.getpid(), 0)", None, None),
    "a signal to a child": ("[child := os.fork() or signal.pause(), os.kill(child, 9), os.wait()[1]][2]", 9, 9),
    "an abstract socket of others": ("socket.socket(socket.AF_UNIX).connect(name)", None, "EPERM"),
    "a file of others": ("len(os.readlink(f'/proc/{os.getppid()}/exe')) > 0", True, "EACCES"),
    "the memory of others": ("open(f'/proc/{os.getppid()}/mem', 'rb').close()", None, "EACCES"),
}

LISTENING = (
    "listener = socket.socket(socket.AF_UNIX); listener.bind(''); listener.listen(); name = listener.getsockname()"
)


@dataclass(frozen=True)
class Places:
    """Folders that a process is granted, or not."""

    readable: Path
    writable: Path
    outside: Path
    alone: Path

    def granted(self, **more: Any) -> dict[str, Any]:
        """The arguments of `confine`."""
        return {
            "readable": [*SYSTEM, str(self.readable)],
            "writable": [str(self.writable), str(self.alone), "/dev/null"],
            "tcp_connect": [],
        } | more

    def named(self) -> str:
        """Return the names that the rows use."""
        names = {"R": self.readable, "W": self.writable, "O": self.outside, "F": self.alone}
        return "".join(f"{name} = {str(path)!r}\n" for name, path in names.items())


@pytest.fixture
def places(tmp_path: Path) -> Places:
    made = Places(tmp_path / "readable", tmp_path / "writable", tmp_path / "outside", tmp_path / "alone" / "file")
    for folder in (made.readable, made.writable, made.outside, made.alone.parent):
        folder.mkdir()
    (made.readable / "file").write_text("kept")
    (made.outside / "secret").write_text("secret")
    made.alone.write_text("")
    for script in (made.readable / "script", made.outside / "script"):
        script.write_text("#!/bin/sh\necho ran\n")
        script.chmod(0o755)
    return made


@pytest.fixture(scope="module")
def forked() -> Iterator[Forker]:
    with forker() as running:
        yield running


@pytest.mark.parametrize("about", FILES)
def test_only_what_was_granted_can_be_reached(forked: Forker, places: Places, about: str) -> None:
    code, expected = FILES[about]
    before = places.named() + "pipe = os.pipe(); held = len(os.listdir('/proc/self/fd'))"
    assert forked.attempt(code, landlock=places.granted(), before=before) == expected


@pytest.mark.parametrize("about", OTHERS)
def test_other_processes_are_out_of_reach(forked: Forker, places: Places, about: str) -> None:
    code, free, confined = OTHERS[about]
    assert forked.attempt(code, before=LISTENING) == free
    assert forked.attempt(code, before=LISTENING, landlock=places.granted()) == confined


def test_only_granted_ports_can_be_connected_to(forked: Forker, places: Places) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as one,
        socket.create_server(("::1", 0), family=socket.AF_INET6) as other,
    ):
        granted = places.granted(tcp_connect=[one.getsockname()[1]])
        for server, outcome in ((one, None), (other, "EACCES")):
            address = server.getsockname()[:2]
            code = f"socket.socket({int(server.family)}).connect({address!r})"
            assert forked.attempt(code) is None
            assert forked.attempt(code, landlock=granted) == outcome
            assert forked.attempt(code, landlock=places.granted()) == "EACCES"


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_no_port_can_be_served(forked: Forker, places: Places, address: str) -> None:
    family = "AF_INET6" if ":" in address else "AF_INET"
    code = f"socket.socket(socket.{family}).bind(({address!r}, 0))"
    assert forked.attempt(code) is None
    assert forked.attempt(code, landlock=places.granted()) == "EACCES"


@pytest.mark.parametrize("version", range(1, landlock.get_abi_version() + 1))
def test_every_version_confines_with_what_it_knows(forked: Forker, places: Places, version: int) -> None:
    before = places.named() + f"landlock.get_abi_version = lambda: {version}"
    for about in ("reading", "writing", "making a device", "reading elsewhere", "a device granted for itself"):
        code, expected = FILES[about]
        assert forked.attempt(code, landlock=places.granted(tcp_connect=[80]), before=before) == expected


def test_later_versions_refuse_no_less_than_earlier_ones() -> None:
    for version in range(1, 20):
        assert all(
            now & before == before
            for now, before in zip(
                landlock.list_handled_accesses(version + 1), landlock.list_handled_accesses(version), strict=True
            )
        )
    assert landlock.list_handled_accesses(1) == (0x1FFF, 0, 0)
    assert landlock.list_handled_accesses(7) == (0xFFFF, 3, 3)
    assert landlock.list_handled_accesses(10) == landlock.list_handled_accesses(99) == (0x1FFFF, 15, 3)


def test_a_path_that_is_not_there_is_an_error_that_names_it(forked: Forker, places: Places) -> None:
    gone = str(places.readable / "gone")
    message = forked.attempt("'confined'", landlock=places.granted(readable=[gone]), message=True)
    assert message == f"[Errno 2] Landlock cannot grant '{gone}': No such file or directory"


def test_a_path_that_cannot_be_examined_is_an_error_too(forked: Forker, places: Places) -> None:
    loop = places.readable / "loop"
    loop.symlink_to(loop)
    granted = places.granted(readable=[str(loop)])
    message = forked.attempt("'confined'", landlock=granted, message=True)
    assert message == f"[Errno 40] Landlock cannot grant '{loop}': Too many levels of symbolic links"


def test_a_kernel_without_it_is_an_error(forked: Forker, places: Places) -> None:
    message = forked.attempt(
        "'confined'", before="landlock.get_abi_version = lambda: 0", landlock=places.granted(), message=True
    )
    assert message == "[Errno 95] the kernel has no Landlock, or it is switched off"


def test_what_the_kernel_refuses_is_an_error_that_names_the_step(forked: Forker, places: Places) -> None:
    message = forked.attempt("'confined'", landlock=places.granted(tcp_connect=[70000]), message=True)
    assert message == "[Errno 22] Landlock cannot grant port 70000: Invalid argument"


def test_confinement_goes_only_one_way(forked: Forker, places: Places) -> None:
    again = {"readable": [str(places.outside)], "writable": [str(places.outside)], "tcp_connect": []}
    code = f"[landlock.apply_landlock(**{again!r}), open(O + '/secret').read()]"
    granted = places.granted()
    assert forked.attempt(code, before=places.named(), landlock=granted) == "EACCES"
