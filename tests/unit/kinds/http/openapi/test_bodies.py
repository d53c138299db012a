from __future__ import annotations

from typing import Any

import pytest

from pegboard.kinds.http.openapi.import_document import ImportedDocument, import_document
from pegboard.model.call_errors import InvalidArguments
from tests.unit.kinds.http.openapi.make_documents import Json, api, body, build_request, list_notes, of, reason, ref

PET = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "default": 1}},
    "required": ["name"],
}


def import_bodies(*media_types: str, schema: Any = None, required: bool = True, **schemas: Any) -> Json:
    content: Json = {each: {"schema": PET if schema is None else schema} for each in media_types}
    return {"requestBody": {"required": required, "content": content | {k: {"schema": v} for k, v in schemas.items()}}}


def imported(operation: Json, **others: Any) -> ImportedDocument:
    return import_document(api({"/x": {"post": operation}}, **others))


def test_an_object_becomes_the_tools_own_parameters() -> None:
    definition = of(body(PET))
    assert definition["input_schema"]["properties"] == PET["properties"]
    assert definition["input_schema"]["required"] == ["name"]
    assert definition["config"] == {"url": "https://api.example.com/x", "method": "POST"}
    assert build_request(definition, name="rex").body == b'{"name":"rex","age":1}'


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "string"}},
        {"type": "string"},
        {"oneOf": [PET, {"type": "object", "properties": {"id": {"type": "integer"}}}]},
        {"anyOf": [PET]},
        {**PET, "minProperties": 2},
        {**PET, "patternProperties": {"^x": {}}},
        {"type": "object"},
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {},
        True,
        {**PET, "discriminator": {"propertyName": "name"}},
    ],
)
def test_any_other_body_becomes_one_parameter(schema: Any) -> None:
    definition = of({**body(schema), "parameters": [{"name": "q", "in": "query"}]})
    assert list(definition["input_schema"]["properties"]) == ["q", "body"]
    assert definition["input_schema"]["required"] == ["body"]
    assert definition["config"]["body_param"] == "body"
    assert "params_in" not in definition["config"]


def test_the_one_parameter_is_the_whole_body() -> None:
    operation = {**body({"type": "array", "items": {"type": "integer"}}), "parameters": [{"name": "q", "in": "query"}]}
    request = build_request(of(operation), body=[1, 2], q="x")
    assert (request.body, request.url.query_string) == (b"[1,2]", "q=x")


def test_the_one_parameter_gives_way_to_another_of_its_name() -> None:
    operation = {**body({"type": "array"}), "parameters": [{"name": "body", "in": "query"}]}
    definition = of(operation)
    request = build_request(definition, body="q", request_body=[1])
    assert (request.body, request.url.query_string) == (b"[1]", "body=q")


def test_parts_of_an_allof_are_taken_together() -> None:
    base = {"type": "object", "properties": {"id": {"type": "string"}, "name": {"minLength": 1}}}
    schema = {"allOf": [ref("Base"), {"allOf": [PET]}], "properties": {"more": {"type": "string"}}, "required": ["id"]}
    found = of(body(schema), components={"schemas": {"Base": base}})["input_schema"]
    assert found["properties"] == {
        "id": {"type": "string"},
        "name": {"allOf": [{"minLength": 1}, {"type": "string"}]},
        "age": {"type": "integer", "default": 1},
        "more": {"type": "string"},
    }
    assert found["required"] == ["id", "name"]


@pytest.mark.parametrize("rest", [True, False, {"type": "integer"}])
def test_what_is_reported_of_further_fields_holds_for_the_tool(rest: Any) -> None:
    definition = of(body({**PET, "additionalProperties": rest}))
    if rest is False:
        with pytest.raises(InvalidArguments):
            build_request(definition, name="rex", other=5)
    else:
        assert build_request(definition, name="rex", age=2, other=5).body == b'{"name":"rex","age":2,"other":5}'


def test_further_fields_of_a_body_in_a_delete_need_the_body_whole() -> None:
    operation = {**body({**PET, "additionalProperties": True}), "operationId": "remove"}
    definition = of(operation, method="delete")
    assert definition["config"]["body_param"] == "body"
    assert build_request(of(body(PET), method="delete"), name="rex", age=2).body == b'{"name":"rex","age":2}'


