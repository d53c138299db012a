"""Which hosts and origins may send requests, by the settings of the server."""

from __future__ import annotations

import pytest

from pegboard.surfaces.rest.request_origin import OriginPolicy, OriginRefused
from pegboard.testing import memory_board
from tests.board_surfaces import KEY, served
from tests.surfaces.mcp.rpc import STATELESS, RpcClient, client_of

pytestmark = pytest.mark.anyio


def status(policy: OriginPolicy, host: str | None, origin: str | None = None) -> int:
    """The status of a request with these headers."""
    try:
        policy.check(None if host is None else host.encode(), None if origin is None else origin.encode())
    except OriginRefused as error:
        return error.status
    return 200


@pytest.mark.parametrize("listens_on", ["127.0.0.1", "localhost", "::1"])
def test_a_server_on_loopback(listens_on: str) -> None:
    policy = OriginPolicy(listens_on, "Tools.example, other.example:8443", "", None)
    for host in ("localhost:8080", "127.0.0.1", "[::1]:1", "tools.example", "tools.example:99", "other.example:8443"):
        assert status(policy, host) == 200
        assert status(policy, host, f"https://{host}") == 200
        assert status(policy, host, "http://evil.example") == 403
    for other in ("evil.example", "other.example", "other.example:1", "", None, "localhost.", "1.1.1.1", "[::2]"):
        assert status(policy, other) == 421


def test_a_server_on_another_address() -> None:
    policy = OriginPolicy("0.0.0.0", "", "https://app.example/", None)
    for host in ("evil.example", "tools.example:8080", None):
        assert status(policy, host) == 200
    assert status(policy, "tools.example", "https://tools.example") == 200
    assert status(policy, "tools.example", "https://app.example") == 200
    for origin in ("http://localhost", "https://app.example.evil", "https://app.example:1", "null", ""):
        assert status(policy, "tools.example", origin) == 403
    named = OriginPolicy("0.0.0.0", "tools.example", "", None)
    assert status(named, "tools.example:8080") == 200
    assert status(named, "127.0.0.1") == 421


def test_the_public_url_is_a_name_of_the_server() -> None:
    policy = OriginPolicy("127.0.0.1", "", "", "https://Tools.example:443/board")
    assert status(policy, "tools.example", "https://tools.example") == 200
    assert status(policy, "tools.example", "https://other.example") == 403
    assert status(policy, "other.example") == 421
    assert OriginPolicy("0.0.0.0", "", "", "https://tools.example").find_own_origin(b"other.example", "https") is None


async def test_browsers_see_the_headers_of_the_protocol() -> None:
    origin = "https://app.example"
    async with (
        memory_board(admin_key=KEY, cors_origins=origin) as board,
        served(board) as url,
        client_of(url) as http,
    ):
        names = ("authorization", "content-type", "mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id")
        asked = {
            "Origin": origin,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": ",".join(names),
        }
        preflight = await http.options("/mcp", headers=asked)
        assert preflight.status_code == 200, preflight.text
        rpc = RpcClient(http, STATELESS)
        reply = await rpc.post(rpc.message("tools/list"), Origin=origin)
        assert reply.status_code == 200
        exposed = {name.strip() for name in reply.headers["access-control-expose-headers"].split(",")}
        assert {"Mcp-Session-Id", "MCP-Protocol-Version", "WWW-Authenticate"} <= exposed
