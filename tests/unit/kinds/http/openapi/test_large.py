from __future__ import annotations

from collections.abc import Callable

import orjson
import pytest

from pegboard.json_schema.compile import check_schema, compile_validator
from pegboard.kinds.http.openapi import tool_builder
from pegboard.kinds.http.openapi.import_document import import_document
from pegboard.kinds.http.openapi.tool_builder import MAX_TOOL_SCHEMA_BYTES
from pegboard.model.api_errors import Invalid
from tests.function_calls import calls_in
from tests.unit.kinds.http.openapi.make_documents import Json, api, body, build_request, list_notes, one, ref, shop, url


def listing(name: str) -> Json:
    return body({"type": "array", "items": ref(name)})


def chain(length: int, properties: Callable[[Json], Json]) -> Json:
    """Return schemas S0, S1 and so on, each with properties that refer to the next."""
    schemas = {f"S{n}": {"type": "object", "properties": properties(ref(f"S{n + 1}"))} for n in range(length)}
    return {**schemas, f"S{length}": {"type": "object", "required": ["never"]}}


def test_a_document_of_a_thousand_operations_becomes_a_thousand_tools() -> None:
    found = import_document(shop(1000))
    assert (len(found.definitions), found.left_out) == (1000, ())
    tools = {definition["name"]: definition for definition in found.definitions}
    assert len(tools) == 1000
    assert url(tools["resources7_list"], limit=5, sort=["a", "b"]) == "/v1/resources7?limit=5&sort=a&sort=b"
    created = build_request(tools["resources7_create"], name="x", parts=[{"name": "y", "note": None}])
    assert created.body == b'{"name":"x","parts":[{"name":"y","note":null,"kind":"small"}],"kind":"small"}'
    assert url(tools["delete_v1_resources150_by_id"], id=3) == "/v1/resources150/3"


def test_schemas_that_come_to_too_much_are_cut_where_they_are_deepest() -> None:
    text = {"description": "x" * 1900}
    schemas = chain(300, lambda after: {"t": text, "n": after})
    found = import_document(api({"/x": {"post": listing("S0")}}, components={"schemas": schemas}))
    [definition] = found.definitions
    schema = definition["input_schema"]
    assert MAX_TOOL_SCHEMA_BYTES * 0.95 < len(orjson.dumps(schema)) <= MAX_TOOL_SCHEMA_BYTES * 1.01
    check_schema(schema, where="input_schema")
    kept = list(schema["$defs"])
    assert kept == [f"S{n}" for n in range(len(kept))]
    [note] = list_notes(found)
    assert note.startswith(f"without the schemas S{len(kept)}: its input would be too large")
    assert schema["$defs"][kept[-1]]["properties"]["n"] == {"description": f"S{len(kept)}"}
    assert compile_validator(schema).is_valid({"body": [{"n": {"n": {"t": 5}}}]})


def test_references_that_multiply_are_cut_too() -> None:
    schemas = chain(60, lambda after: {"a": after, "b": after})
    found = import_document(api({"/x": {"post": listing("S0")}}, components={"schemas": schemas}))
    assert 5 < len(found.definitions[0]["input_schema"]["$defs"]) < 20
    assert len(list_notes(found)) == 1


def test_a_dense_net_of_references_is_cut_to_what_the_board_takes() -> None:
    schemas = {
        f"S{n}": {"type": "object", "properties": {f"p{m}": ref(f"S{(n * 7 + m * 13 + 1) % 150}") for m in range(12)}}
        for n in range(150)
    }
    paths = {f"/x{n}": {"post": listing(f"S{n}")} for n in range(5)}
    found = import_document(api(paths, components={"schemas": schemas}))
    assert len(found.definitions) == 5
    assert len(list_notes(found)) == 5


def test_a_cut_schema_refuses_nothing_that_was_valid_before() -> None:
    big = {"type": "object", "properties": {f"p{n}": {"description": "x" * 1000} for n in range(300)}}
    schema = {
        "type": "array",
        "items": {
            "oneOf": [{**ref("Big"), "type": "object"}, {"type": "string"}],
            "not": {"items": ref("Big"), "minItems": 1},
            "if": ref("Big"),
            "then": True,
            "unevaluatedProperties": False,
        },
    }
    [definition] = import_document(
        api({"/x": {"post": body(schema)}}, components={"schemas": {"Big": big}})
    ).definitions
    is_valid = compile_validator(definition["input_schema"]).is_valid
    for value in ({"p1": 5}, {}, "text"):
        assert is_valid({"body": [value]})
    assert not is_valid({"body": [5]})


def test_a_body_too_large_to_be_taken_apart_is_one_parameter() -> None:
    big = {"type": "object", "properties": {f"p{n}": {"description": "x" * 1000} for n in range(300)}}
    found = import_document(api({"/x": {"post": body(ref("Big"))}}, components={"schemas": {"Big": big}}))
    [definition] = found.definitions
    assert definition["config"]["body_param"] == "body"
    assert definition["input_schema"]["properties"] == {"body": {"description": "Big"}}
    assert build_request(definition, body={"p1": 1}).body == b'{"p1":1}'


def test_a_large_document_leaves_less_room_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_builder, "MAX_TOTAL_SCHEMA_BYTES", 30_000)
    schemas = {"Big": {"type": "object", "properties": {f"p{n}": {"description": "x" * 1000} for n in range(20)}}}
    paths: Json = {f"/x{n}": {"post": listing("Big")} for n in range(4)}
    paths["/y"] = {"post": body({"enum": ["x" * 9000]})}
    found = import_document(api(paths, components={"schemas": schemas}))
    assert ["$defs" in definition["input_schema"] for definition in found.definitions] == [True, True, False, False]
    assert found.left_out[-1].reason.endswith("select fewer operations with include")


def test_the_same_again_costs_the_same_again() -> None:
    def cost(operations: int) -> int:
        document = shop(operations)
        return calls_in(lambda: import_document(document))

    assert cost(400) < 1.5 * 8 * cost(50), "work no longer grows with the document"


def test_too_many_operations_at_once_are_refused_with_the_way_out() -> None:
    document = api({f"/a{n}": {"get": {"tags": ["one" if n else "other"]}} for n in range(10_001)})
    with pytest.raises(Invalid, match="10,001 operations; at most 10,000"):
        import_document(document)
    assert one(document, include=["other"])["name"] == "get_a0"
