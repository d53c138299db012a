"""Sockets of every kind, from code with and without a network: no process outside can be reached."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.confinement.targets import Target

# The arguments of `socket` for each name, as numbers, because not every Python has the constants.
KINDS: dict[str, tuple[int, int, int]] = {
    "tcp": (2, 1, 0), "tcp by its number": (2, 1, 6), "tcp of IPv6": (10, 1, 0), "udp": (2, 2, 0),
    "udp of IPv6": (10, 2, 0), "raw": (2, 3, 1), "raw of IPv6": (10, 3, 58), "ping": (2, 2, 1), "unix": (1, 1, 0),
    "unix datagrams": (1, 2, 0), "unix packets": (1, 5, 0), "netlink": (16, 3, 0), "netlink of audits": (16, 3, 9),
    "packets": (17, 3, 768), "vsock": (40, 1, 0), "vsock datagrams": (40, 2, 0), "cryptography": (38, 5, 0),
    "bluetooth": (31, 3, 1), "can": (29, 3, 1), "sctp": (2, 1, 132), "mptcp": (2, 1, 262), "smc": (43, 1, 0),
    "xdp": (44, 3, 0), "tipc": (30, 5, 0), "rds": (21, 5, 0), "x25": (9, 5, 0), "key": (15, 3, 2),
    "kernel connections": (41, 2, 0), "qipcrtr": (42, 2, 0), "nfc": (39, 3, 0),
}  # fmt: skip
TRY = """
import ctypes, errno, socket
def f(kinds: dict, pairs: list):
    libc = ctypes.CDLL(None, use_errno=True)
    made = {}
    for name, kind in kinds.items():
        made[name] = "made" if libc.socket(*kind) >= 0 else errno.errorcode[ctypes.get_errno()]
    for pair in pairs:
        ends = (ctypes.c_int * 2)()
        made[f"pair {pair}"] = "made" if libc.socketpair(*pair, ends) == 0 else errno.errorcode[ctypes.get_errno()]
    return made
"""
PAIRS = [[1, 1, 0], [1, 2, 0], [1, 5, 0], [2, 1, 0], [30, 1, 0]]
# A process that has a socket, including one of a pair, tries to reach others with it.
REACH = """
import os, socket, ssl, subprocess, urllib.request
def f(port: int, udp: int, path: str, abstract: str):
    def tcp(host, number):
        with socket.create_connection((host, number), 2) as line:
            line.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
    def unix(kind, name):
        with socket.socket(socket.AF_UNIX, kind) as line:
            line.connect(name)
            line.send(b"hello")
    def datagram(host):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
            line.sendto(b"hello", (host, udp))
    def pair(name):
        one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        one.sendto(b"hello", name)
    def again(name):
        one, other = socket.socketpair()
        one.connect(name)
    def fast():
        line = socket.socket()
        line.sendto(b"hello", 0x20000000, ("127.0.0.1", port))
    def program(*argv):
        subprocess.run(argv, check=True, timeout=5, stdin=-3, stdout=-3, stderr=-3)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    attempts = {
        "tcp": lambda: tcp("127.0.0.1", port),
        "tcp of IPv6": lambda: tcp("::1", port),
        "tcp of IPv4 in IPv6": lambda: tcp("::ffff:127.0.0.1", port),
        "tcp to any": lambda: tcp("0.0.0.0", port),
        "a name": lambda: tcp("localhost", port),
        "http": lambda: opener.open(f"http://127.0.0.1:{port}", timeout=2),
        "tcp with its first words": fast,
        "udp": lambda: datagram("127.0.0.1"),
        "udp to all": lambda: datagram("255.255.255.255"),
        "unix": lambda: unix(socket.SOCK_STREAM, path),
        "unix datagrams": lambda: unix(socket.SOCK_DGRAM, path),
        "abstract": lambda: unix(socket.SOCK_STREAM, "\\0" + abstract),
        "abstract datagrams": lambda: unix(socket.SOCK_DGRAM, "\\0" + abstract),
        "one of a pair": lambda: pair(path),
        "one of a pair, abstract": lambda: pair("\\0" + abstract),
        "one of a pair, connected": lambda: again("\\0" + abstract),
        "listening": lambda: socket.create_server(("127.0.0.1", 0)),
        "listening for all": lambda: socket.create_server(("0.0.0.0", 0)),
        "bash": lambda: program("bash", "-c", f"echo hello > /dev/tcp/127.0.0.1/{port}"),
        "bash, udp": lambda: program("bash", "-c", f"echo hello > /dev/udp/127.0.0.1/{udp}"),
        "perl": lambda: program("perl", "-MIO::Socket", "-e", f"IO::Socket::INET->new('127.0.0.1:{port}') or die"),
    }
    reached = []
    for name, attempt in attempts.items():
        try:
            attempt()
            reached.append(name)
        except (OSError, subprocess.SubprocessError):
            pass
    return reached
