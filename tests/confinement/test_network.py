"""Tools with `network: true`: allowed addresses are reached through the board's proxy, and no others in any way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import pytest

from tests.confinement.targets import Target, table, target
from tests.unit.http_client.blocked_addresses import NOT_PUBLIC
from tests.upstreams import Upstream, hang, redirect, upstream
from tests.waiting import until

# Sends something to the proxy, and reads until the proxy closes the connection.
ASK = """
import os, socket
def f(asked: list[str]):
    place = os.environ["HTTP_PROXY"].removeprefix("http://").split(":")
    heard = []
    for one in asked:
        with socket.create_connection((place[0], int(place[1])), 5) as line:
            line.settimeout(5)
            try:
                line.sendall(one.encode("latin-1"))
                line.shutdown(socket.SHUT_WR)
                answer = b"".join(iter(lambda: line.recv(65536), b""))
            except ConnectionError:
                answer = b"reset"
            heard.append(answer.decode("latin-1")[:700])
    return heard
"""
FETCH = """
import urllib.error, urllib.request
def f(url: str):
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return [answer.status, answer.read().decode()]
    except urllib.error.HTTPError as error:
        with error:
            return [error.code, error.read().decode()]
"""
TUNNEL = """
import os, socket
def f(target: str):
    host, port = os.environ["https_proxy"].removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), 5) as line, line.makefile("rwb") as stream:
        stream.write(f"CONNECT {target} HTTP/1.1\\r\\nHost: {target}\\r\\n\\r\\n".encode())
        stream.flush()
        status = stream.readline().decode().split()[1]
        while stream.readline().strip(): pass
        stream.write(b"GET /within HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n")
        stream.flush()
        return [status, stream.readline().decode().split()[1]]
"""
EVERY_PORT = """
import errno, os, socket
def f(hosts: list[str]):
    reached = []
    for host in hosts:
        for port in range(1, 65536):
            line = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
            line.settimeout(0.05)
            try:
                line.connect((host, port))
                reached.append([host, port])
            except OSError:
                pass
            finally:
                line.close()
    return [reached, int(os.environ["ALL_PROXY"].rpartition(":")[2])]
"""
DIRECT = """
import socket
def f(places: list):
    reached = []
    for host, port in places:
        try:
            socket.create_connection((host, port), 1).close()
            reached.append([host, port])
        except OSError:
            pass
    return reached
"""
FLOOD = """
import os, socket
def f():
    place = os.environ["HTTP_PROXY"].removeprefix("http://").split(":")
    lines = []
    for _ in range(200):
        lines.append(socket.create_connection((place[0], int(place[1])), 0.5))
        lines[-1].sendall(b"GET http://127.0.0.1/ HTTP/1.1\\r\\nX: " + b"x" * 5000)
    return len(lines)
