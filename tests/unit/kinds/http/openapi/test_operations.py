from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from pegboard.kinds.http.openapi.import_document import LeftOut, import_document
from pegboard.model.api_errors import Invalid
from tests.unit.kinds.http.openapi.full_documents import openapi
from tests.unit.kinds.http.openapi.make_documents import METHODS, Json, api, of, one


def names(document: Json, **options: Any) -> list[str]:
    return [definition["name"] for definition in import_document(document, **options).definitions]


def test_a_definition_says_everything_there_is_to_say() -> None:
    operation = {
        "operationId": "getPet",
        "summary": "Get a pet",
        "description": "By its id.\n\n* never fails",
        "tags": ["pets", "pets", "read"],
        "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
        "responses": {},
    }
    assert of(operation, path="/pets/{id}", method="get") == {
        "name": "getPet",
        "description": "Get a pet\n\nBy its id.\n\n* never fails",
        "display_name": "Get a pet",
        "tool_type": "http",
        "input_schema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {"id": {"type": "integer"}},
            "required": ["id"],
        },
        "config": {"url": "https://api.example.com/pets/{id}", "method": "GET"},
        "tags": ["pets", "read", "openapi:made"],
        "read_only": True,
        "idempotent": True,
        "destructive": False,
    }


def test_each_method_says_what_running_it_does() -> None:
    found = import_document(api({"/x": {method: {} for method in METHODS}})).definitions
    flags = ("read_only", "idempotent", "destructive")
    values = {each["config"]["method"]: [flag for flag in flags if each[flag]] for each in found}
    assert values == {
        "GET": ["read_only", "idempotent"],
        "HEAD": ["read_only", "idempotent"],
        "OPTIONS": ["read_only", "idempotent"],
        "PUT": ["idempotent"],
        "DELETE": ["idempotent", "destructive"],
        "POST": [],
        "PATCH": [],
    }


@pytest.mark.parametrize(
    ("message", "description"),
    [
        ({"summary": "List", "description": "List"}, "List"),
        ({"summary": "List pets.", "description": "List pets. All of them."}, "List pets. All of them."),
        ({"summary": " a ", "deprecated": True}, "Deprecated. a"),
        ({"description": "b\r\nc "}, "b\nc"),
        ({}, "POST /x"),
        ({"summary": 5, "description": ["x"]}, "POST /x"),
    ],
)
def test_the_description_is_the_summary_and_what_follows(message: Json, description: str) -> None:
    assert of(message)["description"] == description


def test_an_operation_that_says_nothing_is_described_as_its_path_is() -> None:
    definition = one(api({"/x": {"summary": "Things", "get": {}}}))
    assert (definition["description"], definition["display_name"]) == ("Things", None)


def test_long_texts_are_cut_readably() -> None:
    definition = of(
        {"summary": "A word " * 100, "description": "A sentence. " * 500, "tags": ["t" * 100, "", 5, *"ab"]}
    )
    assert len(definition["description"]) <= 2000
    assert definition["description"].endswith("A sentence. …")
    assert len(definition["display_name"]) <= 255
    assert definition["display_name"].endswith("word…")
    assert [len(tag) for tag in definition["tags"]] == [63, 1, 1, 12]


def test_no_more_tags_are_kept_than_a_tool_may_have() -> None:
    definition = of({"tags": [f"t{n}" for n in range(100)]})
    assert len(definition["tags"]) == 64
    assert definition["tags"][-1] == "openapi:made"


PATHS = {
    "/pets": {
        "get": {"operationId": "listPets", "tags": ["pets"]},
        "post": {"operationId": "addPet", "tags": ["pets"]},
    },
    "/pets/{id}": {"get": {"tags": ["pets"]}, "trace": {}},
    "/shops": {"get": {"operationId": "shops/list"}, "put": "broken"},
}


@pytest.mark.parametrize(
    ("include", "taken"),
    [
        (["listPets"], ["listPets"]),
        (["LISTpets"], ["listPets"]),
        (["*Pet"], ["addPet"]),
        (["pets"], ["listPets", "addPet", "get_pets_by_id"]),
        (["GET /pets*"], ["listPets", "get_pets_by_id"]),
        (["get /pets/{id}"], ["get_pets_by_id"]),
        (["shops/*"], ["shops_list"]),
        (["shops_list", "addPet"], ["addPet", "shops_list"]),
    ],
)
def test_only_what_is_asked_for_is_imported_and_the_rest_is_not_mentioned(include: list[str], taken: list[str]) -> None:
    found = import_document(api(PATHS), include=include)
    assert [definition["name"] for definition in found.definitions] == taken
    assert found.left_out == ()


