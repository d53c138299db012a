"""Follow a call to its end, and reconnect if the connection breaks."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any

import typer

from pegboard.surfaces.cli.api_client import ApiClient, ApiReply, OpenedStream, ServerEvent, build_path
from pegboard.surfaces.cli.exit_codes import BoardUnreachable, CommandFailure, RequestRefused
from pegboard.surfaces.cli.output import to_single_line, write_message, write_partial_message

# Before each attempt to reconnect; the board waits two seconds for a client that disconnected.
RETRY_PAUSES_SECONDS = (0.0, 0.2, 0.4, 0.8, 1.6, 3.2)
_INTERRUPTED_EXIT_CODE = 130
# The minimum interval between two progress lines in a log.
_LINE_INTERVAL_SECONDS = 1.0

EventHandler = Callable[[ServerEvent], None]


async def follow_call(client: ApiClient, **request: Any) -> ApiReply:
    """Send a call to `POST /v1/calls`, show its events and return its result; Ctrl-C cancels it and exits with 130."""
    followed = FollowedCall(client, request)
    try:
        with open_live_output() as show:
            last = await followed.run(show)
    except asyncio.CancelledError:
        if followed.run_id is None:
            raise
        await followed.cancel()
        raise typer.Exit(_INTERRUPTED_EXIT_CODE) from None
    if last.name == "error":
        raise RequestRefused(str(last.data.get("message")), followed.list_recovery_steps())
    headers = {"x-thread-error": last.data["thread_error"]} if "thread_error" in last.data else {}
    return ApiReply(200, get_member_text(last.text, "answer"), last.data["answer"], headers)


class FollowedCall:
    """One call that is followed."""

    def __init__(self, client: ApiClient, request: dict[str, Any]) -> None:
        self.run_id: str | None = None
        self._client = client
        self._request = request
        # The run id in the journal; it arrives with the first event, after the id of the stream.
        self._execution_id: str | None = None
        self._seen = ""

    async def run(self, show: EventHandler) -> ServerEvent:
        """Pass every event to `show` and return the last one, `complete` or `error`."""
        pauses = iter(RETRY_PAUSES_SECONDS)
        while True:
            try:
                async with self._open() as opened:
                    self.run_id = _get_run_id(opened)
                    async for event in opened.events:
                        pauses = iter(RETRY_PAUSES_SECONDS)
                        self._seen = event.number
                        if event.name in ("complete", "error"):
                            return event
                        if event.name == "tool_use":
                            self._execution_id = event.data["run_id"]
                        show(event)
            except BoardUnreachable as failure:
                why = failure.message
                if self.run_id is None:
                    raise
            except RequestRefused as refused:
                if self.run_id is None:
                    raise
                raise RequestRefused(
                    f"The call cannot be followed any more: {refused.message}", self.list_recovery_steps()
                ) from None
            else:
                why = f"{self._client.url} closed it"
            pause = next(pauses, None)
            if pause is None:
                raise BoardUnreachable(
                    f"The connection was lost, and no new one can be opened: {why}", self.list_recovery_steps()
                )
            await asyncio.sleep(pause)

    async def cancel(self) -> None:
        """Cancel the call on the board, and print whether that succeeded."""
        assert self.run_id is not None
        if (task := asyncio.current_task()) is not None:
            task.uncancel()
        try:
            await self._client.delete(build_path("calls", self.run_id))
        except CommandFailure as failure:
            write_message(failure.message, label="Not cancelled: ", colour="yellow")
        else:
            write_message(self._execution_id or self.run_id, label="Cancelled ", colour="yellow")

    def list_recovery_steps(self) -> list[str]:
        """Return what the user can do about a call after the connection was lost."""
        run_id = self._execution_id or self.run_id
        lines = [f"Its id is {run_id}. See its result with: pegboard audit show {run_id}"]
        if "Idempotency-Key" in self._request["headers"]:
            return [
                *lines,
                "Or run the same command again: with the same --once it gets the same answer, without another run",
            ]
        return lines

    def _open(self) -> AbstractAsyncContextManager[OpenedStream]:
        if self.run_id is None:
            return self._client.open_events("POST", build_path("calls"), **self._request)
        headers = {"Last-Event-ID": self._seen} if self._seen else None
        return self._client.open_events("GET", build_path("calls", self.run_id, "events"), headers=headers)


def _get_run_id(opened: OpenedStream) -> str:
    if opened.reply is not None or opened.run_id is None:
        raise RequestRefused("This board does not send the events of a call; omit --follow")
    return opened.run_id


def get_member_text(text: str, name: str) -> str:
    """Return the JSON text of one member of an object, unchanged."""
    decode = json.JSONDecoder().raw_decode
    place = text.index("{") + 1
    while True:
        key, place = decode(text, _skip_separators(text, place))
        start = _skip_separators(text, place)
        _, place = decode(text, start)
        if key == name:
            return text[start:place]


def _skip_separators(text: str, place: int) -> int:
    """Return the index at which the next value begins."""
    while text[place] in " ,:":
        place += 1
    return place


@contextmanager
def open_live_output() -> Iterator[EventHandler]:
    """Yield an event handler that shows a bar if standard error is a terminal, else lines at intervals."""
    if sys.stderr.isatty():
        from pegboard.surfaces.cli.terminal_output import ProgressBar  # noqa: PLC0415 -- only a terminal needs rich

        bar = ProgressBar()
        try:
            yield bar.show
        finally:
            bar.stop()
        return
    lines = LineOutput()
    try:
        yield lines.show
    finally:
        lines.end_line()


class LineOutput:
    """Writes events as lines, for logs and pipes."""

    def __init__(self) -> None:
        self._next = 0.0
        self._is_line_open = False

    def show(self, event: ServerEvent) -> None:
        """Write an event."""
        if event.name == "tool_use":
            write_message(str(event.data["message"]))
        elif event.name == "tool_progress":
            if partial := event.data.get("partial"):
                write_partial_message(partial)
                self._is_line_open = not partial.endswith("\n")
            if (how := format_progress(event.data)) and time.monotonic() >= self._next:
                self._next = time.monotonic() + _LINE_INTERVAL_SECONDS
                self.end_line()
                write_message(f"  {how}")

    def end_line(self) -> None:
        """End the line of partial output if it is unfinished."""
        if self._is_line_open:
            write_message("")
            self._is_line_open = False


def format_progress(data: Mapping[str, Any]) -> str:
    """Return the progress and message of a call as one line; empty if there are none."""
    numbers = [data.get("progress"), data.get("total")] if data.get("progress") is not None else []
    done = "/".join(_format_number(number) for number in numbers if number is not None)
    return " ".join(filter(None, (done, to_single_line(data.get("message")))))


def _format_number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
