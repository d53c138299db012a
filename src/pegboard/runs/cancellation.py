"""Cancels running calls, in this or another process."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import replace

from pegboard.model.api_errors import Conflict, NotFound
from pegboard.model.call import Caller, Execution
from pegboard.model.call_errors import Cancelled
from pegboard.model.json_text import is_uuid
from pegboard.pipeline import Pipeline
from pegboard.registry.execution_reader import ExecutionReader
from pegboard.runs.followed_runs import FollowedRun, FollowedRuns
from pegboard.storage import cancellation_rows
from pegboard.storage.cancellation_rows import CancellationRequest
from pegboard.storage.database import Database
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# How long another process has to cancel a call, and how often that is checked.
OTHER_PROCESS_TIMEOUT_SECONDS = 3.0
_POLL_INTERVAL_SECONDS = 0.05


class CallCanceller:
    """Cancels calls for callers with the right to: their own, or any for an admin."""

    def __init__(
        self, pipeline: Pipeline, following: FollowedRuns, database: Database, executions: ExecutionReader
    ) -> None:
        self._pipeline = pipeline
        self._followed_runs = following
        self._database = database
        self._executions = executions
        self._ending: dict[str, asyncio.Task[None]] = {}

    async def cancel(self, run_id: str, caller: Caller) -> None:
        """Cancel a running call, or all calls of a followed payload, and wait until they are recorded.

        Raises NotFound if no call of the caller runs under this id, Conflict if it has ended otherwise.
        """
        run_id = run_id.lower()
        user_id = None if caller.is_admin else caller.user_id
        request = CancellationRequest("", run_id, f"Cancelled by {caller.name}", user_id, caller.agent_id)
        if self._is_running_here(run_id):
            if not self._may_cancel(request):
                raise _build_not_found(run_id)
            await self._cancel_here(request)
        else:
            if (row := await self._row(run_id, caller)) is not None:
                raise _build_already_ended(row)
            if not is_uuid(run_id) or self._database.is_memory:
                raise _build_not_found(run_id)
            await self._cancel_in_other_process(request, caller)
        row = await self._row(run_id, caller)
        if row is not None and row.code != Cancelled.code:
            raise _build_already_ended(row)

    async def look(self) -> None:
        """Cancel running calls on request of other processes; called after every change by another process."""
        async with self._database.read() as conn:
            requests = await cancellation_rows.list_recent_cancellations(conn)
        for request in requests:
            if request.id not in self._ending and self._is_running_here(request.run_id) and self._may_cancel(request):
                self._ending[request.id] = asyncio.create_task(
                    self._handle_request(request), name="pegboard-cancelling"
                )

    async def close(self) -> None:
        """Stop the tasks that cancel calls for other processes."""
        tasks = list(self._ending.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _is_running_here(self, run_id: str) -> bool:
        return self._pipeline.running(run_id) is not None or self._find_followed(run_id) is not None

    def _find_followed(self, run_id: str) -> FollowedRun | None:
        """Return the payload with this id; not one that has a call with this id."""
        followed = self._followed_runs.find(run_id)
        return followed if followed is not None and followed.id == run_id else None

    def _may_cancel(self, request: CancellationRequest) -> bool:
        found = self._pipeline.running(request.run_id) or self._find_followed(request.run_id)
        if found is None:
            return False
        return request.user_id in (None, found.caller.user_id) and request.agent_id in (None, found.caller.agent_id)

    async def _cancel_here(self, request: CancellationRequest) -> None:
        followed = self._find_followed(request.run_id)
        if followed is None:
            self._pipeline.cancel(request.run_id, request.why)
            await self._pipeline.over(request.run_id)
            return
        if followed.events.is_over:
            raise Conflict(f"The calls of '{followed.id}' have ended already; see GET /v1/calls/{followed.id}/events")
        # Calls that wait for a slot will not begin.
        followed.ended_because = request.why
        for run_id in followed.run_ids.values():
            self._pipeline.cancel(run_id, request.why)
        while not followed.events.is_over:
            await followed.events.wait_for_more(followed.events.last)

    async def _cancel_in_other_process(self, request: CancellationRequest, caller: Caller) -> None:
        """Request the cancellation from other processes; raise NotFound if none confirms it within the timeout."""
        async with self._database.change() as change:
            request_id = await cancellation_rows.add_cancellation(change.conn, *request[1:])
        give_up = time.monotonic() + OTHER_PROCESS_TIMEOUT_SECONDS
        try:
            while time.monotonic() < give_up:
                await asyncio.sleep(_POLL_INTERVAL_SECONDS)
                async with self._database.read() as conn:
                    is_open = await cancellation_rows.is_cancellation_open(conn, request_id)
                if not is_open or await self._row(request.run_id, caller) is not None:
                    return
        finally:
            async with self._database.write() as conn:
                await cancellation_rows.remove_cancellation(conn, request_id)
        raise _build_not_found(request.run_id)

    async def _handle_request(self, request: CancellationRequest) -> None:
        try:
            with suppress(Conflict):
                await self._cancel_here(request)
            async with self._database.write() as conn:
                await cancellation_rows.remove_cancellation(conn, request.id)
        except Exception:
            log.exception("cancelling_broke", run_id=request.run_id)
        finally:
            del self._ending[request.id]

    async def _row(self, run_id: str, caller: Caller) -> Execution | None:
        """Return the row of a call that this caller may cancel; a key of an agent cancels only that agent's calls."""
        try:
            row = await self._executions.get(run_id, replace(caller, agent_id=None))
        except NotFound:
            return None
        return row if caller.agent_id in (None, row.agent_id) else None


def _build_not_found(run_id: str) -> NotFound:
    return NotFound(f"No running call has the id '{run_id[:100]}'")


def _build_already_ended(row: Execution) -> Conflict:
    how = row.status if row.code is None else f"{row.status} ({row.code})"
    return Conflict(f"Call '{row.id}' has ended already: {how}")
