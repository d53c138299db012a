"""HTTP clients of a board as a given user."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from pegboard import Pegboard
from pegboard.surfaces.rest.app import create_app
from tests.board_surfaces import KEY

TITLES = {
    400: "Bad request",
    401: "Unauthorised",
    403: "Forbidden",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    410: "Gone",
    413: "Body too large",
    422: "Invalid request",
    429: "Too many requests",
    500: "Internal error",
    503: "Unavailable",
}


@asynccontextmanager
async def client(board: Pegboard, key: str | None = KEY) -> AsyncIterator[httpx.AsyncClient]:
    """Return a client with this key, or without a key."""
    transport = httpx.ASGITransport(create_app(board, "test"), raise_app_exceptions=False)
    headers = {} if key is None else bearer(key)
    async with httpx.AsyncClient(transport=transport, base_url="http://board", headers=headers) as opened:
        yield opened


def bearer(key: str) -> dict[str, str]:
    """The header that carries a key."""
    return {"Authorization": f"Bearer {key}"}


def problem(answer: httpx.Response, status: int) -> dict[str, Any]:
    """Return the body of an error of the API itself, after a check of its form."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = answer.json()
    assert set(body) - {"errors"} == {"type", "title", "status", "detail", "request_id"}
    assert (body["type"], body["title"], body["status"]) == ("about:blank", TITLES[status], status)
    assert body["detail"]
    assert body["request_id"] == answer.headers["x-request-id"]
    assert all(set(fault) == {"field", "message"} for fault in body.get("errors", ()))
    return body


def good(answer: httpx.Response, status: int = 200) -> Any:
    """Return the body of a request that must succeed."""
    assert answer.status_code == status, answer.text
    return answer.json() if answer.content else None


async def new_user(admin: httpx.AsyncClient, name: str, role: str = "member", **key: Any) -> tuple[str, str]:
    """Create a user; return the id and one key."""
    user = good(await admin.post("/v1/users", json={"name": name, "role": role}), 201)
    made = good(await admin.post(f"/v1/users/{user['id']}/keys", json=key), 201)
    return user["id"], made["key"]


def mock(name: str = "quote", **more: Any) -> dict[str, Any]:
    """A tool that answers 1."""
    base = {"name": name, "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {"type": "object"}}
    return {**base, **more}


async def walked(speaker: httpx.AsyncClient, path: str, **params: Any) -> list[dict[str, Any]]:
    """Every item of a list, read page by page."""
    items: list[dict[str, Any]] = []
    cursor: str | None = None
    for _ in range(100):
        page = good(await speaker.get(path, params={**params, **({"cursor": cursor} if cursor else {})}))
        assert set(page) == {"items", "next_cursor"}
        items += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return items
    raise AssertionError("the list does not end")
