"""The response of each route of the API to a key that is bound to an agent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import httpx
import pytest

from pegboard import Pegboard
from pegboard.surfaces.rest.app import METHODS_BY_PATH
from tests.surfaces.rest.clients import client, good, mock, new_user, problem
from tests.surfaces.rest.streams import EVENTS

# A mark in everything that only the user has: no response to the agent's key may contain it.
MARK = "of the user alone"
HASH = "a" * 64
FINDINGS = {"findings": [{"finding_id": "f-1", "composite_hash": HASH}]}
STEP = {"steps": [{"id": "a", "tool": "{name}"}]}
# The paths that need no key.
OPEN = {"GET /healthz", "GET /readyz", "GET /metrics", "POST /v1/sessions"}


class Answers(NamedTuple):
    """The results for a user's own objects and for those of the agent (None if the agent has no such object)."""

    users: str
    own: str | None = None
    body: Any = None
    query: str = ""
    headers: dict[str, str] | None = None


REFUSED = Answers("403")
ROUTES = {
    "DELETE /v1/agents/{agent_id}": Answers("403", "403"),
    "DELETE /v1/baseline/findings": Answers("403", query="?status=all"),
    "DELETE /v1/baseline/findings/{composite_hash}": REFUSED,
    "DELETE /v1/calls/{run}": Answers("404", "409"),
    "DELETE /v1/secrets/{name}": REFUSED,
    "DELETE /v1/sessions/{session_id}": REFUSED,
    "DELETE /v1/threads/{thread_id}": Answers("403", "403"),
    "DELETE /v1/tools/{ref}": Answers("403", "403"),
    "DELETE /v1/upstreams/{upstream_id}": REFUSED,
    "DELETE /v1/users/{user_id}": REFUSED,
    "DELETE /v1/users/{user_id}/keys/{key_id}": Answers("403", "403"),
    "GET /v1/agents": REFUSED,
    "GET /v1/agents/{agent_id}": Answers("404", "200"),
    "GET /v1/agents/{agent_id}/definitions": Answers("404", "200"),
    "GET /v1/baseline/findings": REFUSED,
    "GET /v1/board": REFUSED,
    "GET /v1/calls": Answers("200"),
    "GET /v1/calls/{run}/events": Answers("404", "200"),
    "GET /v1/changes/stream": REFUSED,
    "GET /v1/codes": Answers("200"),
    "GET /v1/connect": Answers("200"),
    "GET /v1/definitions": Answers("200"),
    "GET /v1/dialects": Answers("200"),
    "GET /v1/executions": REFUSED,
    "GET /v1/executions/export": REFUSED,
    "GET /v1/executions/statistics": REFUSED,
    "GET /v1/executions/stream": REFUSED,
    "GET /v1/executions/verification": REFUSED,
    "GET /v1/executions/{execution_id}": Answers("403", "403"),
    "GET /v1/executions/{execution_id}/proof": Answers("403", "403"),
    "GET /v1/imports/openapi": REFUSED,
    "GET /v1/kinds": Answers("200"),
    "GET /v1/lint": Answers("200"),
    "GET /v1/lint of one tool": Answers("404", "200", query="?tool={ref}"),
    "GET /v1/me": Answers("200"),
    "GET /v1/search": Answers("403", query="?q=hidden"),
    "GET /v1/secrets": REFUSED,
    "GET /v1/sessions": REFUSED,
    "GET /v1/tables": REFUSED,
    "GET /v1/threads": Answers("200"),
    "GET /v1/threads/{thread_id}": Answers("404", "200"),
    "GET /v1/threads/{thread_id}/messages": Answers("404", "200"),
    "GET /v1/threads/{thread_id}/messages for a provider": Answers("404", "200", query="?as=openai_chat"),
    "GET /v1/tools": Answers("200"),
    "GET /v1/tools of an agent": Answers("404", "200", query="?agent={agent_id}"),
    "GET /v1/tools that are deleted": Answers("200", query="?deleted=true"),
    "GET /v1/tools/{ref}": Answers("404", "200"),
    "GET /v1/tools/{ref}/access": Answers("403", "403"),
    "GET /v1/tools/{ref}/definition": Answers("404", "200"),
    "GET /v1/tools/{ref}/versions": Answers("403", "403"),
    "GET /v1/upstreams": REFUSED,
    "GET /v1/upstreams/origins": REFUSED,
    "GET /v1/upstreams/{upstream_id}": REFUSED,
    "GET /v1/users": REFUSED,
    "GET /v1/users/{user_id}": Answers("404", "200"),
    "GET /v1/users/{user_id}/keys": Answers("403", "403"),
    "PATCH /v1/agents/{agent_id}": Answers("403", "403", {"name": "other"}),
    "PATCH /v1/threads/{thread_id}": Answers("403", "403", {"title": "other"}),
    "PATCH /v1/tools/{ref}": Answers("403", "403", {"description": "other"}),
    "PATCH /v1/users/{user_id}": Answers("403", "403", {"name": "other"}),
    "POST /v1/agents": Answers("403", body={"name": "new"}),
    "POST /v1/apply": Answers("403", body={"tools": [mock("applied")]}),
    "POST /v1/baseline/findings": Answers("403", body=FINDINGS),
    "POST /v1/baseline/resolve": Answers("403", body=FINDINGS),
    "POST /v1/calls": Answers("200 tool_not_found", "200 success", {"name": "{name}"}),
    "POST /v1/calls in a thread": Answers("404", "200 success", {"name": "shared"}, "?thread={thread_id}"),
    "POST /v1/calls in a thread, followed": Answers("404", "200", {"name": "shared"}, "?thread={thread_id}", EVENTS),
    "POST /v1/calls/normalize": Answers("200", "200", {"name": "{name}", "arguments": {}}),
    "POST /v1/chains": Answers("200 tool_not_found", "200 success", STEP),
    "POST /v1/chains to save": Answers("403", "403", {**STEP, "save": True, "name": "saved"}),
    "POST /v1/definitions": Answers("403", body={"tools": [mock("draft")]}),
    "POST /v1/executions/prune": Answers("403", body={"before": "2026-01-01T00:00:00Z"}),
    "POST /v1/executions/verify": Answers("403", body={}),
    "POST /v1/executions/verify-export": Answers("403", body={"lines": ["{}"]}),
    "POST /v1/executions/{execution_id}/replay": Answers("403", "403", {}),
    "POST /v1/imports/mcp": Answers("403", body={"server_url": "https://example.com/mcp"}),
    "POST /v1/imports/openapi": Answers("403", body={"url": "https://example.com/openapi.json"}),
    "POST /v1/lint": Answers("403", body={"tools": [mock("draft")]}),
    "POST /v1/secrets/rotate": REFUSED,
    "POST /v1/sessions/codes": REFUSED,
    "POST /v1/tables/reload": REFUSED,
    "POST /v1/threads": Answers("201", body={}),
    "POST /v1/threads/{thread_id}/messages": Answers("404", "201", {"role": "user", "content": "hello"}),
    "POST /v1/tools": Answers("403", body=mock("made")),
    "POST /v1/tools/{name}/call": Answers("200 tool_not_found", "200 success", {}),
    "POST /v1/tools/{ref}/accept": Answers("403", "403"),
    "POST /v1/upstreams/{upstream_id}/accept": REFUSED,
    "POST /v1/upstreams/{upstream_id}/check": REFUSED,
    "POST /v1/upstreams/{upstream_id}/import": REFUSED,
    "POST /v1/tools/{ref}/restore": Answers("403", "403"),
    "POST /v1/users": Answers("403", body={"name": "mallory", "role": "admin"}),
    "POST /v1/users/{user_id}/keys": Answers("403", "403", {}),
    "PUT /v1/secrets/{name}": Answers("403", body={"value": "x"}),
}


