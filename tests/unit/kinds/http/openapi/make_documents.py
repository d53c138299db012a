"""API documents written by code, and the definitions imported from them."""

from __future__ import annotations

from typing import Any

from pegboard.json_schema.read_arguments import ArgumentChecker
from pegboard.kinds.http.config import HttpConfig
from pegboard.kinds.http.openapi.import_document import ImportedDocument, import_document
from pegboard.kinds.http.request_template import HttpRequest, RequestTemplate

Json = dict[str, Any]
SERVER = "https://api.example.com"
METHODS = ("get", "put", "post", "delete", "options", "head", "patch")


def api(paths: Any, version: str = "3.1.0", **others: Any) -> Json:
    """A document with these paths, served at SERVER."""
    return {"openapi": version, "info": {"title": "Made"}, "servers": [{"url": SERVER}], "paths": paths, **others}


def swagger(paths: Any, **others: Any) -> Json:
    """A document of Swagger 2.0 with these paths, served at SERVER."""
    return {"swagger": "2.0", "info": {"title": "Made"}, "host": "api.example.com", "paths": paths, **others}


def one(document: Json, **options: Any) -> Json:
    """Return the only definition from the document; nothing may be left out."""
    found = import_document(document, **options)
    assert not found.left_out, found.left_out
    assert len(found.definitions) == 1
    return found.definitions[0]


def ref(name: str, kind: str = "schemas") -> Json:
    """Return a reference to one of the document's components."""
    return {"$ref": f"#/components/{kind}/{name}"}


def of(operation: Json, *, path: str = "/x", method: str = "post", version: str = "3.1.0", **others: Any) -> Json:
    """Return the definition of this one operation."""
    return one(api({path: {method: operation}}, version, **others))


def body(schema: Any, media_type: str = "application/json", *, required: bool = True, **others: Any) -> Json:
    """An operation with a body of this schema."""
    return {"requestBody": {"required": required, "content": {media_type: {"schema": schema, **others}}}}


def import_parameter(schema: Any, version: str = "3.1.0", **others: Any) -> Json:
    """Return the imported schema of one query parameter."""
    definition = of(
        {"parameters": [{"name": "p", "in": "query", "schema": schema}]}, method="get", version=version, **others
    )
    found: Json = definition["input_schema"]["properties"]["p"]
    return found


def reason(document: Json, **options: Any) -> str:
    """Return why the only operation of the document is left out."""
    found = import_document(document, **options)
    assert not found.definitions, found.definitions
    assert len(found.left_out) == 1, found.left_out
    return found.left_out[0].reason


def list_notes(found: ImportedDocument) -> list[str]:
    """Return what is left out of operations that were imported."""
    names = {definition["name"] for definition in found.definitions}
    return [item.reason for item in found.left_out if item.name in names]


def build_request(definition: Json, **arguments: Any) -> HttpRequest:
    """The request that a call with these arguments makes, once they are checked against the tool's schema."""
    template = RequestTemplate.of(HttpConfig.model_validate(definition["config"]), definition.get("auth_config"))
    return template.fill(ArgumentChecker(definition["input_schema"]).check(arguments))


def url(definition: Json, **arguments: Any) -> str:
    """The same request's URL without the server."""
    return str(build_request(definition, **arguments).url).removeprefix(SERVER)


def shop(operations: int, version: str = "3.0.3") -> Json:
    """Return a document as generators write it: this many operations on resources whose schemas refer to each other."""
    resources = -(-operations // 5)
    schemas: Json = {}
    paths: Json = {}
    for number in range(resources):
        name, after = f"Resource{number}", f"Resource{(number + 1) % resources}"
        schemas[name] = {
            "type": "object",
            "required": ["name", "id"],
            "properties": {
                "id": {"type": "integer", "format": "int64", "readOnly": True},
                "name": {"type": "string", "maxLength": 100, "description": "What people call it."},
                "kind": {"type": "string", "enum": ["small", "large"], "default": "small"},
                "note": {"type": "string", "nullable": True},
                "price": {"type": "number", "minimum": 0, "exclusiveMinimum": True},
                "next": {"$ref": f"#/components/schemas/{after}"} if number % 7 else {"type": "string"},
                "parts": {"type": "array", "items": {"$ref": f"#/components/schemas/{name}"}},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            },
        }
        content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}
        values = {"tags": [f"group{number % 20}"], "responses": {"200": {"description": "ok", "content": content}}}
        sending = {"required": True, "content": content}
        page = [{"$ref": "#/components/parameters/limit"}, {"$ref": "#/components/parameters/sort"}]
        paths[f"/v1/resources{number}"] = {
            "get": {**values, "operationId": f"resources{number}.list", "summary": "List them.", "parameters": page},
            "post": {**values, "operationId": f"resources{number}.create", "requestBody": sending},
        }
        paths[f"/v1/resources{number}/{{id}}"] = {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
            "get": {**values, "summary": "Get one."},
            "patch": {**values, "requestBody": {"content": content}},
            "delete": values,
        }
    return api(
        paths,
        version,
        components={
            "schemas": schemas,
            "parameters": {
                "limit": {"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": 100}},
                "sort": {"name": "sort", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
            },
        },
    )
