"""Requests of a server for input of its client: elicitation, sampling, roots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.model.call_errors import UpstreamFailed

# The capability that a client declares for each request.
CAPABILITY_OF: Mapping[str, str] = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}


class InputRequired(UpstreamFailed):
    """The server needs input of the client before it can complete the call, which the client then sends again."""

    @property
    def retry_reason(self) -> str:
        """Never a reason to retry: another attempt would ask the same."""
        return ""


def is_declared(method: str, capabilities: Mapping[str, Any]) -> bool:
    """True if a client with these capabilities can answer this request."""
    return isinstance(capabilities.get(CAPABILITY_OF.get(method, "")), Mapping)


def check_declared(answer: Mapping[str, Any], capabilities: Mapping[str, Any], shown: str) -> None:
    """Raise UpstreamFailed if the server asks for something that the client did not declare."""
    for request in (answer.get("inputRequests") or {}).values():
        method = str(request.get("method"))
        if not is_declared(method, capabilities):
            raise UpstreamFailed(f"{shown} asked for input that the client did not declare: {method[:100]}")


def describe_input_request(answer: Mapping[str, Any]) -> str:
    """Return the message of the server's request for input, or an empty string."""
    for request in (answer.get("inputRequests") or {}).values():
        message = (request.get("params") or {}).get("message")
        if isinstance(message, str) and message:
            return f": {' '.join(message.split())[:300]}"
    return ""
