from __future__ import annotations

from typing import Any

import pytest

from pegboard.kinds.http.openapi.import_document import import_document
from tests.unit.kinds.http.openapi.make_documents import (
    Json,
    api,
    body,
    build_request,
    list_notes,
    of,
    one,
    reason,
    url,
)

COLOURS = {"type": "array", "items": {"type": "string"}}
POINT = {"type": "object", "properties": {"R": {"type": "integer"}, "G": {"type": "integer"}}}
BLUE, BLACK, RGB = "blue", ["blue", "black"], {"R": 100, "G": 200}


def with_parameter(method: str = "get", path: str = "/x", **parameter: Any) -> Json:
    return of({"parameters": [{"schema": {"type": "string"}, **parameter}]}, method=method, path=path)


@pytest.mark.parametrize(
    ("style", "explode", "schema", "value", "query"),
    [
        (None, None, COLOURS, BLACK, "c=blue&c=black"),
        (None, None, POINT, RGB, "R=100&G=200"),
        ("form", False, COLOURS, BLACK, "c=blue,black"),
        ("form", False, POINT, RGB, "c=R,100,G,200"),
        ("form", True, {"type": "string"}, BLUE, "c=blue"),
        ("form", False, {"type": "string"}, BLUE, "c=blue"),
        ("spaceDelimited", None, COLOURS, BLACK, "c=blue%20black"),
        ("spaceDelimited", True, COLOURS, BLACK, "c=blue&c=black"),
        ("pipeDelimited", False, COLOURS, BLACK, "c=blue%7Cblack"),
        ("pipeDelimited", None, {"type": "string"}, BLUE, "c=blue"),
        ("deepObject", True, POINT, RGB, "c%5BR%5D=100&c%5BG%5D=200"),
        ("deepObject", None, POINT, RGB, "c%5BR%5D=100&c%5BG%5D=200"),
    ],
)
def test_a_query_is_written_in_the_style_declared(
    style: str | None, explode: bool | None, schema: Json, value: Any, query: str
) -> None:
    values: Json = {key: item for key, item in (("style", style), ("explode", explode)) if item is not None}
    assert url(with_parameter(name="c", **{"in": "query"}, schema=schema, **values), c=value) == f"/x?{query}"


@pytest.mark.parametrize(
    ("style", "explode", "schema", "value", "path"),
    [
        (None, None, {"type": "string"}, BLUE, "blue"),
        (None, None, COLOURS, BLACK, "blue,black"),
        ("simple", True, POINT, RGB, "R=100,G=200"),
        ("simple", False, POINT, RGB, "R,100,G,200"),
        ("label", None, {"type": "string"}, BLUE, ".blue"),
        ("label", True, COLOURS, BLACK, ".blue.black"),
        ("matrix", None, {"type": "string"}, BLUE, ";c=blue"),
        ("matrix", False, COLOURS, BLACK, ";c=blue,black"),
        ("matrix", True, POINT, RGB, ";R=100;G=200"),
    ],
)
def test_a_path_is_written_in_the_style_declared(
    style: str | None, explode: bool | None, schema: Json, value: Any, path: str
) -> None:
    values: Json = {key: item for key, item in (("style", style), ("explode", explode)) if item is not None}
    definition = with_parameter(path="/x/{c}", name="c", **{"in": "path"}, required=True, schema=schema, **values)
    assert str(build_request(definition, c=value).url.raw_path) == f"/x/{path}"


def test_headers_and_cookies_are_sent() -> None:
    parameters = [
        {"name": "X-Ids", "in": "header", "schema": COLOURS},
        {"name": "X-Point", "in": "header", "schema": POINT, "explode": True},
        {"name": "session", "in": "cookie", "schema": {"type": "string"}},
    ]
    request = build_request(
        of({"parameters": parameters}, method="get"), **{"X-Ids": BLACK, "X-Point": RGB, "session": "s1"}
    )
    assert request.headers["X-Ids"] == "blue,black"
    assert request.headers["X-Point"] == "R=100,G=200"
    assert request.headers["Cookie"] == "session=s1"


