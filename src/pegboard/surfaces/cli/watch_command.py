"""`pegboard watch` and `pegboard cancel`: show and cancel running calls."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pegboard.surfaces.cli.account_commands import write_removed
from pegboard.surfaces.cli.api_paths import build_path
from pegboard.surfaces.cli.audit_commands import find_caller_id, shorten_name
from pegboard.surfaces.cli.exit_codes import BoardUnreachable, RequestRefused
from pegboard.surfaces.cli.output import Colour, colour_text, escape_control_characters, write, write_message
from pegboard.surfaces.cli.session import get_session, run_with_client

if TYPE_CHECKING:
    from pegboard.surfaces.cli.api_client import ApiClient
    from pegboard.surfaces.cli.server_events import ServerEvent

# The longest pause between two attempts to reconnect.
_MAX_RETRY_SECONDS = 5.0
# The minimum interval between two progress lines of one call.
_PROGRESS_INTERVAL_SECONDS = 1.0
_EVENT_MARKS: dict[str, tuple[str, Colour | None]] = {
    "started": ("▸", None),
    "progress": ("…", "dim"),
    "succeeded": ("✓", "green"),
    "failed": ("✗", "red"),
    "refused": ("⊘", "yellow"),
    "in_doubt": ("?", "yellow"),
}


def watch_calls(
    ctx: typer.Context,
    tool: Annotated[str | None, typer.Option("--tool", help="Only calls of this tool, by name or id")] = None,
    user: Annotated[
        str | None, typer.Option("--user", help="Only calls of this user, by name or id; for admins")
    ] = None,
) -> None:
    """Show calls as they start, progress and end; an admin sees those of all users.

    With --json each event is one line: {"event": …, "data": …}.

    Example: pegboard watch --tool get_weather
    """
    show = _write_json_line if get_session(ctx).as_json else WatchOutput().show

    async def work(client: ApiClient) -> None:
        from pegboard.surfaces.cli.server_events import EventsClient  # noqa: PLC0415 -- start-up time

        events = EventsClient.of(client)
        params = {"tool": tool, "caller": await find_caller_id(client, user)}
        seen = ""
        is_known = False
        pause = 0.0
        while True:
            headers = {"Last-Event-ID": seen} if seen else None
            try:
                async with events.open(
                    "GET", build_path("executions", "stream"), params=params, headers=headers
                ) as opened:
                    write_message("Watching again" if is_known else "Watching; Ctrl-C ends it", colour="dim")
                    is_known, pause = True, 0.0
                    async for event in opened.events:
                        seen = event.number
                        show(event)
                    why = "the board ended it"
            except BoardUnreachable as failure:
                if not is_known:
                    raise
                why = failure.message
            if not pause:
                write_message(why, label="Connection lost, trying again: ", colour="yellow")
            await asyncio.sleep(pause)
            pause = min(_MAX_RETRY_SECONDS, pause * 2 or 0.25)

    try:
        run_with_client(ctx, work)
    except KeyboardInterrupt:
        raise typer.Exit(0) from None


def cancel_call(
    ctx: typer.Context,
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="The call's id, from: watch", show_default=False)],
) -> None:
    """Cancel a running call; its caller gets the error `cancelled`."""
    try:
        run_with_client(ctx, lambda it: it.delete(build_path("calls", run_id)))
    except RequestRefused as error:
        see = {404: "See: pegboard audit list", 409: f"See: pegboard audit show {run_id}"}.get(error.status)
        lines = error.lines if see is None else (*error.lines, see)
        raise RequestRefused(error.message, lines, status=error.status, faults=error.faults) from None
    write_removed(ctx, run_id, run_id, "cancelled")


class WatchOutput:
    """Writes events as lines."""

    def __init__(self) -> None:
        # Callers of the running calls, and when the progress of each was last written.
        self._callers: dict[str, str] = {}
        self._shown: dict[str, float] = {}

    def show(self, event: ServerEvent) -> None:
        """Write an event as one line; progress of a call is written at most once per interval."""
        data = event.data
        if event.name == "started":
            self._callers[data["run_id"]] = data["caller"]
            write(_format_line("started", data["started_at"], data))
        elif event.name == "progress":
            self._show_progress(data)
        elif event.name == "finished":
            self._callers.pop(data["id"], None)
            self._shown.pop(data["id"], None)
            told = {**data, "run_id": data["id"]}
            write(_format_line(data["status"], data["finished_at"], told, f"{data['elapsed_ms']:,.1f} ms"))
        elif event.name == "gap":
            self._callers.clear()
            self._shown.clear()
            missed = data.get("missed")
            write_message(f"{'Some' if missed is None else f'{missed:,}'} events were missed", colour="yellow")
        elif event.name == "error":
            write_message(str(data.get("message")), colour="yellow")

    def _show_progress(self, data: dict[str, Any]) -> None:
        from pegboard.surfaces.cli.live_output import format_progress  # noqa: PLC0415 -- start-up time

        run_id = data["run_id"]
        now = time.monotonic()
        how = format_progress(data)
        if how and now - self._shown.get(run_id, -_PROGRESS_INTERVAL_SECONDS) >= _PROGRESS_INTERVAL_SECONDS:
            self._shown[run_id] = now
            told = {**data, "caller": self._callers.get(run_id, "")}
            write(_format_line("progress", datetime.now(UTC).isoformat(), told, how))


def _format_line(status: str, at: str, call: Mapping[str, Any], how: str = "") -> str:
    mark, colour = _EVENT_MARKS.get(status, ("?", "yellow"))
    clock = datetime.fromisoformat(at).astimezone().strftime("%H:%M:%S")
    text = f"{mark} {shorten_name(call['tool_name']):24}  {shorten_name(call['caller']):12}  {how:>12}"
    shown = escape_control_characters(text) if colour is None else colour_text(text, colour, sys.stdout)
    return "  ".join(filter(None, (clock, shown, escape_control_characters(call.get("code") or ""), call["run_id"])))


def _write_json_line(event: ServerEvent) -> None:
    write(f'{{"event":"{event.name}","data":{event.text}}}')
