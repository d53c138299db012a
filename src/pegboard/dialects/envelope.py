"""The envelope dialect: a request and a response with id, timestamp and version, and the validation of a request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pegboard.dialects.base import WITHOUT_STREAM_AND_HISTORY, Answer, Answers, render_ignored
from pegboard.dialects.call_assembler import Assembly, SchemaLookup, utc_now
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.shared.function_calls import remove_draft_keyword
from pegboard.model.call import Malformed, ToolResult
from pegboard.model.ids import new_id
from pegboard.model.json_text import is_uuid
from pegboard.model.timestamps import read_instant, write_instant
from pegboard.model.tool import Tool, make_alias

VERSIONS = ("1.0", "1.1")
# The maximum length of a tool name, a chain id and a step name.
MAX_NAME_CHARS = 100
# How far the client's clock may be ahead of ours.
MAX_CLOCK_SKEW = timedelta(minutes=5)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
REQUIRED_FIELDS = ("tool_name", "args", "request_id", "timestamp", "version")
_V1_1_FIELDS = ("chain", "progress")
_MAX_LISTED_FIELDS = 10
_MAX_FIELD_NAME_CHARS = 60
_JSON_TYPE_NAMES = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}


def check_envelope(item: Mapping[str, Any], now: datetime, schema_of: SchemaLookup) -> list[str]:
    """Return every violation of the rules in a request, field by field; an empty list if it is valid."""
    found = [f"{field} is missing" for field in REQUIRED_FIELDS if field not in item]
    checks = {
        "tool_name": lambda given: _check_tool_name(given, schema_of),
        "args": _check_args,
        "request_id": _check_request_id,
        "timestamp": lambda given: _check_timestamp(given, now),
        "version": _check_version,
    }
    if item.get("version") != "1.0":
        checks |= {"chain": check_chain, "progress": _check_progress}
    found += [f"{field} {fault}" for field, check in checks.items() if field in item and (fault := check(item[field]))]
    return [*found, *_check_unknown_fields(item, checks)]


def _check_tool_name(given: Any, schema_of: SchemaLookup) -> str | None:
    if not isinstance(given, str):
        return f"must be a string, and is {_name_json_type(given)}"
    if not given:
        return "must not be empty"
    if len(given) <= MAX_NAME_CHARS:
        return None
    short = make_alias(given) if schema_of(given) is not None else None
    return f"has {len(given):,} characters, at most {MAX_NAME_CHARS} are accepted" + (
        f", use its alias '{short}'" if short else ""
    )


def _check_args(given: Any) -> str | None:
    return None if isinstance(given, dict) else f"must be an object, and is {_name_json_type(given)}"


def _check_request_id(given: Any) -> str | None:
    if not isinstance(given, str):
        return f"must be a UUID, and is {_name_json_type(given)}"
    return None if is_uuid(given) else "must be a UUID: 32 hexadecimal digits in groups of 8-4-4-4-12"


def _check_timestamp(given: Any, now: datetime) -> str | None:
    wanted = "must be a time as ISO 8601 with a zone, such as 2026-01-02T03:04:05Z"
    if not isinstance(given, str):
        return f"{wanted}, and is {_name_json_type(given)}"
    try:
        moment = read_instant(given)
    except ValueError as error:
        return f"{wanted}: {error}"
    if moment < EPOCH:
        return "must not be before 1970"
    if moment > now + MAX_CLOCK_SKEW:
        ours = write_instant(now.replace(microsecond=0))
        return f"is in the future: it may be at most 5 minutes ahead of this board's clock, which is at {ours}"
    return None


def _check_version(given: Any) -> str | None:
    versions = "1.0 and 1.1 are supported"
    if not isinstance(given, str):
        return f"must be a string, and is {_name_json_type(given)}: {versions}"
    return None if given in VERSIONS else f"{given[:_MAX_FIELD_NAME_CHARS]!r} is not known: {versions}"


def check_chain(given: Any) -> str | None:
    """Return what is wrong with the `chain` of a request, or None."""
    if not isinstance(given, dict):
        return f'must be an object {{"id", "step"}}, and is {_name_json_type(given)}'
    if not given.keys() <= {"id", "step"}:
        return "may have only 'id' and 'step'"
    for name in ("id", "step"):
        value = given.get(name, "" if name == "id" else name)
        if not isinstance(value, str) or not 0 < len(value) <= MAX_NAME_CHARS:
            needed = "needs an 'id'" if name == "id" else "may have a 'step'"
            return f"{needed}, a string of 1 to {MAX_NAME_CHARS} characters"
    return None


def _check_progress(given: Any) -> str | None:
    return None if isinstance(given, bool) else f"must be true or false, and is {_name_json_type(given)}"


def _check_unknown_fields(item: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[str]:
    extra = [str(key)[:_MAX_FIELD_NAME_CHARS] for key in item if key not in known]
    for name in extra[:_MAX_LISTED_FIELDS]:
        hint = ", version 1.1 has it" if name in _V1_1_FIELDS else ""
        yield f"{name!r} is not a field of this version of the envelope{hint}"
    if len(extra) > _MAX_LISTED_FIELDS:
        yield f"and {len(extra) - _MAX_LISTED_FIELDS:,} more unknown fields"


def _name_json_type(given: Any) -> str:
    return _JSON_TYPE_NAMES.get(type(given)) or ("a number" if isinstance(given, int | float) else "no JSON")


VERSION = "1.0"
_MILLISECOND = timedelta(milliseconds=1)
_STAMP_KEYS = ("version", "timestamp")
# How much of an invalid field is returned in the response.
_MAX_ECHOED_CHARS = 255
# A cheap test before parsing a long output: only a text that matches can report something seen before.
_SEEN_COUNT_PATTERN = re.compile(rb'"seen_count":\s*[1-9]')


class Envelope(Answers):
    """One envelope per call and one per answer."""

    name = "envelope"
    expected = '{"tool_name": …, "args": {…}, "request_id": …, "timestamp": …, "version": "1.0"}'
    abilities = WITHOUT_STREAM_AND_HISTORY
    keys = frozenset({"tool_name", "request_id"})

    def recognises(self, item: Any) -> bool:
        """Recognise `tool_name` with another envelope field, or `request_id` with `args`."""
        if not isinstance(item, dict) or "part_kind" in item:
            return False
        if "tool_name" in item:
            return any(key in item for key in REQUIRED_FIELDS[1:])
        return "request_id" in item and "args" in item

    def read(self, item: Any, into: Assembly) -> None:
        """Read a request or a response; an invalid request becomes a malformed call, which never runs."""
        if not isinstance(item, dict):
            raise self.make_unreadable_error(item)
        if "args" not in item and "status" in item and ("payload" in item or "error_msg" in item):
            _read_response(item, into)
            return
        into.bare = True
        faults = check_envelope(item, into.now(), into.schema_of)
        into.add(_build_malformed_call(item, faults) if faults else _build_call(item))

    def compose(self, calls: Sequence[AskedCall]) -> list[dict[str, Any]]:
        return [_compose_call(call) for call in calls]

    def answer(self, answer: Answer, output: Any) -> dict[str, Any]:
        """Return the response: the request it belongs to, its status and payload, and the time."""
        result, extra = answer.result, answer.call.extra
        took = max(1, round(result.elapsed_ms))
        payload = None
        if result.problem is None:
            payload = output if result.output_json.startswith(b"{") else {"result": output}
        version = extra.get("version")
        response = {
            "tool_name": answer.name,
            "request_id": answer.call.id or answer.run_id,
            "status": _get_status(result),
            "payload": payload,
            "error_msg": _get_error_message(answer),
            "processing_time_ms": took,
            "timestamp": _get_end_time(answer.run_id, took, extra.get("timestamp")),
            "version": version if version in VERSIONS else VERSION,
        }
        if version == "1.1":
            response |= {"attempts": result.attempts, "fallback": result.fallback}
            if result.ignored:
                response["ignored"] = render_ignored(result)
            if "chain" in extra:
                response["chain"] = extra["chain"]
        return response

    def define(self, tool: Tool) -> dict[str, Any]:
        """Return the fields of a request with their meaning."""
        return {
            "tool_name": tool.name,
            "description": tool.description or "",
            "args": remove_draft_keyword(tool.input_schema),
            "version": VERSION,
        }


def _build_call(item: dict[str, Any]) -> AskedCall:
    """Return the call of a valid request; its id is also the idempotency key."""
    extra = {key: item[key] for key in (*_STAMP_KEYS, "chain") if key in item}
    chain_id = item["chain"]["id"] if "chain" in item else None
    identity: str = item["request_id"]
    return AskedCall(item["tool_name"], item["args"], identity, extra=extra, key=identity.lower(), chain_id=chain_id)


def _build_malformed_call(item: dict[str, Any], faults: Sequence[str]) -> AskedCall:
    """Return a malformed call for an invalid request, with the fields that could be read."""
    read = {key: value[:_MAX_ECHOED_CHARS] for key, value in item.items() if isinstance(value, str)}
    why = f"the envelope breaks the contract: {'; '.join(faults)}"
    # Without readable arguments: they are not the error, and must not be written to the journal.
    malformed = Malformed(item["args"] if isinstance(item.get("args"), str) else "", why)
    extra: dict[str, Any] = {key: read[key] for key in _STAMP_KEYS if key in read}
    if extra.get("version") == "1.1" and "chain" in item and check_chain(item["chain"]) is None:
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


def _compose_call(call: AskedCall) -> dict[str, Any]:
    kept = {key: call.extra[key] for key in (*_STAMP_KEYS, "chain") if key in call.extra}
    stamps = {"timestamp": kept.get("timestamp") or write_instant(utc_now()), "version": VERSION}
    return {"tool_name": call.name, "args": call.arguments_or_text, "request_id": call.id or new_id()} | stamps | kept


def _get_status(result: ToolResult) -> str:
    """Return `error`, `new` or `existing`; only tools with the envelope result style report `existing`."""
    if result.problem is not None:
        return "error"
    if result.result_style != Envelope.name or _SEEN_COUNT_PATTERN.search(result.output_json) is None:
        return "new"
    payload = result.output
    results = payload.get("results") if isinstance(payload, dict) else None
    every = [payload, *results] if isinstance(results, list) else [payload]
    return "existing" if any(map(_has_seen_count, every)) else "new"


def _has_seen_count(payload: Any) -> bool:
    count = payload.get("seen_count") if isinstance(payload, dict) else None
    return type(count) is int and count > 0


def _get_error_message(answer: Answer) -> str | None:
    """Return the error message, or None; for an invalid request, with all violations, whatever else failed."""
    problem, arguments = answer.result.problem, answer.call.arguments
    if problem is None:
        return None
    message = problem.message or problem.code
    if isinstance(arguments, Malformed) and arguments.why not in message:
        return f"{message}; {arguments.why}"
    return message


def _get_end_time(run_id: str, took: int, asked: Any) -> str:
    """Return the time at which a run ended, from its id and duration, but always later than the request's timestamp."""
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
        pass  # no valid timestamp to compare with
    return ended.isoformat("T", "milliseconds").replace("+00:00", "Z")
