"""Large bodies are parsed in threads, and bodies of very many values are not parsed at all."""

from __future__ import annotations

import threading

import httpx
import pytest
from starlette.exceptions import HTTPException

from pegboard.stages.large_reads import LARGE_BYTES
from pegboard.surfaces.rest.json_bodies import MAX_CONTAINERS, MAX_DOCUMENT_CONTAINERS, JsonBodyParser
from tests.surfaces.rest.clients import good, problem

JSON = {"content-type": "application/json"}


async def test_a_body_is_parsed_in_a_thread_from_a_certain_size_on() -> None:
    bodies = JsonBodyParser()

    def parse(_body: bytes) -> int:
        return threading.get_ident()

    assert await bodies.parse(b"x" * LARGE_BYTES, parse) == threading.get_ident()
    assert await bodies.parse(b"x" * (LARGE_BYTES + 1), parse) != threading.get_ident()


async def test_what_the_parser_raises_reaches_the_caller() -> None:
    def parse(_body: bytes) -> None:
        raise HTTPException(400, "broken")

    with pytest.raises(HTTPException, match="broken"):
        await JsonBodyParser().parse(b"x" * (LARGE_BYTES + 1), parse)


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("/v1/tools/echo/call", MAX_CONTAINERS),
        ("/v1/tools", MAX_CONTAINERS),
        ("/v1/chains", MAX_CONTAINERS),
        ("/v1/calls", MAX_DOCUMENT_CONTAINERS),
        ("/v1/calls/normalize", MAX_DOCUMENT_CONTAINERS),
    ],
)
async def test_more_objects_and_lists_than_accepted_are_refused(admin: httpx.AsyncClient, path: str, most: int) -> None:
    body = b'{"a":[' + b"[]," * most + b"0]}"
    found = problem(await admin.post(path, content=body, headers=JSON), 413)
    assert found["detail"] == f"The body has more than {most:,} objects and lists; send fewer at a time"


async def test_a_large_body_means_the_same_as_a_small_one(admin: httpx.AsyncClient) -> None:
    text = "x" * (2 * LARGE_BYTES)
    answer = good(await admin.post("/v1/tools/echo/call", json={"text": text}))
    assert answer["result"] == {"echo": {"text": text}}
    call = {"name": "echo", "arguments": {"text": text}}
    assert good(await admin.post("/v1/calls", json=call))["result"] == {"echo": {"text": text}}
    tool = {"name": "long", "tool_type": "mock", "config": {"mock_response": text}, "input_schema": {"type": "object"}}
    assert good(await admin.post("/v1/tools", json=tool), 201)["config"]["mock_response"] == text
    broken = problem(await admin.post("/v1/tools", content=b'{"a":"' + text.encode(), headers=JSON), 400)
    assert broken["detail"].startswith("Not valid JSON at character")
