"""Bodies: JSON, urlencoded forms and text."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl

import pytest

from pegboard.kinds.http.config import HttpConfig
from pegboard.kinds.http.request_template import HttpRequest, RequestTemplate
from pegboard.model.call_errors import InvalidArguments, Misconfigured


def template(**config: Any) -> RequestTemplate:
    return RequestTemplate.of(HttpConfig(url="https://api.example.com/items", **{"method": "POST", **config}), None)


def build_request(arguments: dict[str, Any], **config: Any) -> HttpRequest:
    return template(**config).fill(arguments)


def test_the_parameters_of_a_post_are_its_json_body() -> None:
    request = build_request({"a": 1, "b": [True, None], "ö": {"c": 1.5}})
    assert request.body == '{"a":1,"b":[true,null],"ö":{"c":1.5}}'.encode()
    assert request.headers["Content-Type"] == "application/json"
    assert str(request.url) == "https://api.example.com/items"


def test_wire_names_rename_what_is_in_the_body() -> None:
    assert build_request({"a": 1, "b": 2}, wire_names={"a": "A-1"}).body == b'{"A-1":1,"b":2}'


@pytest.mark.parametrize("value", [[1, 2], "text", 5, None, {"a": 1}, False])
def test_one_parameter_can_be_the_whole_body_and_the_others_are_in_the_query(value: Any) -> None:
    request = build_request({"items": value, "dry": True}, body_param="items")
    assert json.loads(request.body or b"") == value
    assert request.url.raw_query_string == "dry=true"


def test_a_post_without_parameters_sends_no_body() -> None:
    request = build_request({})
    assert request.body is None
    assert "Content-Type" not in request.headers
    assert build_request({}, body_param="items").body is None


def test_a_body_whose_parameters_are_declared_and_all_left_out_is_an_empty_object() -> None:
    assert build_request({}, params_in={"a": "body"}).body == b"{}"
    assert build_request({}, params_in={"a": "body"}, body_format="form").body == b""
    assert build_request({}, params_in={"a": "body"}, body_format="multipart").body is None


def test_a_get_may_have_a_body_if_its_config_has_one() -> None:
    request = build_request({"q": {"term": 1}, "page": 2}, method="GET", params_in={"q": "body"})
    assert (request.body, request.url.raw_query_string) == (b'{"q":{"term":1}}', "page=2")


def test_integers_of_any_length_keep_their_digits() -> None:
    assert build_request({"n": 2**200, "m": 1}).body == f'{{"n":{2**200},"m":1}}'.encode()


@pytest.mark.parametrize("body_format", ["json", "form", "multipart"])
@pytest.mark.parametrize("value", ["a\ud800", ["\udfff"], {"a": "\ud800"}], ids=["text", "array", "object"])
def test_half_of_a_surrogate_pair_is_refused_by_the_name_of_its_field(body_format: Any, value: Any) -> None:
    with pytest.raises(InvalidArguments) as caught:
        build_request({"fine": 1, "bad": value}, body_format=body_format)
    assert caught.value.problems[0].field == "bad"
    assert "Field 'bad' holds half of a surrogate pair" in caught.value.message


@pytest.mark.parametrize("body_format", ["json", "form", "text"])
def test_a_whole_body_with_half_of_a_pair_is_refused_by_name(body_format: Any) -> None:
    with pytest.raises(InvalidArguments, match="Field 'whole' holds half"):
        build_request({"whole": "\ud800"}, body_format=body_format, body_param="whole")


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"content_type": "application/vnd.api+json"}, "application/vnd.api+json"),
        ({"headers": {"content-type": "application/ld+json"}}, "application/ld+json"),
        ({"headers": {"Content-Type": "a/b"}, "content_type": "c/d"}, "c/d"),
        ({"body_format": "form"}, "application/x-www-form-urlencoded"),
        ({"body_format": "text"}, "text/plain; charset=utf-8"),
        ({"body_format": "text", "content_type": "text/csv"}, "text/csv"),
    ],
)
def test_the_content_type_is_the_configs_or_the_usual_one(config: dict[str, Any], expected: str) -> None:
    request = build_request({"a": "x"}, **config)
    assert request.headers.getall("Content-Type") == [expected]
    assert request.bare_headers["Content-Type"] == expected


def test_a_form_is_urlencoded_with_arrays_and_objects_by_their_style() -> None:
    styles = {
        "joined": {"style": "pipeDelimited"},
        "deep": {"style": "deepObject"},
        "raw": {"style": "json"},
    }
    arguments = {
        "q": "a&b=c d+e ä", "n": 1.5, "yes": True, "no": None, "many": ["x", "y"], "joined": [1, 2],
        "deep": {"k": {"l": "v"}}, "raw": {"j": [1]}, "empty": "",
    }  # fmt: skip
    request = build_request(arguments, body_format="form", styles=styles, wire_names={"n": "N"})
    assert parse_qsl((request.body or b"").decode("ascii"), keep_blank_values=True, strict_parsing=True) == [
        ("q", "a&b=c d+e ä"), ("N", "1.5"), ("yes", "true"), ("many", "x"), ("many", "y"), ("joined", "1|2"),
        ("deep[k][l]", "v"), ("raw", '{"j":[1]}'), ("empty", ""),
    ]  # fmt: skip


def test_an_object_can_be_the_whole_form_and_a_string_is_sent_unchanged() -> None:
    config: dict[str, Any] = {"body_format": "form", "body_param": "f", "styles": {"b": {"style": "json"}}}
    assert build_request({"f": {"a": "x y", "b": [1]}}, **config).body == b"a=x%20y&b=%5B1%5D"
    assert build_request({"f": "a=1&b=2"}, **config).body == b"a=1&b=2"
    with pytest.raises(InvalidArguments, match="Field 'f' must be an object"):
        build_request({"f": [1]}, **config)


def test_only_what_is_in_the_form_must_have_a_style_of_forms() -> None:
    config: dict[str, Any] = {"body_format": "form", "params_in": {"h": "header"}}
    assert build_request({"h": [1, 2]}, styles={"h": {"style": "simple"}}, **config).headers["h"] == "1,2"
    with pytest.raises(Misconfigured, match=r"config\.styles\.f"):
        template(styles={"f": {"style": "simple"}}, **config)


@pytest.mark.parametrize(("value", "body"), [("ä\r\n\0", "ä\r\n\0".encode()), (5, b"5"), ([1, "x"], b'[1,"x"]')])
def test_a_text_body_is_its_parameter_unchanged(value: Any, body: bytes) -> None:
    assert build_request({"t": value}, body_format="text").body == body
    assert build_request({"t": value, "q": 1}, body_format="text", body_param="t").body == body


def test_a_text_body_is_one_parameter_and_null_is_none() -> None:
    assert build_request({"t": None}, body_format="text").body is None
    with pytest.raises(Misconfigured, match="'a', 'b' would be in it; name it in body_param"):
        build_request({"a": "x", "b": "y"}, body_format="text")
