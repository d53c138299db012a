"""Files in the bodies of imported operations, and operations with several bodies."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.kinds.http.openapi import request_bodies as bodies_module
from pegboard.kinds.http.openapi.import_document import ImportedDocument, import_document
from pegboard.model.call_errors import InvalidArguments
from tests.unit.kinds.http.openapi.make_documents import Json, api, body, build_request, of, ref, swagger

BINARY: Json = {"type": "string", "format": "binary"}
PNG = {"base64": "AAE=", "filename": "a.png", "content_type": "image/png"}


def import_bodies(**content: Any) -> ImportedDocument:
    """Return the definitions of one operation with these bodies, by media type with `__` for the slash."""
    entries = {name.replace("__", "/").replace("_", "-"): {"schema": schema} for name, schema in content.items()}
    operation = {"operationId": "send", "summary": "Send it.", "requestBody": {"required": True, "content": entries}}
    components = {"schemas": {"Photo": {"type": "object", "properties": {"photo": BINARY, "note": {"type": "string"}}}}}
    return import_document(api({"/x": {"post": operation}}, components=components))


def names(found: ImportedDocument) -> dict[str, Json]:
    """Return the definitions by name; nothing may be left out."""
    assert not found.left_out, found.left_out
    return {each["name"]: each for each in found.definitions}


def test_one_schema_for_json_and_multipart_is_sent_as_multipart_if_it_has_files() -> None:
    made = names(import_bodies(application__json=ref("Photo"), multipart__form_data=ref("Photo")))
    assert list(made) == ["send"]
    data = build_request(made["send"], photo=PNG, note="hi").body or b""
    assert b'name="photo"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n\x00\x01\r\n' in data
    text = {"type": "object", "properties": {"note": {"type": "string"}}}
    assert (
        "body_format" not in names(import_bodies(application__json=text, multipart__form_data=text))["send"]["config"]
    )


def test_a_body_that_carries_something_else_is_a_tool_of_its_own() -> None:
    by_url = {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}
    made = names(import_bodies(application__json=by_url, multipart__form_data=ref("Photo"), image__png=BINARY))
    assert list(made) == ["send", "send_multipart", "send_png"]
    assert build_request(made["send"], url="u").body == b'{"url":"u"}'
    assert b"\x00\x01" in (build_request(made["send_multipart"], photo=PNG).body or b"")
    request = build_request(made["send_png"], body={"base64": "AAE="})
    assert (request.body, request.headers["Content-Type"]) == (b"\x00\x01", "image/png")
    assert made["send"]["description"] == "Send it."
    assert made["send_png"]["description"].endswith("This tool sends the body as image/png.")


def test_text_of_another_type_beside_a_form_is_a_tool_of_its_own() -> None:
    form = {"type": "object", "properties": {"sdp": {"type": "string"}, "session": {"type": "object"}}}
    made = names(import_bodies(multipart__form_data=form, application__sdp={"type": "string"}))
    assert build_request(made["send_sdp"], body="v=0\r\n").body == b"v=0\r\n"
    assert list(made) == ["send", "send_sdp"]


def test_names_of_such_tools_do_not_take_those_of_operations() -> None:
    by_url = {"type": "object", "properties": {"url": {"type": "string"}}}
    content = {"application/json": {"schema": by_url}, "multipart/form-data": {"schema": {"properties": {"f": BINARY}}}}
    operations = {
        "/a": {"post": {"operationId": "send", "requestBody": {"content": content}}},
        "/b": {"get": {"operationId": "Send_Multipart"}},
    }
    found = [each["name"] for each in import_document(api(operations)).definitions]
    assert found == [each["name"] for each in import_document(api(operations)).definitions]
    assert len({name.lower() for name in found}) == 3
    assert {"send", "Send_Multipart"} < set(found)


def test_more_bodies_than_can_be_distinguished_are_left_out_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies_module, "MAX_OTHER_BODIES", 1)
    found = import_bodies(application__json={"type": "object"}, image__png=BINARY, image__gif=BINARY)
    assert [each["name"] for each in found.definitions] == ["send", "send_png"]
    assert [each.reason for each in found.left_out] == [
        "without its body as image/gif: at most 2 tools are made of one operation"
    ]


@pytest.mark.parametrize("word", ["anyOf", "oneOf"])
def test_files_among_alternatives_and_behind_references_are_files(word: str) -> None:
    schema = {
        "type": "object",
        "properties": {"image": {word: [ref("Bytes"), {"type": "array", "items": ref("Bytes")}, ref("Link")]}},
    }
    link = {"type": "object", "properties": {"url": {"type": "string"}}}
    made = of(body(schema, "multipart/form-data"), components={"schemas": {"Bytes": BINARY, "Link": link}})
    for image in (PNG, [PNG, PNG]):
        data = build_request(made, image=image).body or b""
        assert data.count(b'filename="a.png"') == (2 if isinstance(image, list) else 1)
    assert b'{"url":"u"}' in (build_request(made, image={"url": "u"}).body or b"")


def test_files_in_a_form_that_cannot_be_taken_apart_are_files() -> None:
    schema = {"oneOf": [{"type": "object", "properties": {"f": BINARY}, "required": ["f"]}]}
    data = build_request(of(body(schema, "multipart/form-data")), body={"f": PNG}).body or b""
    assert b'name="f"; filename="a.png"' in data


def test_a_body_of_bytes_is_a_file_and_a_pattern_lets_the_argument_name_its_type() -> None:
    made = of(body(BINARY, "image/*"))
    request = build_request(made, body={"base64": "AAE=", "content_type": "image/webp"})
    assert (request.body, request.headers["Content-Type"]) == (b"\x00\x01", "image/webp")
    assert build_request(made, body={"text": "a"}).headers["Content-Type"] == "application/octet-stream"
    for wrong in ("text", {"base64": "?"}, {"text": "a", "content_type": "a/b\r\nX: y"}, {"text": "a", "base64": ""}):
        with pytest.raises(InvalidArguments):
            build_request(made, body=wrong)
    fixed = of(body(BINARY, "application/octet-stream"))
    with pytest.raises(InvalidArguments):
        build_request(fixed, body={"text": "a", "content_type": "text/html"})


@pytest.mark.parametrize("filename", ['a"; name="evil', "a\\", "ü.png", "a;b"])
def test_a_file_name_cannot_begin_another_header_or_parameter(filename: str) -> None:
    made = of(body({"type": "object", "properties": {"f": BINARY}}, "multipart/form-data"))
    data = build_request(made, f={"text": "x", "filename": filename}).body or b""
    head = data.partition(b"\r\n\r\n")[0]
    assert head.count(b'"') == 4
    with pytest.raises(InvalidArguments):
        build_request(made, f={"text": "x", "filename": "a\r\nContent-Type: text/html"})


def test_types_that_a_generator_lists_for_one_object_are_one_tool() -> None:
    operation = {
        "consumes": ["application/json", "application/octet-stream", "image/png"],
        "parameters": [
            {"name": "b", "in": "body", "schema": {"type": "object", "properties": {"a": {"type": "string"}}}}
        ],
    }
    found = import_document(swagger({"/x": {"post": operation}}))
    assert len(found.definitions) == 1
    assert not found.left_out
