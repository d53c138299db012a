"""The address policy: which addresses tools reach, however a URL is written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest
from yarl import URL

from pegboard.http_client.address_policy import AllowList
from pegboard.http_client.bounded_body import read_bounded_body
from pegboard.http_client.guarded_client import GuardedClient
from pegboard.model.call_errors import EgressRefused, UpstreamUnreachable
from tests.unit.http_client.blocked_addresses import LOOPBACK_SPELLINGS, NOT_PUBLIC, PUBLIC
from tests.unit.http_client.upstreams import Upstream, answer, serve_responses

pytestmark = pytest.mark.usefixtures("dialled")


class Names:
    """A resolver that answers as configured; a name's last answer stays."""

    def __init__(self, **answers: Sequence[Sequence[str]]) -> None:
        self.asked: list[tuple[str, int]] = []
        self._answers = {name: list(given) for name, given in answers.items()}

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append((host, port))
        given = self._answers[host.removesuffix(".")]
        return given.pop(0) if len(given) > 1 else given[0]


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    """A server on loopback that must not be reached unless it is allowed."""
    async with serve_responses(answer(b"reached")) as running:
        yield running


async def send_get(outbound: GuardedClient, url: URL | str) -> bytes:
    try:
        return await read_bounded_body(await outbound.send("GET", URL(url)), 100)
    finally:
        await outbound.close()


def in_url(address: str) -> str:
    return f"[{address}]" if ":" in address else address


@pytest.mark.parametrize("address", NOT_PUBLIC.values(), ids=NOT_PUBLIC)
async def test_an_address_that_is_not_public_is_refused(address: str, dialled: list[str]) -> None:
    url = f"http://{in_url(address)}/path?secret=1"
    outbound = GuardedClient(AllowList(), connect_seconds=10)
    with pytest.raises(EgressRefused, match="not a public address") as at_registration:
        outbound.check(url)
    with pytest.raises(EgressRefused) as at_sending:
        await send_get(outbound, url)
    assert at_registration.value.message == at_sending.value.message
    assert "PEGBOARD_EGRESS_ALLOW" in at_sending.value.message
    assert "secret" not in at_sending.value.message
    assert dialled == []


@pytest.mark.parametrize("address", NOT_PUBLIC.values(), ids=NOT_PUBLIC)
async def test_a_name_for_an_address_that_is_not_public_is_refused(address: str, dialled: list[str]) -> None:
    outbound = GuardedClient(AllowList(), resolver=Names(evil=[[address]]), connect_seconds=10)
    outbound.check("https://evil/")
    with pytest.raises(EgressRefused, match=r"'evil' \(.*\).*PEGBOARD_EGRESS_ALLOW"):
        await send_get(outbound, "https://evil/")
    assert dialled == []


@pytest.mark.parametrize("host", LOOPBACK_SPELLINGS)
async def test_no_spelling_of_loopback_gets_through(host: str, upstream: Upstream, dialled: list[str]) -> None:
    outbound = GuardedClient(AllowList(), connect_seconds=10)
    url = f"http://{host}:{upstream.port}/"
    with pytest.raises(EgressRefused, match="PEGBOARD_EGRESS_ALLOW"):
        outbound.check(url)
    with pytest.raises(EgressRefused, match="PEGBOARD_EGRESS_ALLOW"):
        await send_get(outbound, url)
    assert (dialled, upstream.connections) == ([], 0)


@pytest.mark.parametrize("host", ["127.0\u00ad.0.1", "１２７．１", "LOCALHOST", "0x7F.1"])
async def test_a_url_that_claims_to_be_encoded_gets_no_further(host: str, upstream: Upstream) -> None:
    outbound = GuardedClient(AllowList(), connect_seconds=10)
    with pytest.raises((EgressRefused, UpstreamUnreachable)):
        await send_get(outbound, URL(f"http://{host}:{upstream.port}/", encoded=True))
    assert upstream.connections == 0


@pytest.mark.parametrize("host", ["localhost", "LocalHost", "LOCALHOST"])
async def test_localhost_is_refused_when_it_is_called(host: str, upstream: Upstream) -> None:
    with pytest.raises(EgressRefused, match=r"'localhost' \("):
        await send_get(GuardedClient(AllowList(), connect_seconds=10), upstream.url(host=host))
    assert upstream.connections == 0