def test_a_parameter_with_json_content_is_written_as_json() -> None:
    parameter = {"name": "where", "in": "query", "content": {"application/json": {"schema": POINT}}}
    definition = of({"parameters": [parameter]}, method="get")
    assert definition["config"]["styles"] == {"where": {"style": "json"}}
    assert build_request(definition, where=RGB).url.query["where"] == '{"R":100,"G":200}'


def test_reserved_characters_stay_if_they_are_allowed() -> None:
    definition = with_parameter(name="to", **{"in": "query"}, allowReserved=True)
    assert url(definition, to="/a:b?c") == "/x?to=/a:b?c"


def test_obvious_things_are_not_reported() -> None:
    definition = of(
        {
            "parameters": [
                {"name": "id", "in": "path", "required": True, "style": "simple", "schema": {"type": "integer"}},
                {"name": "q", "in": "query", "style": "form", "explode": True, "schema": COLOURS},
            ]
        },
        method="get",
        path="/x/{id}",
    )
    assert definition["config"] == {"url": "https://api.example.com/x/{id}", "method": "GET"}


def test_a_query_parameter_of_a_post_is_reported_to_be_one() -> None:
    definition = with_parameter("post", name="q", **{"in": "query"})
    assert definition["config"]["params_in"] == {"q": "query"}
    assert build_request(definition, q="x").body is None