@dataclass
class Scene:
    """A user, an agent with a key, and the ids of the objects of each."""

    user: httpx.AsyncClient
    robot: httpx.AsyncClient
    users: dict[str, str]
    own: dict[str, str]


@pytest.fixture(params=["member", "admin"])
async def scene(board: Pegboard, admin: httpx.AsyncClient, request: pytest.FixtureRequest) -> AsyncIterator[Scene]:
    """An agent of a member, and one of an admin."""
    user_id, user_key = await new_user(admin, "ada", request.param)
    async with client(board, user_key) as user:
        shared = good(await user.post("/v1/tools", json=mock("shared")), 201)
        hidden = good(await user.post("/v1/tools", json=mock("hidden", description=MARK)), 201)
        good(await user.post("/v1/tools", json=mock("gone", description=MARK)), 201)
        good(await user.delete("/v1/tools/gone"), 204)
        good(await user.put("/v1/secrets/hidden", json={"value": MARK}))
        good(await user.post("/v1/baseline/findings", json=FINDINGS))
        agent = good(await user.post("/v1/agents", json={"name": "robot", "tools": ["shared"]}), 201)
        other = good(await user.post("/v1/agents", json={"name": MARK, "tools": ["hidden"]}), 201)
        keys = f"/v1/users/{user_id}/keys"
        key = good(await user.post(keys, json={"agent_id": agent["id"]}), 201)
        of_other = good(await user.post(keys, json={"agent_id": other["id"], "name": MARK}), 201)
        async with client(board, key["key"]) as robot, client(board, of_other["key"]) as sibling:
            users = await _used(user, "hidden", {"title": MARK}) | {
                "agent_id": other["id"],
                "composite_hash": HASH,
                "key_id": of_other["id"],
                "name": "hidden",
                "ref": hidden["id"],
                "tool_id": hidden["id"],
                "user_id": board.admin.user_id,
            }
            # Objects of another agent of the same user belong to the agent no more than those of the user.
            await _used(sibling, "hidden", {"title": MARK})
            own = await _used(robot, "shared", {"title": "mine"}) | {
                "agent_id": agent["id"],
                "key_id": key["id"],
                "name": "shared",
                "ref": shared["id"],
                "tool_id": shared["id"],
                "user_id": user_id,
            }
            yield Scene(user, robot, users, own)
    await board.following.close()


