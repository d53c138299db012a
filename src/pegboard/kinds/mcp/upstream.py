"""An MCP server as the target of calls, and the tools that it offers."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath
from typing import Any
from urllib.parse import parse_qsl, quote, unquote_plus, urlencode, urlsplit, urlunsplit

from pegboard.kinds.credentials import Credentials, find_secrets
from pegboard.kinds.mcp.config import McpConfig
from pegboard.model.call import Progress
from pegboard.model.call_errors import Drifted, Misconfigured, ToolError, UpstreamFailed
from pegboard.model.mcp_client import McpClient
from pegboard.model.mcp_exchange import McpFailure

_SCRIPT_RUNNER = re.compile(r"(?:python[\d.]*|node|npx|bunx|uvx|pipx)$")

StringPairs = tuple[tuple[str, str], ...]
OnUpstreamProgress = Callable[[Progress], None]


@dataclass(frozen=True)
class Upstream:
    """One MCP server with one transport and one set of credentials; tools with an equal Upstream share a session."""

    server_url: str | None
    command: tuple[str, ...] | None
    headers: StringPairs = ()
    env: StringPairs = ()
    working_dir: str | None = None
    # The owner of the session: a server may keep state per session, which other users must not see.
    owner_id: str = ""
    # The client that the session belongs to; None for the session that all other clients share.
    client: McpClient | None = None

    @classmethod
    def of(cls, config: McpConfig, auth: Mapping[str, Any] | None, owner_id: str = "") -> Upstream:
        """Return the server of a config; raise Misconfigured if the credentials cannot be sent to it."""
        if config.server_url is None:
            if auth is not None:
                raise Misconfigured("auth_config is for a server_url; give a command its credentials through env")
            # Only admins may use commands, and one process serves all of them.
            return cls(None, tuple(config.command or ()), (), _sort_pairs(config.env), config.working_dir)
        credentials = Credentials.of(auth)
        headers = dict(credentials.headers)
        if credentials.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in credentials.cookies.items())
        theirs = {name.lower() for name in headers}
        headers |= {name: value for name, value in config.headers.items() if name.lower() not in theirs}
        for name, value in headers.items():
            if not value.isascii():
                raise Misconfigured(f"The value of the header '{name}' holds a character that is not ASCII")
        return cls(_add_query(config.server_url, credentials.query), None, _sort_pairs(headers), (), None, owner_id)

    @cached_property
    def display_name(self) -> str:
        """The name in messages: origin or program, without secrets."""
        if self.command is not None:
            return f"MCP server '{describe_command(self.command)}'"
        parts = urlsplit(self.server_url or "")
        return f"{parts.scheme}://{parts.netloc}"

    @cached_property
    def label(self) -> str:
        """The short name: the host and port, or the program."""
        return describe_command(self.command) if self.command is not None else urlsplit(self.server_url or "").netloc

    @cached_property
    def origin(self) -> str:
        """The key of its circuit breaker."""
        if self.command is None:
            return self.display_name
        identity = json.dumps([self.command, self.env, self.working_dir]).encode()
        return f"{self.display_name} ({hashlib.sha256(identity).hexdigest()[:8]})"

    @cached_property
    def secrets(self) -> frozenset[str]:
        """The texts to mask in outputs and errors."""
        query = urlsplit(self.server_url or "").query
        held = (dict(self.headers), dict(self.env), dict(parse_qsl(query)))
        return frozenset(text for values in held for text in find_secrets(values))


@dataclass(frozen=True, slots=True)
class UpstreamTool:
    """A tool as its server describes it, with a digest over the whole definition."""

    name: str
    title: str | None
    description: str | None
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None
    annotations: Mapping[str, Any]
    digest: str
    # Members as the server sent them: icons, `_meta`, extension fields, and the annotations with theirs.
    others: Mapping[str, Any] = field(default_factory=dict)


class ToolChanged(Drifted):
    """The server's definition of the tool differs from the one that its owner accepted."""

    def __init__(self, message: str, live: UpstreamTool) -> None:
        super().__init__(message)
        self.live = live


class ToolGone(UpstreamFailed):
    """The server does not offer the tool."""


class ProtocolFailed(UpstreamFailed):
    """The server answered with an error that an MCP client can handle, as an error of the protocol."""

    def __init__(self, message: str, failure: McpFailure) -> None:
        super().__init__(message)
        self.failure = failure


class PeerRefused(Exception):
    """The server answered a request that is not a call with an error of the protocol."""

    def __init__(self, failure: McpFailure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class CallNotRun(Exception):
    """The call certainly did not run; a retry on another session may succeed."""

    def __init__(self, error: ToolError) -> None:
        super().__init__(error.message)
        self.error = error


def describe_command(command: Sequence[str]) -> str:
    """Return the program of a command and the script that a runner such as npx starts; other words may be secrets."""
    program, *words = (PurePath(word).name for word in command)
    script = next((word for word in words if not word.startswith("-")), "") if _SCRIPT_RUNNER.match(program) else ""
    return f"{program} {script}".strip()


def compute_digest(  # noqa: PLR0917 -- the fields, in the order of UpstreamTool
    name: str,
    title: str | None,
    description: str | None,
    input_schema: Mapping[str, Any],
    output_schema: Mapping[str, Any] | None,
    annotations: Mapping[str, Any],
) -> str:
    """Return the digest of a definition, independent of the order of its keys."""
    whole = {
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": input_schema,
        "outputSchema": output_schema,
        "annotations": annotations,
    }
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _sort_pairs(given: Mapping[str, str]) -> StringPairs:
    return tuple(sorted(given.items()))


def _add_query(url: str, query: Mapping[str, str]) -> str:
    if not query:
        return url
    parts = urlsplit(url)
    # A credential replaces a query parameter of the URL with the same name.
    own = [pair for pair in parts.query.split("&") if pair and unquote_plus(pair.partition("=")[0]) not in query]
    return urlunsplit(parts._replace(query="&".join([*own, urlencode(query, quote_via=quote)])))
