"""Routes that check the key, the caller's rights and the query before they read any of the body."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from fastapi import Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from pegboard.board import Pegboard
from pegboard.core.call import Caller
from pegboard.registry.registry import admins_only, refuse_agents
from pegboard.surfaces.rest.incoming import bearer_key, check_query, refuse_forms
from pegboard.surfaces.rest.json_bodies import JsonBodies

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
# Given the board, the caller and the parameters of the path; raises where the caller may not use the route.
Access = Callable[[Pegboard, Caller, Mapping[str, str]], Awaitable[object]]

_ACCESS = "pegboard_access"


def allow(access: Access) -> Callable[[Endpoint], Endpoint]:
    """Declare who may use an endpoint; checked before the request is validated and before its body is read."""

    def declare(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, _ACCESS, access)
        return endpoint

    return declare


def allow_admins(what: str) -> Callable[[Endpoint], Endpoint]:
    """Declare that only admins may do this, and not with a key that is bound to an agent."""

    async def check(_board: Pegboard, caller: Caller, _path: Mapping[str, str]) -> None:
        admins_only(caller, what)

    return allow(check)


async def not_agents(_board: Pegboard, caller: Caller, _path: Mapping[str, str]) -> None:
    """Refuse a key that is bound to an agent."""
    refuse_agents(caller)


async def own_user(board: Pegboard, caller: Caller, path: Mapping[str, str]) -> None:
    """Refuse another user's keys, except to admins."""
    refuse_agents(caller)
    await board.people.get_user(path["user_id"], caller)


async def own_tool(board: Pegboard, caller: Caller, path: Mapping[str, str]) -> None:
    """Refuse another user's tool, except to admins."""
    refuse_agents(caller)
    await board.tools.owned(path["ref"], caller)


async def own_agent(board: Pegboard, caller: Caller, path: Mapping[str, str]) -> None:
    """Refuse another user's agent, except to admins."""
    refuse_agents(caller)
    board.people.get_agent(path["agent_id"], caller)


async def own_thread(board: Pegboard, caller: Caller, path: Mapping[str, str]) -> None:
    """Refuse another user's thread."""
    refuse_agents(caller)
    await board.threads.get(path["thread_id"], caller)


class KeyRoute(APIRoute):
    """A route that needs a key."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The framework's handler behind the checks."""
        handle = super().get_route_handler()
        access: Access | None = getattr(self.endpoint, _ACCESS, None)
        known = sorted(_query_names(self.dependant))

        async def check_and_handle(request: Request) -> Response:
            board: Pegboard = request.app.state.board
            scope = request.scope
            caller = board.snapshot.holder(bearer_key(authorization_of(scope["headers"])))
            if access is not None:
                await access(board, caller, request.path_params)
            request.state.caller = caller
            if scope["query_string"]:
                check_query(dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)), known)
            refuse_forms(request.headers.get("content-type", ""))
            return await handle(_JsonRequest(scope, request.receive))

        return check_and_handle


class _JsonRequest(Request):
    """A request whose body, if it is large, is parsed in a thread."""

    async def json(self) -> Any:
        """The body as JSON."""
        bodies: JsonBodies = self.app.state.bodies
        return await bodies.parse(await self.body(), json.loads)


def authorization_of(headers: Iterable[tuple[bytes, bytes]]) -> bytes | None:
    """The Authorization header; empty if there are several, which a proxy in front could read differently."""
    sent = [value for name, value in headers if name == b"authorization"]
    return None if not sent else sent[0] if len(sent) == 1 else b""


def _query_names(dependant: Dependant) -> set[str]:
    names = {field.alias for field in dependant.query_params}
    return names.union(*(_query_names(each) for each in dependant.dependencies))