async def _used(speaker: httpx.AsyncClient, tool: str, thread: dict[str, str]) -> dict[str, str]:
    """Create a thread with a message, a finished call, and a followed call."""
    made = good(await speaker.post("/v1/threads", json=thread), 201)
    values = {"role": "user", "content": thread["title"]}
    good(await speaker.post(f"/v1/threads/{made['id']}/messages", json=values), 201)
    called = await speaker.post(f"/v1/tools/{tool}/call", json={})
    followed = await speaker.post("/v1/calls", json={"name": tool}, headers=EVENTS)
    return {
        "thread_id": made["id"],
        "execution_id": called.headers["x-execution-id"],
        "run": followed.headers["x-run-id"],
    }


def test_every_route_has_an_entry() -> None:
    described = {f"{method} {path}" for path, methods in METHODS_BY_PATH.items() for method in methods}
    assert {" ".join(route.split()[:2]) for route in ROUTES} == described - OPEN


async def test_a_key_of_an_agent_gets_what_the_table_says_and_changes_nothing_else(scene: Scene) -> None:
    before = await _state(scene)
    assert MARK in str(before)
    wanted, got, received = {}, {}, []
    for route, expected in ROUTES.items():
        wanted[route] = (expected.users, expected.own)
        theirs, text = await _send_request(scene.robot, route, expected, scene.users)
        received += [route] if MARK in text else []
        own = None
        if expected.own is not None:
            own, text = await _send_request(scene.robot, route, expected, scene.users | scene.own)
            received += [route] if MARK in text else []
        got[route] = (theirs, own)
    assert got == wanted
    assert received == []
    assert await _state(scene) == before


async def _send_request(robot: httpx.AsyncClient, route: str, answers: Answers, ids: dict[str, str]) -> tuple[str, str]:
    """Send a request about these objects; return its status, how its call ended, and the text of the response."""
    method, path = route.split()[:2]
    body = _filled(answers.body, ids)
    url = _filled(path + answers.query, ids)
    answer = await robot.request(method, url, json=body, headers=answers.headers)
    if answer.status_code >= 400:
        problem(answer, answer.status_code)
    outcome = answer.json() if answer.headers.get("content-type") == "application/json" else None
    if not isinstance(outcome, dict) or "success" not in outcome:
        return str(answer.status_code), answer.text
    code = outcome.get("code") or outcome.get("error_details", {}).get("code")
    return f"{answer.status_code} {'success' if outcome['success'] else code}", answer.text


def _filled(value: Any, ids: dict[str, str]) -> Any:
    if isinstance(value, str):
        for name, known in ids.items():
            value = value.replace(f"{{{name}}}", known)
        return value
    if isinstance(value, dict):
        return {key: _filled(item, ids) for key, item in value.items()}
    return [_filled(item, ids) for item in value] if isinstance(value, list) else value


async def _state(scene: Scene) -> list[Any]:
    """All that the user has, but for the threads that the agent's key may add to."""
    me = scene.own["user_id"]
    paths = ["tools", "tools?deleted=true", "agents", "secrets", "baseline/findings", f"users/{me}/keys"]
    found = [good(await scene.user.get(f"/v1/{path}")) for path in paths]
    for key in found[-1]["items"]:
        del key["last_used_at"]
    threads = good(await scene.user.get("/v1/threads"))["items"]
    titles = sorted(thread["title"] for thread in threads if thread["id"] == scene.own["thread_id"])
    kept = [thread for thread in threads if thread["agent_id"] != scene.own["agent_id"]]
    history = good(await scene.user.get(f"/v1/threads/{scene.users['thread_id']}/messages"))
    return [found, titles, kept, history]


async def test_a_user_sees_the_threads_of_their_agents_and_may_delete_them(scene: Scene) -> None:
    thread = f"/v1/threads/{scene.own['thread_id']}"
    assert good(await scene.user.get(thread))["agent_id"] == scene.own["agent_id"]
    assert good(await scene.user.patch(thread, json={"title": "renamed"}))["title"] == "renamed"
    good(await scene.user.delete(thread), 204)
    problem(await scene.robot.get(thread), 404)