def test_the_operations_parameters_stand_in_for_those_of_its_path() -> None:
    shared = [
        {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
        {"name": "page", "in": "query", "schema": {"type": "string"}},
        {"name": "X-A", "in": "header", "schema": {"type": "string"}},
    ]
    own = [{"name": "page", "in": "query", "schema": {"type": "integer"}}, {"name": "x-a", "in": "header"}]
    found = one(api({"/x/{id}": {"parameters": shared, "get": {"parameters": own}}}))
    assert found["input_schema"]["properties"] == {
        "id": {"type": "string"}, "page": {"type": "integer"}, "x-a": {"type": "string"},
    }  # fmt: skip
    assert found["input_schema"]["required"] == ["id"]


def test_one_name_in_several_places_becomes_several_parameters() -> None:
    places = ["query", "header", "cookie"]
    operation = {
        "parameters": [{"name": "id", "in": place, "schema": {"type": "string"}} for place in places],
        **body({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}),
    }
    definition = of(operation, path="/x/{id}", method="put")
    assert list(definition["input_schema"]["properties"]) == ["id", "query_id", "header_id", "cookie_id", "body_id"]
    assert definition["input_schema"]["required"] == ["id", "body_id"]
    request = build_request(definition, id="p", query_id="q", header_id="h", cookie_id="c", body_id=5)
    assert str(request.url) == "https://api.example.com/x/p?id=q"
    assert (request.headers["id"], request.headers["Cookie"], request.body) == ("h", "id=c", b'{"id":5}')


@pytest.mark.parametrize(
    ("wire", "name"),
    [("filter[name]", "filter_name"), ("$top", "top"), ("ids[]", "ids"), ("[]", "query"), ("a.b-c_d", "a.b-c_d")],
)
def test_a_name_that_providers_refuse_is_only_used_on_the_wire(wire: str, name: str) -> None:
    definition = with_parameter(name=wire, **{"in": "query"})
    assert list(definition["input_schema"]["properties"]) == [name]
    assert dict(build_request(definition, **{name: "v"}).url.query) == {wire: "v"}


def test_a_long_name_is_cut_and_still_sent_whole() -> None:
    definition = with_parameter(name="n" * 200, **{"in": "query"})
    [name] = definition["input_schema"]["properties"]
    assert len(name) == 64
    assert dict(build_request(definition, **{name: "v"}).url.query) == {"n" * 200: "v"}


def test_a_placeholder_without_a_parameter_becomes_a_parameter() -> None:
    definition = of({}, method="get", path="/a/{some id}/b")
    assert definition["input_schema"]["required"] == ["some_id"]
    assert url(definition, some_id="x/y") == "/a/x%2Fy/b"


def test_a_placeholder_in_the_query_of_a_path_takes_the_query_parameter() -> None:
    operation = {"parameters": [{"name": "t", "in": "query", "required": True, "schema": {"type": "string"}}]}
    assert url(of(operation, method="get", path="/s?fixed=1&type={t}"), t="a b") == "/s?fixed=1&type=a%20b"


@pytest.mark.parametrize("path", ["/a b\\c", "/x{", "/{{secret:KEY}}/x", "/a\0"])
def test_signs_that_no_url_holds_are_encoded(path: str) -> None:
    definition = of({}, method="get", path=path)
    assert "{{" not in definition["config"]["url"]
    arguments = dict.fromkeys(definition["input_schema"]["properties"], "v")
    assert build_request(definition, **arguments).url.host == "api.example.com"


def test_headers_that_openapi_speaks_of_elsewhere_are_passed_over() -> None:
    names = ["Accept", "content-type", "Authorization"]
    operation = {"parameters": [{"name": name, "in": "header", "required": True} for name in names]}
    assert of(operation, method="get")["input_schema"]["properties"] == {}


@pytest.mark.parametrize(
    ("parameter", "words"),
    [
        ({"name": "Host", "in": "header"}, "the header 'Host' is written by the board itself"),
        ({"name": "X Y", "in": "header"}, "'X Y' is not a valid header name"),
        ({"name": "a;b", "in": "cookie"}, "a cookie cannot have this name"),
        ({"name": "q", "in": "querystring"}, "'querystring' is not a place that tools can send to"),
        ({"name": "{{secret:KEY}}", "in": "query"}, "its name holds '{{'"),
        ({"name": "q", "in": "query", "content": {"application/xml": {}}}, "its media type is application/xml"),
        ({"name": "lost", "in": "path"}, "the path has no placeholder for it"),
    ],
)
def test_an_optional_parameter_that_cannot_be_sent_is_noted_and_the_rest_taken(parameter: Json, words: str) -> None:
    found = import_document(api({"/x": {"get": {"parameters": [parameter]}}}))
    assert len(found.definitions) == 1
    [note] = list_notes(found)
    assert note.endswith(f": {words}")


@pytest.mark.parametrize(
    ("parameter", "words"),
    [
        ({"name": "X Y", "in": "header"}, "the header parameter 'X Y' is required"),
        ({"name": "q", "in": "query", "content": {"application/xml": {}}}, "is required, and its media type is"),
        ({"name": "q", "in": "query", "style": "matrix"}, "has the style 'matrix'; known there: form"),
        ({"name": "q", "in": "query", "schema": {"type": "array"}, "explode": "no"}, "must be true or false"),
        ({"name": "q"}, "must name its place with `in`"),
        ({"in": "query"}, "must have a name"),
        ({"name": "", "in": "query"}, "must have a name"),
        (5, "a parameter must be an object, not a number"),
    ],
)
def test_a_parameter_that_an_operation_cannot_do_without_leaves_it_out(parameter: Any, words: str) -> None:
    given = {**parameter, "required": True, "schema": {}} | parameter if isinstance(parameter, dict) else parameter
    assert words in reason(api({"/x": {"get": {"parameters": [given]}}}))


def test_what_is_reported_of_the_parameter_and_of_its_schema_are_both_kept() -> None:
    definition = with_parameter(
        name="q",
        **{"in": "query"},
        description="Which ones.",
        deprecated=True,
        schema={"type": "string", "description": "A word.", "default": "all"},
        examples={"one": {"value": "cats"}, "two": {"value": "dogs"}},
    )
    assert definition["input_schema"]["properties"]["q"] == {
        "type": "string",
        "default": "all",
        "description": "Deprecated. Which ones.\n\nA word.",
        "deprecated": True,
        "examples": ["cats", "dogs"],
    }