def test_without_its_optional_body_a_call_sends_none() -> None:
    definition = of(body(PET, required=False))
    assert "required" not in definition["input_schema"]
    assert definition["input_schema"]["properties"]["age"] == {"type": "integer", "description": "Default: 1"}
    assert build_request(definition).body is None
    assert build_request(definition, name="rex").body == b'{"name":"rex"}'
    with pytest.raises(InvalidArguments, match="name"):
        build_request(definition, age=2)


def test_an_optional_body_with_very_many_needed_fields_stays_whole() -> None:
    many = {f"f{n}": {"type": "string"} for n in range(30)}
    definition = of(body({"type": "object", "properties": many, "required": list(many)}, required=False))
    assert definition["config"]["body_param"] == "body"
    assert "required" not in definition["input_schema"]


def test_a_required_body_is_sent_even_when_it_is_empty() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    assert build_request(of(body(schema))).body == b"{}"
    assert build_request(of(body(schema, required=False))).body is None


def test_json_is_preferred_then_a_form_then_parts_then_text() -> None:
    kinds = [
        "text/plain",
        "multipart/form-data",
        "application/x-www-form-urlencoded",
        "application/vnd.x+json",
        "application/json",
    ]
    formats = []
    for count in range(len(kinds), 0, -1):
        [definition] = imported(import_bodies(*kinds[:count])).definitions
        formats.append((definition["config"].get("body_format"), definition["config"].get("content_type")))
    assert formats == [
        (None, None),
        (None, "application/vnd.x+json"),
        ("form", None),
        ("multipart", None),
        ("text", None),
    ]


@pytest.mark.parametrize("media_type", ["application/json; charset=utf-8", "*/*", "application/*", "APPLICATION/JSON"])
def test_json_is_recognised_in_any_spelling(media_type: str) -> None:
    assert build_request(of(import_bodies(media_type)), name="rex").headers["Content-Type"] == "application/json"


def test_the_content_type_of_other_json_is_sent() -> None:
    request = build_request(of(import_bodies("application/merge-patch+json")), name="rex")
    assert request.headers["Content-Type"] == "application/merge-patch+json"


def test_another_media_type_has_a_separate_tool_only_if_its_content_differs() -> None:
    same = import_bodies("application/json", "application/xml", "application/x-www-form-urlencoded", "text/plain")
    assert list_notes(imported(same)) == []
    binary = {"type": "string", "format": "binary"}
    photo = {"type": "object", "properties": {"name": {"type": "string"}, "photo": binary}}
    others: Json = {"multipart/form-data": photo, "image/png": binary}
    richer = imported(import_bodies("application/json", **others))
    assert not richer.left_out
    assert [each["name"] for each in richer.definitions] == ["post_x", "post_x_multipart", "post_x_png"]


def test_a_form_is_written_as_its_encoding_says() -> None:
    schema = {
        "type": "object",
        "properties": {
            "tags": {"type": "array", "items": {"type": "string"}},
            "more": {"type": "array", "items": {"type": "string"}},
            "point": {"type": "object"},
            "meta": {"type": "object"},
        },
    }
    encoding = {
        "more": {"explode": False},
        "point": {"style": "deepObject", "explode": True},
        "meta": {"contentType": "application/json"},
    }
    definition = of(body(schema, "application/x-www-form-urlencoded", encoding=encoding))
    request = build_request(definition, tags=["a", "b"], more=["c", "d"], point={"x": 1}, meta={"y": 2})
    assert request.body == b"tags=a&tags=b&more=c,d&point%5Bx%5D=1&meta=%7B%22y%22%3A2%7D"
    assert request.headers["Content-Type"] == "application/x-www-form-urlencoded"


