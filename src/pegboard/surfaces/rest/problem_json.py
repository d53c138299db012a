"""Errors of the API itself, as application/problem+json."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from pegboard.model.api_errors import (
    MAX_FAULTS,
    UNEXPECTED_ERROR_MESSAGE,
    Conflict,
    Fault,
    Forbidden,
    Invalid,
    NotFound,
    Refusal,
    TooManyRequests,
    Unauthorised,
)
from pegboard.model.call_errors import (
    CircuitOpen,
    MalformedArguments,
    Misconfigured,
    RateLimited,
    SecretUnreadable,
    TimedOut,
    ToolError,
    Unavailable,
    UpstreamFailed,
)
from pegboard.model.validation_messages import list_item_faults
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

PROBLEM_MEDIA_TYPE = "application/problem+json"
REFUSAL_STATUS: dict[type[Refusal], int] = {
    Invalid: 422,
    Unauthorised: 401,
    Forbidden: 403,
    NotFound: 404,
    Conflict: 409,
    TooManyRequests: 429,
}
STATUS_TITLES = {
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


def encode_problem(
    status: int, detail: str, *, request_id: str | None = None, errors: list[dict[str, str]] | None = None
) -> bytes:
    """Return the body of an error response."""
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": STATUS_TITLES.get(status, "Error"),
        "status": status,
        "detail": detail,
    }
    if errors:
        body["errors"] = errors
    if request_id is not None:
        body["request_id"] = request_id
    return orjson.dumps(body)


def describe_refusal(error: Refusal | ToolError) -> tuple[int, str, list[dict[str, str]]]:
    """Return the status, message and faults of a refusal, or of a ToolError that was raised outside a call."""
    if isinstance(error, ToolError):
        return _get_error_status(error), error.message, []
    status = next((code for kind, code in REFUSAL_STATUS.items() if isinstance(error, kind)), 400)
    return status, error.message, [{"field": fault.field, "message": fault.message} for fault in error.faults]


def _get_error_status(error: ToolError) -> int:
    if isinstance(error, MalformedArguments):
        return 400
    if isinstance(error, UpstreamFailed | TimedOut | CircuitOpen | RateLimited):
        return 502
    return 503 if isinstance(error, Unavailable | Misconfigured | SecretUnreadable) else 500


def describe_unexpected_error(error: Exception) -> tuple[int, str]:
    """Return the HTTP status and message for an unexpected exception."""
    if _is_database_error(error):
        return 503, "The database cannot be reached at the moment; try again shortly"
    return 500, UNEXPECTED_ERROR_MESSAGE


def _build_response(request: Request, status: int, detail: str, errors: list[dict[str, str]] | None = None) -> Response:
    headers = (
        {"WWW-Authenticate": "Bearer"} if status == 401 else {"Retry-After": "1"} if status in (429, 503) else None
    )
    body = encode_problem(status, detail, request_id=getattr(request.state, "request_id", None), errors=errors)
    return Response(body, status, headers, PROBLEM_MEDIA_TYPE)


def add_problem_handlers(app: FastAPI, methods: Mapping[str, Iterable[str]]) -> None:
    """Add exception handlers that return every error as problem+json; `methods` lists the HTTP methods of each path."""

    @app.exception_handler(Refusal)
    @app.exception_handler(ToolError)
    async def handle_refusal(request: Request, error: Refusal | ToolError) -> Response:
        return _build_response(request, *describe_refusal(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        items = error.errors()
        for item in items:
            if item["type"] == "json_invalid":
                return _build_response(
                    request, 400, f"Not valid JSON at character {item['loc'][-1]}: {item['ctx']['error']}"
                )
        return await handle_refusal(
            request, Invalid.of("The request is not valid", _build_faults(items[: MAX_FAULTS + 1], request))
        )

    @app.exception_handler(HTTPException)
    async def plain(request: Request, error: HTTPException) -> Response:
        unknown = error.status_code == 405 or (error.status_code == 404 and error.detail == "Not Found")
        if not unknown:
            answer = _build_response(request, error.status_code, error.detail)
            answer.headers.update(error.headers or {})
            return answer
        detail = f"There is no {request.method} {request.url.path}; /docs lists all routes"
        allowed = _find_allowed_methods(request, methods)
        answer = _build_response(request, 405 if allowed else 404, detail)
        if allowed:
            answer.headers["Allow"] = ", ".join(sorted(allowed))
        return answer

    @app.exception_handler(ClientDisconnect)
    async def handle_disconnect(request: Request, error: ClientDisconnect) -> Response:
        return _build_response(request, 400, "The request ended before its body did")

    @app.exception_handler(Exception)
    async def handle_unexpected_error(request: Request, error: Exception) -> Response:
        log.error("request_broke", method=request.method, path=request.url.path, exc_info=error)
        return _build_response(request, *describe_unexpected_error(error))


def _find_allowed_methods(request: Request, methods: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the methods of the request path; the router has only those of one route."""
    allowed: set[str] = set()
    for path, known in methods.items():
        if re.fullmatch(re.sub(r"\{[^}]+\}", "[^/]+", path), request.url.path):
            allowed |= set(known)
    return allowed


def _build_faults(items: Sequence[Any], request: Request) -> list[Fault]:
    """Convert the errors of pydantic to faults, with the messages of `list_item_faults`."""
    field = getattr(request.scope.get("route"), "body_field", None)
    model = field.field_info.annotation if field is not None else BaseModel
    faults = [_build_body_fault(item, request) for item in items if _is_about_body(item)]
    for in_body in (False, True):
        rest = [item for item in items if (item["loc"][0] == "body") == in_body and not _is_about_body(item)]
        faults += list_item_faults([{**item, "loc": item["loc"][1:]} for item in rest], model if in_body else BaseModel)
    return faults


def _is_about_body(item: Any) -> bool:
    """Return True if the error is about the body as a whole."""
    return bool(item["loc"] == ("body",)) and item["type"] != "value_error"


def _build_body_fault(item: Any, request: Request) -> Fault:
    media_type = request.headers.get("content-type", "")
    if item["type"] == "missing":
        return Fault("body", "required: a JSON object")
    if "json" not in media_type:
        return Fault("body", f"must be JSON, sent with 'Content-Type: application/json', not '{media_type[:100]}'")
    return Fault("body", "must be a JSON object")


def _is_database_error(error: BaseException) -> bool:
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    return isinstance(error, OperationalError | InterfaceError | PoolTimeout | OSError)
