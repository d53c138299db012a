"""Routes that check the key, the caller's rights and the query before they read the body."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from fastapi import Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from pegboard.board import Pegboard
from pegboard.model.accounts import refuse_agents, require_admin
from pegboard.model.call import Caller
from pegboard.surfaces.rest.asgi_request import check_query, read_bearer_key, refuse_forms
from pegboard.surfaces.rest.json_bodies import JsonBodyParser

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
# Called with the board, the caller and the path parameters; raises if the caller may not use the route.
AccessCheck = Callable[[Pegboard, Caller, Mapping[str, str]], Awaitable[object]]

_ACCESS_ATTRIBUTE = "pegboard_access"


def allow(access: AccessCheck) -> Callable[[Endpoint], Endpoint]:
    """Declare who may use an endpoint; checked before the request is validated and its body is read."""

    def declare(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, _ACCESS_ATTRIBUTE, access)
        return endpoint

    return declare


def allow_admins(what: str) -> Callable[[Endpoint], Endpoint]:
    """Declare that only admins may use an endpoint, and not with a key that is bound to an agent."""

    async def check(_board: Pegboard, caller: Caller, _path: Mapping[str, str]) -> None:
        require_admin(caller, what)

    return allow(check)


async def refuse_agent_keys(_board: Pegboard, caller: Caller, _path: Mapping[str, str]) -> None:
    """Raise Forbidden if the key is bound to an agent."""
    refuse_agents(caller)


async def require_own_user(board: Pegboard, caller: Caller, path: Mapping[str, str]) -> None:
    """Raise if the user is another one and the caller is not an admin."""
    refuse_agents(caller)
    await board.people.get_user(path["user_id"], caller)


async def require_own_tool(board: Pegboard, caller: Caller, path: Mapping[str, str]) -> None:
    """Raise if the tool belongs to another user and the caller is not an admin."""
    refuse_agents(caller)
    await board.tools.get_owned(path["ref"], caller)


async def require_own_agent(board: Pegboard, caller: Caller, path: Mapping[str, str]) -> None:
    """Raise if the agent belongs to another user and the caller is not an admin."""
    refuse_agents(caller)
    board.people.get_agent(path["agent_id"], caller)


async def require_own_thread(board: Pegboard, caller: Caller, path: Mapping[str, str]) -> None:
    """Raise if the thread belongs to another user."""
    refuse_agents(caller)
    await board.threads.get(path["thread_id"], caller)


class KeyRoute(APIRoute):
    """A route that requires a key."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return FastAPI's handler, preceded by the checks."""
        handle = super().get_route_handler()
        access: AccessCheck | None = getattr(self.endpoint, _ACCESS_ATTRIBUTE, None)
        known = sorted(_query_names(self.dependant))

        async def check_and_handle(request: Request) -> Response:
            board: Pegboard = request.app.state.board
            scope = request.scope
            caller = board.calls.authenticate(read_bearer_key(scope["headers"]))
            if access is not None:
                await access(board, caller, request.path_params)
            request.state.caller = caller
            if scope["query_string"]:
                check_query(dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)), known)
            refuse_forms(request.headers.get("content-type", ""))
            return await handle(_JsonRequest(scope, request.receive))

        return check_and_handle


class _JsonRequest(Request):
    """A request whose body is parsed in an OS thread if it is large."""

    async def json(self) -> Any:
        """Return the body as JSON."""
        bodies: JsonBodyParser = self.app.state.bodies
        return await bodies.parse(await self.body(), json.loads)


def _query_names(dependant: Dependant) -> set[str]:
    names = {field.alias for field in dependant.query_params}
    return names.union(*(_query_names(each) for each in dependant.dependencies))
