from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegboard.json_schema.compile import compile_validator
from pegboard.json_schema.schema_document import SchemaDocument
from pegboard.kinds.http.openapi.import_document import import_document
from tests.unit.kinds.http.openapi.make_documents import Json, api, body, ref

NAMES = ("A", "B", "C")
# Words of OpenAPI's own, and of older drafts, that JSON Schema 2020-12 does not know.
FOREIGN = {
    "nullable",
    "discriminator",
    "xml",
    "externalDocs",
    "example",
    "readOnly",
    "writeOnly",
    "x-own",
    "definitions",
}


def scalars() -> st.SearchStrategy[Json]:
    bounds = st.fixed_dictionaries(
        {"type": st.sampled_from(["integer", "number"])},
        optional={
            "minimum": st.integers(-5, 0),
            "maximum": st.integers(1, 9),
            "exclusiveMinimum": st.booleans(),
            "exclusiveMaximum": st.booleans(),
        },
    )
    texts = st.fixed_dictionaries(
        {"type": st.just("string")},
        optional={
            "enum": st.just(["a", "b"]),
            "format": st.sampled_from(["date", "int64", "own"]),
            "default": st.text(),
        },
    )
    return bounds | texts | st.just({"type": "boolean"}) | st.sampled_from(NAMES).map(ref) | st.just({})


def schemas() -> st.SearchStrategy[Json]:
    def around(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
        objects = st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=3)},
            optional={
                "required": st.lists(st.sampled_from("abc"), unique=True, min_size=1),
                "additionalProperties": st.booleans() | inner,
                "discriminator": st.just({"propertyName": "a"}),
            },
        )
        unions = st.tuples(st.sampled_from(["allOf", "anyOf", "oneOf"]), st.lists(inner, min_size=1, max_size=3))
        arrays = inner.map(lambda items: {"type": "array", "items": items})
        return objects | unions.map(lambda pair: {pair[0]: pair[1]}) | arrays | inner.map(lambda item: {"not": item})

    marks = st.fixed_dictionaries(
        {},
        optional={
            "nullable": st.booleans(),
            "readOnly": st.booleans(),
            "writeOnly": st.booleans(),
            "deprecated": st.booleans(),
            "description": st.text(max_size=5),
            "example": st.integers() | st.text(max_size=3),
            "xml": st.just({}),
            "x-own": st.just(1),
        },
    )
    return st.builds(
        lambda schema, message: {**schema, **message}, st.recursive(scalars(), around, max_leaves=8), marks
    )


@given(st.fixed_dictionaries({name: schemas() for name in NAMES}), schemas())
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_schema_of_3_0_becomes_one_of_today_or_refers_to_itself_without_end(named: Json, schema: Json) -> None:
    found = import_document(api({"/x": {"post": body(schema)}}, "3.0.3", components={"schemas": named}))
    if not found.definitions:
        assert "refers back to itself" in found.left_out[0].reason
        return
    input_schema = found.definitions[0]["input_schema"]
    compile_validator(input_schema)
    for _, node, _ in SchemaDocument(input_schema).iterate_schemas():
        assert not FOREIGN & node.keys()
        assert not any(isinstance(node.get(word), bool) for word in ("exclusiveMinimum", "exclusiveMaximum"))


def accepted(schema: Json, value: Any) -> bool:
    definition = import_document(api({"/x": {"post": body({"type": "array", "items": schema})}}, "3.0.3")).definitions[
        0
    ]
    return compile_validator(definition["input_schema"]).is_valid({"body": [value]})


@given(schemas().filter(lambda schema: "$ref" not in str(schema)))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_null_fits_whatever_may_be_null(schema: Json) -> None:
    assert accepted({**schema, "nullable": True}, None)
