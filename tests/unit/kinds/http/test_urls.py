"""Placeholders in a URL: what is filled in, what is left out, and what cannot change."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from yarl import URL

from pegboard.kinds.http.config import HttpConfig
from pegboard.kinds.http.request_template import RequestTemplate
from pegboard.model.call_errors import InvalidArguments


def filled(url: str, arguments: dict[str, Any], **config: Any) -> URL:
    whole = {"url": url, "method": "GET", **config}
    return RequestTemplate.of(HttpConfig.model_validate(whole), None).fill(arguments).url


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://h.example", "https://h.example/"),
        ("https://h.example/", "https://h.example/"),
        ("https://h.example?x=1", "https://h.example/?x=1"),
        ("https://h.example#x", "https://h.example/"),
        ("https://h.example/a/b/?x=1&y#z", "https://h.example/a/b/?x=1&y"),
        ("https://h.example/a?", "https://h.example/a"),
        ("https://h.example/a%2Fb/%7e/%2e%2E/../c;d=1", "https://h.example/a%2Fb/%7e/%2e%2E/../c;d=1"),
        ('https://h.example/100%/%zz/ä|"', "https://h.example/100%25/%25zz/%C3%A4%7C%22"),
        ("https://h.example/a?q=%20+%2B[]{", "https://h.example/a?q=%20+%2B[]%7B"),
        ("https://h.example//a//?&&x=1&", "https://h.example//a//?x=1"),
    ],
)
def test_what_is_fixed_in_a_url_is_sent_as_it_is_written(url: str, expected: str) -> None:
    assert str(filled(url, {})) == expected


@pytest.mark.parametrize(
    ("url", "arguments", "expected"),
    [
        ("/{a}", {"a": "x"}, "/x"),
        ("/{a}/{b}", {"a": 1, "b": True}, "/1/true"),
        ("/{a}{b}-{a}/c", {"a": "x", "b": "y"}, "/xy-x/c"),
        ("/{a}.json", {"a": "..."}, "/....json"),
        ("/{a}", {"a": "a/b?c#d\\e%2e ä;=,&+"}, "/a%2Fb%3Fc%23d%5Ce%252e%20%C3%A4%3B%3D%2C%26%2B"),
        ("/{a}", {"a": ["x/y", 2]}, "/x%2Fy,2"),
        ("/{a}", {"a": "{b}", "b": "x"}, "/%7Bb%7D?b=x"),
        ("/x?q={a}", {"a": "b&c=d#e f+"}, "/x?q=b%26c%3Dd%23e%20f%2B"),
        ("/x?q={a}&r=1&s=x{b}y", {"a": "", "b": 2}, "/x?q=&r=1&s=x2y"),
        ("/x?q={a}&r=1&s={b}-{a}", {"b": 2}, "/x?r=1"),
        ("/x?q={a}", {"a": None}, "/x"),
        ("/x?q={a}", {"a": [1, "b,c"]}, "/x?q=1,b%2Cc"),
        ("/x?{a}={b}", {"a": "k=", "b": "v"}, "/x?k%3D=v"),
        ("/x?q={a}", {"a": "1", "z": 2}, "/x?q=1&z=2"),
        ("/x#{a}", {"a": "1"}, "/x"),
        ("?q={a}", {"a": "1"}, "/?q=1"),
        ("/{a/b?c}", {"a/b?c": "odd"}, "/odd"),
    ],
)
def test_placeholders_are_filled_percent_encoded(url: str, arguments: dict[str, Any], expected: str) -> None:
    assert str(filled(f"https://h.example{url}", arguments)) == f"https://h.example{expected}"


def test_a_placeholder_in_the_query_has_a_style_too() -> None:
    styles = {"a": {"style": "pipeDelimited"}, "b": {"style": "json"}, "c": {"style": "form", "allow_reserved": True}}
    url = filled("https://h.example/?a={a}&b={b}&c={c}", {"a": [1, 2], "b": [1], "c": "x:/&"}, styles=styles)
    assert url.raw_query_string == "a=1%7C2&b=%5B1%5D&c=x:/%26"


@pytest.mark.parametrize("value", ["", ".", "..", [], {}, [""], ["."], [".."]])
def test_a_value_that_is_no_step_of_a_path_is_refused(value: Any) -> None:
    with pytest.raises(InvalidArguments, match=r"Field 'a' must not be empty, '\.' or '\.\.'") as caught:
        filled("https://h.example/x/{a}/y", {"a": value})
    assert caught.value.problems[0].field == "a"


@pytest.mark.parametrize(
    ("path", "arguments", "styles"),
    [
        ("/.{a}", {"a": "."}, {}),
        ("/{a}{b}", {"a": [".", None], "b": "."}, {}),
        ("/%2e{a}", {"a": "."}, {}),
        ("/%2E{a}", {"a": [None, "."]}, {}),
        ("/{a}", {"a": ""}, {"a": {"style": "label"}}),
        ("/{a}", {"a": "."}, {"a": {"style": "label"}}),
        ("/.{a}", {"a": ""}, {"a": {"style": "label"}}),
        ("/{b}{a}", {"a": "x", "b": "."}, {"b": {"style": "label"}, "a": {"style": "matrix"}}),
    ],
)
def test_pieces_cannot_be_assembled_to_a_step_upwards(path: str, arguments: Any, styles: Any) -> None:
    with pytest.raises(InvalidArguments):
        filled(f"https://h.example/x{path}/y", arguments, styles=styles)


def test_all_missing_parts_of_a_path_are_named() -> None:
    with pytest.raises(InvalidArguments, match=r"^Invalid parameters: missing 'a', 'c'$") as caught:
        filled("https://h.example/{a}/{b}/{c}?d={d}", {"b": 1, "c": None})
    assert [(problem.code, problem.field) for problem in caught.value.problems] == [("missing", "a"), ("missing", "c")]


@pytest.mark.parametrize("url", ["https://h.example/{bad}", "https://h.example/?q={bad}", "https://h.example/"])
def test_half_of_a_surrogate_pair_is_refused_by_name(url: str) -> None:
    with pytest.raises(InvalidArguments, match="Field 'bad' holds half of a surrogate pair"):
        filled(url, {"bad": "x\udc00"})


def test_a_name_with_half_of_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(InvalidArguments, match="holds half of a surrogate pair"):
        filled("https://h.example/", {"x\udc00": 1})


def test_a_value_may_be_very_long() -> None:
    assert len(str(filled("https://h.example/{a}", {"a": "ä/" * 100_000}))) == len("https://h.example/") + 900_000


HOSTILE = st.sampled_from(
    ["../", "..\\", "%2e%2e/", "%2e%2e%2f", "/../..", "//evil.example", "@evil.example", ":80", "?x=1", "#", "\\", "\0",
     "\r\nHost: evil.example", "{b}", ";x", "..;", "http://evil.example/", "[::1]", " ", "\u2028", "．．／", "&a=1"],
)  # fmt: skip
TEXTS = st.text(st.characters(codec="utf-8"))
VALUES = st.recursive(
    HOSTILE | st.lists(HOSTILE).map("".join) | TEXTS | st.integers() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
)
PATH_STYLES = st.sampled_from(["simple", "label", "matrix", "json"])


@given(VALUES, VALUES, VALUES, PATH_STYLES, st.booleans())
def test_arguments_change_neither_the_origin_nor_the_number_of_steps(
    a: Any, b: Any, c: Any, style: Any, explode: bool
) -> None:
    styles = {"a": {"style": style, "explode": explode}}
    try:
        url = filled("https://h.example:8443/x/{a}/y{b}/z?q={c}", {"a": a, "b": b, "c": c, "d": c}, styles=styles)
    except InvalidArguments:
        assume(False)
    text = str(url)
    assert text.isascii()
    assert text.startswith("https://h.example:8443/x/")
    assert not any(char <= " " or char in '\\"<>^`{|}\x7f' for char in text)
    path, _, query = text.removeprefix("https://h.example:8443").partition("?")
    assert path.count("/") == 4
    assert path.endswith("/z")
    assert not {".", ".."} & {step.replace("%2E", ".").replace("%2e", ".") for step in path.split("/")}
    assert "#" not in query
    # A server or a redirect that parses the text again gets the same.
    assert (URL(text).host, URL(text).port, len(URL(text).raw_parts)) == ("h.example", 8443, 5)


async def test_the_url_reaches_the_wire_as_it_was_made() -> None:
    lines: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines.append(await reader.readline())
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server, aiohttp.ClientSession() as session:
        base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        url = filled(f"{base}/a%2Fb/%2e%2e/%7E/../{{x}}?q=%20+%2b", {"x": "c/d e", "y": "~ü'\"[]"})
        async with session.get(url) as response:
            assert response.status == 204
    assert lines == [b"GET /a%2Fb/%2e%2e/%7E/../c%2Fd%20e?q=%20+%2b&y=~%C3%BC%27%22%5B%5D HTTP/1.1\r\n"]