def test_what_was_asked_for_and_cannot_be_had_is_mentioned() -> None:
    left_out = import_document(api(PATHS), include=["TRACE *", "put /shops", "nothing_*"]).left_out
    assert [item.name for item in left_out] == ["TRACE /pets/{id}", "put_shops", "nothing_*"]
    assert left_out[2].reason == "no operation has a name, a route or a tag like this"


@pytest.mark.parametrize("include", ["pets", [""], [5]])
def test_patterns_must_be_a_list_of_texts(include: Any) -> None:
    with pytest.raises(Invalid, match="include"):
        import_document(api(PATHS), include=include)


def test_whatever_is_no_operation_is_left_out_with_the_reason() -> None:
    paths = {
        "/a": {"trace": {}, "query": {}, "GET": {}, "fetch": {}, "x-more": {}, "additionalOperations": {"COPY": {}}},
        "/b": "text",
        "/c": {"get": [], "post": None},
        "x-paths": {"get": {}},
    }
    assert import_document(api(paths, webhooks={"w": {}})).left_out == (
        LeftOut("TRACE /a", "tools do not send TRACE requests"),
        LeftOut("QUERY /a", "tools do not send QUERY requests"),
        LeftOut("GET /a", "methods are written in lower case"),
        LeftOut("FETCH /a", "a path has no 'fetch'"),
        LeftOut("COPY /a", "tools do not send COPY requests"),
        LeftOut("/b", "a path must be an object, not a text"),
        LeftOut("get_c", "GET /c: an operation must be an object, not a list"),
        LeftOut("post_c", "POST /c: an operation must be an object, not null"),
        LeftOut("webhooks", "they are requests that the API sends, and tools only send to it"),
    )


def test_callbacks_are_mentioned() -> None:
    found = import_document(api({"/a": {"post": {"callbacks": {"done": {}}}}}))
    assert len(found.definitions) == 1
    assert found.left_out == (
        LeftOut("post_a", "without callbacks: they are requests that the API sends, and tools only send to it"),
    )


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({}, "This is not an API document"),
        ({"swaggerVersion": "1.2"}, "This is not an API document"),
        ({"openapi": "4.0.0", "paths": {}}, "openapi: '4.0.0' is not supported"),
        ({"openapi": None, "paths": {}}, "openapi: 'None' is not supported"),
        ({"swagger": "1.2", "paths": {}}, "swagger: '1.2' is not supported"),
        ({"openapi": "3.1.0"}, "paths: is missing"),
        ({"openapi": "3.1.0", "paths": []}, "paths: must be an object, not a list"),
    ],
)
def test_what_is_no_api_document_is_refused(document: Json, words: str) -> None:
    with pytest.raises(Invalid) as caught:
        import_document(document)
    assert words in caught.value.message


@pytest.mark.parametrize("version", ["3.0.0", "3.0.4", "3.1.0", "3.1", "3.2.0", 3.1])
def test_every_version_from_3_0_on_is_read(version: Any) -> None:
    assert names(api({"/a": {"get": {}}}, version)) == ["get_a"]


def test_the_title_names_the_source() -> None:
    found = import_document({**api({"/a": {"get": {}}}), "info": {"title": " Pet\n Shop "}})
    assert (found.title, found.definitions[0]["tags"]) == ("Pet Shop", ["openapi:pet-shop"])
    assert found.definitions[0]["tags"] == ["openapi:pet-shop"]
    assert import_document({**api({}), "info": 5}).title == "API"


def test_progress_is_reported_for_each_operation() -> None:
    received: list[tuple[int, int]] = []
    import_document(api(PATHS), on_progress=lambda done, total: received.append((done, total)))
    assert list(dict.fromkeys(each for each in received if each[0])) == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_the_progress_callback_may_end_the_import() -> None:
    def stop(done: int, total: int) -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        import_document(api(PATHS), on_progress=stop)


def test_the_document_is_left_as_it_was() -> None:
    document = openapi("3.0.3")
    before = deepcopy(document)
    import_document(document)
    assert document == before
