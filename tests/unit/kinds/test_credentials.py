"""What an auth_config adds to a request, what it must not contain, and which parts are masked."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from pegboard.kinds.credentials import Credentials, find_secrets, is_valid_cookie, list_request_secrets
from pegboard.model.call_errors import Misconfigured
from pegboard.model.secrets import is_credential_parameter

Parts = tuple[dict[str, str], dict[str, str], dict[str, str]]


@pytest.mark.parametrize(
    ("auth", "expected"),
    [
        (None, ({}, {}, {})),
        ({"type": "bearer", "token": "t0ken"}, ({"Authorization": "Bearer t0ken"}, {}, {})),
        (
            {"type": "basic", "username": "zoë", "password": "p:ä"},
            ({"Authorization": f"Basic {base64.b64encode('zoë:p:ä'.encode()).decode()}"}, {}, {}),
        ),
        ({"type": "api_key", "api_key": "k"}, ({"X-API-Key": "k"}, {}, {})),
        ({"type": "api_key", "api_key": "k", "header_name": "X-Key"}, ({"X-Key": "k"}, {}, {})),
        ({"type": "api_key", "api_key": "k", "query_name": "key"}, ({}, {"key": "k"}, {})),
        (
            {"type": "custom", "headers": {"X-A": "1"}, "query": {"b": "2"}, "cookies": {"c": "3"}},
            ({"X-A": "1"}, {"b": "2"}, {"c": "3"}),
        ),
        (
            {"type": "custom", "custom": {"headers": {"X-A": "1"}, "query": {"b": "2"}, "cookies": {"c": "3"}}},
            ({"X-A": "1"}, {"b": "2"}, {"c": "3"}),
        ),
        ({"type": "custom", "custom": {"X-A": "1", "X-B": "2"}}, ({"X-A": "1", "X-B": "2"}, {}, {})),
        ({"type": "custom"}, ({}, {}, {})),
        (
            {"type": "bearer", "token": "t", "username": "", "api_key": None, "headers": {"X-Org": "o"}, "custom": {}},
            ({"X-Org": "o", "Authorization": "Bearer t"}, {}, {}),
        ),
    ],
)
def test_each_type_becomes_headers_query_and_cookies(auth: dict[str, Any] | None, expected: Parts) -> None:
    credentials = Credentials.of(auth)
    assert (credentials.headers, credentials.query, credentials.cookies) == expected


SECRET = "s3cr3t-value"


@pytest.mark.parametrize(
    ("auth", "message"),
    [
        ({"type": "bearer"}, "needs 'token', a non-empty string"),
        ({"type": "bearer", "token": ""}, "needs 'token'"),
        ({"type": "bearer", "token": 5}, "needs 'token'"),
        ({"type": "basic", "username": "u"}, "needs 'password'"),
        ({"type": "basic", "username": "u:v", "password": SECRET}, "username holds a colon"),
        ({"type": "oauth", "token": SECRET}, "use one of: bearer, basic, api_key, custom"),
        ({"token": SECRET}, "use one of: bearer"),
        ({"type": "bearer", "token": f"{SECRET}\n"}, "'Authorization' holds a line break"),
        ({"type": "bearer", "token": f"{SECRET}\r\nX-Evil: 1"}, "'Authorization' holds a line break"),
        ({"type": "bearer", "token": f"{SECRET}\0"}, "control character"),
        ({"type": "bearer", "token": f"{SECRET}\ud800"}, "cannot be sent as text"),
        ({"type": "api_key", "api_key": SECRET, "header_name": "X Key"}, "'X Key' is not a valid header name"),
        ({"type": "api_key", "api_key": SECRET, "header_name": "Host"}, "'Host' is written by the board itself"),
        ({"type": "api_key", "api_key": SECRET, "header_name": "X:\r\nY"}, "not a valid header name"),
        ({"type": "api_key", "api_key": SECRET, "header_name": 1}, "header_name must be a string"),
        ({"type": "api_key", "api_key": SECRET, "header_name": "X", "query_name": "k"}, "keep the one"),
        ({"type": "api_key", "api_key": f"{SECRET}\ud800", "query_name": "k"}, "query value of 'k'"),
        ({"type": "custom", "fields": {"a": SECRET}}, "holds 'fields', .* it may hold type, .*headers, query, cookies"),
        ({"type": "custom", "headers": {"X-A": 1}}, "headers must be an object whose values are strings"),
        ({"type": "custom", "query": [SECRET]}, "query must be an object"),
        ({"type": "custom", "custom": SECRET}, "custom must be an object of headers, or hold nothing but"),
        ({"type": "custom", "custom": {"headers": {}, "X-A": SECRET}}, "nothing but headers, query and cookies"),
        ({"type": "custom", "custom": {"X-A": {"b": SECRET}}}, "custom must be an object whose values are strings"),
        ({"type": "custom", "cookies": {"c": f"{SECRET}; other=1"}}, "cookie 'c' holds a character"),
        ({"type": "custom", "cookies": {"c d": SECRET}}, "cookie 'c d' holds a character"),
        ({"type": "custom", "cookies": {"c": f"{SECRET}\r\n"}}, "cookie 'c' holds a character"),
    ],
)
def test_what_cannot_be_sent_is_refused_without_showing_it(auth: dict[str, Any], message: str) -> None:
    with pytest.raises(Misconfigured, match=message) as caught:
        Credentials.of(auth)
    assert SECRET not in str(caught.value)


def secrets(auth: dict[str, Any] | None, headers: dict[str, str] | None = None, query: str = "") -> tuple[str, ...]:
    return list_request_secrets(Credentials.of(auth), headers or {}, query)


def test_a_token_is_known_in_every_form_it_may_return_in() -> None:
    token = 'a/b+c "d"é'
    found = secrets({"type": "bearer", "token": token})
    assert {
        token,
        f"Bearer {token}",
        quote(token, safe=""),
        quote(token),
        quote_plus(token),
        base64.b64encode(token.encode()).decode(),
        base64.urlsafe_b64encode(token.encode()).decode(),
        json.dumps(token)[1:-1],
        json.dumps(token, ensure_ascii=False)[1:-1],
        json.dumps(token)[1:-1].replace("/", "\\/"),
    } <= set(found)


def test_the_longest_forms_come_first_so_that_none_leaves_a_rest() -> None:
    found = secrets({"type": "basic", "username": "user", "password": "password1"})
    assert list(found) == sorted(found, key=len, reverse=True)
    assert {"password1", base64.b64encode(b"user:password1").decode()} <= set(found)
    assert "user" not in found


def test_short_values_are_no_secrets_since_they_stand_in_any_text() -> None:
    assert secrets({"type": "api_key", "api_key": "12345"}) == ()
    assert "123456" in secrets({"type": "api_key", "api_key": "123456"})


def test_credentials_in_headers_and_query_of_the_config_are_secrets_too() -> None:
    headers = {
        "Authorization": "Token abcdef",
        "X-Vault": "hvs.CAESIJ0123456789abcdef",
        "cookie": "theme=dark; sid=qwertyuiop",
        "PRIVATE-TOKEN": "glpat-1",
    }
    found = secrets(None, headers, "lang=english&api_key=ab%2Fcdefg&key=zyxwvu")
    assert {"abcdef", "hvs.CAESIJ0123456789abcdef", "qwertyuiop", "glpat-1", "ab/cdefg", "ab%2Fcdefg", "zyxwvu"} <= set(
        found
    )
    assert "english" not in found


def test_values_of_common_headers_are_not_masked_in_answers() -> None:
    ordinary = {
        "Accept": "application/vnd.github+json",
        "Content-Type": "application/json",
        "X-GitHub-Api-Version": "2022-11-28",
        "If-None-Match": "an-etag",
        "User-Agent": "something/1.0.0-with-a-long-name",
        "X-Tenant": "north",
    }
    assert secrets(None, ordinary) == ()
    assert not set(find_secrets(ordinary))
    assert secrets({"type": "custom", "headers": {"Accept": "application/json"}}) == ()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X-Tenant", "northern"),
        ("X-Partner", "hello there"),
        ("Anthropic-Version", "sk0123456789abcdefghij"),
        ("X-User", "ann@example.com"),
        ("X-Auth-Mode", "letmein"),
    ],
)
def test_any_other_header_is_a_secret_for_http_and_mcp_alike(name: str, value: str) -> None:
    assert value in secrets(None, {name: value})
    assert value in set(find_secrets({name: value}))
    assert value in secrets({"type": "custom", "headers": {name: value}})


@pytest.mark.parametrize(
    "name",
    ["Authorization", "Proxy-Authorization", "X-Auth", "x-api-key", "apikey", "access_key", "key", "Subscription-Key",
     "token", "X-CSRF-Token", "client_secret", "password", "Cookie", "session_id", "sig", "X-Signature", "appid"],
)  # fmt: skip
def test_names_of_credentials_are_recognised(name: str) -> None:
    assert is_credential_parameter(name)


@pytest.mark.parametrize("name", ["author", "X-Authors", "monkey", "keyword", "design", "If-Match", "limit", "inside"])
def test_names_that_only_look_alike_are_not(name: str) -> None:
    assert not is_credential_parameter(name)


def test_a_cookie_has_a_plain_name_and_nothing_that_ends_it() -> None:
    assert is_valid_cookie("sid", 'a=b,"c" ä')
    assert not is_valid_cookie("s;d")
    assert not is_valid_cookie("")
    assert not is_valid_cookie("sid", "a;b")
