"""The reported part of an error's body, and masking of credentials that an upstream repeats."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.kinds import status_error
from pegboard.kinds.http.response import make_status_error, read_result
from pegboard.kinds.secret_mask import SecretMask
from pegboard.kinds.status_error import EXCERPT_CHARS, extract_excerpt, iterate_visible_texts, join_line
from pegboard.model.call_errors import UpstreamFailed
from pegboard.model.secrets import MASK

SECRET = 's3same"/o&en'
NOTHING = SecretMask(())


def received(body: bytes | str, content_type: str = "application/json", mask: SecretMask = NOTHING) -> str:
    data = body.encode() if isinstance(body, str) else body
    return make_status_error(404, {"Content-Type": content_type}, data, mask).message


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"message": "no such user"}, "no such user"),
        ({"error": "no such user"}, "no such user"),
        ({"detail": "no such user"}, "no such user"),
        ({"error": {"code": 5, "message": "no such user"}}, "no such user"),
        ({"error": {"error": {"error": "no such user"}}}, "no such user"),
        ({"errors": [{"message": "one"}, {"message": "two"}]}, "one; two"),
        ({"detail": [{"loc": ["body", "age"], "msg": "too small"}]}, "body.age: too small"),
        ({"type": "about:blank", "title": "Gone", "detail": "no such user"}, "no such user"),
        ({"error": "invalid_grant", "error_description": "token expired"}, "token expired"),
        ({"error": True, "message": "  no\n such\tuser "}, "no such user"),
        ({"error": None, "title": "Gone"}, "Gone"),
        (["one", "two"], "one; two"),
        ("no such user", "no such user"),
        ({"code": 17}, '{"code": 17}'),
    ],
)
def test_an_error_in_json_is_reported_in_its_own_words(value: Any, expected: str) -> None:
    assert received(json.dumps(value)) == f"Upstream answered 404 Not Found: {expected}"


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<html><head><title>404</title></head>\n<body><h1>Not here</h1><hr>nginx</body></html>", "404 Not here nginx"),
        ("<!DOCTYPE html><style>p {a: b}</style><script>let a = '<p>';</script><p>caf&eacute; &lt;b&gt;", "café <b>"),
        ("<STYLE>x</STYLE ><SCRIPT src=a>if (a < b) {}</SCRIPT><p>seen</p>", "seen"),
        ("<!-- not <b>seen</b> --><p>seen", "seen"),
        ("<p>cut <b", "cut"),
        ("<script>a</scripty>b</Script\n c='d'>seen", "seen"),
        ("<script>a</script <b", ""),
        (f"<p>a &#{'9' * 5000}; b &#x{'f' * 5000} c &#233;", "a \ufffd b \ufffd c é"),
        ("<script>never closed", ""),
        ("<?xml version='1.0'?><Error><Code>NoSuchKey</Code></Error>", "NoSuchKey"),
    ],
)
def test_an_error_page_is_reported_without_its_tags(page: str, expected: str) -> None:
    assert extract_excerpt(page.encode(), "utf-8", "text/html", NOTHING) == expected


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        (b"plain\r\n words", "text/plain", ": plain words"),
        (b"", "text/plain", ""),
        (b" \n ", "text/plain", ""),
        (b"{broken", "application/json", ": {broken"),
        ("größer".encode("latin-1"), "text/plain; charset=latin-1", ": größer"),
        (b"gr\xf6\xdfer", "text/plain; charset=nonsense", ": gr\ufffd\ufffder"),
        (b"\x89PNG\0\0", "image/png", ": 6 bytes of image/png"),
        (b"a\x1b[31mred\x07", "text/plain", ": a [31mred"),
    ],
)
def test_any_other_error_is_reported_as_one_line(body: bytes, content_type: str, expected: str) -> None:
    assert received(body, content_type) == f"Upstream answered 404 Not Found{expected}"


@given(st.text(), st.integers(1, 400))
def test_a_line_is_one_line_of_its_length(text: str, length: int) -> None:
    line = join_line(text, length)
    assert len(line) <= length
    assert len(line.splitlines()) <= 1


@pytest.mark.parametrize(
    "page",
    [
        "<script>" * 100_000,
        "<SCRIPT></SCRIPT>" * 50_000,
        "<script>" + "</script" * 50_000,
        "<" * 10**6,
        "<!--" * 300_000,
        "&" * 10**6,
        " " * 10**6,
        '{"error":' * 10**5,
        "[" * 10**6,
    ],
)
def test_a_page_made_to_take_long_is_reported_in_one_line(page: str) -> None:
    assert len(received(page, "text/html")) < EXCERPT_CHARS + 50


@pytest.mark.parametrize(
    ("start", "again"),
    [("<script>", "</script"), ("", "<script></script "), ("", "<!--->"), ("", "<style></script>"), ("", "<a")],
)
def test_no_part_of_a_page_is_examined_more_than_a_few_times(
    start: str, again: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    examined = 0

    class Page(str):
        def find(self, words: str, at: int) -> int:  # type: ignore[override]  # as it is called
            nonlocal examined
            found = super().find(words, at)
            examined += (len(self) if found < 0 else found) - at
            return found

    class Search:
        def __init__(self, pattern: re.Pattern[str]) -> None:
            self.pattern = pattern

        def search(self, text: str, at: int) -> re.Match[str] | None:
            nonlocal examined
            found = self.pattern.search(text, at)
            examined += (len(text) if found is None else found.start()) - at
            return found

    monkeypatch.setattr(
        status_error, "CLOSING_TAGS", {name: Search(pattern) for name, pattern in status_error.CLOSING_TAGS.items()}
    )
    page = Page(start + again * 1_000)
    list(iterate_visible_texts(page))
    assert 0 < examined < 3 * len(page)


def test_only_the_start_of_a_page_is_examined() -> None:
    assert received("<p>" + " " * 2**16 + "far away", "text/html") == "Upstream answered 404 Not Found"


def echoes() -> list[tuple[str, bytes, str]]:
    escaped = "".join(f"\\u{ord(char):04x}" for char in SECRET)
    return [
        ("json", json.dumps({"key": SECRET}).encode(), "application/json"),
        ("a key of json", json.dumps({SECRET: 1}).encode(), "application/json"),
        ("inside a longer text", json.dumps([f"Bearer {SECRET}!"]).encode(), "application/json"),
        ("json with slashes escaped", json.dumps([SECRET]).replace("/", "\\/").encode(), "application/json"),
        ("json with everything escaped", f'["{escaped}"]'.encode(), "application/json"),
        ("utf-16 json", json.dumps([SECRET]).encode("utf-16"), "application/json; charset=utf-16"),
        ("text", f"key {SECRET}".encode(), "text/plain"),
        ("utf-16 text", f"key {SECRET}".encode("utf-16"), "text/plain; charset=utf-16"),
        ("html", f"<p>{html.escape(SECRET)}".encode(), "text/html"),
        ("no media type", SECRET.encode(), ""),
        ("broken json", f'{{"key": {json.dumps(SECRET)}'.encode(), "application/json"),
    ]


@pytest.mark.parametrize(("body", "content_type"), [row[1:] for row in echoes()], ids=[row[0] for row in echoes()])
def test_a_credential_that_returns_is_masked(body: bytes, content_type: str) -> None:
    mask = SecretMask([SECRET, SECRET[:7]])
    try:
        seen = json.dumps(read_result(200, {"Content-Type": content_type}, body, mask))
    except UpstreamFailed as error:
        seen = error.message
    for shown in (seen, received(body, content_type, mask)):
        assert "s3same" not in shown
        assert MASK in shown


def test_a_credential_is_masked_in_bytes_headers_and_numbers() -> None:
    mask = SecretMask(["12345678"])
    assert read_result(200, {"Content-Type": "image/png"}, b"\0" + b"12345678", mask)["bytes"] == 9
    assert read_result(200, {"X-Key": "12345678"}, b"", mask, full=True)["headers"] == {"x-key": MASK}
    assert read_result(200, {"Content-Type": "application/json"}, b'[912345678, 1.5, "a"]', mask) == [MASK, 1.5, "a"]


def test_a_short_text_is_no_credential_to_look_for() -> None:
    assert SecretMask(["12345"]).text("12345") == "12345"


def test_a_credential_is_not_left_half_shown_where_an_excerpt_ends() -> None:
    for length in range(EXCERPT_CHARS - 20, EXCERPT_CHARS + 2):
        assert "s3s" not in received("x" * length + SECRET, "text/plain", SecretMask([SECRET]))
