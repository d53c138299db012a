from __future__ import annotations

from typing import Any

import pytest

from pegboard.kinds.http.openapi.import_document import import_document
from pegboard.model.api_errors import Invalid
from tests.unit.kinds.http.openapi.make_documents import Json, api, build_request, one, swagger

BEARER = {"type": "bearer", "token": "t0ken-text"}
KEY = {"type": "api_key", "api_key": "k3y-text"}


def scheme(place: str, name: Any = "X-Own", kind: str = "apiKey") -> Json:
    return {"securitySchemes": {"own": {"type": kind, "in": place, "name": name}}}


def authorised(document: Json, auth: Any = BEARER) -> set[str]:
    found = import_document(document, auth_config=auth)
    assert not found.left_out
    return {definition["name"] for definition in found.definitions if definition.get("auth_config")}


def test_operations_that_declare_security_get_the_credentials() -> None:
    paths = {
        "/a": {"get": {}},
        "/b": {"get": {"security": []}},
        "/c": {"get": {"security": [{}]}},
        "/d": {"get": {"security": [{}, {"own": []}]}},
        "/e": {"get": {"security": [{"own": []}]}},
        "/f": {"get": {"security": None}},
    }
    everywhere: Json = {"security": [{"own": []}], "components": scheme("header")}
    assert authorised(api(paths, **everywhere)) == {"get_a", "get_d", "get_e", "get_f"}
    assert authorised(api(paths)) == {"get_d", "get_e"}
    assert authorised(swagger(paths, security=[{"own": []}])) == {"get_a", "get_d", "get_e", "get_f"}


def test_all_operations_get_the_credentials_if_no_security_is_declared() -> None:
    paths: Json = {"/a": {"get": {}}, "/b": {"post": {}}}
    assert authorised(api(paths, components=scheme("header"))) == {"get_a", "post_b"}
    assert authorised(api(paths), None) == set()


def test_what_is_not_included_may_still_declare_security() -> None:
    paths = {"/a": {"get": {}}, "/b": {"get": {"security": [{"own": []}]}}}
    [definition] = import_document(api(paths), include=["get_a"], auth_config=BEARER).definitions
    assert "auth_config" not in definition


@pytest.mark.parametrize("document", [api, swagger])
def test_a_key_goes_where_the_document_says(document: Any) -> None:
    def placed(place: str, name: str = "X-Own") -> Json:
        held: Json = {"securityDefinitions": scheme(place, name)["securitySchemes"]}
        message = held if document is swagger else {"components": scheme(place, name)}
        found: Json = one(document({"/x": {"get": {}}}, **message), auth_config=KEY)
        return found

    assert build_request(placed("header")).headers["X-Own"] == "k3y-text"
    assert build_request(placed("query", "k[]")).url.query_string == "k[]=k3y-text"
    assert build_request(placed("cookie", "sid")).headers["Cookie"] == "sid=k3y-text"


def test_the_scheme_that_an_operation_names_comes_first() -> None:
    schemes = {
        "a": {"type": "apiKey", "in": "header", "name": "X-A"},
        "b": {"$ref": "#/components/securitySchemes/c"},
        "c": {"type": "apiKey", "in": "query", "name": "c"},
        "oauth": {"type": "oauth2"},
    }
    paths: Json = {
        "/x": {"get": {"security": [{"oauth": []}, {"b": []}]}},
        "/y": {"get": {"security": [{"oauth": []}]}},
    }
    found = import_document(api(paths, components={"securitySchemes": schemes}), auth_config=KEY)
    first, second = (definition["auth_config"] for definition in found.definitions)
    assert first == {**KEY, "query_name": "c"}
    assert second == {**KEY, "header_name": "X-A"}


def test_a_key_whose_place_is_given_stays_there() -> None:
    for given in ({"header_name": "X-Mine"}, {"query_name": "mine"}):
        definition = one(api({"/x": {"get": {}}}, components=scheme("header")), auth_config={**KEY, **given})
        assert definition["auth_config"] == {**KEY, **given}


@pytest.mark.parametrize("name", ["{{secret:OTHER}}", "a b", "Host", "", 5, "x\r\ny"])
def test_a_name_that_no_header_can_have_is_passed_over(name: Any) -> None:
    assert one(api({"/x": {"get": {}}}, components=scheme("header", name)), auth_config=KEY)["auth_config"] == KEY


def test_a_reference_to_a_secret_in_the_document_is_never_taken_for_the_importers() -> None:
    document = api({"/x": {"get": {}}}, components=scheme("query", "{{secret:OTHER}}"))
    assert one(document, auth_config=KEY)["auth_config"] == KEY


