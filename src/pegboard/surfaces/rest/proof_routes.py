"""Routes that prove rows of the journal, and return when it was last verified."""

from __future__ import annotations

from datetime import datetime

from fastapi import APIRouter
from pydantic import Field

from pegboard.model.api_errors import NotFound
from pegboard.surfaces.rest.audit_routes import FindingBody
from pegboard.surfaces.rest.bodies import ResponseBody
from pegboard.surfaces.rest.routing import Board, CurrentCaller, KeyRoute, allow, allow_admins, refuse_agent_keys

router = APIRouter(prefix="/v1/executions", tags=["journal"], route_class=KeyRoute)


class ProofResponse(ResponseBody):
    """Where a row of the journal is in its hash chain."""

    execution_id: str
    writer: int | None = Field(description="The number of the process that wrote it; null if it is in no chain")
    number: int | None = Field(description="Its number in the chain of this writer")
    mac: str | None
    is_genuine: bool | None = Field(description="Whether it is as the board wrote it; null if that is not known")
    findings: list[FindingBody] = Field(description="What is wrong with it")
    note: str | None


class LastVerificationResponse(ResponseBody):
    """The last verification of the whole journal."""

    started_at: datetime
    finished_at: datetime
    checked: int = Field(description="The number of rows")
    findings: dict[str, int] = Field(description="How many violations of each kind were found; empty if none")
    caller: str = Field(description="The name of the admin who verified it")


class VerificationStatus(ResponseBody):
    """When the whole journal was last verified."""

    last: LastVerificationResponse | None = Field(description="null if it never was")


@router.get("/verification", operation_id="get_verification")
@allow_admins("see when the journal was verified")
async def get_verification(board: Board, caller: CurrentCaller) -> VerificationStatus:
    """When the whole journal was last verified, how many rows, and what was found; admins only."""
    return VerificationStatus.model_validate({"last": await board.audit.find_last_verification()})


@router.get("/{execution_id}/proof", operation_id="prove_execution")
@allow(refuse_agent_keys)
async def prove_execution(execution_id: str, board: Board, caller: CurrentCaller) -> ProofResponse:
    """Where one row of the journal is in its hash chain, and whether it is as the board wrote it."""
    await board.execution(execution_id, caller=caller)
    proof = await board.audit.prove(execution_id)
    if proof is None:
        raise NotFound(f"Execution '{execution_id}' not found")
    return ProofResponse.model_validate(proof)
