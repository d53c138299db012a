"""The tool contract: a request in an envelope, and a response in one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pegboard.core.call import Malformed
from pegboard.core.tool import Tool
from pegboard.dialects.asked import AskedCall, Unreadable
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import WHOLE_CALLS, Answer, Answers
from pegboard.dialects.parts.defining import schema_for
from pegboard.dialects.seen import seen

VERSION = "1.0"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_STAMPS = ("version", "timestamp")


class Envelope(Answers):
    """One envelope a call, one an answer."""

    name = "envelope"
    abilities = WHOLE_CALLS
    keys = frozenset({"tool_name", "request_id"})

    def recognises(self, item: Any) -> bool:
        """A tool's name or arguments in an envelope; one field of it may be missing."""
        if not isinstance(item, dict) or "part_kind" in item:
            return False
        if "request_id" in item:
            return "tool_name" in item or "args" in item
        return "tool_name" in item and "args" in item and any(key in item for key in _STAMPS)

    def read(self, item: Any, into: Assembly) -> None:
        """A request, or a response to one."""
        if not isinstance(item, dict) or not ("tool_name" in item or "args" in item):
            raise _unreadable(item)
        name, identity = item.get("tool_name"), item.get("request_id")
        if "status" in item and "args" not in item:
            if item["status"] == "error":
                message = item.get("error_msg")
                into.answer(identity, error=message if isinstance(message, str) else "", name=name)
            else:
                into.answer(identity, item.get("payload"), name=name)
            return
        into.bare = True
        extra = {key: item[key] for key in _STAMPS if key in item}
        into.call(name if isinstance(name, str) else "", item.get("args"), identity, extra=extra)

    def compose(self, calls: Sequence[AskedCall]) -> list[dict[str, Any]]:
        """A request for each call."""
        return [_composed(call) for call in calls]

    def answer(self, answer: Answer, output: Any) -> dict[str, Any]:
        """The response: what it answers, how that ended, and when."""
        result = answer.result
        took = max(1, round(result.elapsed_ms))
        payload = None
        if result.problem is None:
            payload = output if result.output_json.startswith(b"{") else {"result": output}
        return {
            "tool_name": answer.name,
            "request_id": answer.call.id or answer.run_id,
            "status": "new" if result.problem is None else "error",
            "payload": payload,
            "error_msg": None if result.problem is None else result.problem.message,
            "processing_time_ms": took,
            "timestamp": _ended(answer.run_id, took, answer.call.extra.get("timestamp")),
            "version": VERSION,
        }

    def define(self, tool: Tool) -> dict[str, Any]:
        """What goes into the request's fields."""
        return {
            "tool_name": tool.name,
            "description": tool.description or "",
            "args": schema_for(tool),
            "version": VERSION,
        }


def _composed(call: AskedCall) -> dict[str, Any]:
    arguments = call.arguments.text if isinstance(call.arguments, Malformed) else call.arguments or {}
    stamps = {"version": VERSION} | {key: call.extra[key] for key in _STAMPS if key in call.extra}
    return {"tool_name": call.name, "args": arguments, "request_id": call.id} | stamps


def _ended(run_id: str, took: int, asked: Any) -> str:
    """When a run was over, as its id says when it began; later than it was asked for, whatever clock that was by."""
    try:
        began = int(run_id.replace("-", "")[:12], 16)
    except ValueError:
        began = 0
    ended = _EPOCH + timedelta(milliseconds=began + took)
    try:
        moment = datetime.fromisoformat(asked)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        ended = max(ended, moment + _MILLISECOND)
    except (TypeError, ValueError, OverflowError):
        pass  # what is no time cannot be later
    return ended.isoformat("T", "milliseconds").replace("+00:00", "Z")


def _unreadable(item: Any) -> Unreadable:
    return Unreadable(
        f"unrecognised_format: this is {seen(item)}; an envelope is "
        '{"tool_name": …, "args": {…}, "request_id": …, "timestamp": …, "version": "1.0"}'
    )
