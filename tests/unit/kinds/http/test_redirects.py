"""Redirects: their targets, what is sent there, and what is not."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
import trustme
from multidict import CIMultiDict
from yarl import URL

from pegboard.http_client.host_limits import get_origin
from pegboard.kinds.http.executor import MAX_REDIRECTS, RedirectTrail
from pegboard.kinds.http.request_template import HttpRequest
from pegboard.kinds.secret_mask import SecretMask
from pegboard.model.call_errors import EgressRefused, ToolError, UpstreamFailed
from tests.unit.kinds.http.call_http_tools import HttpCalls, http_calls
from tests.upstreams import Upstream, answer, by_path, echo, redirect, upstream

STATUSES = (301, 302, 303, 307, 308)
KEY = "sesame-open-9"
CREDENTIALS: dict[str, tuple[dict[str, Any], dict[str, Any] | None]] = {
    "bearer": ({}, {"type": "bearer", "token": KEY}),
    "basic": ({}, {"type": "basic", "username": "ann", "password": KEY}),
    "api_key header": ({}, {"type": "api_key", "api_key": KEY, "header_name": "X-Its-Key"}),
    "api_key query": ({}, {"type": "api_key", "api_key": KEY, "query_name": "its_key"}),
    "custom header": ({}, {"type": "custom", "headers": {"X-Odd": KEY}}),
    "custom query": ({}, {"type": "custom", "query": {"odd": KEY}}),
    "cookie": ({}, {"type": "custom", "cookies": {"session": KEY}}),
    "config.headers": ({"headers": {"X-Configured": KEY}}, None),
}
# The credential on the wire: unchanged, and as basic authentication.
TRACES = (KEY.encode(), b"YW5uOnNlc2FtZS1vcGVuLTk")


@pytest.fixture
async def caller() -> AsyncIterator[HttpCalls]:
    async with http_calls() as made:
        yield made


@pytest.fixture
async def first_server() -> AsyncIterator[Upstream]:
    async with upstream() as made:
        yield made


@pytest.fixture
async def elsewhere() -> AsyncIterator[Upstream]:
    async with upstream() as made:
        yield made


def request(method: str = "GET", url: str = "https://a.example/x", body: bytes | None = None) -> HttpRequest:
    bare = CIMultiDict({"X-Given": "1", "Content-Type": "text/plain"})
    return HttpRequest(method, URL(url), CIMultiDict({**bare, "Authorization": "Bearer x"}), body, bare)


@pytest.mark.parametrize(
    ("status", "method", "after", "keeps_body"),
    [
        *((status, "GET", "GET", True) for status in STATUSES),
        *((status, "HEAD", "HEAD", True) for status in STATUSES),
        *((status, "POST", "GET", False) for status in (301, 302, 303)),
        *((status, "POST", "POST", True) for status in (307, 308)),
        *((status, method, method, True) for status in (301, 302, 307, 308) for method in ("PUT", "PATCH", "DELETE")),
        *((303, method, "GET", False) for method in ("PUT", "PATCH", "DELETE")),
    ],
)
@pytest.mark.parametrize("location", ["/y", "https://b.example/y"])
def test_a_status_says_what_becomes_of_method_and_body(
    status: int, method: str, after: str, keeps_body: bool, location: str
) -> None:
    followed = RedirectTrail(SecretMask(())).follow(request(method, body=b"data"), status, location)
    assert followed.method == after
    assert followed.body == (b"data" if keeps_body else None)
    assert ("Content-Type" in followed.headers) is keeps_body
    assert followed.headers["X-Given"] == "1"
    assert ("Authorization" in followed.headers) is (location == "/y")


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("/y", "https://a.example/y"),
        ("y?b=2#part", "https://a.example/dir/y?b=2"),
        ("?b=2", "https://a.example/dir/x?b=2"),
        ("//b.example/y", "https://b.example/y"),
        ("../y", "https://a.example/y"),
        ("/a%2Fb?c=%20d", "https://a.example/a%2Fb?c=%20d"),
        ("/caf\u00e9", "https://a.example/caf%C3%A9"),
    ],
)
def test_a_location_is_read_from_where_it_was_given(location: str, expected: str) -> None:
    followed = RedirectTrail(SecretMask(())).follow(request(url="https://a.example/dir/x?a=1"), 302, location)
    assert followed.url == URL(expected)


@pytest.mark.parametrize(
    ("location", "error"),
    [
        (None, UpstreamFailed),
        ("", UpstreamFailed),
        ("http://", UpstreamFailed),
        ("https://[::1", UpstreamFailed),
        ("https://a.example:99999/", UpstreamFailed),
        ("https://a.example:x/", UpstreamFailed),
        ("https://caf\udce9/", UpstreamFailed),
        ("javascript:alert(1)", EgressRefused),
        ("file:///etc/passwd", EgressRefused),
        ("ftp://b.example/", EgressRefused),
        ("gopher://b.example/", EgressRefused),
        ("http://a.example/x", EgressRefused),
        ("http://b.example/", EgressRefused),
        ("https://b.example/?k=sesame-open", EgressRefused),
        ("https://b.example/sesame%2Dopen", EgressRefused),
        ("https://sesame-open.b.example/", EgressRefused),
        ("https://a.example/x", UpstreamFailed),
    ],
)
def test_a_location_that_cannot_be_followed_is_refused(location: str | None, error: type[ToolError]) -> None:
    with pytest.raises(error) as caught:
        RedirectTrail(SecretMask(["sesame-open"])).follow(request(), 307, location)
    assert type(caught.value) is error


def test_once_left_an_origin_does_not_get_its_credentials_back() -> None:
    trail = RedirectTrail(SecretMask(()))
    away = trail.follow(request(), 302, "https://b.example/")
    back = trail.follow(away, 302, "https://a.example/y")
    assert "Authorization" not in back.headers


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://a.example/", "https://A.example:443/x", True),
        ("http://a.example/", "https://a.example/", False),
        ("http://a.example/", "http://a.example:81/", False),
        ("http://a.example/", "http://a.example./", False),
        ("http://a.example/", "http://b.a.example/", False),
        ("http://[::1]/", "http://[0:0::1]:80/", True),
    ],
)
def test_an_origin_is_scheme_host_and_port(one: str, other: str, same: bool) -> None:
    assert (get_origin(URL(one)) == get_origin(URL(other))) is same


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("kind", CREDENTIALS)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_credential_never_reaches_another_origin(
    caller: HttpCalls, first_server: Upstream, elsewhere: Upstream, status: int, kind: str, method: str
) -> None:
    config, auth = CREDENTIALS[kind]
    first_server.behaviour = redirect(f"{elsewhere.url}/there?n=1", status)
    await caller.call({"url": f"{first_server.url}/here", "method": method, **config}, {"n": "1"}, auth)
    assert any(trace in first_server.last.raw for trace in TRACES), "it was sent where it belongs"
    assert not any(trace in elsewhere.last.raw for trace in TRACES)
    assert elsewhere.last.all("cookie") == elsewhere.last.all("authorization") == []


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("kind", [kind for kind in CREDENTIALS if "query" not in kind])
async def test_a_credential_stays_on_its_own_origin(
    caller: HttpCalls, first_server: Upstream, status: int, kind: str
) -> None:
    config, auth = CREDENTIALS[kind]
    first_server.behaviour = by_path(
        here=redirect("/there", status), there=answer(200, "yes", Content_Type="text/plain")
    )
    assert await caller.call({"url": f"{first_server.url}/here", **config}, {}, auth) == "yes"
    assert first_server.last.target == "/there"
    assert any(trace in first_server.last.raw for trace in TRACES)


@pytest.mark.parametrize("kind", ["api_key query", "custom query"])
async def test_a_credential_in_the_query_is_not_carried_off_by_the_location(
    caller: HttpCalls, first_server: Upstream, elsewhere: Upstream, kind: str
) -> None:
    async def keeps_the_query(received: Any, wire: Any) -> None:
        await redirect(f"{elsewhere.url}{received.target}", 301)(received, wire)

    first_server.behaviour = keeps_the_query
    with pytest.raises(EgressRefused, match="credential in the URL") as caught:
        await caller.call({"url": f"{first_server.url}/here"}, {}, CREDENTIALS[kind][1])
    assert KEY not in caught.value.message
    assert elsewhere.received == []


async def test_what_was_given_goes_along_and_arrives_once(
    caller: HttpCalls, first_server: Upstream, elsewhere: Upstream
) -> None:
    first_server.behaviour = redirect(f"{elsewhere.url}/there", 308)
    config = {"url": f"{first_server.url}/here", "method": "POST", "params_in": {"trace": "header"}}
    result = await caller.call(config, {"trace": "t1", "n": 1})
    assert (result["method"], result["body"]) == ("POST", '{"n":1}')
    assert (elsewhere.last.one("trace"), elsewhere.last.one("host")) == ("t1", elsewhere.url.partition("//")[2])
    assert elsewhere.last.one("content-type") == "application/json"


@pytest.mark.parametrize("hops", [MAX_REDIRECTS, MAX_REDIRECTS + 1])
async def test_five_redirects_are_followed_and_no_more(caller: HttpCalls, first_server: Upstream, hops: int) -> None:
    names = ["a", "b", "c", "d", "e", "f"][:hops]
    following = zip(names, [*names[1:], "end"], strict=True)
    first_server.behaviour = by_path(**{name: redirect(f"/{after}") for name, after in following}, end=echo)
    if hops <= MAX_REDIRECTS:
        assert (await caller.get(f"{first_server.url}/a"))["target"] == "/end"
    else:
        with pytest.raises(UpstreamFailed, match=r"more than 5 times \(GET http://127.0.0.1:\d+/a\)"):
            await caller.get(f"{first_server.url}/a")


@pytest.mark.parametrize("behaviours", [{"a": "/a"}, {"a": "/b", "b": "/a"}, {"a": "/b", "b": "/b?"}])
async def test_a_loop_is_noticed(caller: HttpCalls, first_server: Upstream, behaviours: Mapping[str, str]) -> None:
    first_server.behaviour = by_path(**{name: redirect(target) for name, target in behaviours.items()})
    with pytest.raises(UpstreamFailed, match="in a loop"):
        await caller.get(f"{first_server.url}/a")
    assert len(first_server.received) <= 3


async def test_see_other_to_the_same_place_is_no_loop(caller: HttpCalls, first_server: Upstream) -> None:
    async def after_post(received: Any, wire: Any) -> None:
        await (redirect("/a", 303) if received.method == "POST" else echo)(received, wire)

    first_server.behaviour = after_post
    result = await caller.call({"url": f"{first_server.url}/a", "method": "POST"}, {"n": 1})
    assert (result["method"], result["body"]) == ("GET", "")


async def test_https_is_not_left_for_http(elsewhere: Upstream) -> None:
    ca = trustme.CA()
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert("127.0.0.1").configure_cert(served)
    trusting = ssl.create_default_context()
    ca.configure_trust(trusting)
    async with upstream(tls=served) as secure, http_calls(tls=trusting) as caller:
        secure.behaviour = by_path(down=redirect(elsewhere.url), stay=redirect("/end"), end=echo)
        with pytest.raises(EgressRefused, match="from https to http"):
            await caller.get(f"{secure.url}/down")
        assert elsewhere.received == []
        elsewhere.behaviour = redirect(f"{secure.url}/end")
        assert (await caller.get(f"{secure.url}/stay"))["target"] == "/end"
        assert (await caller.get(elsewhere.url))["target"] == "/end"


async def test_connections_that_redirected_are_used_again(caller: HttpCalls, first_server: Upstream) -> None:
    first_server.behaviour = by_path(a=redirect("/b"), b=echo)
    for _ in range(3):
        await caller.get(f"{first_server.url}/a")
    assert first_server.connections == 1


async def test_a_refused_address_is_named_as_one_that_the_tool_was_redirected_to(caller: HttpCalls) -> None:
    async with upstream(redirect("http://169.254.169.254/latest")) as there:
        with pytest.raises(EgressRefused) as refused:
            await caller.call({"url": there.url})
    assert "Upstream redirected to http://169.254.169.254:80. Tools may not reach" in refused.value.message
