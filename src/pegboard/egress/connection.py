"""A connection that says so when an answer turns to nonsense."""

from __future__ import annotations

from aiohttp import ClientPayloadError
from aiohttp.client_proto import ResponseHandler
from aiohttp.helpers import _EXC_SENTINEL


class Connection(ResponseHandler):
    """aiohttp's own, whose readers would wait for ever where a body stops being HTTP in its middle."""

    def set_exception(self, exc: BaseException, exc_cause: BaseException = _EXC_SENTINEL) -> None:
        """End whatever is read from this connection."""
        body = self._payload
        super().set_exception(exc, exc_cause)
        if body is not None and not body.is_eof() and body.exception() is None:
            body.set_exception(ClientPayloadError("it stopped being HTTP"))

    def resume_reading(self, resume_parser: bool = True) -> None:
        """Go on with what was paused; aiohttp asks for it with every piece that is read of a body."""
        if self._reading_paused:
            super().resume_reading(resume_parser)
