"""API documents to import: one that uses every feature of a request, and large ones of any size."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.upstreams import Received

Json = dict[str, Any]

TEXT: Json = {"type": "string"}
LIST: Json = {"type": "array", "items": {"type": "integer"}}
PAIRS: Json = {"type": "object", "properties": {"role": TEXT, "name": TEXT}, "additionalProperties": False}
IDS = [3, 4, 5]
WHO = {"role": "admin", "name": "Al ex"}


@dataclass(frozen=True)
class Case:
    """An operation, a call of its tool, and the request that the upstream must receive."""

    name: str
    method: str
    path: str
    message: Json
    arguments: Json
    target: str
    headers: dict[str, str | None] = field(default_factory=dict)
    body: bytes = b""

    def check(self, got: Received) -> None:
        """Fail unless this very request was received."""
        assert (got.method, got.target) == (self.method.upper(), self.target)
        assert {name: got.one(name) for name in self.headers} == self.headers
        assert got.body == self.body
        assert (got.one("Content-Length") or "0") == str(len(self.body))


def at(place: str, name: str, schema: Json, **others: Any) -> Json:
    """A parameter."""
    needed = {"required": True} if place == "path" else {}
    return {"name": name, "in": place, "schema": schema, **needed, **others}


def _path(name: str, schema: Json, value: Any, target: str, **style: Any) -> Case:
    values = {"parameters": [at("path", "id", schema, **style)]}
    return Case(name, "get", f"/{name}/{{id}}", values, {"id": value}, f"/{name}/{target}")


def _query(name: str, schema: Json, value: Any, query: str, **style: Any) -> Case:
    values = {"parameters": [at("query", "id", schema, **style)]}
    return Case(name, "get", f"/{name}", values, {"id": value}, f"/{name}?{query}")


def _header(name: str, schema: Json, value: Any, sent: str, **style: Any) -> Case:
    values = {"parameters": [at("header", "X-Id", schema, **style)]}
    return Case(name, "get", f"/{name}", values, {"X-Id": value}, f"/{name}", {"X-Id": sent})


def _cookie(name: str, schema: Json, value: Any, sent: str, **style: Any) -> Case:
    values = {"parameters": [at("cookie", "id", schema, **style)]}
    return Case(name, "get", f"/{name}", values, {"id": value}, f"/{name}", {"Cookie": sent})


def _body(name: str, media_type: str, schema: Json, arguments: Json, sent: bytes, **others: Any) -> Case:
    content = {media_type: {"schema": schema, **others}}
    values = {"requestBody": {"required": True, "content": content}}
    return Case(name, "post", f"/{name}", values, arguments, f"/{name}", {"Content-Type": media_type}, sent)


_FLAT = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": TEXT, "age": {"type": "integer"}, "tags": {"type": "array", "items": TEXT}, "who": PAIRS},
}
_FORM = {"type": "object", "properties": {"name": TEXT, "ids": LIST, "csv": LIST, "deep": PAIRS, "meta": PAIRS}}
_FORM_REPORTED = {
    "csv": {"explode": False},
    "deep": {"style": "deepObject", "explode": True},
    "meta": {"contentType": "application/json"},
}

STYLES = [
    _path("simple", TEXT, "a b/ü?#", "a%20b%2F%C3%BC%3F%23"),
    _path("simple_list", LIST, IDS, "3,4,5"),
    _path("simple_pairs", PAIRS, WHO, "role,admin,name,Al%20ex"),
    _path("simple_pairs_exploded", PAIRS, WHO, "role=admin,name=Al%20ex", explode=True),
    _path("label", {"type": "integer"}, 5, ".5", style="label"),
    _path("label_list", LIST, IDS, ".3,4,5", style="label"),
    _path("label_list_exploded", LIST, IDS, ".3.4.5", style="label", explode=True),
    _path("label_pairs_exploded", PAIRS, WHO, ".role=admin.name=Al%20ex", style="label", explode=True),
    _path("matrix", {"type": "integer"}, 5, ";id=5", style="matrix"),
    _path("matrix_list", LIST, IDS, ";id=3,4,5", style="matrix"),
    _path("matrix_list_exploded", LIST, IDS, ";id=3;id=4;id=5", style="matrix", explode=True),
    _path("matrix_pairs", PAIRS, WHO, ";id=role,admin,name,Al%20ex", style="matrix"),
    _path("matrix_pairs_exploded", PAIRS, WHO, ";role=admin;name=Al%20ex", style="matrix", explode=True),
    _query("form", TEXT, "a b&c=d/é", "id=a%20b%26c%3Dd%2F%C3%A9"),
    _query("form_flag", {"type": "boolean"}, True, "id=true"),
    _query("form_number", {"type": "number"}, 1.5, "id=1.5"),
    _query("form_list", LIST, IDS, "id=3&id=4&id=5"),
    _query("form_list_joined", LIST, IDS, "id=3,4,5", explode=False),
    _query("form_pairs", PAIRS, WHO, "role=admin&name=Al%20ex"),
    _query("form_pairs_joined", PAIRS, WHO, "id=role,admin,name,Al%20ex", explode=False),
    _query("space", LIST, IDS, "id=3%204%205", style="spaceDelimited", explode=False),
    _query("pipe", LIST, IDS, "id=3%7C4%7C5", style="pipeDelimited", explode=False),
    _query("deep", PAIRS, WHO, "id%5Brole%5D=admin&id%5Bname%5D=Al%20ex", style="deepObject", explode=True),
    _query("reserved", TEXT, "a/b:c", "id=a/b:c", allowReserved=True),
    _header("header", TEXT, "plain", "plain"),
    _header("header_list", LIST, IDS, "3,4,5"),
    _header("header_pairs_exploded", PAIRS, {"role": "admin"}, "role=admin", explode=True),
    _cookie("cookie", TEXT, "crumb", "id=crumb"),
    _cookie("cookie_list_joined", LIST, IDS, "id=3,4,5", explode=False),
    Case(
        "json_parameter",
        "get",
        "/json_parameter",
        {"parameters": [{"name": "where", "in": "query", "content": {"application/json": {"schema": PAIRS}}}]},
        {"where": {"role": "admin"}},
        "/json_parameter?where=%7B%22role%22%3A%22admin%22%7D",
    ),
    _body(
        "flat",
        "application/json",
        _FLAT,
        {"name": "ü", "age": 3, "tags": ["a"], "who": {"role": "x"}},
        '{"name":"ü","age":3,"tags":["a"],"who":{"role":"x"}}'.encode(),
    ),
    _body("whole", "application/json", LIST, {"body": IDS}, b"[3,4,5]"),
    _body(
        "vendor_json", "application/vnd.api+json", {"anyOf": [_FLAT, LIST]}, {"body": {"name": "n"}}, b'{"name":"n"}'
    ),
    _body(
        "form_body",
        "application/x-www-form-urlencoded",
        _FORM,
        {"name": "a b&c", "ids": IDS, "csv": IDS, "deep": {"role": "r"}, "meta": {"name": "m"}},
        b"name=a%20b%26c&ids=3&ids=4&ids=5&csv=3,4,5&deep%5Brole%5D=r&meta=%7B%22name%22%3A%22m%22%7D",
        encoding=_FORM_REPORTED,
    ),
    _body("text_body", "text/plain; charset=utf-8", TEXT, {"body": "Grüße\n"}, "Grüße\n".encode()),
    _body("xml_body", "application/xml", {"type": "object"}, {"body": "<a/>"}, b"<a/>"),
    Case(
        "clashing",
        "post",
        "/clashing/{id}",
        {
            "parameters": [at(place, "id", TEXT) for place in ("path", "query", "header", "cookie")],
            "requestBody": {
                "required": True,
                "content": {
                    "application/json": {"schema": {"type": "object", "required": ["id"], "properties": {"id": TEXT}}}
                },
            },
        },
        {"id": "1", "query_id": "2", "header_id": "3", "cookie_id": "4", "body_id": "5"},
        "/clashing/1?id=2",
        {"id": "3", "Cookie": "id=4", "Content-Type": "application/json"},
        b'{"id":"5"}',
    ),
    Case("nothing", "post", "/nothing", {}, {}, "/nothing", {"Content-Type": None}),
    Case(
        "gone_for_good",
        "delete",
        "/gone/{id}",
        {"parameters": [at("path", "id", TEXT), at("query", "force", {"type": "boolean"})]},
        {"id": "x", "force": False},
        "/gone/x?force=false",
    ),
]  # fmt: skip


def document(cases: list[Case] = STYLES, *, title: str = "Styles", **others: Any) -> Json:
    """The document that has these operations."""
    paths: Json = {}
    for case in cases:
        paths.setdefault(case.path, {})[case.method] = {"operationId": case.name, "responses": {}, **case.message}
    return {"openapi": "3.1.0", "info": {"title": title, "version": "1"}, "paths": paths, **others}


def pets(*names: str, title: str = "Pets", base: str = "https://api.example.com/v1", **others: Any) -> Json:
    """A small document with a GET operation of each of these names."""
    paths = {f"/{name}": {"get": {"operationId": name, "summary": f"Look at {name}"}} for name in names}
    return {
        "openapi": "3.0.3",
        "info": {"title": title, "version": "1"},
        "servers": [{"url": base}],
        "paths": paths,
        **others,
    }


def large(operations: int, base: str = "https://api.example.com") -> Json:
    """Return a document with this many operations, as a generator writes it: references, forms, all methods in turn."""
    methods = ("get", "post", "put", "patch", "delete")
    paths: Json = {}
    for number in range(operations):
        method = methods[number % 5]
        values: Json = {
            "operationId": f"res{number}/{method}",
            "tags": [f"group {number % 7}"],
            "summary": f"Operation {number}",
            "description": "What it does. " * 5,
            "parameters": [at("path", "id", TEXT), {"$ref": "#/components/parameters/page"}],
        }
        if method in ("post", "put", "patch"):
            schema = {"$ref": f"#/components/schemas/Thing{number % 50}"}
            values["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
        paths[f"/res{number // 5}/{{id}}/{number % 5}"] = {method: values}
    things = {
        f"Thing{number}": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": TEXT, "more": {"$ref": f"#/components/schemas/Thing{(number + 1) % 50}"}},
        }
        for number in range(50)
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Large", "version": "1"},
        "servers": [{"url": base}],
        "paths": paths,
        "components": {"schemas": things, "parameters": {"page": at("query", "page", {"type": "integer"})}},
    }
