"""One document of each version with nearly every feature of that version."""

from __future__ import annotations

from typing import Any

from tests.unit.kinds.http.openapi.make_documents import Json, api, ref, swagger


def _param(name: str, place: str, schema: Any, **others: Any) -> Json:
    return {"name": name, "in": place, "schema": schema, **others}


_LIST = {"type": "array", "items": {"type": "string"}}
_NULLABLE: tuple[Json, Json] = ({"type": "integer", "nullable": True}, {"type": ["integer", "null"]})
_PAIRS = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}


def openapi(version: str = "3.1.0") -> Json:
    """A document of OpenAPI 3."""
    return api(
        {
            "/pets/{id}": {
                "summary": "One pet",
                "parameters": [_param("id", "path", {"type": "string"}, required=True), ref("trace", "parameters")],
                "get": {
                    "operationId": "pets/get",
                    "tags": ["pets", "read"],
                    "parameters": [
                        _param("id", "path", {"type": "integer"}, required=True, style="label"),
                        _param("tags", "query", _LIST, style="pipeDelimited", description="Some tags"),
                        _param("filter", "query", _PAIRS, style="deepObject", explode=True),
                        _param("raw", "query", {"type": "string"}, allowReserved=True, example="a/b"),
                        _param("id", "query", {"type": "integer", "default": 3}),
                        _param("session", "cookie", {"type": "string"}),
                        {"name": "where", "in": "query", "content": {"application/json": {"schema": _PAIRS}}},
                    ],
                    "responses": {"200": {"$ref": "#/components/responses/Pet"}},
                },
                "put": {
                    "deprecated": True,
                    "requestBody": ref("Pet", "requestBodies"),
                    "security": [],
                    "responses": {"default": {"description": "done"}},
                },
                "delete": {"security": [{"key": []}, {}], "callbacks": {"gone": {}}},
            },
            "/files": {
                "servers": [{"url": "https://{region}.example.com/up", "variables": {"region": {"default": "eu"}}}],
                "post": {
                    "operationId": "upload",
                    "requestBody": {
                        "required": True,
                        "content": {
                            "multipart/form-data": {
                                "schema": {
                                    "type": "object",
                                    "required": ["file"],
                                    "properties": {
                                        "file": {"type": "string", "format": "binary"},
                                        "meta": _PAIRS,
                                        "names": _LIST,
                                    },
                                },
                                "encoding": {"meta": {"contentType": "application/json"}, "names": {"explode": False}},
                            }
                        },
                    },
                },
                "patch": {"requestBody": {"content": {"text/plain": {"schema": {"type": "string"}}}}},
            },
            "/moved": {"$ref": "#/components/pathItems/moved"},
            "/lists": {"post": {"requestBody": {"content": {"application/json": {"schema": ref("Tree")}}}}},
        },
        version,
        security=[{"key": []}],
        webhooks={"new": {"post": {}}},
        components={
            "schemas": {
                "Pet": {
                    "type": "object",
                    "required": ["id", "name"],
                    "properties": {
                        "id": {"type": "integer", "readOnly": True},
                        "name": {"type": "string", "minLength": 1, "pattern": "^[a-z]+$", "examples": ["rex"]},
                        "age": _NULLABLE[version >= "3.1"],
                        "owner": {"allOf": [ref("Owner"), {"description": "Whose it is"}]},
                        "kind": {"oneOf": [{"const": "cat"}, {"enum": ["dog", "fish"]}]},
                    },
                },
                "Owner": {"type": "object", "properties": {"pets": {"type": "array", "items": ref("Pet")}}},
                "Tree": {"type": "array", "items": {"anyOf": [ref("Tree"), {"type": "string", "format": "uuid"}]}},
            },
            "parameters": {"trace": _param("X-Trace", "header", {"type": "string"}, deprecated=True)},
            "requestBodies": {
                "Pet": {"description": "A", "required": True, "content": {"application/json": {"schema": ref("Pet")}}}
            },
            "responses": {"Pet": {"description": "ok"}},
            "pathItems": {"moved": {"get": {"summary": "Elsewhere"}, "trace": {}}},
            "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
        },
    )  # fmt: skip


def old() -> Json:
    """A document of Swagger 2.0."""
    return swagger(
        {
            "/pets/{id}": {
                "parameters": [{"name": "id", "in": "path", "required": True, "type": "integer"}],
                "get": {
                    "operationId": "getPet",
                    "parameters": [
                        {"name": "tags", "in": "query", "type": "array", "items": {"type": "string"}},
                        {"name": "sort", "in": "query", "type": "array", "collectionFormat": "multi"},
                        {"$ref": "#/parameters/limit"},
                    ],
                },
                "post": {
                    "consumes": ["multipart/form-data"],
                    "parameters": [
                        {"name": "photo", "in": "formData", "type": "file", "required": True},
                        {"name": "words", "in": "formData", "type": "array", "items": {}, "collectionFormat": "tsv"},
                    ],
                },
            },
            "/pets": {
                "post": {
                    "parameters": [{"name": "pet", "in": "body", "schema": {"$ref": "#/definitions/Pet"}}],
                    "security": [{"basic": []}],
                }
            },
        },
        basePath="/v2",
        schemes=["https", "http"],
        consumes=["application/json"],
        parameters={"limit": {"name": "n", "in": "query", "type": "integer", "maximum": 5, "exclusiveMaximum": True}},
        definitions={
            "Pet": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"type": "string", "x-nullable": True}},
            }
        },
        securityDefinitions={"basic": {"type": "basic"}},
    )  # fmt: skip
