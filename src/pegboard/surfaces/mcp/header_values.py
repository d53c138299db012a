"""The request headers of MCP over HTTP: collected, decoded, and compared with the body."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from pegboard.surfaces.mcp.protocol import (
    CAPABILITIES_KEY,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    STATELESS_VERSION,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
    ProtocolError,
)

# The field of the params whose value is repeated in the header Mcp-Name.
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
PARAM_PREFIX = b"mcp-param-"
# In the order of the attributes of McpHeaders.
_NAMES = (
    b"accept", b"authorization", b"content-length", b"content-type", b"host", b"idempotency-key", b"mcp-method",
    b"mcp-name", b"mcp-protocol-version", b"mcp-session-id", b"origin", b"x-request-id",
)  # fmt: skip
_PLACES = {name: place for place, name in enumerate(_NAMES)}
_ROUTING = frozenset({b"mcp-protocol-version", b"mcp-method", b"mcp-name"})
_PLAIN = re.compile(r"[\x20-\x7e]*")
_BASE64 = re.compile(r"=\?base64\?(.*)\?=", re.DOTALL)


class McpHeaders:
    """The headers that the endpoint uses; several values of one name are joined by a comma."""

    __slots__ = (
        "accept", "authorization", "content_length", "content_type", "duplicates", "host", "idempotency_key", "method",
        "name", "origin", "params", "request_id", "session_id", "version",
    )  # fmt: skip

    def __init__(self, headers: Iterable[tuple[bytes, bytes]]) -> None:
        values: list[bytes | None] = [None] * len(_NAMES)
        # The values of Mcp-Param-* by lower-case name.
        self.params: dict[bytes, bytes] = {}
        self.duplicates: set[bytes] = set()
        find = _PLACES.get
        for name, value in headers:
            place = find(name)
            if place is not None:
                before = values[place]
                if before is None:
                    values[place] = value.strip(b" \t")
                else:
                    values[place] = before + b", " + value
                    self.duplicates.add(name)
            elif name.startswith(PARAM_PREFIX):
                if name in self.params:
                    self.duplicates.add(name)
                self.params[name] = value.strip(b" \t")
        (
            self.accept, self.authorization, self.content_length, self.content_type, self.host, self.idempotency_key,
            self.method, self.name, version, self.session_id, self.origin, self.request_id,
        ) = values  # fmt: skip
        # The protocol version.
        self.version = None if version is None else version.decode("latin-1")

    def check_stateless(self, method: str, params: Mapping[str, Any]) -> None:
        """Raise ProtocolError unless `_meta` is complete, the headers repeat the body, and the version is known."""
        version: str = check_meta(params)[VERSION_KEY]
        if self.duplicates and not self.duplicates.isdisjoint(_ROUTING):
            raise _build_mismatch("A header MCP-Protocol-Version, Mcp-Method or Mcp-Name was sent more than once")
        if self.version != version:
            raise _build_mismatch(f"The header MCP-Protocol-Version must be the same as {VERSION_KEY} in _meta")
        if self.method is None or self.method.decode("latin-1") != method:
            raise _build_mismatch("The header Mcp-Method must be the same as the method in the body")
        field = NAMED_BY.get(method)
        if field is not None:
            wanted = params.get(field)
            if wanted is not None and decode_header_value(self.name) != wanted:
                raise _build_mismatch(f"The header Mcp-Name must be the same as '{field}' in the params")
        if version != STATELESS_VERSION:
            raise build_unsupported_version(version)


def check_meta(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `_meta` of a stateless request; raise ProtocolError if a required key is missing or not valid."""
    meta = params.get("_meta")
    if type(meta) is not dict:
        raise ProtocolError(INVALID_PARAMS, f"_meta must be an object with {VERSION_KEY} and {CAPABILITIES_KEY}")
    if VERSION_KEY not in meta or CAPABILITIES_KEY not in meta:
        missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in meta]
        raise ProtocolError(INVALID_PARAMS, f"_meta has no {' and no '.join(missing)}")
    if not isinstance(meta[VERSION_KEY], str):
        raise ProtocolError(INVALID_PARAMS, f"{VERSION_KEY} in _meta must be a string")
    if type(meta[CAPABILITIES_KEY]) is not dict:
        raise ProtocolError(INVALID_PARAMS, f"{CAPABILITIES_KEY} in _meta must be an object")
    return meta


def build_unsupported_version(requested: str) -> ProtocolError:
    """Return the error for an unknown protocol version."""
    data = {"supported": [STATELESS_VERSION], "requested": requested}
    return ProtocolError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)


def decode_header_value(value: bytes | None) -> str | None:
    """Return the text of a header value, which may be in base64 form; None if it is missing or not valid."""
    if value is None:
        return None
    text = value.decode("latin-1")
    found = _BASE64.fullmatch(text) if text.startswith("=?") else None
    if found is None:
        return text
    try:
        decoded = base64.b64decode(found[1], validate=True)
        # Only the canonical form is accepted, so that no two values of a header mean the same.
        return decoded.decode() if base64.b64encode(decoded).decode() == found[1] else None
    except (binascii.Error, ValueError):
        return None


def encode_header_value(value: str) -> str:
    """Return the value of a header for this text, in base64 form if it would not arrive unchanged."""
    if _PLAIN.fullmatch(value) and value == value.strip() and not _BASE64.fullmatch(value):
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="


def _build_mismatch(message: str) -> ProtocolError:
    return ProtocolError(HEADER_MISMATCH, message)


@lru_cache(maxsize=256)
def is_json_media_type(value: bytes) -> bool:
    """Return True if the Content-Type is JSON."""
    return value.partition(b";")[0].strip().lower() == b"application/json"


@lru_cache(maxsize=256)
def accepts(value: bytes, kind: bytes) -> bool:
    """Return True if the Accept header includes this media type, possibly by a wildcard."""
    wanted = (kind, kind.partition(b"/")[0] + b"/*", b"*/*")
    for item in value.lower().split(b","):
        media, *parameters = (part.strip() for part in item.split(b";"))
        if media in wanted and not any(part.replace(b" ", b"") in _REFUSED for part in parameters):
            return True
    return False


_REFUSED = frozenset({b"q=0", b"q=0.0", b"q=0.00", b"q=0.000"})
