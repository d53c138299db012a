"""Upstreams that misbehave: each call ends in a clear error in time, the next works, and nothing is left behind."""

from __future__ import annotations

import asyncio
import gzip
import resource
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trustme

from pegboard.model.call_errors import EgressRefused, TimedOut, ToolError, UpstreamFailed, UpstreamUnreachable
from tests import upstreams
from tests.unit.kinds.http.call_http_tools import HttpCalls, http_calls
from tests.upstreams import Behaviour, answer, bomb, by_path, echo, raw, redirect, upstream
from tests.waiting import until

SECONDS = 0.3
JSON = "application/json"

# The behaviour of the upstream, the reported error, and words in it.
ATTACKS: dict[str, tuple[Behaviour, type[ToolError], str]] = {
    "hangs": (upstreams.hang, TimedOut, "did not finish within 0.3 s"),
    "slow headers": (upstreams.slow_headers, TimedOut, "did not finish"),
    "slow drip": (upstreams.drip, TimedOut, "did not finish"),
    "flood of 1xx": (upstreams.interim_flood, TimedOut, "did not finish"),
    "reset": (upstreams.reset, UpstreamUnreachable, "127.0.0.1"),
    "reset in the body": (upstreams.reset_in_body, UpstreamUnreachable, "broke off"),
    "closes at once": (upstreams.early_close, UpstreamUnreachable, "closed the connection"),
    "half a head": (upstreams.half_a_head, UpstreamUnreachable, "127.0.0.1"),
    "less than it says": (upstreams.too_little, UpstreamUnreachable, "ended too early"),
    "more than it says": (upstreams.too_much, UpstreamFailed, "did not answer in HTTP"),
    "cut in a chunk": (upstreams.cut_chunk, UpstreamUnreachable, "ended too early"),
    "body that never ends": (upstreams.endless, UpstreamFailed, "more than 1048576 bytes"),
    "large by its own word": (raw(upstreams.head(200, {"Content-Length": "9" * 15})), UpstreamFailed, "more than"),
    "gzip bomb": (answer(200, bomb(200), Content_Encoding="gzip"), UpstreamFailed, "more than 1048576 bytes"),
    "bomb in a bomb": (
        answer(200, gzip.compress(bomb(500)), Content_Encoding="gzip, gzip"),
        UpstreamFailed,
        "more than 1048576 bytes",
    ),
    "gzip bomb as an error": (answer(500, bomb(200), Content_Encoding="gzip"), UpstreamFailed, "answered 500"),
    "broken gzip": (upstreams.broken_gzip, UpstreamFailed, "gzip"),
    "cut gzip": (upstreams.cut_gzip, UpstreamFailed, "gzip"),
    "unknown encoding": (upstreams.unknown_encoding, UpstreamFailed, "rot13"),
    "broken json": (answer(200, '{"a": tru', Content_Type=JSON), UpstreamFailed, 'near: {"a": tru'),
    "html for json": (answer(200, "<html>Log in</html>", Content_Type=JSON), UpstreamFailed, "near: <html>Log in"),
    "deep json": (answer(200, b"[" * 100_000, Content_Type=JSON), UpstreamFailed, "depth limit"),
    "NaN": (answer(200, b'{"a": NaN}', Content_Type=JSON), UpstreamFailed, "broken JSON"),
    "wrong charset": (answer(200, b'"caf\xe9"', Content_Type=JSON), UpstreamFailed, "not valid UTF-8"),
    "no charset": (answer(200, b"x", Content_Type="text/plain; charset=x-none"), UpstreamFailed, "'x-none'"),
    "huge header": (upstreams.huge_header, UpstreamFailed, "127.0.0.1"),
    "header that never ends": (upstreams.endless_header, UpstreamFailed, "127.0.0.1"),
    "headers that never end": (upstreams.endless_headers, UpstreamFailed, "127.0.0.1"),
    "two lengths": (upstreams.two_lengths, UpstreamFailed, "127.0.0.1"),
    "impossible length": (upstreams.bad_length, UpstreamFailed, "127.0.0.1"),
    "broken chunk": (upstreams.bad_chunk, UpstreamFailed, "127.0.0.1"),
    "no HTTP": (upstreams.garbage, UpstreamFailed, "did not answer in HTTP"),
    "no status": (upstreams.no_status, UpstreamFailed, "did not answer in HTTP"),
    "another protocol": (upstreams.switching, UpstreamFailed, "101"),
    "error that never ends": (upstreams.endless_error, UpstreamFailed, "answered 500"),
    "redirect loop": (redirect("/attack"), UpstreamFailed, "in a loop"),
    "redirect to nowhere": (answer(302), UpstreamFailed, "without a Location"),
    "redirect to no URL": (redirect("http://[::1"), UpstreamFailed, "an invalid URL"),
    "redirect to a file": (redirect("file:///etc/passwd"), EgressRefused, "file"),
    "redirect with a password": (redirect("http://ann:pw@127.0.0.1/"), EgressRefused, "auth_config"),
    **{
        f"redirect to {host}": (redirect(f"http://{host}/latest/meta-data"), EgressRefused, "may not reach")
        for host in (
            "127.0.0.2", "10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "[::1]",
            "[::]", "[fe80::1]", "[fc00::1]", "[::ffff:10.0.0.1]", "[2002:a00:1::]", "[64:ff9b::a00:1]", "167772161",
            "0xa000001", "012.0.0.1", "10.1", "0x7f.2", "2130706434", "１０.0.0.1", "224.0.0.1", "255.255.255.255",
        )
    },
}  # fmt: skip