@pytest.mark.parametrize(
    ("auth", "place", "name"),
    [
        ({**KEY, "query_name": "token"}, "query", "token"),
        ({**KEY, "header_name": "X-Token"}, "header", "x-token"),
        (KEY, "header", "x-api-key"),
        ({"type": "custom", "headers": {"X-Token": "v"}}, "header", "X-Token"),
        ({"type": "custom", "custom": {"X-Token": "v"}}, "header", "X-Token"),
        ({"type": "custom", "custom": {"cookies": {"sid": "v"}}}, "cookie", "sid"),
        ({**BEARER, "query": {"key": "v"}}, "query", "key"),
    ],
)
def test_what_the_credentials_fill_is_not_asked_of_the_model(auth: Json, place: str, name: str) -> None:
    parameters = [{"name": name, "in": place, "required": True}, {"name": "other", "in": place}]
    definition = one(api({"/x": {"get": {"parameters": parameters}}}), auth_config=auth)
    assert list(definition["input_schema"]["properties"]) == ["other"]
    without = one(api({"/x": {"get": {"parameters": parameters}}}))
    assert list(without["input_schema"]["properties"]) == [name, "other"]


@pytest.mark.parametrize(
    "auth", [{}, {"type": "magic"}, {"type": "bearer"}, {**KEY, "header_name": "a", "query_name": "b"}]
)
def test_credentials_that_are_none_are_refused(auth: Json) -> None:
    with pytest.raises(Invalid, match="auth_config"):
        import_document(api({"/x": {"get": {}}}), auth_config=auth)


def test_credentials_are_for_the_origin_of_the_document_and_never_for_another_that_one_operation_names() -> None:
    elsewhere = {"get": {"servers": [{"url": "https://elsewhere.example.net/v1"}]}}
    same = {"get": {"servers": [{"url": "https://API.example.com/v2"}]}}
    document = api({"/a": {"get": {}}, "/b": elsewhere, "/c": same}, servers=[{"url": "https://api.example.com/v1"}])
    found = import_document(document, auth_config=BEARER)
    assert {each["name"] for each in found.definitions if "auth_config" in each} == {"get_a", "get_c"}
    [note] = found.left_out
    assert note.name == "get_b"
    assert "another origin" in note.reason
    chosen = import_document(document, auth_config=BEARER, server_url="https://elsewhere.example.net/v1")
    assert all("auth_config" in each for each in chosen.definitions)


def test_the_credentials_are_for_the_first_server_if_none_is_named_for_all() -> None:
    paths = {
        path: {"get": {"servers": [{"url": f"https://{host}.example.com"}]}}
        for path, host in (("/a", "one"), ("/b", "two"), ("/c", "one"))
    }
    found = import_document({"openapi": "3.1.0", "info": {"title": "T"}, "paths": paths}, auth_config=BEARER)
    assert {each["name"] for each in found.definitions if "auth_config" in each} == {"get_a", "get_c"}


def placed(servers: list[str], source: str | None = None, **options: Any) -> tuple[str, bool, list[str]]:
    """Return the URL of the one operation, whether it has the credentials, and the notes."""
    document = api({"/a": {"get": {}}}, servers=[{"url": url} for url in servers])
    found = import_document(document, auth_config=BEARER, source_url=source, **options)
    [definition] = found.definitions
    return definition["config"]["url"], "auth_config" in definition, [item.reason for item in found.left_out]


UNENCRYPTED = "without its credentials: it would send them unencrypted; give server_url"


def test_the_usual_port_makes_no_other_origin() -> None:
    for whole, own in (("https://h.example.com", "https://H.example.com:443/v2"), ("http://h:80", "http://h/v2")):
        paths = {"/a": {"get": {"servers": [{"url": own}]}}}
        found = import_document(api(paths, servers=[{"url": whole}]), auth_config=BEARER)
        assert "auth_config" in found.definitions[0]
        assert not found.left_out


def test_a_server_is_reached_by_https_if_that_is_offered_too() -> None:
    url, has_credentials, notes = placed(
        ["http://h.example.com/v1", "https://x.example.com", "https://h.example.com/v1"]
    )
    assert (url, has_credentials, notes) == ("https://h.example.com/v1/a", True, [])


def test_credentials_are_never_sent_unencrypted_if_the_document_knows_better() -> None:
    assert placed(["http://h.example.com/v1", "https://h.example.com/v2"]) == (
        "http://h.example.com/v1/a",
        False,
        [UNENCRYPTED],
    )
    assert placed(["http://h.example.com"], "https://docs.example.com/x")[1:] == (False, [UNENCRYPTED])
    paths = {"/a": {"get": {"servers": [{"url": "http://api.example.com"}]}}}
    found = import_document(api(paths), auth_config=BEARER)
    assert [item.reason for item in found.left_out] == [UNENCRYPTED]
    old = import_document(swagger({"/a": {"get": {"schemes": ["http"]}}}, schemes=["https"]), auth_config=BEARER)
    assert [item.reason for item in old.left_out] == [UNENCRYPTED]


def test_credentials_go_to_a_plain_server_if_it_is_the_only_one_or_was_given() -> None:
    assert placed(["http://127.0.0.1:8080"], "http://127.0.0.1:8080/openapi.json")[1:] == (True, [])
    assert placed(["http://h.example.com"])[1:] == (True, [])
    assert placed(["https://api.example.net"], "https://docs.example.com/x")[1:] == (True, [])
    given = placed(["https://h.example.com"], "https://docs.example.com/x", server_url="http://h.example.com")
    assert given[1:] == (True, [])
