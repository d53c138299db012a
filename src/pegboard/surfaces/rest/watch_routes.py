"""Routes that stream the events of running calls: those of one payload, and those of the whole board."""

from __future__ import annotations

import time
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Header, Query, Request, Response
from starlette.exceptions import HTTPException

from pegboard.board import Pegboard
from pegboard.model.api_errors import Invalid, NotFound, Unauthorised
from pegboard.model.call import Caller
from pegboard.progress.board_watchers import BoardWatchers
from pegboard.progress.event_log import EventLog, LogEvent
from pegboard.registry.snapshot import Snapshot
from pegboard.surfaces.rest.audit_routes import CallerId, resolve_caller_filter
from pegboard.surfaces.rest.call_routes import RunId
from pegboard.surfaces.rest.event_stream import (
    EVENT_STREAM_RESPONSE,
    HEARTBEAT_SECONDS,
    EventFrames,
    EventReaders,
    EventStream,
    parse_last_event_id,
    take_all,
)
from pegboard.surfaces.rest.request_caller import RequestCallers
from pegboard.surfaces.rest.routing import Board, CurrentCaller, KeyRoute, allow, refuse_agent_keys

follow_router = APIRouter(prefix="/v1/calls", tags=["calls"], route_class=KeyRoute)
watch_router = APIRouter(prefix="/v1/executions", tags=["journal"], route_class=KeyRoute)

LastEventIdHeader = Annotated[
    str | None, Header(alias="Last-Event-ID", description="The id of the last event that the client has received")
]
LastEventIdQuery = Annotated[
    str | None, Query(description="The same, for clients that cannot send the header; the header has priority")
]

# The bytes that all watchers together are sent at a time, and the bounds for one watcher.
_TOTAL_BYTES = 4 * 2**20
_MIN_WATCHER_BYTES, _MAX_WATCHER_BYTES = 8 * 1024, 2**20
_CALL_EVENTS = "Events `tool_use`, `tool_progress`, `tool_result`, and at the end `complete` or `error`"
_BOARD_EVENTS = "Events `started`, `progress` and `finished`, and `gap` where events were left out"


@follow_router.get(
    "/{run}/events",
    operation_id="follow_calls",
    response_class=Response,
    responses={200: {"description": _CALL_EVENTS, **EVENT_STREAM_RESPONSE}},
)
async def follow_calls(
    run: RunId,
    request: Request,
    board: Board,
    caller: CurrentCaller,
    seen: LastEventIdHeader = None,
    last_event_id: LastEventIdQuery = None,
) -> EventStream:
    """The events of calls that were asked for with `Accept: text/event-stream`, after the last one received.

    They can be read for five minutes after the last event; after that the status is 410, and only the journal has the
    results.
    """
    feed = board.following.find(run.lower())
    if feed is None or not _is_own_run(feed.caller, caller):
        raise await _build_not_followed_error(board, run, caller)
    number = parse_last_event_id(seen, last_event_id) or 0
    if number > feed.events.last:
        raise Invalid(f"Last-Event-ID: this stream has no event {number} yet; its last is {feed.events.last}")
    readers: EventReaders = request.app.state.readers
    return EventStream(
        readers.of(caller), board.following.reading(feed), number, take=take_all, headers={"X-Run-Id": feed.id}
    )


@watch_router.get(
    "/stream",
    operation_id="watch_executions",
    response_class=Response,
    responses={200: {"description": _BOARD_EVENTS, **EVENT_STREAM_RESPONSE}},
)
@allow(refuse_agent_keys)
async def watch_executions(
    request: Request,
    board: Board,
    caller: CurrentCaller,
    tool: Annotated[str | None, Query(description="A tool's name or id")] = None,
    user_id: CallerId = None,
    seen: LastEventIdHeader = None,
    last_event_id: LastEventIdQuery = None,
) -> EventStream:
    """Calls as they start, progress and end: the caller's own calls, or all calls for an admin.

    Calls of other processes on the same database are reported when they have ended.
    """
    wanted = WatchFilter(resolve_caller_filter(caller, user_id), tool)
    number = parse_last_event_id(seen, last_event_id)
    readers: EventReaders = request.app.state.readers
    counted = readers.of(caller)
    views: WatchViews = request.app.state.views
    start = board.watchers.events.last if number is None else number
    return EventStream(
        counted,
        board.watchers.watch(),
        start,
        take=lambda events, number: views.take(events, number, wanted),
        refused=AccessMonitor(request, caller, board.snapshot).explain_lost_access,
    )