def left_over() -> tuple[int, int]:
    """Return the number of file descriptors and tasks."""
    return len(list(Path("/proc/self/fd").iterdir())), len(asyncio.all_tasks())


@pytest.mark.parametrize("attack", ATTACKS)
async def test_an_upstream_that_misbehaves_hurts_no_other_call(attack: str) -> None:
    behaviour, error, words = ATTACKS[attack]
    behaviours = by_path(attack=behaviour, healthy=echo)
    async with upstream(behaviours) as served, http_calls() as caller:
        await caller.get(f"{served.url}/healthy")
        before = left_over()
        for _ in range(2):
            await attacked(caller, f"{served.url}/attack", error, words)
            assert (await caller.get(f"{served.url}/healthy"))["target"] == "/healthy"

        async def as_before() -> bool:
            await caller.get(f"{served.url}/healthy")
            return left_over() <= before

        await until(as_before)


async def attacked(caller: HttpCalls, url: str, error: type[ToolError], words: str) -> None:
    # Calls that do not wait for the deadline get enough time for a busy machine.
    seconds = SECONDS if error is TimedOut else 10
    with pytest.raises(error) as caught:
        await caller.get(url, timeout=seconds)
    assert type(caught.value) is error, caught.value
    assert words in caught.value.message
    assert len(caught.value.message) < 600


async def test_what_follows_an_answer_is_not_taken_for_the_next() -> None:
    async with upstream(by_path(attack=upstreams.two_answers, healthy=echo)) as served, http_calls() as caller:
        assert await caller.get(f"{served.url}/attack") == {"a": 1}
        for _ in range(3):
            assert (await caller.get(f"{served.url}/healthy"))["target"] == "/healthy"


async def test_a_redirect_whose_body_never_ends_is_followed() -> None:
    behaviours = by_path(attack=upstreams.endless_redirect, healthy=echo)
    async with upstream(behaviours) as served, http_calls() as caller:
        assert (await caller.get(f"{served.url}/attack"))["target"] == "/healthy"


def tls(served: Callable[[trustme.CA, ssl.SSLContext], None]) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    ca = trustme.CA()
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served(ca, serving)
    trusting = ssl.create_default_context()
    ca.configure_trust(trusting)
    return serving, trusting


