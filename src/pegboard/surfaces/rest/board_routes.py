"""The route that describes the running board: version, database, processes, settings and checks."""

from __future__ import annotations

import asyncio
import platform
import time
from datetime import UTC, datetime
from typing import Literal

from fastapi import APIRouter, Request
from pydantic import Field

from pegboard.board import Pegboard
from pegboard.maintenance import CheckResult, check_running_board
from pegboard.model.tool_definition import JsonObject
from pegboard.surfaces.rest.bodies import ResponseBody
from pegboard.surfaces.rest.routing import Board, CurrentCaller, KeyRoute, allow_admins

router = APIRouter(prefix="/v1/board", tags=["server"], route_class=KeyRoute)

# The checks start a probe process and decrypt the stored credentials.
_KEPT_SECONDS = 30.0


class DatabaseResponse(ResponseBody):
    """The database of the board."""

    kind: Literal["sqlite", "postgresql"]
    url: str = Field(description="Without its password")
    revision: int = Field(description="The number of changes of the registry")


class ProcessResponse(ResponseBody):
    """A process that writes to the journal."""

    number: int = Field(description="The number of its writer")
    host: str
    pid: int
    started_at: datetime


class CheckResponse(ResponseBody):
    """One check of `pegboard doctor`."""

    check: str
    level: Literal["ok", "warning", "bad"]
    message: str
    advice: str | None = Field(description="What to do")


class SandboxResponse(ResponseBody):
    """Whether python and shell tools can be confined, and by what they are limited."""

    children: int = Field(description="Maximum number of running calls")
    without: list[str] = Field(description="The kernel features that they may run without")
    checks: list[CheckResponse]


class SpoolResponse(ResponseBody):
    """Rows that wait for the database."""

    trouble: str | None = Field(description="Why rows cannot be recorded now; null if they can")
    checks: list[CheckResponse]


class BoardResponse(ResponseBody):
    """The running board."""

    version: str
    python: str
    started_at: datetime = Field(description="When the process that answers began to serve")
    not_ready: list[str] = Field(description="Why calls cannot be served now; empty if they can")
    database: DatabaseResponse
    processes: list[ProcessResponse] = Field(description="Those that have written to the journal, at most 100")
    spool: SpoolResponse
    sandbox: SandboxResponse
    settings: JsonObject = Field(description="All settings that are not secret")
    checks: list[CheckResponse]
    checked_seconds_ago: int


class BoardChecks:
    """Runs the checks, and keeps their results for a short time; requests at the same time share them."""

    def __init__(self, board: Pegboard) -> None:
        self.started_at = datetime.now(UTC)
        self._board = board
        self._task: asyncio.Task[list[CheckResult]] | None = None
        self._began = 0.0

    async def run(self) -> tuple[list[CheckResult], int]:
        """Return the results of the checks, and how many seconds old they are."""
        is_old = time.monotonic() - self._began > _KEPT_SECONDS
        if self._task is None or (self._task.done() and (is_old or self._task.exception() is not None)):
            self._began = time.monotonic()
            self._task = asyncio.create_task(check_running_board(self._board.settings), name="pegboard-checks")
        results = await asyncio.shield(self._task)
        return results, int(time.monotonic() - self._began)


@router.get("", operation_id="get_board")
@allow_admins("see the state of the board")
async def get_board_state(request: Request, board: Board, caller: CurrentCaller) -> BoardResponse:
    """The running board: version, database, processes, spool, sandbox, settings and checks; admins only.

    The checks are those of `pegboard doctor` that concern the server; their results are kept for half a minute.
    """
    checks: BoardChecks = request.app.state.checks
    found, age = await checks.run()
    settings = board.settings
    return BoardResponse.model_validate(
        {
            "version": request.app.version,
            "python": platform.python_version(),
            "started_at": checks.started_at,
            "not_ready": await board.ready(),
            "database": {
                "kind": board.database.kind,
                "url": board.database.shown_url,
                "revision": board.snapshot.revision,
            },
            "processes": await board.audit.list_processes(),
            "spool": {
                "trouble": board.journal.trouble,
                "checks": [each for each in found if each.check == "journal spool"],
            },
            "sandbox": {
                "children": settings.sandbox_children,
                "without": [name for name in settings.sandbox_without.split(",") if name],
                "checks": [each for each in found if each.check.startswith(("sandbox", "python libraries"))],
            },
            "settings": {name: _to_json(value) for name, value in settings.list_plain_values().items()},
            "checks": found,
            "checked_seconds_ago": age,
        }
    )


def _to_json(value: object) -> object:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return value.model_dump() if hasattr(value, "model_dump") else str(value)
