"""Routes to log in to the web console, and to list and end its sessions."""

from __future__ import annotations

from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response
from pydantic import Field, model_validator
from starlette.exceptions import HTTPException

from pegboard.board import Pegboard
from pegboard.model.accounts import ApiKey
from pegboard.model.api_errors import NotFound, Unauthorised
from pegboard.model.base_model import Model
from pegboard.registry.sessions import NewSession
from pegboard.surfaces.rest.bodies import ResponseBody
from pegboard.surfaces.rest.login_limit import LoginLimit
from pegboard.surfaces.rest.request_caller import RequestCallers, SessionCookie
from pegboard.surfaces.rest.routing import Board, CurrentCaller, KeyRoute, allow, allow_without_key, refuse_agent_keys

router = APIRouter(prefix="/v1/sessions", tags=["sessions"], route_class=KeyRoute)

LOGIN_PATH = "/v1/sessions"
MAX_LOGIN_BYTES = 16 * 1024
_CURRENT = "current"


class LoginBody(Model):
    """A key, or a one-time code of `POST /v1/sessions/codes`."""

    key: str | None = Field(None, repr=False)
    code: str | None = Field(None, repr=False)

    @model_validator(mode="after")
    def _check_one(self) -> LoginBody:
        if (self.key is None) == (self.code is None):
            raise ValueError("give either `key` or `code`")
        return self


class SessionResponse(ResponseBody):
    """A session of the web console."""

    id: str = Field(description="Also the `key_id` of its calls in the journal")
    user_id: str
    key_id: str = Field(description="The key that it was made with; it ends when this key is revoked or expires")
    client: str = Field(description="The User-Agent of the browser that logged in")
    created_at: datetime
    last_used_at: datetime | None = Field(description="Accurate to a minute or two")
    expires_at: datetime = Field(description="It ends then, or after PEGBOARD_SESSION_IDLE_SECONDS without a request")
    is_current: bool = Field(description="Whether it is the session of this request")


class SessionList(ResponseBody):
    """The caller's sessions."""

    items: list[SessionResponse]


class CodeCreated(ResponseBody):
    """A one-time code."""

    code: str = Field(description="Put it into the fragment of the address: /console/#code=CODE")
    expires_at: datetime


def _check_log_in(request: Request) -> None:
    """Raise Forbidden if this address can have no sessions, or HTTPException 429 after too many failures."""
    callers: RequestCallers = request.app.state.callers
    callers.check_log_in(request.scope)
    limit: LoginLimit = request.app.state.login_limit
    if wait := limit.get_wait_seconds(_get_address(request)):
        message = f"Too many log-ins from this address have failed; try again in {wait} seconds"
        raise HTTPException(429, message, {"Retry-After": str(wait)})


def _get_address(request: Request) -> str:
    return request.client.host if request.client is not None else ""


@router.post("", operation_id="log_in", status_code=201)
@allow_without_key(_check_log_in)
async def log_in(body: LoginBody, board: Board, request: Request, response: Response) -> SessionResponse:
    """Log in with a key or a one-time code: the response sets the cookie of a session. Needs no Authorization header.

    The status is 401 for a key or code that is not valid, 403 for a key that is bound to an agent, for a page of
    another site and over an address that cannot have sessions, and 429 after ten failures in a minute from one address.
    """
    callers: RequestCallers = request.app.state.callers
    cookie = callers.check_log_in(request.scope)
    try:
        session = await _create_session(board, body, request.headers.get("user-agent", ""))
    except Unauthorised:
        limit: LoginLimit = request.app.state.login_limit
        limit.count_failure(_get_address(request))
        raise
    _set_cookie(response, cookie, session)
    return _build_response(session.row, session.row.id)


@router.get("", operation_id="list_sessions")
@allow(refuse_agent_keys)
async def list_sessions(board: Board, caller: CurrentCaller) -> SessionList:
    """The caller's sessions that are not over, oldest first."""
    rows = await board.sessions.list_own(caller)
    return SessionList(items=[_build_response(row, caller.key_id) for row in rows])


@router.post("/codes", operation_id="create_code", status_code=201)
@allow(refuse_agent_keys)
async def create_code(board: Board, caller: CurrentCaller) -> CodeCreated:
    """Create a code that logs in once, within 60 seconds; needs a key, not a session."""
    made = await board.sessions.create_code(caller)
    assert made.row.expires_at is not None
    return CodeCreated(code=made.token, expires_at=made.row.expires_at)


@router.delete("/{session_id}", operation_id="end_session", status_code=204)
@allow(refuse_agent_keys)
async def end_session(
    session_id: str, board: Board, caller: CurrentCaller, request: Request, response: Response
) -> None:
    """End a session of the caller; `current` is the one of this request, which logs out."""
    if session_id == _CURRENT:
        if not caller.is_session or caller.key_id is None:
            raise NotFound("This request has a key, and no session; give the id of a session")
        session_id = caller.key_id
    await board.sessions.end(session_id, caller)
    if session_id == caller.key_id:
        callers: RequestCallers = request.app.state.callers
        response.headers["Set-Cookie"] = callers.check_log_in(request.scope).format("", 0)


async def _create_session(board: Pegboard, body: LoginBody, client: str) -> NewSession:
    if body.key is not None:
        return await board.sessions.log_in_with_key(body.key, client)
    assert body.code is not None
    return await board.sessions.log_in_with_code(body.code, client)


def _set_cookie(response: Response, cookie: SessionCookie, session: NewSession) -> None:
    assert session.row.expires_at is not None
    # Not `Expires`: the clock of the browser may be wrong.
    seconds = (session.row.expires_at - datetime.now(UTC)).total_seconds()
    response.headers["Set-Cookie"] = cookie.format(session.token, max(1, int(seconds)))
    response.headers["Cache-Control"] = "no-store"


def _build_response(row: ApiKey, current_id: str | None) -> SessionResponse:
    assert row.parent_id is not None
    assert row.expires_at is not None
    return SessionResponse(
        id=row.id,
        user_id=row.user_id,
        key_id=row.parent_id,
        client=row.name,
        created_at=row.created_at,
        last_used_at=row.last_used_at,
        expires_at=row.expires_at,
        is_current=row.id == current_id,
    )
