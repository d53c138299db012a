"""Conversion of a response body: JSON, text, other types, and unreadable ones."""

from __future__ import annotations

import base64
import codecs
import email.utils
import json
import time
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.kinds.http.response import make_status_error, read_content_type, read_result
from pegboard.kinds.secret_mask import SecretMask
from pegboard.kinds.status_error import read_retry_after
from pegboard.model.call_errors import RateLimited, ToolError, UpstreamFailed, UpstreamUnreachable

NOTHING = SecretMask(())
JSON = "application/json"


def read(body: bytes | str, content_type: str | None = JSON, mask: SecretMask = NOTHING, **more: Any) -> Any:
    headers = {} if content_type is None else {"Content-Type": content_type}
    return read_result(200, headers, body.encode() if isinstance(body, str) else body, mask, **more)


def binary(data: bytes, media_type: str) -> dict[str, Any]:
    return {"media_type": media_type, "base64": base64.b64encode(data).decode(), "bytes": len(data)}


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        (b'{"a": [1, null]}', JSON, {"a": [1, None]}),
        (b'{"a": 1}', "Application/JSON; charset=UTF-8", {"a": 1}),
        (b'{"a": 1}', "application/problem+json", {"a": 1}),
        (b'{"a": 1}', "application/vnd.api+json;v=1", {"a": 1}),
        (b'{"a": 1}', "text/json", {"a": 1}),
        (b"\xef\xbb\xbf[1]", JSON, [1]),
        ('["é"]'.encode("latin-1"), "application/json; charset=ISO-8859-1", ["é"]),
        ('["é"]'.encode("utf-16"), 'application/json; charset="utf-16"', ["é"]),
        (b'{"a": 1}', "text/plain", '{"a": 1}'),
        ("naïve".encode(), "text/plain", "naïve"),
        ("naïve".encode("latin-1"), "text/plain; charset=latin1", "naïve"),
        ("naïve".encode("latin-1"), "text/plain", "na\ufffdve"),
        ("日本".encode("shift_jis"), "text/html; charset=Shift_JIS", "日本"),
        (b"\xef\xbb\xbfa,b", "text/csv", "a,b"),
        (b"<a/>", "application/xml", "<a/>"),
        (b"<svg/>", "image/svg+xml", "<svg/>"),
        (b"a: 1", "application/yaml", "a: 1"),
        (b'{"a":1}\n{"a":2}\n', "application/x-ndjson", '{"a":1}\n{"a":2}\n'),
        (b"plain", None, "plain"),
        (b"plain", "", "plain"),
        (b"\xff\xfe", None, binary(b"\xff\xfe", "application/octet-stream")),
        (b"a\0b", None, binary(b"a\0b", "application/octet-stream")),
        (b"\x89PNG", "image/png", binary(b"\x89PNG", "image/png")),
        (b"%PDF", "application/pdf; x=y", binary(b"%PDF", "application/pdf")),
        (b"odd", "no media type", binary(b"odd", "no media type")),
        (b"", JSON, None),
        (b"", "text/plain", None),
        (b"", None, None),
        (b"", "text/plain; charset=none", None),
    ],
)
def test_a_body_is_read_by_its_media_type(body: bytes, content_type: str | None, expected: Any) -> None:
    assert read(body, content_type) == expected


@pytest.mark.parametrize(
    ("body", "received"),
    [
        (b'{"a": 1,}', "line 1 column 8"),
        (b'{\n"a": nope}', "line 2 column 6"),
        (b"<html>Sign in</html>", "near: <html>Sign in</html>"),
        (b"NaN", "line 1 column 1"),
        (b"[1, Infinity]", "column 5"),
        (b"[1e999]", "infinity"),
        (b'{"a": 1} {"b": 2}', "column 10"),
        (b'["caf\xe9"]', "byte 5 is not valid UTF-8"),
        (b'"\\ud800"', "surrogate"),
        (b"[" * 5000, "depth"),
        (b'{"a": "' + b"x" * 5000 + b"", "near: xxx"),
    ],
)
def test_invalid_json_is_reported_with_position_and_text(body: bytes, received: str) -> None:
    with pytest.raises(UpstreamFailed) as caught:
        read(body)
    assert "broken JSON" in caught.value.message
    assert received in caught.value.message
    assert len(caught.value.message) < 400


@pytest.mark.parametrize("charset", ["nonsense", "hex", "zip", "unicode_escape", "idna", "punycode", "undefined", "\0"])
@pytest.mark.parametrize("media_type", ["text/plain", JSON])
def test_a_charset_that_no_one_knows_is_named(charset: str, media_type: str) -> None:
    with pytest.raises(UpstreamFailed, match="charset"):
        read(b"abc", f"{media_type}; charset={charset}")


