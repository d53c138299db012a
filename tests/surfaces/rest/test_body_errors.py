"""Every route refuses an invalid body with our own messages, not pydantic's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from pegboard.kinds.catalog import load_kinds
from pegboard.surfaces.rest.app import METHODS_BY_PATH
from tests.surfaces.rest.clients import good

# Phrases of pydantic, names that it gives to types in paths, and phrases of the validator of JSON Schemas.
FOREIGN = (
    "Input should", "should be a valid", "should have at", "Field required", "Extra inputs", "Value error",
    "Assertion failed", "after validation", "unable to parse", "pydantic", "function-", "constrained-", "[key]",
    "is not of type", "is not one of", "is not valid under", "{min_length}",
)  # fmt: skip
WRONG: list[Any] = [None, True, -1, 1.5, 10**30, "", "x", "x" * 10_000, [], [3], ["", ""], [{}], {}, {"": None}]
WRONG_ALONE: list[Any] = [None, -1, "x", ["", ""], {"": None}]
WRONG_BODIES: list[Any] = [None, True, 3, "x", [], [{}], {}, {"unknown_key": 1}]
ROUTES = [
    (method, path)
    for path, methods in METHODS_BY_PATH.items()
    for method in methods
    if method in ("POST", "PUT", "PATCH")
]
MAX_DEPTH = 3


class Described:
    """The bodies in the API's description, and invalid ones made from them."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document

    def body_of(self, method: str, path: str) -> dict[str, Any] | None:
        """Return the schema of the body of a route, or None."""
        content = self.document["paths"][path][method.lower()].get("requestBody", {}).get("content")
        return None if content is None else self.resolved(content["application/json"]["schema"])

    def resolved(self, schema: Any) -> dict[str, Any]:
        """The schema that a reference or the first choice of several leads to."""
        schema = schema if isinstance(schema, dict) else {}
        if "$ref" in schema:
            return self.resolved(self.document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]])
        choices = [each for word in ("anyOf", "oneOf", "allOf") for each in schema.get(word, ())]
        objects = [each for each in map(self.resolved, choices) if "properties" in each]
        return schema if not choices else (objects or [self.resolved(choices[0])])[0]

    def example(self, schema: Any) -> Any:
        """A value that mostly fits the schema."""
        schema = self.resolved(schema)
        if "enum" in schema or "const" in schema:
            return schema.get("const", schema.get("enum", [None])[0])
        match schema.get("type"):
            case "object":
                fields = schema.get("properties", {})
                return {name: self.example(fields.get(name)) for name in schema.get("required", ())}
            case "array":
                return [self.example(schema.get("items"))]
            case "string":
                return "2025-10-05T14:30:00Z" if schema.get("format") == "date-time" else "abc"
            case "boolean":
                return False
            case "integer" | "number":
                return schema.get("minimum", 1)
        return {}

    def wrong(self, schema: Any, depth: int = 0) -> Iterator[Any]:
        """Return values with invalid fields: all at once, and one by one, also in nested objects."""
        schema, base = self.resolved(schema), self.example(schema)
        if schema.get("type") == "array":
            yield from ([inner] for inner in self.wrong(schema.get("items"), depth))
        fields = schema.get("properties", {})
        if not fields or depth > MAX_DEPTH:
            return
        yield {**base, "unknown_key": 1}
        for value in WRONG if depth == 0 else WRONG_ALONE:
            yield dict.fromkeys(fields, value)
        for name, field in fields.items():
            yield {key: value for key, value in base.items() if key != name}
            if depth == 0:
                yield from ({**base, name: value} for value in WRONG_ALONE)
            yield from ({**base, name: inner} for inner in self.wrong(field, depth + 1))


async def ids_on(admin: httpx.AsyncClient) -> dict[str, str]:
    """Something that exists for each name in a path."""
    tool = {"name": "answer", "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {}}
    added = good(await admin.post("/v1/tools", json=tool), 201)
    good(await admin.post("/v1/tools/answer/call", json={}))
    user = good(await admin.post("/v1/users", json={"name": "ann"}), 201)
    return {
        "ref": added["id"],
        "name": "answer",
        "user_id": user["id"],
        "agent_id": good(await admin.post("/v1/agents", json={"name": "bot"}), 201)["id"],
        "thread_id": good(await admin.post("/v1/threads", json={}), 201)["id"],
        "execution_id": good(await admin.get("/v1/executions"))["items"][0]["id"],
    }


def check(answer: httpx.Response, body: Any) -> None:
    """Check that the answer is no failure of the server and has no foreign phrase."""
    assert not [phrase for phrase in FOREIGN if phrase in answer.text], (body, answer.text)
    assert answer.status_code != 500, (body, answer.text)
    if answer.status_code == 422:
        assert all(fault["message"] for fault in answer.json().get("errors", ())), answer.text


async def test_every_route_refuses_wrong_bodies_in_our_words(admin: httpx.AsyncClient) -> None:
    described = Described(good(await admin.get("/openapi.json")))
    ids = await ids_on(admin)
    without_refusal = set()
    for method, path in ROUTES:
        schema = described.body_of(method, path)
        if schema is None:
            continue
        statuses = set()
        for body in [*WRONG_BODIES, *described.wrong(schema)]:
            # Sessions exist only over TLS and on the machine itself.
            answer = await admin.request(method, path.format(**ids), json=body, headers={"Host": "127.0.0.1"})
            check(answer, body)
            statuses.add(answer.status_code)
        if not statuses & {400, 422}:
            without_refusal.add(path)
    assert without_refusal == {"/v1/tools/{name}/call"}, "wrong arguments are the result of a call"


@pytest.mark.parametrize("kind", load_kinds())
async def test_every_config_is_refused_in_our_words(admin: httpx.AsyncClient, kind: str) -> None:
    fields = [field.alias or name for name, field in load_kinds()[kind].config.model_fields.items()]
    statuses = set()
    for value in WRONG:
        for config in (dict.fromkeys(fields, value), *({name: value} for name in fields)):
            body = {"name": "x", "tool_type": kind, "config": config, "input_schema": {}}
            answer = await admin.post("/v1/tools", json=body)
            check(answer, body)
            statuses.add(answer.status_code)
    assert 422 in statuses
