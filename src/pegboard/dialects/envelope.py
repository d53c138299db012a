"""The tool contract: a request in an envelope, and a response in one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pegboard.core.call import Malformed, ToolResult
from pegboard.core.ids import new_id
from pegboard.core.instants import write_instant
from pegboard.core.tool import Tool
from pegboard.dialects.asked import AskedCall, Unreadable
from pegboard.dialects.assembly import Assembly, utc_now
from pegboard.dialects.base import WHOLE_CALLS, Answer, Answers, ignored_of
from pegboard.dialects.envelope_rules import EPOCH, FIELDS, VERSIONS, chain_fault, faults_of
from pegboard.dialects.parts.defining import without_draft
from pegboard.dialects.seen import seen

VERSION = "1.0"
_MILLISECOND = timedelta(milliseconds=1)
_STAMPS = ("version", "timestamp")
# What is echoed of a field that breaks its rules.
_MOST_ECHOED = 255
# A glance at a text that may be long: only one with this in it can tell of something that was seen before.
_SEEN_BEFORE = re.compile(rb'"seen_count":\s*[1-9]')


class Envelope(Answers):
    """One envelope a call, one an answer."""

    name = "envelope"
    abilities = WHOLE_CALLS
    keys = frozenset({"tool_name", "request_id"})

    def recognises(self, item: Any) -> bool:
        """A tool's name and anything else of an envelope, or an id and arguments; the rest may be missing."""
        if not isinstance(item, dict) or "part_kind" in item:
            return False
        if "tool_name" in item:
            return any(key in item for key in FIELDS[1:])
        return "request_id" in item and "args" in item

    def read(self, item: Any, into: Assembly) -> None:
        """A request, or a response to one; a request that breaks rules is a call that says so, and never runs."""
        if not isinstance(item, dict):
            raise _unreadable(item)
        if "args" not in item and "status" in item and ("payload" in item or "error_msg" in item):
            _read_response(item, into)
            return
        into.bare = True
        faults = faults_of(item, into.now(), into.schema_of)
        into.add(_refused(item, faults) if faults else _call(item))

    def compose(self, calls: Sequence[AskedCall]) -> list[dict[str, Any]]:
        """A request for each call."""
        return [_composed(call) for call in calls]

    def answer(self, answer: Answer, output: Any) -> dict[str, Any]:
        """The response: what it answers, how that ended, and when."""
        result, extra = answer.result, answer.call.extra
        took = max(1, round(result.elapsed_ms))
        payload = None
        if result.problem is None:
            payload = output if result.output_json.startswith(b"{") else {"result": output}
        version = extra.get("version")
        response = {
            "tool_name": answer.name,
            "request_id": answer.call.id or answer.run_id,
            "status": _status(result),
            "payload": payload,
            "error_msg": _error(answer),
            "processing_time_ms": took,
            "timestamp": _ended(answer.run_id, took, extra.get("timestamp")),
            "version": version if version in VERSIONS else VERSION,
        }
        if version == "1.1":
            response |= {"attempts": result.attempts, "fallback": result.fallback}
            if result.ignored:
                response["ignored"] = ignored_of(result)
            if "chain" in extra:
                response["chain"] = extra["chain"]
        return response

    def define(self, tool: Tool) -> dict[str, Any]:
        """What goes into the request's fields."""
        return {
            "tool_name": tool.name,
            "description": tool.description or "",
            "args": without_draft(tool.input_schema),
            "version": VERSION,
        }


def _call(item: dict[str, Any]) -> AskedCall:
    """The call of a request that keeps the rules; its id makes it one that runs once."""
    extra = {key: item[key] for key in (*_STAMPS, "chain") if key in item}
    chain_id = item["chain"]["id"] if "chain" in item else None
    identity: str = item["request_id"]
    return AskedCall(item["tool_name"], item["args"], identity, extra=extra, key=identity.lower(), chain_id=chain_id)


def _refused(item: dict[str, Any], faults: Sequence[str]) -> AskedCall:
    """The call of a request that breaks rules, with as much of it as could be read."""
    read = {key: value[:_MOST_ECHOED] for key, value in item.items() if isinstance(value, str)}
    why = f"the envelope breaks the contract: {'; '.join(faults)}"
    # Without the arguments that can be read: what is wrong is not with them, and no journal should have them.
    malformed = Malformed(item["args"] if isinstance(item.get("args"), str) else "", why)
    extra: dict[str, Any] = {key: read[key] for key in _STAMPS if key in read}
    if extra.get("version") == "1.1" and "chain" in item and chain_fault(item["chain"]) is None:
        extra["chain"] = item["chain"]
    chain_id = extra["chain"]["id"] if "chain" in extra else None
    return AskedCall(read.get("tool_name", ""), malformed, read.get("request_id", ""), extra=extra, chain_id=chain_id)


def _read_response(item: dict[str, Any], into: Assembly) -> None:
    name, identity = item.get("tool_name"), item.get("request_id")
    if item["status"] == "error":
        message = item.get("error_msg")
        into.answer(identity, error=message if isinstance(message, str) else "", name=name)
    else:
        into.answer(identity, item.get("payload"), name=name)


def _composed(call: AskedCall) -> dict[str, Any]:
    arguments = call.arguments.text if isinstance(call.arguments, Malformed) else call.arguments or {}
    kept = {key: call.extra[key] for key in (*_STAMPS, "chain") if key in call.extra}
    stamps = {"timestamp": kept.get("timestamp") or write_instant(utc_now()), "version": VERSION}
    return {"tool_name": call.name, "args": arguments, "request_id": call.id or new_id()} | stamps | kept


def _status(result: ToolResult) -> str:
    """Whether the answer tells of something new: only tools of the contract itself tell of what was there before."""
    if result.problem is not None:
        return "error"
    if result.result_style != Envelope.name or _SEEN_BEFORE.search(result.output_json) is None:
        return "new"
    payload = result.output
    results = payload.get("results") if isinstance(payload, dict) else None
    every = [payload, *results] if isinstance(results, list) else [payload]
    return "existing" if any(map(_was_seen, every)) else "new"


def _was_seen(payload: Any) -> bool:
    count = payload.get("seen_count") if isinstance(payload, dict) else None
    return type(count) is int and count > 0


def _error(answer: Answer) -> str | None:
    """Why there is no payload; for a request that breaks rules all of them, whatever else kept it from running."""
    problem, arguments = answer.result.problem, answer.call.arguments
    if problem is None:
        return None
    message = problem.message or problem.code
    if isinstance(arguments, Malformed) and arguments.why not in message:
        return f"{message}; {arguments.why}"
    return message


def _ended(run_id: str, took: int, asked: Any) -> str:
    """When a run was over, as its id says when it began; later than it was asked for, whatever clock that was by."""
    try:
        began = int(run_id.replace("-", "")[:12], 16)
    except ValueError:
        began = 0
    ended = EPOCH + timedelta(milliseconds=began + took)
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
