"""An aiohttp connection that reports a response body that stops being valid HTTP."""

from __future__ import annotations

from aiohttp import ClientPayloadError
from aiohttp.client_proto import ResponseHandler
from aiohttp.helpers import _EXC_SENTINEL


class StrictResponseHandler(ResponseHandler):
    """aiohttp's ResponseHandler, whose readers would wait forever if a body becomes invalid HTTP in the middle."""

    def set_exception(self, exc: BaseException, exc_cause: BaseException = _EXC_SENTINEL) -> None:
        """Set the exception on the connection and on the body that is being read."""
        body = self._payload
        super().set_exception(exc, exc_cause)
        if body is not None and not body.is_eof() and body.exception() is None:
            body.set_exception(ClientPayloadError("it stopped being HTTP"))

    def resume_reading(self, resume_parser: bool = True) -> None:
        """Resume reading if it is paused; aiohttp calls this for every chunk that is read from a body."""
        if self._reading_paused:
            super().resume_reading(resume_parser)
