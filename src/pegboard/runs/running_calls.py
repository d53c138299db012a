"""The calls that run in this process, as their callers and admins may see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pegboard.model.call import Caller, Surface
from pegboard.pipeline import Pipeline
from pegboard.progress.throttle import clean_number
from pegboard.stages.run import CallRun


@dataclass(frozen=True, slots=True)
class RunningCall:
    """A call that runs now; `progress` and `total` are the last report of its tool."""

    run_id: str
    tool_name: str
    caller_id: str
    caller: str
    agent_id: str | None
    surface: Surface
    started_at: datetime
    chain_id: str | None
    thread_id: str | None
    progress: float | None
    total: float | None


@dataclass(frozen=True, slots=True)
class RunningCalls:
    """The calls that have run longest, and the number of all."""

    items: Sequence[RunningCall]
    total: int


def list_running_calls(pipeline: Pipeline, caller: Caller, limit: int) -> RunningCalls:
    """Return the caller's own calls, for an admin those of all users, and for a key of an agent those of the agent."""
    found = [
        run
        for run in pipeline.running_calls
        if (caller.is_admin or run.caller.user_id == caller.user_id) and caller.agent_id in (None, run.caller.agent_id)
    ]
    return RunningCalls([_describe(run) for run in found[:limit]], len(found))


def _describe(run: CallRun) -> RunningCall:
    last = run.progress.last if run.progress is not None else None
    return RunningCall(
        run_id=run.id,
        tool_name=run.compiled_tool.tool.name if run.compiled_tool is not None else run.call.name[:255],
        caller_id=run.caller.user_id,
        caller=run.caller.name,
        agent_id=run.caller.agent_id,
        surface=run.call.surface,
        started_at=run.started_at,
        chain_id=run.call.chain_id,
        thread_id=run.call.thread_id,
        progress=clean_number(last.progress) if last is not None else None,
        total=clean_number(last.total) if last is not None else None,
    )
