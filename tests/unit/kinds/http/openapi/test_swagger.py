from __future__ import annotations

from typing import Any

import pytest

from pegboard.kinds.http.openapi.import_document import import_document
from tests.unit.kinds.http.openapi.make_documents import Json, build_request, list_notes, one, reason, swagger, url

BLACK = ["blue", "black"]


def with_parameters(*parameters: Json, path: str = "/x", method: str = "get", **others: Any) -> Json:
    return one(swagger({path: {method: {"parameters": list(parameters), **others}}}))


def array(name: str, place: str, how: str | None = None, **others: Any) -> Json:
    message = {} if how is None else {"collectionFormat": how}
    return {"name": name, "in": place, "type": "array", "items": {"type": "string"}, **message, **others}


@pytest.mark.parametrize(
    ("how", "query"),
    [
        (None, "c=blue,black"),
        ("csv", "c=blue,black"),
        ("ssv", "c=blue%20black"),
        ("pipes", "c=blue%7Cblack"),
        ("multi", "c=blue&c=black"),
    ],
)
def test_a_query_is_collected_as_declared(how: str | None, query: str) -> None:
    assert url(with_parameters(array("c", "query", how)), c=BLACK) == f"/x?{query}"


@pytest.mark.parametrize(
    ("place", "how", "separator"),
    [("query", "tsv", "a tab"), ("header", "pipes", "|"), ("header", "ssv", "a space"), ("formData", "tsv", "a tab")],
)
def test_what_no_style_can_write_is_asked_for_as_text(place: str, how: str, separator: str) -> None:
    definition = with_parameters(array("c", place, how, description="Colours."), method="post")
    schema = definition["input_schema"]["properties"]["c"]
    assert schema == {"type": "string", "description": f"Colours.\n\nSeveral values, separated by {separator}."}


def test_paths_and_headers_are_separated_by_commas() -> None:
    path = array("c", "path", required=True)
    request = build_request(with_parameters(path, array("X-C", "header"), path="/x/{c}"), c=BLACK, **{"X-C": BLACK})
    assert (request.url.path, request.headers["X-C"]) == ("/x/blue,black", "blue,black")


def test_a_parameters_own_words_are_its_schema() -> None:
    limit = {
        "name": "limit", "in": "query", "type": "integer", "format": "int32", "maximum": 10, "exclusiveMaximum": True,
        "minimum": 1, "default": 5, "description": "How many", "required": False, "x-example": 3,
    }  # fmt: skip
    assert with_parameters(limit)["input_schema"]["properties"]["limit"] == {
        "type": "integer",
        "format": "int32",
        "minimum": 1,
        "default": 5,
        "exclusiveMaximum": 10,
        "description": "How many",
    }


def test_a_body_is_taken_apart_like_any_other() -> None:
    pet = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "id": {"readOnly": True}}}
    parameters = [{"name": "pet", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Pet"}}]
    found = one(swagger({"/x": {"post": {"parameters": parameters}}}, definitions={"Pet": pet}))
    assert found["input_schema"]["properties"] == {"name": {"type": "string"}}
    assert build_request(found, name="rex").body == b'{"name":"rex"}'


def test_what_is_consumed_decides_how_a_body_is_sent() -> None:
    parameters = [{"name": "b", "in": "body", "required": True, "schema": {"type": "string"}}]
    operation = {"parameters": parameters, "consumes": ["text/plain"]}
    document = swagger({"/x": {"post": operation}}, consumes=["application/json"])
    assert build_request(one(document), body="hi").headers["Content-Type"].startswith("text/plain")
    assert build_request(one(swagger({"/x": {"post": {"parameters": parameters}}})), body="hi").body == b'"hi"'


def test_a_form_is_urlencoded_unless_it_holds_files() -> None:
    a, tags = {"name": "a", "in": "formData", "type": "string", "required": True}, array("tags", "formData", "multi")
    consumes = ["application/x-www-form-urlencoded", "multipart/form-data"]
    form = with_parameters(a, tags, method="post", consumes=consumes)
    assert form["config"] == {"url": "https://api.example.com/x", "method": "POST", "body_format": "form"}
    assert build_request(form, a="x y", tags=BLACK).body == b"a=x%20y&tags=blue&tags=black"

    photo = {"name": "photo", "in": "formData", "type": "file", "description": "A photo"}
    parts = with_parameters(a, photo, method="post", consumes=consumes)
    data = build_request(parts, a="x", photo={"base64": "AAE=", "filename": "p.png"}).body or b""
    assert b'name="photo"; filename="p.png"' in data
    assert parts["input_schema"]["properties"]["photo"]["description"] == "A photo"

    assert with_parameters(a, method="post", consumes=consumes[1:])["config"]["body_format"] == "multipart"


def test_shared_parameters_and_those_of_the_path_are_found() -> None:
    shared = {"limit": {"name": "limit", "in": "query", "type": "integer"}}
    own = {"parameters": [{"$ref": "#/parameters/limit"}]}
    item = {"parameters": [{"name": "id", "in": "path", "type": "string"}], "get": own}
    found = one(swagger({"/x/{id}": item}, parameters=shared))
    assert found["input_schema"]["properties"] == {"id": {"type": "string"}, "limit": {"type": "integer"}}


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        ({"parameters": [array("c", "query", "commas")]}, "collectionFormat 'commas'; known: csv, ssv"),
        ({"parameters": [{"name": "a", "in": "body"}, {"name": "b", "in": "formData"}]}, "a body and a form"),
        ({"parameters": [{"name": "a", "in": "body"}], "consumes": "text/plain"}, "consumes must be a list"),
        ({"parameters": [{"name": "c", "in": "cookie", "required": True}]}, "not a place of Swagger 2.0"),
        ({"parameters": {}}, "parameters must be a list"),
    ],
)
def test_what_swagger_cannot_say_leaves_the_operation_out(operation: Json, words: str) -> None:
    assert words in reason(swagger({"/x": {"post": operation}}))


def test_an_optional_parameter_elsewhere_is_noted() -> None:
    found = import_document(swagger({"/x": {"get": {"parameters": [{"name": "c", "in": "cookie"}]}}}))
    assert list_notes(found) == ["without the cookie parameter 'c': 'cookie' is not a place of Swagger 2.0"]


@pytest.mark.parametrize("version", ["2.0", 2.0, 2])
def test_the_version_may_be_a_number(version: Any) -> None:
    assert import_document({**swagger({"/x": {"get": {}}}), "swagger": version}).definitions