"""


class Listeners:
    """Everything on this machine that an attack could reach, and whether one did."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.path = str(folder / "socket")
        self.abstract = f"confinement-{secrets.token_hex(8)}"
        self.tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        port = self.tcp.getsockname()[1]
        self._all = [self.tcp]
        if socket.has_ipv6:
            self._all.append(stack.enter_context(socket.create_server(("::1", port), family=socket.AF_INET6)))
        self.udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.udp.bind(("127.0.0.1", 0))
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            for name in (self.path if kind == socket.SOCK_STREAM else self.path + ".d", "\0" + self.abstract):
                listener = stack.enter_context(socket.socket(socket.AF_UNIX, kind))
                listener.bind(name)
                if kind == socket.SOCK_STREAM:
                    listener.listen()
                self._all.append(listener)
        Path(self.path).chmod(0o777)
        self._all.append(self.udp)

    def reached(self) -> list[str]:
        """Return the listeners that were reached."""
        found = []
        for listener in self._all:
            listener.setblocking(False)
            try:
                if listener.type == socket.SOCK_STREAM:
                    listener.accept()[0].close()
                else:
                    listener.recv(100)
            except BlockingIOError:
                continue
            found.append(str(listener))
        return found


@pytest.fixture
def listeners(folder: Path) -> Iterator[Listeners]:
    """Listeners outside of the sandbox."""
    with ExitStack() as stack:
        yield Listeners(folder, stack)


async def test_no_socket_can_be_made(board: Target) -> None:
    made = (await board.python(TRY, {"kinds": KINDS, "pairs": PAIRS})).output
    expected = dict.fromkeys([*KINDS, *(f"pair {pair}" for pair in PAIRS)], "EPERM")
    assert made == expected | {"pair [1, 1, 0]": "made"}


async def test_with_a_network_only_those_of_tcp_can_be(board: Target) -> None:
    made = (await board.python(TRY, {"kinds": KINDS, "pairs": PAIRS}, network=True)).output
    tcp = dict.fromkeys(("tcp", "tcp by its number", "tcp of IPv6", "pair [1, 1, 0]"), "made")
    assert made == dict.fromkeys(made, "EPERM") | tcp


@pytest.mark.parametrize("network", [False, True])
async def test_no_one_outside_is_reached(board: Target, listeners: Listeners, network: bool) -> None:
    values = {
        "port": listeners.tcp.getsockname()[1],
        "udp": listeners.udp.getsockname()[1],
        "path": listeners.path,
        "abstract": listeners.abstract,
    }
    assert (await board.python(REACH, values, network=network, timeout=20.0)).output == []
    assert listeners.reached() == []


async def test_a_socket_in_the_folder_that_a_command_works_in_is_not_reached(
    board: Target, listeners: Listeners, folder: Path
) -> None:
    code = "import socket; s = socket.socket(socket.AF_UNIX); s.connect('socket')"
    for config in ({}, {"network": True}, {"writable": True}):
        tried = await board.shell(f'ls -l socket; python3 -c "{code}"', working_dir=str(folder), **config)
        assert "socket" in tried.output["stdout"]
        assert "PermissionError" in tried.output["stderr"]
    assert listeners.reached() == []
