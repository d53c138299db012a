"""Parameter and field types that several routes share, and the dependencies of route functions."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Query, Request
from fastapi.security import HTTPBearer
from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field

from pegboard.board import Pegboard
from pegboard.model.call import Caller, CallRequest
from pegboard.model.page import MAX_PAGE_SIZE
from pegboard.surfaces.rest.asgi_request import RequestHeaders

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
    """Return what the headers of a request say about its calls."""
    headers = RequestHeaders.of(request.scope["headers"])
    return CallRequest(caller, headers.surface, request.state.request_id, headers.key, thread_id)


Board = Annotated[Pegboard, Depends(get_board)]
CurrentCaller = Annotated[Caller, Depends(get_caller)]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE_SIZE, description="How many at most")]
Cursor = Annotated[str | None, Query(description="next_cursor of the page before")]


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
        raise ValueError("lies before the year 1 or after the year 9999 in UTC") from None


def _check_visible_characters(name: str) -> str:
    """Raise ValueError for control, invisible or direction characters: people read and compare names."""
    if any(unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") for character in name):
        raise ValueError("may not hold control, invisible or direction characters")
    return name


ReadableName = Annotated[str, Field(min_length=1, max_length=255), AfterValidator(_check_visible_characters)]
UtcTime = Annotated[AwareDatetime, BeforeValidator(_check_iso_format), AfterValidator(_convert_to_utc)]