@pytest.mark.parametrize("address", PUBLIC.values(), ids=PUBLIC)
async def test_a_public_address_is_let_through(address: str, dialled: list[str]) -> None:
    names = Names(api=[[address]])
    for url in (f"http://{in_url(address)}/", "http://api/"):
        GuardedClient(AllowList(), connect_seconds=10).check(url)
        with pytest.raises(UpstreamUnreachable, match="Network is unreachable"):
            await send_get(GuardedClient(AllowList(), resolver=names, connect_seconds=10), url)
    assert len(dialled) == 2


@pytest.mark.parametrize("host", ["api.example", "API.Example", "api.example."])
@pytest.mark.parametrize(
    "entry", ["api.example", "API.EXAMPLE.", "api.example:{port}", "127.0.0.1", "127.0.0.1:{port}", "127.0.0.0/8"]
)
async def test_what_is_allowed_is_reached(host: str, entry: str, upstream: Upstream) -> None:
    names = Names(**{"api.example": [["127.0.0.1"]]})
    outbound = GuardedClient(AllowList.read(entry.format(port=upstream.port)), resolver=names, connect_seconds=10)
    assert await send_get(outbound, upstream.url(host=host)) == b"reached"


@pytest.mark.parametrize(
    "entry", ["pi.example", "api.example:1", "127.0.0.2", "127.0.0.1:1", "127.0.0.2/31", "[::1]:{port}", "localhost"]
)
async def test_what_is_nearly_allowed_is_refused(entry: str, upstream: Upstream, dialled: list[str]) -> None:
    names = Names(**{"api.example": [["127.0.0.1"]]})
    outbound = GuardedClient(AllowList.read(entry.format(port=upstream.port)), resolver=names, connect_seconds=10)
    with pytest.raises(EgressRefused):
        await send_get(outbound, upstream.url(host="api.example"))
    assert (dialled, upstream.connections) == ([], 0)


async def test_ipv6_is_reached_if_it_is_allowed() -> None:
    async with serve_responses(answer(b"six"), host="::1") as upstream:
        allow = AllowList.read(f"[::1]:{upstream.port}")
        GuardedClient(allow, connect_seconds=10).check(str(upstream.url(host="[::1]")))
        assert await send_get(GuardedClient(allow, connect_seconds=10), upstream.url(host="[::1]")) == b"six"


async def test_a_mapped_address_is_allowed_as_the_one_it_wraps(upstream: Upstream) -> None:
    outbound = GuardedClient(AllowList.read("127.0.0.1"), connect_seconds=10)
    assert await send_get(outbound, URL(f"http://[::ffff:127.0.0.1]:{upstream.port}/")) == b"reached"


@pytest.mark.parametrize("host", ["127.1", "0x7f.1", "2130706433", "127.0.0.1."])
async def test_an_allowed_address_must_be_written_plainly(host: str, upstream: Upstream) -> None:
    outbound = GuardedClient(AllowList.read("127.0.0.1"), connect_seconds=10)
    with pytest.raises(EgressRefused, match=r"write it as 127\.0\.0\.1"):
        outbound.check(str(upstream.url(host=host)))
    with pytest.raises(EgressRefused, match=r"write it as 127\.0\.0\.1"):
        await send_get(outbound, upstream.url(host=host))


@pytest.mark.parametrize("host", ["4294967296", "256.1.1.1", "1.2.3.4.5", "08.1.1.1", "example.0x7f"])
async def test_a_number_that_is_no_address_is_refused(host: str) -> None:
    outbound = GuardedClient(AllowList(), connect_seconds=10)
    with pytest.raises(EgressRefused, match="not a plain address"):
        outbound.check(f"http://{host}/")
    with pytest.raises(EgressRefused, match="not a plain address"):
        await send_get(outbound, f"http://{host}/")


@pytest.mark.parametrize("host", ["[::g]", "[1:2:3]", "[::ffff:0x7f.1]", "[::1%25lo]", "[fe80::1%25eth0]"])
async def test_ipv6_that_cannot_be_read_or_names_a_zone_is_refused(host: str, dialled: list[str]) -> None:
    outbound = GuardedClient(AllowList(), connect_seconds=10)
    with pytest.raises(EgressRefused):
        outbound.check(f"http://{host}/")
    with pytest.raises(EgressRefused):
        await send_get(outbound, f"http://{host}/")
    assert dialled == []


async def test_a_name_that_is_rebound_between_check_and_call_is_refused(upstream: Upstream, dialled: list[str]) -> None:
    names = Names(evil=[["8.8.8.8"], ["127.0.0.1"]])
    outbound = GuardedClient(AllowList(), resolver=names, connect_seconds=10)
    assert await names("evil", 80) == ["8.8.8.8"]
    with pytest.raises(EgressRefused, match=r"127\.0\.0\.1"):
        await send_get(outbound, upstream.url(host="evil"))
    assert (dialled, upstream.connections) == ([], 0)


