"""Routes that tell of calls as they run: those of one payload again, and those of the whole board."""

from __future__ import annotations

import time
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Header, Query, Request, Response
from starlette.exceptions import HTTPException

from pegboard.board import Pegboard
from pegboard.core.call import Caller
from pegboard.core.refusals import Invalid, NotFound, Unauthorised
from pegboard.live.events import Event, Events
from pegboard.live.onlookers import Onlookers
from pegboard.registry.snapshot import Snapshot
from pegboard.surfaces.rest.cancelling import RunId
from pegboard.surfaces.rest.deps import Board, Who
from pegboard.surfaces.rest.incoming import bearer_key
from pegboard.surfaces.rest.routing import KeyRoute, allow, not_agents
from pegboard.surfaces.rest.statistics import CallerId, whose
from pegboard.surfaces.rest.stream import HEARTBEAT_SECONDS, SENT, EventStream, Readers, Taken, read_number

follow = APIRouter(prefix="/v1/calls", tags=["calls"], route_class=KeyRoute)
watch = APIRouter(prefix="/v1/executions", tags=["journal"], route_class=KeyRoute)

Seen = Annotated[str | None, Header(alias="Last-Event-ID", description="The id of the last event that was seen")]
SeenToo = Annotated[
    str | None, Query(description="The same, for clients that cannot send the header, which counts more")
]

# What all onlookers together are sent at a time, and the bounds of what one of them is.
_ALL_BYTES = 4 * 2**20
_LEAST_BYTES, _MOST_BYTES = 8 * 1024, 2**20
_CALL_EVENTS = "Events `tool_use`, `tool_progress`, `tool_result`, and at the end `complete` or `error`"
_BOARD_EVENTS = "Events `started`, `progress` and `finished`, and `gap` where something was left out"


@follow.get(
    "/{run}/events",
    operation_id="follow_calls",
    response_class=Response,
    responses={200: {"description": _CALL_EVENTS, **SENT}},
)
async def follow_calls(
    run: RunId, request: Request, board: Board, caller: Who, seen: Seen = None, last_event_id: SeenToo = None
) -> EventStream:
    """The events of calls that were asked for with `Accept: text/event-stream`, after the last one that was seen.

    They can be read for five minutes after the last of them; then, with 410, the journal has what is left of them.
    """
    feed = board.following.find(run.lower())
    if feed is None or not _is_own(feed.caller, caller):
        raise await _not_followed(board, run, caller)
    number = read_number(seen, last_event_id) or 0
    if number > feed.events.last:
        raise Invalid(f"Last-Event-ID: this stream has come to event {feed.events.last}, and not yet to {number}")
    readers: Readers = request.app.state.readers
    return EventStream(readers.of(caller), board.following.reading(feed), number, headers={"X-Run-Id": feed.id})


@watch.get(
    "/stream",
    operation_id="watch_executions",
    response_class=Response,
    responses={200: {"description": _BOARD_EVENTS, **SENT}},
)
@allow(not_agents)
async def watch_executions(
    request: Request,
    board: Board,
    caller: Who,
    tool: Annotated[str | None, Query(description="A tool's name or id")] = None,
    user_id: CallerId = None,
    seen: Seen = None,
    last_event_id: SeenToo = None,
) -> EventStream:
    """Calls as they begin, go on and end: one's own, or everybody's for an admin.

    Calls of other processes on the same database are told of when they have ended.
    """
    wanted = Wanted(whose(caller, user_id), tool)
    number = read_number(seen, last_event_id)
    readers: Readers = request.app.state.readers
    counted = readers.of(caller)
    views: Views = request.app.state.views
    start = board.onlookers.events.last if number is None else number
    return EventStream(
        counted,
        board.onlookers.watching(),
        start,
        take=lambda events, number: views.take(events, number, wanted),
        refused=Standing(request, board.snapshot).lost,
    )


class Standing:
    """Whether somebody who watches for long still may: keys expire and are revoked, users are removed."""

    def __init__(self, request: Request, snapshot: Snapshot) -> None:
        self._key = bearer_key(request.headers["authorization"].encode("latin-1"))
        self._snapshot = snapshot
        self._revision = snapshot.revision
        self._looked = time.monotonic()

    def lost(self) -> str | None:
        """Why they may watch no longer; looked up where something has changed, and now and then."""
        now = time.monotonic()
        if self._revision == self._snapshot.revision and now - self._looked < HEARTBEAT_SECONDS:
            return None
        self._revision, self._looked = self._snapshot.revision, now
        try:
            self._snapshot.holder(self._key)
        except Unauthorised as error:
            return error.message
        return None


def _is_own(owner: Caller, caller: Caller) -> bool:
    """Whether these are the caller's calls; a key that is bound to an agent reads that agent's."""
    return owner.user_id == caller.user_id and caller.agent_id in (None, owner.agent_id)


async def _not_followed(board: Pegboard, run: str, caller: Caller) -> Exception:
    if caller.agent_id is None:
        try:
            row = await board.execution(run, caller=caller)
        except NotFound:
            pass
        else:
            if row.caller_id == caller.user_id:
                where = f"/v1/executions/{row.id}"
                return HTTPException(410, f"The events of '{row.id}' are no longer kept; GET {where} says how it ended")
    return NotFound(f"No events of '{run[:100]}' are kept here; POST /v1/calls with 'Accept: text/event-stream' tells")


class Wanted(NamedTuple):
    """Which calls an onlooker is told of; None means no matter."""

    user_id: str | None
    tool: str | None


class Views:
    """What onlookers are sent, put together once for all that are at the same place and are told of the same calls."""

    def __init__(self, onlookers: Onlookers, snapshot: Snapshot) -> None:
        self._onlookers = onlookers
        self._snapshot = snapshot
        self._told = 0
        self._made: dict[tuple[int, Wanted], Taken] = {}

    def take(self, events: Events, number: int, wanted: Wanted) -> Taken:
        """What is wanted of all that happened after that event; where it is too much for now, the latest of it."""
        if self._told != events.told:
            self._told = events.told
            self._made.clear()
        made = self._made.get((number, wanted))
        if made is None:
            made = self._made[number, wanted] = self._make(events, number, wanted)
        return made

    def _make(self, events: Events, number: int, wanted: Wanted) -> Taken:
        if number > events.last:  # of a process before this one
            return Taken(_gap(events.told, None), events.told)
        found = [event for event in events.after(number, _ALL_BYTES) if self._is_wanted(event, wanted)]
        room = min(max(_ALL_BYTES // max(1, self._onlookers.count), _LEAST_BYTES), _MOST_BYTES)
        first = len(found)
        while first and (room := room - len(found[first - 1].frame)) >= 0:
            first -= 1
        frames = [event.frame for event in found[first:]]
        if first:
            frames.insert(0, _gap(found[first - 1].number, first))
        elif number + 1 < events.first:
            frames.insert(0, _gap(events.first - 1, None))
        return Taken(b"".join(frames), max(number, events.told))

    def _is_wanted(self, event: Event, wanted: Wanted) -> bool:
        if not event.owner_id:  # it is for all
            return True
        if wanted.user_id is not None and event.owner_id != wanted.user_id:
            return False
        return wanted.tool is None or self._name(event.tool_name) == self._name(wanted.tool)

    def _name(self, tool: str) -> str:
        """The tool's own name, however it is called."""
        peg = self._snapshot.find(tool)
        return tool if peg is None else peg.tool.name


def _gap(number: int, missed: int | None) -> bytes:
    told = b"null" if missed is None else b"%d" % missed
    return b'id: %d\nevent: gap\ndata: {"missed":%s}\n\n' % (number, told)
