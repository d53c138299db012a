"""Importing an API document by its URL."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from typing import Any

import anyio
import pytest

import pegboard.kinds.http.importer as importing
from pegboard import Pegboard
from pegboard.model.api_errors import Invalid
from pegboard.model.call_errors import ToolError, UpstreamFailed, UpstreamUnreachable
from pegboard.testing import NoSettings
from tests.api_documents import pets
from tests.upstreams import (
    Behaviour,
    answer,
    answer_json,
    bomb,
    by_path,
    drip,
    early_close,
    endless,
    hang,
    redirect,
    reset_in_body,
    upstream,
)

# Relative: the API is on the server of its document.
PETS = {key: value for key, value in pets("cats").items() if key != "servers"}


async def test_a_document_is_fetched_and_its_api_is_where_it_was(board: Pegboard) -> None:
    async with upstream(by_path(doc=answer_json(PETS), cats=answer_json(["tom"]))) as server:
        taken = await board.imports.openapi(board.admin, url=f"{server.url}/doc/openapi.json")
        assert taken.created == ["cats"]
        (asked,) = server.received
        assert (asked.method, asked.target, asked.body) == ("GET", "/doc/openapi.json", b"")
        assert asked.one("Authorization") is None
        assert asked.one("Cookie") is None
        assert "application/json" in (asked.one("Accept") or "")
        assert (await board.call("cats")).output == ["tom"]
        assert server.last.target == "/cats"


async def test_yaml_and_compressed_documents_are_read(board: Pegboard) -> None:
    text = "openapi: 3.0.0\ninfo: {title: T, version: '1'}\npaths: {/cats: {get: {operationId: cats}}}\n"
    packed = answer(200, gzip.compress(text.encode()), Content_Type="text/yaml", Content_Encoding="gzip")
    async with upstream(packed) as server:
        assert (await board.imports.openapi(board.admin, url=server.url)).created == ["cats"]


async def test_redirects_are_followed_and_the_document_is_where_it_was_asked_for(board: Pegboard) -> None:
    async with upstream(by_path(doc=answer_json(PETS))) as other, upstream(redirect(f"{other.url}/doc")) as first:
        taken = await board.imports.openapi(board.admin, url=f"{first.url}/old")
        assert taken.created == ["cats"]
        assert [each.target for each in (*first.received, *other.received)] == ["/old", "/doc"]


@pytest.mark.parametrize(
    ("behaviour", "kind", "message"),
    [
        (answer(404, b"no such thing"), UpstreamFailed, "The document's server answered 404"),
        (answer(500), UpstreamFailed, "answered 500"),
        (redirect("/again"), UpstreamFailed, "loop"),
        (answer(302), UpstreamFailed, "without a Location"),
        (redirect("ftp://x.example/"), Invalid, "url: Upstream redirected to a ftp address"),
        (
            redirect("http://169.254.169.254/latest/meta-data"),
            Invalid,
            "redirected to http://169.254.169.254:80. Tools",
        ),
        (redirect("http://[::ffff:10.0.0.1]/"), Invalid, "not a public address"),
        (answer(200, "<!doctype html><html>"), Invalid, "it is HTML"),
        (answer(200, ""), Invalid, "it is empty"),
        (answer(200, b"\xff\xfe\x00"), Invalid, "not UTF-8"),
        (answer(200, "[1, 2]"), Invalid, "an API document is an object"),
        (answer(200, "x" * 70_000), UpstreamFailed, "65,536 bytes"),
        (endless, UpstreamFailed, "65,536 bytes"),
        (answer(200, bomb(8), Content_Encoding="gzip"), UpstreamFailed, "65,536 bytes"),
        (answer(200, b"x", Content_Encoding="rot13"), UpstreamFailed, "rot13"),
        (reset_in_body, UpstreamUnreachable, "127.0.0.1"),
        (early_close, UpstreamUnreachable, "127.0.0.1"),
    ],
)
async def test_what_is_no_document_ends_in_a_clear_error(
    behaviour: Behaviour, kind: type[ToolError] | type[Invalid], message: str
) -> None:
    settings = NoSettings(egress_allow="127.0.0.1", max_import_bytes=2**16)
    async with upstream(behaviour) as server, Pegboard.open("memory", settings=settings) as board:
        with pytest.raises(kind) as refused, anyio.fail_after(30):
            await board.imports.openapi(board.admin, url=f"{server.url}/doc?key=hidden-in-query")
        assert type(refused.value) is kind
        assert message in refused.value.message
        assert "hidden-in-query" not in refused.value.message
        server.behaviour = answer_json(PETS)
        assert (await board.imports.openapi(board.admin, url=server.url)).created == ["cats"]


@pytest.mark.parametrize("behaviour", [hang, drip])
async def test_a_server_that_takes_forever_is_given_up(
    board: Pegboard, behaviour: Behaviour, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "FETCH_SECONDS", 0.2)
    async with upstream(behaviour) as server:
        with pytest.raises(UpstreamFailed, match=r"within 0\.2 s"), anyio.fail_after(30):
            await board.imports.openapi(board.admin, url=server.url)


@pytest.mark.parametrize("addresses", [["10.0.0.7"], ["127.0.0.1"], ["fd00::1"], ["169.254.169.254", "192.168.1.1"]])
async def test_a_name_that_leads_to_a_private_address_is_refused(addresses: list[str]) -> None:
    async def resolver(_host: str, _port: int) -> Sequence[str]:
        return addresses

    async with (
        upstream(answer_json(PETS)) as server,
        Pegboard.open("memory", settings=NoSettings(), resolver=resolver) as board,
    ):
        with pytest.raises(Invalid, match="PEGBOARD_EGRESS_ALLOW") as refused:
            await board.imports.openapi(board.admin, url=f"http://docs.example.com:{server.port}/openapi.json")
        assert "url: " in refused.value.message
        assert server.received == []


async def test_a_literal_private_address_is_refused_before_anyone_is_asked() -> None:
    async with upstream(answer_json(PETS)) as server, Pegboard.open("memory", settings=NoSettings()) as board:
        for host in ("127.0.0.1", "0x7f000001", "017700000001", "127.1", "[::ffff:127.0.0.1]"):
            with pytest.raises(Invalid, match="PEGBOARD_EGRESS_ALLOW"):
                await board.imports.openapi(board.admin, url=f"http://{host}:{server.port}/")
        assert server.connections == 0


async def test_progress_is_reported_in_order_and_ends_at_the_whole(board: Pegboard) -> None:
    received: list[tuple[str, int, int]] = []

    def on_progress(what: str, done: int, total: int) -> None:
        received.append((what, done, total))

    document: dict[str, Any] = pets(*(f"pet{number}" for number in range(30)))
    async with upstream(answer(200, json.dumps(document))) as server:
        await board.imports.openapi(board.admin, url=server.url, on_progress=on_progress)
    assert list(dict.fromkeys(what for what, _, _ in received)) == ["fetching", "reading", "importing"]
    assert received[0] == ("fetching", 0, 0)
    assert [done for what, done, _ in received if what == "importing"] == list(range(1, 31))
    assert {total for what, _, total in received if what == "importing"} == {30}
    assert ("reading", 30, 30) in received
