"""The route that ends running calls."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from pegboard.surfaces.rest.deps import Board, Who
from pegboard.surfaces.rest.routing import KeyRoute

router = APIRouter(prefix="/v1/calls", tags=["calls"], route_class=KeyRoute)

RunId = Annotated[str, Path(description="The id of a call's run, or that of a whole stream (its X-Run-Id)")]


@router.delete("/{run}", operation_id="cancel_call", status_code=204)
async def cancel_call(run: RunId, board: Board, caller: Who) -> None:
    """End a running call, or all calls of a stream: they are answered and recorded as cancelled.

    One's own calls, anybody's for an admin. It is answered when they have ended; with 404 where nothing runs as that,
    and with 409 where it has ended already.
    """
    await board.cancelling.cancel(run, caller)