"""
SPELLINGS = [
    "127.0.0.1", "localhost", "LOCALHOST.", "127.1", "127.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "0x7f.0.0.1",
    "0", "0.0.0.0", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]", "127.0.0.1.",
    "127.00.0.1", "inner.test", "metadata.test", "both.test", "%31%32%37.0.0.1", "\xb9\xb2\xb7.0.0.1",
    "127.0.0.1%00.test",
]  # fmt: skip


@dataclass
class Net:
    """The board, a server that tools may reach, and a forbidden one."""

    target: Target
    allowed: Upstream
    forbidden: Upstream


async def addresses(host: str, _port: int) -> Sequence[str]:
    """Return the addresses of the host names in these tests; none is public."""
    known = {
        "friend.test": ["127.0.0.1"],
        "inner.test": ["127.0.0.1"],
        "metadata.test": ["169.254.169.254"],
        "both.test": ["10.0.0.1", "::1", "127.0.0.1"],
        "localhost": ["127.0.0.1"],
    }
    if host.rstrip(".").lower() not in known:
        raise OSError("no such name")
    return known[host.rstrip(".").lower()]


@pytest.fixture(scope="module")
async def network_board(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Net]:
    """The board, its proxy and the servers, for the tests of this module."""
    async with upstream() as allowed, upstream() as forbidden:
        allow = f"127.0.0.1:{allowed.port},friend.test:{allowed.port}"
        home = tmp_path_factory.mktemp("home")
        async with target(home, resolver=addresses, egress_allow=allow) as made:
            yield Net(made, allowed, forbidden)


@pytest.fixture
async def net(network_board: Net) -> AsyncIterator[Net]:
    """The same, in order after the test; no call reached the forbidden server."""
    network_board.allowed.received.clear()
    network_board.allowed.connections = 0
    yield network_board
    await network_board.target.check()
    assert (network_board.forbidden.connections, network_board.forbidden.received) == (0, [])


async def fetched(net: Net, url: str) -> list[object]:
    """Return the status and the body of a request that code makes."""
    output: list[object] = (await net.target.python(FETCH, {"url": url}, network=True)).output
    return output


async def test_what_is_allowed_is_reached_through_the_proxy(net: Net) -> None:
    for host in ("127.0.0.1", "friend.test", "FRIEND.test."):
        status, body = await fetched(net, f"http://{host}:{net.allowed.port}/path?x=1")
        assert (status, '"target": "/path?x=1"' in str(body)) == (200, True)
        assert not [name for name, _ in net.allowed.last.headers if name.lower().startswith("proxy")]
    tunnel = await net.target.python(TUNNEL, {"target": f"friend.test:{net.allowed.port}"}, network=True)
    assert tunnel.output == ["200", "200"]
    assert net.allowed.last.target == "/within"
    script = (
        'python3 -c "import urllib.request; '
        f"print(urllib.request.urlopen('http://friend.test:{net.allowed.port}/').status)\""
    )
    assert (await net.target.shell(script, network=True)).output["stdout"] == "200\n"


@pytest.mark.parametrize(
    "form", ["GET http://{place}/ HTTP/1.1\r\nHost: x\r\n\r\n", "CONNECT {place} HTTP/1.1\r\n\r\n"]
)
async def test_no_private_address_is_reached_however_it_is_written(net: Net, form: str) -> None:
    addresses = [f"[{text}]" if ":" in text else text for text in NOT_PUBLIC.values()]
    hosts = [*addresses, *SPELLINGS]
    asked = [form.format(place=f"{host}:{net.forbidden.port}") for host in hosts]
    reports = (await net.target.python(ASK, {"asked": asked}, network=True, timeout=20.0)).output
    statuses = {
        host: answer.split(" ")[1] if " " in answer else answer for host, answer in zip(hosts, reports, strict=True)
    }
    assert {host: statuses[host] for host in addresses if statuses[host] != "403"} == {}
    # A text that is not an address is looked up as a name, and this name does not exist.
    assert {host: statuses[host] for host in SPELLINGS if statuses[host] not in ("403", "400", "502")} == {}
    assert [statuses[host] for host in ("inner.test", "metadata.test", "both.test", "localhost", "127.1")] == [
        "403"
    ] * 5


@pytest.mark.parametrize(
    ("message", "status"),
    table(
        {
            "a server of its own": ("GET / HTTP/1.1\r\nHost: 127.0.0.1:{forbidden}\r\n\r\n", "400"),
            "one place in a name": ("GET http://127.0.0.1:{allowed}@127.0.0.1:{forbidden}/ HTTP/1.1\r\n\r\n", "40[03]"),
            "a place behind a hash": (
                "GET http://127.0.0.1:{forbidden}#@127.0.0.1:{allowed}/ HTTP/1.1\r\n\r\n",
                "40[03]",
            ),
            "a place behind a backslash": (
                "GET http://127.0.0.1:{forbidden}\\@127.0.0.1:{allowed}/ HTTP/1.1\r\n\r\n",
                "40[03]",
            ),
            "two places": ("CONNECT 127.0.0.1:{forbidden}:{allowed} HTTP/1.1\r\n\r\n", "40[03]"),
            "a list of places": ("CONNECT 127.0.0.1:{forbidden},127.0.0.1:{allowed} HTTP/1.1\r\n\r\n", "40[03]"),
            "a place with a path": ("CONNECT 127.0.0.1:{forbidden}/127.0.0.1:{allowed} HTTP/1.1\r\n\r\n", "40[03]"),
            "another scheme": ("GET file:///etc/passwd HTTP/1.1\r\n\r\n", "40[03]"),
            "yet another": ("GET gopher://127.0.0.1:{forbidden}/ HTTP/1.1\r\n\r\n", "40[03]"),
            "unix": ("GET http+unix://%2Fvar%2Frun%2Fdocker.sock/info HTTP/1.1\r\n\r\n", "40[03]"),
            "no port": ("CONNECT 127.0.0.1 HTTP/1.1\r\n\r\n", "40[03]"),
            "a port beyond": ("CONNECT 127.0.0.1:99999 HTTP/1.1\r\n\r\n", "40[03]"),
            "a head without end": ("GET http://127.0.0.1:{allowed}/ HTTP/1.1\r\nX: {long}\r\n\r\n", "400|431|reset"),
            "no HTTP": ("\x16\x03\x01\x02\x00\x01\x00", "400|reset"),
        }
    ),
)
async def test_the_proxy_lets_no_one_be_fooled(net: Net, message: str, status: str) -> None:
    text = message.format(allowed=net.allowed.port, forbidden=net.forbidden.port, long="x" * 100_000)
    (reports,) = (await net.target.python(ASK, {"asked": [text]}, network=True)).output
    found = reports.split(" ")[1] if " " in reports else reports or "reset"
    assert found in {one.replace("[03]", end) for one in status.split("|") for end in "03"}, reports
    assert not net.target.leaked(reports)
    assert net.allowed.received == []


async def test_the_place_asked_for_counts_and_no_header(net: Net) -> None:
    message = (
        f"GET http://127.0.0.1:{net.allowed.port}/ HTTP/1.1\r\n"
        f"Host: 127.0.0.1:{net.forbidden.port}\r\nProxy-Authorization: x\r\n"
        "X-Forwarded-Host: y\r\n\r\n"
    )
    (reports,) = (await net.target.python(ASK, {"asked": [message]}, network=True)).output
    assert reports.startswith("HTTP/1.1 200")
    assert net.allowed.last.one("Host") == f"127.0.0.1:{net.allowed.port}"
    assert net.allowed.last.one("Proxy-Authorization") is None


async def test_a_second_request_on_a_connection_is_examined_too(net: Net) -> None:
    first = f"GET http://127.0.0.1:{net.allowed.port}/ HTTP/1.1\r\nContent-Length: 0\r\n\r\n"
    for second in (
        f"GET http://127.0.0.1:{net.forbidden.port}/ HTTP/1.1\r\n\r\n",
        f"CONNECT 127.0.0.1:{net.forbidden.port} HTTP/1.1\r\n\r\n",
    ):
        (reports,) = (await net.target.python(ASK, {"asked": [first + second]}, network=True)).output
        assert reports.startswith("HTTP/1.1 200")


async def test_a_way_that_leads_on_to_what_is_forbidden_ends_there(net: Net) -> None:
    net.allowed.behaviour, usual = redirect(f"http://127.0.0.1:{net.forbidden.port}/"), net.allowed.behaviour
    try:
        status, body = await fetched(net, f"http://127.0.0.1:{net.allowed.port}/")
    finally:
        net.allowed.behaviour = usual
    assert (status, "Tools may not reach '127.0.0.1'" in str(body)) == (403, True)


async def test_nothing_is_reached_past_the_proxy(net: Net) -> None:
    hosts = ["127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0", "localhost", "127.0.0.2"]
    places = [[host, port] for host in hosts for port in (net.allowed.port, net.forbidden.port)]
    places += [[host, 80] for host in ("169.254.169.254", "10.0.0.1", "192.168.0.1", "fe80::1", "fd00:ec2::254")]
    assert (await net.target.python(DIRECT, {"places": places}, network=True, timeout=20.0)).output == []
    assert net.allowed.connections == 0


async def test_of_all_ports_only_the_proxys_is_there(net: Net) -> None:
    code = await net.target.python(EVERY_PORT, {"hosts": ["127.0.0.1"]}, network=True, timeout=30.0)
    reached, port = code.output
    assert reached == [["127.0.0.1", port]]


async def test_a_flood_of_connections_hurts_only_itself(net: Net) -> None:
    flood, other = await asyncio.gather(
        net.target.python(FLOOD, network=True), fetched(net, f"http://127.0.0.1:{net.allowed.port}/")
    )
    assert flood.code in ("succeeded", "execution_failed")
    assert other[0] == 200


async def test_a_connection_does_not_outlive_its_call(net: Net) -> None:
    net.allowed.behaviour, usual = hang, net.allowed.behaviour
    try:
        code = TUNNEL.replace(
            "return [status, stream.readline().decode().split()[1]]", "return os.set_inheritable(line.fileno(), True)"
        )
        assert (await net.target.python(code, {"target": f"127.0.0.1:{net.allowed.port}"}, network=True)).output is None

        async def all_closed() -> bool:
            return not net.allowed.open

        await until(all_closed)
        assert net.allowed.connections == 1
    finally:
        net.allowed.behaviour = usual
