"""Calls of http tools against an upstream that records the requests it received."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from typing import Any

import pytest
import trustme
from yarl import URL

from pegboard.model.call_errors import (
    EgressRefused,
    InvalidArguments,
    Misconfigured,
    RateLimited,
    TimedOut,
    UpstreamFailed,
    UpstreamUnreachable,
)
from pegboard.model.secrets import MASK
from pegboard.model.tool import Retry
from tests.unit.kinds.http.call_http_tools import HttpCalls, http_calls, open_tool, run
from tests.upstreams import Upstream, answer, answer_json, by_path, echo, hang, redirect, upstream
from tests.waiting import until

KEY = "sesame-open-9"


@pytest.fixture
async def caller() -> AsyncIterator[HttpCalls]:
    async with http_calls() as made:
        yield made


@pytest.fixture
async def served() -> AsyncIterator[Upstream]:
    async with upstream() as made:
        yield made


async def test_a_call_is_one_request_and_its_answer_the_result(caller: HttpCalls, served: Upstream) -> None:
    config = {"url": f"{served.url}/users/{{id}}?v=1", "headers": {"X-Client": "pegboard"}}
    served.behaviour = answer_json({"name": "Ann"})
    assert await caller.call(config, {"id": "a/b", "deep": True}, {"type": "bearer", "token": KEY}) == {"name": "Ann"}
    (received,) = served.received
    assert (received.method, received.target, received.body) == ("GET", "/users/a%2Fb?v=1&deep=true", b"")
    assert received.one("authorization") == f"Bearer {KEY}"
    assert received.one("x-client") == "pegboard"
    assert {name.lower() for name, _ in received.headers} == {
        "host", "x-client", "authorization", "user-agent", "accept", "accept-encoding"
    }  # fmt: skip


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
async def test_a_body_is_sent_whole(caller: HttpCalls, served: Upstream, method: str) -> None:
    text = "é" * 2_000_000
    served.behaviour = answer(201)
    result = await caller.call({"url": served.url, "method": method, "response": "full"}, {"text": text})
    assert (served.last.method, served.last.body) == (method, f'{{"text":"{text}"}}'.encode())
    assert served.last.one("content-length") == str(len(served.last.body))
    assert result["status"] == 201


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "OPTIONS", "POST"])
async def test_an_answer_without_a_body_is_none(caller: HttpCalls, served: Upstream, method: str) -> None:
    served.behaviour = answer(204) if method != "HEAD" else answer_json({"not": "sent"})
    assert await caller.call({"url": served.url, "method": method}) is None
    full = await caller.call({"url": served.url, "method": method, "response": "full"})
    assert (full["status"], full["body"]) == (204 if method != "HEAD" else 200, None)
    assert served.connections == 1


async def test_calls_share_connections(caller: HttpCalls, served: Upstream) -> None:
    served.behaviour = by_path(bad=answer_json({"error": "no"}, 404), other=echo)
    for _ in range(5):
        await caller.get(f"{served.url}/good")
        with pytest.raises(UpstreamFailed):
            await caller.get(f"{served.url}/bad")
    assert served.connections == 1


async def test_two_hundred_calls_run_at_once(caller: HttpCalls, served: Upstream) -> None:
    all_users = asyncio.Event()

    async def when_all_are_here(received: Any, wire: Any) -> None:
        if len(served.received) == 200:
            all_users.set()
        await all_users.wait()
        await echo(received, wire)

    served.behaviour = when_all_are_here
    tool = open_tool({"url": f"{served.url}/{{n}}"})
    prepared = caller.executor.prepare(tool)
    results = await asyncio.gather(*(run(prepared, tool.tool, {"n": n}) for n in range(200)))
    assert [result["target"] for result in results] == [f"/{n}" for n in range(200)]


async def test_a_failure_names_the_request_without_what_was_filled_in(caller: HttpCalls, served: Upstream) -> None:
    served.behaviour = answer_json({"error": {"message": "no such user"}}, 404)
    config = {"url": f"{served.url}/users/{{id}}?token=hidden&q={{q}}#part"}
    with pytest.raises(UpstreamFailed) as caught:
        await caller.call(config, {"id": "private-id", "q": "private-query"})
    assert caught.value.message == (f"Upstream answered 404 Not Found: no such user (GET {served.url}/users/{{id}})")
    assert str(caught.value) == caught.value.message


@pytest.mark.parametrize(
    ("status", "header", "error", "waits"),
    [
        (429, "2", RateLimited, 2000),
        (429, "Wed, 21 Oct 2015 07:28:00 GMT", RateLimited, 0),
        (429, "whenever", RateLimited, None),
        (503, "2", UpstreamUnreachable, 2000),
        (503, "Wed, 21 Oct 2015 07:28:00 GMT", UpstreamUnreachable, 0),
        (503, "whenever", UpstreamUnreachable, None),
        (500, "2", UpstreamFailed, None),
    ],
)
async def test_retry_after_is_passed_on(
    caller: HttpCalls, served: Upstream, status: int, header: str, error: type[UpstreamFailed], waits: int | None
) -> None:
    served.behaviour = answer(status, "busy", Retry_After=header)
    with pytest.raises(error, match=f"Upstream answered {status} .*: busy") as caught:
        await caller.get(served.url)
    assert (type(caught.value), caught.value.retry_after_ms) == (error, waits)
    assert caught.value.retry_reason == {429: "rate_limited", 503: "transport", 500: "upstream_failed"}[status]


async def test_a_credential_that_is_echoed_is_masked_in_results_and_errors(caller: HttpCalls, served: Upstream) -> None:
    auth = {"type": "basic", "username": "ann", "password": KEY}
    result = await caller.call({"url": served.url, "response": "full"}, {"say": "hello"}, auth)
    assert result["body"]["headers"]["Authorization"] == MASK
    served.behaviour = by_path(
        message=answer_json({"error": f"wrong password {KEY}"}, 401),
        page=answer(500, f"<p>{KEY}</p>", Content_Type="text/html"),
        broken=answer(200, f'{{"password": "{KEY}"', Content_Type="application/json"),
        away=redirect(f"https://{KEY}.invalid/", 302),
        header=answer(200, "x", Content_Encoding=KEY),
    )
    for path in ("said", "page", "broken", "away", "header"):
        with pytest.raises((UpstreamFailed, EgressRefused, UpstreamUnreachable)) as caught:
            await caller.call({"url": f"{served.url}/{path}"}, {}, auth)
        assert KEY not in caught.value.message, path


async def test_a_named_secret_in_the_url_is_never_reported(caller: HttpCalls, served: Upstream) -> None:
    opened = {"url": f"{served.url}/bot{KEY}%2F/send?k=other-key"}
    stored = {"url": f"{served.url}/bot{{{{secret:BOT}}}}/send?k={{{{secret:K}}}}"}
    named = frozenset({f"{KEY}/", "other-key"})
    result = await caller.call(opened, stored=stored, secrets=named)
    assert (served.last.target, result["target"]) == (f"/bot{KEY}%2F/send?k=other-key", f"/bot{MASK}/send?k={MASK}")
    served.behaviour = answer(404, f"no bot {KEY}/")
    with pytest.raises(UpstreamFailed, match=r"no bot \*+ \(GET .*/bot\{\{secret:BOT\}\}/send\)") as caught:
        await caller.call(opened, stored=stored, secrets=named)
    assert KEY not in caught.value.message


async def test_what_cannot_be_sent_is_refused_before_anything_is(caller: HttpCalls, served: Upstream) -> None:
    config = {"url": f"{served.url}/{{id}}", "params_in": {"trace": "header"}}
    for arguments in ({"id": ".."}, {"id": ""}, {}, {"id": "a", "trace": "a\r\nX-Injected: 1"}):
        with pytest.raises(InvalidArguments):
            await caller.call(config, arguments)
    await caller.call(config, {"id": "a\r\nX-Injected: 1 HTTP/1.1"})
    assert served.last.target == "/a%0D%0AX-Injected%3A%201%20HTTP%2F1.1"
    assert served.last.all("x-injected") == []
    assert len(served.received) == 1


@pytest.mark.parametrize("url", ["http://10.0.0.1/", "http://2130706433/", "http://[::1]/", "http://169.254.169.254/"])
async def test_an_address_that_may_not_be_reached_cannot_even_be_prepared(caller: HttpCalls, url: str) -> None:
    with pytest.raises(EgressRefused):
        caller.executor.prepare(open_tool({"url": url}))


@pytest.mark.parametrize(
    ("config", "auth"),
    [
        ({}, {"type": "bearer", "token": f"a\r\nb: {KEY}"}),
        ({"headers": {"X-Key": f"{KEY}\n"}}, None),
        ({"url": f"http://127.0.0.1/{KEY} "}, None),
    ],
)
async def test_a_secret_that_would_break_the_request_cannot_be_prepared_and_is_not_reported(
    caller: HttpCalls, config: dict[str, Any], auth: dict[str, Any] | None
) -> None:
    with pytest.raises(Misconfigured) as caught:
        caller.executor.prepare(open_tool({"url": "http://127.0.0.1/", **config}, auth))
    assert KEY not in caught.value.message


@pytest.mark.parametrize("of_the_tool", [None, 100, 5000])
async def test_an_answer_may_be_as_large_as_the_tool_says_but_never_larger_than_the_board_says(
    served: Upstream, of_the_tool: int | None
) -> None:
    async with http_calls(max_response_bytes=1000) as caller:
        limit = min(of_the_tool or 1000, 1000)
        config = {"url": served.url, "max_response_bytes": of_the_tool}
        served.behaviour = answer(200, "x" * limit, Content_Type="text/plain")
        assert len(await caller.call(config)) == limit
        served.behaviour = answer(200, "x" * (limit + 1), Content_Type="text/plain")
        with pytest.raises(UpstreamFailed, match=rf"more than {limit} bytes.*\(GET "):
            await caller.call(config)


async def test_a_large_error_page_is_still_an_error_with_its_status(served: Upstream) -> None:
    async with http_calls(max_response_bytes=1000) as caller:
        served.behaviour = answer(404, "x" * 5000)
        with pytest.raises(UpstreamFailed, match="Upstream answered 404 Not Found"):
            await caller.get(served.url)


async def test_a_call_that_is_cancelled_hangs_up(caller: HttpCalls, served: Upstream) -> None:
    served.behaviour = hang
    tool = open_tool({"url": served.url})
    calls = asyncio.ensure_future(run(caller.executor.prepare(tool), tool.tool))

    async def arrived() -> bool:
        return len(served.received) == 1

    async def left() -> bool:
        return not served.open

    await until(arrived)
    calls.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calls
    await until(left)


async def test_time_is_the_attempts_own(caller: HttpCalls, served: Upstream) -> None:
    served.behaviour = hang
    with pytest.raises(TimedOut):
        await caller.call({"url": served.url, "timeout": 0.05}, retry=Retry(max_attempts=2))


async def test_tls_with_a_certificate_that_is_trusted(served: Upstream) -> None:
    ca = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert("127.0.0.1").configure_cert(context)
    trusting = ssl.create_default_context()
    ca.configure_trust(trusting)
    async with upstream(tls=context) as secure, http_calls(tls=trusting) as caller:
        assert (await caller.get(f"{secure.url}/a"))["target"] == "/a"
        assert URL(secure.url).scheme == "https"
