"""Requests with very many errors: only the first are listed, and the others cost no time."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from pegboard.model.api_errors import MAX_FAULTS
from pegboard.model.base_model import MAX_ENTRIES, MAX_KEYS
from tests.surfaces.rest.clients import mock, problem

MANY = 20_000
KEYS = {f"key{number}": 1 for number in range(MANY)}
NUMBERS = [1] * MANY
HTTP: dict[str, Any] = {"tool_type": "http", "config": {"url": "https://example.com", "method": "GET", "headers": KEYS}}

BODIES: list[tuple[str, str, Any]] = [
    ("POST", "/v1/tools", KEYS),
    ("POST", "/v1/tools", mock(tags=NUMBERS)),
    ("POST", "/v1/tools", mock(config=KEYS)),
    ("POST", "/v1/tools", mock(config={"mock_responses": NUMBERS})),
    ("POST", "/v1/tools", mock(**HTTP)),
    ("PATCH", "/v1/tools/echo", KEYS),
    ("PATCH", "/v1/tools/echo", {"tags": NUMBERS}),
    ("POST", "/v1/apply", {"tools": [KEYS]}),
    ("POST", "/v1/apply", {"tools": [{}] * 2_000}),
    ("POST", "/v1/chains", {"steps": NUMBERS}),
    ("POST", "/v1/chains", {"steps": [{"id": "a", "tool": "echo", **KEYS}]}),
    ("POST", "/v1/chains", {"steps": [{"id": "a", "tool": "echo", "after": NUMBERS}]}),
    ("POST", "/v1/imports/mcp", {"server_url": "https://example.com/mcp", "headers": KEYS}),
    ("POST", "/v1/threads", KEYS),
    ("POST", "/v1/calls", KEYS),
    ("POST", "/v1/calls/normalize", KEYS),
]


@pytest.mark.parametrize(("method", "path", "body"), BODIES)
async def test_an_answer_lists_few_of_very_many_faults(
    admin: httpx.AsyncClient, method: str, path: str, body: Any
) -> None:
    assert (await admin.post("/v1/tools", json=mock("echo"))).status_code in (201, 409)
    answer = await admin.request(method, path, json=body)
    assert len(problem(answer, 422).get("errors", ())) <= MAX_FAULTS
    assert len(answer.content) < 50_000


async def test_unknown_keys_and_wrong_entries_are_not_checked_beyond_a_number(admin: httpx.AsyncClient) -> None:
    answer = problem(await admin.post("/v1/tools", json=KEYS), 422)
    assert answer["errors"] == [{"field": "", "message": f"must have at most {MAX_KEYS} keys, but received 20,000"}]
    answer = problem(await admin.post("/v1/tools", json=mock(tags=NUMBERS)), 422)
    message = f"must have at most {MAX_ENTRIES:,} entries, but received 20,000"
    assert answer["errors"] == [{"field": "tags", "message": message}]


async def test_a_refusal_says_that_there_are_more_faults_than_it_lists(admin: httpx.AsyncClient) -> None:
    answer = problem(await admin.post("/v1/tools", json=mock(tags=[1] * 500)), 422)
    assert len(answer["errors"]) == MAX_FAULTS
    assert answer["detail"].endswith(f"(and at least {MAX_FAULTS + 1 - 5} more)")


async def test_a_long_key_is_not_repeated_whole(admin: httpx.AsyncClient) -> None:
    for path in ("/v1/tools", "/v1/calls"):
        assert len((await admin.post(path, json={"k" * 500_000: 1})).content) < 5_000
