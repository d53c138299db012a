"""Every route checks the key, then the caller's rights, then the query, before it reads any of the body."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx
import orjson
import pytest

from pegboard import Pegboard
from pegboard.surfaces.rest.app import METHODS_BY_PATH, create_app
from tests.board_surfaces import KEY, served
from tests.surfaces.rest.clients import bearer, client, good, mock, new_user, problem
from tests.surfaces.rest.raw_http import head, read_response, wire

OPEN = {"/healthz", "/readyz", "/metrics"}
LOG_IN = ("POST", "/v1/sessions")
ALL = ((method, path) for path, methods in METHODS_BY_PATH.items() for method in methods if path not in OPEN)
ROUTES = sorted(set(ALL) - {LOG_IN})
ADMINS = {
    ("GET", "/v1/users"),
    ("POST", "/v1/users"),
    ("DELETE", "/v1/users/{user_id}"),
    ("PATCH", "/v1/users/{user_id}"),
    ("POST", "/v1/secrets/rotate"),
    ("POST", "/v1/executions/verify"),
    ("GET", "/v1/executions/verification"),
    ("POST", "/v1/executions/verify-export"),
    ("GET", "/v1/executions/export"),
    ("POST", "/v1/executions/prune"),
    ("GET", "/v1/board"),
    ("GET", "/v1/tables"),
    ("POST", "/v1/tables/reload"),
}
# The routes that a key bound to an agent may use; all others return 403.
AGENTS = {
    ("GET", "/v1/me"),
    ("GET", "/v1/users/{user_id}"),
    ("GET", "/v1/tools"),
    ("GET", "/v1/tools/{ref}"),
    ("GET", "/v1/tools/{ref}/definition"),
    ("POST", "/v1/tools/{name}/call"),
    ("GET", "/v1/definitions"),
    ("GET", "/v1/agents/{agent_id}"),
    ("GET", "/v1/agents/{agent_id}/definitions"),
    ("GET", "/v1/lint"),
    ("GET", "/v1/dialects"),
    ("GET", "/v1/kinds"),
    ("GET", "/v1/codes"),
    ("GET", "/v1/connect"),
    ("GET", "/v1/calls"),
    ("POST", "/v1/calls"),
    ("POST", "/v1/calls/normalize"),
    ("GET", "/v1/calls/{run}/events"),
    ("DELETE", "/v1/calls/{run}"),
    ("POST", "/v1/chains"),
    ("GET", "/v1/threads"),
    ("POST", "/v1/threads"),
    ("GET", "/v1/threads/{thread_id}"),
    ("GET", "/v1/threads/{thread_id}/messages"),
    ("POST", "/v1/threads/{thread_id}/messages"),
}


class Asker:
    """Sends requests without a body: reading any of it is an error."""

    def __init__(self, board: Pegboard, ids: Mapping[str, str]) -> None:
        self._app = create_app(board, "test")
        self._ids = ids

    async def ask(self, method: str, path: str, key: str | None, query: str = "", **headers: str) -> tuple[int, Any]:
        """Status and body of the answer."""
        status, sent = 0, b""

        async def receive() -> Any:
            raise AssertionError(f"the body of {method} {path} was read")

        async def send(message: Any) -> None:
            nonlocal status, sent
            status = message.get("status", status)
            sent += message.get("body", b"")

        given = {"content_type": "application/json", "content_length": "1000", **headers}
        if key is not None:
            given["authorization"] = f"Bearer {key}"
        place = path.format_map(self._ids)
        await self._app(
            {
                "type": "http",
                "asgi": {"version": "3.0"},
                "http_version": "1.1",
                "method": method,
                "scheme": "http",
                "path": place,
                "raw_path": place.encode(),
                "root_path": "",
                "query_string": query.encode(),
                "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in given.items()],
                "client": ("127.0.0.1", 1),
                "server": ("127.0.0.1", 2),
            },
            receive,
            send,
        )
        return status, orjson.loads(sent)


class People:
    """A member, an agent of the member, and their objects."""

    member: str
    agent: str
    asker: Asker
    ids: dict[str, str]


@pytest.fixture
async def people(board: Pegboard, admin: httpx.AsyncClient) -> AsyncIterator[People]:
    """A member with a tool, an agent and a thread."""
    found = People()
    user_id, found.member = await new_user(admin, "mia")
    async with client(board, found.member) as mia:
        good(await mia.post("/v1/tools", json=mock("mine")), 201)
        agent = good(await mia.post("/v1/agents", json={"name": "helper", "tools": ["mine"]}), 201)
        made = good(await mia.post(f"/v1/users/{user_id}/keys", json={"agent_id": agent["id"]}), 201)
        thread = good(await mia.post("/v1/threads", json={}), 201)
    found.agent = made["key"]
    others = dict.fromkeys(
        ("tool_id", "execution_id", "key_id", "composite_hash", "run", "session_id", "upstream_id"), "x"
    )
    found.ids = {
        **others,
        "name": "mine",
        "ref": "mine",
        "user_id": user_id,
        "agent_id": agent["id"],
        "thread_id": thread["id"],
    }
    found.asker = Asker(board, found.ids)
    yield found


@pytest.mark.parametrize("key", [None, "wrong"])
async def test_no_route_reads_a_body_without_a_good_key(people: People, key: str | None) -> None:
    for method, path in ROUTES:
        status, body = await people.asker.ask(method, path, key, "limit=wrong&nonsense=1")
        assert (method, path, status, body["title"]) == (method, path, 401, "Unauthorised")


@pytest.mark.parametrize("path", ["/v1/tools/echo/call", "/v1/calls", "/v1/imports/mcp", "/v1/imports/openapi"])
async def test_a_request_without_a_key_is_answered_before_its_body_is_sent(board: Pegboard, path: str) -> None:
    async with served(board) as url, wire(url) as stream:
        length = f"Content-Length: {2**20}"
        await stream.send(head("POST", path, length, "Content-Type: application/json", key=None))
        assert (await read_response(stream))[0] == 401


async def test_the_rights_of_a_member_come_before_the_query_and_the_body(people: People) -> None:
    refused = set()
    for method, path in ROUTES:
        if (method, path) in ADMINS:
            status, body = await people.asker.ask(method, path, people.member, "limit=wrong&nonsense=1")
            assert (path, status) == (path, 403)
            assert body["detail"].startswith("Only admins may ")
        else:
            # Unknown, so that nothing runs.
            status, body = await people.asker.ask(method, path, people.member, "nonsense=1")
        if status == 403:
            refused.add((method, path))
    assert refused == ADMINS


async def test_the_rights_of_an_agent_come_before_the_query_and_the_body(people: People) -> None:
    allowed = set()
    for method, path in ROUTES:
        status, body = await people.asker.ask(method, path, people.agent, "limit=wrong&nonsense=1")
        if status != 403:
            allowed.add((method, path))
        else:
            assert "bound to an agent" in body["detail"]
    assert allowed == AGENTS


async def test_what_belongs_to_others_is_refused_before_the_body_is_read(
    people: People, admin: httpx.AsyncClient
) -> None:
    _, other = await new_user(admin, "otto")
    for method, path, status in (
        ("PATCH", "/v1/tools/{ref}", 404),
        ("PATCH", "/v1/agents/{agent_id}", 404),
        ("PATCH", "/v1/threads/{thread_id}", 404),
        ("POST", "/v1/users/{user_id}/keys", 404),
    ):
        assert (path, (await people.asker.ask(method, path, other))[0]) == (path, status)
    good(await admin.patch("/v1/tools/mine", json={"is_public": True}))
    assert (await people.asker.ask("PATCH", "/v1/tools/{ref}", other))[0] == 403


@pytest.mark.parametrize("body", [b"{", b"{}", b"[]", b'{"name": 1}', b""])
async def test_a_member_who_makes_a_user_is_refused_whatever_the_body(
    board: Pegboard, admin: httpx.AsyncClient, body: bytes
) -> None:
    _, key = await new_user(admin, "mia")
    headers = {**bearer(key), "content-type": "application/json"}
    assert problem(await admin.post("/v1/users", content=body, headers=headers), 403)


async def test_an_unknown_query_parameter_is_refused_on_every_route(people: People) -> None:
    for method, path in ROUTES:
        status, body = await people.asker.ask(method, path, KEY, "nonsense=1")
        if path.startswith(("/v1/threads/", "/v1/upstreams/{")):
            assert status in (404, 422)  # another user's thread, also to an admin, and no server
        else:
            assert (method, path, status) == (method, path, 422)
            assert body["errors"][0]["field"] == "nonsense"


@pytest.mark.parametrize(
    ("method", "path", "query", "message"),
    [
        ("POST", "/v1/calls", "format=claude", "unknown query parameter; did you mean 'as'?"),
        ("POST", "/v1/calls", "form=claude", "unknown query parameter; did you mean 'from'?"),
        ("POST", "/v1/tools/mine/call", "form=claude", "unknown query parameter; known: as"),
        ("GET", "/v1/tools", "limt=5", "unknown query parameter; did you mean 'limit'?"),
        ("GET", "/v1/executions", "toll=echo", "unknown query parameter; did you mean 'tool'?"),
        ("POST", "/v1/users", "role=admin", "this route has no query parameters"),
    ],
)
async def test_an_unknown_query_parameter_gets_the_nearest_name(
    people: People, method: str, path: str, query: str, message: str
) -> None:
    status, body = await people.asker.ask(method, path, KEY, query)
    assert (status, body["errors"][0]["message"]) == (422, message)


@pytest.mark.parametrize("path", ["/v1/tools/mine/call", "/v1/calls", "/v1/calls/normalize", "/v1/tools", "/v1/chains"])
@pytest.mark.parametrize("accept", ["*/*", "text/event-stream"])
async def test_a_multipart_body_is_refused_before_it_is_read(people: People, path: str, accept: str) -> None:
    form = "multipart/form-data; boundary=x"
    status, body = await people.asker.ask("POST", path, KEY, content_type=form, accept=accept)
    assert status == 400
    assert body["detail"] == "The body is multipart/form-data; send JSON, with 'Content-Type: application/json'"