async def test_a_name_that_is_rebound_between_two_calls_is_refused(upstream: Upstream, dialled: list[str]) -> None:
    outbound = GuardedClient(AllowList(), resolver=Names(evil=[["8.8.8.8"], ["127.0.0.1"]]), connect_seconds=10)
    with pytest.raises(UpstreamUnreachable):
        await outbound.send("GET", URL("http://evil/"))
    with pytest.raises(EgressRefused):
        await send_get(outbound, upstream.url(host="evil"))
    assert (dialled, upstream.connections) == (["8.8.8.8"], 0)


@pytest.mark.parametrize(
    "addresses",
    [["10.0.0.1", "127.0.0.1"], ["127.0.0.1", "10.0.0.1"], ["::1", "10.0.0.1", "127.0.0.1"], ["10.0.0.1"] * 99],
)
async def test_of_a_names_addresses_only_the_permitted_are_tried(
    addresses: list[str], upstream: Upstream, dialled: list[str]
) -> None:
    outbound = GuardedClient(
        AllowList.read("127.0.0.1"), resolver=Names(mixed=[[*addresses, "127.0.0.1"]]), connect_seconds=10
    )
    assert await send_get(outbound, upstream.url(host="mixed")) == b"reached"
    assert set(dialled) == {"127.0.0.1"}


async def test_a_name_with_thousands_of_refused_addresses_costs_no_attempt(dialled: list[str]) -> None:
    many = [f"10.0.{high}.{low}" for high in range(16) for low in range(256)]
    async with asyncio.timeout(30):
        with pytest.raises(EgressRefused, match=r"10\.0\.0\.0"):
            await send_get(GuardedClient(AllowList(), resolver=Names(many=[many]), connect_seconds=10), "http://many/")
    assert dialled == []


async def test_a_name_with_thousands_of_addresses_is_tried_a_few_times(dialled: list[str]) -> None:
    many = [f"8.8.{high}.{low}" for high in range(16) for low in range(256)]
    with pytest.raises(UpstreamUnreachable):
        await send_get(GuardedClient(AllowList(), resolver=Names(many=[many]), connect_seconds=10), "http://many/")
    assert len(set(dialled)) <= 16


@pytest.mark.parametrize("answered", [["localhost"], ["0x7f.1"], ["127.1"], ["127.0.0.1:80"], [""], []])
async def test_a_resolver_must_answer_with_addresses(answered: list[str], dialled: list[str]) -> None:
    with pytest.raises(UpstreamUnreachable, match="'odd' could not be resolved"):
        await send_get(
            GuardedClient(AllowList.read("127.0.0.1"), resolver=Names(odd=[answered]), connect_seconds=10),
            "http://odd/",
        )
    assert dialled == []


@pytest.mark.parametrize(
    "url",
    ["ftp://api.example/", "file:///etc/passwd", "ws://api.example/", "tcp://api.example:1/", "gopher://x/", "//x/y"],
)
async def test_other_schemes_are_refused(url: str, dialled: list[str]) -> None:
    outbound = GuardedClient(AllowList.read("api.example"), connect_seconds=10)
    with pytest.raises(EgressRefused, match="only http and https"):
        outbound.check(url)
    with pytest.raises(EgressRefused, match="only http and https"):
        await send_get(outbound, url)
    assert dialled == []


@pytest.mark.parametrize("credentials", ["user:hunter2@", "user@", ":hunter2@"])
async def test_credentials_in_a_url_are_refused_and_not_repeated(credentials: str, upstream: Upstream) -> None:
    outbound = GuardedClient(AllowList.read("127.0.0.1"), connect_seconds=10)
    url = f"http://{credentials}127.0.0.1:{upstream.port}/"
    with pytest.raises(EgressRefused, match="auth_config") as caught:
        outbound.check(url)
    assert "hunter2" not in caught.value.message
    with pytest.raises(EgressRefused, match="auth_config"):
        await send_get(outbound, url)
    assert upstream.connections == 0


@pytest.mark.parametrize(
    "url", ["http://", "http:///path", "http://[::1", "http://a:99999/", "http://a:b/", "http://:80/"]
)
def test_what_is_no_url_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(EgressRefused, match="this URL"):
        GuardedClient(AllowList(), connect_seconds=10).check(url)