class AccessMonitor:
    """Checks whether a long-running watcher still has access: keys expire, users are removed or get another role."""

    def __init__(self, request: Request, caller: Caller, snapshot: Snapshot) -> None:
        callers: RequestCallers = request.app.state.callers
        self._check = callers.create_check(request.scope)
        self._role = caller.role
        self._snapshot = snapshot
        self._revision = snapshot.revision
        self._looked = time.monotonic()

    def explain_lost_access(self) -> str | None:
        """Return why access was lost, or None; checked when the snapshot changes, and once per heartbeat."""
        now = time.monotonic()
        if self._revision == self._snapshot.revision and now - self._looked < HEARTBEAT_SECONDS:
            return None
        self._revision, self._looked = self._snapshot.revision, now
        try:
            role = self._check().role
        except Unauthorised as error:
            return error.message
        # What the caller may see was decided when the stream began.
        return None if role == self._role else "The role of this user has changed; open the stream again"


def _is_own_run(owner: Caller, caller: Caller) -> bool:
    """Return True if these are the caller's calls; a key that is bound to an agent may read only that agent's calls."""
    return owner.user_id == caller.user_id and caller.agent_id in (None, owner.agent_id)


async def _build_not_followed_error(board: Pegboard, run: str, caller: Caller) -> Exception:
    if caller.agent_id is None:
        try:
            row = await board.execution(run, caller=caller)
        except NotFound:
            pass
        else:
            if row.caller_id == caller.user_id:
                where = f"/v1/executions/{row.id}"
                return HTTPException(410, f"The events of '{row.id}' are no longer kept; its result: GET {where}")
    hint = "to get events, send POST /v1/calls with 'Accept: text/event-stream'"
    return NotFound(f"No events of '{run[:100]}' are kept here; {hint}")


class WatchFilter(NamedTuple):
    """The calls that a watcher receives; None matches all."""

    user_id: str | None
    tool: str | None


class WatchViews:
    """Builds the bytes for watchers, once for all that have the same position and filter."""

    def __init__(self, watchers: BoardWatchers, snapshot: Snapshot) -> None:
        self._watchers = watchers
        self._snapshot = snapshot
        self._announced = 0
        self._made: dict[tuple[int, WatchFilter], EventFrames] = {}

    def take(self, events: EventLog, number: int, wanted: WatchFilter) -> EventFrames:
        """Return the matching events after `number`; if they are too large, a `gap` event and the latest."""
        if self._announced != events.announced:
            self._announced = events.announced
            self._made.clear()
        made = self._made.get((number, wanted))
        if made is None:
            made = self._made[number, wanted] = self._make(events, number, wanted)
        return made

    def _make(self, events: EventLog, number: int, wanted: WatchFilter) -> EventFrames:
        if number > events.last:  # a number from an earlier process
            return EventFrames(encode_gap(events.announced, None), events.announced)
        found = [event for event in events.after(number, _TOTAL_BYTES) if self._matches_filter(event, wanted)]
        room = min(max(_TOTAL_BYTES // max(1, self._watchers.count), _MIN_WATCHER_BYTES), _MAX_WATCHER_BYTES)
        first = len(found)
        while first and (room := room - len(found[first - 1].frame)) >= 0:
            first -= 1
        frames = [event.frame for event in found[first:]]
        if first:
            frames.insert(0, encode_gap(found[first - 1].number, first))
        elif number + 1 < events.first:
            frames.insert(0, encode_gap(events.first - 1, None))
        return EventFrames(b"".join(frames), max(number, events.announced))

    def _matches_filter(self, event: LogEvent, wanted: WatchFilter) -> bool:
        if not event.owner_id:  # events for all watchers
            return True
        if wanted.user_id is not None and event.owner_id != wanted.user_id:
            return False
        return wanted.tool is None or self._name(event.tool_name) == self._name(wanted.tool)

    def _name(self, tool: str) -> str:
        """Return the tool's name for a name or an id."""
        compiled = self._snapshot.find(tool)
        return tool if compiled is None else compiled.tool.name


def encode_gap(number: int, missed: int | None) -> bytes:
    """Return the event for events that were left out; `missed` is their number if it is known."""
    text = b"null" if missed is None else b"%d" % missed
    return b'id: %d\nevent: gap\ndata: {"missed":%s}\n\n' % (number, text)
