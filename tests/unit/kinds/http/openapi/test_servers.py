from __future__ import annotations

from typing import Any

import pytest

from pegboard.kinds.http.openapi.import_document import import_document
from pegboard.model.api_errors import Invalid
from tests.unit.kinds.http.openapi.make_documents import Json, api, build_request, one, reason, swagger

SOURCE = "https://docs.example.com/specs/openapi.json"


def served(servers: Any, **options: Any) -> str:
    found: str = one({**api({"/x": {"get": {}}}), "servers": servers}, **options)["config"]["url"]
    return found


@pytest.mark.parametrize(
    ("servers", "url"),
    [
        ([{"url": "https://a.example.com"}], "https://a.example.com/x"),
        ([{"url": "https://a.example.com/v1/"}], "https://a.example.com/v1/x"),
        ([{"url": "https://a.example.com/v1?tenant=1"}], "https://a.example.com/v1/x?tenant=1"),
        ([{"url": "ftp://a.example.com"}, {"url": "http://b.example.com"}], "http://b.example.com/x"),
        ([{"url": "http://127.0.0.1:8080/api"}], "http://127.0.0.1:8080/api/x"),
    ],
)
def test_the_first_server_that_can_be_reached_serves(servers: Any, url: str) -> None:
    assert served(servers) == url


def test_variables_are_filled_with_their_defaults() -> None:
    variables = {"region": {"default": "eu"}, "port": {"default": 8443}, "version": {"enum": ["v2", "v1"]}}
    server = {"url": "https://{region}.example.com:{port}/{version}", "variables": variables}
    assert served([server]) == "https://eu.example.com:8443/v2/x"


@pytest.mark.parametrize(
    ("url", "whole"),
    [
        ("/v1", "https://docs.example.com/v1/x"),
        ("v1", "https://docs.example.com/specs/v1/x"),
        ("../v1", "https://docs.example.com/v1/x"),
        ("//api.example.com/v1", "https://api.example.com/v1/x"),
        ("", "https://docs.example.com/x"),
    ],
)
def test_a_relative_server_is_found_from_where_the_document_is(url: str, whole: str) -> None:
    assert served([{"url": url}], source_url=SOURCE) == whole


@pytest.mark.parametrize("servers", [None, []])
def test_without_servers_the_documents_own_host_serves(servers: Any) -> None:
    assert served(servers, source_url=SOURCE) == "https://docs.example.com/x"


def test_paths_and_operations_may_have_servers_of_their_own() -> None:
    paths = {
        "/a": {"get": {"servers": [{"url": "https://op.example.com"}]}, "put": {}, "servers": [{"url": "https://path.example.com"}]},
        "/b": {"get": {}},
    }  # fmt: skip
    urls = [definition["config"]["url"] for definition in import_document(api(paths)).definitions]
    assert urls == ["https://op.example.com/a", "https://path.example.com/a", "https://api.example.com/b"]


def test_a_server_that_is_given_serves_everything() -> None:
    operation = {"servers": [{"url": "https://op.example.com"}]}
    url = "https://mine.example.com/base/"
    assert one(api({"/x": {"get": operation}}), server_url=url)["config"]["url"] == "https://mine.example.com/base/x"
    assert one(swagger({"/x": {"get": {}}}), server_url=url)["config"]["url"] == "https://mine.example.com/base/x"


@pytest.mark.parametrize(
    "url", ["/v1", "ftp://x", "https://user:pass@x", "https://{host}", "https://x/{y}", "https://x/{{secret:K}}", "x"]
)
def test_a_given_server_that_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(Invalid, match="server_url"):
        import_document(api({}), server_url=url)


@pytest.mark.parametrize(
    ("servers", "words"),
    [
        ([{"url": "/v1"}], "its server '/v1' is relative"),
        ([{"url": "wss://x.example.com"}], "is not reached by http or https"),
        ([{"url": "https://{x}.example.com"}], "has no default for {x}"),
        ([{"url": "https://{x}.example.com", "variables": {"x": {"default": {}}}}], "has no default for {x}"),
        ([{"url": "https://user:secret@example.com"}], "may not hold a user or password"),
        ([{"url": "https://example.com/{{secret:KEY}}"}], "has no default"),
        ([{"url": "https://exa mple.com"}], "holds a character that a URL cannot"),
        ([{"url": "https://[::1"}], "is not a URL"),
        ([{"url": 5}], "must be a text, not a number"),
        ([5], "a server must be an object, not a number"),
        ("https://example.com", "servers must be a list, not a text"),
    ],
)
def test_without_a_server_that_can_be_reached_every_operation_is_left_out(servers: Any, words: str) -> None:
    why = reason({**api({"/x": {"get": {}}}), "servers": servers})
    assert words in why
    assert "secret@" not in why


def test_the_reason_says_what_to_give() -> None:
    assert "give server_url" in reason({**api({"/x": {"get": {}}}), "servers": [{"url": "/v1"}]})


def of_host(source: str | None = None, **message: Any) -> str:
    document: Json = {"swagger": "2.0", "paths": {"/x": {"get": {}}}, **message}
    found: str = one(document, source_url=source)["config"]["url"]
    return found


@pytest.mark.parametrize(
    ("message", "url"),
    [
        ({"host": "a.example.com"}, "https://a.example.com/x"),
        ({"host": "a.example.com:81", "basePath": "/v1/", "schemes": ["http"]}, "http://a.example.com:81/v1/x"),
        ({"host": "a.example.com", "basePath": "v1", "schemes": ["http", "https"]}, "https://a.example.com/v1/x"),
        ({"host": "https://a.example.com/"}, "https://a.example.com/x"),
        ({"basePath": "/v1"}, "https://docs.example.com/v1/x"),
    ],
)
def test_swagger_names_host_path_and_schemes(message: Json, url: str) -> None:
    assert of_host(SOURCE, **message) == url


def test_swagger_without_schemes_uses_that_of_the_document() -> None:
    assert of_host("http://docs.example.com/a.json", host="a.example.com") == "http://a.example.com/x"


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({}, "give server_url"),
        ({"host": "a", "schemes": ["ws"]}, "served by ws, not by http or https"),
        ({"host": 5}, "host must be a text"),
        ({"host": "a", "basePath": 5}, "basePath must be a text"),
        ({"host": "a", "schemes": 5}, "schemes must be a list"),
        ({"host": "user:secret@a.com"}, "a user or password"),
    ],
)
def test_swagger_without_a_host_that_can_be_reached_leaves_every_operation_out(message: Json, words: str) -> None:
    assert words in reason({"swagger": "2.0", "paths": {"/x": {"get": {}}}, **message})


def test_a_parameter_that_the_servers_url_sets_is_no_argument() -> None:
    parameters = [{"name": name, "in": "query", "required": True} for name in ("api-version", "page", "role")]
    document = {
        **api({"/x?role=user&page={page}": {"get": {"parameters": parameters}}}),
        "servers": [{"url": "https://api.example.com/?api%2Dversion=7"}],
    }
    definition = one(document)
    assert list(definition["input_schema"]["properties"]) == ["page"]
    assert str(build_request(definition, page="2").url).partition("?")[2] == "role=user&page=2&api%2Dversion=7"