def test_python_is_not_asked_for_codecs_that_upstreams_invent(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    looked_up = codecs.lookup

    def lookup(name: str) -> codecs.CodecInfo:
        asked.append(name)
        return looked_up(name)

    monkeypatch.setattr(codecs, "lookup", lookup)
    for charset in ("invented-1", "x" * 41, "utf-8" + "-" * 40, "os.path", "../idna", "hex_codec"):
        assert read_content_type(f"text/x-{charset[:9]}; charset={charset}").charset is None
    assert asked == ["hex_codec"]


@pytest.mark.parametrize("charset", ["UTF8", "iso-8859-15", "Windows-1252", "windows-874", "KOI8-U", "euc-kr"])
def test_the_charsets_of_the_web_are_known(charset: str) -> None:
    assert read(b"abc", f"text/plain; charset={charset}") == "abc"


def test_json_that_is_not_in_the_charset_it_names_is_refused() -> None:
    with pytest.raises(UpstreamFailed, match="not valid utf-16"):
        read(b"\x00\xd8\x00", "application/json; charset=utf-16le")


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (2**63 - 1, 2**63 - 1),
        (2**64 - 1, 2**64 - 1),
        (-(2**63), -(2**63)),
        (2**64, str(2**64)),
        (-(2**63) - 1, str(-(2**63) - 1)),
        (10**40, "1" + "0" * 40),
    ],
)
def test_an_integer_beyond_64_bits_keeps_its_digits(number: int, expected: Any) -> None:
    value = read(json.dumps({"n": [number, 1.5, "x"]}))
    assert value == {"n": [expected, 1.5, "x"]}
    assert orjson.loads(orjson.dumps(value)) == value


def test_json_too_deep_to_pass_on_is_refused_and_no_crash() -> None:
    deep = b"[" * 1000 + str(2**70).encode() + b"]" * 1000
    with pytest.raises(UpstreamFailed, match="nested too deep"):
        read(deep)
    escaped = b"[" * 1000 + b'"\\n"' + b"]" * 1000
    with pytest.raises(UpstreamFailed, match="nested too deep"):
        read(escaped, mask=SecretMask(["sesame-open"]))


numbers = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
leaves = st.none() | st.booleans() | numbers | st.text()


@given(st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_whatever_json_says_is_what_the_tool_returns(value: Any) -> None:
    assert read(json.dumps(value)) == read(orjson.dumps(value), mask=SecretMask(["sesame-open"])) == value


@given(st.binary(), st.text(st.characters(codec="latin-1", exclude_characters="\r\n\0"), max_size=40))
def test_whatever_comes_ends_in_json_or_in_an_error_that_can_be_sent(body: bytes, content_type: str) -> None:
    for declared in (content_type, f"text/plain; charset={content_type}", JSON):
        try:
            orjson.dumps(read(body, declared, SecretMask(["sesame"]), full=True))
        except UpstreamFailed as error:
            error.message.encode()
        make_status_error(500, {"Content-Type": declared}, body, NOTHING).message.encode()


def test_full_shows_status_and_headers_without_cookies() -> None:
    headers = {"X-One": "1", "Set-Cookie": "session=1", "X-Odd": "caf\udce9", "Content-Type": "text/plain"}
    assert read_result(201, headers, b"made", NOTHING, full=True) == {
        "status": 201,
        "headers": {"x-one": "1", "x-odd": "caf\ufffd", "content-type": "text/plain"},
        "body": "made",
    }
    assert read_result(204, {}, b"", NOTHING, full=True) == {"status": 204, "headers": {}, "body": None}


def http_date(seconds: float) -> str:
    return email.utils.formatdate(time.time() + seconds, usegmt=True)


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        ("0", 0, 0),
        (" 120 ", 120_000, 120_000),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 0),
        ("Wednesday, 21-Oct-15 07:28:00 GMT", 0, 0),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date_gone_by(header: str, least: int, most: int) -> None:
    found = read_retry_after(header)
    assert found is not None
    assert least <= found <= most


def test_retry_after_may_be_a_date_to_come() -> None:
    found = read_retry_after(http_date(600))
    assert found is not None
    assert 500_000 <= found <= 600_000
    assert read_retry_after(http_date(-600)) == 0


@pytest.mark.parametrize(
    "header", [None, "", "soon", "-5", "1.5", "1e9", "9" * 5000, "٣", "Wed, 99 Oct 2015 07:28:00 GMT"]
)
def test_a_retry_after_that_says_nothing_is_no_wait_of_a_certain_length(header: str | None) -> None:
    assert read_retry_after(header) is None


@pytest.mark.parametrize(
    ("status", "error", "waits"),
    [
        (400, UpstreamFailed, None),
        (404, UpstreamFailed, None),
        (429, RateLimited, 7000),
        (500, UpstreamFailed, None),
        (502, UpstreamUnreachable, 7000),
        (503, UpstreamUnreachable, 7000),
        (504, UpstreamUnreachable, 7000),
        (599, UpstreamFailed, None),
    ],
)
def test_a_failing_status_says_whether_and_when_to_try_again(
    status: int, error: type[ToolError], waits: int | None
) -> None:
    failure = make_status_error(status, {"Retry-After": "7"}, b"", NOTHING)
    assert (type(failure), failure.retry_after_ms) == (error, waits)
    assert failure.message.startswith(f"Upstream answered {status}")
    assert make_status_error(status, {}, b"", NOTHING).retry_after_ms is None


def test_media_types_are_distinguished() -> None:
    assert read_content_type("text/html; charset=utf-8").kind == "text"
    assert read_content_type("application/jsonp").kind == "binary"
