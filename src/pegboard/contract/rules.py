"""The rules that an answer must keep, whatever the tool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pegboard.core.instants import read_instant
from pegboard.registry.cost import TooCostly
from pegboard.registry.problems import problems_of
from pegboard.registry.schemas import BoundedValidator

VERSIONS = ("1.0", "1.1")
_STATUSES = ("new", "existing", "error")


class Payloads:
    """What a tool says its results are, compiled once."""

    def __init__(self, schema: Mapping[str, Any] | None) -> None:
        self._validator = None if schema is None else BoundedValidator(schema)

    def broken(self, payload: Any) -> Iterator[str]:
        """How a payload breaks the tool's output_schema."""
        if self._validator is None:
            return
        try:
            if self._validator.is_valid(payload):
                return
        except TooCostly as error:
            yield f"the payload can be checked against the output_schema: {error}"
            return
        # A result that is no object travels as {"result": …}.
        if isinstance(payload, dict) and payload.keys() == {"result"} and self._validator.is_valid(payload["result"]):
            return
        for problem in problems_of(self._validator, payload, subject="payload"):
            yield f"the payload fits the output_schema: {problem.message}"


def broken_rules(sent: Mapping[str, Any], received: Any, payloads: Payloads) -> list[str]:
    """Each rule of an answer to a good call that this one breaks, in words."""
    if not isinstance(received, dict):
        return ["the answer is an object, an envelope"]
    found = [*_echoes(sent, received), *_status(received), *_stamps(sent, received)]
    if received.get("version") != sent["version"]:
        found.append(f"version is '{sent['version']}', as in the request")
    if received.get("status") in ("new", "existing"):
        if not isinstance(received.get("payload"), dict):
            found.append("payload is an object unless status is error")
        else:
            found += payloads.broken(received["payload"])
    return found


def broken_error_rules(sent: Mapping[str, Any], received: Any, wrong: str) -> list[str]:
    """Each rule that an answer to a call breaks whose field `wrong` is wrong: an error that echoes what can be read."""
    if not isinstance(received, dict):
        return ["the answer is an object, an envelope"]
    if received.get("status") != "error":
        return ["status is error"]
    found = [rule for rule in _echoes(sent, received) if not rule.startswith(f"{wrong} ")]
    found += [*_status(received), *_stamps({} if wrong == "timestamp" else sent, received)]
    if received.get("version") not in VERSIONS:
        found.append(f"version is one of {', '.join(VERSIONS)}")
    return found


def _echoes(sent: Mapping[str, Any], received: Mapping[str, Any]) -> Iterator[str]:
    for name in ("tool_name", "request_id"):
        if received.get(name) != sent.get(name):
            yield f"{name} is that of the request"


def _status(received: Mapping[str, Any]) -> Iterator[str]:
    status, message = received.get("status"), received.get("error_msg")
    if status not in _STATUSES:
        yield f"status is one of {', '.join(_STATUSES)}"
    elif status == "error":
        if not isinstance(message, str) or not message.strip():
            yield "error_msg is a text that says something, since status is error"
    elif "error_msg" not in received or message is not None:
        yield "error_msg is there and null, since status is not error"
    took = received.get("processing_time_ms")
    if type(took) is not int or took < 1:
        yield "processing_time_ms is a positive integer"


def _stamps(sent: Mapping[str, Any], received: Mapping[str, Any]) -> Iterator[str]:
    stamp = received.get("timestamp")
    try:
        moment = read_instant(stamp) if isinstance(stamp, str) else None
    except ValueError as error:
        yield f"timestamp is an ISO 8601 time with a zone: {error}"
        return
    if moment is None:
        yield "timestamp is an ISO 8601 time with a zone"
    elif "timestamp" in sent and moment <= read_instant(sent["timestamp"]):
        yield "timestamp is after that of the request"
