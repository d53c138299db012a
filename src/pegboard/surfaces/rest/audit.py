"""Routes of the journal as a whole: verify it, export it, prune it; for admins."""

from __future__ import annotations

import base64
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import ValidationError

from pegboard.core.refusals import Fault, Invalid
from pegboard.journal.export import ROWS_A_PAGE, ExportPosition
from pegboard.surfaces.rest.audit_models import (
    PruneBody,
    PruneResponse,
    VerifyBody,
    VerifyExportBody,
    VerifyExportResponse,
    VerifyResponse,
)
from pegboard.surfaces.rest.deps import Board, Who
from pegboard.surfaces.rest.fields import Moment
from pegboard.surfaces.rest.routing import KeyRoute, allow_admins

NEXT_CURSOR = "X-Next-Cursor"

router = APIRouter(prefix="/v1/executions", tags=["journal"], route_class=KeyRoute)


class JsonLines(Response):
    """An answer with one JSON object a line."""

    media_type = "application/x-ndjson"


@router.post("/verify", operation_id="verify_executions")
@allow_admins("verify the journal")
async def verify_executions(body: VerifyBody, board: Board, caller: Who) -> VerifyResponse:
    """Check the journal against its chain, some rows a request; admins only."""
    report = await board.audit.verify(body.scope, next=body.next, limit=body.limit)
    return VerifyResponse.model_validate(report)


@router.post("/verify-export", operation_id="verify_export")
@allow_admins("verify an export of the journal")
async def verify_export(body: VerifyExportBody, board: Board, caller: Who) -> VerifyExportResponse:
    """Check an export of the journal, some lines a request; admins only."""
    report = await board.audit.verify_lines(body.lines, next=body.next, last=body.last, compare=body.compare)
    return VerifyExportResponse.model_validate(report)


@router.get(
    "/export",
    operation_id="export_executions",
    response_class=Response,
    responses={
        200: {
            # Not as `content`: generators of clients refuse types they do not know.
            "description": f"Some lines of the export, {JsonLines.media_type}",
            "headers": {
                NEXT_CURSOR: {
                    "description": "`cursor` of the next request; absent from the last answer",
                    "schema": {"type": "string"},
                }
            },
        }
    },
)
@allow_admins("export the journal")
async def export_executions(
    board: Board,
    caller: Who,
    since: Annotated[Moment | None, Query(description="Finished at or after")] = None,
    until: Annotated[Moment | None, Query(description="Finished before")] = None,
    limit: Annotated[int, Query(ge=1, le=ROWS_A_PAGE, description="How many rows at most")] = ROWS_A_PAGE,
    cursor: Annotated[str | None, Query(description=f"{NEXT_CURSOR} of the answer before")] = None,
) -> Response:
    """The journal with its chain as JSON Lines, some rows a request; admins only."""
    page = await board.audit.export(since=since, until=until, next=_read(cursor), limit=limit)
    headers = {} if page.next is None else {NEXT_CURSOR: _written(page.next)}
    return JsonLines("".join(f"{line}\n" for line in page.lines), headers=headers)


@router.post("/prune", operation_id="prune_executions")
@allow_admins("prune the journal")
async def prune_executions(body: PruneBody, board: Board, caller: Who) -> PruneResponse:
    """Remove the oldest rows of the journal, some a request, so that the rest still verifies; admins only."""
    done = await board.audit.prune(
        body.before, limit=body.limit, dry_run=body.dry_run, force=body.force, by=caller.name
    )
    return PruneResponse.model_validate(done)


def _written(position: ExportPosition) -> str:
    text = position.model_dump_json(exclude_defaults=True)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read(cursor: str | None) -> ExportPosition | None:
    if cursor is None:
        return None
    try:
        return ExportPosition.model_validate_json(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, ValidationError):
        fault = Fault("cursor", "not a cursor of an export")
        raise Invalid(f"Invalid cursor. Pass {NEXT_CURSOR} from the previous answer unchanged.", [fault]) from None
