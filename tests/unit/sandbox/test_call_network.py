"""The network of a call: a loopback device, and the proxies that the server offers on it."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import pytest

from tests.unit.sandbox.supervisor_channel import PYTHON, Call, Ended, Zygote, command

FETCH = """
import os, socket
host, port = os.environ["HTTP_PROXY"].removeprefix("http://").split(":")
with socket.create_connection((host, int(port)), 10) as line:
    line.sendall(b"hello\\n")
    print(line.makefile().readline().strip())
"""
ATTEMPTS = """
import os, socket
port = int(os.environ["https_proxy"].rpartition(":")[2])
attempts = {
    "another port": lambda: socket.create_connection(("127.0.0.1", OTHER), 5),
    "another address": lambda: socket.create_connection(("::1", OTHER), 5),
    "udp": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
    "unix": lambda: socket.socket(socket.AF_UNIX),
    "raw": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW),
    "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "listening": lambda: socket.create_server(("127.0.0.1", 0)),
}
for name, attempt in attempts.items():
    try:
        attempt()
        print(name)
    except OSError:
        continue
"""


@pytest.fixture
def elsewhere() -> Iterator[int]:
    """The port of a server on the machine's own loopback device."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def begin(calls: Zygote, script: str) -> tuple[Call, socket.socket]:
    """Start a call with a network, which waits for the server's proxy."""
    call = calls.call(command(PYTHON, "-I", "-S", "-c", script, network=True))
    head, descriptors, _, _ = socket.recv_fds(call.line, 5, 4)
    assert head == b"L\0\0\0\0"
    (descriptor,) = descriptors
    listener = socket.socket(fileno=descriptor)
    listener.settimeout(30)
    return call, listener


def serve(call: Call, listener: socket.socket) -> Ended:
    """Let the call run and end."""
    call.line.sendall(b"l")
    with call, listener:
        assert call.frame() == ("S", b"")
        return call.ended()


def test_the_server_answers_what_the_call_asks_of_its_proxy(calls: Zygote) -> None:
    call, listener = begin(calls, FETCH)
    assert listener.getsockname()[0] == "127.0.0.1"
    call.line.sendall(b"l")
    with call, listener, listener.accept()[0] as asked, asked.makefile("rw") as stream:
        stream.write(f"you said {stream.readline()}")
        stream.flush()
        assert call.ended().stdout == b"you said hello\n"


def test_nothing_else_is_in_reach(calls: Zygote, elsewhere: int) -> None:
    ended = serve(*begin(calls, ATTEMPTS.replace("OTHER", str(elsewhere))))
    assert (ended.fate, ended.stdout, ended.stderr) == ("exited", b"", b"")


def test_nothing_runs_until_the_server_has_reported_so(calls: Zygote) -> None:
    call, listener = begin(calls, "print('ran')")
    with listener:
        call.line.settimeout(0.2)
        with call, pytest.raises(TimeoutError):
            call.frame()


def test_every_proxy_variable_names_it_and_none_goes_around_it(calls: Zygote) -> None:
    script = "import os, json; print(json.dumps({k: v for k, v in os.environ.items() if 'proxy' in k.lower()}))"
    call, listener = begin(calls, script)
    place = f"http://127.0.0.1:{listener.getsockname()[1]}"
    ended = serve(call, listener)
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    expected = {name: place for upper in names for name in (upper, upper.lower())} | {"NO_PROXY": "", "no_proxy": ""}
    assert json.loads(ended.stdout) == expected


def test_a_call_without_a_network_cannot_make_a_socket(calls: Zygote) -> None:
    ended = calls.python("import socket\nsocket.socket()")
    assert ended.stderr.endswith(b"PermissionError: [Errno 1] Operation not permitted\n")
