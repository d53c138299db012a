"""Converts network errors to tool errors, whose messages contain the host and port but nothing else of the request."""

from __future__ import annotations

import os
import ssl

import aiohttp
from yarl import URL

from pegboard.http_client.address_policy import Address, parse_address
from pegboard.model.call_errors import EgressRefused, Misconfigured, ToolError, UpstreamFailed, UpstreamUnreachable

NETWORK_ERRORS = (aiohttp.ClientError, OSError, ValueError)
"""What aiohttp raises if a request gets no response or a response is incomplete; timeouts are OSErrors."""


class AddressRefused(OSError):
    """No connection may be made to this address. An OSError, so that the other addresses of a name are tried."""

    def __init__(self, address: Address | str) -> None:
        super().__init__(f"{address} may not be reached")
        self.address = address


class ConnectionLost(aiohttp.ClientError):
    """The connection broke before a response. Not the error itself, because aiohttp resends some requests after it."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


def format_host_port(url: URL) -> str:
    """Return host and port of an upstream for messages."""
    host = url.raw_host or ""
    return f"[{host}]:{url.port}" if ":" in host else f"{host}:{url.port}"


def make_egress_refusal(host: str, address: Address | str) -> EgressRefused:
    """Return the error for a private address, with the setting that an admin can change to allow it."""
    shown = f"'{host}'" if host == str(address) else f"'{host}' ({address})"
    return EgressRefused(
        f"Tools may not reach {shown}: it is not a public address. "
        "If they should, an admin can add it to PEGBOARD_EGRESS_ALLOW"
    )


def make_address_refusal(host: str) -> EgressRefused:
    """Return the error for a numeric host that is not a plain address."""
    address = parse_address(host)
    way_out = f"write it as {address}" if address else "write four numbers from 0 to 255, or IPv6"
    return EgressRefused(f"Tools may not reach '{host[:100]}': it is not a plain address; {way_out}")


def explain_send_error(error: Exception, url: URL, *, dialled: bool, connect_seconds: float) -> ToolError:
    """Return the tool error for a request without a response; `did_run` is False if the request was not sent."""
    if isinstance(error, aiohttp.ClientConnectorError):
        return explain_connect_error(error.os_error, url, dialled=dialled, connect_seconds=connect_seconds)
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return explain_connect_error(TimeoutError(), url, dialled=dialled, connect_seconds=connect_seconds)
    where = format_host_port(url)
    if isinstance(error, ValueError):
        return Misconfigured(
            f"The request to {where} cannot be written: its method or a header holds a character that HTTP forbids"
        )
    return _explain_no_response(error.cause if isinstance(error, ConnectionLost) else error, where)


def explain_connect_error(error: OSError, url: URL, *, dialled: bool, connect_seconds: float) -> ToolError:
    """Return the tool error for a failed connection, or a failed lookup unless `dialled`; its `did_run` is False."""
    fault = _choose_connect_error(error, url, dialled=dialled, connect_seconds=connect_seconds)
    fault.did_run = False
    return fault


def explain_read_error(error: Exception, url: URL) -> ToolError:
    """Return the tool error for a response that broke off."""
    where = format_host_port(url)
    return UpstreamUnreachable(f"The answer of {where} broke off: {_describe_error(error)}")


def _choose_connect_error(error: OSError, url: URL, *, dialled: bool, connect_seconds: float) -> ToolError:
    where = format_host_port(url)
    if isinstance(error, AddressRefused):
        return make_egress_refusal(url.raw_host or "", error.address)
    if isinstance(error, TimeoutError) and error.errno is None:
        what = "it did not answer" if dialled else "its name was not resolved"
        return UpstreamUnreachable(f"Could not connect to {where}: {what} within {connect_seconds:g} s")
    if not dialled:
        return UpstreamUnreachable(f"The name '{url.raw_host}' could not be resolved: {_describe_error(error)}")
    if isinstance(error, ssl.SSLCertVerificationError):
        return UpstreamUnreachable(f"TLS with {where} failed: {_shorten_line(error.verify_message or error.reason)}")
    if isinstance(error, ssl.SSLError):
        hint = "; does it speak plain http?" if error.reason in _NOT_TLS_REASONS else ""
        return UpstreamUnreachable(f"TLS with {where} failed: {_format_tls_reason(error.reason)}{hint}")
    return UpstreamUnreachable(f"Could not connect to {where}: {_describe_error(error)}")


def _explain_no_response(error: Exception, where: str) -> ToolError:
    if isinstance(error, aiohttp.ClientResponseError):
        return UpstreamFailed(f"{where} did not answer in HTTP: {_shorten_line(error.message)}")
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return UpstreamUnreachable(f"{where} closed the connection without an answer")
    return UpstreamUnreachable(f"The connection to {where} broke: {_describe_error(error)}")


_NOT_TLS_REASONS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG")


def _format_tls_reason(reason: str | None) -> str:
    return reason.replace("_", " ").lower() if reason else "the handshake broke off"


def _describe_error(error: BaseException) -> str:
    if isinstance(error, OSError) and not isinstance(error, ssl.SSLError):
        # Event loops replace the text for an errno with their own; the error numbers of getaddrinfo are negative.
        if error.errno and error.errno > 0:
            return os.strerror(error.errno)
        if error.strerror:
            return _shorten_line(error.strerror)
    if isinstance(error, aiohttp.ClientPayloadError):
        return "it ended too early, or its rest is not HTTP"
    return _shorten_line(str(error)) or type(error).__name__


def _shorten_line(text: object) -> str:
    return " ".join(str(text).split())[:200]