def test_files_of_a_form_are_objects_with_their_bytes() -> None:
    schema = {
        "type": "object",
        "required": ["file"],
        "properties": {
            "file": {"type": "string", "format": "binary", "description": "The picture"},
            "others": {"type": "array", "items": {"type": "string", "contentMediaType": "application/octet-stream"}},
            "meta": {"type": "object"},
            "title": {"type": "string"},
        },
    }
    encoding = {
        "file": {"contentType": "image/png"},
        "meta": {"contentType": "application/json"},
        "title": {"contentType": "text/*"},
    }
    definition = of(body(schema, "multipart/form-data", encoding=encoding))
    assert definition["input_schema"]["properties"]["file"]["description"] == "The picture"
    assert definition["config"]["part_types"] == {"file": "image/png", "meta": "application/json"}
    file, other = {"base64": "AAE="}, {"text": "hi", "filename": "hi.txt"}
    data = build_request(definition, file=file, others=[other], meta={"a": 1}, title="T").body or b""
    assert b'name="file"; filename="file"\r\nContent-Type: image/png\r\n\r\n\x00\x01' in data
    assert b'name="others"; filename="hi.txt"' in data
    assert b'name="meta"\r\nContent-Type: application/json\r\n\r\n{"a":1}' in data
    with pytest.raises(InvalidArguments):
        build_request(definition, file={"base64": "AAE=", "text": "both"})


def test_a_form_that_cannot_be_taken_apart_is_one_parameter_too() -> None:
    schema = {"oneOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}]}
    assert build_request(of(body(schema, "application/x-www-form-urlencoded")), body={"a": "x y"}).body == b"a=x%20y"


@pytest.mark.parametrize("media_type", ["text/plain", "text/csv", "application/x-ndjson", "application/octet-stream"])
def test_text_is_sent_unchanged(media_type: str) -> None:
    request = build_request(of(body({"type": "string"}, media_type)), body="a,b\n")
    assert request.body == b"a,b\n"
    assert request.headers["Content-Type"].startswith(media_type)


def test_xml_is_written_by_the_model_and_its_structure_is_reported_to_be_left_out() -> None:
    found = imported(import_bodies("application/xml"))
    assert list_notes(found) == ["without the structure of its body: application/xml is written as text"]
    request = build_request(found.definitions[0], body="<pet/>")
    assert (request.body, request.headers["Content-Type"]) == (b"<pet/>", "application/xml")


@pytest.mark.parametrize(
    ("media_type", "words"),
    [
        ("multipart/mixed", "multipart/mixed has parts without names"),
        ("nonsense", "'nonsense' is not a media type"),
        ("a/b\r\nX: y", "is not a media type"),
        ("application/{{secret:KEY}}+json", "is not a media type"),
    ],
)
def test_a_body_that_cannot_be_sent_is_left_out_with_the_operation_or_alone_if_it_is_optional(
    media_type: str, words: str
) -> None:
    binary = {"type": "string", "format": "binary"}
    assert words in reason(api({"/x": {"post": body(binary, media_type)}}))
    [note] = list_notes(imported(body(binary, media_type, required=False)))
    assert note.startswith("without its body: ")
    assert words in note


@pytest.mark.parametrize(
    ("request_body", "words"),
    [
        ("text", "requestBody must be an object, not a text"),
        ({"content": []}, "content of requestBody must be an object, not a list"),
        ({"required": True, "content": {}}, "it names no media type"),
        ({"content": {"application/json": 5}}, "must be an object, not a number"),
        ({"content": {"multipart/form-data": {"schema": PET, "encoding": 5}}}, "encoding of its body"),
        ({"content": {"multipart/form-data": {"schema": PET, "encoding": {"name": 5}}}}, "encoding of 'name'"),
    ],
)
def test_a_body_that_is_not_one_leaves_its_operation_out(request_body: Any, words: str) -> None:
    assert words in reason(api({"/x": {"post": {"requestBody": request_body}}}))


def test_what_one_part_of_a_body_only_reads_another_cannot_require() -> None:
    schemas = {
        "Kept": {"type": "object", "properties": {"id": {"type": "string", "readOnly": True}}},
        "New": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["id", "name"]},
    }
    schema = of(body({"allOf": [ref("Kept"), ref("New")]}), components={"schemas": schemas})["input_schema"]
    assert (list(schema["properties"]), schema["required"]) == (["name"], ["name"])
