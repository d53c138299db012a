"""Display of a call for people."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given

from pegboard import NormalizedToolCall, format_tool_args, get_tool_display_name
from pegboard.display.names import summarize_call
from tests.unit.dialects.web_dialects import JSON, tool


def shown(**arguments: Any) -> Any:
    return orjson.loads(format_tool_args(arguments))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("getWeather", "Get Weather"),
        ("get_weather", "Get Weather"),
        ("search-docs", "Search Docs"),
        ("HTTPServerList", "HTTP Server List"),
        ("queryV2", "Query V2"),
        ("größeListe", "Größe Liste"),
        ("wetter", "Wetter"),
        ("unknown", "Unknown"),
        ("---", "---"),
        ("", "Unknown"),
    ],
)
def test_a_name_is_spaced_and_in_title_case(name: str, words: str) -> None:
    assert get_tool_display_name(NormalizedToolCall("c", name, {})) == words
    assert get_tool_display_name({"name": name}) == words
    assert get_tool_display_name({"toolName": name}) == words
    assert get_tool_display_name(name) == words


def test_a_display_name_of_its_own_comes_first() -> None:
    assert get_tool_display_name(tool("getWeather", {}, display_name="The Weather")) == "The Weather"
    assert get_tool_display_name({"name": "queryHandbook", "display_name": "Handbook"}) == "Handbook"
    assert get_tool_display_name(tool("getWeather", {})) == "Get Weather"


@pytest.mark.parametrize("given", [None, {}, []])
def test_no_arguments_are_reported_plainly(given: Any) -> None:
    assert format_tool_args(given) == "(no arguments)"


def test_only_strings_over_50_characters_are_cut() -> None:
    assert shown(a="x" * 50, b="x" * 51, c=["y" * 60]) == {
        "a": "x" * 50,
        "b": "x" * 50 + "...",
        "c": ["y" * 50 + "..."],
    }


def test_arguments_are_indented_json() -> None:
    assert format_tool_args({"city": "Zürich", "days": 2}) == '{\n  "city": "Zürich",\n  "days": 2\n}'


@pytest.mark.parametrize(
    "key",
    [
        *("password", "userPassword", "API_KEY", "apiKey", "x-api-key", "clientSecret", "access_token", "accesstoken"),
        *("Authorization", "auth", "cookie", "private_key", "pin", "credentials", "session_id", "sshKey", "jwt", "pw"),
    ],
)
def test_secrets_are_masked_at_any_depth(key: str) -> None:
    assert shown(**{key: "s3cr3t"}) == {key: "********"}
    assert "s3cr3t" not in format_tool_args({"outer": [{key: {"inner": ["s3cr3t"]}}]})
    assert "s3cr3t" not in format_tool_args({"body": orjson.dumps({key: "s3cr3t"}).decode()})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("max_tokens", 100),
        ("author", "Ada"),
        ("token", None),
        ("auth", True),
        ("note", "A secretary, no secret"),
        ("pinned", "x"),
    ],
)
def test_what_only_sounds_secret_is_shown(key: str, value: Any) -> None:
    assert shown(**{key: value}) == {key: value}


def test_credentials_within_a_text_are_masked() -> None:
    assert shown(url="postgres://ada:s3cr3t@db/x") == {"url": "postgres://********@db/x"}
    assert shown(curl="-H 'Authorization: Bearer abcdef123456'") == {"curl": "-H 'Authorization: Bearer ********'"}


@pytest.mark.parametrize(
    "text",
    [
        *(
            "host=db password=s3cr3tpw user=ada",
            "Server=x;Password=s3cr3tpw;",
            "PASSWORD=s3cr3tpw",
            "password: s3cr3tpw",
        ),
        *("https://x.y/?a=1&api_key=s3cr3tpw&b=2", "https://s3cr3tpw@git.example/x", "postgres://:s3cr3tpw@db/x"),
        *(
            "Authorization: Basic s3cr3tpw",
            "curl -H 'X-Api-Key: s3cr3tpw'",
            "mysql --password s3cr3tpw",
            "sk-s3cr3tpw12345",
        ),
        *('{"password": "s3cr3tpw', ' {"password": "s3cr3tpw"}', '"{\\"password\\": \\"s3cr3tpw\\"}"'),
    ],
)
def test_what_a_text_says_is_secret_is_masked(text: str) -> None:
    assert "s3cr3tpw" not in format_tool_args({"text": text})
    assert "s3cr3tpw" not in summarize_call("Tool", {"text": [{"a": text}]})
    assert "********" in format_tool_args({"text": text})


def test_what_another_field_or_a_flag_says_is_secret_is_masked() -> None:
    assert shown(headers=[{"name": "Authorization", "value": "s3cr3t"}, {"name": "Accept", "value": "x"}]) == {
        "headers": [{"name": "Authorization", "value": "********"}, {"name": "Accept", "value": "x"}]
    }
    assert shown(args=["--password", "s3cr3t", "--user", "ada"]) == {
        "args": ["--password", "********", "--user", "ada"]
    }


class Speechless:
    def __str__(self) -> str:
        raise ValueError


def test_text_that_is_not_json_is_shown() -> None:
    for value in (Speechless(), 10**5000, float("nan"), b"\xff", {1: {2, 3}}, "\ud800"):
        assert format_tool_args({"a": value})
        assert summarize_call("Tool", {"a": value})


def test_no_arguments_make_a_long_text() -> None:
    assert shown(**{f"k{n}": n for n in range(60)})["…"] == "10 more"
    assert len(summarize_call("x" * 10_000, {})) == 203


def test_sql_is_one_line_and_json_is_what_it_holds() -> None:
    assert shown(query="SELECT *\n   FROM trips\n") == {"query": "SELECT * FROM trips"}
    assert shown(text="two\nlines") == {"text": "two\nlines"}
    assert shown(body='{"a": [1, 2]}', note="[not json") == {"body": {"a": [1, 2]}, "note": "[not json"}


def test_long_lists_and_deep_objects_are_cut() -> None:
    assert shown(items=list(range(25)))["items"][-1] == "… 5 more"
    deep: Any = "x"
    for _ in range(50):
        deep = {"a": deep}
    assert "{…}" in format_tool_args(deep)


def test_a_call_in_one_line_says_what_is_used_and_with_what() -> None:
    assert summarize_call("Get Weather", {"city": "Oslo", "days": 2}) == "Get Weather (city: Oslo, days: 2)"
    assert summarize_call("List", {}) == "List"
    assert len(summarize_call("List", {str(n): "x" * 50 for n in range(50)})) == 203


@given(JSON)
def test_anything_can_be_shown(value: Any) -> None:
    assert format_tool_args({"value": value})
    assert format_tool_args(value)
    assert summarize_call("Tool", {"value": value})
    assert get_tool_display_name(value)
