"""`pegboard watch` and `pegboard cancel`: the calls that run now."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pegboard.surfaces.cli.audit import cut
from pegboard.surfaces.cli.audit_stats import id_of
from pegboard.surfaces.cli.failures import Refused, Unreachable
from pegboard.surfaces.cli.output import Colour, painted, plain, say, write
from pegboard.surfaces.cli.people import removed
from pegboard.surfaces.cli.routes import route
from pegboard.surfaces.cli.session import session_of, with_board

if TYPE_CHECKING:
    from pegboard.surfaces.cli.client import Client
    from pegboard.surfaces.cli.events import Event

# The longest pause before it is tried again to reach a board that went away.
_LONGEST_PAUSE = 5.0
# How often it is shown how far one call has come.
_PAUSE = 1.0
_MARKS: dict[str, tuple[str, Colour | None]] = {
    "started": ("▸", None),
    "progress": ("…", "dim"),
    "succeeded": ("✓", "green"),
    "failed": ("✗", "red"),
    "refused": ("⊘", "yellow"),
    "in_doubt": ("?", "yellow"),
}


def watch(
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
    show = _write_line if session_of(ctx).as_json else Watched().show

    async def work(client: Client) -> None:
        from pegboard.surfaces.cli.events import EventsClient  # noqa: PLC0415 -- start-up time

        events = EventsClient.of(client)
        params = {"tool": tool, "caller": await id_of(client, user)}
        seen = ""
        is_known = False
        pause = 0.0
        while True:
            headers = {"Last-Event-ID": seen} if seen else None
            try:
                async with events.open("GET", route("executions", "stream"), params=params, headers=headers) as opened:
                    say("Watching again" if is_known else "Watching; Ctrl-C ends it", colour="dim")
                    is_known, pause = True, 0.0
                    async for event in opened.events:
                        seen = event.number
                        show(event)
                    why = "the board ended it"
            except Unreachable as failure:
                if not is_known:
                    raise
                why = failure.message
            if not pause:
                say(why, label="Connection lost, trying again: ", colour="yellow")
            await asyncio.sleep(pause)
            pause = min(_LONGEST_PAUSE, pause * 2 or 0.25)

    try:
        with_board(ctx, work)
    except KeyboardInterrupt:
        raise typer.Exit(0) from None


def cancel(
    ctx: typer.Context,
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="The call's id, from: watch", show_default=False)],
) -> None:
    """Cancel a running call; its caller gets the error `cancelled`."""
    try:
        with_board(ctx, lambda it: it.delete(route("calls", run_id)))
    except Refused as error:
        see = {404: "See: pegboard audit list", 409: f"See: pegboard audit show {run_id}"}.get(error.status)
        lines = error.lines if see is None else (*error.lines, see)
        raise Refused(error.message, lines, status=error.status, faults=error.faults) from None
    removed(ctx, run_id, run_id, "cancelled")


class Watched:
    """Shows events as lines."""

    def __init__(self) -> None:
        # Callers of the calls that run, and when it was last shown how far they have come.
        self._callers: dict[str, str] = {}
        self._shown: dict[str, float] = {}

    def show(self, event: Event) -> None:
        """Write one line, unless the same call had one a moment ago."""
        data = event.data
        if event.name == "started":
            self._callers[data["run_id"]] = data["caller"]
            write(_line("started", data["started_at"], data))
        elif event.name == "progress":
            self._show_progress(data)
        elif event.name == "finished":
            self._callers.pop(data["id"], None)
            self._shown.pop(data["id"], None)
            told = {**data, "run_id": data["id"]}
            write(_line(data["status"], data["finished_at"], told, f"{data['elapsed_ms']:,.1f} ms"))
        elif event.name == "gap":
            self._callers.clear()
            self._shown.clear()
            missed = data.get("missed")
            say(f"{'Some' if missed is None else f'{missed:,}'} events were missed", colour="yellow")
        elif event.name == "error":
            say(str(data.get("message")), colour="yellow")

    def _show_progress(self, data: dict[str, Any]) -> None:
        from pegboard.surfaces.cli.telling import how_far  # noqa: PLC0415 -- start-up time

        run_id = data["run_id"]
        now = time.monotonic()
        how = how_far(data)
        if how and now - self._shown.get(run_id, -_PAUSE) >= _PAUSE:
            self._shown[run_id] = now
            told = {**data, "caller": self._callers.get(run_id, "")}
            write(_line("progress", datetime.now(UTC).isoformat(), told, how))


def _line(status: str, at: str, call: Mapping[str, Any], how: str = "") -> str:
    mark, colour = _MARKS.get(status, ("?", "yellow"))
    clock = datetime.fromisoformat(at).astimezone().strftime("%H:%M:%S")
    text = f"{mark} {cut(call['tool_name']):24}  {cut(call['caller']):12}  {how:>12}"
    shown = plain(text) if colour is None else painted(text, colour, sys.stdout)
    return "  ".join(filter(None, (clock, shown, plain(call.get("code") or ""), call["run_id"])))


def _write_line(event: Event) -> None:
    write(f'{{"event":"{event.name}","data":{event.text}}}')
