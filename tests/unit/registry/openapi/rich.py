"""One document of each version with nearly everything in it that a version knows."""

from __future__ import annotations

from typing import Any

from tests.unit.registry.openapi.making import Json, api, swagger


def _ref(name: str, kind: str = "schemas") -> Json:
    return {"$ref": f"#/components/{kind}/{name}"}


def _parameter(name: str, place: str, schema: Any, **others: Any) -> Json:
    return {"name": name, "in": place, "schema": schema, **others}


_LIST = {"type": "array", "items": {"type": "string"}}
_PAIRS = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}


def openapi(version: str = "3.1.0") -> Json:
    """A document of OpenAPI 3."""
    return api(
        {
            "/pets/{id}": {
                "summary": "One pet",
                "parameters": [_parameter("id", "path", {"type": "string"}, required=True), _ref("trace", "parameters")],
                "get": {
                    "operationId": "pets/get",
                    "tags": ["pets", "read"],
                    "parameters": [
                        _parameter("id", "path", {"type": "integer"}, required=True, style="label"),
                        _parameter("tags", "query", _LIST, style="pipeDelimited", description="Some tags"),
                        _parameter("filter", "query", _PAIRS, style="deepObject", explode=True),
                        _parameter("raw", "query", {"type": "string"}, allowReserved=True, example="a/b"),
                        _parameter("id", "query", {"type": "integer", "default": 3}),
                        _parameter("session", "cookie", {"type": "string"}),
                        {"name": "where", "in": "query", "content": {"application/json": {"schema": _PAIRS}}},
                    ],
                    "responses": {"200": {"$ref": "#/components/responses/Pet"}},
                },
                "put": {
                    "deprecated": True,
                    "requestBody": _ref("Pet", "requestBodies"),
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
            "/lists": {"post": {"requestBody": {"content": {"application/json": {"schema": _ref("Tree")}}}}},
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
                        "age": {"type": ["integer", "null"]} if version >= "3.1" else {"type": "integer", "nullable": True},
                        "owner": {"allOf": [_ref("Owner"), {"description": "Whose it is"}]},
                        "kind": {"oneOf": [{"const": "cat"}, {"enum": ["dog", "fish"]}]},
                    },
                },
                "Owner": {"type": "object", "properties": {"pets": {"type": "array", "items": _ref("Pet")}}},
                "Tree": {"type": "array", "items": {"anyOf": [_ref("Tree"), {"type": "string", "format": "uuid"}]}},
            },
            "parameters": {"trace": _parameter("X-Trace", "header", {"type": "string"}, deprecated=True)},
            "requestBodies": {
                "Pet": {"description": "A pet", "required": True, "content": {"application/json": {"schema": _ref("Pet")}}}
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
                    "parameters": [{"name": "pet", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Pet"}}],
                    "security": [{"basic": []}],
                }
            },
        },
        basePath="/v2",
        schemes=["https", "http"],
        consumes=["application/json"],
        parameters={"limit": {"name": "limit", "in": "query", "type": "integer", "maximum": 5, "exclusiveMaximum": True}},
        definitions={
            "Pet": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "x-nullable": True}}}
        },
        securityDefinitions={"basic": {"type": "basic"}},
    )  # fmt: skip
