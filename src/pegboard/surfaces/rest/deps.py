"""What route functions are given."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query, Request
from fastapi.security import HTTPBearer

from pegboard.board import Pegboard
from pegboard.core.call import Caller
from pegboard.registry.pages import MAX_PAGE

# Only declares the scheme in the API's description; `KeyRoute` checks the key.
_scheme = HTTPBearer(auto_error=False, scheme_name="bearer")


def board_of(request: Request) -> Pegboard:
    """The board that this application serves."""
    board: Pegboard = request.app.state.board
    return board


def caller_of(request: Request, _scheme: Annotated[object, Depends(_scheme)]) -> Caller:
    """The holder of the key that was sent; the routers that need one are made of `KeyRoute`."""
    caller: Caller = request.state.caller
    return caller


Board = Annotated[Pegboard, Depends(board_of)]
Who = Annotated[Caller, Depends(caller_of)]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE, description="How many at most")]
Cursor = Annotated[str | None, Query(description="next_cursor of the page before")]
