from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from pegboard.kinds.http.openapi.import_document import import_document
from tests.unit.kinds.http.openapi.make_documents import (
    Json,
    api,
    body,
    build_request,
    import_parameter,
    of,
    one,
    reason,
    ref,
    url,
)

PET = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def test_parameters_bodies_paths_and_responses_may_all_be_references() -> None:
    document = api(
        {"/pets/{id}": {"$ref": "#/components/pathItems/pet"}},
        components={
            "pathItems": {"pet": {"put": {
                "parameters": [{"$ref": "#/components/parameters/id"}],
                "requestBody": {"$ref": "#/components/requestBodies/again"},
                "responses": {"200": {"$ref": "#/components/responses/none"}},
            }}},
            "parameters": {"id": {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}},
            "requestBodies": {
                "again": {"$ref": "#/components/requestBodies/pet"},
                "pet": {"required": True, "content": {"application/json": {"schema": ref("Pet")}}},
            },
            "schemas": {"Pet": PET},
        },
    )  # fmt: skip
    request = build_request(one(document), id=3, name="rex")
    assert (request.url.path, request.body) == ("/pets/3", b'{"name":"rex"}')


def test_a_path_that_refers_to_another_may_add_to_it() -> None:
    parameters = [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}]
    shared: Json = {"x-shared": {"get": {}}}
    document = api({"/a/{id}": {"$ref": "#/x-shared", "parameters": parameters}}, **shared)
    assert one(document)["input_schema"]["properties"] == {"id": {"type": "integer"}}


@pytest.mark.parametrize(
    "reference",
    [
        "#/paths/~1pets~1{id}/get/parameters/0/schema",
        "#/paths/~1pets~1%7Bid%7D/get/parameters/0/schema",
        "#/paths/%7E1pets~1%7bid%7d/get/parameters/0/schema",
        "https://example.com/openapi.json#/paths/~1pets~1%7Bid%7D/get/parameters/0/schema",
        "openapi.json#/paths/~1pets~1%7Bid%7D/get/parameters/0/schema",
    ],
)
def test_every_spelling_of_a_local_reference_is_understood(reference: str) -> None:
    get = {"parameters": [{"name": "id", "in": "path", "schema": {"type": "integer", "minimum": 5}}]}
    query = [{"name": "q", "in": "query", "schema": {"$ref": reference}}]
    found = import_both(api({"/pets/{id}": {"get": get}, "/q": {"get": {"parameters": query}}}))
    schema = found["get_q"]["input_schema"]
    name = schema["properties"]["q"]["$ref"].removeprefix("#/$defs/")
    assert schema["$defs"] == {name: {"type": "integer", "minimum": 5}}


def import_both(document: Json) -> dict[str, Json]:
    found = import_document(document, source_url="https://example.com/openapi.json")
    assert not found.left_out
    return {definition["name"]: definition for definition in found.definitions}


@pytest.mark.parametrize("word", ["$anchor", "$dynamicAnchor"])
def test_a_schema_may_be_named_by_its_anchor(word: str) -> None:
    components = {"schemas": {"A": {word: "here", "type": "integer"}}}
    found = of(
        {"parameters": [{"name": "p", "in": "query", "schema": {"$ref": "#here"}}]}, method="get", components=components
    )
    assert list(found["input_schema"]["$defs"].values()) == [{"type": "integer"}]


def test_a_schema_may_be_named_by_its_own_id() -> None:
    components = {"schemas": {"A": {"$id": "https://example.com/a", "type": "integer"}}}
    assert import_parameter({"$ref": "https://example.com/a"}, components=components)["$ref"].startswith("#/$defs/")


def loop(*names: str) -> Json:
    return {name: ref(after) for name, after in pairwise(names)}


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"$ref": "#/components/schemas/None"}, "'#/components/schemas/None' names nothing in the document"),
        ({"$ref": "#/components/schemas/Text"}, "must be an object, not a text"),
        ({"$ref": "#none"}, "'#none' names nothing"),
        ({"$ref": "#"}, "names the whole document"),
        ({"$ref": 5}, "a $ref must be a text, not a number"),
        ({"$ref": "other.json#/Pet"}, "'other.json#/Pet' is outside the document, and nothing is fetched"),
        ({"$ref": "https://example.com/pet.json"}, "outside the document"),
        ({"$ref": "file:///etc/passwd"}, "outside the document"),
        ({"$ref": "//[bad"}, "outside the document"),
        ({"$ref": "#/components/schemas/A"}, "refers back to itself"),
        ({"items": {"$ref": "#/components/schemas/A"}}, "refers back to itself for the same value"),
        ({"$ref": "#/components/schemas/Text/0"}, "names nothing"),
        ({"$ref": "#/paths/~1x/post/x-list/99999999999"}, "names nothing"),
    ],
)
def test_a_reference_that_leads_nowhere_leaves_its_operation_out_with_the_reason(schema: Any, words: str) -> None:
    components = {"schemas": {**loop("A", "B", "C", "A"), "Text": "text"}}
    operation = {**body(schema), "x-list": [1]}
    document = api({"/x": {"post": operation}, "/fine": {"get": {}}}, components=components)
    source = "https://example.com/openapi.json"
    found = import_document(document, source_url=source)
    assert [definition["name"] for definition in found.definitions] == ["get_fine"]
    assert words in found.left_out[0].reason
    assert found.left_out[0].reason.startswith("POST /x: ")


@pytest.mark.parametrize(
    "operation",
    [
        {"parameters": [{"$ref": "#/components/parameters/a"}]},
        {"requestBody": {"$ref": "#/components/parameters/a"}},
    ],
)
def test_parameters_and_bodies_that_refer_in_a_circle_are_left_out(operation: Json) -> None:
    circle = {"a": {"$ref": "#/components/parameters/b"}, "b": {"$ref": "#/components/parameters/a"}}
    assert "refers back to itself" in reason(api({"/x": {"post": operation}}, components={"parameters": circle}))


def test_a_path_that_refers_elsewhere_is_left_out_as_a_whole() -> None:
    assert "outside the document" in reason(api({"/x": {"$ref": "paths.yaml#/x"}}))


def test_a_chain_of_references_without_end_in_sight_is_given_up() -> None:
    parameters = {f"p{n}": {"$ref": f"#/components/parameters/p{n + 1}"} for n in range(2000)}
    document = api({"/x": {"get": {"parameters": [{"$ref": "#/components/parameters/p0"}]}}})
    assert "more than 64 references" in reason({**document, "components": {"parameters": parameters}})


def test_a_description_beside_a_reference_counts() -> None:
    shared = {"name": "q", "in": "query", "description": "shared", "schema": {"type": "string"}}
    operation = {"parameters": [{"$ref": "#/components/parameters/q", "description": "own"}]}
    found = of(operation, method="get", components={"parameters": {"q": shared}})
    assert found["input_schema"]["properties"]["q"]["description"] == "own"
    assert url(found, q="x") == "/x?q=x"
