"""What went wrong on the way to an upstream, said with its host and port and nothing of the request."""

from __future__ import annotations

import os
import ssl

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

from pegboard.core.errors import EgressRefused, Misconfigured, ToolError, UpstreamFailed, UpstreamUnreachable
from pegboard.egress.addresses import Address, literal

FAULTS = (aiohttp.ClientError, HttpProcessingError, OSError, ValueError)
"""What aiohttp raises where a request does not come to an answer, or an answer to its end; timeouts are OSErrors."""


class Refused(OSError):
    """No connection may be made to this address; an OSError, so that a name's other addresses are tried."""

    def __init__(self, address: Address | str) -> None:
        super().__init__(f"{address} may not be reached")
        self.address = address


def place(url: URL) -> str:
    """Host and port, as messages name an upstream."""
    host = url.raw_host or ""
    return f"[{host}]:{url.port}" if ":" in host else f"{host}:{url.port}"


def refusal(host: str, address: Address | str) -> EgressRefused:
    """That the address, or what the name stands for, is not for tools to reach, and how an admin can open it."""
    shown = f"'{host}'" if host == str(address) else f"'{host}' ({address})"
    return EgressRefused(
        f"Tools may not reach {shown}: it is not a public address. "
        "If they should, an admin can add it to PEGBOARD_EGRESS_ALLOW"
    )


def misspelt(host: str) -> EgressRefused:
    """That a host is a number and no address in its usual form."""
    address = literal(host)
    way_out = f"write it as {address}" if address else "write four numbers from 0 to 255, or IPv6"
    return EgressRefused(f"Tools may not reach '{host[:100]}': it is not a plain address; {way_out}")


def sending_fault(error: Exception, url: URL, *, dialled: bool, connect_seconds: float) -> ToolError:
    """The error to answer with where a request got no answer; where none was sent, it says that nothing ran."""
    where = place(url)
    if isinstance(error, aiohttp.ClientConnectorError):
        return _unsent(_connecting(error, url, where))
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        what = "it did not answer" if dialled else "its name was not resolved"
        return _unsent(UpstreamUnreachable(f"Could not connect to {where}: {what} within {connect_seconds:g} s"))
    if isinstance(error, ValueError):
        return Misconfigured(
            f"The request to {where} cannot be written: its method or a header holds a character that HTTP forbids"
        )
    return _unanswered(error, where)


def reading_fault(error: Exception, url: URL) -> ToolError:
    """The error to answer with where an answer broke off."""
    where = place(url)
    return UpstreamUnreachable(f"The answer of {where} broke off: {_reason(error)}")


def _connecting(error: aiohttp.ClientConnectorError, url: URL, where: str) -> ToolError:
    cause = error.os_error
    if isinstance(cause, Refused):
        return refusal(url.raw_host or "", cause.address)
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return UpstreamUnreachable(f"The name '{url.raw_host}' could not be resolved: {_reason(cause)}")
    if isinstance(cause, ssl.SSLCertVerificationError):
        return UpstreamUnreachable(f"TLS with {where} failed: {_line(cause.verify_message or cause.reason)}")
    if isinstance(cause, ssl.SSLError):
        hint = "; does it speak plain http?" if cause.reason in _NOT_TLS else ""
        return UpstreamUnreachable(f"TLS with {where} failed: {_said(cause.reason)}{hint}")
    return UpstreamUnreachable(f"Could not connect to {where}: {_reason(cause)}")


def _unsent(error: ToolError) -> ToolError:
    error.did_run = False
    return error


def _unanswered(error: Exception, where: str) -> ToolError:
    if isinstance(error, aiohttp.ClientResponseError | HttpProcessingError):
        return UpstreamFailed(f"{where} did not answer in HTTP: {_line(error.message)}")
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return UpstreamUnreachable(f"{where} closed the connection without an answer")
    return UpstreamUnreachable(f"The connection to {where} broke: {_reason(error)}")


_NOT_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG")


def _said(reason: str | None) -> str:
    return reason.replace("_", " ").lower() if reason else "the handshake broke off"


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError) and not isinstance(error, ssl.SSLError):
        # The loops put texts of their own beside the number; a lookup's numbers are below 0 and mean something else.
        if error.errno and error.errno > 0:
            return os.strerror(error.errno)
        if error.strerror:
            return _line(error.strerror)
    if isinstance(error, aiohttp.ClientPayloadError | HttpProcessingError):
        return "it ended too early, or its rest is not HTTP"
    return _line(str(error)) or type(error).__name__


def _line(text: object) -> str:
    return " ".join(str(text).split())[:200]
