"""The route that streams changes in the registry."""

from __future__ import annotations

from contextlib import nullcontext

from fastapi import APIRouter, Request, Response

from pegboard.model.call import Caller
from pegboard.progress.event_log import encode_event_json
from pegboard.registry.change_log import ChangeLog, RegistryChange
from pegboard.surfaces.rest.event_stream import (
    EVENT_STREAM_RESPONSE,
    EventFrames,
    EventReaders,
    EventStream,
    parse_last_event_id,
)
from pegboard.surfaces.rest.routing import Board, CurrentCaller, KeyRoute, allow, refuse_agent_keys
from pegboard.surfaces.rest.watch_routes import AccessMonitor, LastEventIdHeader, LastEventIdQuery, encode_gap

router = APIRouter(prefix="/v1/changes", tags=["changes"], route_class=KeyRoute)

_MAX_CHANGES_AT_ONCE = 500
_EVENTS = "Events `change`, and `gap` where changes were left out"


@router.get(
    "/stream",
    operation_id="watch_changes",
    response_class=Response,
    responses={200: {"description": _EVENTS, **EVENT_STREAM_RESPONSE}},
)
@allow(refuse_agent_keys)
async def watch_changes(
    request: Request,
    board: Board,
    caller: CurrentCaller,
    seen: LastEventIdHeader = None,
    last_event_id: LastEventIdQuery = None,
) -> EventStream:
    """What changes in the registry, by any process: tools, users, keys, sessions, agents, imported servers, secrets.

    Only what the caller may see. The id of an event is the revision of the registry up to which everything was
    reported, so that a stream can be continued at any process of the board.
    """
    revision = parse_last_event_id(seen, last_event_id)
    readers: EventReaders = request.app.state.readers
    changes = board.snapshot.changes
    start = changes.last if revision is None else changes.find_position(revision)
    return EventStream(
        readers.of(caller),
        nullcontext(changes),
        -1 if start is None else start,
        take=lambda log, number: _take_changes(log, number, caller),
        refused=AccessMonitor(request, caller, board.snapshot).explain_lost_access,
    )


def _take_changes(log: ChangeLog, number: int, caller: Caller) -> EventFrames:
    """Return the next changes that the caller may see, or a `gap` event if some were forgotten; -1 is before all."""
    found = None if number < 0 else log.after(number, _MAX_CHANGES_AT_ONCE + 1)
    if found is None:
        return EventFrames(encode_gap(log.revision, None), log.last, log.revision)
    frames = []
    # Changes of one revision belong together: all but the last have the id of the revision before.
    complete = log.find_revision_before(number)
    batch = found[:_MAX_CHANGES_AT_ONCE]
    for index, change in enumerate(batch):
        is_last = index + 1 == len(found) or found[index + 1].revision > change.revision
        complete = change.revision if is_last else complete
        if change.is_visible_to(caller):
            frames.append(_encode_change(change, complete))
    return EventFrames(b"".join(frames), batch[-1].number if batch else number, complete)


def _encode_change(change: RegistryChange, event_id: int) -> bytes:
    fields = {"kind": change.kind, "id": change.id, "revision": change.revision, "removed": change.is_removed}
    return b"id: %d\nevent: change\ndata: %s\n\n" % (event_id, encode_event_json(fields))
