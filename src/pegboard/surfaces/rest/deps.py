"""What route functions are given."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query, Request
from fastapi.security import HTTPBearer

from pegboard.board import Pegboard
from pegboard.core.call import Caller
from pegboard.registry.pages import MAX_PAGE
from pegboard.surfaces.rest.incoming import bearer_key

# Only declares the scheme in the API's description; `caller_of` does the checking.
_scheme = HTTPBearer(auto_error=False, scheme_name="bearer")


def board_of(request: Request) -> Pegboard:
    """The board that this application serves."""
    board: Pegboard = request.app.state.board
    return board


def caller_of(request: Request, _scheme: Annotated[object, Depends(_scheme)]) -> Caller:
    """Whoever holds the key that was sent."""
    sent = [value for name, value in request.scope["headers"] if name == b"authorization"]
    return board_of(request).snapshot.holder(bearer_key(None if not sent else sent[0] if len(sent) == 1 else b""))


Board = Annotated[Pegboard, Depends(board_of)]
Who = Annotated[Caller, Depends(caller_of)]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE, description="How many at most")]
Cursor = Annotated[str | None, Query(description="next_cursor of the page before")]
