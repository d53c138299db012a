from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegboard.json_schema.compile import check_schema
from pegboard.json_schema.storable_json import find_unstorable
from pegboard.kinds.http.openapi.api_operations import make_left_out
from pegboard.kinds.http.openapi.document_references import DocumentReferences
from pegboard.kinds.http.openapi.import_document import ImportedDocument, import_document
from pegboard.model.api_errors import Invalid
from pegboard.registry.tool_create import read_definition
from tests.unit.kinds.http.openapi.full_documents import old, openapi
from tests.unit.kinds.http.openapi.make_documents import METHODS, Json, api, body

WORDS = [
    "", "#", "#/paths", "#/components/schemas/Pet", "#/components/schemas/None", "https://example.com/x", "file:///x",
    "/", "{", "{{secret:KEY}}", "\0", "\ud800", "(", "string", "null", "json", "form", "path", "body", "a" * 300, "ünï",
]  # fmt: skip
KEYS = [*WORDS, "$ref", "type", "get", "schema", "allOf", "name", "in"]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=6,
)
DOCUMENTS = (openapi("3.0.3"), openapi("3.1.0"), old())


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(node, dict | list):
        for key, item in node.items() if isinstance(node, dict) else enumerate(node):
            yield from places(item, (*path, key))


def put(document: Json, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    changed = copy.deepcopy(document)
    node: Any = changed
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = value
    return changed


def nothing_is_dropped(document: Any, found: ImportedDocument) -> None:
    """Assert that each operation is a definition, or is reported as left out by its route or its whole path."""
    reasons = [item.reason for item in found.left_out]
    kept = 0
    for path, item in document["paths"].items():
        if make_left_out(path, "").name in {other.name for other in found.left_out} or path.startswith("x-"):
            continue
        methods = DocumentReferences(document).resolve_object(item, path).keys() | item.keys()
        for method in methods & set(METHODS):
            kept += not any(text.startswith(make_left_out("", f"{method.upper()} {path}: ").reason) for text in reasons)
    assert len(found.definitions) == kept


def sound(definition: Json) -> None:
    """Assert that the definition can be registered unchanged, and contains no OpenAPI keywords."""
    read_definition(definition)
    check_schema(definition["input_schema"], where="input_schema")
    assert not find_unstorable(definition)
    assert "{{" not in str(definition["config"])


@pytest.mark.parametrize("number", range(len(DOCUMENTS)))
def test_the_documents_themselves_are_imported_whole(number: int) -> None:
    found = import_document(DOCUMENTS[number])
    nothing_is_dropped(DOCUMENTS[number], found)
    names = {item.name for item in found.left_out}
    assert names <= {"TRACE /moved", "webhooks", "delete_pets_by_id", "upload", "patch_files", "post_pets_by_id"}
    assert len(found.definitions) == (3, 7, 7)[number - 2]


@pytest.mark.parametrize("number", range(len(DOCUMENTS)))
@given(data=st.data())
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_anything_in_place_of_any_node_is_refused_or_left_out_and_never_drops_an_operation_silently(
    number: int, data: st.DataObject
) -> None:
    whole = DOCUMENTS[number]
    path = data.draw(st.sampled_from(list(places(whole))))
    document = put(whole, path, data.draw(ANYTHING))
    if not isinstance(document, dict):
        return
    try:
        found = import_document(document)
    except Invalid:
        return
    nothing_is_dropped(document, found)
    for definition in found.definitions:
        sound(definition)


@pytest.mark.parametrize("text", ["\0", "\ud800", "\u2028", "\u202e", "'\"<script>", "x" * 100_000])
def test_odd_texts_do_no_harm_anywhere(text: str) -> None:
    operation = {
        "operationId": text,
        "summary": text,
        "description": text,
        "tags": [text],
        "parameters": [{"name": "q", "in": "query", "description": text, "example": text, "schema": {"title": text}}],
    }
    document = {**api({"/x": {"post": {**operation, **body({"description": text})}}}), "info": {"title": text}}
    [definition] = import_document(document).definitions
    sound(definition)


@pytest.mark.parametrize("text", ["\0", "\ud800"])
def test_data_that_cannot_be_stored_leaves_its_operation_out_and_the_reason_can_be_sent(text: str) -> None:
    for operation in (
        body({"enum": [text]}),
        body({"type": "object", "properties": {text: {"type": "string"}}, "required": [text]}),
        {"parameters": [{"name": "q" + text, "in": "query", "required": True, "style": text}]},
    ):
        found = import_document(api({"/x" + text: {"post": operation}, "/fine": {"get": {}}}))
        assert [definition["name"] for definition in found.definitions if "fine" in definition["name"]]
        for item in found.left_out:
            assert (item.name + item.reason).encode()
            assert "\0" not in item.name + item.reason


def test_keys_that_are_no_texts_are_reported() -> None:
    odd: Any = {
        5: {"get": {}},
        "/a": {"get": {"responses": {200: {}}}, 7: {}},
        "/b": {"post": body({"type": "object", "properties": {1: {}}})},
        "/c": {"post": {"requestBody": {"required": True, "content": {1: {}}}}},
    }
    found = import_document(api(odd))
    assert [definition["name"] for definition in found.definitions] == ["get_a"]
    assert {item.name: item.reason for item in found.left_out} == {
        "5": "a path must be a text, not a number",
        "7 /a": "a path has no '7'",
        "post_b": "POST /b: properties in its body has a name that is not a text",
        "post_c": "POST /c: its body is required, and '1' is not a media type",
    }


def test_nothing_in_a_document_can_name_a_secret_of_the_importer() -> None:
    secret = "{{secret:KEY}}"
    parameters = [{"name": secret, "in": place} for place in ("query", "header", "cookie")]
    form = {"type": "object", "properties": {secret: {"type": "string"}, "a": {"type": "string"}}}
    paths = {
        f"/{secret}/a": {"get": {"parameters": parameters}},
        "/b": {"post": body(form)},
        "/c": {"post": body(form, "multipart/form-data", encoding={"a": {"contentType": secret}})},
        "/d": {"post": body({}, f"application/{secret}+json")},
        "/e": {"get": {"servers": [{"url": f"https://example.com/{secret}"}]}},
        "/f": {"get": {"servers": [{"url": "https://{a}", "variables": {"a": {"default": f"x/{secret}"}}}]}},
    }
    found = import_document(api(paths))
    assert all(secret not in str(definition["config"]) for definition in found.definitions)
    nothing_is_dropped(api(paths), found)
