"""Parts of routes: parameter types, dependencies, and the checks of key, rights and query before the body is read."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qsl

from fastapi import Depends, Query, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field

from pegboard.board import Pegboard
from pegboard.model.accounts import refuse_agents, require_admin
from pegboard.model.call import Caller, CallRequest
from pegboard.model.page import MAX_PAGE_SIZE
from pegboard.surfaces.rest.asgi_request import RequestHeaders, check_query, refuse_forms
from pegboard.surfaces.rest.json_bodies import JsonBodyParser
from pegboard.surfaces.rest.request_caller import RequestCallers

# Only adds the scheme to the OpenAPI document; `KeyRoute` checks the key.
_scheme = HTTPBearer(auto_error=False, scheme_name="bearer")


def get_board(request: Request) -> Pegboard:
    """Return the board that this application serves."""
    board: Pegboard = request.app.state.board
    return board


def get_caller(request: Request, _scheme: Annotated[object, Depends(_scheme)]) -> Caller:
    """Return the caller that `KeyRoute` authenticated."""
    caller: Caller = request.state.caller
    return caller


def read_call_request(request: Request, caller: Caller, thread_id: str | None = None) -> CallRequest:
    """Return the parts of a call request that are in the headers."""
    headers = RequestHeaders.of(request.scope["headers"])
    surface = "console" if caller.is_session else headers.surface
    return CallRequest(caller, surface, request.state.request_id, headers.key, thread_id)


Board = Annotated[Pegboard, Depends(get_board)]
CurrentCaller = Annotated[Caller, Depends(get_caller)]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE_SIZE, description="Maximum number of items")]
Cursor = Annotated[str | None, Query(description="next_cursor of the previous page")]


_ISO_START = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d", re.ASCII)


def _check_iso_format(moment: object) -> object:
    """Raise ValueError if the time is not ISO 8601: a bare number could be seconds, milliseconds or a year."""
    if not isinstance(moment, str) or not _ISO_START.match(moment):
        raise ValueError("must be ISO 8601 with a zone, as 2026-01-02T03:04:05Z")
    return moment


def _convert_to_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("is before the year 1 or after the year 9999 in UTC") from None


def _check_visible_characters(name: str) -> str:
    """Raise ValueError for control, invisible or direction characters: people read and compare names."""
    if any(unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") for character in name):
        raise ValueError("must not contain control, invisible or direction characters")
    return name


ReadableName = Annotated[str, Field(min_length=1, max_length=255), AfterValidator(_check_visible_characters)]
UtcTime = Annotated[AwareDatetime, BeforeValidator(_check_iso_format), AfterValidator(_convert_to_utc)]


Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
# Called with the board, the caller and the path parameters; raises if the caller may not use the route.
AccessCheck = Callable[[Pegboard, Caller, Mapping[str, str]], Awaitable[object]]

_ACCESS_ATTRIBUTE = "pegboard_access"
_OPEN_ATTRIBUTE = "pegboard_needs_no_key"
# A browser must not store what a session reads, and not guess what it is.
_SESSION_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def allow(access: AccessCheck) -> Callable[[Endpoint], Endpoint]:
    """Declare the permission for an endpoint; checked before the request is validated and its body is read."""

    def declare(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, _ACCESS_ATTRIBUTE, access)
        return endpoint

    return declare


def allow_without_key(check: Callable[[Request], object]) -> Callable[[Endpoint], Endpoint]:
    """Declare that an endpoint needs no key and ignores it; `check` may refuse a request before its body is read."""

    def declare(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, _OPEN_ATTRIBUTE, check)
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


async def require_own_upstream(board: Pegboard, caller: Caller, path: Mapping[str, str]) -> None:
    """Raise if the upstream belongs to another user and the caller is not an admin."""
    board.upstreams.get_owned(path["upstream_id"], caller)


async def require_own_thread(board: Pegboard, caller: Caller, path: Mapping[str, str]) -> None:
    """Raise if the thread belongs to another user."""
    refuse_agents(caller)
    await board.threads.get(path["thread_id"], caller)


class KeyRoute(APIRoute):
    """A route that requires a key or a session, unless it is declared with `allow_without_key`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return FastAPI's handler, preceded by the checks."""
        handle = super().get_route_handler()
        access: AccessCheck | None = getattr(self.endpoint, _ACCESS_ATTRIBUTE, None)
        check_open: Callable[[Request], object] | None = getattr(self.endpoint, _OPEN_ATTRIBUTE, None)
        known = sorted(_query_names(self.dependant))

        async def check_and_handle(request: Request) -> Response:
            scope = request.scope
            caller: Caller | None = None
            if check_open is not None:
                check_open(request)
            else:
                callers: RequestCallers = request.app.state.callers
                caller = request.state.caller = callers.find(scope)
                if access is not None:
                    await access(request.app.state.board, caller, request.path_params)
            if scope["query_string"]:
                check_query(dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)), known)
            refuse_forms(request.headers.get("content-type", ""))
            response = await handle(_JsonRequest(scope, request.receive))
            if caller is not None and caller.is_session:
                for name, value in (_SESSION_HEADERS | request.app.state.session_headers).items():
                    response.headers.setdefault(name, value)
            return response

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
