"""Routes of threads and their messages."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from pegboard.conversations.provider_history import message_to_memory_form
from pegboard.model.json_text import json_text
from pegboard.surfaces.rest.bodies import (
    HistoryPage,
    MessageList,
    MessageResponse,
    ThreadCreate,
    ThreadPage,
    ThreadResponse,
    ThreadUpdate,
)
from pegboard.surfaces.rest.call_routes import ANY_JSON_BODY, SourceDialectQuery
from pegboard.surfaces.rest.json_bodies import read_request_payload
from pegboard.surfaces.rest.routing import Board, CurrentCaller, Cursor, KeyRoute, Limit, allow, require_own_thread

router = APIRouter(prefix="/v1/threads", tags=["threads"], route_class=KeyRoute)


@router.post("", operation_id="create_thread", status_code=201)
async def create_thread(board: Board, caller: CurrentCaller, body: ThreadCreate = ThreadCreate()) -> ThreadResponse:
    """Create a conversation. Only its owner can see it, and keys of an agent if a key of that agent created it."""
    return ThreadResponse.model_validate(await board.threads.create(caller, body.title))


@router.get("", operation_id="list_threads")
async def list_threads(board: Board, caller: CurrentCaller, limit: Limit = 50, cursor: Cursor = None) -> ThreadPage:
    """The caller's conversations, last changed first; with an agent's key, those of that agent."""
    return ThreadPage.model_validate(await board.threads.page(caller, cursor=cursor, limit=limit))


@router.get("/{thread_id}", operation_id="get_thread")
async def get_thread(thread_id: str, board: Board, caller: CurrentCaller) -> ThreadResponse:
    """One conversation, without its messages."""
    return ThreadResponse.model_validate(await board.threads.get(thread_id, caller))


@router.patch("/{thread_id}", operation_id="rename_thread")
@allow(require_own_thread)
async def rename_thread(thread_id: str, body: ThreadUpdate, board: Board, caller: CurrentCaller) -> ThreadResponse:
    """Change the title of a conversation; not with a key of an agent."""
    return ThreadResponse.model_validate(await board.threads.rename(thread_id, caller, body.title))


@router.delete("/{thread_id}", operation_id="delete_thread", status_code=204)
@allow(require_own_thread)
async def delete_thread(thread_id: str, board: Board, caller: CurrentCaller) -> None:
    """Delete a conversation with all its messages; not with a key of an agent."""
    await board.threads.delete(thread_id, caller)


@router.post(
    "/{thread_id}/messages",
    operation_id="add_messages",
    status_code=201,
    openapi_extra=ANY_JSON_BODY,
    response_model=MessageResponse | MessageList,
)
async def add_messages(
    request: Request, thread_id: str, board: Board, caller: CurrentCaller, reading: SourceDialectQuery = None
) -> Response:
    """Add one message or several: `{role, content, tool_calls?}`, or messages of a provider in any dialect.

    The result of a call is stored in that call, and the response has the message that contains the call.
    """
    body = await read_request_payload(request)
    size = len(await request.body())
    messages = await board.threads.add(thread_id, caller, body, dialect=reading, size=size)
    added = [message_to_memory_form(message) for message in messages]
    one = added[0] if len(added) == 1 and not isinstance(body, list) else {"items": added}
    return Response(json_text(one), 201, media_type="application/json")


@router.get("/{thread_id}/messages", operation_id="list_messages", response_model=HistoryPage)
async def list_messages(
    thread_id: str,
    board: Board,
    caller: CurrentCaller,
    shape: Annotated[
        str | None, Query(alias="as", description="A dialect: as messages of that provider, to continue there")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """The messages of a conversation, oldest first; a page of long messages has fewer than its limit."""
    dialect = "memory" if shape is None else shape
    history = await board.threads.history(thread_id, caller, dialect, cursor=cursor, limit=limit)
    return Response(json_text(history._asdict()), media_type="application/json")
