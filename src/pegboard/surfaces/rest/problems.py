"""Errors of the API itself, as application/problem+json."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from pegboard.core.errors import (
    CircuitOpen,
    Misconfigured,
    RateLimited,
    SecretUnreadable,
    TimedOut,
    ToolError,
    Unavailable,
    UpstreamFailed,
)
from pegboard.core.refusals import (
    MAX_FAULTS,
    Conflict,
    Fault,
    Forbidden,
    Invalid,
    NotFound,
    Refusal,
    TooManyRequests,
    Unauthorised,
)
from pegboard.registry.definition import faults_in
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# The board could not take or keep the call: the only outcomes of a call that are errors of HTTP too.
UNAVAILABLE = frozenset({"unavailable", "unrecorded"})
MEDIA_TYPE = "application/problem+json"
STATUS: dict[type[Refusal], int] = {
    Invalid: 422,
    Unauthorised: 401,
    Forbidden: 403,
    NotFound: 404,
    Conflict: 409,
    TooManyRequests: 429,
}
TITLES = {
    400: "Bad request",
    401: "Unauthorised",
    403: "Forbidden",
    404: "Not found",
    405: "Method not allowed",
    408: "Request too slow",
    409: "Conflict",
    410: "Gone",
    413: "Body too large",
    422: "Invalid request",
    429: "Too many requests",
    431: "Request head too large",
    500: "Internal error",
    502: "Upstream failed",
    503: "Unavailable",
}


def problem(
    status: int, detail: str, *, request_id: str | None = None, errors: list[dict[str, str]] | None = None
) -> bytes:
    """The body of an error answer."""
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": TITLES.get(status, "Error"),
        "status": status,
        "detail": detail,
    }
    if errors:
        body["errors"] = errors
    if request_id is not None:
        body["request_id"] = request_id
    return orjson.dumps(body)


def refusal_of(error: Refusal) -> tuple[int, str, list[dict[str, str]]]:
    """Status, text and faults of something the board refused."""
    status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), 400)
    return status, error.message, [{"field": fault.field, "message": fault.message} for fault in error.faults]


def status_of(error: ToolError) -> int:
    """The status of an answer where something other than a call met this error."""
    if isinstance(error, UpstreamFailed | TimedOut | CircuitOpen | RateLimited):
        return 502
    return 503 if isinstance(error, Unavailable | Misconfigured | SecretUnreadable) else 500


def trouble_of(error: Exception) -> tuple[int, str]:
    """Status and text of an answer where something broke that nobody foresaw."""
    if _is_database_trouble(error):
        return 503, "The database cannot be reached at the moment; try again shortly"
    return 500, "Something went wrong on the board; its log says what"


def _answer(request: Request, status: int, detail: str, errors: list[dict[str, str]] | None = None) -> Response:
    headers = (
        {"WWW-Authenticate": "Bearer"} if status == 401 else {"Retry-After": "1"} if status in (429, 503) else None
    )
    body = problem(status, detail, request_id=getattr(request.state, "request_id", None), errors=errors)
    return Response(body, status, headers, MEDIA_TYPE)


def add_problem_handlers(app: FastAPI, methods: Mapping[str, Iterable[str]]) -> None:
    """Answer every error of this application, whose paths have these methods, as a problem."""

    @app.exception_handler(Refusal)
    async def refused(request: Request, error: Refusal) -> Response:
        status, detail, errors = refusal_of(error)
        return _answer(request, status, detail, errors)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        items = error.errors()
        for item in items:
            if item["type"] == "json_invalid":
                return _answer(request, 400, f"Not valid JSON at character {item['loc'][-1]}: {item['ctx']['error']}")
        refusal = Invalid.of("The request is not valid", [_fault(item, request) for item in items[: MAX_FAULTS + 1]])
        return await refused(request, refusal)

    @app.exception_handler(HTTPException)
    async def plain(request: Request, error: HTTPException) -> Response:
        unknown = error.status_code == 405 or (error.status_code == 404 and error.detail == "Not Found")
        if not unknown:
            answer = _answer(request, error.status_code, error.detail)
            answer.headers.update(error.headers or {})
            return answer
        detail = f"There is no {request.method} {request.url.path} here; see /docs for what there is"
        allowed = _allowed(request, methods)
        answer = _answer(request, 405 if allowed else 404, detail)
        if allowed:
            answer.headers["Allow"] = ", ".join(sorted(allowed))
        return answer

    @app.exception_handler(ToolError)
    async def unusable(request: Request, error: ToolError) -> Response:
        return _answer(request, status_of(error), error.message)

    @app.exception_handler(ClientDisconnect)
    async def gone(request: Request, error: ClientDisconnect) -> Response:
        return _answer(request, 400, "The request ended before its body did")

    @app.exception_handler(Exception)
    async def broken(request: Request, error: Exception) -> Response:
        log.error("request_broke", method=request.method, path=request.url.path, exc_info=error)
        return _answer(request, *trouble_of(error))


def _allowed(request: Request, methods: Mapping[str, Iterable[str]]) -> set[str]:
    """The methods that the path of this request has; the router itself knows only those of one route."""
    allowed: set[str] = set()
    for path, known in methods.items():
        if re.fullmatch(re.sub(r"\{[^}]+\}", "[^/]+", path), request.url.path):
            allowed |= set(known)
    return allowed


def _fault(item: Any, request: Request) -> Fault:
    """One fault that pydantic found, in the words of `faults_in`."""
    if item["loc"] == ("body",) and item["type"] != "value_error":
        media_type = request.headers.get("content-type", "")
        if item["type"] == "missing":
            return Fault("body", "required: a JSON object")
        if "json" not in media_type:
            return Fault("body", f"must be JSON, sent with 'Content-Type: application/json', not '{media_type[:100]}'")
        return Fault("body", "must be a JSON object")
    field = getattr(request.scope.get("route"), "body_field", None)
    model = field.field_info.annotation if field is not None and item["loc"][0] == "body" else None
    (fault,) = faults_in([{**item, "loc": item["loc"][1:]}], model or BaseModel)
    return fault


def _is_database_trouble(error: BaseException) -> bool:
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    return isinstance(error, OperationalError | InterfaceError | PoolTimeout | OSError)
