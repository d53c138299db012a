"""The rules for answers of any tool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pegboard.json_schema.argument_problems import list_problems
from pegboard.json_schema.compile import BoundedValidator
from pegboard.json_schema.validation_cost import TooCostly
from pegboard.model.timestamps import read_instant

ENVELOPE_VERSIONS = ("1.0", "1.1")
_STATUSES = ("new", "existing", "error")


class PayloadRules:
    """The output schema of a tool, compiled once."""

    def __init__(self, schema: Mapping[str, Any] | None) -> None:
        self._validator = None if schema is None else BoundedValidator(schema)

    def broken(self, payload: Any) -> Iterator[str]:
        """Yield how a payload violates the tool's output_schema."""
        if self._validator is None:
            return
        try:
            if self._validator.is_valid(payload):
                return
        except TooCostly as error:
            yield f"the payload can be checked against the output_schema: {error}"
            return
        # A result that is not an object is wrapped as {"result": …}.
        if isinstance(payload, dict) and payload.keys() == {"result"} and self._validator.is_valid(payload["result"]):
            return
        for problem in list_problems(self._validator, payload, subject="payload"):
            yield f"the payload fits the output_schema: {problem.message}"


def find_broken_rules(sent: Mapping[str, Any], received: Any, payloads: PayloadRules) -> list[str]:
    """Return the rules that the answer to a valid call breaks, as text."""
    if not isinstance(received, dict):
        return ["the answer is an object, an envelope"]
    found = [*_check_echoed_fields(sent, received), *_check_status(received), *_check_timestamps(sent, received)]
    if received.get("version") != sent["version"]:
        found.append(f"version is '{sent['version']}', as in the request")
    if received.get("status") in ("new", "existing"):
        if not isinstance(received.get("payload"), dict):
            found.append("payload is an object unless status is error")
        else:
            found += payloads.broken(received["payload"])
    return found


def find_broken_error_rules(sent: Mapping[str, Any], received: Any, wrong: str) -> list[str]:
    """Return the rules that an answer breaks if the field `wrong` of the call is invalid.

    The answer must be an error that repeats the fields that can be read.
    """
    if not isinstance(received, dict):
        return ["the answer is an object, an envelope"]
    if received.get("status") != "error":
        return ["status is error"]
    found = [rule for rule in _check_echoed_fields(sent, received) if not rule.startswith(f"{wrong} ")]
    found += [*_check_status(received), *_check_timestamps({} if wrong == "timestamp" else sent, received)]
    if received.get("version") not in ENVELOPE_VERSIONS:
        found.append(f"version is one of {', '.join(ENVELOPE_VERSIONS)}")
    return found


def _check_echoed_fields(sent: Mapping[str, Any], received: Mapping[str, Any]) -> Iterator[str]:
    for name in ("tool_name", "request_id"):
        if received.get(name) != sent.get(name):
            yield f"{name} is that of the request"


def _check_status(received: Mapping[str, Any]) -> Iterator[str]:
    status, message = received.get("status"), received.get("error_msg")
    if status not in _STATUSES:
        yield f"status is one of {', '.join(_STATUSES)}"
    elif status == "error":
        if not isinstance(message, str) or not message.strip():
            yield "error_msg is a text that is not empty, since status is error"
    elif "error_msg" not in received or message is not None:
        yield "error_msg is there and null, since status is not error"
    took = received.get("processing_time_ms")
    if type(took) is not int or took < 1:
        yield "processing_time_ms is a positive integer"


def _check_timestamps(sent: Mapping[str, Any], received: Mapping[str, Any]) -> Iterator[str]:
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