@pytest.mark.parametrize(
    ("cert", "words"),
    [
        (lambda ca, context: trustme.CA().issue_cert("127.0.0.1").configure_cert(context), "TLS with 127.0.0.1"),
        (lambda ca, context: ca.issue_cert("other.example").configure_cert(context), "TLS with 127.0.0.1"),
    ],
    ids=["unknown authority", "another's certificate"],
)
async def test_a_certificate_that_does_not_hold_is_refused(cert: Any, words: str) -> None:
    serving, trusting = tls(cert)
    async with upstream(tls=serving) as served, upstream() as healthy, http_calls(tls=trusting) as caller:
        await caller.get(healthy.url)
        before = left_over()
        await attacked(caller, served.url, UpstreamUnreachable, words)
        assert served.received == []
        await caller.get(healthy.url)
        await until(lambda: settled(before))


async def settled(before: tuple[int, int]) -> bool:
    return left_over() <= before


async def test_plain_http_where_tls_is_expected_is_reported() -> None:
    async with upstream(at_once=upstreams.head(400)) as served, upstream() as healthy, http_calls() as caller:
        await attacked(caller, f"https://127.0.0.1:{served.port}", UpstreamUnreachable, "TLS with 127.0.0.1")
        await caller.get(healthy.url)


async def test_a_name_that_is_bound_again_to_a_private_address_is_refused() -> None:
    answers = [["127.0.0.1"], ["10.0.0.1"], ["169.254.169.254", "::ffff:192.168.0.1"], [], ["127.0.0.1"]]

    async def resolve(_host: str, _port: int) -> list[str]:
        return answers.pop(0)

    async with upstream() as served, upstream() as other, http_calls(resolver=resolve) as caller:
        again = f"http://rebound.example:{other.port}/"
        served.behaviour = redirect(again)
        await attacked(caller, f"http://rebound.example:{served.port}/", EgressRefused, "10.0.0.1")
        assert (len(served.received), len(other.received)) == (1, 0)
        await attacked(caller, again, EgressRefused, "169.254.169.254")
        await attacked(caller, again, UpstreamUnreachable, "rebound.example")
        await caller.get(again)
        assert len(other.received) == 1


async def test_a_redirect_to_a_name_of_a_private_address_is_refused() -> None:
    async def resolve(_host: str, _port: int) -> list[str]:
        return ["192.168.7.7"]

    behaviour = redirect("http://intern.example/")
    async with upstream(behaviour) as served, http_calls(f"127.0.0.1:{served.port}", resolver=resolve) as caller:
        await attacked(caller, served.url, EgressRefused, "192.168.7.7")


async def test_a_gzip_bomb_takes_little_memory() -> None:
    packed = bomb(300)
    async with upstream(answer(200, packed, Content_Encoding="gzip")) as served, http_calls() as caller:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        await attacked(caller, served.url, UpstreamFailed, "more than")
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


@pytest.mark.parametrize("rounds", [1, pytest.param(5, marks=pytest.mark.soak)])
async def test_hundreds_of_calls_of_which_half_fail_leave_nothing(rounds: int) -> None:
    behaviours = by_path(
        hangs=upstreams.hang, resets=upstreams.reset, cuts=upstreams.too_little, fails=answer(500), healthy=echo
    )
    paths = ("healthy", "hangs", "healthy", "resets", "healthy", "cuts", "healthy", "fails")
    before = left_over()
    async with upstream(behaviours) as served, http_calls() as caller:

        async def works(n: int) -> bool:
            path = paths[n % len(paths)]
            seconds = 30 if path == "healthy" else 0.5
            try:
                await caller.get(f"{served.url}/{path}", user=f"user {n}", timeout=seconds)
            except ToolError:
                return False
            return True

        for start in range(0, 200 * rounds, 200):
            done = await asyncio.gather(*map(works, range(start, start + 200)))
            assert done == [paths[n % len(paths)] == "healthy" for n in range(start, start + 200)]

        async def only_pooled() -> bool:
            # Only pooled connections stay: two ends and the upstream's task for each.
            descriptors, tasks = left_over()
            kept = len(served.open)
            return descriptors <= before[0] + 2 * kept + 3 and tasks <= before[1] + kept

        await until(only_pooled)
    await until(lambda: settled(before))
