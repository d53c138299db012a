"""Sends the progress of a call to the client that asked for it."""

from __future__ import annotations

from typing import Any

from pegboard.model.call import Progress
from pegboard.progress.throttle import ProgressThrottle
from pegboard.surfaces.mcp.json_rpc import encode_notification
from pegboard.surfaces.mcp.mcp_request import McpRequest, Notify

# Updates within this interval are merged; clients are programs, which may use each of them.
_PAUSE_SECONDS = 0.02


def start_progress(request: McpRequest) -> ProgressThrottle | None:
    """Return a listener for the progress of a call, or None if the request has no valid progress token."""
    token = request.meta.get("progressToken")
    if isinstance(token, bool) or not isinstance(token, str | int):
        return None
    return ProgressThrottle(_ProgressSender(token, request.notify), _PAUSE_SECONDS)


class _ProgressSender:
    """Sends progress with a number that only increases, as the protocol requires."""

    __slots__ = ("_last", "_notify", "_token")

    def __init__(self, token: str | int, notify: Notify) -> None:
        self._token = token
        self._notify = notify
        self._last = -1.0

    def __call__(self, progress: Progress) -> None:
        number = progress.progress or 0.0
        if number <= self._last:
            if progress.total is not None or not (progress.partial or progress.message):
                return
            # A tool that reports text without numbers: count its reports.
            number = self._last + 1
        self._last = number
        params: dict[str, Any] = {"progressToken": self._token, "progress": number}
        if progress.total is not None:
            params["total"] = progress.total
        text = progress.partial or progress.message
        if text:
            params["message"] = text
        self._notify(encode_notification("notifications/progress", params))
