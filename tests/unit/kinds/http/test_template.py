"""Where and under which names parameters are sent, and which one is used if two have the same place."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from pegboard.kinds.http.config import HttpConfig
from pegboard.kinds.http.request_template import HttpRequest, RequestTemplate
from pegboard.model.call_errors import InvalidArguments, Misconfigured


def template(auth: dict[str, Any] | None = None, **config: Any) -> RequestTemplate:
    whole = {"url": "https://api.example.com/v1/items", "method": "GET", **config}
    return RequestTemplate.of(HttpConfig.model_validate(whole), auth)


def filled(arguments: dict[str, Any], auth: dict[str, Any] | None = None, **config: Any) -> HttpRequest:
    return template(auth, **config).fill(arguments)


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "OPTIONS"])
def test_parameters_go_to_the_query_if_a_method_has_no_body(method: str) -> None:
    request = filled({"q": "a b", "n": 1, "gone": None, "tags": ["x", "y"]}, method=method)
    assert (request.method, request.body) == (method, None)
    assert str(request.url) == "https://api.example.com/v1/items?q=a%20b&n=1&tags=x&tags=y"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_parameters_go_to_the_body_if_a_method_has_one(method: str) -> None:
    request = filled({"q": "a b"}, method=method)
    assert (request.method, request.body, str(request.url)) == (
        method,
        b'{"q":"a b"}',
        "https://api.example.com/v1/items",
    )


def test_params_in_says_where_each_parameter_goes_and_wire_names_what_it_is_called() -> None:
    request = filled(
        {"id": 7, "page": 2, "lang": "de", "sid": "s;1", "name": "n", "note": "x"},
        url="https://api.example.com/v1/{id}",
        method="POST",
        params_in={"id": "path", "page": "query", "lang": "header", "sid": "cookie", "name": "body"},
        wire_names={"page": "p[]", "lang": "Accept-Language", "sid": "SID", "name": "Name"},
    )
    assert str(request.url) == "https://api.example.com/v1/7?p%5B%5D=2"
    assert dict(request.headers) == {
        "Accept-Language": "de",
        "Cookie": "SID=s%3B1",
        "Content-Type": "application/json",
    }
    assert request.body == b'{"Name":"n","note":"x"}'


def test_null_is_left_out_of_query_header_and_cookie() -> None:
    request = filled({"a": None, "b": None, "c": None}, params_in={"b": "header", "c": "cookie"})
    assert str(request.url) == "https://api.example.com/v1/items"
    assert request.headers == CIMultiDict()


def test_styles_are_used_in_every_place() -> None:
    request = filled(
        {"p": {"a": 1}, "q": {"b": 2}, "h": {"c": 3}, "k": ["x", "y"]},
        url="https://api.example.com/x{p}",
        params_in={"h": "header", "k": "cookie"},
        styles={
            "p": {"style": "matrix", "explode": True},
            "q": {"style": "deepObject"},
            "h": {"style": "simple", "explode": True},
            "k": {"style": "form", "explode": False},
        },
    )
    assert str(request.url) == "https://api.example.com/x;a=1?q%5Bb%5D=2"
    assert (request.headers["h"], request.headers["Cookie"]) == ("c=3", "k=x,y")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"styles": {"q": {"style": "simple"}}}, r"config\.styles\.q: a query parameter"),
        ({"styles": {"q": {"style": "form"}}, "params_in": {"q": "header"}}, "a header parameter"),
        ({"styles": {"q": {"style": "matrix"}}, "params_in": {"q": "cookie"}}, "a cookie parameter"),
        ({"styles": {"q": {"style": "form"}}, "url": "https://a.example/{q}"}, "a path parameter"),
        ({"params_in": {"q": "cookie"}, "wire_names": {"q": "a;b"}}, "'a;b' is not a valid name of a cookie"),
        (
            {"body_param": "b", "params_in": {"b": "query"}},
            "makes 'b' the whole body, but params_in puts 'b' in the query",
        ),
        ({"body_param": "b", "params_in": {"c": "body"}}, "params_in puts 'c' in the body"),
    ],
)
def test_what_can_never_be_sent_is_a_fault_of_the_config(config: dict[str, Any], message: str) -> None:
    with pytest.raises(Misconfigured, match=message):
        template(**config)


def test_credentials_and_fixed_headers_are_in_every_request() -> None:
    auth = {"type": "custom", "headers": {"X-Org": "ö"}, "query": {"k": "a&b"}, "cookies": {"sid": "a=b,c"}}
    request = filled({"q": 1}, auth, url="https://api.example.com/a?x=1#part", headers={"Accept": "a/b"})
    assert str(request.url) == "https://api.example.com/a?x=1&k=a%26b&q=1"
    assert dict(request.headers) == {"Accept": "a/b", "X-Org": "ö", "Cookie": "sid=a=b,c"}
    assert request.bare_headers == CIMultiDict()


def test_a_credential_wins_over_a_header_of_the_config_and_over_arguments() -> None:
    auth = {"type": "bearer", "token": "owners", "query": {"key": "owners"}, "cookies": {"sid": "owners"}}
    request = filled(
        {"a": "callers", "key": "callers", "c": "callers", "d": "fine"},
        auth,
        headers={"authorization": "Token fixed", "cookie": "sid=fixed; theme=dark"},
        params_in={"a": "header", "c": "cookie", "d": "cookie"},
        wire_names={"a": "AUTHORIZATION", "c": "sid"},
    )
    assert request.headers.getall("Authorization") == ["Bearer owners"]
    assert request.headers.getall("Cookie") == ["theme=dark; sid=owners; d=fine"]
    assert request.url.raw_query_string == "key=owners"


def test_a_callers_cookie_header_cannot_replace_cookies_of_the_tool() -> None:
    auth = {"type": "custom", "cookies": {"sid": "owners"}}
    request = filled({"c": "sid=callers"}, auth, params_in={"c": "header"}, wire_names={"c": "cookie"})
    assert request.headers.getall("Cookie") == ["sid=owners"]
    free = filled({"c": "a=1", "d": 2}, params_in={"c": "header", "d": "cookie"}, wire_names={"c": "cookie"})
    assert free.headers.getall("Cookie") == ["a=1; d=2"]


def test_an_object_cannot_smuggle_a_credentials_name_in() -> None:
    auth = {"type": "api_key", "api_key": "owners", "query_name": "key"}
    with pytest.raises(InvalidArguments, match="Field 'filter' must not hold 'key', which this tool sends by itself"):
        filled({"filter": {"key": "callers"}}, auth)


@pytest.mark.parametrize(
    ("url", "arguments", "query"),
    [
        ("/?role=user", {"role": "admin", "page": 2}, "role=user&page=2"),
        ("/?role=user&role=guest", {"role": ["admin"]}, "role=user&role=guest"),
        ("/?r%6Fle=user&a+b=1", {"role": "admin", "a b": "2"}, "r%6Fle=user&a+b=1"),
        ("/?role", {"role": "admin"}, "role"),
        ("/?role={who}", {"who": "user", "role": "admin"}, "role=user"),
        ("/?role={who}", {"role": "admin"}, ""),
        ("/?{name}={value}&role=user", {"name": "page", "value": "2"}, "page=2&role=user"),
    ],
)
def test_an_argument_adds_no_second_value_to_a_pair_of_the_urls_own_query(
    url: str, arguments: dict[str, Any], query: str
) -> None:
    assert filled(arguments, url=f"https://api.example.com{url}").url.raw_query_string == query


def test_an_object_or_a_name_out_of_an_argument_cannot_repeat_a_fixed_pair() -> None:
    url = "https://api.example.com/?role=user&f%5Ba%5D=1"
    with pytest.raises(InvalidArguments, match="must not hold 'role'"):
        filled({"filter": {"role": "admin"}}, url=url)
    with pytest.raises(InvalidArguments, match=r"must not hold 'f\[a\]'"):
        filled({"f": {"a": 2}}, url=url, styles={"f": {"style": "deepObject"}})
    for name in ("role", "r%6Fle"):
        with pytest.raises(InvalidArguments, match="Field 'name' must not be the name of another query parameter"):
            filled({"name": name, "v": "x"}, url=f"{url}&{{name}}={{v}}&r%256Fle=1")


def test_a_credential_replaces_a_pair_of_the_url_that_has_its_name() -> None:
    auth = {"type": "api_key", "api_key": "owners", "query_name": "key"}
    request = filled({"key": "callers"}, auth, url="https://api.example.com/?key=demo&k%65y={x}&page=1")
    assert request.url.raw_query_string == "page=1&key=owners"


def test_an_argument_replaces_no_fixed_header_and_adds_to_no_fixed_cookie() -> None:
    placed: dict[str, Any] = {
        "params_in": {"lang": "header", "sid": "cookie", "other": "cookie", "all": "cookie"},
        "wire_names": {"lang": "x-lang"},
    }
    headers = {"X-Lang": "en", "Cookie": "sid=fixed; theme=dark"}
    request = filled({"lang": "de", "sid": "callers", "other": "1"}, headers=headers, **placed)
    assert request.headers.getall("X-Lang") == ["en"]
    assert request.headers.getall("Cookie") == ["sid=fixed; theme=dark; other=1"]
    with pytest.raises(InvalidArguments, match="must not hold 'theme'"):
        filled({"all": {"theme": "light"}}, headers=headers, **placed)


def test_only_what_is_no_credential_may_go_to_another_origin() -> None:
    request = filled(
        {"etag": "1", "token": "callers", "sid": "callers", "name": "x"},
        {"type": "bearer", "token": "owners"},
        method="POST",
        headers={"X-Fixed": "1", "Content-Type": "application/json"},
        params_in={"etag": "header", "token": "header", "sid": "cookie"},
        wire_names={"etag": "If-Match", "token": "X-Auth-Token"},
    )
    assert dict(request.bare_headers) == {"Content-Type": "application/json", "If-Match": "1"}
    assert dict(request.headers) == {
        "X-Fixed": "1",
        "Content-Type": "application/json",
        "Authorization": "Bearer owners",
        "If-Match": "1",
        "X-Auth-Token": "callers",
        "Cookie": "sid=callers",
    }


def test_requests_share_nothing_that_can_be_changed() -> None:
    shared = template({"type": "bearer", "token": "owners"}, method="POST")
    first = shared.fill({"a": 1})
    first.headers["X-Changed"] = first.bare_headers["X-Changed"] = "1"
    second = shared.fill({"a": 2})
    assert "X-Changed" not in second.headers
    assert "X-Changed" not in second.bare_headers


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://api.example.com/a", "https://api.example.com:443"),
        ("http://API.example.com:8080", "http://api.example.com:8080"),
        ("http://[2001:DB8::1]/", "http://[2001:db8::1]:80"),
        ("http://127.0.0.1:1?x=1", "http://127.0.0.1:1"),
    ],
)
def test_the_origin_is_reported_with_its_port(url: str, origin: str) -> None:
    assert template(url=url).origin == origin


def test_a_name_outside_ascii_is_sent_as_dns_has_it() -> None:
    assert str(filled({}, url="https://bücher.example:443/ä").url) == "https://xn--bcher-kva.example/%C3%A4"


def test_secrets_are_those_of_auth_headers_and_the_urls_query() -> None:
    made = template(
        {"type": "bearer", "token": "bearer-1"},
        url="https://api.example.com/?access_token=query-1&page=notsecret",
        headers={"X-Api-Key": "header-1", "Accept": "application/json"},
    )
    assert {"bearer-1", "query-1", "header-1"} <= set(made.secrets)
    assert not {"notsecret", "application/json"} & set(made.secrets)


def test_names_that_no_one_declared_do_not_fill_the_memory() -> None:
    made = template()

    def fill(first: int) -> None:
        for number in range(first, first + 3000):
            assert made.fill({f"p{number}": number}).url.raw_query_string == f"p{number}={number}"

    fill(0)
    tracemalloc.start()
    try:
        fill(3000)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 3000 * 20, "no entry is kept for a further name"


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "\0", ["a", "b\r"], {"k\n": "v"}, "\x7f", "a\ud800"])
@pytest.mark.parametrize("place", ["header", "cookie"])
def test_an_argument_cannot_begin_a_line_of_its_own(place: str, value: Any) -> None:
    with pytest.raises(
        InvalidArguments, match=r"^Invalid parameters: Field 'x' (must not hold a line break|holds half)"
    ):
        filled({"x": value}, params_in={"x": place})


def test_a_header_outside_ascii_is_sent_in_utf_8_and_json_in_ascii() -> None:
    request = filled(
        {"a": "grüße ✓", "b": "✓"}, params_in={"a": "header", "b": "header"}, styles={"b": {"style": "json"}}
    )
    assert request.headers["a"].encode() == "grüße ✓".encode()
    assert request.headers["b"] == '"\\u2713"'


TEXTS = st.text()  # halves of surrogate pairs included
JSON = st.recursive(
    TEXTS | st.integers() | st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
)


@given(st.dictionaries(st.sampled_from(["h", "c", "p", "q", "other"]), JSON), st.sampled_from(["GET", "POST"]))
def test_whatever_comes_is_sent_whole_or_refused_by_name(arguments: dict[str, Any], method: str) -> None:
    made = template(
        {"type": "bearer", "token": "owners"},
        url="https://api.example.com/x/{p}",
        method=method,
        params_in={"h": "header", "c": "cookie", "q": "query"},
    )
    try:
        request = made.fill(arguments)
    except InvalidArguments as error:
        assert all(problem.field in {"h", "c", "p", "q", "other"} for problem in error.problems)
        return
    for name, value in request.headers.items():
        assert not set(name + value) & {"\r", "\n", "\0"}
        value.encode()
    assert request.headers["Authorization"] == "Bearer owners"
    assert str(request.url).startswith("https://api.example.com/x/")
    if method == "POST" and "other" in arguments:
        assert json.loads(request.body or b"") == {"other": arguments["other"]}
